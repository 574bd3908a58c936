"""Models with the fields and properties that the suite names."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models


class User(models.Model):
    """A user with counts, a place and permissions."""

    name = models.CharField(max_length=30)
    username = models.CharField(max_length=30, unique=True)
    bio = models.CharField(max_length=140, blank=True)
    followers_count = models.BigIntegerField(default=0)
    following_count = models.BigIntegerField(default=0)
    _lat = models.FloatField(default=0)
    _lng = models.FloatField(default=0)
    _permissions = models.CharField(max_length=30, blank=True)

    @property
    def reverse_username(self) -> str:
        return f"{self.username}"[::-1]

    def location(self) -> tuple[float, float]:
        return self._lat, self._lng

    def permissions(self) -> list[str]:
        return f"{self._permissions}".split(",")


class Website(models.Model):
    """A website."""

    name = models.CharField(max_length=100)
    url = models.URLField()
    is_online = models.BooleanField(default=False)


class BlogPost(models.Model):
    """A text of a user, which makes a relation that users have no field for."""

    author = models.ForeignKey(User, on_delete=models.CASCADE)
    title = models.CharField(max_length=100)


class Example(models.Model):
    """A model with everything that may decide whether a record is indexed."""

    uid = models.IntegerField()
    name = models.CharField(max_length=20, null=True)
    address = models.CharField(max_length=200)
    lat = models.FloatField()
    lng = models.FloatField()
    is_admin = models.BooleanField(default=False)
    category: ClassVar[list[str]] = []
    locations: ClassVar[Any] = []
    index_me = True

    def has_name(self) -> bool:
        return self.name is not None

    def geolocations(self) -> Any:
        return self.locations

    @staticmethod
    def static_should_index() -> bool:
        return True

    @staticmethod
    def static_should_not_index() -> bool:
        return False

    @property
    def property_should_index(self) -> bool:
        return True

    @property
    def property_should_not_index(self) -> bool:
        return False

    @property
    def property_string(self) -> str:
        return "no truth value"

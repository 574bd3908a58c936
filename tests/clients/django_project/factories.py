"""Makers of model instances."""

from __future__ import annotations

import factory

from .models import User, Website  # noqa: TID252 - the package is named differently where it runs


class UserFactory(factory.django.DjangoModelFactory):
    """Makes users, each with a name of its own."""

    class Meta:
        model = User

    name = factory.Sequence(lambda number: f"User {number}")
    username = factory.Sequence(lambda number: f"user{number}")


class WebsiteFactory(factory.django.DjangoModelFactory):
    """Makes websites, each with an address of its own."""

    class Meta:
        model = Website

    name = factory.Sequence(lambda number: f"Site {number}")
    url = factory.Sequence(lambda number: f"https://site{number}.example")

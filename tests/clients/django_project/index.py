"""Indices that the integration discovers, registered in both of its ways."""

from __future__ import annotations

from algoliasearch_django import AlgoliaIndex, register
from algoliasearch_django.decorators import register as registered

from .models import User, Website  # noqa: TID252 - the package is named differently where it runs


@registered(User)
class UserIndex(AlgoliaIndex):
    """The index of users."""


register(Website)

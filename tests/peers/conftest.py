"""Fixtures for peers: clients that others wrote, indices of a test's own, the films."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest
from algoliasearch.search.client import SearchClientSync

from tests.conftest import Running
from tests.peers.films import FILMS, SETTINGS
from tests.peers.official import connect, fill, finish


@pytest.fixture
def client(service: Running) -> Iterator[SearchClientSync]:
    """The vendor's Python client with the admin key."""
    with connect(service) as client:
        yield client


@pytest.fixture
def searcher(service: Running) -> Iterator[SearchClientSync]:
    """The same client with the search key."""
    with connect(service, service.searchKey) as client:
        yield client


@pytest.fixture
def index() -> str:
    """The name of an index that no other test uses, with everything a path must encode."""
    return f"peers/{secrets.token_hex(4)} 100% ü"


@pytest.fixture(scope="session")
def films(service: Running) -> str:
    """An index with the films, only for reading."""
    with connect(service) as client:
        finish(client, "peers films", client.set_settings("peers films", SETTINGS))
        fill(client, "peers films", *FILMS)
    return "peers films"

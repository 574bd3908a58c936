"""Fixtures for peers: clients that others wrote, indices of a test's own, the films."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from algoliasearch.search.client import SearchClientSync

from tests.conftest import Running, start_service, stop_service
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


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Running]:
    """A service of this test's own, for what concerns a whole application."""
    process, running = start_service(tmp_path / "data", "--clusters", "2")
    yield running
    stop_service(process)

"""Fixtures for peers: clients that others wrote, indices of a test's own, the films."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest
from algoliasearch.search.client import SearchClientSync

from tests.conftest import Running, start_service, stop_service
from tests.peers.films import FILMS, SETTINGS
from tests.peers.javascript import Script, install, run_script
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


@pytest.fixture(scope="session")
def second(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Another application, for what concerns the whole of one, or two of them."""
    process, running = start_service(tmp_path_factory.mktemp("second"), "--clusters", "2")
    yield running
    stop_service(process)


@pytest.fixture(scope="session")
def script(service: Running, pytestconfig: pytest.Config) -> Iterator[Script]:
    """The vendor's JavaScript client, with the admin key unless told otherwise."""
    with run_script(install(pytestconfig.cache.mkdir("peers-javascript")), service) as script:
        yield script

"""Clients for editors: with every right, and with few."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from svc_notebook.core.api.endpoint import Right
from svc_notebook.core.api.parameters import Settings
from svc_notebook.data.client import Client, ClientConfig, Secret
from tests.conftest import Running

_NUMBERS = itertools.count(1)
PRODUCTS: list[dict[str, Any]] = [
    {"objectID": "1", "name": "red lamp", "brand": "Acme", "price": 10, "rating": 3},
    {"objectID": "2", "name": "blue lamp", "brand": "Umbra", "price": 20, "rating": 5},
    {"objectID": "3", "name": "oak table", "brand": "Acme", "price": 90, "rating": 4},
]
SETTINGS: Settings = {
    "searchableAttributes": ["name", "brand"],
    "attributesForFaceting": ["searchable(brand)", "price"],
    "customRanking": ["desc(rating)"],
}


def connect(service: Running, key: str | None = None) -> Client:
    """A client of the running service."""
    return Client(
        ClientConfig(url=service.url, app_id=service.appId, api_key=Secret(key or service.adminKey))
    )


@pytest.fixture
def client(service: Running) -> Iterator[Client]:
    client = connect(service)
    yield client
    client.close()


@pytest.fixture
def shop(client: Client) -> str:
    """An index of three products, of this test's own."""
    index = f"shop-{next(_NUMBERS)}"
    client.replace_all(index, PRODUCTS)
    client.wait(client.set_settings(index, SETTINGS), index=index)
    return index


@pytest.fixture
def searcher(service: Running, client: Client) -> Callable[..., Client]:
    """Make a client whose key has only these rights."""

    def make(*rights: Right) -> Client:
        key = client.add_key(acl=list(rights))["key"]
        return connect(service, key)

    return make

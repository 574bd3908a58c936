"""An index of a few products on the real service."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from svc_notebook.data.client import Client, ClientConfig, Secret
from svc_notebook.data.frames import resources
from tests.conftest import Running

INDEX = "frames"
SETTINGS = {
    "attributesForFaceting": ["searchable(brand)", "price"],
    "customRanking": ["desc(price)"],
}
PRODUCTS = [
    {"objectID": "1", "name": "oak lamp", "brand": "Cobb", "price": 30, "tags": ["a", "lamp"]},
    {"objectID": "2", "name": "brass lamp", "brand": "Lund", "price": 20.5},
    {"objectID": "3", "name": "oak table", "brand": "Cobb", "price": 90, "size": {"w": 1}},
    {"objectID": "007", "name": "<b>desk</b>", "brand": None, "price": 50},
]


@pytest.fixture(scope="session")
def products(service: Running) -> Iterator[Client]:
    """A client of the service, once the products are there."""
    key = Secret(service.adminKey)
    with Client(ClientConfig(url=service.url, app_id=service.appId, api_key=key)) as client:
        client.set_settings(INDEX, SETTINGS)  # type: ignore[arg-type]
        steps = [{"action": "addObject", "body": product} for product in PRODUCTS]
        client.wait(dict(client.batch(INDEX, steps)), index=INDEX)  # type: ignore[arg-type]
        yield client


@pytest.fixture
def pages_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists are read in pages of two entries."""
    monkeypatch.setattr(resources, "HITS_PER_PAGE", 2)

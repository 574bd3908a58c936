"""An index of a few products with its own journal, for tests of changes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from svc_notebook import tuning
from svc_notebook.core.api.parameters import Settings
from svc_notebook.data.client import Client, ClientConfig, Secret
from tests.conftest import Running, set_current

_NUMBERS = itertools.count(1)
PRODUCTS: list[dict[str, Any]] = [
    {"objectID": "1", "name": "red lamp", "brand": "Acme", "sales": 10},
    {"objectID": "2", "name": "blue lamp", "brand": "Umbra", "sales": 20},
    {"objectID": "3", "name": "oak table", "brand": "Acme", "sales": 90},
    {"objectID": "4", "name": "pine table lamp", "brand": "Umbra", "sales": 5},
    {"objectID": "5", "name": "blue sofa", "brand": "Acme", "sales": 50},
]
SETTINGS: Settings = {"searchableAttributes": ["name", "brand"]}
SYNONYM: Any = {"objectID": "couch", "type": "synonym", "synonyms": ["couch", "sofa"]}
RULE: Any = {
    "objectID": "cheap",
    "conditions": [{"pattern": "cheap", "anchoring": "contains"}],
    "consequence": {"params": {"filters": "sales < 20"}},
}


def connect(service: Running, key: str | None = None) -> Client:
    """A client of the running service."""
    return Client(
        ClientConfig(url=service.url, app_id=service.appId, api_key=Secret(key or service.adminKey))
    )


@pytest.fixture
def client(service: Running, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Client]:
    """The current client, whose changes are kept in a folder of this test's own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    own = connect(service)
    set_current(own)
    yield own
    own.close()


@pytest.fixture
def shop(client: Client) -> str:
    """An index of five products, with one synonym and one rule."""
    index = f"tuned-{next(_NUMBERS)}"
    client.replace_all(index, PRODUCTS)
    tasks = [client.set_settings(index, SETTINGS), client.save_synonyms(index, [SYNONYM])]
    tasks.append(client.save_rules(index, [RULE]))
    client.wait(tasks, index=index)
    return index


def hits(index: str, query: str, client: Client) -> list[str]:
    """What a search finds, in its order."""
    return [hit["objectID"] for hit in client.search(index, query)["hits"]]


def changes_of(index: str) -> list[tuple[str, str]]:
    """What was changed, the newest first: note and scope."""
    frame = tuning.history(index)
    return list(zip(frame["note"], frame["scope"], strict=True))

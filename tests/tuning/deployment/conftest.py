"""Two services with keys of their own: a production of which profiles know, and a workshop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import svc_notebook as svc
from svc_notebook.data.session import connection
from svc_notebook.tuning.changes import journalled_write
from svc_notebook.tuning.changes.state import write_part
from svc_notebook.tuning.deployment import configuration
from tests.conftest import Running, start_service, stop_service

COUNT = 2500
RULE = {
    "conditions": [{"pattern": "lamp", "anchoring": "contains"}],
    "consequence": {"params": {"filters": "brand:Acme"}},
}
SETTINGS: Any = {
    "searchableAttributes": ["name"],
    "attributesForFaceting": ["brand"],
    "customRanking": ["desc(sold)"],
}


@pytest.fixture(scope="session")
def production(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A second service, with another application and other keys."""
    process, running = start_service(tmp_path_factory.mktemp("production"))
    yield running
    stop_service(process)


@pytest.fixture
def profiles(
    service: Running, production: Running, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Path:
    """The file of profiles: `shop` is the production; the workshop is the current client."""
    path = tmp_path / "config.toml"
    write_profile(path, "shop", production, production.adminKey)
    monkeypatch.setenv("SVC_CONFIG", str(path))
    svc.connect(url=service.url, app_id=service.appId, api_key=service.adminKey)
    return path


def write_profile(path: Path, name: str, running: Running, key: str) -> None:
    """Add a profile to a file."""
    lines = [f"[profiles.{name}]", f'url = "{running.url}"', f'app_id = "{running.appId}"']
    with path.open("a") as file:
        file.write("\n".join([*lines, f'api_key = "{key}"', ""]))


@pytest.fixture
def shop(profiles: Path) -> svc.Client:
    """The client of the production."""
    return connection.client_of("shop")


@pytest.fixture
def index(shop: svc.Client) -> str:
    """A small index of the production, with settings, a synonym and a rule."""
    return fill(shop, 40)


def fill(shop: svc.Client, count: int, rules: int = 1) -> str:
    """Create an index of the production."""
    name = f"goods-{uuid4().hex[:8]}"
    records = [
        {"objectID": f"{n}", "name": f"lamp {n}", "brand": ("Acme", "Bolt")[n % 2], "sold": n,
         "price": n * 1.5}
        for n in range(count)
    ]  # fmt: skip
    svc.push(records, name, client=shop, progress=False)
    svc.set_settings(name, SETTINGS, client=shop)
    synonym = {"objectID": "s", "type": "synonym", "synonyms": ["lamp", "light"]}
    svc.save_synonyms(name, synonym, client=shop)
    svc.save_rules(name, [{"objectID": f"r{n}", **RULE} for n in range(rules)], client=shop)
    return name


def make_key(client: svc.Client, *rights: str, **more: Any) -> str:
    """Create a key of a service with these rights."""
    return str(svc.add_key(acl=list(rights), client=client, **more)["key"].reveal())


Hook = Callable[..., Awaitable[None]]


@pytest.fixture
def while_writing(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Call a function `before` or `after` each part that a deployment writes.

    Its arguments are those of `write_part`: client, index, scope and objects.
    """

    def set_hook(*, before: Hook | None = None, after: Hook | None = None) -> None:
        async def write(*given: Any, **more: Any) -> None:
            if before:
                await before(*given)
            await write_part(*given, **more)
            if after:
                await after(*given)

        for module in (configuration, journalled_write):
            monkeypatch.setattr(module, "write_part", write)

    return set_hook

"""A connected notebook without a kernel: lines and cells, typed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import svc_notebook as svc
from svc_notebook.faces.commands.binding import bind_words
from svc_notebook.faces.commands.execution import perform
from svc_notebook.faces.commands.registry import pick_verb
from svc_notebook.faces.commands.tokenizer import split_line
from tests.conftest import Running, start_service, stop_service
from tests.data.client.stub import Stub, serving

Typed = Callable[..., Any]


@pytest.fixture
def admin(service: Running, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> svc.Client:
    """The current client of this test, which may do everything."""
    monkeypatch.setenv("SVC_CONFIG", str(tmp_path / "config.toml"))
    return svc.connect(url=service.url, app_id=service.appId, api_key=service.adminKey)


@pytest.fixture
def typed(admin: svc.Client) -> Typed:
    """What a line of a connected notebook gives, or a cell with a body."""
    return type_line


def type_line(line: str, body: str | None = None, **variables: object) -> Any:
    """Do what a line says, with a body and variables."""
    verb, words = pick_verb([word.text for word in split_line(line)], "magic")
    return perform(bind_words(verb, words, "magic", variables, body), "magic")


@pytest.fixture(scope="session")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service of two clusters, whose dictionaries, networks and users nobody else changes."""
    process, running = start_service(tmp_path_factory.mktemp("apart"), "--clusters", "2")
    yield running
    stop_service(process)


@pytest.fixture
def typed_apart(apart: Running) -> Typed:
    """The same, connected to the service apart."""
    svc.connect(url=apart.url, app_id=apart.appId, api_key=apart.adminKey)
    return type_line


@pytest.fixture
def stub() -> Iterator[Stub]:
    """A service that answers as its `acts` say; the current client calls it for everything."""
    with serving() as stub:
        svc.connect(url=stub.url, app_id="X", api_key="k", crawler_user_id="u", crawler_api_key="c")
        yield stub


def sent(stub: Stub) -> list[tuple[str, str, Any]]:
    """What arrived, request by request: verb, target and body."""
    return [(r.verb, r.target, r.json if r.body else None) for r in stub.requests]

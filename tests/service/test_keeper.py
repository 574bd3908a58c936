"""What the engine holds is saved when it is quiet, and believed only if it is current."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from svc_notebook.service.records import read_chunks
from svc_notebook.service.service import Service
from svc_notebook.service.steps import Step, pack_steps
from svc_notebook.service.store import Store
from tests.conftest import wait_published


def add(service: Service, *ids: str) -> None:
    steps = [Step("addObject", one, b'{"objectID":"%s"}' % one.encode()) for one in ids]
    wait_published(service, service.accept("films", "steps", pack_steps(steps)))


def wait_saved(service: Service) -> None:
    while service.catalog.unsaved():
        time.sleep(0.01)


@pytest.fixture
def read_again(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count how often an engine is built from the store."""
    built: list[int] = []

    def count(store: Store, index: int) -> Iterator[list[dict[str, Any]]]:
        built.append(1)
        return read_chunks(store, index)

    monkeypatch.setattr("svc_notebook.service.catalog.read_chunks", count)
    return built


def test_a_saved_engine_is_not_built_again(tmp_path: Path, read_again: list[int]) -> None:
    service = Service(tmp_path)
    service.start()
    add(service, "1", "2")
    wait_saved(service)
    service.stop()

    again = Service(tmp_path)

    assert len(again.catalog.find("films").engine.get()) == 2
    assert read_again == []
    again.stop()


def test_files_older_than_the_store_are_not_believed(tmp_path: Path, read_again: list[int]) -> None:
    service = Service(tmp_path)
    service.start()
    add(service, "1", "2")
    wait_saved(service)
    add(service, "3")
    service.stop()

    again = Service(tmp_path)

    assert len(again.catalog.find("films").engine.get()) == 3
    assert read_again == [1]
    again.stop()


def test_files_that_cannot_be_read_are_not_believed(tmp_path: Path) -> None:
    service = Service(tmp_path)
    service.start()
    add(service, "1", "2")
    wait_saved(service)
    service.stop()
    for path in (tmp_path / "engine").rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    again = Service(tmp_path)

    assert len(again.catalog.find("films").engine.get()) == 2
    again.stop()


def test_the_files_of_a_deleted_index_are_swept_away(tmp_path: Path) -> None:
    service = Service(tmp_path)
    service.start()
    add(service, "1")
    wait_saved(service)
    assert list((tmp_path / "engine").iterdir())

    wait_published(service, service.accept("films", "steps", pack_steps([Step("delete")])))
    while list((tmp_path / "engine").iterdir()):
        time.sleep(0.01)

    service.stop()


def test_an_engine_becomes_one_piece_when_it_is_quiet(tmp_path: Path) -> None:
    service = Service(tmp_path)
    service.start()
    for number in range(3):
        add(service, str(number))
    add(service, "0")

    while len(list((tmp_path / "engine").rglob("*.segment"))) != 1:
        time.sleep(0.01)

    assert len(service.catalog.find("films").engine.get()) == 3
    service.stop()

"""Paths that users type: `~` is their home directory, and what is no path here is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook import tuning
from svc_notebook.errors import BadInput
from tests.conftest import Running
from tests.looping import loop_over

ROW = [{"objectID": "1", "name": "lamp"}]
TABLE = pd.DataFrame({"query": ["lamp"], "objectID": ["1"], "grade": [1]})
# Functions that read a path, and functions that write one; they get the path and an index.
READERS: dict[str, Callable[[str, str], Any]] = {
    "load": lambda path, index: svc.load(path, index),
    "load a pattern": lambda path, index: svc.load(f"{path}/*.csv", index),
    "plan": lambda path, index: svc.plan(path, index),
    "load by a plan": lambda path, index: svc.load(ROW, index, plan=path),
    "replace_records": lambda path, index: svc.replace_records(index, path),
    "save_rules": lambda path, index: svc.save_rules(index, f"{path}.json"),
    "save_synonyms": lambda path, index: svc.save_synonyms(index, f"{path}.json"),
    "save_entries": lambda path, index: svc.save_entries("stopwords", f"{path}.json"),
    "set_settings": lambda path, index: svc.set_settings(index, file=path),
    "send_events": lambda path, index: svc.send_events(f"{path}.json"),
    "apply_config": lambda path, index: svc.apply_config(path),
    "measure": lambda path, index: tuning.measure(index, path),
    "restore": lambda path, index: tuning.restore(index, f"{path}.json"),
    "create_crawler": lambda path, index: svc.create_crawler("films", f"{path}.json"),
}
WRITERS: dict[str, Callable[[str, str], Any]] = {
    "export": lambda path, index: svc.export(index, f"{path}.csv"),
    "export_rules": lambda path, index: svc.export_rules(index, f"{path}.json"),
    "export_synonyms": lambda path, index: svc.export_synonyms(index, f"{path}.json"),
    "export_entries": lambda path, index: svc.export_entries("stopwords", f"{path}.json"),
    "pull_config": lambda path, index: svc.pull_config(path, [index]),
    "write_table": lambda path, index: tuning.write_table(TABLE, f"{path}.csv"),
    "snapshot": lambda path, index: tuning.snapshot(index, f"{path}.json"),
    "copy_tutorials": lambda path, index: svc.copy_tutorials(path),
}


@pytest.fixture
def index(service: Running, request: pytest.FixtureRequest) -> str:
    """An index with one record, of the current client."""
    svc.connect(url=service.url, app_id=service.appId, api_key=service.adminKey)
    name = f"paths-{request.node.name}"
    svc.push(ROW, name, progress=False)
    return name


@loop_over("name", [*READERS, *WRITERS])
def test_an_unknown_home_directory_is_named(index: str, name: str) -> None:
    act = {**READERS, **WRITERS}[name]

    with pytest.raises(BadInput, match="~nobody-here is unknown; give the whole path"):
        act("~nobody-here/file", index)


# Those whose texts can be addresses, with what is read there.
READ_ADDRESSES = ("load", "load a pattern", "plan", "replace_records", "create_crawler")


@loop_over("name", [name for name in (*READERS, *WRITERS) if name not in READ_ADDRESSES])
def test_an_address_is_no_path(
    index: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    act = {**READERS, **WRITERS}[name]
    monkeypatch.chdir(tmp_path)

    for address in ("s3://bucket/kept", "https://user:pass@host.example/kept", "file:///kept"):
        with pytest.raises(BadInput, match="is an address; give the path") as caught:
            act(address, index)
        assert "pass" not in str(caught.value).partition(" is an ")[0]
    assert not [*tmp_path.iterdir()]


@loop_over("name", [*READERS, *WRITERS])
def test_a_null_character_is_refused(index: str, name: str) -> None:
    act = {**READERS, **WRITERS}[name]

    with pytest.raises(BadInput, match="null character"):
        act("a\0b", index)


@pytest.mark.slow
@loop_over("name", WRITERS)
def test_files_are_written_in_the_home_directory(
    index: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "home"
    folder.mkdir(exist_ok=True)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(tmp_path)
    before = {*folder.iterdir()}

    WRITERS[name](f"~/{name}", index)

    assert [path.name.partition(".")[0] for path in {*folder.iterdir()} - before] == [name]
    assert not (tmp_path / "~").exists()

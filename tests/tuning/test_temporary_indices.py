"""Temporary indices of loads, previews and scratch copies: listed, locked, dropped after a kill."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import svc_notebook as svc
from svc_notebook import tuning
from svc_notebook.data.client import Client, background_loop
from svc_notebook.data.client.temporary_index import (
    MAX_NAME_CHARACTERS,
    TemporaryIndex,
    name_temporary_index,
    parse_name,
)
from svc_notebook.errors import BadInput
from svc_notebook.faces.commands.name_completion import _fetch_indices
from svc_notebook.faces.lab.explorer import ExplorerCalls
from tests.conftest import ROOT, Running
from tests.tuning.shop import client, connect, shop

__all__ = ["client", "shop"]

if sys.platform == "win32":
    pytest.skip("there is no SIGKILL", allow_module_level=True)

BEGIN = """
import asyncio, sys
import svc_notebook as svc
from svc_notebook.data import loading
from svc_notebook.data.client import background_loop
from svc_notebook.data.client.curation import SYNONYMS
from svc_notebook.data.client.temporary_index import TemporaryIndex
from svc_notebook.faces.editors.search_comparison import copy_with

url, app, key, index, path = sys.argv[1:]
client = svc.connect(url=url, app_id=app, api_key=key)

def stop(*_):
    print("in the middle", flush=True)
    sys.stdin.readline()

def load(source):
    background_loop.run(loading.load(
        client.aio, source, index, if_exists="replace", batch=100, in_flight=1,
        on_progress=lambda sent, total: sent == 300 and stop(),
    ))
"""
# What a process does with a temporary index; it is stopped in the middle of it.
WORK: dict[str, tuple[str, str]] = {
    "scratch": ("scratch", "s = svc.tuning.scratch(index).open()\nstop()"),
    "load": ("load", "load(path)"),
    "load of rows": ("load", "load([{'objectID': str(n)} for n in range(900)])"),
    "replace": ("replace", "async def work():\n"
                "    async with client.aio.replacing(index, min_share=0) as name:\n"
                "        await client.aio.wait(await client.aio.add_object(name, {'a': 1}), "
                "index=name)\n"
                "        stop()\n"
                "background_loop.run(work())"),
    "preview of settings": ("preview", "e = svc.edit.settings(index)\n"
                            "from svc_notebook.faces.editors.rpc import wait_for\n"
                            "wait_for(e.make_copy())\nstop()"),
    "preview of synonyms": ("preview", "async def work():\n"
                            "    async with copy_with(client.aio, SYNONYMS, index, []):\n"
                            "        stop()\n"
                            "background_loop.run(work())"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder of this test's own for lock files."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "films.csv"
    path.write_text("objectID,title\n" + "".join(f"{n},film {n}\n" for n in range(1000)))
    return path


Begin = Callable[[str], subprocess.Popen[str]]


@pytest.fixture
def begin(service: Running, shop: str, table: Path) -> Iterator[Begin]:
    """Start a process that makes a temporary index, and wait until it is in the middle."""
    begun: list[subprocess.Popen[str]] = []

    def start(work: str) -> subprocess.Popen[str]:
        arguments = [service.url, service.appId, service.adminKey, shop, str(table)]
        process = subprocess.Popen(
            [sys.executable, "-c", BEGIN + work, *arguments],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        begun.append(process)
        assert process.stdout
        assert process.stdout.readline() == "in the middle\n"
        return process

    yield start
    for process in begun:
        process.kill()
        process.communicate(timeout=30)


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    assert process.wait(30) == -signal.SIGKILL


def listed(index: str) -> Any:
    """The temporary indices of an index."""
    found = tuning.scratches()
    return found[found["index"] == index].reset_index(drop=True)


def names(client: Client, index: str) -> set[str]:
    every = {item["name"] for item in client.list_indices()["items"]}
    return {name for name in every if name.startswith(index)}


@pytest.mark.slow
@pytest.mark.parametrize(("purpose", "work"), WORK.values(), ids=WORK.keys())
@pytest.mark.sampled(2)
def test_what_a_killed_process_leaves_is_listed_and_dropped(
    begin: Begin, shop: str, client: Client, purpose: str, work: str
) -> None:
    before = tuning.snapshot(shop).hash
    process = begin(work)
    during = listed(shop)
    spared = tuning.drop_scratches()
    kill(process)
    after = listed(shop)

    dropped = tuning.drop_scratches()

    assert list(during["purpose"]) == list(after["purpose"]) == [purpose]
    assert list(during["in_use"]) == [True]
    assert list(after["in_use"]) == [False]
    assert list(after["owner"]) == ["this machine"]
    assert not {*spared} & {*during["name"]}
    assert {*dropped} >= {*after["name"]}
    assert names(client, shop) == {shop}
    assert tuning.snapshot(shop).hash == before
    assert client.search(shop)["nbHits"] == 5


@pytest.mark.slow
@pytest.mark.parametrize("work", [WORK[name][1] for name in WORK if name != "load"])
@pytest.mark.sampled(2)
def test_a_process_that_ends_drops_what_it_has_made(
    begin: Begin, shop: str, client: Client, work: str, state: Path
) -> None:
    process = begin(work)

    process.communicate("go on\n" * 50, timeout=60)

    assert process.returncode == 0
    assert names(client, shop) == {shop}
    assert not [path for path in state.rglob("*.lock") if path.parent.name == "scratches"]


@pytest.mark.slow
def test_a_load_that_was_killed_is_resumed_from_its_temporary_index(
    begin: Begin, shop: str, client: Client, table: Path
) -> None:
    kill(begin(WORK["load"][1]))
    [left] = listed(shop)["name"]

    result = svc.load(table, shop, if_exists="replace", batch=100, in_flight=1, resume=True)

    assert result.resumed >= 300
    assert parse_name(left)
    assert names(client, shop) == {shop}
    assert client.search(shop)["nbHits"] == 1000


@pytest.mark.slow
def test_a_load_whose_temporary_index_was_dropped_starts_again(
    begin: Begin, shop: str, client: Client, table: Path
) -> None:
    kill(begin(WORK["load"][1]))
    assert len(tuning.drop_scratches()) == 1

    result = svc.load(table, shop, if_exists="replace", batch=100, in_flight=1, resume=True)

    assert result.resumed == 0
    assert names(client, shop) == {shop}
    assert client.search(shop)["nbHits"] == 1000


@pytest.mark.slow
def test_two_processes_use_copies_of_their_own(begin: Begin, shop: str, client: Client) -> None:
    first, second = begin(WORK["scratch"][1]), begin(WORK["preview of synonyms"][1])
    both = listed(shop).set_index("purpose")["name"]
    kill(first)

    dropped = tuning.drop_scratches()

    assert dropped == [both["scratch"]]
    assert names(client, shop) == {shop, both["preview"]}
    second.communicate("go on\n", timeout=60)
    assert names(client, shop) == {shop}


def test_what_another_machine_uses_is_dropped_only_by_name(
    shop: str, client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with tuning.scratch(shop) as s:
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other machine"))
        found = listed(shop)
        spared = tuning.drop_scratches()
        named = tuning.drop_scratches(s.name)

    assert list(found["owner"]) == ["another machine"]
    assert s.name not in spared
    assert named == [s.name]


def test_copies_of_an_earlier_release_are_listed_and_dropped(shop: str, client: Client) -> None:
    scratch, other = f"{shop}_scratch_0123abcd", f"{shop}_tmp_89abcdef"
    for name in (scratch, other):
        client.wait(client.operate_index(shop, "copy", name), index=shop)

    found = listed(shop).set_index("name")["purpose"]
    left = tuning.drop_scratches()
    named = tuning.drop_scratches([other])

    assert dict(found) == {scratch: "scratch", other: "unknown"}
    assert scratch in left
    assert other not in left  # a load of that release, or a crawler, may still use it
    assert named == [other]


def test_only_temporary_indices_are_dropped(shop: str) -> None:
    with pytest.raises(BadInput, match="is not a temporary index"):
        tuning.drop_scratches(shop)


@pytest.mark.parametrize("purpose", ["scratch", "load", "replace", "preview"])
@pytest.mark.parametrize("index", ["films", "films_scratch_0123abcd", "a_tmp_load", "größe /%"])
def test_a_name_says_index_purpose_and_owner(index: str, purpose: Any) -> None:
    name = name_temporary_index(index, purpose)

    found = parse_name(name)

    assert name.startswith(index)
    assert found
    assert (found.index, found.purpose, found.owner) == (index, purpose, "this machine")
    assert not found.in_use


def test_a_long_name_leaves_room(client: Client) -> None:
    index = "x" * MAX_NAME_CHARACTERS
    client.replace_all(index, [{"objectID": "1"}])

    with tuning.scratch(index) as s:
        assert len(s.name) == MAX_NAME_CHARACTERS
        assert client.search(s.name)["nbHits"] == 1

    client.wait(dict(client.delete_index(index)), index=index)


@pytest.mark.parametrize("name", ["films", "films_tmp_", "films_scratch_123", "scratch_0123abcd"])
def test_other_names_are_not_temporary(name: str) -> None:
    assert parse_name(name) is None


def test_no_lock_file_is_left(shop: str, client: Client, state: Path) -> None:
    async def make_and_promote() -> None:
        async with client.aio, TemporaryIndex(client.aio, shop, "replace") as copy:
            await copy.promote()

    asyncio.run(make_and_promote())

    assert client.search(shop)["nbHits"] == 5
    assert names(client, shop) == {shop}
    assert not [path for path in state.rglob("*") if path.is_file()]


def test_without_a_folder_for_locks_a_copy_is_made_all_the_same(
    shop: str, client: Client, state: Path
) -> None:
    shutil.rmtree(state, ignore_errors=True)
    state.write_text("not a folder")

    with tuning.scratch(shop) as s:
        assert list(listed(shop)["name"]) == [s.name]
        assert s.name not in tuning.drop_scratches()  # it may be in use

    assert names(client, shop) == {shop}


def test_a_key_that_could_not_drop_a_preview_is_refused(
    shop: str, client: Client, service: Running
) -> None:
    key = client.add_key(acl=["search", "settings", "editSettings", "addObject"])["key"]
    limited = connect(service, key)
    editor = svc.edit.synonyms(shop, client=limited)
    editor.put({"type": "synonym", "synonyms": ["lamp", "light"]})

    with pytest.raises(Exception, match="needs the right `deleteIndex`"):
        editor.impact("lamp")

    assert names(client, shop) == {shop}


def test_copies_for_previews_are_hidden_and_swept_when_their_owner_is_gone(
    shop: str, client: Client
) -> None:
    async def leave_and_preview() -> tuple[str, list[str], list[str], list[str]]:
        left = TemporaryIndex(client.aio, shop, "preview")
        await left.open()
        left.release()  # as the end of its process does
        async with TemporaryIndex(client.aio, shop, "preview") as copy:
            listed = [item["name"] for item in (await client.aio.list_indices())["items"]]
            shown = [row["name"] for row in await ExplorerCalls().read_indices()]
            return left.name, listed, shown, [copy.name, *await _fetch_indices(client.aio)]

    left, listed, shown, completed = background_loop.run(leave_and_preview())

    copy = completed.pop(0)
    assert left not in listed
    assert copy in listed
    assert copy not in shown
    assert copy not in completed
    assert shop in shown
    assert shop in completed

"""Changes are journalled and undone."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook import tuning
from svc_notebook.data.client import Client, background_loop
from svc_notebook.errors import BadInput, KeyRefused, Refused
from svc_notebook.tuning.changes import journalled_write
from svc_notebook.tuning.changes.journal import Change, Journal
from svc_notebook.tuning.changes.state import Delta, IndexConfiguration, differences, read_state
from tests.conftest import ROOT, Running
from tests.tuning.shop import SYNONYM, changes_of, client, connect, hits, shop

__all__ = ["client", "shop"]

PAIR: dict[str, Any] = {"objectID": "pair", "type": "synonym", "synonyms": ["lamp", "light"]}


def apply(client: Client, index: str, note: str = "", **wanted: Any) -> Change:
    made = background_loop.run(journalled_write.write_change(client.aio, index, wanted, note=note))  # type: ignore[arg-type]
    assert made
    return made


def state(client: Client, index: str) -> IndexConfiguration:
    return background_loop.run(read_state(client.aio, index))


def test_an_undo_takes_a_change_of_every_scope_back(shop: str, client: Client) -> None:
    before = tuning.snapshot(shop).hash
    apply(
        client, shop, "all at once",
        settings={"hitsPerPage": 2}, synonyms={"pair": PAIR, "couch": None}, rules={"cheap": None},
    )  # fmt: skip
    assert hits(shop, "couch", client) == []

    undone = tuning.undo(shop)

    assert tuning.snapshot(shop).hash == before
    assert set(undone["scope"]) == {"settings", "synonyms", "rules"}


def test_an_undo_can_be_undone(shop: str, client: Client) -> None:
    made = apply(client, shop, synonyms={"pair": PAIR})
    after = tuning.snapshot(shop).hash
    undone = tuning.undo(shop, made.change_id)

    tuning.undo(shop, undone.attrs["svc"]["change_id"])

    assert tuning.snapshot(shop).hash == after
    history = tuning.history(shop)
    assert list(history["parent"]) == [history["change_id"][1], made.change_id, ""]


def test_history_describes_each_change_in_a_line(shop: str, client: Client) -> None:
    apply(client, shop, settings={"hitsPerPage": 3, "ranking": ["typo", "words", "exact", "geo"]})
    apply(client, shop, synonyms={"pair": PAIR})
    tuning.undo(shop)

    assert list(tuning.history(shop)["changed"]) == [
        "pair removed",
        "pair added",
        'hitsPerPage 20 → 3; ranking ["typo", "geo", "words"… → ["typo", "words", "exac…',
    ]


def test_undo_by_itself_goes_back_step_by_step(shop: str, client: Client) -> None:
    hashes = [tuning.snapshot(shop).hash]
    for count in (3, 4, 5):
        apply(client, shop, settings={"hitsPerPage": count})
        hashes.append(tuning.snapshot(shop).hash)

    for wanted in reversed(hashes[:-1]):
        tuning.undo(shop)
        assert tuning.snapshot(shop).hash == wanted

    with pytest.raises(BadInput, match="nothing to undo"):
        tuning.undo(shop)


def test_what_was_changed_again_is_not_undone_unless_forced(shop: str, client: Client) -> None:
    made = apply(client, shop, settings={"hitsPerPage": 3}, synonyms={"pair": PAIR})
    client.wait(client.set_settings(shop, {"hitsPerPage": 4}), index=shop)

    with pytest.raises(BadInput, match=r"settings `hitsPerPage` changed again.*force"):
        tuning.undo(shop, made.change_id)

    assert state(client, shop).synonyms.keys() == {"couch", "pair"}
    tuning.undo(shop, made.change_id, force=True)
    assert state(client, shop).synonyms.keys() == {"couch"}


def test_a_change_elsewhere_is_not_a_conflict_and_stays(shop: str, client: Client) -> None:
    made = apply(client, shop, settings={"hitsPerPage": 3}, synonyms={"pair": PAIR, "couch": None})
    other: Any = {**PAIR, "objectID": "other"}
    tasks = [client.set_settings(shop, {"distinct": 1}), client.save_synonyms(shop, [other])]
    client.wait(tasks, index=shop)

    tuning.undo(shop, made.change_id)

    now = state(client, shop)
    assert now.synonyms.keys() == {"couch", "other"}
    assert now.settings["distinct"] == 1


def test_a_change_is_found_by_the_beginning_of_its_id(shop: str, client: Client) -> None:
    made = apply(client, shop, settings={"hitsPerPage": 3})

    tuning.undo(shop, made.change_id[:5])

    with pytest.raises(BadInput, match="no change `zzz`"):
        tuning.undo(shop, "zzz")


def test_a_change_that_the_service_refuses_is_recorded_as_failed(shop: str, client: Client) -> None:
    with pytest.raises(Refused):
        apply(client, shop, settings={"replicas": [shop]})

    assert tuning.history(shop).empty
    [failed] = Journal.of(client.aio, shop).read()
    with pytest.raises(BadInput, match="failed"):
        tuning.undo(shop, failed.change_id)


def test_what_fails_half_way_is_put_back(shop: str, client: Client) -> None:
    before = tuning.snapshot(shop).hash
    odd = {"objectID": "odd", "consequence": {"params": {"hitsPerPage": -1}}}

    with pytest.raises((Refused, BadInput)):
        apply(client, shop, settings={"hitsPerPage": 3}, rules={"odd": odd})

    assert tuning.snapshot(shop).hash == before
    assert tuning.history(shop).empty


def test_what_leaves_everything_as_it_is_is_no_change(shop: str, client: Client) -> None:
    wanted: Any = {"settings": {"hitsPerPage": 20}, "synonyms": {"couch": SYNONYM, "no": None}}

    made = background_loop.run(journalled_write.write_change(client.aio, shop, wanted))

    assert made is None
    assert tuning.history(shop).empty


def test_history_has_its_columns_without_a_row(shop: str) -> None:
    history = tuning.history(shop)

    assert list(history.columns[:5]) == ["change_id", "when", "index", "scope", "changed"]
    assert str(history["when"].dtype) == "datetime64[us, UTC]"


def test_the_journal_of_another_service_or_index_is_another(client: Client, shop: str) -> None:
    apply(client, shop, settings={"hitsPerPage": 3})

    assert tuning.history(f"{shop}/x").empty
    paths = {Journal.of(client.aio, name).path for name in (shop, f"{shop}/", "ä/b", "a\\b", "..")}
    assert len(paths) == 5
    assert len({path.parent for path in paths}) == 1


def test_a_torn_last_line_costs_nothing_but_itself(shop: str, client: Client) -> None:
    apply(client, shop, "first", settings={"hitsPerPage": 3})
    path = Journal.of(client.aio, shop).path
    whole = path.read_bytes()
    path.write_bytes(whole + whole[: len(whole) // 3])

    apply(client, shop, "second", settings={"hitsPerPage": 4})

    assert [note for note, _ in changes_of(shop)] == ["second", "first"]
    assert set(tuning.history(shop)["state"]) == {"done"}


def test_lines_of_a_newer_version_cause_one_warning_and_stay(shop: str, client: Client) -> None:
    apply(client, shop, "known", settings={"hitsPerPage": 3})
    path = Journal.of(client.aio, shop).path
    json = b'{"edition":9,"changes":[]}'
    newer = b"%08x %b\n" % (crc32(json), json)
    path.write_bytes(newer + path.read_bytes())

    with pytest.warns(UserWarning, match="1 lines? of the journal .* by another version"):
        first = changes_of(shop)
    again = changes_of(shop)  # warnings are errors here

    assert first == again == [("known", "settings")]
    assert path.read_bytes().startswith(newer)


READERS = """
import importlib, sys, threading
from pathlib import Path
from svc_notebook.tuning.changes import journal, state

def read_at_once():
    start, found = threading.Barrier(8), []

    def read():
        start.wait()
        found.extend(journal.Journal(Path(sys.argv[1])).read())

    threads = [threading.Thread(target=read) for _ in range(8)]
    [each.start() for each in threads]
    [each.join() for each in threads]
    return len(found)

sys.setswitchinterval(1e-6)
for _ in range(60):
    importlib.reload(state), importlib.reload(journal)
    assert read_at_once() == 8
"""


@pytest.mark.slow
def test_threads_that_read_a_journal_for_the_first_time_at_once_do_no_harm(
    shop: str, client: Client
) -> None:
    apply(client, shop, settings={"hitsPerPage": 3})
    path = Journal.of(client.aio, shop).path

    done = subprocess.run(
        [sys.executable, "-c", READERS, str(path)], capture_output=True, text=True, timeout=60
    )

    assert done.returncode == 0, done.stderr


def test_the_journal_is_private_and_contains_no_key(
    shop: str, client: Client, service: Running
) -> None:
    apply(client, shop, settings={"hitsPerPage": 3})

    path = Journal.of(client.aio, shop).path

    assert service.adminKey.encode() not in path.read_bytes()
    if os.name == "posix":
        assert path.stat().st_mode & 0o077 == 0


@pytest.mark.skipif(sys.platform == "win32", reason="folders are closed in another way there")
def test_without_a_journal_nothing_is_changed(shop: str, client: Client, tmp_path: Path) -> None:
    before = tuning.snapshot(shop).hash
    (tmp_path / "data").write_text("a file where the folder would be")

    with pytest.raises(BadInput, match="cannot be written"):
        apply(client, shop, settings={"hitsPerPage": 3})

    assert tuning.snapshot(shop).hash == before


WRITER = """
import asyncio, sys
from pathlib import Path
from svc_notebook.tuning.changes.journal import Journal, new_change
from svc_notebook.tuning.changes.state import Delta

async def write():
    journal = Journal(Path(sys.argv[1]))
    for number in range(20):
        delta = {"settings": Delta({"x": "a" * 3000}, {"x": number})}
        await journal.write(new_change(sys.argv[2], delta, "", ""))

asyncio.run(write())
"""


@pytest.mark.slow
def test_several_processes_write_one_journal(tmp_path: Path) -> None:
    path = tmp_path / "own" / "journal.jsonl"
    command = [sys.executable, "-c", WRITER, str(path)]

    writers = [subprocess.Popen([*command, name], cwd=ROOT) for name in "abc"]

    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    changes = Journal(path).read()
    assert len(changes) == 60
    assert [c.deltas["settings"].after["x"] for c in changes if c.index == "b"] == [*range(20)]


KILLED = """
import os, signal, sys
from svc_notebook.data.client import Client, ClientConfig, Secret, background_loop as portal
from svc_notebook.tuning.changes import journalled_write as changing

url, app, key, index = sys.argv[1:]
client = Client(ClientConfig(url=url, app_id=app, api_key=Secret(key)))

async def change_and_die():
    async with changing.recording(client.aio, index, {"settings": {"hitsPerPage": 3}}):
        await client.aio.wait(await client.aio.set_settings(index, {"hitsPerPage": 3}), index=index)
        os.kill(os.getpid(), signal.SIGKILL)

portal.run(change_and_die())
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_change_whose_process_was_killed_can_be_undone(
    shop: str, client: Client, service: Running
) -> None:
    before = tuning.snapshot(shop).hash
    own = [service.url, service.appId, service.adminKey, shop]

    ended = subprocess.run([sys.executable, "-c", KILLED, *own], cwd=ROOT, timeout=60)

    assert ended.returncode == -signal.SIGKILL
    with pytest.warns(UserWarning, match="was interrupted"):
        assert list(tuning.history(shop)["state"]) == ["open"]
    assert tuning.snapshot(shop).hash != before
    tuning.undo(shop)
    assert tuning.snapshot(shop).hash == before


def test_a_key_that_cannot_read_tasks_can_undo(shop: str, client: Client, service: Running) -> None:
    apply(client, shop, settings={"hitsPerPage": 3})
    editor = connect(service, client.add_key(acl=["settings", "editSettings"])["key"])

    tuning.undo(shop, client=editor)

    assert client.get_settings(shop).get("hitsPerPage", 20) == 20
    editor.close()


def test_a_key_that_may_only_read_undoes_nothing(
    shop: str, client: Client, service: Running
) -> None:
    apply(client, shop, settings={"hitsPerPage": 3})
    reader = connect(service, client.add_key(acl=["settings"])["key"])

    with pytest.raises(KeyRefused, match="editSettings"):
        tuning.undo(shop, client=reader)

    assert client.get_settings(shop)["hitsPerPage"] == 3
    reader.close()


values = st.none() | st.booleans() | st.integers(0, 3) | st.text("ab", max_size=2)
sides = st.dictionaries(st.sampled_from(["hitsPerPage", "distinct", "x"]), values)


@given(sides, sides)
def test_a_difference_leads_from_one_state_to_the_other_and_back(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    found = differences(
        IndexConfiguration(settings=one, rules=one), IndexConfiguration(settings=other, rules=other)
    )

    nothing = Delta({}, {})
    deltas = [found.get("settings", nothing), nothing, found.get("rules", nothing)]
    there = IndexConfiguration(*({**one, **delta.after} for delta in deltas))
    back = IndexConfiguration(*({**there.settings, **delta.before} for delta in deltas))
    assert not differences(there, IndexConfiguration(other, one, other))
    assert not differences(back, IndexConfiguration(one, there.settings, one), ["settings"])


def test_of_changes_at_once_each_finds_what_the_one_before_it_left(shop: str) -> None:
    async def change_at_once() -> None:
        changes = [tuning.aio.apply(shop, {"hitsPerPage": 30 + n}) for n in range(6)]
        await asyncio.gather(*changes)

    background_loop.run(change_at_once())

    found = tuning.history(shop).iloc[::-1]
    left = [after["hitsPerPage"] for after in found["after"]]
    assert [before["hitsPerPage"] for before in found["before"]][1:] == left[:-1]

"""A scratch copy is changed, evaluated, promoted or dropped."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import svc_notebook as svc
from svc_notebook import tuning
from svc_notebook.data.client import Client, background_loop
from svc_notebook.errors import BadInput, KeyRefused, NotFound
from tests.conftest import ROOT, Running
from tests.tuning.shop import changes_of, client, connect, hits, shop

__all__ = ["client", "shop"]

PAIR: Any = {"objectID": "pair", "type": "synonym", "synonyms": ["lamp", "sofa"]}
JUDGMENTS = [
    {"query": "lamp", "objectID": "1", "rating": 1},
    {"query": "lamp", "objectID": "2", "rating": 3},
    {"query": "lamp", "objectID": "4", "rating": 0},
]


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def names(client: Client) -> list[str]:
    return [item["name"] for item in client.list_indices()["items"]]


def test_what_is_tried_on_a_copy_is_not_seen_on_the_index(shop: str, client: Client) -> None:
    before = tuning.snapshot(shop).hash

    with tuning.scratch(shop) as s:
        svc.set_settings(s.name, customRanking=["desc(sales)"])
        svc.save_synonyms(s.name, [PAIR])
        tried = hits(s.name, "lamp", client)
        assert set(s.diff()["name"]) == {"customRanking", "pair"}
        assert s.name in names(client)

    assert "5" in tried
    assert tuning.snapshot(shop).hash == before
    assert s.name not in names(client)
    assert s.state == "dropped"


def test_promoting_puts_all_of_it_in_place_and_can_be_undone(shop: str, client: Client) -> None:
    before = tuning.snapshot(shop).hash
    with tuning.scratch(shop) as s:
        svc.set_settings(s.name, customRanking=["desc(sales)"])
        svc.save_synonyms(s.name, [PAIR])
        svc.clear_rules(s.name)
        tried = tuning.snapshot(s.name).hash

        made = s.promote(note="sales first")

    assert tuning.snapshot(shop).hash == tried
    assert set(made["scope"]) == {"settings", "synonyms", "rules"}
    assert set(changes_of(shop)) == {("sales first", scope) for scope in set(made["scope"])}
    assert s.name not in names(client)
    tuning.undo(shop, made.attrs["svc"]["change_id"])
    assert tuning.snapshot(shop).hash == before


def test_records_of_a_copy_are_not_promoted(shop: str, client: Client) -> None:
    with tuning.scratch(shop) as s:
        svc.clear_index(s.name)
        svc.set_settings(s.name, hitsPerPage=7)
        s.promote()

    assert len(hits(shop, "lamp", client)) == 3


def test_a_copy_is_measured_by_judged_queries(shop: str) -> None:
    with tuning.scratch(shop) as s:
        before = s.evaluate(["lamp"], JUDGMENTS)
        svc.set_settings(s.name, customRanking=["desc(sales)"])
        after = s.evaluate(["lamp"], JUDGMENTS)

    assert before["value"][0] < after["value"][0] == 1


def test_promoting_what_was_changed_meanwhile_is_refused(shop: str, client: Client) -> None:
    with tuning.scratch(shop) as s:
        svc.set_settings(s.name, hitsPerPage=7)
        client.wait(client.set_settings(shop, {"distinct": 1}), index=shop)

        with pytest.raises(BadInput, match=r"changed since it was copied: settings `distinct`"):
            s.promote()

        assert client.get_settings(shop).get("hitsPerPage", 20) == 20
        made = s.promote(force=True)

    assert set(made["name"]) == {"distinct", "hitsPerPage"}
    assert client.get_settings(shop)["hitsPerPage"] == 7


def test_of_two_promotions_at_once_one_is_refused(shop: str) -> None:
    async def promote_both() -> list[Any]:
        both = [tuning.aio.scratch(shop), tuning.aio.scratch(shop)]
        async with both[0] as one, both[1] as other:
            await svc.aio.set_settings(one.name, hitsPerPage=7)
            await svc.aio.set_settings(other.name, distinct=1)
            work = (one.promote(), other.promote())
            return list(await asyncio.gather(*work, return_exceptions=True))

    ended = background_loop.run(promote_both())

    assert sum(isinstance(each, BadInput) for each in ended) == 1
    assert len(changes_of(shop)) == 1


def test_promoting_what_was_not_changed_changes_nothing(shop: str, client: Client) -> None:
    with tuning.scratch(shop) as s:
        made = s.promote()

    assert made.empty
    assert changes_of(shop) == []
    assert s.name not in names(client)


def change_and_fail(s: tuning.Scratch) -> None:
    with s:
        svc.set_settings(s.name, hitsPerPage=7)
        raise RuntimeError("a mistake")


def test_an_error_inside_drops_the_copy_and_keeps_nothing(shop: str, client: Client) -> None:
    before = tuning.snapshot(shop).hash

    s = tuning.scratch(shop)

    with pytest.raises(RuntimeError, match="a mistake"):
        change_and_fail(s)

    assert s.name not in names(client)
    assert tuning.snapshot(shop).hash == before


def test_a_promotion_that_is_refused_leaves_all_as_it_was(
    shop: str, client: Client, service: Running
) -> None:
    before = tuning.snapshot(shop).hash
    rights: Any = ["search", "settings", "editSettings", "deleteIndex", "addObject"]
    key = client.add_key(acl=rights, indexes=[f"{shop}_scratch*"])["key"]

    with tuning.scratch(shop) as s:
        svc.set_settings(s.name, hitsPerPage=7)
        s.aio.client = connect(service, key).aio
        with pytest.raises(KeyRefused):
            s.promote()
        s.aio.client = client.aio

    assert tuning.snapshot(shop).hash == before
    assert changes_of(shop) == []


def test_a_copy_of_nothing_is_refused(client: Client) -> None:
    with pytest.raises(NotFound):
        tuning.scratch("nowhere").open()

    assert not [name for name in names(client) if name.startswith("nowhere")]


def test_a_dropped_copy_raises_an_error(shop: str) -> None:
    with tuning.scratch(shop) as s:
        pass

    with pytest.raises(BadInput, match="is dropped"):
        s.promote()
    with pytest.raises(BadInput, match="is dropped"):
        s.open()
    s.drop()


def test_replicas_stay_and_virtual_ones_follow(shop: str, client: Client) -> None:
    replicas = [f"{shop}-own", f"virtual({shop}-following)"]
    client.wait(client.set_settings(shop, {"replicas": replicas}), index=shop)

    with tuning.scratch(shop) as s:
        svc.set_settings(s.name, searchableAttributes=["brand"])
        s.promote()

    assert client.get_settings(shop)["replicas"] == replicas
    assert client.get_settings(f"{shop}-own")["searchableAttributes"] == ["name", "brand"]
    assert client.get_settings(f"{shop}-following")["searchableAttributes"] == ["brand"]


@pytest.mark.parametrize("link", ["{}", "virtual({})"], ids=["standard", "virtual"])
def test_a_replica_can_be_tried_and_promoted_too(shop: str, client: Client, link: str) -> None:
    replica = f"{shop}-sorted"
    client.wait(client.set_settings(shop, {"replicas": [link.format(replica)]}), index=shop)

    with tuning.scratch(replica) as s:
        svc.set_settings(s.name, customRanking=["desc(sales)"])
        s.promote()

    assert client.get_settings(replica)["customRanking"] == ["desc(sales)"]
    assert client.get_settings(replica)["primary"] == shop


def test_the_awaited_twin_does_the_same(shop: str, client: Client) -> None:
    async def change() -> list[str]:
        async with client.aio, tuning.aio.scratch(shop) as s:
            await svc.aio.set_settings(s.name, hitsPerPage=7)
            made = await s.promote()
        return list(made["name"])

    assert asyncio.run(change()) == ["hitsPerPage"]
    assert not [name for name in names(client) if name.startswith(f"{shop}_")]


KILLED = """
import os, signal, sys
import svc_notebook as svc

url, app, key, index = sys.argv[1:]
svc.connect(url=url, app_id=app, api_key=key)
s = svc.tuning.scratch(index).open()
print(s.name, flush=True)
if sys.stdin.readline() == "die\\n":
    os.kill(os.getpid(), signal.SIGKILL)
"""


def begin(service: Running, shop: str) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-c", KILLED, service.url, service.appId, service.adminKey, shop]
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    return process, process.stdout.readline().strip()


def end(process: subprocess.Popen[str], word: str) -> int:
    process.communicate(word, timeout=60)
    return process.returncode


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_copy_left_by_a_process_that_was_killed_is_found_and_dropped(
    shop: str, client: Client, service: Running
) -> None:
    process, name = begin(service, shop)
    during = tuning.scratches().set_index("name")["in_use"]
    assert end(process, "die\n") == -signal.SIGKILL
    after = tuning.scratches().set_index("name")

    dropped = tuning.drop_scratches(name)

    assert during[name]
    assert not after["in_use"][name]
    assert after["index"][name] == shop
    assert after["entries"][name] == 5
    assert dropped == [name]
    assert name not in names(client)


@pytest.mark.slow
def test_a_process_that_ends_drops_its_copy(shop: str, client: Client, service: Running) -> None:
    process, name = begin(service, shop)

    assert end(process, "end\n") == 0
    assert name not in names(client)


def test_what_is_in_use_is_not_dropped_unless_named(shop: str, client: Client) -> None:
    with tuning.scratch(shop) as s:
        assert s.name not in tuning.drop_scratches()
        assert s.name in names(client)


def test_only_scratch_copies_are_dropped(shop: str, client: Client) -> None:
    with pytest.raises(BadInput, match="is not a temporary index"):
        tuning.drop_scratches(shop)

    assert shop in names(client)


@pytest.mark.parametrize("lacking", ["addObject", "deleteIndex"])
def test_a_key_that_could_not_copy_and_drop_is_refused_before(
    lacking: str, shop: str, client: Client, service: Running
) -> None:
    rights = {"search", "settings", "editSettings", "addObject", "deleteIndex"} - {lacking}
    key = client.add_key(acl=sorted(rights))["key"]
    before = names(client)

    with pytest.raises(KeyRefused, match=f"needs the right `{lacking}`"):
        tuning.scratch(shop, client=connect(service, key)).open()

    assert names(client) == before


def test_an_error_is_raised_even_if_the_copy_cannot_be_dropped(
    shop: str, client: Client, service: Running
) -> None:
    rights: Any = ["search", "settings", "editSettings", "addObject", "deleteIndex"]
    key, left = client.add_key(acl=rights)["key"], list[str]()

    def fail() -> None:
        with tuning.scratch(shop, client=connect(service, key)) as s:
            left.append(s.name)
            client.update_key(key, acl=["search"])
            raise ZeroDivisionError

    with (
        pytest.warns(UserWarning, match="was not deleted"),
        pytest.raises(ZeroDivisionError),
    ):
        fail()

    found = tuning.scratches().set_index("name")
    assert not found.loc[left[0], "in_use"]
    assert tuning.drop_scratches(left) == left

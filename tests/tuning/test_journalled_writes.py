"""Writes of verbs and editors are journalled, and can be undone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import svc_notebook as svc
from svc_notebook import edit, tuning
from svc_notebook.data.client import Client, background_loop
from svc_notebook.errors import Refused, TimedOut
from svc_notebook.tuning.changes import journalled_write
from tests.conftest import Running
from tests.tuning.shop import RULE, SYNONYM, changes_of, client, connect, shop

__all__ = ["client", "shop"]

PAIR: Any = {"objectID": "pair", "type": "synonym", "synonyms": ["lamp", "light"]}


def other_of(index: str) -> str:
    svc.copy_index(index, f"{index}-other")
    svc.set_settings(f"{index}-other", hitsPerPage=7)
    return f"{index}-other"


DEEDS: dict[str, Callable[[str], Any]] = {
    "settings": lambda index: svc.settings(index, hitsPerPage=7, distinct=2),
    "settings reset": lambda index: svc.reset_settings(index, ["searchableAttributes"]),
    "synonyms save": lambda index: svc.save_synonyms(index, [PAIR]),
    "synonyms replace": lambda index: svc.replace_synonyms(index, [PAIR]),
    "synonyms delete": lambda index: svc.delete_synonyms(index, ["couch"]),
    "synonyms clear": lambda index: svc.clear_synonyms(index),
    "rules save": lambda index: svc.save_rules(index, [{**RULE, "description": "a sale"}]),
    "rules clear": lambda index: svc.clear_rules(index),
    "copy": lambda index: svc.copy_index(other_of(index), index, scope=["settings", "rules"]),
}


@pytest.mark.parametrize("deed", DEEDS.values(), ids=DEEDS)
def test_what_a_verb_changed_can_be_undone(shop: str, deed: Callable[[str], Any]) -> None:
    before = tuning.snapshot(shop)
    deed(shop)
    after = tuning.snapshot(shop)

    tuning.undo(shop)

    assert after.hash != before.hash
    assert tuning.snapshot(shop).hash == before.hash


def test_what_an_editor_applied_can_be_undone(shop: str) -> None:
    before = tuning.snapshot(shop).hash
    settings, synonyms = edit.settings(shop), edit.synonyms(shop)
    settings.value = {"hitsPerPage": 7}
    settings.apply()
    synonyms.value = [PAIR]
    synonyms.apply()

    changes = changes_of(shop)
    tuning.undo(shop)
    tuning.undo(shop)

    assert changes == [("synonym editor", "synonyms"), ("settings editor", "settings")]
    assert tuning.snapshot(shop).hash == before
    settings.close()
    synonyms.close()


def test_saving_what_is_there_already_is_not_kept(shop: str) -> None:
    svc.save_synonyms(shop, [SYNONYM])

    assert changes_of(shop) == []


def test_a_change_that_was_refused_is_not_kept(shop: str) -> None:
    with pytest.raises(Refused):
        svc.set_settings(shop, replicas=[shop])

    assert changes_of(shop) == []


def test_settings_that_make_an_index_are_kept(client: Client, shop: str) -> None:
    svc.set_settings(f"{shop}-new", hitsPerPage=7)

    assert changes_of(f"{shop}-new") == [("settings", "settings")]


def test_a_key_that_may_not_read_changes_without_a_journal(
    shop: str, client: Client, service: Running
) -> None:
    writer = connect(service, client.add_key(acl=["editSettings", "addObject"])["key"])

    with pytest.warns(UserWarning, match="cannot read the synonyms .* cannot be undone"):
        svc.save_synonyms(shop, [PAIR], client=writer)

    assert changes_of(shop) == []
    assert client.get_synonym(shop, "pair")["synonyms"] == ["lamp", "light"]
    writer.close()


def test_a_full_disk_does_not_prevent_a_change(shop: str, client: Client, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where the folder would be")

    with pytest.warns(UserWarning, match=r"journal .* cannot be written"):
        svc.save_synonyms(shop, [PAIR])

    assert client.get_synonym(shop, "pair")["synonyms"] == ["lamp", "light"]


@pytest.mark.filterwarnings("ignore:the change .* was interrupted")
@pytest.mark.parametrize("error", [TimedOut("no answer"), asyncio.CancelledError()], ids=repr)
@pytest.mark.parametrize("is_visible", [True, False])
def test_a_write_that_may_have_an_effect_later_stays_open(
    shop: str, client: Client, error: BaseException, is_visible: bool
) -> None:
    async def stop() -> None:
        aio = client.aio
        async with journalled_write.noting(aio, shop, {"settings": {"hitsPerPage": 7}}):
            if is_visible:
                await aio.wait(await aio.set_settings(shop, {"hitsPerPage": 7}), index=shop)
            raise error

    with pytest.raises(type(error)):
        asyncio.run(stop())

    found = tuning.history(shop)
    assert list(found["state"]) == ["done" if is_visible else "open"]


DEEDS_AT_ONCE: dict[str, Callable[[str, int], Any]] = {
    "settings": lambda index, n: svc.aio.set_settings(index, hitsPerPage=30 + n),
    "apply": lambda index, n: tuning.aio.apply(index, {"hitsPerPage": 30 + n}),
}


def test_of_changes_by_verbs_at_once_each_finds_what_the_one_before_it_left(shop: str) -> None:
    async def change_at_once() -> None:
        deeds = [*DEEDS_AT_ONCE.values()] * 3
        await asyncio.gather(*(deed(shop, n) for n, deed in enumerate(deeds)))

    background_loop.run(change_at_once())

    found = tuning.history(shop).iloc[::-1]
    left = [after["hitsPerPage"] for after in found["after"]]
    assert len(left) == 6
    assert [before["hitsPerPage"] for before in found["before"]][1:] == left[:-1]

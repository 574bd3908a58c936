"""Every function and editor that writes works with exactly the rights that its endpoints ask for.

None of these keys but those with `addObject` may read tasks, so none may fail for that: the write
was accepted.
"""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import svc_notebook as svc
from svc_notebook import tuning
from svc_notebook.data.client import Client, ClientConfig, Secret
from svc_notebook.faces.functions.homes import COROUTINES
from tests.conftest import Running

NUMBERS = itertools.count(1)
RECORDS: list[dict[str, Any]] = [
    {"objectID": "1", "name": "red lamp", "brand": "Acme", "price": 10},
    {"objectID": "2", "name": "blue lamp", "brand": "Umbra", "price": 20},
    {"objectID": "3", "name": "oak table", "brand": "Acme", "price": 90},
]
SYNONYM: dict[str, Any] = {"objectID": "s", "type": "synonym", "synonyms": ["lamp", "light"]}
NEW_SYNONYM: dict[str, Any] = {"objectID": "n", "type": "synonym", "synonyms": ["oak", "wood"]}
RULE: dict[str, Any] = {
    "objectID": "for-lamp",
    "conditions": [{"pattern": "lamp", "anchoring": "is"}],
    "consequence": {
        "promote": [{"objectID": "3", "position": 0}],
        "hide": [{"objectID": "2"}],
    },
}
NEW_RULE: dict[str, Any] = {
    "objectID": "n",
    "conditions": [{"pattern": "table", "anchoring": "is"}],
    "consequence": {"hide": [{"objectID": "1"}]},
}
ENTRY: dict[str, Any] = {"objectID": "own", "language": "en", "word": "zzz"}
EVENT: dict[str, Any] = {
    "eventType": "view", "eventName": "Seen", "userToken": "someone", "objectIDs": ["1"],
}  # fmt: skip


@dataclass
class Scene:
    """An index of a case's own, and a client that may do everything."""

    admin: Client
    index: str

    @property
    def ids(self) -> set[str]:
        """The records there are."""
        return self.ids_of(self.index)

    def ids_of(self, index: str) -> set[str]:
        try:
            return {hit["objectID"] for hit in self.admin.search(index, hitsPerPage=50)["hits"]}
        except svc.errors.NotFound:
            return set()

    @property
    def settings(self) -> dict[str, Any]:
        return dict(self.admin.get_settings(self.index))

    @property
    def synonyms(self) -> set[str]:
        return {hit["objectID"] for hit in self.admin.search_synonyms(self.index)["hits"]}

    @property
    def rules(self) -> dict[str, Any]:
        hits: Any = self.admin.search_rules(self.index)["hits"]
        return {hit["objectID"]: hit["consequence"] for hit in hits}

    @property
    def entries(self) -> set[str]:
        found: Any = self.admin.search_dictionary("stopwords", "", 0, 1000, "en")["hits"]
        return {hit["objectID"] for hit in found if hit.get("type") == "custom"}

    @property
    def switched(self) -> Any:
        found: Any = self.admin.get_dictionary_settings()["disableStandardEntries"]
        return found["stopwords"]

    @property
    def copies(self) -> list[str]:
        names = (item["name"] for item in self.admin.list_indices()["items"])
        return [name for name in names if name.startswith(f"{self.index}_scratch_")]

    def run(self, work: Any) -> Any:
        """Wait for a write of the admin's."""
        return self.admin.wait(work, index=self.index)


@dataclass(frozen=True)
class Case:
    """A write, the rights that its endpoints ask for, and how its effect is seen."""

    name: str
    rights: str
    act: Callable[[Scene], Any]
    seen: Callable[[Scene], bool]
    # The rights besides with which the effect can be seen by other means than the task.
    reads: str = ""
    before: Callable[[Scene], Any] = lambda scene: None


def edit(make: Callable[[str], Any], value: Any) -> Callable[[Scene], Any]:
    def apply(scene: Scene) -> None:
        editor = make(scene.index)
        editor.value = value
        assert editor.dirty
        editor.apply()
        assert not editor.dirty

    return apply


def promote(scene: Scene) -> Any:
    with tuning.scratch(scene.index) as copy:
        svc.set_settings(copy.name, hitsPerPage=7)
        return copy.promote()


def change(scene: Scene) -> None:
    tuning.apply(scene.index, {"hitsPerPage": 5}, client=scene.admin)


def snapshot(scene: Scene) -> None:
    scene.taken = tuning.snapshot(scene.index, client=scene.admin)  # type: ignore[attr-defined]
    change(scene)


def copy(scene: Scene) -> None:
    scene.run(scene.admin.operate_index(scene.index, "copy", f"{scene.index}_scratch_0123abcd"))


def add_entry(scene: Scene) -> None:
    svc.save_entries("stopwords", [ENTRY], client=scene.admin)


NEW = [{"objectID": "9", "name": "desk"}]
NAMED = [{"objectID": "1"}, {"objectID": "2"}]
CASES = [
    Case("delete_records", "deleteObject", lambda s: svc.delete_records(s.index, ["1", "2"]),
        lambda s: s.ids == {"3"}, "search"),
    Case("delete_records", "deleteIndex",
        lambda s: svc.delete_records(s.index, filters="price > 15"),
        lambda s: s.ids == {"1"}, "search"),
    Case("clear_index", "deleteIndex", lambda s: svc.clear_index(s.index),
        lambda s: s.ids == set() and s.synonyms == {"s"}, "search"),
    Case("drop_index", "deleteIndex", lambda s: svc.drop_index(s.index),
        lambda s: not s.admin.index_exists(s.index), "search"),
    Case("copy_index", "addObject", lambda s: svc.copy_index(s.index, f"{s.index}-copy"),
        lambda s: s.ids_of(f"{s.index}-copy") == {"1", "2", "3"}),
    Case("copy_index", "addObject",
        lambda s: svc.copy_index(s.index, f"{s.index}-copy", scope="settings"),
        lambda s: s.admin.get_settings(f"{s.index}-copy")["hitsPerPage"] == 3),
    Case("move_index", "addObject", lambda s: svc.move_index(s.index, f"{s.index}-moved"),
        lambda s: s.ids_of(f"{s.index}-moved") == {"1", "2", "3"}),
    Case("load", "addObject", lambda s: svc.load(NEW, s.index, progress=False),
        lambda s: "9" in s.ids),
    Case("load", "deleteObject",
        lambda s: svc.load(NAMED, s.index, action="delete", progress=False),
        lambda s: s.ids == {"3"}),
    Case("push", "addObject", lambda s: svc.push(NEW, s.index, progress=False),
        lambda s: "9" in s.ids),
    Case("replace_records", "addObject settings search",
        lambda s: svc.replace_records(s.index, NEW, min_share=0, progress=False),
        lambda s: s.ids == {"9"}),
    Case("set_settings", "editSettings", lambda s: svc.set_settings(s.index, hitsPerPage=7),
        lambda s: s.settings["hitsPerPage"] == 7, "settings"),
    Case("set_settings", "editSettings",
        lambda s: svc.set_settings(s.index, extra={"hitsPerPage": 7}),
        lambda s: s.settings["hitsPerPage"] == 7),
    Case("settings", "editSettings", lambda s: svc.settings(s.index, hitsPerPage=7),
        lambda s: s.settings["hitsPerPage"] == 7, "settings"),
    Case("reset_settings", "editSettings", lambda s: svc.reset_settings(s.index, "hitsPerPage"),
        lambda s: s.settings.get("hitsPerPage", 20) == 20, "settings"),
    Case("save_synonyms", "editSettings", lambda s: svc.save_synonyms(s.index, NEW_SYNONYM),
        lambda s: s.synonyms == {"s", "n"}, "settings"),
    Case("replace_synonyms", "editSettings", lambda s: svc.replace_synonyms(s.index, NEW_SYNONYM),
        lambda s: s.synonyms == {"n"}, "settings"),
    Case("delete_synonyms", "editSettings", lambda s: svc.delete_synonyms(s.index, "s"),
        lambda s: s.synonyms == set(), "settings"),
    Case("clear_synonyms", "editSettings", lambda s: svc.clear_synonyms(s.index),
        lambda s: s.synonyms == set(), "settings"),
    Case("save_rules", "editSettings", lambda s: svc.save_rules(s.index, NEW_RULE),
        lambda s: s.rules.keys() == {"for-lamp", "n"}, "settings"),
    Case("replace_rules", "editSettings", lambda s: svc.replace_rules(s.index, NEW_RULE),
        lambda s: s.rules.keys() == {"n"}, "settings"),
    Case("delete_rules", "editSettings", lambda s: svc.delete_rules(s.index, "for-lamp"),
        lambda s: not s.rules, "settings"),
    Case("clear_rules", "editSettings", lambda s: svc.clear_rules(s.index),
        lambda s: not s.rules, "settings"),
    # These change the rule of a query, which has to be read.
    Case("pin", "settings editSettings", lambda s: svc.pin(s.index, "table", "1"),
        lambda s: s.rules["for-table"]["promote"][0]["objectID"] == "1"),
    Case("hide", "settings editSettings", lambda s: svc.hide(s.index, "table", "1"),
        lambda s: s.rules["for-table"]["hide"] == [{"objectID": "1"}]),
    Case("unpin", "settings editSettings", lambda s: svc.unpin(s.index, "lamp", "3"),
        lambda s: not s.rules["for-lamp"].get("promote")),
    Case("unhide", "settings editSettings", lambda s: svc.unhide(s.index, "lamp", "2"),
        lambda s: not s.rules["for-lamp"].get("hide")),
    Case("save_entries", "editSettings", lambda s: svc.save_entries("stopwords", [ENTRY]),
        lambda s: "own" in s.entries),
    Case("replace_entries", "editSettings",
        lambda s: svc.replace_entries("stopwords", [{**ENTRY, "objectID": "new"}]),
        lambda s: s.entries == {"new"}, before=add_entry),
    Case("delete_entries", "editSettings", lambda s: svc.delete_entries("stopwords", ["own"]),
        lambda s: "own" not in s.entries, before=add_entry),
    Case("clear_entries", "editSettings", lambda s: svc.clear_entries("stopwords"),
        lambda s: not s.entries, before=add_entry),
    Case("dictionary_settings", "editSettings",
        lambda s: svc.dictionary_settings("stopwords", off="fr"),
        lambda s: s.switched["fr"] is True),
    Case("dictionary_settings", "editSettings",
        lambda s: svc.dictionary_settings("stopwords", reset=True),
        lambda s: not s.switched),
    Case("send_events", "search", lambda s: svc.send_events(EVENT, index=s.index),
        lambda s: len(svc.read_events(s.index, client=s.admin)) == 1),
    Case("delete_user_events", "deleteObject", lambda s: svc.delete_user_events("someone"),
        lambda s: svc.read_events(s.index, client=s.admin).empty,
        before=lambda s: svc.send_events(EVENT, index=s.index, client=s.admin)),
    Case("tuning.apply", "settings editSettings",
        lambda s: tuning.apply(
            s.index,
            {"settings": {"hitsPerPage": 7}, "synonyms": [NEW_SYNONYM], "rules": [NEW_RULE]},
        ),
        lambda s: s.settings["hitsPerPage"] == 7 and "n" in s.synonyms and "n" in s.rules),
    Case("tuning.undo", "settings editSettings", lambda s: tuning.undo(s.index),
        lambda s: s.settings["hitsPerPage"] == 3, before=change),
    Case("tuning.restore", "settings editSettings",
        lambda s: tuning.restore(s.index, s.taken),  # type: ignore[attr-defined]
        lambda s: s.settings["hitsPerPage"] == 3, before=snapshot),
    Case("tuning.drop_scratches", "deleteIndex listIndexes",
        lambda s: tuning.drop_scratches(s.copies), lambda s: not s.copies, before=copy),
    Case("tuning.scratch", "addObject deleteIndex settings editSettings", promote,
        lambda s: s.settings["hitsPerPage"] == 7 and not s.copies),
    Case("edit.synonyms", "settings editSettings", edit(svc.edit.synonyms, [SYNONYM, NEW_SYNONYM]),
        lambda s: s.synonyms == {"s", "n"}),
    Case("edit.synonyms", "settings editSettings", edit(svc.edit.synonyms, []),
        lambda s: not s.synonyms),
    Case("edit.rules", "settings editSettings", edit(svc.edit.rules, [NEW_RULE]),
        lambda s: s.rules.keys() == {"n"}),
    Case("edit.settings", "settings editSettings",
        edit(svc.edit.settings, {"hitsPerPage": None, "removeStopWords": True}),
        lambda s: s.settings.get("hitsPerPage", 20) == 20 and s.settings["removeStopWords"]),
]  # fmt: skip

OF_EXTRA = [case for case in CASES if case.name == "set_settings"][1]


@pytest.fixture
def scene(apart: Running) -> Iterator[Scene]:
    admin = connect(apart, apart.adminKey)
    scene = Scene(admin, f"writing-{next(NUMBERS)}")
    admin.replace_all(scene.index, RECORDS)
    faceted: Any = {"hitsPerPage": 3, "attributesForFaceting": ["brand"]}
    scene.run(admin.set_settings(scene.index, faceted))
    synonyms, rules = [SYNONYM], [RULE]
    scene.run(admin.save_synonyms(scene.index, synonyms))  # type: ignore[arg-type]
    scene.run(admin.save_rules(scene.index, rules))  # type: ignore[arg-type]
    yield scene
    svc.clear_entries("stopwords", client=admin)
    svc.dictionary_settings("stopwords", reset=True, client=admin)
    svc.delete_user_events("someone", client=admin)
    admin.close()


def connect(service: Running, key: str) -> Client:
    return Client(ClientConfig(url=service.url, app_id=service.appId, api_key=Secret(key)))


def act_as(case: Case, scene: Scene, service: Running, *rights: Any) -> tuple[Any, list[str]]:
    """Write with a key of these rights alone; returns the result and what was warned of."""
    case.before(scene)
    key = scene.admin.add_key(acl=list(rights))["key"]
    svc.connect(url=service.url, app_id=service.appId, api_key=key)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = case.act(scene)
    return result, [f"{warning.message}" for warning in caught]


def is_seen(case: Case, scene: Scene) -> bool:
    """Look for an effect; what was only accepted may not be published yet."""
    deadline = time.monotonic() + 20
    while not case.seen(scene):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def status_of(result: Any) -> str:
    """How far the write was followed."""
    facts = result if isinstance(result, dict) else getattr(result, "attrs", {}).get("svc", {})
    return str(facts.get("status", "published")).partition(";")[0]


def named(case: Case) -> str:
    return f"{case.name}-{case.rights.replace(' ', '-')}"


@pytest.mark.parametrize("case", CASES, ids=named)
@pytest.mark.sampled(15)
def test_exactly_the_rights_of_its_endpoints_are_enough(
    case: Case, scene: Scene, apart: Running
) -> None:
    result, told = act_as(case, scene, apart, *case.rights.split())

    assert is_seen(case, scene)
    accepted = status_of(result) == "accepted"
    assert accepted == any("not known whether it is published" in text for text in told)
    # Nothing tells what became of a setting that the vocabulary need not know.
    assert accepted == bool(case.reads) or case is OF_EXTRA


@pytest.mark.parametrize("case", [case for case in CASES if case.reads], ids=named)
def test_where_tasks_may_not_be_read_the_effect_is_looked_for(
    case: Case, scene: Scene, apart: Running
) -> None:
    result, told = act_as(case, scene, apart, *case.rights.split(), case.reads)

    assert case.seen(scene)
    assert status_of(result) == "confirmed"
    assert not [text for text in told if "accepted" in text]


@pytest.mark.parametrize("case", [case for case in CASES if case.reads], ids=named)
def test_key_that_may_read_tasks_gets_no_status(case: Case, scene: Scene, apart: Running) -> None:
    result, _ = act_as(case, scene, apart, *case.rights.split(), "addObject")

    assert case.seen(scene)
    assert status_of(result) == "published"


@pytest.mark.sampled(10)
@pytest.mark.parametrize("case", [case for case in CASES if "edit" in case.rights], ids=named)
def test_without_the_right_it_is_refused_and_nothing_is_changed(
    case: Case, scene: Scene, apart: Running
) -> None:
    case.before(scene)
    before = (scene.settings, scene.synonyms, scene.rules, scene.entries)
    rights = [right for right in case.rights.split() if right != "editSettings"]
    refusals = (svc.errors.KeyRefused, svc.errors.BadOption)

    with pytest.raises(refusals, match="editSettings"):
        act_as(Case(case.name, "", case.act, case.seen), scene, apart, *rights, "settings")

    assert (scene.settings, scene.synonyms, scene.rules, scene.entries) == before


def test_a_change_whose_past_cannot_be_read_is_made_and_warned_of(
    scene: Scene, apart: Running
) -> None:
    case = next(case for case in CASES if case.name == "set_settings")

    frame, told = act_as(case, scene, apart, "editSettings")

    assert any("cannot be undone" in text for text in told)
    assert "may not read settings" in frame.attrs["svc"]["unread"]
    assert frame.to_dict("records") == [{"setting": "hitsPerPage", "before": None, "after": 7}]
    assert tuning.history(scene.index, client=scene.admin).empty


def test_a_change_that_is_confirmed_can_be_undone(scene: Scene, apart: Running) -> None:
    case = next(case for case in CASES if case.name == "save_synonyms")

    act_as(case, scene, apart, "settings", "editSettings")
    tuning.undo(scene.index)

    assert scene.synonyms == {"s"}


def test_every_public_function_that_writes_is_in_the_matrix() -> None:
    tested = {case.name for case in CASES}
    functions = {*COROUTINES, "get_remaining_validity", "plan", "secured_key"}
    changing = {f"tuning.{name}" for name in ("apply", "undo", "restore", "drop_scratches")}
    editors = {"edit.synonyms", "edit.rules", "edit.settings"}

    writes = {name for name in functions if not name.startswith(READING)} - ELSEWHERE
    assert writes | changing | editors | {"tuning.scratch"} == tested


READING = (
    "browse_", "count_", "diff_", "explain", "export", "get_", "next_page", "overview", "plan",
    "read_",
    "search", "show", "whoami", "why",
)  # fmt: skip
# Loads, suggestions and A/B tests, whose rights `tests/data/loading`, and `test_suggestions.py` and
# `test_ab_tests.py` in `tests/service`, test.
# The admin's alone; the crawler's own credentials; any endpoint; nothing of the service; services
# of profiles, and files, whose rights `tests/tuning/deployment` tests.
ELSEWHERE = {
    *("add_key", "update_key", "delete_key", "restore_key"),
    *("add_source", "delete_source", "replace_sources"),
    *("assign_users", "move_user", "remove_user", "pending_users"),
    *("cancel_crawler_task", "configure_crawler", "crawl_urls", "crawler_task", "create_crawler"),
    *(
        "delete_crawler",
        "pause_crawler",
        "reindex_crawler",
        "rename_crawler",
        "run_crawler",
        "try_url",
    ),
    *("add_ab_test", "delete_ab_test", "stop_ab_test"),
    *("delete_suggestions_config", "save_suggestions_config", "undo_load"),
    *("call", "refresh", "secured_key", "wait"),
    *("apply_config", "clone", "deploy", "pull_config"),
}

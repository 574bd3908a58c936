"""The workbench's Python half."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import partial
from typing import Any

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.core.api import Endpoint, RequestSpec
from svc_notebook.data.client import Client, ClientConfig
from svc_notebook.data.client.curation import RULES, find_all
from svc_notebook.data.client.transport.sender import HttpSender
from svc_notebook.errors import BadInput, BadOption, SvcError, Unreachable
from svc_notebook.faces.editors import event_loop
from svc_notebook.faces.editors.changes import order_parts
from svc_notebook.faces.editors.fallback import SNAPSHOT_ROWS
from svc_notebook.faces.editors.rpc import run_on_loop
from svc_notebook.faces.editors.search_comparison import Copy
from svc_notebook.faces.editors.workbench_editor import trial
from svc_notebook.faces.editors.workbench_editor.editor import Workbench
from svc_notebook.faces.magics.extension import run
from tests.conftest import set_current

SYNONYM = {"objectID": "light", "type": "synonym", "synonyms": ["light", "lamp"]}
JUDGMENTS = pd.DataFrame(
    [
        {"query": "lamp", "objectID": "1", "rating": 3},
        {"query": "lamp", "objectID": "2", "rating": 0},
    ]
)


Call = Callable[[], Coroutine[Any, Any, Any]]


class Wire(HttpSender):
    """Sends calls; those of the endpoints in `detours` take a detour."""

    def __init__(self, connection: ClientConfig) -> None:
        super().__init__(connection)
        self.detours: dict[str, Callable[[Call], Coroutine[Any, Any, Any]]] = {}

    async def send(self, endpoint: Endpoint, spec: RequestSpec) -> Any:
        send = partial(super().send, endpoint, spec)
        detour = self.detours.get(endpoint.name)
        return await (detour(send) if detour else send())


@pytest.fixture
def wire(client: Client) -> Wire:
    """The sender of the workbench's client."""
    return Wire(client.connection)


@pytest.fixture
def bench(client: Client, wire: Wire, shop: str) -> Iterator[Workbench]:
    with Client(client.connection, wire) as own:
        made = svc.edit(shop, "lamp", client=own)
        yield made
        made.close()


def await_that(holds: Callable[[], Any]) -> None:
    """Wait until something holds that follows from a change."""
    end = time.monotonic() + 15
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    assert holds()


def await_copy(bench: Workbench) -> None:
    """Wait until the drafts are tried on a copy of the index."""
    await_that(lambda: bench.trial["by"] == "copy" and not bench.trial["busy"])


def hits(bench: Workbench) -> list[str]:
    return [hit["objectID"] for hit in bench.query.hits]


def names(client: Client) -> list[str]:
    return [item["name"] for item in client.list_indices()["items"]]


def saved_rules(bench: Workbench) -> list[Any]:
    return list(event_loop.run(find_all(bench.client, RULES, bench.index)))


def test_settings_that_are_parameters_show_in_the_hits_without_a_copy(bench: Workbench) -> None:
    assert hits(bench) == ["2", "1"]

    bench.settings.value = {"customRanking": ["asc(rating)"]}
    await_that(lambda: hits(bench) == ["1", "2"])

    assert bench.value == {"settings": {"customRanking": ["asc(rating)"]}}
    assert bench.trial["by"] == "parameters"
    assert bench.dirty
    assert [card["previous"] for card in bench.query.answer["hits"]] == [2, 1]
    assert bench.query.answer["moves"] == {"gained": 0, "moved": 2, "left": 0}


def test_other_drafts_show_in_the_hits_on_one_copy(bench: Workbench, client: Client) -> None:
    bench.query.value = {"query": "light"}
    assert hits(bench) == []

    bench.synonyms.put(SYNONYM)
    await_that(lambda: hits(bench) == ["2", "1"])
    copy = bench.trial["copy"]
    bench.settings.value = {"searchableAttributes": ["brand"]}
    await_that(lambda: hits(bench) == [])

    assert bench.trial["by"] == "copy"
    assert bench.trial["copy"] == copy
    assert [name for name in names(client) if name.startswith(f"{bench.index}_")] == [copy]
    bench.close()
    assert copy not in names(client)


def test_the_copy_of_a_trial_that_still_runs_is_dropped(client: Client, shop: str) -> None:
    bench = svc.edit(shop, "lamp", client=client)
    make = Copy.make
    begun, made = threading.Event(), threading.Event()

    async def make_slowly(copy: Copy, *given: Any) -> None:
        begun.set()
        await asyncio.sleep(0.2)  # the copy is made while the workbench is closed
        await make(copy, *given)
        made.set()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Copy, "make", make_slowly)
        bench.synonyms.put(SYNONYM)
        assert begun.wait(15)
        bench.close()
        trying: Any = bench._follow_up_work
        with suppress(CancelledError):
            trying.result(15)

    assert not made.is_set()
    assert [name for name in names(client) if name.startswith(f"{shop}_")] == []


def test_a_callback_of_an_editor_can_close_it(bench: Workbench, client: Client) -> None:
    bench.synonyms.put(SYNONYM)
    await_that(lambda: bench.trial["by"] == "copy")

    run_on_loop(bench.close)

    await_that(lambda: not [name for name in names(client) if name.startswith(f"{bench.index}_")])


def test_a_reverted_draft_shows_the_saved_hits(bench: Workbench) -> None:
    bench.value = {"settings": {"customRanking": ["asc(rating)"]}}
    await_that(lambda: hits(bench) == ["1", "2"])

    bench.revert()
    await_that(lambda: hits(bench) == ["2", "1"])

    assert not bench.settings.dirty
    assert bench.trial["by"] == ""
    assert "moves" not in bench.query.answer


def test_a_large_index_is_copied_on_request(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch, client: Client
) -> None:
    monkeypatch.setattr(trial, "MAX_UNASKED_COPY_RECORDS", 2)

    bench.value = {"synonyms": {"light": SYNONYM}}

    await_that(lambda: bench.trial["needs"] == ["synonyms"])
    assert bench.trial["records"] == 3
    assert not [name for name in names(client) if name.startswith(f"{bench.index}_")]
    event_loop.run(bench.copy_index())
    assert bench.trial["by"] == "copy"


def test_a_pinned_hit_becomes_a_draft_of_a_rule(bench: Workbench) -> None:
    bench.query.curate("pin", "1", 1)
    await_that(lambda: hits(bench) == ["1", "2"])
    bench.query.curate("hide", "2", 2)
    await_that(lambda: hits(bench) == ["1"])

    [rule] = bench.value["rules"].values()
    assert rule["consequence"] == {
        "promote": [{"objectID": "1", "position": 0}], "hide": [{"objectID": "2"}],
    }  # fmt: skip
    assert bench.query.drafts == []
    assert saved_rules(bench) == []


def test_all_drafts_are_applied_and_undone_as_one_change(bench: Workbench) -> None:
    bench.settings.value = {"customRanking": ["asc(rating)"]}
    bench.synonyms.put(SYNONYM)
    bench.query.curate("hide", "2", 1)
    await_that(lambda: len(bench.value) == 3)

    bench.apply()

    assert not bench.dirty
    assert not any(editor.dirty for editor in (bench.settings, bench.synonyms, bench.rules))
    history = svc.tuning.history(bench.index, client=bench.client)
    assert history["change_id"].nunique() == 1
    assert set(history["scope"]) == {"settings", "synonyms", "rules"}
    [listed] = event_loop.run(bench.applied())
    assert len(listed["changed"]) == 3

    event_loop.run(bench.undo_applied(listed["id"]))

    assert saved_rules(bench) == []
    assert bench.settings.value["customRanking"] == ["desc(rating)"]
    assert bench.synonyms.value == []
    undone = event_loop.run(bench.applied())
    assert [change["undone"] for change in undone] == [False, True]
    await_that(lambda: hits(bench) == ["2", "1"])


def test_a_failed_part_keeps_its_draft_and_names_what_is_applied(
    bench: Workbench, wire: Wire
) -> None:
    async def fail(_: Call) -> Any:
        raise SvcError("the disk is full")

    bench.settings.value = {"hitsPerPage": 7}
    bench.synonyms.put(SYNONYM)
    await_that(lambda: len(bench.value) == 2)
    await_copy(bench)
    wire.detours["save_synonyms"] = fail

    with pytest.raises(SvcError, match="disk is full") as caught:
        bench.apply()

    [note] = caught.value.__notes__
    assert note.startswith(f"the settings of {bench.index} are applied")
    assert "the synonyms are not" in note
    assert "disk is full" in bench.state["error"]["message"]
    assert bench.value == {"synonyms": {"light": SYNONYM}}
    history = svc.tuning.history(bench.index, client=bench.client)
    assert list(history["scope"]) == ["settings"]
    svc.tuning.undo(bench.index, client=bench.client)
    bench.reload()
    assert bench.settings.value.get("hitsPerPage") != 7


def test_a_lost_response_does_not_deny_what_is_applied(bench: Workbench, wire: Wire) -> None:
    async def lose_response(send: Call) -> Any:
        await bench.client.wait(await send(), index=bench.index)
        raise Unreachable("no response")

    bench.value = {"settings": {"hitsPerPage": 7}, "synonyms": {"light": SYNONYM}}
    await_copy(bench)
    wire.detours["save_synonyms"] = lose_response

    with pytest.raises(Unreachable) as caught:
        bench.apply()

    [note] = caught.value.__notes__
    assert note.startswith(f"the settings and synonyms of {bench.index} are applied")
    assert "not" not in note
    assert bench.value == {}


def test_without_the_service_the_outcome_is_unknown(bench: Workbench, wire: Wire) -> None:
    async def fail(_: Call) -> Any:
        raise Unreachable("no response")

    rule = {"objectID": "r", "consequence": {"hide": [{"objectID": "2"}]}}
    drafts = {"synonyms": {"light": SYNONYM}, "rules": {"r": rule}}
    bench.value = {"settings": {"hitsPerPage": 7}, **drafts}
    await_copy(bench)

    async def fail_from_now_on(send: Call) -> Any:
        wire.detours.update(dict.fromkeys(("search_synonyms", "search_rules"), fail))
        return await fail(send)

    wire.detours["save_synonyms"] = fail_from_now_on

    with pytest.raises(Unreachable) as caught:
        bench.apply()

    [note] = caught.value.__notes__
    assert note.startswith(f"the settings of {bench.index} are applied")
    assert f"not known whether the synonyms of {bench.index} are applied" in note
    assert "the rules are not" in note
    assert bench.value == drafts


def test_a_stopped_apply_says_what_is_applied(bench: Workbench, wire: Wire) -> None:
    begun = threading.Event()

    async def hang(_: Call) -> Any:
        begun.set()
        await asyncio.Event().wait()

    bench.value = {"settings": {"hitsPerPage": 7}, "synonyms": {"light": SYNONYM}}
    await_copy(bench)
    wire.detours["save_synonyms"] = hang
    bench._dispatcher.accept({"id": 1, "call": "write"})
    assert begun.wait(15)
    bench._dispatcher.accept({"cancel": 1})
    await_that(lambda: bench.state["error"])

    message = bench.state["error"]["message"]
    assert f"the settings of {bench.index} are applied" in message
    assert "not known whether the synonyms" in message
    assert bench.value == {"synonyms": {"light": SYNONYM}}
    history = svc.tuning.history(bench.index, client=bench.client)
    assert history[["scope", "state"]].to_numpy().tolist() == [["settings", "done"]]
    wire.detours.clear()
    bench.apply()
    assert bench.value == {}


def test_nothing_is_written_if_a_part_was_changed_elsewhere(
    bench: Workbench, client: Client
) -> None:
    bench.settings.value = {"hitsPerPage": 7}
    bench.synonyms.put(SYNONYM)
    await_that(lambda: len(bench.value) == 2)
    other: Any = [{**SYNONYM, "objectID": "x"}]
    client.wait(client.save_synonyms(bench.index, other), index=bench.index)

    with pytest.raises(BadInput, match="changed elsewhere"):
        bench.apply()

    assert client.get_settings(bench.index).get("hitsPerPage") != 7
    with pytest.raises(BadInput, match="changed elsewhere"):
        bench.apply()
    bench.reload()
    bench.apply()
    assert client.get_settings(bench.index)["hitsPerPage"] == 7
    assert {each["objectID"] for each in bench.synonyms.value} == {"x", "light"}


@pytest.mark.slow
def test_drafts_are_undone_and_redone_together(bench: Workbench) -> None:
    bench.value = {"settings": {"hitsPerPage": 7}}
    bench.value = {"settings": {"hitsPerPage": 7}, "synonyms": {"light": SYNONYM}}

    bench.undo()
    assert bench.synonyms.value == []
    bench.redo()
    assert bench.synonyms.value == [SYNONYM]
    bench.revert()
    assert bench.value == {}
    assert not bench.settings.dirty


def test_an_undo_reverts_the_latest_change_of_any_part(bench: Workbench) -> None:
    bench.value = {"settings": {"hitsPerPage": 7}}
    bench.synonyms.put(SYNONYM)  # the workbench may not have taken it yet

    bench.undo()

    assert bench.value == {"settings": {"hitsPerPage": 7}}
    bench.redo()
    assert bench.synonyms.value == [SYNONYM]


def test_the_score_of_judged_queries_follows_the_draft(client: Client, shop: str) -> None:
    bench = svc.edit(shop, "lamp", judgments=JUDGMENTS, client=client)

    bench.value = {"settings": {"customRanking": ["asc(rating)"]}}

    await_that(lambda: bench.trial["score"])
    score = bench.trial["score"]
    assert score["after"] == 1.0
    assert 0 < score["before"] < 1
    assert score["queries"] == 1
    assert "ndcg@10" in bench.snapshot()
    bench.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"settings": {"customRanking": ["asc(rating)"]}},
        {"settings": {"searchableAttributes": ["brand"]}, "synonyms": {"light": SYNONYM}},
        {"rules": {"r": {"consequence": {"hide": [{"objectID": "2"}]}}}},
    ],
    ids=["parameters", "copy", "rule"],
)
def test_the_score_is_that_of_an_evaluation_after_apply(
    changes: Any, client: Client, shop: str
) -> None:
    judgments = pd.concat([
        JUDGMENTS, pd.DataFrame([{"query": "light", "objectID": "1", "rating": 2}]),
        pd.DataFrame([{"query": "acme", "objectID": "3", "rating": 1}]),
    ])  # fmt: skip
    bench = svc.edit(shop, "lamp", judgments=judgments, client=client)

    def evaluate() -> float:
        run = svc.tuning.run(shop, judgments, k=10, client=client)
        return float(svc.tuning.evaluate(run, judgments, ["ndcg@10"])["value"].mean())

    bench.value = changes
    await_that(lambda: bench.trial["score"])
    score, before = bench.trial["score"], evaluate()
    bench.apply()

    assert score["before"] == pytest.approx(before)
    assert score["after"] == pytest.approx(evaluate())
    assert score["queries"] == 3
    bench.close()


def test_a_draft_that_cannot_be_tried_says_why(bench: Workbench) -> None:
    bench.value = {"rules": {"bad": {"consequence": {"params": {"filters": "brand:("}}}}}

    await_that(lambda: bench.trial["error"])
    assert bench.trial["by"] == ""
    assert hits(bench) == ["2", "1"]


def test_code_repeats_all_changes(bench: Workbench, client: Client) -> None:
    set_current(client)
    bench.value = {"settings": {"hitsPerPage": 7}, "synonyms": {"light": SYNONYM}}
    codes = bench.code()

    assert "%%svc settings set" in codes["Magic"]
    assert "%%svc synonyms save" in codes["Magic"]
    assert codes["curl"].count("curl ") == 2
    bench.revert()
    exec(codes["Python"], {})
    assert client.get_settings(bench.index)["hitsPerPage"] == 7


def test_code_repeats_what_was_applied_until_the_next_draft(
    bench: Workbench, client: Client
) -> None:
    set_current(client)
    bench.value = {"settings": {"hitsPerPage": 7}, "synonyms": {"light": SYNONYM}}
    drafted = bench.code()
    bench.apply()

    applied = bench.code()

    assert applied == drafted
    svc.tuning.undo(bench.index, client=client)
    exec(applied["Python"], {})
    assert client.get_settings(bench.index)["hitsPerPage"] == 7
    bench.value = {"settings": {"hitsPerPage": 9}}
    assert "light" not in bench.code()["Python"]


def test_code_without_changes_after_an_undo_is_the_search(bench: Workbench) -> None:
    bench.value = {"settings": {"hitsPerPage": 7}}
    bench.apply()
    [change] = event_loop.run(bench.applied())
    event_loop.run(bench.undo_applied(change["id"]))

    assert "svc.search" in bench.code()["Python"]


def test_code_changes_replicas_where_applying_does(bench: Workbench, client: Client) -> None:
    set_current(client)
    replica = f"{bench.index}-replica"
    svc.set_settings(bench.index, replicas=[replica], client=client)
    bench.reach(True)
    rule = {"objectID": "hide", "conditions": [{"pattern": "lamp", "anchoring": "is"}],
            "consequence": {"hide": [{"objectID": "2"}]}}  # fmt: skip
    bench.value = {
        "settings": {"hitsPerPage": 7},
        "synonyms": {"light": SYNONYM},
        "rules": {"hide": rule},
    }
    codes = bench.code()

    exec(codes["Python"], {})

    for index in (bench.index, replica):
        assert client.get_settings(index)["hitsPerPage"] == 7
        assert "light" in {entry["objectID"] for entry in client.search_synonyms(index)["hits"]}
        assert [entry["objectID"] for entry in client.search_rules(index)["hits"]] == ["hide"]
    assert codes["curl"].count("forwardToReplicas=true") == 3
    assert codes["Magic"].count("--forwardToReplicas") == 3


def test_code_gives_another_index_the_same_configuration(bench: Workbench, client: Client) -> None:
    set_current(client)
    name = "<img src=x onerror='1'> \"%é/\n"
    bench.value = {
        "settings": {"attributesForFaceting": ["brand"], "customRanking": None},
        "synonyms": {name: {**SYNONYM, "objectID": name}},
        "rules": {
            name: {
                "objectID": name,
                "conditions": [{"pattern": name.strip(), "anchoring": "is"}],
                "consequence": {"hide": [{"objectID": "2"}], "userData": {"text": "'''\\"}},
            }
        },
    }
    code = bench.code()["Python"]
    fresh = f"{bench.index} <img src=x onerror='1'>"
    client.wait(client.operate_index(bench.index, "copy", fresh), index=bench.index)

    exec(code.replace(repr(bench.index), repr(fresh)), {})

    bench.apply()
    assert not len(svc.tuning.diff(bench.index, fresh, client=client))


def test_the_snapshot_of_many_changes_is_short(bench: Workbench) -> None:
    words = ((f"s{number}", f"a{number}") for number in range(SNAPSHOT_ROWS + 50))
    bench.value = {
        "synonyms": {
            name: {"objectID": name, "type": "synonym", "synonyms": [word, name]}
            for name, word in words
        }
    }

    text = bench.write_html()

    assert f"the first {SNAPSHOT_ROWS} of {SNAPSHOT_ROWS + 50}" in text
    assert f"a{SNAPSHOT_ROWS - 1}&" in text
    assert f"a{SNAPSHOT_ROWS}&" not in text


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([], "must be a dict"),
        ({"facets": {}}, "no part `facets`"),
        ({"settings": {"hitsPerPage": "many"}}, "hitsPerPage"),
        ({"rules": {"a": {"consequence": 3}}}, "rules.a"),
    ],
    ids=["list", "part", "setting", "rule"],
)
def test_wrong_changes_are_refused(bench: Workbench, value: Any, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        bench.value = value

    assert bench.value == {}


def test_a_key_without_the_right_reads(searcher: Callable[..., Client], shop: str) -> None:
    bench = svc.edit(shop, "lamp", client=searcher("search", "settings", "browse"))

    assert "editSettings" in bench.state["readOnly"]
    assert hits(bench) == ["2", "1"]
    with pytest.raises(BadOption, match="read-only"):
        bench.apply()
    bench.close()


def test_the_verb_opens_it(client: Client, shop: str) -> None:
    set_current(client)

    bench = run(f"edit {shop} lamp --hitsPerPage 1", None, {})

    assert isinstance(bench, Workbench)
    assert hits(bench) == ["2"]
    bench.close()


@pytest.mark.parametrize(
    ("after", "first"),
    [(["brand"], "rules"), (["brand", "price", "name"], "settings"), (["name"], "settings")],
    ids=["removed", "added", "both"],
)
def test_facets_exist_as_long_as_rules_name_them(after: list[str], first: str) -> None:
    saved = {"attributesForFaceting": ["brand", "price"]}
    changes: Any = {"settings": {"attributesForFaceting": after}, "rules": {"a": None}}

    assert order_parts(changes, saved)[0] == first


def test_the_snapshot_has_changes_and_hits(bench: Workbench) -> None:
    bench.value = {"rules": {"<b>": {"consequence": {"hide": [{"objectID": "2"}]}}}}
    await_that(lambda: hits(bench) == ["1"])

    text = bench.snapshot()
    assert "&lt;b&gt;" in text
    assert "red lamp" in text
    assert "<b>" not in text

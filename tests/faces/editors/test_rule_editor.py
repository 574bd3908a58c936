"""The Python part of the rule editor."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

import svc_notebook as svc
from svc_notebook.data.client import Client
from svc_notebook.errors import BadInput, BadOption, SvcError
from svc_notebook.faces.editors import event_loop
from svc_notebook.faces.editors.changes import by_id
from svc_notebook.faces.editors.curation_editors.rule_description import (
    describe_conditions,
    describe_consequence,
)
from svc_notebook.faces.editors.curation_editors.rules import RuleEditor
from svc_notebook.faces.magics.extension import run
from tests.conftest import set_current

RULE_HIDES: dict[str, Any] = {"consequence": {"hide": [{"objectID": "3"}]}}
RULE: dict[str, Any] = {
    "objectID": "lamps",
    "conditions": [{"pattern": "lamp", "anchoring": "contains"}],
    "consequence": {"promote": [{"objectID": "1", "position": 0}]},
}


@pytest.fixture
def editor(client: Client, shop: str) -> RuleEditor:
    client.wait(client.save_rules(shop, [RULE]), index=shop)  # type: ignore[list-item]
    return svc.edit.rules(shop, client=client)


def saved(editor: RuleEditor) -> dict[str, Any]:
    """What the service has, by objectID."""
    return by_id(event_loop.run(editor.load()))


def rule(name: str, pattern: str | None = None, anchoring: str = "is", **members: Any) -> Any:
    own = {} if pattern is None else {"conditions": [{"pattern": pattern, "anchoring": anchoring}]}
    return {"objectID": name, **own, "consequence": {"params": {"hitsPerPage": 5}}, **members}


def test_a_rule_is_drafted_applied_and_undone(editor: RuleEditor) -> None:
    editor.place("3", "pin", 1, "lamps")
    editor.enable("lamps", False)
    assert saved(editor) == {"lamps": RULE}

    editor.apply()
    assert saved(editor)["lamps"] == {
        **RULE,
        "enabled": False,
        "consequence": {
            "promote": [{"objectID": "1", "position": 0}, {"objectID": "3", "position": 1}]
        },
    }
    editor.undo()
    editor.undo()
    editor.apply()

    assert saved(editor) == {"lamps": RULE}


def test_several_rules_are_switched_off_in_one_step(editor: RuleEditor) -> None:
    editor.duplicate("lamps")

    editor.enable(["lamps", "lamps-copy"], False)
    assert [rule["enabled"] for rule in editor.value] == [False, False]
    editor.undo()

    assert not any("enabled" in rule for rule in editor.value)


def test_no_rule_is_made_that_is_none(editor: RuleEditor) -> None:
    with pytest.raises(BadInput, match="position"):
        editor.place("3", "pin", -1, "lamps")
    with pytest.raises(BadOption, match="no object `nowhere` in the rules"):
        editor.enable("nowhere")

    assert editor.value == [RULE]


def test_a_copy_of_a_rule_has_a_name_of_its_own(editor: RuleEditor) -> None:
    names = [editor.duplicate("lamps"), editor.duplicate("lamps")]

    assert names[0] == "lamps-copy"
    assert len({rule["objectID"] for rule in editor.value}) == 3
    assert editor.get(names[1])["consequence"] == RULE["consequence"]


def test_the_one_condition_of_old_rules_is_one_of_several(editor: RuleEditor) -> None:
    editor.value = [{"objectID": "old", "condition": {"context": "x"}, "consequence": {"hide": []}}]

    assert editor.value[0]["conditions"] == [{"context": "x"}]


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"conditions": [{"pattern": "x"}]}, r"conditions\[0\].anchoring` is missing"),
        ({"conditions": [{"anchoring": "is"}]}, "pattern` is missing"),
        ({"conditions": [{"pattern": "", "anchoring": "contains"}]}, "is empty"),
        ({"conditions": [{"context": "a b"}]}, "letters, digits"),
        ({"conditions": [{}]}, "needs a pattern, a context or filters"),
        ({"consequence": {"promote": [{"objectID": "1"}]}}, "^`consequence.promote.*position"),
        ({"consequence": {"promote": [{"position": 0}]}}, "needs an objectID or objectIDs"),
        ({"consequence": {"userData": "x" * 2000}}, "larger than 1024 bytes"),
        ({"consequence": {"params": {"hitPerPage": 1}}}, "did you mean `hitsPerPage`"),
        (
            {"consequence": {"params": {"query": {"edits": [{"type": "replace", "delete": "a"}]}}}},
            "insert` is missing",
        ),
        ({"validity": [{"from": 2, "until": 1}]}, "ends before it begins"),
        ({"consequence": {"hide": [{"objectID": str(n)} for n in range(51)]}}, "hide"),
    ],
    ids=["anchoring", "pattern", "empty", "context", "nothing", "place", "pin", "data",
         "param", "edit", "time", "hidden"],
)  # fmt: skip
def test_a_rule_whose_parts_do_not_fit_is_refused_as_the_service_would(
    editor: RuleEditor, client: Client, members: dict[str, Any], words: str
) -> None:
    wrong = {**RULE, **members}

    with pytest.raises(BadInput, match=words):
        editor.put(wrong, "lamps")
    with pytest.raises(SvcError):
        client.save_rule(editor.index, "lamps", wrong)  # type: ignore[arg-type]

    assert editor.value == [RULE]


def test_filters_are_read_by_the_service(editor: RuleEditor) -> None:
    wrong = {**RULE, "consequence": {"params": {"filters": "price >"}}}
    with pytest.raises(BadInput, match=r"filters: .*price"):
        event_loop.run(editor.revise(wrong, "lamps"))
    assert editor.value == [RULE]

    right = {**RULE, "consequence": {"params": {"filters": "price > 5"}}}
    event_loop.run(editor.revise(right, "lamps"))

    assert editor.value == [right]


def test_revisions_apply_in_the_order_of_their_calls(editor: RuleEditor) -> None:
    search, seconds = editor.client.search, iter([0.3, 0.0])

    async def slow_search(*given: Any, **params: Any) -> Any:
        await asyncio.sleep(next(seconds))
        return await search(*given, **params)

    editor.client.search = slow_search
    first = {**RULE, "consequence": {"params": {"filters": "price > 5"}}}
    later = {**first, "description": "later"}

    async def both() -> None:
        await asyncio.gather(editor.revise(first, "lamps"), editor.revise(later, "lamps"))

    event_loop.run(both())

    assert editor.value == [later]


@pytest.mark.parametrize("new_id", ["lamps", "bulbs"])
def test_what_is_done_while_a_revision_waits_is_kept(editor: RuleEditor, new_id: str) -> None:
    search, may_answer = editor.client.search, asyncio.Event()

    async def waiting_search(*given: Any, **params: Any) -> Any:
        await may_answer.wait()
        return await search(*given, **params)

    editor.client.search = waiting_search
    params = {"filters": "price > 5"}
    first = {**RULE, "objectID": new_id, "consequence": {**RULE["consequence"], "params": params}}
    later = {**first, "description": "later"}

    async def revise_and_place() -> None:
        revisions = [asyncio.ensure_future(editor.revise(one, "lamps")) for one in (first, later)]
        await asyncio.sleep(0)
        editor.place("1", "pin", 2, "lamps")
        editor.pin("lamp", "3", 0)
        editor.enable("lamps", False)
        may_answer.set()
        assert await asyncio.gather(*revisions) == [new_id, new_id]

    editor.put({**RULE, "conditions": [{"pattern": "lamp", "anchoring": "is"}]}, "lamps")
    event_loop.run(revise_and_place())

    pins = [{"objectID": "3", "position": 0}, {"objectID": "1", "position": 2}]
    consequence = {"promote": pins, "params": params}
    assert editor.value == [{**later, "enabled": False, "consequence": consequence}]
    editor.place("1", "free", 0, new_id)
    assert event_loop.run(editor.revise(later, new_id)) == new_id
    assert editor.value == [later]


def test_a_revision_after_a_rename_reaches_the_renamed_rule(editor: RuleEditor) -> None:
    editor.put(rule("taken"))
    names = ["lamp", "bulb", "lamps", "bulb"]

    for name in names:  # a view sends the name that it last had an answer for
        revised = {**RULE, "objectID": name, "description": name}
        assert event_loop.run(editor.revise(revised, "lamps")) == name
        assert by_id(editor.value) == {"taken": rule("taken"), name: revised}

    with pytest.raises(BadInput, match="duplicate objectID `taken`"):
        event_loop.run(editor.revise({**RULE, "objectID": "taken"}, "lamps"))
    editor.remove(["bulb"])
    with pytest.raises(BadOption, match="no object `bulb` in the rules"):
        event_loop.run(editor.revise(RULE, "lamps"))


def test_a_rule_that_does_nothing_is_not_applied(editor: RuleEditor) -> None:
    editor.put({"objectID": "new", "consequence": {}})

    with pytest.raises(BadInput, match="new: no consequence"):
        editor.apply()

    assert saved(editor).keys() == {"lamps"}


@pytest.mark.parametrize(
    ("consequence", "words"),
    [
        ({"promote": [{"objectID": "a", "position": 0}, {"objectIDs": ["b", "a"], "position": 4}]},
         "`a` is pinned twice"),
        ({"promote": [{"objectID": "a", "position": 0}], "hide": [{"objectID": "a"}]},
         "`a` is pinned and hidden"),
    ],
    ids=["twice", "both"],
)  # fmt: skip
def test_what_is_odd_about_a_rule_is_told(
    editor: RuleEditor, consequence: dict[str, Any], words: str
) -> None:
    editor.put({**RULE, "consequence": consequence}, "lamps")

    assert [fault["text"] for fault in editor.faults["lamps"]] == [words]


def test_a_rule_whose_schedule_is_over_has_a_warning(editor: RuleEditor) -> None:
    editor.put({**RULE, "validity": [{"from": 1, "until": int(time.time()) - 5}]}, "lamps")

    assert editor.faults == {"lamps": [{"level": "warning", "text": "the schedule is over"}]}


@pytest.mark.parametrize(
    ("spans", "told"),
    [
        ([{"from": 1}], None),
        ([{"until": 1}], "the schedule is over"),
        ([{"until": 2_000_000_000}], None),
        ([{"until": 1}, {"from": 2}], None),
        ([{}], None),
        (
            [{"from": 2_000_000_000, "until": 2_000_000_000}],
            "the schedule is empty: start and end are equal",
        ),
        ([{"from": 5, "until": 5}, {"until": 1}], "the schedule is over"),
    ],
)
def test_times_that_are_open_at_an_end_are_checked(
    editor: RuleEditor, spans: list[Any], told: str | None
) -> None:
    editor.put({**RULE, "validity": spans}, "lamps")
    editor.apply()

    assert [fault["text"] for fault in editor.faults.get("lamps", ())] == [told] * bool(told)
    assert saved(editor)["lamps"]["validity"] == spans
    assert "lamps" in editor.write_html()


def test_queries_that_trigger_a_rule_and_that_do_not(editor: RuleEditor) -> None:
    editor.put(rule("tables", "table", consequence={"hide": [{"objectID": "3"}]}))

    found = event_loop.run(editor.preview(["table", "oak"]))

    after = [impact["comparison"]["sides"][1] for impact in found]
    assert [side["applied"] for side in after] == [["tables"], []]
    assert [side["nbHits"] for side in after] == [0, 1]
    assert list(editor.impact("table")["lost"]) == [1]


def test_a_saved_rule_is_tried_against_none(editor: RuleEditor) -> None:
    editor.place("3", "pin", 0, "lamps")
    editor.put(rule("others", "oak", consequence={"hide": [{"objectID": "3"}]}))
    found = event_loop.run(editor.preview(without="lamps"))

    [impact] = found
    assert impact["query"] == "lamp"
    sides = impact["comparison"]["sides"]
    assert [side["applied"] for side in sides] == [[], ["lamps"]]
    assert [hit["id"] for hit in sides[0]["hits"]] == ["2", "1"]
    assert sides[1]["hits"][0]["id"] == "3"


def test_rules_for_a_context_are_tried_in_it(editor: RuleEditor) -> None:
    editor.put({"objectID": "app", "conditions": [{"context": "app"}], **RULE_HIDES})

    [apart] = event_loop.run(editor.preview())
    [inside] = event_loop.run(editor.preview(params={"ruleContexts": ["app"]}))

    assert apart["query"] == inside["query"] == ""
    assert apart["comparison"]["sides"][1]["applied"] == []
    assert inside["comparison"]["sides"][1]["applied"] == ["app"]
    assert inside["comparison"]["lost"] == 1


def test_what_is_saved_is_tried_without_a_copy(
    editor: RuleEditor, searcher: Callable[..., Client]
) -> None:
    reader = svc.edit.rules(editor.index, client=searcher("settings", "search"))

    [impact] = event_loop.run(reader.preview(["lamp"]))

    assert [side["applied"] for side in impact["comparison"]["sides"]] == [["lamps"]] * 2


def test_what_is_pinned_in_the_query_editor_is_drafted(editor: RuleEditor, client: Client) -> None:
    queries = svc.edit.query(editor.index, "red lamp", client=client)
    editor.follow(queries)

    queries.curate("pin", "3", 1)
    queries.curate("hide", "1", 2)

    assert editor.get("for-red-lamp") == {
        "objectID": "for-red-lamp",
        "conditions": [{"pattern": "red lamp", "anchoring": "is"}],
        "consequence": {
            "promote": [{"objectID": "3", "position": 0}],
            "hide": [{"objectID": "1"}],
        },
    }
    assert editor.dirty


def test_a_parameter_is_read_by_its_type(editor: RuleEditor) -> None:
    assert editor.read_param("hitsPerPage", "7") == 7
    assert editor.read_param("facetFilters", '["brand:Acme"]') == ["brand:Acme"]
    with pytest.raises(BadInput, match="did you mean `hitsPerPage`"):
        editor.read_param("hitPerPage", "7")
    assert "hitsPerPage" in {row["name"] for row in editor.describe_parameters()}


def test_a_key_that_may_not_write_opens_a_read_only_editor(
    editor: RuleEditor, searcher: Callable[..., Client]
) -> None:
    weak = svc.edit.rules(editor.index, client=searcher("settings", "search"))

    assert weak.state["readOnly"] == "the key lacks the right `editSettings`"
    with pytest.raises(BadOption, match="read-only"):
        weak.pin("lamp", "1", 0)


def test_code_does_what_applying_does(editor: RuleEditor, client: Client) -> None:
    set_current(client)
    editor.enable("lamps", False)
    codes = editor.codes()

    exec(codes["Python"], {})
    assert saved(editor) == {"lamps": {**RULE, "enabled": False}}
    line, _, body = codes["Magic"].removeprefix("%%svc ").partition("\n")
    run(line, body, {})

    assert saved(editor) == {"lamps": {**RULE, "enabled": False}}
    assert "rules/batch" in codes["curl"]


def test_the_snapshot_describes_rules(editor: RuleEditor) -> None:
    editor.put({**RULE, "description": "<script>", "enabled": False}, "lamps")

    html = editor.snapshot()

    assert "the query contains “lamp”" in html
    assert "pin 1 at position 1" in html
    assert "<script" not in html


@pytest.mark.parametrize(
    ("given", "when", "then"),
    [
        (rule("1"), "every search", "hitsPerPage: 5"),
        (rule("1", "", consequence={}), "the query is empty", "no consequence"),
        (
            {
                "conditions": [
                    {"pattern": "a", "anchoring": "startsWith", "alternatives": True},
                    {"context": "app", "filters": "brand:Acme"},
                ],
                "consequence": {
                    "params": {"query": {"remove": ["x"], "edits": [
                        {"type": "replace", "delete": "y", "insert": "z"},
                        {"type": "remove", "delete": "w"}]}, "facetFilters": ["a:b", "c:d"]},
                    "redirect": {"indexName": "other"}, "userData": 0,
                },
            },
            "the query starts with “a” (and typos, plurals, synonyms) or in the context app, "
            "with the filters brand:Acme",
            "remove “x”; replace “y” by “z”; remove “w”; facetFilters: a:b, c:d; "
            "redirect to the index other; return custom data",
        ),
        (rule("1", consequence={"params": {"query": "b"}}), "every search", "search for “b”"),
        (
            rule("1", "a", consequence={
                "params": {"filters": "x:y", "optionalFilters": ["b:c"],
                           "automaticFacetFilters": ["brand"],
                           "renderingContent": {"redirect": {"url": "https://a.b"}}},
                "userData": {"banner": 1, "link": 2, "c": 3, "d": 4}}),
            "the query is “a”",
            "show only hits with x:y; boost hits with b:c; filter by the brand in the query; "
            "redirect to https://a.b; return custom data (banner, link, c and 1 more)",
        ),
    ],
    ids=["always", "empty", "much", "text", "params"],
)  # fmt: skip
def test_a_rule_is_described_in_words(given: Any, when: str, then: str) -> None:
    assert (describe_conditions(given), describe_consequence(given)) == (when, then)


DECEMBER = {"from": 1_796_083_200}  # 2026-12-01 00:00 UTC


def test_changes_are_reviewed_in_sentences_with_titles_and_warnings(editor: RuleEditor) -> None:
    editor.put(
        {
            **RULE,
            "enabled": False,
            "tags": ["sale"],
            "validity": [{"from": 1, "until": 2}],
            "consequence": {
                "promote": [{"objectID": "1", "position": 2}],
                "hide": [{"objectID": "3"}],
                "params": {"hitsPerPage": 5},
                "userData": {"banner": "lamps"},
            },
        },
        "lamps",
    )

    [change] = event_loop.run(editor.review())

    before, after = change["lines"]
    titles = event_loop.run(editor.titles(["1", "3"]))
    assert before == ["When the query contains “lamp”", f"pin {titles['1']} (1) at position 1"]
    assert after == [
        "When the query contains “lamp”",
        f"pin {titles['1']} (1) at position 3",
        f"hide {titles['3']} (3)",
        "hitsPerPage: 5",
        "return custom data (banner)",
        "Disabled",
        'custom data: {"banner": "lamps"}',
        "tags: sale",
    ]
    assert change["warnings"] == ["the schedule is over"]


@pytest.mark.parametrize(
    "consequence",
    [
        {"params": {"renderingContent": {"redirect": {"url": "javascript:alert(1)"}}}},
        {"userData": {"redirect": [" \tJavaScript:alert(1)"]}},
        {"userData": {"redirect": "data:text/html,<script>"}},
    ],
)
def test_an_address_that_runs_code_is_warned_about(
    editor: RuleEditor, consequence: dict[str, Any]
) -> None:
    editor.put({**RULE, "consequence": consequence}, "lamps")

    [fault] = editor.faults["lamps"]
    assert fault["level"] == "warning"
    assert "runs code in the page of the user who searches" in fault["text"]
    editor.put({**RULE, "consequence": {"userData": {"note": "javascript is a language"}}}, "lamps")
    assert "lamps" not in editor.faults


def test_a_rule_that_did_not_apply_says_why_and_is_tried_as_of_a_date(editor: RuleEditor) -> None:
    editor.put({**RULE, "validity": [DECEMBER]}, "lamps")
    editor.put({**RULE_HIDES, "objectID": "off", "enabled": False})
    editor.put({**rule("shop"), "conditions": [{"context": "shop"}]})

    [now] = event_loop.run(editor.preview(["lamp"], at=DECEMBER["from"] - 1))
    [later] = event_loop.run(editor.preview(["lamp"], at=DECEMBER["from"]))

    assert now["skipped"]["lamps"] == {"text": "outside of its schedule", "spans": [DECEMBER]}
    assert now["skipped"]["off"] == {"text": "it is disabled"}
    assert now["skipped"]["shop"] == {"text": "only in the context shop"}
    assert later["comparison"]["sides"][1]["applied"] == ["lamps"]
    assert "lamps" not in later["skipped"]
    assert saved(editor) == {"lamps": RULE}


def test_code_repeats_what_was_applied(editor: RuleEditor) -> None:
    editor.enable("lamps", False)
    before = editor.codes()

    editor.apply()

    assert editor.codes() == before
    assert "'enabled': False" in before["Python"]

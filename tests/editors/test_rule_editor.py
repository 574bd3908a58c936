"""The rule editor's Python half."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import svc_notebook as svc
from svc_notebook.client import Client
from svc_notebook.editors import stage
from svc_notebook.editors.curating.arranging import put_pins
from svc_notebook.editors.curating.changes import by_id
from svc_notebook.editors.curating.conflicts import MOST, Card, at_odds, find_conflicts
from svc_notebook.editors.curating.rules import RuleEditor, move_record
from svc_notebook.editors.curating.wording import say_conditions, say_consequence
from svc_notebook.errors import BadInput, BadOption, SvcError
from svc_notebook.magics.magic import run

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
    return by_id(stage.run(editor.load()))


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
    with pytest.raises(BadOption, match="no rules `nowhere`"):
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
    ids=["anchoring", "pattern", "empty", "context", "nothing", "pin", "data", "param", "edit",
         "time", "hidden"],
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
        stage.run(editor.revise(wrong, "lamps"))
    assert editor.value == [RULE]

    right = {**RULE, "consequence": {"params": {"filters": "price > 5"}}}
    stage.run(editor.revise(right, "lamps"))

    assert editor.value == [right]


def test_a_rule_that_does_nothing_is_not_applied(editor: RuleEditor) -> None:
    editor.put({"objectID": "new", "consequence": {}})

    with pytest.raises(BadInput, match="new: it does nothing yet"):
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


def test_a_rule_whose_time_is_over_is_told(editor: RuleEditor) -> None:
    editor.put({**RULE, "validity": [{"from": 1, "until": int(time.time()) - 5}]}, "lamps")

    assert editor.faults == {"lamps": [{"level": "odd", "text": "its time is over"}]}


PINS: dict[str, Any] = {"consequence": {"promote": [{"objectID": "a", "position": 0}]}}
LATER: dict[str, Any] = {"consequence": {"promote": [{"objectID": "a", "position": 3}]}}
HIDES: dict[str, Any] = {"consequence": {"hide": [{"objectID": "a"}]}}
OTHER: dict[str, Any] = {"consequence": {"promote": [{"objectID": "b", "position": 0}]}}


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        (rule("1", "red lamp", **PINS), rule("2", "lamp", "contains", **LATER),
         "`a` is pinned to 1 and to 4"),
        (rule("1", "lamp", **PINS), rule("2", "LAMP", **HIDES), "one pins `a`, the other hides it"),
        (rule("1", "lamp", **PINS), rule("2", "lamp", "startsWith", **OTHER),
         "both pin a record to 1"),
        (rule("1", "lamp"), rule("2", consequence={"params": {"hitsPerPage": 9}}),
         "both set `hitsPerPage`"),
        (rule("1", consequence={"redirect": {"indexName": "x"}}),
         rule("2", consequence={"redirect": {"indexName": "y"}}),
         "they redirect to different indices"),
        (rule("1", "lamp", **PINS), rule("2", "lamp", **PINS), None),
        (rule("1", "lamp", **PINS), rule("2", "table", **LATER), None),
        (rule("1", "red lamp", **PINS), rule("2", "lamp", "startsWith", **LATER), None),
        (rule("1", "red lamp", "endsWith", **PINS), rule("2", "lamp", "endsWith", **LATER),
         "`a` is pinned to 1 and to 4"),
        (rule("1", "lamp", **PINS), rule("2", "lamp", enabled=False, **LATER), None),
        (rule("1", "lamp", validity=[{"from": 1, "until": 5}], **PINS),
         rule("2", "lamp", validity=[{"from": 5, "until": 9}], **LATER), None),
        (rule("1", conditions=[{"context": "x"}], **PINS),
         rule("2", conditions=[{"context": "y"}], **LATER), None),
        (rule("1", conditions=[{"filters": "brand:Acme"}], **PINS),
         rule("2", conditions=[{"filters": "brand:Umbra"}], **LATER), None),
        (rule("1", conditions=[{"filters": "brand:Acme"}], **PINS), rule("2", "lamp", **LATER),
         "`a` is pinned to 1 and to 4"),
    ],
    ids=["within", "hidden", "place", "param", "redirect", "same", "apart", "start", "end", "off",
         "time", "context", "filters", "filtered"],
)  # fmt: skip
def test_rules_that_meet_and_disagree_are_told(one: Any, other: Any, told: str | None) -> None:
    found = set(find_conflicts([one, other]))

    assert found == ({("1", "2", told), ("2", "1", told)} if told else set())


words = st.lists(st.sampled_from(["red", "lamp", "oak"]), min_size=1, max_size=3).map(" ".join)
patterns: st.SearchStrategy[dict[str, str]] = st.one_of(
    st.fixed_dictionaries(
        {
            "pattern": words,
            "anchoring": st.sampled_from(["is", "contains", "startsWith", "endsWith"]),
        }
    ),
    st.just({"pattern": "", "anchoring": "is"}),
    st.just({}),
)
met = st.builds(
    lambda pattern, more: {**pattern, **more} or {"context": "x"},
    patterns,
    st.fixed_dictionaries(
        {},
        optional={"context": st.sampled_from("xy"), "filters": st.sampled_from(["a:1", "b:2"])},
    ),
)
wanted = st.fixed_dictionaries(
    {},
    optional={
        "promote": st.lists(
            st.fixed_dictionaries(
                {"objectID": st.sampled_from("ab"), "position": st.integers(0, 1)}
            ),
            max_size=2,
        ),
        "hide": st.just([{"objectID": "a"}]),
        "params": st.sampled_from([{"hitsPerPage": 1}, {"hitsPerPage": 2}, {"page": True}]),
    },
)
several = st.lists(
    st.fixed_dictionaries(
        {"consequence": wanted},
        optional={
            "conditions": st.lists(met, max_size=2),
            "enabled": st.booleans(),
            "validity": st.sampled_from([[{"from": 1, "until": 3}], [{"from": 3, "until": 4}]]),
        },
    ),
    max_size=7,
).map(lambda made: [{**rule, "objectID": str(number)} for number, rule in enumerate(made)])


@given(rules=several, most=st.integers(1, 9))
def test_rules_are_held_against_those_alone_that_could_be_at_odds(
    rules: list[Any], most: int
) -> None:
    cards = [Card(rule) for rule in rules if rule.get("enabled", True)]
    pairs = [
        [(one.id, other.id, at_odds(*((one, other) if here < there else (other, one))))
         for there, other in enumerate(cards) if here != there]
        for here, one in enumerate(cards)
    ]  # fmt: skip

    assert list(find_conflicts(rules, most)) == [
        pair for own in pairs for pair in [pair for pair in own if pair[2]][:most]
    ]


def test_of_many_conflicts_the_first_are_told(editor: RuleEditor) -> None:
    rivals = [rule(str(n), consequence={"params": {"hitsPerPage": n + 1}}) for n in range(9)]

    editor.value = rivals

    told = [fault["text"] for fault in editor.faults["8"]]
    assert told[0] == "both set `hitsPerPage`: `0`"
    assert told[MOST:] == ["it is at odds with more rules"]


def test_pins_are_shown_before_they_are_applied(editor: RuleEditor) -> None:
    editor.place("3", "pin", 1, "lamps")
    editor.place("2", "hide", 0, "lamps")

    shown = stage.run(editor.arrange("lamp", "lamps"))

    assert [(hit["id"], hit["pinned"]) for hit in shown["hits"]] == [("1", True), ("3", True)]
    assert [hit["id"] for hit in shown["hidden"]] == ["2"]
    assert "oak table" in shown["hits"][1]["title"]


def test_what_is_shown_is_what_the_service_does_then(editor: RuleEditor, client: Client) -> None:
    editor.place("3", "pin", 0, "lamps")
    shown = stage.run(editor.arrange("lamp", "lamps"))

    editor.apply()

    found = client.search(editor.index, "lamp")
    assert [hit["id"] for hit in shown["hits"]] == [hit["objectID"] for hit in found["hits"]]


def test_a_record_that_is_not_there_is_shown_as_missing(editor: RuleEditor) -> None:
    editor.place("nowhere", "pin", 0, "lamps")

    shown = stage.run(editor.arrange("lamp", "lamps"))

    assert [hit["id"] for hit in shown["hits"] if hit["missing"]] == ["nowhere"]


def test_records_are_found_to_be_pinned(editor: RuleEditor) -> None:
    found = stage.run(editor.find("oak"))

    assert [each["id"] for each in found] == ["3"]


def test_queries_that_trigger_a_rule_and_that_do_not(editor: RuleEditor) -> None:
    editor.put(rule("tables", "table", consequence={"hide": [{"objectID": "3"}]}))

    found = stage.run(editor.preview(["table", "oak"]))

    after = [impact["comparison"]["sides"][1] for impact in found]
    assert [side["applied"] for side in after] == [["tables"], []]
    assert [side["nbHits"] for side in after] == [0, 1]
    assert list(editor.impact("table")["lost"]) == [1]


def test_a_saved_rule_is_tried_against_none(editor: RuleEditor) -> None:
    editor.place("3", "pin", 0, "lamps")
    editor.put(rule("others", "oak", consequence={"hide": [{"objectID": "3"}]}))
    found = stage.run(editor.preview(without="lamps"))

    [impact] = found
    assert impact["query"] == "lamp"
    sides = impact["comparison"]["sides"]
    assert [side["applied"] for side in sides] == [[], ["lamps"]]
    assert [hit["id"] for hit in sides[0]["hits"]] == ["2", "1"]
    assert sides[1]["hits"][0]["id"] == "3"


def test_what_is_saved_is_tried_without_a_copy(
    editor: RuleEditor, searcher: Callable[..., Client]
) -> None:
    reader = svc.edit.rules(editor.index, client=searcher("settings", "search"))

    [impact] = stage.run(reader.preview(["lamp"]))

    assert [side["applied"] for side in impact["comparison"]["sides"]] == [["lamps"]] * 2


def test_facets_values_and_indices_are_suggested(editor: RuleEditor, client: Client) -> None:
    told = stage.run(editor.suggest())

    assert told["facets"] == ["brand", "price"]
    assert told["filters"] == ["brand:Acme", "brand:Umbra"]
    assert told["ranges"] == ["price >= 10", "price <= 90"]
    assert editor.index in told["indices"]


def test_suggested_filters_are_filters(client: Client, shop: str) -> None:
    names = ["AND", "a b", 'say "so"', "back\\slash", "it's", "x:y", "(z)", "ünï"]
    client.replace_all(shop, [{"objectID": str(n), "brand": name} for n, name in enumerate(names)])
    editor = svc.edit.rules(shop, client=client)

    told = stage.run(editor.suggest())["filters"]

    assert len(told) == len(names)
    assert [client.search(shop, filters=one)["nbHits"] for one in told] == [1] * len(names)


def test_records_are_told_by_what_they_are_called(editor: RuleEditor) -> None:
    told = stage.run(editor.titles(["3", "nowhere"]))

    assert told == {"3": "oak table"}


def test_a_key_is_suggested_what_it_may_read(
    editor: RuleEditor, searcher: Callable[..., Client]
) -> None:
    weak = svc.edit.rules(editor.index, client=searcher("settings"))

    told = stage.run(weak.suggest())

    assert told == {"facets": [], "filters": [], "ranges": [], "indices": []}


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
    assert "hitsPerPage" in {row["name"] for row in editor.parameters()}


def test_a_key_that_may_not_write_opens_a_read_only_editor(
    editor: RuleEditor, searcher: Callable[..., Client]
) -> None:
    weak = svc.edit.rules(editor.index, client=searcher("settings", "search"))

    assert weak.state["readOnly"] == "the key lacks the right `editSettings`"
    with pytest.raises(BadOption, match="read-only"):
        weak.pin("lamp", "1", 0)


def test_code_does_what_applying_does(
    editor: RuleEditor, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svc_notebook.session.connecting._current", client)
    editor.enable("lamps", False)
    codes = editor.codes()

    exec(codes["Python"], {})
    assert saved(editor) == {"lamps": {**RULE, "enabled": False}}
    line, _, body = codes["Magic"].removeprefix("%%svc ").partition("\n")
    run(line, body, {})

    assert saved(editor) == {"lamps": {**RULE, "enabled": False}}
    assert "rules/batch" in codes["curl"]


def test_the_snapshot_says_what_rules_do(editor: RuleEditor) -> None:
    editor.put({**RULE, "description": "<script>", "enabled": False}, "lamps")

    html = editor.snapshot()

    assert "the query has “lamp”" in html
    assert "pin 1 to 1" in html
    assert "<script" not in html


@pytest.mark.parametrize(
    ("given", "when", "then"),
    [
        (rule("1"), "always", "hitsPerPage: 5"),
        (rule("1", "", consequence={}), "the query is empty", "nothing yet"),
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
            "the query begins with “a” or alike or in app, with brand:Acme",
            "take out “x”; replace “y” by “z”; take out “w”; facetFilters: a:b, c:d; "
            "redirect to other; give user data",
        ),
        (rule("1", consequence={"params": {"query": "b"}}), "always", "search for “b”"),
    ],
    ids=["always", "empty", "much", "text"],
)  # fmt: skip
def test_a_rule_is_said_in_words(given: Any, when: str, then: str) -> None:
    assert (say_conditions(given), say_consequence(given)) == (when, then)


names = st.sampled_from("abcdef")
pins = st.lists(st.tuples(names, st.integers(0, 8)), max_size=4, unique_by=lambda pin: pin[0])


@given(pins=pins, record=names, position=st.integers(0, 8))
def test_a_record_that_is_moved_stands_where_it_was_put_and_nowhere_else(
    pins: list[tuple[str, int]], record: str, position: int
) -> None:
    consequence = {"promote": [{"objectID": name, "position": at} for name, at in pins]}

    pinned = move_record(consequence, record, "pin", position)
    hidden = move_record(pinned, record, "hide", 0)

    places = [pin["position"] for pin in pinned["promote"] if pin["objectID"] == record]
    assert places == [position]
    assert record not in [pin["objectID"] for pin in hidden.get("promote", [])]
    assert hidden["hide"] == [{"objectID": record}]
    assert "hide" not in move_record(hidden, record, "free", 0)


@given(hits=st.permutations("abcdefgh"), pins=pins, away=st.sets(names, max_size=2))
def test_pins_take_their_places_among_the_hits(
    hits: list[str], pins: list[tuple[str, int]], away: set[str]
) -> None:
    order = put_pins(hits, [{"objectID": name, "position": at} for name, at in pins], list(away))

    assert sorted(order) == sorted({*hits} - away)
    rest = [name for name in order if name not in dict(pins)]
    assert rest == [name for name in hits if name not in dict(pins) and name not in away]

"""Conflicts between rules that match the same searches."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import svc_notebook as svc
from svc_notebook.data.client import Client
from svc_notebook.faces.editors.curation_editors.rule_checks import (
    MAX_CONFLICTS_PER_RULE,
    RuleSummary,
    describe_conflict,
    find_conflicts,
)


def rule(name: str, pattern: str | None = None, anchoring: str = "is", **members: Any) -> Any:
    own = {} if pattern is None else {"conditions": [{"pattern": pattern, "anchoring": anchoring}]}
    return {"objectID": name, **own, "consequence": {"params": {"hitsPerPage": 5}}, **members}


PINS: dict[str, Any] = {"consequence": {"promote": [{"objectID": "a", "position": 0}]}}
LATER: dict[str, Any] = {"consequence": {"promote": [{"objectID": "a", "position": 3}]}}
HIDES: dict[str, Any] = {"consequence": {"hide": [{"objectID": "a"}]}}
OTHER: dict[str, Any] = {"consequence": {"promote": [{"objectID": "b", "position": 0}]}}


@pytest.mark.parametrize(
    ("one", "other", "conflicts"),
    [
        (rule("1", "red lamp", **PINS), rule("2", "lamp", "contains", **LATER),
         "`a` is pinned at positions 1 and 4"),
        (rule("1", "lamp", **PINS), rule("2", "LAMP", **HIDES), "one pins `a`, the other hides it"),
        (rule("1", "lamp", **PINS), rule("2", "lamp", "startsWith", **OTHER),
         "both pin a record at position 1"),
        (rule("1", "lamp"), rule("2", consequence={"params": {"hitsPerPage": 9}}),
         "both set `hitsPerPage`"),
        (rule("1", consequence={"redirect": {"indexName": "x"}}),
         rule("2", consequence={"redirect": {"indexName": "y"}}),
         "they redirect to different indices"),
        (rule("1", "lamp", **PINS), rule("2", "lamp", **PINS), None),
        (rule("1", "lamp", **PINS), rule("2", "table", **LATER), None),
        (rule("1", "red lamp", **PINS), rule("2", "lamp", "startsWith", **LATER), None),
        (rule("1", "red lamp", "endsWith", **PINS), rule("2", "lamp", "endsWith", **LATER),
         "`a` is pinned at positions 1 and 4"),
        (rule("1", "lamp", **PINS), rule("2", "lamp", enabled=False, **LATER), None),
        (rule("1", "lamp", validity=[{"from": 1, "until": 5}], **PINS),
         rule("2", "lamp", validity=[{"from": 5, "until": 9}], **LATER), None),
        (rule("1", "lamp", validity=[{"until": 5}], **PINS),
         rule("2", "lamp", validity=[{"from": 5}], **LATER), None),
        (rule("1", "lamp", validity=[{"until": 6}], **PINS),
         rule("2", "lamp", validity=[{"from": 5}], **LATER), "`a` is pinned at positions 1 and 4"),
        (rule("1", "lamp", validity=[{"from": 3, "until": 3}], **PINS),
         rule("2", "lamp", validity=[{"from": 1}], **LATER), None),
        (rule("1", conditions=[{"context": "x"}], **PINS),
         rule("2", conditions=[{"context": "y"}], **LATER), None),
        (rule("1", conditions=[{"filters": "brand:Acme"}], **PINS),
         rule("2", conditions=[{"filters": "brand:Umbra"}], **LATER), None),
        (rule("1", conditions=[{"filters": "brand:Acme"}], **PINS), rule("2", "lamp", **LATER),
         "`a` is pinned at positions 1 and 4"),
    ],
    ids=["within", "hidden", "place", "param", "redirect", "same", "apart", "start", "end", "off",
         "time", "open", "meet", "empty", "context", "filters", "filtered"],
)  # fmt: skip
def test_conflicting_rules_are_reported(one: Any, other: Any, conflicts: str | None) -> None:
    found = set(find_conflicts([one, other]))

    assert found == ({("1", "2", conflicts), ("2", "1", conflicts)} if conflicts else set())


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
matching = st.builds(
    lambda pattern, more: {**pattern, **more} or {"context": "x"},
    patterns,
    st.fixed_dictionaries(
        {},
        optional={"context": st.sampled_from("xy"), "filters": st.sampled_from(["a:1", "b:2"])},
    ),
)
effect = st.fixed_dictionaries(
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
        {"consequence": effect},
        optional={
            "conditions": st.lists(matching, max_size=2),
            "enabled": st.booleans(),
            "validity": st.sampled_from(
                [
                    [{"from": 1, "until": 3}],
                    [{"from": 3, "until": 4}],
                    [{"from": 3}],
                    [{"until": 3}],
                ]
            ),
        },
    ),
    max_size=7,
).map(lambda made: [{**rule, "objectID": str(number)} for number, rule in enumerate(made)])


@given(rules=several, most=st.integers(1, 9))
def test_rules_are_compared_only_with_possible_conflicts(rules: list[Any], most: int) -> None:
    summaries = [RuleSummary(rule) for rule in rules if rule.get("enabled", True)]
    pairs = [
        [(one.id, other.id, describe_conflict(*((one, other) if here < there else (other, one))))
         for there, other in enumerate(summaries) if here != there]
        for here, one in enumerate(summaries)
    ]  # fmt: skip

    assert list(find_conflicts(rules, most)) == [
        pair for own in pairs for pair in [pair for pair in own if pair[2]][:most]
    ]


def test_the_first_of_many_conflicts_are_reported(client: Client, shop: str) -> None:
    contradicting = [rule(str(n), consequence={"params": {"hitsPerPage": n + 1}}) for n in range(9)]

    editor = svc.edit.rules(shop, value=contradicting, client=client)

    conflicts = [fault["text"] for fault in editor.faults["8"]]
    assert conflicts[0] == "conflicts with `0`: both set `hitsPerPage`"
    assert conflicts[MAX_CONFLICTS_PER_RULE:] == ["conflicts with further rules"]

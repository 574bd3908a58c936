"""Hits in the rule editor: with pins at their positions, titles, and facets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import svc_notebook as svc
from svc_notebook.data.client import Client
from svc_notebook.faces.editors import event_loop
from svc_notebook.faces.editors.curation_editors.pins import put_pins
from svc_notebook.faces.editors.curation_editors.rules import MAX_INDICES, RuleEditor, move_record

RULE: dict[str, Any] = {
    "objectID": "lamps",
    "conditions": [{"pattern": "lamp", "anchoring": "contains"}],
    "consequence": {"promote": [{"objectID": "1", "position": 0}]},
}


@pytest.fixture
def editor(client: Client, shop: str) -> RuleEditor:
    client.wait(client.save_rules(shop, [RULE]), index=shop)  # type: ignore[list-item]
    return svc.edit.rules(shop, client=client)


def test_pins_are_shown_before_they_are_applied(editor: RuleEditor) -> None:
    editor.place("3", "pin", 1, "lamps")
    editor.place("2", "hide", 0, "lamps")

    shown = event_loop.run(editor.arrange("lamp", "lamps"))

    assert [(hit["id"], hit["pinned"]) for hit in shown["hits"]] == [("1", True), ("3", True)]
    assert [hit["id"] for hit in shown["hidden"]] == ["2"]
    assert "oak table" in shown["hits"][1]["title"]


@pytest.mark.parametrize(
    ("query", "edit"),
    [
        ("lamp", None),
        ("lamp", "red lamp"),
        ("Cheap lamp, oak", {"remove": ["cheap"], "edits": [{"type": "remove", "delete": "oak"}]}),
        (
            "good lamp",
            {"edits": [{"type": "replace", "delete": "good lamp", "insert": "blue lamp"}]},
        ),
        ("oak lamp", {"remove": ["a", "oa"], "edits": [{"type": "remove", "delete": "oak"}]}),
    ],
    ids=["as it is", "instead", "words", "phrase", "whole"],
)
def test_what_is_shown_is_what_the_service_does_then(
    editor: RuleEditor, client: Client, query: str, edit: Any
) -> None:
    editor.put({**RULE, "consequence": {"params": {"query": edit}}} if edit else RULE, "lamps")
    editor.place("3", "pin", 0, "lamps")
    shown = event_loop.run(editor.arrange(query, "lamps"))

    editor.apply()

    found = client.search(editor.index, query)
    assert len(found["hits"]) > 1
    assert [hit["id"] for hit in shown["hits"]] == [hit["objectID"] for hit in found["hits"]]


def test_a_record_that_is_not_there_is_shown_as_missing(editor: RuleEditor) -> None:
    editor.place("nowhere", "pin", 0, "lamps")

    shown = event_loop.run(editor.arrange("lamp", "lamps"))

    assert [hit["id"] for hit in shown["hits"] if hit["missing"]] == ["nowhere"]


def test_records_are_found_to_be_pinned(editor: RuleEditor) -> None:
    found = event_loop.run(editor.find("oak"))

    assert [each["id"] for each in found] == ["3"]


def test_facets_values_and_indices_are_suggested(editor: RuleEditor, client: Client) -> None:
    told = event_loop.run(editor.suggest())

    assert told["facets"] == ["brand", "price"]
    assert told["filters"] == ["brand:Acme", "brand:Umbra"]
    assert told["ranges"] == ["price >= 10", "price <= 90"]
    # Other tests share the service, and only so many indices are suggested.
    names = sorted(item["name"] for item in client.list_indices()["items"])
    assert editor.index in names
    assert told["indices"] == names[:MAX_INDICES]


def test_suggested_filters_are_filters(client: Client, shop: str) -> None:
    names = ["AND", "a b", 'say "so"', "back\\slash", "it's", "x:y", "(z)", "ünï"]
    client.replace_all(shop, [{"objectID": str(n), "brand": name} for n, name in enumerate(names)])
    editor = svc.edit.rules(shop, client=client)

    told = event_loop.run(editor.suggest())["filters"]

    assert len(told) == len(names)
    assert [client.search(shop, filters=one)["nbHits"] for one in told] == [1] * len(names)


def test_records_are_shown_by_title(editor: RuleEditor) -> None:
    told = event_loop.run(editor.titles(["3", "nowhere"]))

    assert told == {"3": "oak table"}


def test_a_key_is_suggested_what_it_may_read(
    editor: RuleEditor, searcher: Callable[..., Client]
) -> None:
    weak = svc.edit.rules(editor.index, client=searcher("settings"))

    told = event_loop.run(weak.suggest())

    assert told == {"facets": [], "filters": [], "ranges": [], "indices": []}


names = st.sampled_from("abcdef")
pins = st.lists(st.tuples(names, st.integers(0, 8)), max_size=4, unique_by=lambda pin: pin[0])


@given(pins=pins, record=names, position=st.integers(0, 8))
def test_a_moved_record_is_only_at_its_new_position(
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

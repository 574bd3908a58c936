"""Hits as HTML and text, on a real service."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import svc_notebook as svc
from svc_notebook.faces.functions.hit_renderer import MAX_OUTPUT_BYTES
from tests.conftest import examples
from tests.faces.commands.conftest import Typed

HOSTILE = "<img src=x onerror=alert(1)> lamp <em>fake</em>"
RECORDS = pd.DataFrame(
    [
        {"objectID": "1", "name": "blue lamp", "price": 9, "tags": ["lamp", "blue"]},
        {"objectID": "<b>2", "name": HOSTILE, "price": None, "tags": None},
        {"objectID": "3", "name": "desk", "price": 12, "tags": ["a & b"]},
    ]
)


@pytest.fixture
def index(admin: svc.Client, tmp_path: Path) -> str:
    """An index of this test's own, with a record that is up to no good."""
    name = f"showing-{tmp_path.name}"
    svc.push(RECORDS, name)
    svc.settings(name, searchableAttributes=["name", "tags"], attributesForFaceting=["price"])
    return name


def page_of(shown: object) -> str:
    return str(shown._repr_html_())  # type: ignore[attr-defined]


TAGS = {"div", "/div", "p", "/p", "b", "/b", "br", "mark", "/mark", "code", "/code"}


def tags_in(page: str) -> set[str]:
    return set(re.findall(r"<(/?\w+[^>]*)>", page))


def test_matches_are_marked_and_facets_counted(typed: Typed, index: str) -> None:
    shown = typed(f"show {index} lamp --facets price")
    page = page_of(shown)

    assert "2 hits for &quot;lamp&quot; in showing-" in page
    assert "blue <mark>lamp</mark>" in page
    assert "tags: <mark>lamp</mark>, blue" in page
    assert "<b>1. blue <mark>lamp</mark></b> <code>1</code><br>price: 9" in page
    assert "<b>price</b>: 9 (1)" in page
    assert shown.frame["objectID"].tolist() == ["1", "<b>2"]


def test_what_records_write_is_only_text(typed: Typed, index: str) -> None:
    page = page_of(typed(f"show {index} lamp"))

    assert tags_in(page) <= TAGS
    assert "&lt;em&gt;fake&lt;/em&gt;" in page
    assert "&lt;img src=x" in page


def test_a_terminal_gets_text(typed: Typed, index: str) -> None:
    text = repr(typed(f"show {index} lamp --facets price"))

    assert text.splitlines()[0].startswith('2 hits for "lamp" in showing-')
    assert "\n1. blue *lamp* (1)\n   price: 9" in text
    assert "<em>fake</em>" in text


def test_result_of_a_search_is_shown(index: str) -> None:
    plain = svc.show(svc.search(index, "lamp"))
    marked = svc.show(svc.search(index, "lamp", highlight=True, highlightPreTag="[["))

    assert "<mark>" not in page_of(plain)
    assert "blue <mark>lamp</mark>" in page_of(marked)
    assert tags_in(page_of(svc.show(svc.search(index, "lamp", highlight=True)))) <= TAGS


@pytest.mark.parametrize(
    ("columns", "head"),
    [
        ({"brand": ["Acme"], "Title": ["Lamp"]}, "1. Lamp (7)"),
        ({"price": [9], "brand": ["Acme"]}, "1. Acme (7)"),
        ({"price": [9]}, "1. (7)"),
        ({}, "1. (7)"),
    ],
)
def test_a_hit_is_headed_by_what_it_is_called(columns: dict[str, list[object]], head: str) -> None:
    frame = pd.DataFrame({"rank": [1], "objectID": ["7"], **columns})
    frame.attrs["svc"] = {"index": "x"}

    assert head in repr(svc.show(frame)).splitlines()


def test_record_can_have_an_attribute_rank() -> None:
    frame = pd.DataFrame([[1, "7", 5]], columns=["rank", "objectID", "rank"])
    frame.attrs["svc"] = {"index": "x"}

    assert repr(svc.show(frame)).splitlines()[1:] == ["1. (7)", "   rank.1: 5"]


def test_a_hit_is_marked_and_counted_beside_attributes_of_those_names() -> None:
    frame = pd.DataFrame(
        [[3, "7", 5, "a lamp", "its own", "a <em>lamp</em>"]],
        columns=["_rank", "objectID", "rank", "title", "highlighted.title", "_highlighted.title"],
    )
    added = {"rank": "_rank", "highlighted.title": "_highlighted.title"}
    frame.attrs["svc"] = {"index": "x", "added": added}

    assert repr(svc.show(frame)).splitlines()[1:] == [
        "3. a *lamp* (7)",
        "   rank: 5",
        "   highlighted.title: its own",
    ]


def test_a_part_of_the_hits_says_of_how_many(index: str) -> None:
    assert repr(svc.show(svc.search(index, "", hitsPerPage=1))).startswith("1 of 3 hits in")


def test_empty_result_is_reported(typed: Typed, index: str) -> None:
    assert repr(typed(f"show {index} nothing")).startswith('0 hits for "nothing"')


@pytest.mark.parametrize("frame", [pd.DataFrame({"objectID": ["1"]}), "films", None])
def test_value_that_is_not_a_search_result_is_not_shown(frame: object) -> None:
    with pytest.raises(svc.errors.BadInput, match="not the result of a search"):
        svc.show(frame)  # type: ignore[arg-type]


def framed(rows: list[str]) -> pd.DataFrame:
    frame = pd.DataFrame({"objectID": [str(n) for n in range(len(rows))], "name": rows})
    frame.attrs["svc"] = {"index": "x", "query": "q", "facets": {"name": dict.fromkeys(rows, 1)}}
    return frame


def test_what_is_shown_is_never_longer_than_allowed() -> None:
    shown = svc.show(framed(["&" * 300 + str(n) for n in range(2000)]))

    assert MAX_OUTPUT_BYTES * 0.9 < len(page_of(shown).encode()) <= MAX_OUTPUT_BYTES
    assert len(repr(shown).encode()) <= MAX_OUTPUT_BYTES
    assert re.search(r"… and 1,\d{3} more rows", page_of(shown))


@settings(max_examples=examples(60), deadline=None)
@given(rows=st.lists(st.text(max_size=600), max_size=8), budget=st.integers(6_000, 12_000))
def test_whatever_is_shown_is_text_within_bounds(rows: list[str], budget: int) -> None:
    shown = svc.show(framed(rows), budget=budget)

    assert tags_in(page_of(shown)) <= TAGS
    assert page_of(shown).count("<mark>") == page_of(shown).count("</mark>")
    assert "\x1b" not in repr(shown)

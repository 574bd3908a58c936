"""Facets and the filters that their values set."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.faces.editors.query_editor import facets
from svc_notebook.faces.editors.query_editor.facets import Mode

NAMES = st.sampled_from(["brand", "colour"])
VALUES = st.sampled_from(["Acme", "-5", "a:b", "\\x", "two words", ""])
CLICKS = st.lists(st.tuples(NAMES, VALUES), max_size=8)
MODES: st.SearchStrategy[Mode] = st.sampled_from(["any", "all"])


@given(CLICKS, MODES)
def test_what_was_clicked_an_odd_number_of_times_is_chosen(
    clicks: list[tuple[str, str]], mode: Mode
) -> None:
    params: dict[str, Any] = {}
    for name, value in clicks:
        params = facets.toggle_facet(params, name, value, mode)

    chosen = {(n, v) for n, (vs, _) in facets.chosen_facets(params).items() for v in vs}

    assert chosen == {click for click in clicks if clicks.count(click) % 2}


@given(CLICKS, MODES)
def test_switching_the_mode_keeps_what_is_chosen(clicks: list[tuple[str, str]], mode: Mode) -> None:
    params: dict[str, Any] = {}
    for name, value in dict.fromkeys(clicks):
        params = facets.toggle_facet(params, name, value)
    for name, (values, _) in facets.chosen_facets(params).items():
        params = facets.put_facet(params, name, values, mode)

    found = facets.chosen_facets(params)

    assert sum(len(values) for values, _ in found.values()) == len(set(clicks))
    assert {own for _, own in found.values()} <= {mode}


@pytest.mark.parametrize(
    ("mode", "filters"),
    [("any", [["brand:A", "brand:B"]]), ("all", ["brand:A", "brand:B"])],
    ids=["any", "all"],
)
def test_the_mode_is_the_form_of_the_filters(mode: Mode, filters: list[Any]) -> None:
    params = facets.put_facet({"page": 3}, "brand", ["A", "B"], mode)

    assert params == {"facetFilters": filters}


@pytest.mark.parametrize(
    "filters",
    [["brand:-Acme"], [["brand:A", "colour:red"]], [["brand:A", ["x"]]], ["plain"]],
    ids=["negated", "two facets", "nested", "no colon"],
)
def test_filters_a_panel_cannot_show_stay_as_they_are(filters: list[Any]) -> None:
    params = facets.toggle_facet({"facetFilters": filters}, "size", "L")

    assert params["facetFilters"] == [*filters, ["size:L"]]
    assert list(facets.chosen_facets(params)) == ["size"]


@given(st.floats(-1e6, 1e6) | st.none(), st.floats(-1e6, 1e6) | st.none())
def test_bounds_are_read_as_they_were_put(least: float | None, most: float | None) -> None:
    params = facets.put_bounds({"numericFilters": ["stock>0"]}, "price", least, most)

    found = facets.bounds_of(params, "price")

    assert found == tuple(b if b is None else pytest.approx(b, rel=1e-9) for b in (least, most))
    assert params["numericFilters"][0] == "stock>0"


def test_a_chosen_value_that_nothing_has_is_still_shown() -> None:
    params = {"facetFilters": [["brand:Gone"]]}

    [card] = facets.draw_facets(params, {"brand": {"Acme": 2}}, {})

    assert card["values"] == [["Acme", 2, False], ["Gone", 0, True]]


@pytest.mark.parametrize(
    ("counts", "order"),
    [
        ({"9": 2, "100": 1, "13": 1, "5": 1}, ["9", "5", "13", "100"]),
        ({"100": 1, "13": 2, "5": 1}, ["5", "13", "100"]),
        ({"1.5": 1, "-2": 1, "n/a": 1}, ["-2", "1.5", "n/a"]),
    ],
    ids=["by count", "by letters", "not all numbers"],
)
def test_numeric_values_are_sorted_as_numbers(counts: dict[str, int], order: list[str]) -> None:
    [card] = facets.draw_facets({}, {"price": counts}, {"price": {"min": 0, "max": 100}})

    assert [value for value, _, _ in card["values"]] == order


def test_a_histogram_counts_every_record_of_the_listed_values() -> None:
    counts = {"1": 4, "2": 1, "5": 2}

    [card] = facets.draw_facets({}, {"stars": counts}, {"stars": {"min": 1, "max": 5}})

    assert card["bins"] == [4, 1, 0, 0, 2]
    assert card["step"] == 1


@given(st.dictionaries(st.floats(-1e9, 1e9), st.integers(1, 9), min_size=1, max_size=30))
def test_bins_lose_no_record(found: dict[float, int]) -> None:
    counts = {repr(value): count for value, count in found.items()}
    stats = {"min": min(found), "max": max(found)}

    bins = facets.count_bins(counts, stats)

    assert sum(bins) == (sum(found.values()) if stats["min"] < stats["max"] else 0)
    assert len(bins) <= facets.MAX_BINS


def test_too_many_values_have_no_histogram_of_their_own() -> None:
    counts = {str(value): 1 for value in range(100)}

    [card] = facets.draw_facets({}, {"price": counts}, {"price": {"min": 0, "max": 500}})

    assert (card["bins"], card["limited"]) == ([], True)


@pytest.mark.parametrize(
    ("declared", "params", "hits", "words"),
    [
        ("filterOnly(size)", {}, 5, "has `filterOnly(size)`"),
        ("size", {"facets": ["brand"]}, 5, "parameter `facets`"),
        ("size", {"maxValuesPerFacet": 0}, 5, "`maxValuesPerFacet` is 0"),
        ("searchable(size)", {}, 0, "no hits"),
        ("size", {}, 5, "No hit has a value"),
    ],
    ids=["not counted", "not asked for", "no values", "no hits", "no such attribute"],
)
def test_an_empty_facet_names_the_setting_that_would_fill_it(
    declared: str, params: dict[str, Any], hits: int, words: str
) -> None:
    settings = {"attributesForFaceting": [declared]}

    [card] = facets.draw_facets(params, {}, {}, settings, hits)

    assert words in card["hint"]
    assert card["values"] == []

"""Suggestions in errors, on a real service."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import svc_notebook as svc
from tests.faces.commands.conftest import Typed

INDEX = "advising"


@pytest.fixture(autouse=True)
def lamps(admin: svc.Client) -> None:
    """An index with a facet to search, one that only filters, and one attribute that is none."""
    svc.push(pd.DataFrame({"objectID": ["1"], "color": ["red"], "size": ["l"], "n": [1]}), INDEX)
    svc.settings(INDEX, attributesForFaceting=["searchable(color)", "afterDistinct(size)"])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("search {} --filters colour:red", "`colour` is not among.*did you mean `color`"),
        ("search {} --filters 'color:red AND syze : l'", "`syze`.*did you mean `size`"),
        ("search {} --facetFilters '[[\"name:x\"]]'", "`name` is not among"),
        ("facets {} --facets colour", "did you mean `color`"),
        ("browse {} --filters 'colour:red'", "did you mean `color`"),
    ],
)
def test_warns_of_a_filter_by_an_attribute_that_is_not_a_facet(
    typed: Typed, line: str, message: str
) -> None:
    with pytest.warns(UserWarning, match=message):
        found = typed(line.format(INDEX))

    assert found.empty


def test_the_name_of_a_facet_counts_its_values(typed: Typed) -> None:
    with pytest.warns(UserWarning, match="`color` is a facet: its values are counted"):
        counted = typed(f"facets {INDEX} color")

    assert counted.to_numpy().tolist() == [["color", "red", 1]]
    assert typed(f"facets {INDEX} red")["value"].tolist() == ["red", "l"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert typed(f"facets {INDEX} color --facets '*'").empty


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("facets {} n", "`n` is not among.*%svc settings set {} --attributesForFaceting"),
        ("facets {} blue", "no hits in {}: no record contains “blue”"),
        ("search {} --filters n:1", "%svc settings set {} --attributesForFaceting .*,n'`"),
    ],
)
def test_a_warning_has_the_line_that_helps(typed: Typed, line: str, message: str) -> None:
    with pytest.warns(UserWarning, match=message.format(INDEX)):
        typed(line.format(INDEX))


def test_an_index_without_facets_is_told(typed: Typed) -> None:
    svc.push(pd.DataFrame({"objectID": ["1"], "color": ["red"]}), "plain")

    with pytest.warns(UserWarning, match="plain has no facets.*--attributesForFaceting brand"):
        assert typed("facets plain").empty


@pytest.mark.parametrize(
    "line",
    [
        "search {} --filters color:blue",
        "search {} --filters 'n > 5'",
        "search {} --filters 'n:5 TO 9'",
        "search {} --filters 'color:\"a: b\"'",
        "search {} nothing",
        "facets {} nothing --facets '*'",
        "search {} --filters color:red",
    ],
)
def test_what_is_right_is_not_warned_of(typed: Typed, line: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", svc.errors.NoHitsWarning)
        typed(line.format(INDEX))


def test_search_in_an_unknown_facet_suggests_one(typed: Typed) -> None:
    with pytest.raises(svc.errors.Refused) as caught:
        typed(f"facets {INDEX} r --in colr")

    assert caught.value.__notes__ == [
        f"`colr` is not among attributesForFaceting of {INDEX}; did you mean `color`?"
    ]


@pytest.mark.parametrize("line", ["synonyms sve x", "rules exprt", "keys ad"])
def test_suggests_the_verb_for_a_misspelt_one_of_a_family(typed: Typed, line: str) -> None:
    with pytest.raises(svc.errors.NotFound) as caught:
        typed(line)

    assert caught.value.__notes__[0].startswith(f"did you mean `{line.split()[0]} ")


@pytest.mark.parametrize("line", ["search advicing x", "copy advicing elsewhere --yes"])
def test_suggests_the_index_for_a_misspelt_one(typed: Typed, line: str) -> None:
    with pytest.raises(svc.errors.NotFound) as caught:
        typed(line)

    assert caught.value.__notes__ == [f"did you mean `{INDEX}`?"]


def test_nothing_is_advised_where_the_index_is_there(typed: Typed) -> None:
    with pytest.raises(svc.errors.NotFound) as caught:
        typed(f"synonyms get {INDEX} nothing")

    assert not hasattr(caught.value, "__notes__")


def test_a_warning_is_given_each_time_and_shows_no_line_of_this_package(typed: Typed) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for _ in range(2):
            typed(f"search {INDEX} --filters colour:red")

    assert [Path(each.filename).exists() for each in told] == [False, False]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("synonyms save {}", "FILE is missing; .*; or pass --from VARIABLE, or a cell body"),
        (
            "call nosuch_thing",
            "is not an endpoint; the methods of svc.current\\(\\) are the endpoints",
        ),
    ],
)
def test_a_refusal_says_what_to_do_next(typed: Typed, line: str, message: str) -> None:
    with pytest.raises(svc.errors.BadInput, match=message):
        typed(line.format(INDEX))


def test_an_index_that_is_like_no_other_is_looked_for_in_the_list(typed: Typed) -> None:
    with pytest.raises(svc.errors.NotFound) as caught:
        typed("search q9")

    assert caught.value.__notes__ == ["`%svc indices` lists the existing ones"]


def test_functions_suggest_the_index_and_the_filter_that_were_meant(admin: svc.Client) -> None:
    calls: dict[str, Callable[[], Any]] = {
        "did you mean `advising`?": lambda: svc.read_settings("advisin"),
        "did you mean filters='color:red'?": lambda: svc.search(INDEX, filters="color = 'red'"),
        "filters='color:red AND n < 5'?": lambda: svc.search(INDEX, filters=["color:red", "n < 5"]),  # type: ignore[arg-type]
        "did you mean `size`?": lambda: svc.read_facet_values(INDEX, "siz"),
        "filters='NOT size:l'?": lambda: svc.tuning.run(
            INDEX, ["a"], params={"filters": "size != l"}
        ),
    }
    offenders = []
    for advice, call in calls.items():
        with pytest.raises(svc.errors.SvcError) as caught:
            call()
        notes = " ".join(getattr(caught.value, "__notes__", ()))
        offenders += [f"{advice}: {notes}"] if advice not in notes else []

    assert offenders == []


def test_a_line_suggests_the_filter_as_an_option(typed: Typed) -> None:
    with pytest.raises(svc.errors.Refused) as caught:
        typed(f"search {INDEX} --filters \"color != 'red'\"")

    assert caught.value.__notes__ == ["did you mean --filters 'NOT color:red'?"]


def test_a_misspelled_editor_is_suggested_where_an_index_is_missing(typed: Typed) -> None:
    with pytest.raises(svc.errors.NotFound, match="did you mean `edit query`"):
        typed("edit qury")

"""The body of a cell."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.api.parameters import SearchParams, Settings
from svc_notebook.errors import BadInput
from svc_notebook.verbs.body import read_body

LINES = """
# what is looked for
query: 1984
filters: year > 1990 AND NOT tag:#1
facets: brand
attributesToRetrieve: name, price
typoTolerance: min
hitsPerPage: 5

facetFilters: ["brand:Acme",
    # either of these
    ["color:red", "color:blue"]]
"""


def test_lines_are_read_by_the_type_of_what_they_name() -> None:
    assert read_body(LINES, SearchParams) == {
        "query": "1984",
        "filters": "year > 1990 AND NOT tag:#1",
        "facets": "brand",
        "attributesToRetrieve": ["name", "price"],
        "typoTolerance": "min",
        "hitsPerPage": 5,
        "facetFilters": ["brand:Acme", ["color:red", "color:blue"]],
    }


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ('query: "in quotes"', "in quotes"),
        ("query:", ""),
        ("query: true", "true"),
        ("aroundRadius: all", "all"),
        ("distinct: 2", 2),
        ("distinct: true", True),
        ("highlightPreTag: <b class='x: y'>", "<b class='x: y'>"),
        ("page: null", None),
        ("facets: brand, color", ["brand", "color"]),
    ],
)
def test_one_line_is_one_value(line: str, value: object) -> None:
    assert list(read_body(line, SearchParams).values()) == [value]


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("searchableAttributes:\n  name\n  brand", ["name", "brand"]),
        (
            "searchableAttributes: name,\n  unordered(brand) ,\n  a, b",
            ["name", "unordered(brand)", "a", "b"],
        ),
        ("searchableAttributes:\n  - name\n  # the maker\n  - brand", ["name", "brand"]),
        ('searchableAttributes:\n  - "title,name"\n  - 7', ["title,name", "7"]),
        ("attributesForFaceting:\n  - brand", ["brand"]),
        ("optionalWords:\n  oak table\n  lamp, desk", ["oak table", "lamp, desk"]),
        ("userData:\n  one\n  two", "one\ntwo"),
    ],
)
def test_a_list_may_have_a_line_for_each_item(body: str, value: object) -> None:
    assert list(read_body(body, Settings).values()) == [value]


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("filters:\n  brand:Acme\n  AND price < 10", "brand:Acme\nAND price < 10"),
        ("facetFilters:\n  brand:Acme, Inc\n  color:red", ["brand:Acme, Inc", "color:red"]),
        (
            'facetFilters:\n  - brand:Acme\n  - ["color:red", "color:blue"]',
            ["brand:Acme", ["color:red", "color:blue"]],
        ),
        ("facets:\n  brand,\n  color", ["brand", "color"]),
        ("query: a\u2028b", "a\u2028b"),
    ],
)
def test_lines_of_a_search_are_one_value(body: str, value: object) -> None:
    assert list(read_body(body, SearchParams).values()) == [value]


def test_null_in_settings_stays_null() -> None:
    assert read_body("ranking: null", Settings) == {"ranking": None}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "query: a\n\nhitPerPage: 3",
            "line 3: `hitPerPage` is not known; did you mean `hitsPerPage`",
        ),
        ("query: a\npage: x", "line 2: `page`"),
        ("query: a\nquery: b", "line 2: `query` is given twice"),
        ("just words", "line 1: `just words` is not `name: value`"),
        ("  page: 1\nfoo", "line 2"),
        ("typoTolerance: perhaps", "line 1: `typoTolerance`: `perhaps` is not one of min, strict"),
        ('facetFilters: {"a": 1}', "line 1: `facetFilters`"),
        ('{"query": "a",\n "page": }', "line 2, column 10: not valid JSON"),
        ('{"query": 1}', "`query` should be text, not a number"),
        ('{"query": "a", "query": "b"}', "`query` is given twice"),
        ("page: two", "line 1: `page` should be a whole number, not `two`"),
        ("hitsPerPage:\n  - 3", "line 1: `hitsPerPage` should be a whole number, not a list"),
        ('{"hitPerPage": 1}', "did you mean `hitsPerPage`"),
        ('{"minProximity": NaN}', "JSON has no NaN"),
        ("{" * 5000, "not valid JSON"),
    ],
)
def test_a_wrong_body_is_refused_where_it_is_wrong(body: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_body(body, SearchParams)

    assert message in str(caught.value)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "query": st.text(),
            "page": st.integers(0, 9),
            "facets": st.lists(st.text()),
            "distinct": st.booleans() | st.integers(0, 4),
            "facetFilters": st.lists(st.text() | st.lists(st.text())),
            "typoTolerance": st.sampled_from([True, "min", "strict"]),
        },
    )
)
def test_both_spellings_of_a_body_mean_the_same(members: dict[str, Any]) -> None:
    lines = "\n".join(f"{name}: {json.dumps(value)}" for name, value in members.items())

    assert read_body(lines, SearchParams) == read_body(json.dumps(members), SearchParams) == members

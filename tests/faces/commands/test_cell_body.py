"""The body of a cell."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.core.api.parameters import SearchParams, Settings
from svc_notebook.core.api.shapes import Rule, Synonym
from svc_notebook.core.api.validation import same
from svc_notebook.errors import BadInput
from svc_notebook.faces.commands.cell_body import read_body, read_documents

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
            "line 3: unknown member `hitPerPage`; did you mean `hitsPerPage`",
        ),
        ("query: a\npage: x", "line 2: `page`"),
        ("query: a\nquery: b", "line 2: `query` is given twice"),
        ("just words", "line 1: `just words` is not `name: value`"),
        ("  page: 1\nfoo", "line 2"),
        ("typoTolerance: perhaps", "line 1: `typoTolerance`: `perhaps` is not one of min, strict"),
        ('facetFilters: {"a": 1}', "line 1: `facetFilters`"),
        ('{"query": "a",\n "page": }', "line 2, column 10: not valid JSON"),
        ('{"query": 1}', "`query` must be text, not a number"),
        ('{"query": "a", "query": "b"}', "`query` is given twice"),
        ("page: two", "line 1: `page` must be a whole number, not `two`"),
        ("hitsPerPage:\n  - 3", "line 1: `hitsPerPage` must be a whole number, not a list"),
        ('{"hitPerPage": 1}', "did you mean `hitsPerPage`"),
        ('{"minProximity": NaN}', "NaN is not valid JSON"),
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


RULE = """
# what is shown first
objectID: spring
conditions:
  - pattern: "garden chair"   # the whole query
    anchoring: is
    alternatives: yes please
consequence:
  params:
    query:
      edits:
      - {type: remove, delete: chair}
    filters: price < 50
    optionalFilters: [["brand:Acme", 'brand:Bolt'], size:2]
  promote:
    - objectID: 0123
      position: 0
  userData:
    title: no
    from: 2024-05-01
    code: 0x1F
    big: 1_000
    time: 12:30
    on: off
    ratio: .5
    share: 0.5
    many: 12
    nothing: ~
    there: true
    text: |
      two
      lines
tags: [sale, 7]
enabled: false
"""


def test_yaml_is_read_without_a_value_becoming_another() -> None:
    yaml = RULE.replace("    alternatives: yes please\n", "    alternatives: true\n")

    [rule] = read_documents(yaml, Rule)

    assert rule == {
        "objectID": "spring",
        "conditions": [{"pattern": "garden chair", "anchoring": "is", "alternatives": True}],
        "consequence": {
            "params": {
                "query": {"edits": [{"type": "remove", "delete": "chair"}]},
                "filters": "price < 50",
                "optionalFilters": [["brand:Acme", "brand:Bolt"], "size:2"],
            },
            "promote": [{"objectID": "0123", "position": 0}],
            "userData": {
                "title": "no", "from": "2024-05-01", "code": "0x1F", "big": "1_000",
                "time": "12:30", "on": "off", "ratio": ".5", "share": 0.5, "many": 12,
                "nothing": None, "there": True, "text": "two\nlines\n",
            },
        },
        "tags": ["sale", "7"],
        "enabled": False,
    }  # fmt: skip


def test_yaml_values_are_checked_by_their_place() -> None:
    with pytest.raises(BadInput, match=r"line 4: `conditions\[0\].alternatives` must be true or"):
        read_documents(RULE, Rule)


@pytest.mark.parametrize(
    ("body", "members"),
    [
        ("query: 'red lamp'", {"query": "red lamp"}),
        ("query: it's on", {"query": "it's on"}),
        ('query: "exact phrase" lamp', {"query": '"exact phrase" lamp'}),
        ("query: red: lamp", {"query": "red: lamp"}),
        ("facets: *", {"facets": "*"}),
        ("query: @home", {"query": "@home"}),
        ("query: &co", {"query": "&co"}),
        ("query: !important", {"query": "!important"}),
        ("query: [draft]", {"query": "[draft]"}),
        ("query: {a}", {"query": "{a}"}),
        ("query: no", {"query": "no"}),
        ("query: 0123", {"query": "0123"}),
        ("query: c# lamp", {"query": "c# lamp"}),
        ("query: lamp # what is looked for", {"query": "lamp"}),
        ("query: lamp\n#whole line\npage: 1", {"query": "lamp", "page": 1}),
        ("facets: [brand, 7]", {"facets": ["brand", "7"]}),
        ("facets:\n- brand\n- color", {"facets": ["brand", "color"]}),
        ("attributesToRetrieve: 'a, b'", {"attributesToRetrieve": ["a, b"]}),
        ('attributesToRetrieve: "a"', {"attributesToRetrieve": ["a"]}),
        ("filters:\n  brand: Acme", {"filters": "brand: Acme"}),
        ("facetFilters:\n  - - color:red\n    - color:blue\n  - size: 2",
         {"facetFilters": [["color:red", "color:blue"], {"size": 2}]}),
        ("filters: >-\n  brand:Acme\n  AND price < 10", {"filters": "brand:Acme AND price < 10"}),
        ('query: "\\ud83d\\ude00"', {"query": "\U0001f600"}),
        ("# nothing", {}),
        ("", {}),
    ],
)  # fmt: skip
def test_lines_mean_in_yaml_what_they_meant(body: str, members: dict[str, Any]) -> None:
    assert read_body(body, SearchParams) == members


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("query: lamp #2", "line 1: `#2` begins a comment in YAML; quote the value to keep it"),
        ("query: #1 lamp", "line 1: `#1 lamp` begins a comment"),
        ("page: 1\nfacets: [a, b] #c", "line 2: `#c` begins a comment"),
        ("facets:\n  - a\n  - b #c", "line 3: `#c` begins a comment"),
        ("query: a\nquery: b", "line 2: `query` is given twice"),
        ("semanticSearch:\n  a: 1\n  a: 2", "line 3: `a` is given twice"),
        ("page: 1\n---\npage: 2", "must contain one object, not 2"),
        ("page: 1.5", "line 1: `page` must be a whole number"),
        ("hitPerPage: [1]", "did you mean `hitsPerPage`"),
        ("semanticSearch: &a\n  b: *a", "line 1: "),
    ],
)
def test_yaml_that_would_lose_something_is_refused(body: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_body(body, SearchParams)

    assert message in str(caught.value)


@pytest.mark.parametrize(
    "body",
    [
        "objectID: a\ntype: synonym\nsynonyms: [x, no]\n---\nobjectID: b\ntype: synonym\n"
        "synonyms:\n  - y\n  - 1984\n",
        "- objectID: a\n  type: synonym\n  synonyms: [x, no]\n- objectID: b\n  type: synonym\n"
        "  synonyms: [y, 1984]",
        '[{"objectID": "a", "type": "synonym", "synonyms": ["x", "no"]},'
        ' {"objectID": "b", "type": "synonym", "synonyms": ["y", "1984"]}]',
    ],
    ids=["documents", "list", "JSON"],
)
def test_several_objects_are_documents_or_a_list(body: str) -> None:
    assert read_documents(body, Synonym) == [
        {"objectID": "a", "type": "synonym", "synonyms": ["x", "no"]},
        {"objectID": "b", "type": "synonym", "synonyms": ["y", "1984"]},
    ]


SCALARS = (
    st.none() | st.booleans() | st.integers(-(10**18), 10**18)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=20)
    | st.sampled_from(["no", "yes", "on", "2024-05-01", "0o17", "0123", "1_0", "1e3", "~", "null",
                       "true", "12:30:45", ".inf", "-.5", "+1", "#a", "a #b", "a: b", "- a", "'",
                       ""])
)  # fmt: skip
TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abc", min_size=1, max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(tree=TREES, flow=st.sampled_from([False, None]), wide=st.booleans())
def test_what_a_yaml_1_2_writer_writes_is_read_as_it_was(tree: Any, flow: Any, wide: bool) -> None:
    text = yaml.dump(
        {"userData": tree}, Dumper=Strict, default_flow_style=flow, allow_unicode=True,
        width=1000 if wide else 20,
    )  # fmt: skip

    assert same(read_body(text, Settings), {"userData": tree})


class Strict(yaml.SafeDumper):
    """Quotes every text, so that the writer's own schema does not matter."""


Strict.add_representer(
    str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')
)


def test_without_the_library_bodies_are_lines(without_package: Callable[..., None]) -> None:
    without_package("yaml")

    assert read_body("query: lamp\nfacets:\n  - brand", SearchParams) == {
        "query": "lamp", "facets": ["brand"],
    }  # fmt: skip

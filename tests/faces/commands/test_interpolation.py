"""Variables in lines and bodies are values, quoted by their type."""

from __future__ import annotations

import json
import string
from contextlib import suppress
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import svc_notebook as svc
from svc_notebook.errors import BadOption
from svc_notebook.faces.commands.binding import BoundCall, bind_words
from svc_notebook.faces.commands.interpolation import Interpolation
from svc_notebook.faces.commands.registry import pick_verb
from svc_notebook.faces.commands.tokenizer import split_line
from svc_notebook.faces.lab.kernel import find_errors
from svc_notebook.faces.magics.extension import run
from svc_notebook.service.engine.filters.grammar import Facet, parse_text

df = pd.DataFrame({"brand": ["Acme & Co", "Umbra"], "price": [12, 7]})
VARIABLES: dict[str, Any] = {
    "q": "red lamp", "n": 5, "price": np.int64(12), "flag": True, "day": date(2024, 5, 6),
    "brand": 'O\'Neil "x" AND price > 0', "minus": "-x", "below": -5, "index": "products",
    "ids": ["1", "2 3"], "codes": pd.Series([1, 2]), "columns": ["name", "price"],
    "option": "--yes", "body": {"hitsPerPage": 3}, "df": df, "name": "a, b", "pd": pd,
    "nested": [["brand:A", "brand:B"]], "nothing": None,
}  # fmt: skip


def bind(line: str, body: str | None = None) -> BoundCall:
    verb, words = pick_verb([word.text for word in split_line(line)], "magic")
    return bind_words(verb, words, "magic", dict(VARIABLES), body)


LINES: list[tuple[str, dict[str, Any]]] = [
    ("search {index} {q}", {"index": "products", "query": "red lamp"}),
    ("search $index $q", {"index": "products", "query": "red lamp"}),
    ("search products {df.brand.iloc[0]}", {"query": "Acme & Co"}),
    ("search products {df['brand'][1]} {n}", {"query": "Umbra 5"}),
    ("search products {q.upper()}", {"query": "RED LAMP"}),
    ("search products x --hitsPerPage {n}", {"hitsPerPage": 5}),
    ("search products x --hitsPerPage={price + n}", {"hitsPerPage": 17}),
    ("search products {option}", {"query": "--yes"}),
    ("search products x --filters 'price < {price}'", {"filters": "price < 12"}),
    ("search products x --filters brand:{df.brand[0]}", {"filters": 'brand:"Acme & Co"'}),
    ("search products x --filters 'brand:\"{df.brand[0]}\"'", {"filters": 'brand:"Acme & Co"'}),
    ("search products x --filters in_stock:{flag}", {"filters": "in_stock:true"}),
    ("search products x --filters level:{below}", {"filters": 'level:"-5"'}),
    ("search products x --filters 'level > {below}'", {"filters": "level > -5"}),
    ("search products x --filters 'n:{below} TO {n}'", {"filters": "n:-5 TO 5"}),
    ("search products x --filters 'day:{day}'", {"filters": 'day:"2024-05-06"'}),
    ("search products x --filters {q}", {"filters": "red lamp"}),
    ("search products x --facetFilters {nested}", {"facetFilters": [["brand:A", "brand:B"]]}),
    (
        "search products x --facetFilters '[[\"brand:{minus}\"]]'",
        {"facetFilters": [['brand:"-x"']]},
    ),
    ("search products x --columns {columns}", {"columns": ["name", "price"]}),
    ("search products x --columns sku,{name}", {"columns": ["sku", "a, b"]}),
    ("get products {ids} 4", {"ids": ["1", "2 3", "4"]}),
    ("get products {codes}", {"ids": ["1", "2"]}),
    ("search products {{q}} $$q $100 $unknown", {"query": "{q} $q $100 $unknown"}),
    ("search products {} {1} {a: 1} {a, b} {q", {"query": "{} {1} {a: 1} {a, b} {q"}),
    ("search products US$q", {"query": "US$q"}),
    ("search products $pd", {"query": "$pd"}),
]


@pytest.mark.parametrize(("line", "arguments"), LINES)
def test_expressions_in_a_line_are_values(line: str, arguments: dict[str, Any]) -> None:
    found = bind(line).arguments

    assert {name: found[name] for name in arguments} == arguments


def test_an_expression_can_name_the_variable_of_an_option() -> None:
    assert bind("push products --from {df}").arguments["df"] is df
    assert bind("push products --from df").arguments["df"] is df


BODIES: list[tuple[str, str, dict[str, Any]]] = [
    ("search products", "query: {q}\nhitsPerPage: {n}", {"query": "red lamp", "hitsPerPage": 5}),
    ("search products", "query: $q and {q}", {"query": "red lamp and red lamp"}),
    ("search products", "filters: brand:{df.brand[0]}", {"filters": 'brand:"Acme & Co"'}),
    ("search products", "facets: {columns}", {"facets": ["name", "price"]}),
    ("search products", "facets:\n- {name}\n- x", {"facets": ["a, b", "x"]}),
    (
        "search products",
        "attributesToRetrieve: sku, {name}",
        {"attributesToRetrieve": ["sku", "a, b"]},
    ),
    (
        "search products",
        '{"query": "{q}", "hitsPerPage": {n}}',
        {"query": "red lamp", "hitsPerPage": 5},
    ),
    (
        "search products",
        '{"facetFilters": [["brand:{minus}", {q}]]}',
        {"facetFilters": [['brand:"-x"', "red lamp"]]},
    ),
    ("search products", "{body}", {"hitsPerPage": 3}),
    ("search products", '{"query": "{{q}} {a: 1} {"}', {"query": "{q} {a: 1} {"}),
    (
        "rules save products",
        '{"objectID": "r", "conditions": [{"pattern": "{facet:brand} {q}", "anchoring": "is"}],'
        ' "consequence": {"params": {"filters": "brand:{brand}"}}}',
        {
            "rules": [
                {
                    "objectID": "r",
                    "conditions": [{"pattern": "{facet:brand} red lamp", "anchoring": "is"}],
                    "consequence": {
                        "params": {"filters": 'brand:"O\'Neil \\"x\\" AND price > 0"'}
                    },
                }
            ]
        },
    ),
]  # fmt: skip


@pytest.mark.parametrize(("line", "body", "arguments"), BODIES)
def test_expressions_in_a_body_are_values(line: str, body: str, arguments: dict[str, Any]) -> None:
    found = bind(line, body).arguments

    assert {name: found[name] for name in arguments} == arguments


def test_code_of_crawlers_is_not_changed() -> None:
    source = "({ url, $ }) => { const q = $('h1').text(); return [{q}] }"
    body = json.dumps({"recordExtractor": {"__type": "function", "source": source}})

    found = bind("crawlers create docs", body).arguments

    assert source in str(found)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("search products {qq}", r"`\{qq\}`: there is no variable `qq`; did you mean `q`\?"),
        ("search {idnex} x", "there is no variable `idnex`; did you mean `index`"),
        ("search products {df.colour[0]}", "`df.colour.0.` fails: AttributeError"),
        ("search products {df}", "`df` is a DataFrame"),
        ("search products x --hitsPerPage {q}", "hitsPerPage"),
        ("search products x --filters brand:{ids}", "a part of a filter must be"),
        ("search products x --filters brand:{nothing}", "a part of a filter must be"),
    ],
)
def test_what_is_not_a_value_is_refused(line: str, message: str) -> None:
    with pytest.raises(BadOption, match=message):
        bind(line)


def test_an_unknown_name_in_a_body_is_refused() -> None:
    with pytest.raises(BadOption, match="there is no variable `qq`"):
        bind("search products", "query: {qq}")


def test_a_setting_switches_expressions_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SVC_MAGIC_VARIABLES", "off")

    assert bind("search products {q} {unknown} $q").arguments["query"] == "{q} {unknown} $q"


def test_a_destructive_verb_takes_values_only_if_they_are_confirmed(admin: svc.Client) -> None:
    svc.push([{"objectID": "1"}, {"objectID": "2"}], "interpolated")
    variables = {"index": "interpolated", "ids": ["1"]}

    with pytest.raises(BadOption, match="only if they are confirmed: omit `--yes`"):
        run("delete {index} {ids} --yes", None, variables)
    with pytest.raises(BadOption, match=r"to delete 1 of 2 records of interpolated \(ids: 1\)"):
        run("delete {index} {ids}", None, variables)
    planned = run("delete {index} {ids} --dry-run", None, variables)

    assert planned["after"] == 1
    assert run("delete interpolated 1 --yes", None, variables)["after"] == 1


def test_a_check_of_a_cell_evaluates_nothing() -> None:
    evaluated: list[int] = []
    variables = {"touch": lambda: evaluated.append(1), "q": "x"}

    errors = [*find_errors("%svc search products {touch()} --hitsPerPage {q}", variables)]
    errors += find_errors("%%svc search products\nhitsPerPage: {touch()}", variables)
    [unknown] = find_errors("%svc search products {tuch()}", variables)

    assert (errors, evaluated) == ([], [])
    assert "there is no variable `tuch`" in unknown.message


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def evaluate_with(line: str, body: str | None, **variables: Any) -> dict[str, Any]:
    verb, words = pick_verb([word.text for word in split_line(line)], "magic")
    return bind_words(verb, words, "magic", variables, body).arguments


@given(TEXTS)
def test_any_text_is_the_value_of_a_filter_and_of_a_query(text: str) -> None:
    filters = evaluate_with("search i {v} --filters 'brand:{v} AND n > 1'", None, v=text)
    body = evaluate_with("search i", "query: {v}\nfilters: brand:{v}", v=text)
    quoted = evaluate_with("search i", '{"query": "a {v}", "filters": "brand:\'{v}\'"}', v=text)

    assert filters["query"] == body["query"] == text
    assert quoted["query"] == f"a {text}"
    for found in (filters, body, quoted):
        terms = flatten(parse_text(found["filters"], "filters"))
        facets = [term for term in terms if isinstance(term, Facet)]
        assert [(facet.attribute, facet.value, facet.negated) for facet in facets] == [
            ("brand", text, False)
        ]


def flatten(group: Any) -> list[Any]:
    if type(group) in (tuple, list):
        return [term for part in group for term in flatten(part)]
    return [group]


NAMES = st.text(string.ascii_letters, min_size=1, max_size=8)


@given(st.dictionaries(NAMES, JSON, max_size=4))
def test_json_bodies_without_expressions_are_unchanged(document: dict[str, Any]) -> None:
    body = json.dumps(document, ensure_ascii=False, indent=1)
    expressions = Interpolation({}, evaluates=True)
    # Members such as `{a}` in a text are expressions of unknown names.
    with suppress(BadOption):
        found = expressions.finds(body)
        assert found == ("{{" in body)
        assert found or expressions.mark_body(body) == body


@given(JSON)
def test_any_value_is_the_value_of_a_member(value: Any) -> None:
    expressions = Interpolation({"v": value})
    found = json.loads(expressions.mark_body('{"a": {v}, "b": [{v}]}'))

    assert found == {"a": value, "b": [value]}

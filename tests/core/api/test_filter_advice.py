"""Filters as others write them, answered with the filter that was meant."""

from __future__ import annotations

import re
from typing import Any

import pytest

from svc_notebook.core.api.filter_advice import explain_ineffective, suggest_filter
from svc_notebook.service.engine.filters.grammar import parse_text

MEANT: dict[Any, str] = {
    "brand = 'Norrvik'": "brand:Norrvik",
    'brand == "Norrvik"': "brand:Norrvik",
    "brand = Norrvik": "brand:Norrvik",
    "brand != Norrvik": "NOT brand:Norrvik",
    "brand <> 'Norrvik'": "NOT brand:Norrvik",
    "not brand = 'Norrvik'": "NOT brand:Norrvik",
    "!brand:Norrvik": "NOT brand:Norrvik",
    "brand is not 'Norrvik'": "NOT brand:Norrvik",
    "brand in (a, b)": "(brand:a OR brand:b)",
    "brand IN ['a', 'b']": "(brand:a OR brand:b)",
    "brand not in ('a', 'b')": "NOT brand:a AND NOT brand:b",
    "brand.isin(['a', 'b'])": "(brand:a OR brand:b)",
    "df.brand.isin(['a', 'b'])": "(brand:a OR brand:b)",
    "df['brand'] == 'a'": "brand:a",
    "`brand` == 'a'": "brand:a",
    "brand:[a, b]": "(brand:a OR brand:b)",
    "brand:(a OR b)": "(brand:a OR brand:b)",
    "brand:=a": "brand:a",
    "price between 10 and 20": "price:10 TO 20",
    "price.between(10, 20)": "price:10 TO 20",
    "price:[10 TO 20]": "price:10 TO 20",
    "price:[10..20]": "price:10 TO 20",
    "price:10..20": "price:10 TO 20",
    "price 10 TO 20": "price:10 TO 20",
    "10 <= price <= 20": "price:10 TO 20",
    "10 < price < 20": "price > 10 AND price < 20",
    "50 > price": "price < 50",
    "price:>10": "price > 10",
    "price:<=10": "price <= 10",
    "price == 10": "price = 10",
    "price <> 10": "price != 10",
    "price < 50€": "price < 50",
    "price < $1,200": "price < 1200",
    "not price < 10": "price >= 10",
    "brand = 'a' and price < 50": "brand:a AND price < 50",
    "brand:a && price < 50": "brand:a AND price < 50",
    "(brand == 'a') & (price < 50)": "brand:a AND price < 50",
    "brand:a || brand:b": "(brand:a OR brand:b)",
    "(brand == 'a') | (brand == 'b')": "(brand:a OR brand:b)",
    "brand:a or brand:b": "(brand:a OR brand:b)",
    "a:x b:y": "a:x AND b:y",
    "a:x, b:y": "a:x AND b:y",
    "brand = Acme Co": 'brand:"Acme Co"',
    "brand:Acme Co AND price < 5": 'brand:"Acme Co" AND price < 5',
    "brand LIKE 'Norr%'": "brand:Norr",
    "WHERE brand = 'a' AND price > 5": "brand:a AND price > 5",
    "available = true": "available:true",
    "available == True": "available:true",
    "(brand:a AND color:c) or brand:b": "(brand:a OR brand:b) AND (color:c OR brand:b)",
    "NOT (brand:a OR brand:b)": "NOT brand:a AND NOT brand:b",
    "released > '2021-01-01'": "released > 1609459200",
    "[\"brand:a\", 'price < 5']": "brand:a AND price < 5",
    "size.width = '5'": "size.width = 5",
    "brand = 'It''s'": 'brand:"It\'s"',
}
JSON_FORMS: list[tuple[Any, str]] = [
    (["brand:a", "price < 5"], "brand:a AND price < 5"),
    ([["brand:a", "brand:b"], "price < 5"], "(brand:a OR brand:b) AND price < 5"),
    ({"brand": "a", "price": 5}, "brand:a AND price = 5"),
    ({"brand": ["a", "b"]}, "(brand:a OR brand:b)"),
]


def test_each_spelling_is_answered_with_the_filter_that_was_meant() -> None:
    offenders = []
    for written, meant in [*MEANT.items(), *JSON_FORMS]:
        suggested = suggest_filter(written)
        if suggested != meant:
            offenders.append(f"{written}: {suggested!r}, not {meant!r}")

    assert offenders == []


def test_a_suggestion_is_valid_and_stable() -> None:
    offenders = []
    for meant in MEANT.values():
        parse_text(meant, "filters")
        if again := suggest_filter(meant):
            offenders.append(f"{meant}: {again}")

    assert offenders == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "((",
        "price <",
        "brand in",
        "brand is null",
        "'",
        "a b c",
        "=",
        "x" * 5000,
        ")",
        "a:b or c < 5",
    ],
)
def test_no_filter_is_made_up(text: str) -> None:
    assert suggest_filter(text) == ""


@pytest.mark.parametrize(
    ("filters", "reason"),
    [
        ("true", "`true` alone is a tag"),
        ("-brand:x", "write NOT brand:x"),
        ("price < 5 AND brand:*", "`*` is no wildcard"),
        ("brand:Nor*", "whole values"),
    ],
)
def test_a_valid_filter_that_matches_something_else_is_explained(filters: str, reason: str) -> None:
    assert re.search(re.escape(reason), " ".join(text for _, text in explain_ineffective(filters)))


def test_plain_filters_are_not_explained() -> None:
    assert [*explain_ineffective("brand:x-y AND NOT a:b OR price:-5 TO 5")] == []

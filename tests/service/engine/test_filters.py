"""Filters: grammar and evaluation."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc_notebook.errors import BadInput
from svc_notebook.service.engine.filters.filters import (
    Between,
    Facet,
    Filter,
    Numeric,
    Tag,
    Term,
    parse_filters,
    parse_optional,
    render,
)
from tests.conftest import examples

A, B, C = Facet("a", "x"), Facet("b", "y"), Facet("c", "z")

words = st.text() | st.sampled_from(["AND", "OR", "NOT", "TO", "and", "-1", "1 TO 2", "a<score=2>"])
names = words.filter(lambda name: name not in ("", "_tags"))
numbers = st.floats(allow_nan=False, allow_infinity=False)
scores = st.integers(0, 65535)
facets = st.builds(Facet, names, words, st.booleans(), scores)
operators = st.sampled_from(["<", "<=", "=", "!=", ">", ">="])
numerics = st.builds(Numeric, names, operators, numbers, st.booleans()) | st.builds(
    Between, names, numbers, numbers, st.booleans()
)
tags = st.builds(Tag, words, st.booleans(), scores)
PIECES = r"""a b: b:x a.b:1 TO 5 p > < >= -3.5 ( ) AND OR NOT and ! " ' \ <score= <score=2> 1e999"""
pieces = st.sampled_from(PIECES.split(" "))
scribbles = st.lists(pieces | st.just(" ") | st.text(max_size=2), max_size=14).map("".join)


def groups_of(terms: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Term, ...]]:
    return st.lists(terms, min_size=1, max_size=4).map(tuple)


whole_filters = st.lists(groups_of(facets) | groups_of(numerics) | groups_of(tags), max_size=4).map(
    tuple
)


def refusal_of(params: dict[str, Any]) -> str:
    try:
        parse_filters(params)
    except BadInput as error:
        return str(error)
    return ""


def read(text: str) -> Filter:
    return parse_filters({"filters": text})


@given(whole_filters)
def test_a_rendered_filter_parses_to_the_same_filter(filter_: Filter) -> None:
    assert read(render(filter_)) == filter_


@settings(max_examples=examples(500))
@given(scribbles)
def test_any_text_is_parsed_or_refused_with_a_position_inside_it(text: str) -> None:
    refusal = refusal_of({"filters": text})

    if refusal:
        place = re.search(r"^filters: .* at character (\d+), near ", refusal, re.DOTALL)
        assert place
        assert 1 <= int(place[1]) <= len(text) + 1
    else:
        assert read(render(read(text))) == read(text)


@given(
    st.sampled_from(["facetFilters", "numericFilters", "tagFilters"]),
    st.recursive(st.none() | st.booleans() | st.integers() | scribbles, st.lists, max_leaves=8),
)
def test_any_value_of_a_list_parameter_is_parsed_or_refused_with_its_path(
    name: str, value: object
) -> None:
    refusal = refusal_of({name: value})

    assert not refusal or re.match(rf"{name}(\[\d+\])*: ", refusal)


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("a:x", A),
        ("a : x", A),
        ("NOT a:x", Facet("a", "x", True)),
        ("a:x<score=7>", Facet("a", "x", False, 7)),
        ("a:x <score=0>", Facet("a", "x", False, 0)),
        ('a:"x y"<score=7>', Facet("a", "x y", False, 7)),
        ("a:'x \"y\"'", Facet("a", 'x "y"')),
        (r'a:"x \"y\" \\"', Facet("a", 'x "y" \\')),
        ('a:""', Facet("a", "")),
        ('"a b":x', Facet("a b", "x")),
        ("a.b.c:x", Facet("a.b.c", "x")),
        ("größe-2:groß", Facet("größe-2", "groß")),
        ("a:-12", Facet("a", "-12")),
        (r"a:\-12", Facet("a", "-12")),
        ("a:true", Facet("a", "true")),
        ("a:https://x.org/p?q=1&r=2", Facet("a", "https://x.org/p?q=1&r=2")),
        ("a:2024-01-31T12:30:00", Facet("a", "2024-01-31T12:30:00")),
        ("a:O'Brien", Facet("a", "O'Brien")),
        ('a:5"', Facet("a", '5"')),
        ("a:R&B", Facet("a", "R&B")),
        ("a:C++", Facet("a", "C++")),
        ("a:>10", Facet("a", ">10")),
        ("a:TO", Facet("a", "TO")),
        ('a:"OR"', Facet("a", "OR")),
        ("ANDROID:x", Facet("ANDROID", "x")),
        ("a:NOTE", Facet("a", "NOTE")),
        ("(a:x)", A),
        ("((a:x))", A),
        ("p > 1", Numeric("p", ">", 1)),
        ("p>=-1.5", Numeric("p", ">=", -1.5)),
        ("p<1e3", Numeric("p", "<", 1000)),
        ("p <= .5", Numeric("p", "<=", 0.5)),
        ("p=1", Numeric("p", "=", 1)),
        ("NOT p!=1", Numeric("p", "!=", 1, True)),
        ("p:1 TO 5", Between("p", 1, 5)),
        ("NOT p: -2.5 TO 3", Between("p", -2.5, 3, True)),
        ("red", Tag("red")),
        ("NOT 'dark red'", Tag("dark red", True)),
        ("red<score=2>", Tag("red", False, 2)),
        ("_tags:red", Tag("red")),
    ],
    ids=str,
)
def test_a_term_is_parsed(text: str, term: Term) -> None:
    assert read(text) == ((term,),)
    assert type(read(text)[0][0]) is type(term)


@pytest.mark.parametrize(
    ("text", "filter_"),
    [
        ("", ()),
        (" \t\n", ()),
        ("a:x AND b:y", ((A,), (B,))),
        ("a:x OR b:y", ((A, B),)),
        ("a:x AND b:y OR c:z", ((A,), (B, C))),
        ("a:x OR b:y AND c:z", ((A, B), (C,))),
        ("(a:x OR b:y) AND c:z", ((A, B), (C,))),
        ("(a:x OR (b:y OR c:z))", ((A, B, C),)),
        ("\n(a:x\tOR b:y)AND(c:z)", ((A, B), (C,))),
        ("p>1 OR p:3 TO 4", ((Numeric("p", ">", 1), Between("p", 3, 4)),)),
    ],
)
def test_terms_are_joined(text: str, filter_: Filter) -> None:
    assert read(text) == filter_


@pytest.mark.parametrize(
    ("text", "problem", "place"),
    [
        ("a:x OR p > 1", "OR cannot join a facet filter and a numeric filter", 8),
        ("red OR (a:x)", "OR cannot join a tag filter and a facet filter", 8),
        ("(a:x AND b:y)", "AND is not allowed inside parentheses", 1),
        ("NOT (a:x)", "NOT is not allowed before a parenthesis", 5),
        ("NOT NOT a:x", "expected a filter before NOT", 5),
        ("a:x and b:y", "expected AND in place of 'and'", 5),
        ("a:x Or b:y", "expected OR in place of 'Or'", 5),
        ("a:x && b:y", "expected AND in place of '&&'", 5),
        ("not a:x", "expected NOT for 'not'", 5),
        ("!a:x", "expected NOT in place of '!'", 1),
        ("AND a:x", "expected a filter before AND", 1),
        ("a:x AND", "expected a filter", 8),
        ("a:x AND OR b:y", "expected a filter before OR", 9),
        ("a:x b:y", "expected AND or OR", 5),
        ("a:x NOT b:y", "expected AND or OR", 5),
        ("a:Louis Vuitton", "quotes around spaces", 9),
        ("a:f(x)", "quotes around parentheses", 4),
        ("(a:x", "this parenthesis is never closed", 1),
        ("a:x)", "this parenthesis was never opened", 4),
        ("()", "expected a filter", 2),
        (":x", "expected a filter", 1),
        ('a:"x', "this quote is never closed", 3),
        ("'x", "this quote is never closed", 1),
        ("brand:", "expected a value after ':'", 7),
        ("a: AND b:y", "expected a value after ':'", 4),
        ("a:OR", "in quotes, if it is OR", 3),
        ("p >", "expected a number after '>'", 4),
        ("p > x", "expected a number after '>'", 5),
        ('p = "1"', "expected a number after '='", 5),
        ("p > 1<score=2>", "expected a number after '>'", 5),
        ("p:1 TO", "expected a number on each side of TO", 5),
        ("p:x TO 5", "expected a number on each side of TO", 5),
        ("p > 1e999", "this number is too large", 5),
        ("p:1 TO 1e999", "this number is too large", 8),
        ("a:x<score=>", "expected <score=N>", 4),
        ("a:x<score=-1>", "expected <score=N>", 4),
        ("a:x<score=65536>", "expected <score=N>", 4),
        ("a:x<score=" + "9" * 5000 + ">", "expected <score=N>", 4),
        ("(" * 500 + "a" + ")" * 500, "parentheses are nested too deep", 21),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_syntax_error_is_refused_with_its_position(text: str, problem: str, place: int) -> None:
    with pytest.raises(BadInput) as caught:
        read(text)

    message = str(caught.value)
    assert message.startswith("filters: ")
    assert problem in message
    assert f"at character {place}, near " in message


def test_the_position_is_shown_with_its_context() -> None:
    with pytest.raises(BadInput, match=re.escape('near "or:apple AND brand: ^OR size:larg"')):
        read("color:red OR color:apple AND brand: OR size:large OR size:small")


@pytest.mark.parametrize(
    ("value", "filter_"),
    [
        (None, ()),
        ("", ()),
        ([], ()),
        ([[]], ()),
        ("a:x", ((A,),)),
        (["a:x", "b:y"], ((A,), (B,))),
        ([["a:x", "b:y"], "c:z"], ((A, B), (C,))),
        ([["a:x", ["b:y", [["c:z"]]]]], ((A, B, C),)),
        ('["a:x", ["b:y", "c:z"]]', ((A,), (B, C))),
        ("a:x,b:y", ((A,), (B,))),
        (" a:x , (b:y, c:z), ", ((A,), (B, C))),
        ('a:"x, (y)",b:y', ((Facet("a", "x, (y)"),), (B,))),
        ("a:O'Brien,b:y", ((Facet("a", "O'Brien"),), (B,))),
        ("(a:x (1),b:y)", ((Facet("a", "x (1)"), B),)),
        (["a:x, y"], ((Facet("a", "x, y"),),)),
        (["a:x OR y"], ((Facet("a", "x OR y"),),)),
        (["a:-x"], ((Facet("a", "x", True),),)),
        ([r"a:\-x"], ((Facet("a", "-x"),),)),
        ([r"a:-\-x"], ((Facet("a", "-x", True),),)),
        (['a:"-x"'], ((Facet("a", "-x"),),)),
        (['a:-"x y"'], ((Facet("a", "x y", True),),)),
        (["a:'x'"], ((A,),)),
        (["a:'tis"], ((Facet("a", "'tis"),),)),
        (["a: x "], ((A,),)),
        (["a:x:y"], ((Facet("a", "x:y"),),)),
        (['"a:b":x'], ((Facet("a:b", "x"),),)),
        (["a:x<score=3>"], ((Facet("a", "x", False, 3),),)),
        (["a:-12"], ((Facet("a", "12", True),),)),
        (["_tags:-red"], ((Tag("red", True),),)),
    ],
    ids=str,
)
def test_facet_filters_are_read(value: object, filter_: Filter) -> None:
    assert parse_filters({"facetFilters": value}) == filter_
    assert parse_optional({"optionalFilters": value}) == filter_


@pytest.mark.parametrize(
    ("value", "filter_"),
    [
        ("p > 10", ((Numeric("p", ">", 10),),)),
        (["p>10", "q != -2"], ((Numeric("p", ">", 10),), (Numeric("q", "!=", -2),))),
        ([["p:1 TO 5", "q<2"]], ((Between("p", 1, 5), Numeric("q", "<", 2)),)),
        (
            "p>=1,(q=2,q=3)",
            ((Numeric("p", ">=", 1),), (Numeric("q", "=", 2), Numeric("q", "=", 3))),
        ),
        (['"p q" = 1'], ((Numeric("p q", "=", 1),),)),
    ],
)
def test_numeric_filters_are_read(value: object, filter_: Filter) -> None:
    assert parse_filters({"numericFilters": value}) == filter_


@pytest.mark.parametrize(
    ("value", "filter_"),
    [
        ("red", ((Tag("red"),),)),
        ("red,(big,-old)", ((Tag("red"),), (Tag("big"), Tag("old", True)))),
        (["dark red", [r"\-1", "'x'"]], ((Tag("dark red"),), (Tag("-1"), Tag("x")))),
        (["a:b"], ((Tag("a:b"),),)),
    ],
)
def test_tag_filters_are_read(value: object, filter_: Filter) -> None:
    assert parse_filters({"tagFilters": value}) == filter_


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"filters": ["a:x"]}, "filters: expected text, found a list"),
        ({"filters": 5}, "filters: expected text, found a number"),
        ({"facetFilters": {"a": "x"}}, "facetFilters: expected text or a list, found an object"),
        ({"facetFilters": True}, "facetFilters: expected text or a list, found a boolean"),
        ({"facetFilters": ["a:x", 5]}, "facetFilters[1]: expected text or a list, found a number"),
        (
            {"facetFilters": ["a:x", ["b:y", None]]},
            "facetFilters[1][1]: expected text or a list, found null",
        ),
        ({"facetFilters": ["a:x", ["b"]]}, "facetFilters[1][0]: expected attribute:value at"),
        ({"facetFilters": [""]}, "facetFilters[0]: expected attribute:value at character 1"),
        ({"facetFilters": ["a:"]}, "facetFilters[0]: expected a value at character 3"),
        ({"facetFilters": ["a:-"]}, "facetFilters[0]: expected a value at character 4"),
        ({"facetFilters": ["p > 1"]}, "expected attribute:value (numericFilters compare) at"),
        ({"facetFilters": ["NOT a:x"]}, "expected a minus before the value in place of NOT"),
        ({"facetFilters": "a:x,y"}, "facetFilters[1]: expected attribute:value at character 2"),
        ({"facetFilters": "(a:x,b:y"}, "facetFilters: a parenthesis is never closed at"),
        ({"facetFilters": "[a:x"}, "facetFilters: expected a JSON list or text"),
        ({"facetFilters": "[" * 9999}, "facetFilters: expected a JSON list or text"),
        ({"facetFilters": ["a:x<score=70000>"]}, "facetFilters[0]: expected a score from 0 to"),
        ({"facetFilters": ["a:x<score=y>"]}, "facetFilters[0]: expected <score=N>"),
        (
            {"facetFilters": ["a:x<score=" + "9" * 5000 + ">"]},
            "facetFilters[0]: expected <score=N>",
        ),
        ({"numericFilters": ["p >"]}, "numericFilters[0]: expected a number after '>'"),
        ({"numericFilters": ["p"]}, "numericFilters[0]: expected one of < <= = != > >= :"),
        ({"numericFilters": ["p:1"]}, "expected a range, low TO high, after ':' at character 3"),
        ({"numericFilters": ["NOT p>1"]}, "NOT is not allowed here"),
        ({"numericFilters": ["p>1 AND q>1"]}, "expected one comparison (use a list for several)"),
        ({"tagFilters": ["red", ["-"]]}, "tagFilters[1][0]: expected a value at character 2"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_an_invalid_item_of_a_parameter_is_refused_with_its_path(
    params: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInput, match=re.escape(message)):
        parse_filters(params)


def test_lists_nested_too_deep_are_refused() -> None:
    deep: list[Any] = ["a:x"]
    for _ in range(5000):
        deep = [deep]

    with pytest.raises(BadInput, match="lists are nested too deep"):
        parse_filters({"facetFilters": deep})


def test_all_parameters_join_by_and() -> None:
    params = {
        "filters": "a:x OR b:y",
        "facetFilters": ["c:z"],
        "numericFilters": ["p > 1"],
        "tagFilters": "red",
        "optionalFilters": ["d:w"],
    }

    filter_ = parse_filters(params)

    assert filter_ == ((A, B), (C,), (Numeric("p", ">", 1),), (Tag("red"),))
    assert parse_optional(params) == ((Facet("d", "w"),),)


@pytest.mark.parametrize("piece", ["a:x AND ", 'a:"', "a:'\\\\", "(", " ", "a:x<score=", "NOT "])
def test_parsing_time_is_proportional_to_the_text(piece: str) -> None:
    def seconds(text: str) -> float:
        began = time.thread_time()
        for name in ("filters", "facetFilters", "numericFilters", "tagFilters"):
            refusal_of({name: text})
        return time.thread_time() - began

    short = min(seconds(piece * 500) for _ in range(3))

    # Quadratic reading would take 1,600 times as long.
    assert min(seconds(piece * 20_000) for _ in range(2)) < 400 * short + 0.01

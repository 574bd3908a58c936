"""The words of a line."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.errors import BadOption
from svc_notebook.faces.commands.tokenizer import quote_word, split_line, split_typed

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


def texts(line: str) -> list[str]:
    return [word.text for word in split_line(line)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", []),
        ("  search   products ", ["search", "products"]),
        ("search 'two words' \"and two\"", ["search", "two words", "and two"]),
        ("search men's shoes", ["search", "men's", "shoes"]),
        ("search men's women's", ["search", "men's", "women's"]),
        (r'search "say \"hi\""', ["search", 'say "hi"']),
        (r"load C:\data\new.csv x", ["load", r"C:\data\new.csv", "x"]),
        ("--filters='year > 1990' x", ["--filters=year > 1990", "x"]),
        (
            '--facetFilters ["a:b", ["c:d", "e:f"]] x',
            ["--facetFilters", '["a:b", ["c:d", "e:f"]]', "x"],
        ),
        ('--dtype={"a b": "string"} x', ['--dtype={"a b": "string"}', "x"]),
        ("load data[1].csv [ab]*.csv", ["load", "data[1].csv", "[ab]*.csv"]),
        ("search '' x", ["search", "", "x"]),
        ("a{b} {not json", ["a{b}", "{not", "json"]),
    ],
)
def test_a_line_falls_into_words(line: str, expected: list[str]) -> None:
    assert texts(line) == expected


@pytest.mark.parametrize("line", ["search 'open", 'search "open', "--filters='open", '"half"open'])
def test_an_open_quote_is_refused_with_its_column(line: str) -> None:
    with pytest.raises(BadOption, match=r"column \d+ is not closed"):
        split_line(line)


@given(st.lists(st.text(min_size=1, max_size=12)))
def test_quoted_words_are_read_back(words: list[str]) -> None:
    line = " ".join(map(quote_word, words))

    assert texts(line) == words


@given(st.lists(JSON_VALUES, max_size=3) | st.dictionaries(st.text(max_size=5), JSON_VALUES))
def test_json_stays_whole(value: object) -> None:
    text = json.dumps(value)

    assert texts(f"before --name {text} after") == ["before", "--name", text, "after"]


@given(st.text(max_size=40))
def test_words_know_where_they_stand(line: str) -> None:
    try:
        words = split_line(line)
    except BadOption:
        return

    gaps = [line[a.end : b.start] for a, b in pairwise(words)]

    assert all(gap.isspace() for gap in gaps)
    assert all(word.start < word.end <= len(line) for word in words)


@pytest.mark.parametrize(
    ("typed", "before", "last"),
    [
        ("", [], ""),
        ("sea", [], "sea"),
        ("search ", ["search"], ""),
        ("search prod", ["search"], "prod"),
        ("search x --filters 'year > 1", ["search", "x", "--filters"], "'year > 1"),
        ('search x --facets ["a', ["search", "x", "--facets"], '["a'),
    ],
)
def test_a_typed_line_ends_with_the_word_at_the_cursor(
    typed: str, before: list[str], last: str
) -> None:
    words, at_cursor = split_typed(typed)

    assert ([word.text for word in words], at_cursor.text) == (before, last)

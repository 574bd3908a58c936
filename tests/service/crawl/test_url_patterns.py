"""URL patterns, compared with the results of micromatch 4.0.8."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.errors import BadInput
from svc_notebook.service.crawl.url_patterns import MAX_PATTERN_CHARACTERS, Patterns, read_patterns
from tests.looping import loop_over

PEER: dict[str, Any] = json.loads(Path(__file__).with_name("micromatch.json").read_text())


def read(*written: str) -> Patterns:
    return read_patterns(written, "pathsToMatch")


@loop_over("pattern, hits", PEER["rows"])
def test_a_pattern_matches_as_in_micromatch(pattern: str, hits: list[int]) -> None:
    patterns = read(pattern)

    assert [at for at, url in enumerate(PEER["urls"]) if patterns.match(url)] == hits


@pytest.mark.parametrize(("written", "hits"), PEER["lists"])
def test_the_last_matching_pattern_decides(written: list[str], hits: list[int]) -> None:
    patterns = read(*written)

    assert [at for at, url in enumerate(PEER["urls"]) if patterns.match(url)] == hits


def test_without_patterns_nothing_matches() -> None:
    assert not read().match("https://shop.test/")


def test_a_range_is_expanded() -> None:
    patterns = read("https://shop.test/{08..10}/{a..c}/{0..10..5}")

    assert patterns.match("https://shop.test/09/b/5")
    assert not patterns.match("https://shop.test/9/b/5")
    assert not patterns.match("https://shop.test/09/b/6")


def test_a_pattern_may_be_written_with_letters_beyond_ascii() -> None:
    assert read("https://shop.test/caf\u00e9/**").match("https://shop.test/caf%C3%A9/au")


WRONG = {
    "": "`pathsToMatch[0]` is empty",
    "https://shop.test/{a": "the { at 19 is not closed",
    "https://shop.test/(a": "the ( at 19 is not closed",
    "https://shop.test/[z-a]": "cannot be read",
    "https://shop.test/{1..100000}": "spells out more than 1000 values",
    "https://shop.test/*(*a)b": "can take forever",
    "a" * (MAX_PATTERN_CHARACTERS + 1): "is too long",
    "(" * 1500: "cannot be read",
}


@pytest.mark.parametrize(("pattern", "why"), WRONG.items(), ids=range(len(WRONG)))
def test_an_invalid_pattern_is_named(pattern: str, why: str) -> None:
    with pytest.raises(BadInput, match=re.escape(why)):
        read(pattern)


HOSTILE = [
    "https://a/*-*-*-*-x",
    "https://a/**/b/**/c/**/d",
    "https://a/*a?*a[b]*a?*b",
    "https://a/+(a|aa)b",
    "https://a/+(?|a)z",
    f"https://a/{'?(a)' * 40}z",
    f"https://a/{'{,a}' * 40}z",
    "https://a/**/*b*/**/*b*/**/*b*/z",
]


@pytest.mark.timeout(30)
@pytest.mark.parametrize("pattern", HOSTILE)
def test_a_hostile_url_does_not_block_a_pattern(pattern: str) -> None:
    patterns = read(pattern)

    for url in ("-" * 1990, "b/" * 100 + "b" * 1500, "a" * 1990, "ac" * 990):
        assert not patterns.match(f"https://a/{url}")


plain = st.text("abc.-_", min_size=1, max_size=5)


@given(st.lists(plain, min_size=1, max_size=4))
def test_a_url_is_its_own_pattern(segments: list[str]) -> None:
    url = f"https://shop.test/{'/'.join(segments)}"

    assert read(url).match(url)
    assert not read(url).match(f"{url}x")


@given(st.lists(plain.filter(lambda part: part[0] != "."), min_size=1, max_size=4), plain)
def test_two_stars_match_all_that_one_star_matches(segments: list[str], other: str) -> None:
    url = f"https://shop.test/{'/'.join(segments)}"
    base = url.rpartition("/")[0]

    assert read(f"{base}/*").match(url)
    assert read(f"{base}/**").match(url)
    assert read("https://shop.test/**").match(url)
    assert not read(f"https://{other}x.test/**").match(url)


@pytest.mark.parametrize("text", ["{,(})", "{a,(b})", "{(})", "{a,b(c}d)"])
def test_a_brace_that_is_closed_inside_parentheses_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match=r"the \{ at 1 is not closed"):
        read(text)


@given(st.text("abc/*?!(){}[],|+@\\.^", max_size=25), st.text("abc/.", max_size=12))
def test_any_text_is_a_pattern_or_refused(text: str, url: str) -> None:
    try:
        patterns = read(text)
    except BadInput:
        return

    assert patterns.match(url) in (True, False)

"""Highlights and snippets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.core.tokenization.joined_words import APOSTROPHES, PERIODS, SYMBOLS
from svc_notebook.core.tokenization.tokenizer import Token, TokenizerSettings, split, tokens
from svc_notebook.core.tokenization.word_breaks import choose_languages
from svc_notebook.errors import BadInput
from svc_notebook.service.engine.query.options import (
    MAX_CACHED_CHARACTERS,
    EffectiveParameters,
    cache_if_short,
)
from svc_notebook.service.engine.query.query import Query
from svc_notebook.service.engine.response.highlight import (
    MAX_TEXT_CHARACTERS,
    Style,
    highlight_hit,
    mark_text,
    snippet_hit,
)
from svc_notebook.service.engine.response.highlight_matcher import (
    Marker,
    Run,
    TextMatcher,
    TokenMatch,
)
from svc_notebook.service.engine.response.hits import make_markers

# Nothing a text below holds, so that taking them out gives the text back.
OPEN, CLOSE, CUT = "\ue000", "\ue001", "\ue002"
TAGS = {"highlightPreTag": OPEN, "highlightPostTag": CLOSE, "snippetEllipsisText": CUT}

letters = st.sampled_from(
    "abcdeABZ09 \t\n.,-'&</éÉçßẞİıŁæﬁǅ½²ﷺΣς東京カ한ก็हिक्😀👩🏽\u200d💻\u2019\u0301\u0308\u200b\ufe0f"
    "\x00\ud800"
)
sentences = st.lists(st.sampled_from(["ab", "Ba", "ç.", "d'e", "x"]), max_size=12).map(" ".join)
texts = st.text(letters, max_size=60) | sentences
all_rules = st.builds(
    TokenizerSettings,
    st.sampled_from(["", "&-", "é"]),
    st.sampled_from(["", "éç"]),
    st.sampled_from([frozenset(), frozenset({"t"})]),
    st.sampled_from([(), (("æ", "ae"), ("b", "bbb"))]),
    st.sampled_from([choose_languages(("en",)), choose_languages(("ja", "th"))]),
)


def settings_of(rules: TokenizerSettings) -> dict[str, Any]:
    return {
        "separatorsToIndex": rules.separators,
        "keepDiacriticsOnCharacters": rules.diacritics,
        "camelCaseAttributes": list(rules.camel),
        "customNormalization": {"default": dict(rules.replacing)},
        "indexLanguages": [language for language, _ in rules.languages] or ["en"],
    }


def first_beginning(words: Sequence[str], token: str) -> TokenMatch | None:
    """Match a token that begins with a query word, as far as the word goes."""
    hits = [TokenMatch((n,), len(word)) for n, word in enumerate(words) if token.startswith(word)]
    return hits[0] if hits else None


@dataclass
class Beginnings:
    """Matches the beginnings of tokens, and runs."""

    words: Sequence[str]
    runs: Mapping[str, Sequence[Run]]

    def match(self, tokens: AbstractSet[str]) -> Mapping[str, TokenMatch]:
        return {token: match for token in tokens if (match := first_beginning(self.words, token))}


def beginnings(words: Sequence[str], runs: Mapping[str, Sequence[Run]] | None = None) -> Marker:
    return lambda path: Beginnings(words, runs or {})


def make_style(
    settings: Mapping[str, Any], params: Mapping[str, Any], words: Sequence[str]
) -> Style:
    return Style.of(EffectiveParameters(settings, params), words)


def highlight(
    record: Mapping[str, Any],
    query: str = "",
    settings: Mapping[str, Any] | None = None,
    **params: Any,
) -> dict[str, Any]:
    words = query.split()
    return highlight_hit(record, beginnings(words), make_style(settings or {}, params, words))


def snippet(
    record: Mapping[str, Any],
    query: str = "",
    settings: Mapping[str, Any] | None = None,
    **params: Any,
) -> dict[str, Any]:
    words = query.split()
    return snippet_hit(record, beginnings(words), make_style(settings or {}, params, words))


def marked(text: str, query: str) -> str:
    words = query.split()
    return mark_text(text, "t", beginnings(words), make_style({}, {}, words))


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, list[str], dict[str, Any], list[Token]]:
    text = draw(texts)
    rules = draw(all_rules)
    found = tokens(text, rules, camel="t" in rules.camel)
    known = sorted({token.text for token in found} | {"zzz"})
    words = [
        word[: draw(st.integers(1, len(word)))]
        for word in draw(st.lists(st.sampled_from(known), max_size=4))
    ]
    return text, words, settings_of(rules), found


def plain(value: str) -> str:
    return value.replace(OPEN, "").replace(CLOSE, "").replace(CUT, "")


def pieces(value: str) -> list[str]:
    return [piece.split(CLOSE)[0] for piece in value.split(OPEN)[1:]]


@given(cases())
def test_without_its_tags_a_highlight_is_the_text(
    case: tuple[str, list[str], dict[str, Any], list[Token]],
) -> None:
    text, words, settings, found = case
    style = make_style(settings, TAGS, words)

    leaf = highlight_hit({"t": text}, beginnings(words), style)["t"]

    matches = [token for token in found if first_beginning(words, token.text)]
    nests = [mark for mark in leaf["value"] if mark in (OPEN, CLOSE)]
    assert plain(leaf["value"]) == text
    assert nests == [OPEN, CLOSE] * (len(nests) // 2)
    assert ("fullyHighlighted" in leaf) == bool(nests)
    # Parts of a joined word are marked where the whole word does not match.
    assert len(nests) // 2 >= len(matches)
    if not any(joiner in text for joiner in PERIODS + APOSTROPHES + SYMBOLS):
        assert len(nests) // 2 == len(matches)
        assert leaf["matchLevel"] == level_of(words, matches)


def level_of(words: Sequence[str], matches: Sequence[Token]) -> str:
    found = [match for token in matches if (match := first_beginning(words, token.text))]
    texts_found = {words[number] for match in found for number in match.words}
    if not texts_found:
        return "none"
    return "full" if texts_found == set(words) else "partial"


@given(cases())
def test_a_mark_contains_the_letters_that_matched(
    case: tuple[str, list[str], dict[str, Any], list[Token]],
) -> None:
    text, words, settings, _ = case
    style = make_style(settings, TAGS, words)

    value = mark_text(text, "t", beginnings(words), style)

    for piece in pieces(value):
        inside = "".join(split(piece, style.rules))
        assert any(inside.startswith(word) for word in words)


@given(cases(), st.integers(1, 6))
def test_a_snippet_is_a_part_of_the_text_with_most_of_the_query(
    case: tuple[str, list[str], dict[str, Any], list[Token]], size: int
) -> None:
    text, words, settings, found = case
    style = make_style(settings, TAGS | {"attributesToSnippet": [f"t:{size}"]}, words)

    value = snippet_hit({"t": text}, beginnings(words), style)["t"]["value"]

    inside = plain(value)
    matches = [first_beginning(words, token.text) for token in found]
    distinct = [
        len({words[n] for match in matches[start : start + size] if match for n in match.words})
        for start in range(max(1, len(found) - size + 1))
    ]
    assert any(
        value.startswith(CUT) == (start > 0)
        and value.endswith(CUT) == (start + len(inside) < len(text))
        for start in range(len(text) + 1)
        if text.startswith(inside, start)
    )
    assert (CUT in value) == (len(found) > size)
    assert len({piece_word(p, words, style.rules) for p in pieces(value)}) == max(distinct)


def piece_word(piece: str, words: Sequence[str], rules: TokenizerSettings) -> str:
    inside = "".join(split(piece, rules))
    return next(word for word in words if inside.startswith(word))


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("George Clooney", "clo", "George <em>Clo</em>oney"),
        ("George Clooney", "george clooney", "<em>George</em> <em>Clooney</em>"),
        ("Große Straße", "gros", "<em>Groß</em>e Straße"),
        ("Große Straße", "grosse strasse", "<em>Große</em> <em>Straße</em>"),
        ("Cafe\u0301s", "cafe", "<em>Cafe\u0301</em>s"),
        ("Éclair", "e", "<em>É</em>clair"),
        ("\ufb01ne", "f", "<em>\ufb01</em>ne"),
        ("\ufb01ne", "fin", "<em>\ufb01n</em>e"),
        ("İstanbul", "i", "<em>İ</em>stanbul"),
        ("👩🏽‍💻 coder 👍", "coder", "👩🏽‍💻 <em>coder</em> 👍"),
        ("don't", "dont", "<em>don't</em>"),
        ("<b>fox</b>", "fox", "<b><em>fox</em></b>"),
        ("fox", "", "fox"),
        ("", "fox", ""),
    ],
)
def test_marks_are_inserted_into_the_original_text(text: str, query: str, expected: str) -> None:
    assert marked(text, query) == expected


def test_the_tree_mirrors_the_record() -> None:
    record = {
        "objectID": "1",
        "title": "Red fox",
        "year": 1993,
        "price": 12.5,
        "sold": True,
        "gone": None,
        "cast": ["Ann", "Fox", None],
        "made": {"by": {"name": "Fox & Co"}, "in": []},
        "parts": [{"name": "Foxtail"}, {"name": "Leg"}],
    }

    tree = highlight(record, "fox")

    assert values_of(tree) == {
        "title": "Red <em>fox</em>",
        "year": "1993",
        "price": "12.5",
        "sold": "true",
        "cast": ["Ann", "<em>Fox</em>"],
        "made": {"by": {"name": "<em>Fox</em> & Co"}, "in": []},
        "parts": [{"name": "<em>Fox</em>tail"}, {"name": "Leg"}],
    }


def values_of(node: Any) -> Any:
    if isinstance(node, list):
        return [values_of(item) for item in node]
    if isinstance(node.get("value"), str):
        return node["value"]
    return {name: values_of(inner) for name, inner in node.items()}


@pytest.mark.parametrize(
    ("text", "leaf"),
    [
        ("a dog", {"value": "a dog", "matchLevel": "none", "matchedWords": []}),
        (
            "Fox, a fox",
            {
                "value": "<em>Fox</em>, a <em>fox</em>",
                "matchLevel": "partial",
                "fullyHighlighted": False,
                "matchedWords": ["fox"],
            },
        ),
        (
            "fox: red",
            {
                "value": "<em>fox</em>: <em>red</em>",
                "matchLevel": "full",
                "fullyHighlighted": True,
                "matchedWords": ["red", "fox"],
            },
        ),
        (
            "reddish foxes",
            {
                "value": "<em>red</em>dish <em>fox</em>es",
                "matchLevel": "full",
                "fullyHighlighted": False,
                "matchedWords": ["red", "fox"],
            },
        ),
    ],
)
def test_a_leaf_reports_its_match_level(text: str, leaf: dict[str, Any]) -> None:
    assert highlight({"t": text}, "red fox") == {"t": leaf}


RUNS = {
    "t": {
        "note": [Run((0,), ("note", "book"))],
        "redfox": [Run((0, 1), ("redfox",))],
        "no": [Run((1,), ("no", "te", "no"))],
    }
}


@pytest.mark.parametrize(
    ("text", "value", "level", "matched"),
    [
        ("A note, book!", "A [note], [book]!", "partial", ["notebook"]),
        ("note a book", "note a book", "none", []),
        ("book note note", "book note note", "none", []),
        ("Redfox", "[Redfox]", "full", ["notebook", "foxes"]),
        ("no te no te no", "[no] [te] [no] [te] [no]", "partial", ["foxes"]),
        ("notebook note book", "[noteb]ook [note] [book]", "partial", ["notebook"]),
    ],
)
def test_adjacent_matches_are_marked_only_where_they_are_adjacent(
    text: str, value: str, level: str, matched: list[str]
) -> None:
    style = make_style({}, {"highlightPreTag": "[", "highlightPostTag": "]"}, ["notebook", "foxes"])

    def marker(path: str) -> TextMatcher:
        return Beginnings(["noteb"], RUNS.get(path, {}))

    tree = highlight_hit({"t": text, "u": "note book"}, marker, style)

    leaf = tree["t"]
    assert (leaf["value"], leaf["matchLevel"], leaf["matchedWords"]) == (value, level, matched)
    assert tree["u"]["matchLevel"] == "none"


def test_a_word_that_is_marked_in_part_and_in_a_run_is_marked_whole() -> None:
    style = make_style({}, {}, ["red"])

    runs = {"redfox": [Run((0,), ("redfox", "den"))]}
    value = mark_text("redfox den", "t", beginnings(["red"], runs), style)

    assert value == "<em>redfox</em> <em>den</em>"


def test_a_snippet_counts_every_word_of_a_mark() -> None:
    style = make_style({}, {"attributesToSnippet": ["t:1"]}, ["red", "fox", "den"])
    runs = {"redfox": [Run((0, 1), ("redfox",))], "den": [Run((2,), ("den",))]}

    leaf = snippet_hit({"t": "a den, a redfox"}, beginnings([], runs), style)["t"]

    assert leaf == {"value": "…<em>redfox</em>", "matchLevel": "full"}


@pytest.mark.parametrize(
    ("settings", "highlights", "snippets"),
    [
        ({}, True, False),
        ({"attributesToHighlight": [], "attributesToSnippet": ["*"]}, False, True),
        ({"attributesToHighlight": ["a"], "unretrievableAttributes": ["a"]}, False, False),
    ],
)
def test_a_hit_has_no_highlights_without_selected_attributes(
    settings: dict[str, Any], highlights: bool, snippets: bool
) -> None:
    markers = make_markers(Query(), EffectiveParameters(settings, {}))

    assert ("_highlightResult" in markers, "_snippetResult" in markers) == (highlights, snippets)


def test_a_repeated_query_word_counts_once() -> None:
    leaf = highlight({"t": "fox"}, "fox fox")["t"]

    assert (leaf["matchLevel"], leaf["matchedWords"]) == ("full", ["fox"])


RECORD = {
    "objectID": "x",
    "_tags": ["x"],
    "a": "x",
    "b": {"c": "x", "d": {"e": "x"}, "f": 1},
    "g": [{"h": "x", "i": "x"}, {"i": "x"}],
    "j": [],
}


@pytest.mark.parametrize(
    ("settings", "params", "expected"),
    [
        ({}, {}, ["a", "b.c", "b.d.e", "b.f", "g.h", "g.i", "j"]),
        ({}, {"attributesToHighlight": ["*"]}, ["a", "b.c", "b.d.e", "b.f", "g.h", "g.i", "j"]),
        ({}, {"attributesToHighlight": []}, []),
        (
            {},
            {"attributesToHighlight": ["*", "objectID"]},
            ["objectID", "a", "b.c", "b.d.e", "b.f", "g.h", "g.i", "j"],
        ),
        ({}, {"attributesToHighlight": ["objectID", "_tags"]}, ["objectID", "_tags"]),
        ({}, {"attributesToHighlight": ["b"]}, ["b.c", "b.d.e", "b.f"]),
        ({}, {"attributesToHighlight": ["b.d"]}, ["b.d.e"]),
        ({}, {"attributesToHighlight": [" b.d.e", "g.h"]}, ["b.d.e", "g.h"]),
        ({"searchableAttributes": ["unordered(a)", "b.c , g.i"]}, {}, ["a", "b.c", "g.i"]),
        ({"searchableAttributes": ["a", "objectID"]}, {}, ["a", "objectID"]),
        ({"attributesToHighlight": ["a"]}, {}, ["a"]),
        ({"attributesToHighlight": ["a"]}, {"attributesToHighlight": ["j"]}, ["j"]),
        ({"attributesToHighlight": ["a"]}, {"attributesToHighlight": None}, ["a"]),
        ({"unretrievableAttributes": ["b", "g.h"]}, {}, ["a", "g.i", "j"]),
        (
            {"unretrievableAttributes": ["b"]},
            {"attributesToHighlight": ["b.d.e", "b.c", "b", "a"]},
            ["a"],
        ),
        (
            {"unretrievableAttributes": ["a"]},
            {"_seeUnretrievable": True, "attributesToHighlight": ["a"]},
            ["a"],
        ),
    ],
    ids=str,
)
def test_attributes_are_selected(
    settings: dict[str, Any], params: dict[str, Any], expected: list[str]
) -> None:
    assert paths_of(highlight(RECORD, "x", settings, **params)) == set(expected)


def paths_of(node: Any, path: str = "") -> set[str]:
    if node == [] or (isinstance(node, dict) and isinstance(node.get("value"), str)):
        return {path}
    if isinstance(node, list):
        return set().union(*(paths_of(item, path) for item in node))
    return set().union(
        *(paths_of(inner, f"{path}.{name}".strip(".")) for name, inner in node.items())
    )


def test_a_missing_attribute_has_no_highlight() -> None:
    assert highlight(RECORD, "x", attributesToHighlight=["b.d.zzz", "bb", "a.x"]) == {}


def test_items_of_an_array_keep_their_places() -> None:
    tree = highlight(RECORD, "x", attributesToHighlight=["g.h"])

    assert values_of(tree) == {"g": [{"h": "<em>x</em>"}, {}]}


def test_items_without_a_match_are_removed_on_request() -> None:
    record = {"a": ["x", "y"], "b": [{"c": "y"}, {"c": ["y", "x"]}], "d": ["y"], "e": "y"}

    tree = highlight(record, "x", restrictHighlightAndSnippetArrays=True)

    assert values_of(tree) == {
        "a": ["<em>x</em>"],
        "b": [{"c": ["<em>x</em>"]}],
        "d": [],
        "e": "y",
    }


def test_the_matcher_receives_the_path() -> None:
    asked = set()

    def listen(path: str) -> TextMatcher:
        asked.add(path)
        return Beginnings(["one"] if path == "c" else [], {})

    tree = highlight_hit({"a": {"b": ["One"]}, "c": "One"}, listen, make_style({}, {}, ["one"]))

    assert asked == {"a.b", "c"}
    assert [tree["a"]["b"][0]["matchLevel"], tree["c"]["matchLevel"]] == ["none", "full"]


def test_only_the_first_characters_are_marked() -> None:
    text = "fox " * (MAX_TEXT_CHARACTERS // 4) + "fox"
    cut_off = "x" * (MAX_TEXT_CHARACTERS - 3) + " fox"

    leaf = highlight({"t": text}, "fox")["t"]

    assert leaf["value"] == "<em>fox</em> " * (MAX_TEXT_CHARACTERS // 4) + "fox"
    assert leaf["fullyHighlighted"] is False
    assert marked(cut_off, "fo") == cut_off


@pytest.mark.parametrize(
    ("size", "query", "expected"),
    [
        (None, "", "one two three four five six seven eight nine ten…"),
        (3, "", "one two three…"),
        (3, "seven", "…six <em>seven</em> eight…"),
        (4, "seven", "…six <em>seven</em> eight nine…"),
        (3, "one", "<em>one</em> two three…"),
        (3, "twelve", "…ten, eleven; <em>twelve</em>!"),
        (3, "one ten eleven", "…<em>ten</em>, <em>eleven</em>; twelve!"),
        (2, "one three four", "…<em>three</em> <em>four</em>…"),
        (3, "t", "one <em>t</em>wo <em>t</em>hree…"),
        (1, "seven", "…<em>seven</em>…"),
        (12, "seven", "one two three four five six <em>seven</em> eight nine ten, eleven; twelve!"),
    ],
)
def test_a_snippet_shows_the_best_part(size: int | None, query: str, expected: str) -> None:
    record = {"t": "one two three four five six seven eight nine ten, eleven; twelve!"}
    entry = "t" if size is None else f"t:{size}"

    assert snippet(record, query, attributesToSnippet=[entry])["t"]["value"] == expected


def test_a_snippet_keeps_the_text_between_and_around_its_words() -> None:
    record = {"t": "(One) -- <<two>>... three."}

    assert snippet(record, attributesToSnippet=["t:3"])["t"]["value"] == record["t"]
    assert snippet(record, attributesToSnippet=["t:2"])["t"]["value"] == "(One) -- <<two…"


def test_a_snippet_reports_its_match_level() -> None:
    leaf = snippet({"t": "red a b c fox"}, "red fox", attributesToSnippet=["t:2"])["t"]

    assert leaf == {"value": "<em>red</em> a…", "matchLevel": "full"}


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([], {}),
        (["t"], {"t": "a b c d"}),
        (["t:1"], {"t": "a…"}),
        (["*:1"], {"t": "a…", "o": {"p": "a…", "q": ["a…", "e"]}}),
        (["*:2", "t:1"], {"t": "a…", "o": {"p": "a b…", "q": ["a b…", "e"]}}),
        (["o:2", "o.p:1"], {"o": {"p": "a…", "q": ["a b…", "e"]}}),
        (["o.q:1"], {"o": {"q": ["a…", "e"]}}),
    ],
    ids=str,
)
def test_each_attribute_has_its_own_length(entries: list[str], expected: dict[str, Any]) -> None:
    record = {"objectID": "a b", "t": "a b c d", "o": {"p": "a b c", "q": ["a b c", "e"]}}

    assert values_of(snippet(record, attributesToSnippet=entries)) == expected


@pytest.mark.parametrize("entry", ["t:x", "t:0", "t:-1", "t:", ":3", "", "t:1e3", "t:9999999999"])
def test_an_invalid_snippet_length_is_refused(entry: str) -> None:
    with pytest.raises(BadInput, match=r"attributesToSnippet\[1\]: expected name or name:words"):
        snippet({"t": "x"}, attributesToSnippet=["ok:5", entry])


def test_tags_and_ellipsis_are_chosen() -> None:
    settings = {
        "highlightPreTag": "<b>",
        "snippetEllipsisText": "...",
        "attributesToSnippet": ["t:1"],
    }

    tree = snippet({"t": "a b c"}, "b", settings, highlightPostTag="</b>")

    assert tree["t"]["value"] == "...<b>b</b>..."


@pytest.mark.parametrize(
    "value", [[[]] * 3, "x" * 5000, "x " * 10_000, "\ud800 x", {"": {"": "x"}}, 1e300, 10**30]
)
def test_unusual_values_are_mirrored(value: object) -> None:
    record = {"t": value}

    assert list(highlight(record, "x")) == ["t"]
    assert list(snippet(record, "x", attributesToSnippet=["*"])) == ["t"]


def test_values_nested_too_deep_are_omitted() -> None:
    deep: Any = "x"
    for _ in range(900):
        deep = [{"a": deep}]

    assert highlight({"t": deep}, "x").keys() == {"t"}


def test_results_are_kept_for_short_arguments_only() -> None:
    read = cache_if_short(lambda names: [*names])
    short, long = ("a", "b"), ("a" * MAX_CACHED_CHARACTERS, "b")

    assert read(short) is read(short)
    assert read(long) is not read(long)
    assert read(long) == [*long]

"""Hit cards, and the explanation of their ranks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.faces.editors.hit_cards import (
    MAX_SHOWN_ATTRIBUTES,
    POST,
    PRE,
    HitDisplay,
    draw_hits,
    explain_rank,
    list_attributes,
    list_searchable,
    ranking_of,
)
from svc_notebook.faces.editors.rpc import MAX_JS_INTEGER, plain

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)


def leaf(text: str, level: str = "full") -> dict[str, Any]:
    return {"value": text, "matchLevel": level, "matchedWords": []}


@given(st.dictionaries(st.text(max_size=8), JSON, max_size=6))
def test_any_record_can_be_drawn(record: dict[str, Any]) -> None:
    ranking = ranking_of({"customRanking": ["desc(a.b)"]}, {})
    hit = {**record, "objectID": "1", "_rankingInfo": {}}

    card, _ = draw_hits([hit, hit], ranking)
    found = explain_rank([hit, hit], ["", ""], 0, ranking)

    assert found["below"]
    assert card["id"] == "1"
    assert len(card["lines"]) <= MAX_SHOWN_ATTRIBUTES


def test_what_matched_comes_first_and_its_marks_stay_closed() -> None:
    text = "word " * 100 + f"{PRE}lamp{POST}" + " word" * 100
    hit = {
        "objectID": "1", "name": "Lamp", "size": "L", "text": text, "tags": ["a", "b"],
        "_highlightResult": {"text": leaf(text), "tags": [leaf("a", "none"), leaf("b", "none")]},
    }  # fmt: skip

    [card] = draw_hits([hit])

    assert card["title"] == "Lamp"
    assert [name for name, _ in card["lines"]] == ["text", "size", "tags"]
    assert f"{PRE}lamp{POST}" in card["lines"][0][1]
    assert len(card["lines"][0][1]) < 300


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        (f"a {PRE}lamp{POST} of oak", f"a {PRE}lamp{POST} of oak"),
        ("w" * 70 + f" {PRE}lamp{POST}", "w" * 70 + f" {PRE}lamp{POST}"),
        (
            "a table, " * 20 + f"a {PRE}lamp{POST}",
            "…a table, " + "a table, " * 3 + f"a {PRE}lamp{POST}",
        ),
        ("w" * 100 + f"{PRE}lamp{POST}", "…" + "w" * 40 + f"{PRE}lamp{POST}"),
    ],
    ids=["near", "near enough", "far, with words", "far, without"],
)
def test_a_match_is_visible_in_a_narrow_view(text: str, drawn: str) -> None:
    hit = {"objectID": "1", "text": text, "_highlightResult": {"text": leaf(text)}}

    [card] = draw_hits([hit])

    assert card["lines"] == [["text", drawn]]


@pytest.mark.parametrize(
    ("record", "searchable", "headline"),
    [
        ({"sku": "x", "body": "b", "title": "t"}, ["sku", "body"], "x"),
        ({"sku": "", "body": "b", "title": "t"}, ["sku", "body"], "b"),
        ({"size": "L", "title": "t"}, ["body"], "t"),
        ({"meta": {"title": "inside"}}, ["meta.title"], "inside"),
        ({"size": "L", "Name": "n"}, [], "n"),
        ({"size": "L", "product_name": "p"}, [], "p"),
        ({"size": "L", "fullTitle": "f"}, [], "f"),
        ({"size": "L"}, ["body"], "1"),
        ({}, [], "1"),
    ],
    ids=[
        "searchable", "filled", "named", "nested", "any case", "last word", "camel case",
        "objectID", "empty",
    ],
)  # fmt: skip
def test_a_hit_always_has_a_headline(
    record: dict[str, Any], searchable: list[str], headline: str
) -> None:
    [card] = draw_hits([{"objectID": "1", **record}], [], display=HitDisplay(searchable=searchable))

    assert card["title"] == headline
    assert headline not in [text for _, text in card["lines"]]


def test_a_headline_keeps_its_matches() -> None:
    text = f"oak {PRE}lamp{POST}"
    hit = {
        "objectID": "1", "meta": {"title": "oak lamp"},
        "_highlightResult": {"meta": {"title": leaf(text)}},
    }  # fmt: skip

    [card] = draw_hits([hit], [], display=HitDisplay(searchable=["meta.title"]))

    assert card["title"] == text


def test_searchable_attributes_are_read_without_modifiers() -> None:
    settings = {"searchableAttributes": ["unordered(title)", "brand, maker", "ordered(a.b)"]}

    assert list_searchable(settings) == ["title", "brand", "maker", "a.b"]
    assert list_searchable({"searchableAttributes": None}) == []


def test_chosen_attributes_are_shown_in_their_order_and_others_counted() -> None:
    hit = {"objectID": "1", "name": "lamp", "a": "x", "b": "y", "c": "z"}

    [card] = draw_hits([hit], [], display=HitDisplay(attributes=["c", "a", "absent"]))

    assert card["lines"] == [["c", "z"], ["a", "x"]]
    assert card["more"] == 1


def test_a_record_is_written_as_json_in_that_density_only() -> None:
    hit = {"objectID": "1", "name": "é", "size": 2, "_rankingInfo": {}}

    [card] = draw_hits([hit], [], display=HitDisplay("json", ["size"]))
    [plain_card] = draw_hits([hit], [])

    assert card["json"] == '{\n  "objectID": "1",\n  "size": 2\n}'
    assert "json" not in plain_card


def test_attributes_are_listed_by_how_many_hits_have_them() -> None:
    hits = [{"objectID": "1", "a": 1, "b": 2, "_x": 3}, {"objectID": "2", "b": 2}]

    assert list_attributes(hits) == ["b", "a"]


@pytest.mark.parametrize(
    ("record", "image"),
    [
        ({"image": "https://x.test/a"}, "https://x.test/a"),
        ({"Poster": "http://x.test/a"}, "http://x.test/a"),
        ({"any": "https://x.test/a.PNG?s=1"}, "https://x.test/a.PNG?s=1"),
        ({"images": ["https://x.test/a.webp"]}, "https://x.test/a.webp"),
        ({"image": "data:image/png;base64,AAAA"}, "data:image/png;base64,AAAA"),
        ({"image": "data:image/svg+xml;base64,AAAA"}, ""),
        ({"image": "javascript:alert(1)"}, ""),
        ({"url": "https://x.test/page"}, ""),
        ({"image": 5}, ""),
    ],
    ids=["named", "any case", "by its end", "list", "inside", "svg", "script", "page", "number"],
)
def test_a_picture_is_found(record: dict[str, Any], image: str) -> None:
    [card] = draw_hits([{"objectID": "1", **record}])

    assert card["image"] == image


SETTINGS = {"ranking": ["typo", "words", "attribute", "custom"], "customRanking": ["desc(stars)"]}
SEARCHABLE = {"searchableAttributes": ["title", "unordered(text)"]}


def ranked(object_id: str, stars: Any, **info: Any) -> dict[str, Any]:
    return {"objectID": object_id, "stars": stars, "_rankingInfo": {"words": 2, **info}}


def test_each_hit_explains_in_words_why_it_ranks_below_the_previous() -> None:
    hits = [
        ranked("p", 1, nbTypos=2, promoted=True),
        ranked("a", 20_000, nbTypos=0, firstMatchedWord=0),
        ranked("b", 20_000, nbTypos=0, firstMatchedWord=2),
        ranked("c", 20_000, nbTypos=0, firstMatchedWord=1000),
        ranked("d", 3, nbTypos=0, firstMatchedWord=1000),
        ranked("e", None, nbTypos=0, firstMatchedWord=1000),
        ranked("f", None, nbTypos=1),
        ranked("g", None, nbTypos=1),
    ]

    cards = draw_hits(hits, ranking_of({**SETTINGS, **SEARCHABLE}, {}), before=20)

    assert [card["why"] for card in cards] == [
        "",
        "Ranked lower: a rule pins the hit above",
        "Ranked lower by attribute: 3rd word of `title` vs 1st word of `title`",
        "Ranked lower by attribute: in `text` vs 3rd word of `title`",
        "Ranked lower by `stars` (highest first): 3 vs 20,000",
        "Ranked lower by `stars` (highest first): no `stars` vs 3",
        "Ranked lower by typos: 1 typo vs no typo",
        "Ranked lower by objectID: all criteria are equal",
    ]
    assert [card["place"] for card in cards] == list(range(21, 29))


@pytest.mark.parametrize(
    ("settings", "params", "criteria"),
    [
        ({"customRanking": ["asc(a)"]}, {}, ["exact", "asc(a)"]),
        (
            {"ranking": ["desc(b)", "custom", "typo"], "customRanking": ["asc(a)"]},
            {},
            ["asc(a)", "typo"],
        ),
        ({}, {}, ["attribute", "exact"]),
        ({"customRanking": ["asc(a)"]}, {"ranking": ["words", "desc(b)"]}, ["words", "desc(b)"]),
    ],
    ids=["custom", "own ranking", "default", "parameter"],
)
def test_the_criteria_end_as_settings_and_parameters_say(
    settings: dict[str, Any], params: dict[str, Any], criteria: list[str]
) -> None:
    assert [step.name for step in ranking_of(settings, params).criteria][-3:] == [*criteria, "text"]


def test_a_rank_is_explained_beside_both_neighbours() -> None:
    hits = [ranked("a", 5, nbTypos=0), ranked("b", 4, nbTypos=0), ranked("c", 9, nbTypos=1)]

    found = explain_rank(hits, ["A", "B", "C"], 1, ranking_of(SETTINGS, {}), before=40)

    assert found["above"] == {
        "id": "a", "title": "A", "place": 41, "decisive": "desc(stars)",
        "reason": "`stars` (highest first): 5 vs 4; higher values rank higher",
    }  # fmt: skip
    assert found["below"]
    assert found["below"]["reason"] == "Typos: no typo vs 1 typo; fewer typos rank higher"
    assert found["below"]["place"] == 43
    assert [row["name"] for row in found["rows"]] == [
        "typos", "query words", "attribute", "`stars` (highest first)",
    ]  # fmt: skip
    assert found["rows"][0]["values"] == ["no typo", "no typo", "1 typo"]


def test_the_first_hit_of_a_page_has_nothing_above_and_a_pin_is_named() -> None:
    hits = [ranked("a", 5, promoted=True), ranked("b", 4)]

    found = explain_rank(hits, ["A", "B"], 0, ranking_of(SETTINGS, {}))

    assert found["above"] is None
    assert found["below"]
    assert found["below"]["decisive"] == "promoted"
    assert found["rows"][0]["values"] == ["", "pinned by a rule", "not pinned"]


@given(JSON)
def test_plain_values_survive_a_browser(value: Any) -> None:
    import json

    text = json.dumps(plain(value), allow_nan=False)

    assert json.loads(text) == plain(value)


def test_numbers_a_browser_would_round_become_text() -> None:
    most = MAX_JS_INTEGER

    assert plain([most, most + 1, -most - 1, float("nan"), {1: (2,)}]) == [
        most, str(most + 1), str(-most - 1), None, {"1": [2]},
    ]  # fmt: skip

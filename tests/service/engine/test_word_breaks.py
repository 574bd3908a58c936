"""Words of scripts without blanks, and traditional Chinese, through the index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from svc_notebook.core.tokenization import word_breaks
from svc_notebook.core.tokenization.tokenizer import (
    TokenizerSettings,
    fold,
    positions,
    split,
    split_all,
    tokens,
)
from svc_notebook.service.engine import Index, SearchResult

JAPANESE = {"indexLanguages": ["ja"]}
JAPANESE_TEXTS = [
    "東京都の天気予報",
    "自転車置き場",
    "食べられませんでした",
    "ノートパソコン用バッグ",
    "スマートフォンケース",
    "北海道産じゃがいも",
    "味噌ラーメンセット",
    "電動歯ブラシの替えブラシ",
    "赤ちゃんのおもちゃ",
    "新宿駅周辺のホテル",
]
THAI_TEXTS = [
    "โทรศัพท์มือถือราคาถูก",
    "รถยนต์ไฟฟ้า",
    "เสื้อยืดผู้ชาย",
    "กรุงเทพมหานคร",
    "ร้านอาหารญี่ปุ่น",
    "คอมพิวเตอร์โน้ตบุ๊ก",
    "หนังสือเรียนภาษาอังกฤษ",
    "โรงแรมใกล้สนามบิน",
]


@pytest.fixture
def without_dictionaries(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The extra `languages` is not installed."""
    with released(monkeypatch, ""):
        yield


@contextmanager
def released(monkeypatch: pytest.MonkeyPatch, release: str) -> Iterator[None]:
    """All dictionaries have another release, or none."""
    with monkeypatch.context() as patch:
        patch.setattr(word_breaks, "find_release", lambda language: release)
        _forget_releases()
        yield
    _forget_releases()


def _forget_releases() -> None:
    word_breaks.choose_languages.cache_clear()
    word_breaks.find_missing.cache_clear()


def make_index(texts: Sequence[str], settings: Mapping[str, Any]) -> Index:
    index = Index({"searchableAttributes": ["title"], **settings})
    index.put([{"objectID": text, "title": text} for text in texts])
    return index


def search(index: Index, query: str, **params: Any) -> SearchResult:
    return index.search(
        {"query": query, **params}, lambda ids: [{"objectID": text, "title": text} for text in ids]
    )


def found(texts: Sequence[str], query: str, settings: Mapping[str, Any], **params: Any) -> set[str]:
    hits = search(make_index(texts, settings), query, **params).hits
    return {hit["objectID"] for hit in hits}


def test_a_japanese_word_is_not_found_inside_another() -> None:
    texts = ["東京都", "京都府"]

    assert found(texts, "京都", JAPANESE) == {"京都府"}
    assert found(texts, "東京", JAPANESE) == {"東京都"}
    assert found(texts, "都", JAPANESE) == {"東京都"}


def test_japanese_is_searched_by_character_unless_it_is_declared() -> None:
    assert found(["東京都", "京都府"], "京都", {}) == {"東京都", "京都府"}


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("โทรศัพท์มือถือราคาถูก", "มือ"),
        ("โทรศัพท์มือถือราคาถูก", "ราคา"),
        ("รถยนต์ไฟฟ้า", "ไฟฟ้า"),
        ("iPhoneรุ่นใหม่", "ใหม่"),
        ("iPhoneรุ่นใหม่", "iphone"),
        ("ພາສາລາວ", "ລາວ"),
        ("ខ្ញុំស្រឡាញ់ប្រទេសកម្ពុជា", "កម្ពុជា"),
        ("မြန်မာဘာသာစကား", "စကား"),
    ],
)
def test_a_word_inside_a_text_without_blanks_is_found(text: str, query: str) -> None:
    assert found([text], query, {}, queryType="prefixNone") == {text}


def test_only_the_declared_languages_apply() -> None:
    assert found(["รถยนต์ไฟฟ้า"], "ไฟฟ้า", {"indexLanguages": ["en"]}) == set()
    assert found(["รถยนต์ไฟฟ้า"], "ไฟฟ้า", {"indexLanguages": ["en", "th"]}) == {"รถยนต์ไฟฟ้า"}


@pytest.mark.parametrize(
    ("texts", "settings"),
    [(JAPANESE_TEXTS, JAPANESE), (THAI_TEXTS, {})],
    ids=["Japanese", "Thai"],
)
def test_a_text_is_found_while_it_is_typed(texts: Sequence[str], settings: dict[str, Any]) -> None:
    index = make_index(texts, settings)

    lost = [
        text[:length]
        for text in texts
        for length in range(1, len(text) + 1)
        if text not in {hit["objectID"] for hit in search(index, text[:length]).hits}
    ]

    assert lost == []


def test_a_word_is_highlighted_where_it_is() -> None:
    index = make_index(["😀 東京都の天気 (京都)"], JAPANESE)

    [hit] = search(index, "天気 京都", attributesToSnippet=["title:2"]).hits

    assert hit["_highlightResult"]["title"]["value"] == "😀 東京都の<em>天気</em> (<em>京都</em>)"
    assert hit["_snippetResult"]["title"]["value"] == "…<em>天気</em> (<em>京都</em>)"


def test_a_typed_beginning_is_highlighted() -> None:
    [hit] = search(make_index(["โทรศัพท์มือถือ"], {}), "โทรศัพ").hits

    assert hit["_highlightResult"]["title"]["value"] == "<em>โทรศัพ</em>ท์มือถือ"


def test_phrases_and_excluded_words_are_words() -> None:
    texts = ["京都の天気", "天気の京都", "東京都"]
    syntax = {"advancedSyntax": True}

    assert found(texts, '"京都の天気"', JAPANESE, **syntax) == {"京都の天気"}
    assert found(texts, "-京都", JAPANESE, **syntax) == {"東京都"}


def test_neighbouring_words_are_next_to_each_other() -> None:
    index = make_index(["京都の天気"], JAPANESE)

    [hit] = search(index, "京都の天気", getRankingInfo=True).hits

    assert hit["_rankingInfo"]["words"] == 3
    assert hit["_rankingInfo"]["proximityDistance"] == 2


@pytest.mark.sampled(quick=2)
@pytest.mark.parametrize(
    "text",
    [
        "東京都1号店(京都)",
        "ｶﾒﾗ店 ㌔ 葛\U000e0100城市",
        "がぎ e\u0301東\u0301京 L'eau京都",
        "iPhoneรุ่นใหม่500บาท ไทย.com",
        "ไทย日本",
        "日本語" * 7_000,
        "東京",
    ],
    ids=["numbers", "widths", "accents", "Latin", "scripts", "long", "one"],
)
def test_words_are_the_same_however_they_are_read(text: str) -> None:
    rules = TokenizerSettings.of({"indexLanguages": ["ja", "th"]})

    words = split(text, rules)

    assert [token.text for token in tokens(text, rules)] == words
    assert split_all([text, text], rules) == [*words, "\x01", *words, "\x01"]
    for token in tokens(text, rules):
        assert fold(text[token.start : token.end], rules).split()
    assert [position.tokens[0].text for position in positions(text, rules)][:1] == words[:1]


def test_traditional_and_simplified_chinese_match() -> None:
    texts = ["電腦遊戲", "电脑桌"]

    assert found(texts, "电脑", {}) == set(texts)
    assert found(texts, "電腦", {}) == set(texts)
    [hit] = search(make_index(["電腦遊戲"], {}), "游戏").hits
    assert hit["_highlightResult"]["title"]["value"] == "電腦<em>遊</em><em>戲</em>"


def test_a_custom_normalization_precedes_simplification() -> None:
    settings = {"customNormalization": {"default": {"電": "電"}}, "typoTolerance": False}

    assert found(["電"], "電", settings) == {"電"}


@pytest.mark.usefixtures("without_dictionaries")
def test_without_dictionaries_every_character_or_run_is_a_word() -> None:
    assert found(["東京都", "京都府"], "京都", JAPANESE) == {"東京都", "京都府"}
    assert found(["รถยนต์ไฟฟ้า"], "ไฟฟ้า", {}) == set()
    assert word_breaks.find_missing(("ja", "en", "th")) == ("ja", "th")


def test_files_are_read_again_if_other_words_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_index(["東京都"], JAPANESE).save(tmp_path, 7)
    settings = {"searchableAttributes": ["title"], **JAPANESE}

    with released(monkeypatch, "another"):
        assert Index.load(tmp_path, settings) is None

    assert Index.load(tmp_path, settings) is not None

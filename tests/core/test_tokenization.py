"""Tokenization: folding, splitting, offsets."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.core.tokenization import character_table
from svc_notebook.core.tokenization.character_table import BREAK
from svc_notebook.core.tokenization.joined_words import (
    count_positions,
    distinct_words,
    split_parts,
)
from svc_notebook.core.tokenization.tokenizer import (
    TokenizerSettings,
    end_of_letters,
    find_tokens,
    fold,
    positions,
    split,
    split_all,
    split_camel,
    tokens,
)

PLAIN = TokenizerSettings()
HOSTILE = st.text(
    st.characters()
    | st.sampled_from("aZ09'.\u2019®\uff0e\x04 -_+#éÉßİıﬁ½\u0301\u200d\u200b\ufe0f")
    | st.sampled_from("東京カ한हिक्याΣσς\x01\x1c\u2028")
    | st.sampled_from("\u1109\u1165\u11af\u09c7\u09be\u0bc6\u0bbe㍿\u0661")
)
RULES = st.builds(
    TokenizerSettings,
    st.sampled_from(["", "+#", "'", ".", "é", "-_", " ", BREAK]),
    st.sampled_from(["", "é", "øÅ", " -", BREAK]),
    st.just(frozenset()),
    st.sampled_from([(), (("ä", "ae"), ("a", "b"))]),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't stop-me now_2", ["dont", "stop", "me", "now", "2"]),
        ("Café cafe\u0301 CAFÉ", ["cafe", "cafe", "cafe"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("İstanbul Łódź Ærø", ["istanbul", "lodz", "aero"]),
        ("Σίσυφος", ["σισυφοσ"]),
        ("東京 tower", ["东", "京", "tower"]),
        ("हिन्दी", ["हिन्दी"]),
        ("co\u00adoperate fa\u200dmily", ["cooperate", "family"]),
        ("zero\u200bwidth", ["zero", "width"]),
        ("ﬁne ½", ["fine", "12"]),
        ("\u0149a", ["na"]),
        ("كتـــاب مدرسة مدرسه على", ["كتاب", "مدرسه", "مدرسه", "علي"]),
        ("ｶﾞｲﾄﾞ ガイド", ["カ", "イ", "ト", "カ", "イ", "ト"]),
        ("か\u3099 が", ["か", "か"]),
        ("\u1109\u1165\u110b\u116e\u11af서울", ["서울서울"]),
        ("\u09ac\u09c7\u09be বো", ["বো", "বো"]),
        ("㍿ ㌔", ["株", "式", "会", "社", "キ", "ロ"]),
        ("١٢٣ ۱۲ ९", ["123", "12", "9"]),
        ("ש\u05f3ק", ["שק"]),
        ("", []),
        ("'' -- ?!", []),
    ],
)
def test_text_becomes_folded_words(text: str, expected: list[str]) -> None:
    assert split(text, PLAIN) == expected


def test_a_separator_to_index_is_a_word_of_its_own() -> None:
    assert split("C++ and C#", TokenizerSettings("+#")) == ["c", "+", "+", "and", "c", "#"]


def test_a_kept_diacritic_makes_another_word() -> None:
    assert split("Être être etre", TokenizerSettings(diacritics="ê")) == ["être", "être", "etre"]


def test_a_kept_diacritic_is_kept_in_decomposed_text() -> None:
    assert split("cafe\u0301", TokenizerSettings(diacritics="é")) == ["café"]


def test_a_kept_voicing_mark_makes_another_word() -> None:
    assert split("で て", TokenizerSettings(diacritics="で")) == ["で", "て"]


def test_a_replaced_character_is_replaced_once() -> None:
    rules = TokenizerSettings(replacing=(("a", "b"), ("ä", "ae")))

    assert split_all(["Mädchen a"], rules) == ["maedchen", "b", BREAK]


def test_camel_case_is_split_equally_with_and_without_offsets() -> None:
    text = "camelCaseWord HTTPServer"

    assert [token.text for token in tokens(text, PLAIN, camel=True)] == split(
        split_camel(text), PLAIN
    )
    assert tokens(text, PLAIN, camel=True)[1] == ("case", 5, 9)


@given(HOSTILE, RULES)
def test_words_and_tokens_agree(text: str, rules: TokenizerSettings) -> None:
    assert [token.text for token in tokens(text, rules)] == split(text, rules)


@given(HOSTILE)
def test_words_and_tokens_agree_on_camel_case(text: str) -> None:
    assert [token.text for token in tokens(text, PLAIN, camel=True)] == split(
        split_camel(text), PLAIN
    )


@given(st.lists(HOSTILE), RULES)
def test_a_batch_is_split_as_its_texts_one_by_one(
    texts: list[str], rules: TokenizerSettings
) -> None:
    expected = [word for text in texts for word in [*split(text, rules), BREAK]]

    assert split_all(texts, rules) == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(character_table, "MAX_BLOCK_CHARACTERS", 3)
        assert split_all(texts, rules) == expected


@given(HOSTILE, RULES)
def test_offsets_rise_and_never_overlap(text: str, rules: TokenizerSettings) -> None:
    edges = [edge for token in tokens(text, rules) for edge in token[1:]]

    assert edges == sorted(edges)
    assert all(token.start < token.end for token in tokens(text, rules))


JOINED = st.text("aAb'é .5", max_size=12) | st.text("abcdefgh. '", max_size=30) | HOSTILE


@given(JOINED, RULES, st.booleans(), st.data())
def test_wanted_tokens_have_the_same_offsets_as_among_all(
    text: str, rules: TokenizerSettings, camel: bool, data: st.DataObject
) -> None:
    found = {token for at in positions(text, rules, camel=camel) for token in at.tokens}
    words = sorted({token.text for token in found} | {"b"})
    wanted = data.draw(st.sets(st.sampled_from(words)))

    chosen = find_tokens(text, rules, wanted, camel=camel)

    assert sorted(chosen) == sorted(token for token in found if token.text in wanted)
    assert [token.start for token in chosen] == sorted(token.start for token in chosen)


@given(JOINED, RULES)
def test_positions_have_the_words_that_are_indexed(text: str, rules: TokenizerSettings) -> None:
    folded, found = fold(text, rules), positions(text, rules)

    assert count_positions(folded) == len(found)
    indexed = {token.text for at in found for token in at.tokens}
    assert distinct_words(folded) == (indexed, len(split(text, rules)))
    assert ["".join(parts) for parts in split_parts(folded)] == split(text, rules)
    edges = [edge for at in found for edge in (at.start, at.end)]
    assert edges == sorted(edges)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hello.world", [["helloworld", "hello"], ["helloworld", "world"]]),
        ("L'eau", [["leau", "eau"]]),
        ("L\u2019eau", [["leau", "eau"]]),
        ("O'Reilly", [["oreilly", "reilly"]]),
        ("B.C.E. and U.S.", [["bce"], ["and"], ["us"]]),
        ("m.55", [["m55"]]),
        ("5.mm 2.5", [["5"], ["mm"], ["2"], ["5"]]),
        ("80's 5'10", [["80s"], ["510"]]),
        ("rock'n'roll", [["rocknroll", "rock"], ["rocknroll", "roll"]]),
        ("one.two.six", [["onetwosix", "one"], ["two"], ["onetwosix", "six"]]),
        ("Coca®Cola Nike®", [["cocacola", "coca"], ["cocacola", "cola"], ["nike"]]),
        ("wait...what", [["wait"], ["what"]]),
        ("'tis. .net", [["tis"], ["net"]]),
        ("東.京", [["东"], ["京"]]),
    ],
)
def test_words_are_joined_around_periods_and_apostrophes(
    text: str, expected: list[list[str]]
) -> None:
    assert [[token.text for token in at.tokens] for at in positions(text, PLAIN)] == expected


def test_a_separator_to_index_does_not_join() -> None:
    assert split("a.b c'd", TokenizerSettings(".")) == ["a", ".", "b", "cd"]


@given(HOSTILE, RULES)
def test_a_token_cut_out_of_its_text_is_the_same_token(text: str, rules: TokenizerSettings) -> None:
    for token in tokens(text, rules):
        assert split(text[token.start : token.end], rules) == [token.text]


def test_punctuation_kept_as_a_diacritic_moves_no_word() -> None:
    found = find_tokens("a-b a", TokenizerSettings(diacritics="-"), {"a"})

    assert found == [("a", 0, 1), ("a", 4, 5)]


@given(HOSTILE)
def test_folding_what_is_folded_changes_nothing(text: str) -> None:
    once = split(text, PLAIN)

    assert split(" ".join(once), PLAIN) == once


@given(st.text(st.characters(codec="utf-8")) | HOSTILE)
def test_composed_and_decomposed_text_have_the_same_words(text: str) -> None:
    assert split(unicodedata.normalize("NFD", text), PLAIN) == split(
        unicodedata.normalize("NFC", text), PLAIN
    )


@pytest.mark.parametrize(
    ("text", "letters", "expected"),
    [
        ("strasse", 3, "str"),
        ("straße", 6, "straß"),
        ("Cafe\u0301s", 4, "Cafe\u0301"),
        ("ﬁne", 1, "ﬁ"),
        ("don't", 4, "don't"),
        ("\u1109\u1165\u110b\u116e\u11af", 1, "\u1109\u1165"),
    ],
)
def test_the_first_letters_of_a_token_are_located_in_the_original_text(
    text: str, letters: int, expected: str
) -> None:
    [token] = tokens(text, PLAIN)

    assert text[: end_of_letters(text, token, letters, PLAIN)] == expected

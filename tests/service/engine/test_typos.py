"""Typo tolerance: which words match another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.service.engine.term_dictionary import TermDictionary
from svc_notebook.service.engine.text.typos import (
    FAR_TYPOS,
    MAX_WORD_LETTERS,
    Vocabulary,
    typos_between,
)

LETTERS = st.sampled_from(["ab", "abcde", "aé\U00010330"]).flatmap(
    lambda letters: st.text(st.sampled_from(letters), min_size=1, max_size=MAX_WORD_LETTERS + 3)
)


@pytest.mark.parametrize(
    ("word", "other", "typos"),
    [
        ("lamp", "lamp", 0),
        ("lamp", "lam", 1),
        ("lamp", "lampe", 1),
        ("lamp", "lump", 1),
        ("lamp", "lmap", 1),
        ("lamp", "lumps", 2),
        ("lamp", "damp", 2),
        ("lamp", "amp", 2),
        ("lamp", "clamp", 2),
        ("lamp", "almp", 2),
        ("lamp", "dump", FAR_TYPOS),
        ("lamp", "champ", FAR_TYPOS),
    ],
)
def test_a_typo_in_the_first_letter_counts_two_and_allows_no_other(
    word: str, other: str, typos: int
) -> None:
    assert typos_between(word, other, 2, prefix=False)[0] == typos


@pytest.mark.parametrize(
    ("word", "other", "expected"),
    [
        ("lam", "lampshade", (0, 3)),
        ("lamq", "lampshade", (1, 4)),
        ("lmap", "lampshade", (1, 4)),
        ("lap", "lampshade", (1, 3)),
        ("xamp", "lampshade", (2, 4)),
        ("amp", "lampshade", (2, 4)),
    ],
)
def test_a_prefix_is_compared_with_every_prefix(
    word: str, other: str, expected: tuple[int, int]
) -> None:
    assert typos_between(word, other, 2, prefix=True) == expected


def test_a_very_long_word_allows_no_typos() -> None:
    word = "a" * (MAX_WORD_LETTERS + 1)

    assert typos_between(word, word + "b", 2, prefix=False)[0] == FAR_TYPOS


@given(st.lists(LETTERS), LETTERS, st.sampled_from([1, 2]), st.booleans())
def test_a_vocabulary_search_equals_pairwise_comparison(
    words: list[str], word: str, allowed: int, prefix: bool
) -> None:
    ascending = sorted({*words, word[:-1] or "b", word[1:] or "b", f"a{word}"})
    near = {
        other: typos
        for other in ascending
        if 0 < (typos := typos_between(word, other, allowed, prefix)[0]) <= allowed
    }

    found = Vocabulary.of(TermDictionary.of(ascending)).misspelled(word, allowed, prefix)

    names = [ascending[place] for place in found.words.tolist()]
    assert dict(zip(names, found.typos.tolist(), strict=True)) == near

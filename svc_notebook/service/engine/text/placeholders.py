"""Placeholders: tokens like `<number>` in a text, which stand for any of a list of words.

Every text in angle brackets is indexed twice at the same place: as the words it has, and as words
of its own, with a seal before the first and the last. So a placeholder is told from the plain
word, and one that is declared later needs no rebuilding. Which of them stand for something is
known to the synonyms alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from svc_notebook.service.engine.text.tokenization import TokenizerSettings, split

# Seals are no part of any word; two letters of them keep the typo rule from reaching over.
FIRST, LAST, ONLY = "\x02\x03", "\x03\x02", "\x02\x02"
MAX_PLACEHOLDER_LETTERS = 100
_BRACKETED = re.compile(rf"<([^<>]{{1,{MAX_PLACEHOLDER_LETTERS}}})>")


class Sealed(NamedTuple):
    """A bracketed token of a text: its words, and which word of the text the first is."""

    words: tuple[str, ...]
    first: int


def seal(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a placeholder as they are indexed."""
    if len(words) < 2:
        return tuple(ONLY + word for word in words)
    return FIRST + words[0], *words[1:-1], LAST + words[-1]


def is_sealed(words: Sequence[str]) -> bool:
    """Whether the words are a placeholder's."""
    return words[0].startswith((FIRST, ONLY))


def unseal(word: str) -> str:
    """Return a word as it stands in the text."""
    return word.strip("\x02\x03")


def find_sealed(text: str, rules: TokenizerSettings) -> Iterator[Sealed]:
    """Return the bracketed tokens of a text."""
    breaks = all(rules.table[ord(bracket)].endswith(" ") for bracket in "<>")
    if "<" not in text or not breaks:
        return
    for found in _BRACKETED.finditer(text):
        if words := split(found[1], rules):
            first = len(split(text[: found.start(1)], rules))
            yield Sealed(seal(words), first)

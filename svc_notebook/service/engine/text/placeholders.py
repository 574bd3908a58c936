"""Placeholders: tokens such as `<number>` in a text that match any of a list of words.

Every text in angle brackets is indexed twice at the same position: as its plain words, and as
sealed words, with a marker before the first and after the last. The markers distinguish a
placeholder from plain words, and a placeholder that is declared later needs no reindexing. Only the
synonyms define which placeholders match something.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from svc_notebook.service.engine.text.tokenization import TokenizerSettings, split

# No word contains the markers; two characters each put them beyond the typo tolerance.
FIRST, LAST, ONLY = "\x02\x03", "\x03\x02", "\x02\x02"
MAX_PLACEHOLDER_LETTERS = 100
_BRACKETED = re.compile(rf"<([^<>]{{1,{MAX_PLACEHOLDER_LETTERS}}})>")


class BracketedToken(NamedTuple):
    """A bracketed token of a text: its sealed words, and the position of the first in the text."""

    words: tuple[str, ...]
    first: int


def seal(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a placeholder as they are indexed."""
    if len(words) < 2:
        return tuple(ONLY + word for word in words)
    return FIRST + words[0], *words[1:-1], LAST + words[-1]


def is_sealed(words: Sequence[str]) -> bool:
    """Return whether the words are those of a placeholder."""
    return words[0].startswith((FIRST, ONLY))


def unseal(word: str) -> str:
    """Return a word without its markers."""
    return word.strip("\x02\x03")


def find_sealed(text: str, rules: TokenizerSettings) -> Iterator[BracketedToken]:
    """Return the bracketed tokens of a text."""
    breaks = all(rules.table[ord(bracket)].endswith(" ") for bracket in "<>")
    if "<" not in text or not breaks:
        return
    for found in _BRACKETED.finditer(text):
        if words := split(found[1], rules):
            first = len(split(text[: found.start(1)], rules))
            yield BracketedToken(seal(words), first)

"""Placeholders: tokens such as `<number>` in a text that match any of a list of words.

Every text in angle brackets is indexed twice at the same position: as its words, and as the same
words with a marker before the first and after the last. The markers distinguish a placeholder from
ordinary words, and a placeholder that is declared later needs no reindexing. Only the synonyms
define which placeholders match something.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from svc_notebook.tokenization.joined_words import count_positions
from svc_notebook.tokenization.tokenizer import TokenizerSettings, fold, split

# No word contains the markers; two characters each put them beyond the typo tolerance.
FIRST_MARKER, LAST_MARKER, ONLY_MARKER = "\x02\x03", "\x03\x02", "\x02\x02"
MAX_PLACEHOLDER_LETTERS = 100
_BRACKETED = re.compile(rf"<([^<>]{{1,{MAX_PLACEHOLDER_LETTERS}}})>")


class BracketedToken(NamedTuple):
    """A bracketed token of a text: its marked words, and the position of the first in the text."""

    words: tuple[str, ...]
    first: int


def mark_placeholder(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a placeholder as they are indexed."""
    if len(words) < 2:
        return tuple(ONLY_MARKER + word for word in words)
    return FIRST_MARKER + words[0], *words[1:-1], LAST_MARKER + words[-1]


def is_placeholder(words: Sequence[str]) -> bool:
    """Return whether the words are those of a placeholder."""
    return words[0].startswith((FIRST_MARKER, ONLY_MARKER))


def remove_markers(word: str) -> str:
    """Return a word without its markers."""
    return word.strip("\x02\x03")


def find_placeholders(text: str, rules: TokenizerSettings) -> Iterator[BracketedToken]:
    """Return the bracketed tokens of a text."""
    breaks = all(rules.table[ord(bracket)].endswith(" ") for bracket in "<>")
    if "<" not in text or not breaks:
        return
    for found in _BRACKETED.finditer(text):
        if words := split(found[1], rules):
            first = count_positions(fold(text[: found.start(1)], rules))
            yield BracketedToken(mark_placeholder(words), first)

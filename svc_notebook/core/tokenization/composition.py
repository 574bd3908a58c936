"""Composition of decomposed characters: the same text has the same words in NFC and NFD.

File names of macOS and some input methods write syllables of Hangul, vowel signs of India and
letters with accents as several characters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple


class LocatedText(NamedTuple):
    """A text made of another one, with the start and end offset there of each of its characters."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def part(self, start: int, end: int) -> LocatedText:
        """Return a part of the text."""
        return LocatedText(self.text[start:end], self.starts[start:end], self.ends[start:end])


def compose(text: str) -> str:
    """Return a text with its characters composed (NFC)."""
    if unicodedata.is_normalized("NFC", text):
        return text
    return unicodedata.normalize("NFC", text)


def locate_composed(text: str) -> LocatedText:
    """Return `compose(text)` with the offsets of its characters in the text."""
    if unicodedata.is_normalized("NFC", text):
        return LocatedText(text, range(len(text)), range(1, len(text) + 1))
    composed = [
        (letter, start, end)
        for start, end in _find_sequences(text)
        for letter in unicodedata.normalize("NFC", text[start:end])
    ]
    letters, starts, ends = zip(*composed, strict=True)
    return LocatedText("".join(letters), starts, ends)


def _find_sequences(text: str) -> Iterator[tuple[int, int]]:
    """Return the start and end of each sequence of characters that are composed together."""
    start = 0
    for end in range(1, len(text)):
        if not _is_continued(text[start:end], text[end]):
            yield start, end
            start = end
    yield start, len(text)


def _is_continued(sequence: str, character: str) -> bool:
    """Return whether a character is composed, or ordered, with the sequence before it."""
    if unicodedata.combining(character):
        return True
    composed = unicodedata.normalize("NFC", sequence)
    return unicodedata.normalize("NFC", composed + character) != composed + (
        unicodedata.normalize("NFC", character)
    )

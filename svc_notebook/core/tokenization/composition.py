"""Composition of decomposed characters: the same text has the same words in NFC and NFD.

File names of macOS and some input methods write syllables of Hangul, vowel signs of India and
letters with accents as several characters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import NamedTuple


class Composed(NamedTuple):
    """A composed character, with its start and end offsets in the original text."""

    character: str
    start: int
    end: int


def compose(text: str) -> str:
    """Return a text with its characters composed (NFC)."""
    if unicodedata.is_normalized("NFC", text):
        return text
    return unicodedata.normalize("NFC", text)


def locate_composed(text: str) -> list[Composed]:
    """Return the characters of `compose(text)` with their offsets in the text."""
    if unicodedata.is_normalized("NFC", text):
        return [Composed(letter, at, at + 1) for at, letter in enumerate(text)]
    return [
        Composed(letter, start, end)
        for start, end in _find_sequences(text)
        for letter in unicodedata.normalize("NFC", text[start:end])
    ]


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

"""Character tables: what each character of a text is folded to, and composition before that.

Letters are lowercase and without accents; separators are blanks; periods and apostrophes are the
joiners of `joined_words`. Decomposed characters are composed, so that the same text has the same
words in NFC and NFD: file names of macOS and some input methods write syllables of Hangul, vowel
signs of India and letters with accents as several characters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from svc_notebook.core.tokenization.joined_words import (
    APOSTROPHES,
    JOINERS,
    LINK,
    PERIOD,
    PERIODS,
    SYMBOLS,
)

# The separator between two texts that are folded together; never part of a word.
BREAK = "\x01"

# Letters that Unicode does not decompose, and their usual replacements.
UNDECOMPOSED_LETTERS = {
    "æ": "ae",
    "œ": "oe",
    "ø": "o",
    "ł": "l",
    "đ": "d",
    "ð": "d",
    "þ": "th",
    "ħ": "h",
    "\u0131": "i",
    "\u0629": "\u0647",
    "\u0649": "\u064a",
}
UTF_32 = "utf-32-le"
# Longer texts are translated in blocks, which take 40 to 60 bytes a character.
MAX_BLOCK_CHARACTERS = 250_000
# The Arabic tatweel only stretches a word.
TATWEEL = "\u0640"
# The combining class of the Japanese voicing marks.
KANA_VOICING = 8
VARIATION_SELECTORS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
CHINESE_CHARACTERS = (
    range(0x3400, 0x4DC0),
    range(0x4E00, 0xA000),
    range(0xF900, 0xFB00),
    range(0x20000, 0x40000),
)
# Scripts written without spaces: every character is a word, unless `word_breaks` finds the words.
UNSPACED_SCRIPTS = (range(0x3040, 0x30FB), *CHINESE_CHARACTERS)
# Joiners and soft hyphens are removed inside a word; this one separates words.
INVISIBLE_SPACE = "\u200b"


@lru_cache(maxsize=64)
def make_table(
    separators: str, diacritics: str, replacing: tuple[tuple[str, str], ...], *, isolates: bool
) -> dict[int, str]:
    """Return the table of some settings; it isolates each character of unspaced scripts or not."""
    return CharacterTable(separators, diacritics, dict(replacing), isolates=isolates)


def _piece(letter: str, *, isolates: bool) -> str:
    if letter in PERIODS:
        return PERIOD
    if letter in APOSTROPHES or letter in SYMBOLS:
        return LINK
    letters = _letters(letter)
    if isolates and any(_is_in(letter, UNSPACED_SCRIPTS) for letter in letters):
        return f" {' '.join(letters)} "
    if letters:
        return letters
    return "" if _is_invisible(letter) else " "


def _is_invisible(letter: str) -> bool:
    """Return whether a character inside a word is ignored, as a zero-width joiner is."""
    if letter == TATWEEL or all(map(_is_accent, unicodedata.normalize("NFKD", letter))):
        return True
    return unicodedata.category(letter) in ("Cf", "Mn", "Me") and letter != INVISIBLE_SPACE


def _is_in(letter: str, scripts: Iterable[range]) -> bool:
    return any(ord(letter) in script for script in scripts)


def _letters(text: str, accents: bool = False) -> str:
    """Return the word characters of a text, lowercase and without accents unless they are kept."""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    kept = (c for c in decomposed if _is_letter(c) or (accents and _is_accent(c)))
    return unicodedata.normalize("NFC", "".join(map(_fold_letter, kept)))


def _fold_letter(letter: str) -> str:
    """Return the usual form of a letter or digit: simplified Chinese, Latin digits."""
    if _is_in(letter, CHINESE_CHARACTERS):
        return simplify(letter)
    return UNDECOMPOSED_LETTERS.get(letter) or str(unicodedata.decimal(letter, letter))


def _is_letter(character: str) -> bool:
    """Return whether a character is a letter; vowel signs are letters, accents are not."""
    if unicodedata.category(character)[0] == "M":
        return not _is_accent(character)
    return character.isalnum() and character not in APOSTROPHES and character != TATWEEL


def _is_accent(character: str) -> bool:
    kind = unicodedata.combining(character)
    selects = _is_in(character, VARIATION_SELECTORS)
    return kind in (1, KANA_VOICING) or 10 <= kind <= 36 or kind >= 200 or selects


class CharacterTable(dict[int, str]):
    """The replacement of each character, computed on first use."""

    def __init__(
        self, separators: str, diacritics: str, replacing: Mapping[str, str], *, isolates: bool
    ) -> None:
        self._separators = separators
        self._kept = {form for c in diacritics for form in (c, c.casefold(), c.upper())}
        self._replacing = replacing
        self._isolates = isolates

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        if letter == BREAK or letter in JOINERS:
            piece = " "
        elif letter in self._separators:
            piece = f" {letter} "
        elif letter in self._replacing or letter.lower() in self._replacing:
            replacement = self._replacing.get(letter, self._replacing.get(letter.lower(), ""))
            piece = _letters(replacement) or " "
        elif letter in self._kept:
            kept = _letters(letter.casefold(), accents=True)
            piece = kept or _piece(letter, isolates=self._isolates)
        else:
            piece = _piece(letter, isolates=self._isolates)
        self[code] = piece
        return piece


class AsciiTable(dict[int, str | None]):
    """A character table of ASCII text that leaves breaks unchanged."""

    def __init__(self, table: dict[int, str]) -> None:
        # None removes a character, too, and unlike an empty text does not slow the translation.
        super().__init__({code: table[code] or None for code in range(128)})
        self[ord(BREAK)] = BREAK


def translate_in_arrays(text: str, table: dict[int, str]) -> str:
    """Return a text with its characters replaced, except breaks.

    Of texts that are not ASCII, `str.translate` looks up one character after the other, and takes
    several times as long.
    """
    blocks = range(0, len(text), MAX_BLOCK_CHARACTERS)
    return "".join(
        _translate_block(text[start : start + MAX_BLOCK_CHARACTERS], table) for start in blocks
    )


def _translate_block(text: str, table: dict[int, str]) -> str:
    codes = np.frombuffer(text.encode(UTF_32, "surrogatepass"), np.uint32)
    present = np.flatnonzero(np.bincount(codes))
    pieces = [BREAK if code == ord(BREAK) else table[code] for code in present.tolist()]
    letters = np.zeros((len(pieces), max(map(len, pieces))), np.uint32)
    for row, piece in zip(letters, pieces, strict=True):
        row[: len(piece)] = np.frombuffer(piece.encode(UTF_32, "surrogatepass"), np.uint32)
    numbers = np.zeros(present[-1] + 1, np.int32)
    numbers[present] = np.arange(len(present))
    rows = numbers[codes]
    lengths = np.array([*map(len, pieces)], np.int32)[rows]
    # The number of each letter of the result in its piece.
    ends = np.cumsum(lengths, dtype=np.int32)
    within = np.arange(ends[-1], dtype=np.int32) - np.repeat(ends - lengths, lengths)
    return str(letters[np.repeat(rows, lengths), within].tobytes(), UTF_32, "surrogatepass")


def simplify(character: str) -> str:
    """Return the simplified form of a Chinese character, or the character itself."""
    return _converter()(character)


@cache
def _converter() -> Callable[[str], str]:
    try:
        from opencc import OpenCC
    except ImportError:  # a client without the extras `local` and `tuning`
        return str
    convert: Callable[[str], str] = OpenCC("t2s").convert
    return convert


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

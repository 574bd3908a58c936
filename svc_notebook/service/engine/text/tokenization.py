"""Tokenization: normalize text, split it into words, and map words to character offsets.

`fold` and `split` process whole texts at once; `tokens` also returns the offsets of each word. Both
return the same words because they use the same character table.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

APOSTROPHES = "'\u2019\u02bc\uff07\u2018"
BREAK = "\x01"
"""The separator between two texts that are folded together; never part of a word."""

ASCII_RUN = re.compile(r"[\x00-\x7f]+")
BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")

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
}
# Scripts written without spaces: every character is a word.
UNSPACED_SCRIPTS = (
    range(0x3040, 0x30FB),
    range(0x3400, 0x4DC0),
    range(0x4E00, 0xA000),
    range(0xF900, 0xFB00),
    range(0x20000, 0x40000),
)
# Joiners and soft hyphens are removed inside a word; this one separates words.
INVISIBLE_SPACE = "\u200b"


class Token(NamedTuple):
    """One word of a text, normalized, with its start and end offsets in the original text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class TokenizerSettings:
    """The settings that affect tokenization."""

    separators: str = ""
    diacritics: str = ""
    camel: frozenset[str] = frozenset()
    replacing: tuple[tuple[str, str], ...] = ()
    table: dict[int, str] = field(init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", _table(self.separators, self.diacritics, self.replacing))

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> TokenizerSettings:
        """Read the tokenizer settings from an index's settings."""
        custom = settings.get("customNormalization") or {}
        replacing = sorted(item for pairs in custom.values() for item in pairs.items())
        return cls(
            settings.get("separatorsToIndex") or "",
            settings.get("keepDiacriticsOnCharacters") or "",
            frozenset(settings.get("camelCaseAttributes") or ()),
            tuple(replacing),
        )

    @property
    def has_default_ascii_folding(self) -> bool:
        """Whether no setting changes how ASCII text is folded."""
        return not self.separators and not self.replacing


def fold(text: str, rules: TokenizerSettings) -> str:
    """Return the normalized words of a text, separated by blanks."""
    return text.translate(rules.table)


def split(text: str, rules: TokenizerSettings) -> list[str]:
    """Return the words of a text."""
    return fold(text, rules).split()


def split_all(texts: Sequence[str], rules: TokenizerSettings) -> list[str]:
    """Return the words of all texts in one list, with a `BREAK` after each text's last word."""
    if not texts:
        return []
    if not rules.has_default_ascii_folding:
        return [*_join_texts([fold(text, rules) for text in texts]).split(), BREAK]
    table, whole = _AsciiTable(rules.table), _join_texts(texts)
    if whole.isascii():
        return [*whole.translate(table).split(), BREAK]
    # Few characters are not ASCII: those are folded first, the others together, which is faster.
    whole = _join_texts(
        [text if text.isascii() else _fold_beyond_ascii(text, rules) for text in texts]
    )
    # One other character would make the translation of the whole text slow.
    return [*ASCII_RUN.sub(lambda run: run[0].translate(table), whole).split(), BREAK]


def _join_texts(texts: Sequence[str]) -> str:
    whole = f" {BREAK} ".join(texts)
    if whole.count(BREAK) != len(texts) - 1:
        whole = f" {BREAK} ".join(text.replace(BREAK, " ") for text in texts)
    return whole


def _fold_beyond_ascii(text: str, rules: TokenizerSettings) -> str:
    """Fold the characters of a text that are not ASCII."""
    return BEYOND_ASCII.sub(lambda run: run[0].translate(rules.table), text)


def split_camel(text: str) -> str:
    """Insert a blank between a lowercase letter and a capital that follows it."""
    return "".join(
        f" {letter}" if before.islower() and letter.isupper() else letter
        for before, letter in zip(f" {text}", text, strict=False)
    )


def tokens(
    text: str,
    rules: TokenizerSettings,
    wanted: Collection[str] | None = None,
    *,
    camel: bool = False,
    folded: str = "",
) -> list[Token]:
    """Return the words of a text, or only those `wanted`, with their offsets.

    `folded` is the folded text, if it is known.
    """
    folded = folded or fold(text, rules)
    if camel or not _is_in_place(text, folded, rules):
        found = _tokens_by_character(text, rules.table, camel)
        return [token for token in found if wanted is None or token.text in wanted]
    if wanted is None:
        return _tokens_in(folded)
    padded = f" {folded} "
    found = [token for word in wanted for token in _find_word(padded, word)]
    return found if len(wanted) == 1 else sorted(found, key=itemgetter(1))


def end_of_letters(text: str, token: Token, letters: int, rules: TokenizerSettings) -> int:
    """Return the offset in the text where the first `letters` letters of a token end."""
    if letters >= len(token.text):
        return token.end
    seen = 0
    for place in range(token.start, token.end):
        seen += len(rules.table[ord(text[place])].strip())
        if seen >= letters:
            return _after_accents(text, place + 1, rules.table)
    return token.end


def _is_in_place(text: str, folded: str, rules: TokenizerSettings) -> bool:
    """Return whether each character of a text was folded to exactly one."""
    if len(folded) != len(text):
        return False
    if rules.has_default_ascii_folding and text.isascii():
        return True
    table = rules.table
    return all(len(table[ord(letter)]) == 1 for letter in set(text))


def _tokens_in(folded: str) -> list[Token]:
    """Return the tokens of a text that was folded in place.

    Nothing between two words can match the next one, so a forward search finds it.
    """
    found, end = [], 0
    for word in folded.split():
        start = folded.index(word, end)
        end = start + len(word)
        found.append(Token(word, start, end))
    return found


def _find_word(padded: str, word: str) -> list[Token]:
    """Find a word in a folded text padded with a blank at both ends."""
    found, wanted = [], f" {word} "
    start = padded.find(wanted)
    while start >= 0:
        found.append(Token(word, start, start + len(word)))
        start = padded.find(wanted, start + 1)
    return found


def _tokens_by_character(text: str, table: dict[int, str], camel: bool) -> list[Token]:
    found: list[Token] = []
    word, start, end = "", 0, 0
    before = ""
    for place, letter in enumerate(text):
        piece = table[ord(letter)]
        breaks = camel and before.islower() and letter.isupper()
        before = letter
        if word and (breaks or piece[:1] == " "):
            found.append(Token(word, start, _after_accents(text, end, table)))
            word = ""
        if letters := piece.strip():
            start, end = (start if word else place), place + 1
            word += letters
        if word and piece[-1:] == " ":
            found.append(Token(word, start, _after_accents(text, end, table)))
            word = ""
    return [*found, Token(word, start, _after_accents(text, end, table))] if word else found


def _after_accents(text: str, end: int, table: dict[int, str]) -> int:
    """Skip combining accents, which belong to the letter before them."""
    while end < len(text) and not table[ord(text[end])] and text[end] not in APOSTROPHES:
        end += 1
    return end


class _CharacterTable(dict[int, str]):
    """The replacement of each character, computed on first use."""

    def __init__(self, separators: str, diacritics: str, replacing: Mapping[str, str]) -> None:
        self._separators = separators
        self._kept = {form for c in diacritics for form in (c, c.casefold(), c.upper())}
        self._replacing = replacing

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        if letter == BREAK:
            piece = " "
        elif letter in self._separators:
            piece = f" {letter} "
        elif letter in self._replacing:
            piece = _letters(self._replacing[letter]) or " "
        elif letter in self._kept:
            piece = _letters(letter.casefold(), accents=True) or _piece(letter)
        else:
            piece = _piece(letter)
        self[code] = piece
        return piece


class _AsciiTable(dict[int, str | None]):
    """A character table that leaves breaks and non-ASCII characters unchanged."""

    def __init__(self, table: dict[int, str]) -> None:
        # None removes a character, too, and unlike an empty text does not slow the translation.
        super().__init__({code: table[code] or None for code in range(128)})
        self[ord(BREAK)] = BREAK

    def __missing__(self, code: int) -> str:
        return chr(code)


@lru_cache(maxsize=64)
def _table(
    separators: str, diacritics: str, replacing: tuple[tuple[str, str], ...]
) -> dict[int, str]:
    return _CharacterTable(separators, diacritics, dict(replacing))


def _piece(letter: str) -> str:
    if letter in APOSTROPHES:
        return ""
    letters = _letters(letter)
    if any(map(_is_unspaced, letters)):
        return f" {letters} " if len(letters) == 1 else " "
    if letters:
        return letters
    invisible = unicodedata.category(letter) in ("Cf", "Mn", "Me") and letter != INVISIBLE_SPACE
    return "" if invisible else " "


def _is_unspaced(letter: str) -> bool:
    return any(ord(letter) in script for script in UNSPACED_SCRIPTS)


def _letters(text: str, accents: bool = False) -> str:
    """Return the word characters of a text, lowercase and without accents unless they are kept."""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    kept = (c for c in decomposed if _is_letter(c) or (accents and _is_accent(c)))
    letters = "".join(UNDECOMPOSED_LETTERS.get(c, c) for c in kept)
    return unicodedata.normalize("NFC", letters)


def _is_letter(character: str) -> bool:
    """Return whether a character is a letter; vowel signs are letters, accents are not."""
    if unicodedata.category(character)[0] == "M":
        return not _is_accent(character)
    return character.isalnum() and character not in APOSTROPHES


def _is_accent(character: str) -> bool:
    kind = unicodedata.combining(character)
    selector = 0xFE00 <= ord(character) <= 0xFE0F
    return kind == 1 or 10 <= kind <= 36 or kind >= 200 or selector

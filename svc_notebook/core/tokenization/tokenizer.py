"""Tokenization: normalize text, split it into words, and map words to character offsets.

`fold` and `split` process whole texts at once; `tokens` also returns the offsets of each word. Both
return the same words because they use the same character table. What is a word around periods and
apostrophes is defined in `joined_words`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count, pairwise
from operator import itemgetter
from typing import Any, NamedTuple

from svc_notebook.core.tokenization.character_table import (
    BREAK,
    INVISIBLE_SPACE,
    AsciiTable,
    LocatedText,
    compose,
    locate_composed,
    make_table,
    translate_in_arrays,
)
from svc_notebook.core.tokenization.joined_words import (
    JOINERS,
    WHOLE_WORD,
    find_chains,
    has_joiner,
    join_words,
    read_chain,
    trim_joiners,
)
from svc_notebook.core.tokenization.word_breaks import (
    JAPANESE,
    Languages,
    choose_languages,
    find_breaks,
    insert_breaks,
)


class Token(NamedTuple):
    """One word of a text, normalized, with its start and end offsets in the original text."""

    text: str
    start: int
    end: int


class Position(NamedTuple):
    """One position of a text: its start and end offsets, and the words indexed there."""

    start: int
    end: int
    tokens: tuple[Token, ...]


@dataclass(frozen=True)
class TokenizerSettings:
    """The settings that affect tokenization; `languages` are those whose words are found.

    `folds_ascii_by_default` is true if no setting changes how ASCII text is folded.
    """

    separators: str = ""
    diacritics: str = ""
    camel: frozenset[str] = frozenset()
    replacing: tuple[tuple[str, str], ...] = ()
    languages: Languages = ()
    table: dict[int, str] = field(init=False, repr=False, compare=False, hash=False)
    folds_ascii_by_default: bool = field(init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        isolates = all(language != JAPANESE for language, _ in self.languages)
        table = make_table(self.separators, self.diacritics, self.replacing, isolates=isolates)
        object.__setattr__(self, "table", table)
        by_default = not self.separators and not self.replacing
        object.__setattr__(self, "folds_ascii_by_default", by_default)

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> TokenizerSettings:
        """Read the tokenizer settings from an index's settings."""
        custom = settings.get("customNormalization") or {}
        replacing = sorted(item for pairs in custom.values() for item in pairs.items())
        return _make_settings(
            settings.get("separatorsToIndex") or "",
            settings.get("keepDiacriticsOnCharacters") or "",
            frozenset(settings.get("camelCaseAttributes") or ()),
            tuple(replacing),
            choose_languages(tuple(settings.get("indexLanguages") or ())),
        )

    def separate(self, text: str) -> str:
        """Compose a text, and separate the words of languages that are written without blanks."""
        if not text.isascii():
            text = compose(text)
        return insert_breaks(text, self.languages, INVISIBLE_SPACE) if self.languages else text


# Searches read them from the settings of an index again and again.
_make_settings = lru_cache(256)(TokenizerSettings)


def fold(text: str, rules: TokenizerSettings, *, separated: bool = False) -> str:
    """Return the normalized chains of a text, separated by blanks.

    With `separated`, `rules.separate` has separated its words.
    """
    if not (separated or text.isascii()):
        text = rules.separate(text)
    return trim_joiners(text.translate(rules.table))


def split(text: str, rules: TokenizerSettings) -> list[str]:
    """Return the words of a text."""
    return join_words(fold(text, rules))


def split_all(texts: Sequence[str], rules: TokenizerSettings) -> list[str]:
    """Return the words of all texts in one list, with a `BREAK` after each text's last word."""
    return join_words(" ".join(split_chains(texts, rules)))


def split_chains(texts: Sequence[str], rules: TokenizerSettings) -> list[str]:
    """Return the chains of all texts in one list, with a `BREAK` after each text's last chain."""
    if not texts:
        return []
    table = rules.table
    whole = _join_texts([text if text.isascii() else rules.separate(text) for text in texts])
    folded = (
        whole.translate(AsciiTable(table)) if whole.isascii() else translate_in_arrays(whole, table)
    )
    return [*trim_joiners(folded).split(), BREAK]


def _join_texts(texts: Sequence[str]) -> str:
    whole = f" {BREAK} ".join(texts)
    if whole.count(BREAK) != len(texts) - 1:
        whole = f" {BREAK} ".join(text.replace(BREAK, " ") for text in texts)
    return whole


def split_camel(text: str) -> str:
    """Insert a blank between a lowercase letter and a capital that follows it."""
    return "".join(
        f" {letter}" if before.islower() and letter.isupper() else letter
        for before, letter in pairwise(f" {compose(text)}")
    )


def tokens(text: str, rules: TokenizerSettings, *, camel: bool = False) -> list[Token]:
    """Return the words of a text, as `split` does, with their offsets."""
    return [
        _token_of(chain, word.text, *word.span())
        for chain in _read_chains(text, rules, camel=camel)
        for word in read_chain(chain.text)
    ]


def positions(text: str, rules: TokenizerSettings, *, camel: bool = False) -> list[Position]:
    """Return the positions of a text, with the words and parts of words that are indexed there."""
    return [
        position
        for chain in _read_chains(text, rules, camel=camel)
        for position in _read_positions(chain)
    ]


def find_tokens(
    text: str,
    rules: TokenizerSettings,
    words: Collection[str],
    *,
    camel: bool = False,
    folded: str = "",
) -> list[Token]:
    """Return the indexed words of a text that are wanted, in the order of their offsets.

    `folded` is the folded text, if it is known.
    """
    located = _fold_located(text, rules, camel, folded)
    padded = f" {located.text} "
    tokens = [
        Token(word, located.starts[start], located.ends[start + len(word) - 1])
        for word in words
        for start in _find_word(padded, word)
    ]
    if has_joiner(located.text):
        for start, chain in find_chains(located.text):
            tokens += _index_tokens(located.part(start, start + len(chain)), words)
    return sorted(tokens, key=itemgetter(1))


def _read_chains(text: str, rules: TokenizerSettings, *, camel: bool) -> Iterator[LocatedText]:
    located = _fold_located(text, rules, camel)
    # Nothing between two chains can match the next one, so a forward search finds it.
    end = 0
    for chain in located.text.split():
        start = located.text.index(chain, end)
        end = start + len(chain)
        yield located.part(start, end)


def _fold_located(
    text: str, rules: TokenizerSettings, camel: bool, folded: str = ""
) -> LocatedText:
    """Return the folded text with the offsets of its characters in the text."""
    table, folded = rules.table, folded or fold(text, rules)
    if not camel and len(folded) == len(text):
        is_plain = rules.folds_ascii_by_default and text.isascii()
        if is_plain or all(len(table[ord(letter)]) == 1 for letter in set(text)):
            return LocatedText(folded, range(len(text)), range(1, len(text) + 1))
    letters, starts, ends = locate_composed(text)
    pieces = [table[ord(letter)] for letter in letters]
    if "" in pieces:
        ends = [_after_accents(text, end, table) for end in ends]
    for position in _find_breaks(letters, rules, camel=camel):
        pieces[position] = f" {pieces[position]}"
    return LocatedText(
        trim_joiners("".join(pieces)),
        [start for start, piece in zip(starts, pieces, strict=True) for _ in piece],
        [end for end, piece in zip(ends, pieces, strict=True) for _ in piece],
    )


def _find_breaks(text: str, rules: TokenizerSettings, *, camel: bool) -> set[int]:
    """Return the offsets in a composed text at which a word begins without a blank before it."""
    breaks = set(find_breaks(text, rules.languages) if rules.languages else ())
    if camel:
        pairs = enumerate(pairwise(text), 1)
        breaks |= {at for at, (before, letter) in pairs if before.islower() and letter.isupper()}
    return breaks


def _token_of(located: LocatedText, text: str, start: int, end: int) -> Token:
    return Token(text, located.starts[start], located.ends[end - 1])


def _index_tokens(chain: LocatedText, words: Collection[str]) -> list[Token]:
    """Return the wanted words and parts of a chain, each once."""
    tokens = [
        token
        for position in _read_positions(chain)
        for token in position.tokens
        if token.text in words
    ]
    return sorted(dict.fromkeys(tokens), key=itemgetter(1))


def _read_positions(chain: LocatedText) -> Iterator[Position]:
    for word in read_chain(chain.text):
        whole, layout = _token_of(chain, word.text, *word.span()), word.positions
        for number, here in enumerate(layout):
            positions = [
                whole
                if part == WHOLE_WORD
                else _token_of(chain, word.parts[part], *word.span(part))
                for part in here
            ]
            start = positions[-1].start if number else whole.start
            end = positions[-1].end if number < len(layout) - 1 else whole.end
            yield Position(start, end, tuple(positions))


def end_of_letters(text: str, token: Token, letters: int, rules: TokenizerSettings) -> int:
    """Return the offset in the text where the first `letters` letters of a token end."""
    if letters >= len(token.text):
        return token.end
    seen = 0
    part = text[token.start : token.end]
    # ASCII letters are composed; most words are highlighted without a call.
    composed, ends = (part, count(1)) if part.isascii() else locate_composed(part)[::2]
    for letter, end in zip(composed, ends, strict=False):
        piece = rules.table[ord(letter)]
        seen += 0 if piece in JOINERS else len(piece.replace(" ", ""))
        if seen >= letters:
            return _after_accents(text, token.start + end, rules.table)
    return token.end


def _find_word(padded: str, word: str) -> Iterator[int]:
    """Find a word in a folded text padded with a blank at both ends; return its offsets there."""
    enclosed = f" {word} "
    start = padded.find(enclosed)
    while start >= 0:
        yield start
        start = padded.find(enclosed, start + 1)


def _after_accents(text: str, end: int, table: dict[int, str]) -> int:
    """Skip combining accents, which belong to the letter before them."""
    while end < len(text) and not table[ord(text[end])]:
        end += 1
    return end

"""Words joined at periods and apostrophes: `U.S.` is `us`, `L'eau` is `leau` and `eau`.

A chain is a run of letters and joiners without blanks, as `tokenization.fold` writes it. A single
joiner between two letters joins the parts beside it to one word. The word is indexed, and each part
of three letters or more besides. Each such part has a position of its own in the text; the joined
word is at the first and at the last of them, so that it is next to the words on both sides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain as concatenate
from typing import NamedTuple

PERIODS = ".\uff0e"
APOSTROPHES = "'\u2019\u02bc\uff07\u2018\u05f3"
SYMBOLS = "®©"
# What a period, and what an apostrophe or a symbol is folded to; no text contains either.
PERIOD, LINK = "\x04", "\x05"
JOINERS = PERIOD + LINK
# Shorter parts of a joined word are not indexed.
MIN_INDEXED_LETTERS = 3

# The number of a whole word among its parts.
WHOLE_WORD = -1

_JOINER = re.compile(f"([{JOINERS}])")

Span = tuple[int, int]


class JoinedWord(NamedTuple):
    """One word of a chain: its parts, and where it starts in the chain."""

    parts: tuple[str, ...]
    start: int

    @property
    def text(self) -> str:
        """The word itself."""
        return "".join(self.parts)

    def span(self, number: int = WHOLE_WORD) -> Span:
        """Return the span of a part in the chain, or of the whole word."""
        if number == WHOLE_WORD:
            return self.start, self.start + len(JOINERS[0].join(self.parts))
        start = self.start + sum(len(part) + 1 for part in self.parts[:number])
        return start, start + len(self.parts[number])

    @property
    def positions(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the parts that are indexed at each position, the whole word's first."""
        if len(self.parts) == 1:
            return ((WHOLE_WORD,),)
        return _lay_out(tuple([len(part) >= MIN_INDEXED_LETTERS for part in self.parts]))


class IndexedWord(NamedTuple):
    """A word as indexed: its position in the chain, and the number of the part.

    `word` is the number of the joined word in the chain.
    """

    text: str
    position: int
    part: int
    word: int


def has_joiner(folded: str) -> bool:
    """Return whether a folded text has a joiner."""
    return PERIOD in folded or LINK in folded


def read_chain(chain: str) -> list[JoinedWord]:
    """Return the words of a chain. A period does not join a number with what follows it."""
    words: list[JoinedWord] = []
    parts: list[str] = []
    start = offset = 0
    pieces = _JOINER.split(chain)
    for number in range(0, len(pieces), 2):
        part = pieces[number]
        if parts and not (part and _joins(parts[-1], pieces[number - 1])):
            words.append(JoinedWord(tuple(parts), start))
            parts = []
        if part:
            start = start if parts else offset
            parts.append(part)
        offset += len(part) + 1
    return [*words, JoinedWord(tuple(parts), start)] if parts else words


def index_chain(chain: str) -> list[IndexedWord]:
    """Return the words of a chain and their parts, as they are indexed."""
    indexed: list[IndexedWord] = []
    first = 0
    for number, word in enumerate(read_chain(chain)):
        text, parts, positions = word.text, word.parts, word.positions
        for position, here in enumerate(positions, first):
            for part in here:
                written = text if part == WHOLE_WORD else parts[part]
                indexed.append(IndexedWord(written, position, part, number))
        first += len(positions)
    return indexed


def join_words(folded: str) -> list[str]:
    """Return the joined words of a folded text."""
    chains = folded.split()
    if not has_joiner(folded):
        return chains
    return [*concatenate.from_iterable(map(_joined_texts, chains))]


def distinct_words(folded: str) -> tuple[set[str], int]:
    """Return the distinct words of a folded text as they are indexed, and how many words it has.

    Of a joined word with its parts, one is counted.
    """
    chains = folded.split()
    words, count = set(chains), len(chains)
    if has_joiner(folded):
        for _, chain in find_chains(folded):
            indexed = index_chain(chain)
            words.discard(chain)
            words.update([entry.text for entry in indexed])
            count += indexed[-1].word if indexed else -1
    return words, count


def split_parts(folded: str) -> list[tuple[str, ...]]:
    """Return the parts of each word of a folded text."""
    if not has_joiner(folded):
        return [(chain,) for chain in folded.split()]
    return [word.parts for chain in folded.split() for word in read_chain(chain)]


def count_positions(folded: str) -> int:
    """Return the number of positions that the words of a folded text have."""
    chains = folded.split()
    if not has_joiner(folded):
        return len(chains)
    words = concatenate.from_iterable(map(read_chain, chains))
    return sum(len(word.positions) for word in words)


def find_chains(folded: str) -> Iterator[tuple[int, str]]:
    """Return the chains of a folded text that have joiners, with their offsets."""
    end = 0
    for joiner in _JOINER.finditer(folded):
        if joiner.start() >= end:
            start = folded.rfind(" ", 0, joiner.start()) + 1
            end = folded.find(" ", joiner.end())
            end = len(folded) if end < 0 else end
            yield start, folded[start:end]


def trim_joiners(folded: str) -> str:
    """Replace the joiners at the ends of words by blanks, which is all that most texts have."""
    if PERIOD in folded:
        folded = folded.replace(f"{PERIOD} ", "  ")
    if LINK in folded:
        folded = folded.replace(f"{LINK} ", "  ").replace(f" {LINK}", "  ")
    return folded


def _joined_texts(chain: str) -> Iterable[str]:
    return [word.text for word in read_chain(chain)] if has_joiner(chain) else (chain,)


def _joins(before: str, joiner: str) -> bool:
    return joiner == LINK or not before.isdecimal()


@lru_cache
def _lay_out(indexed: tuple[bool, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the numbers of the parts at each position, given which parts are indexed."""
    parts = [number for number, is_indexed in enumerate(indexed) if is_indexed]
    if len(parts) < 2:
        return ((WHOLE_WORD, *parts),)
    ends = parts[0], parts[-1]
    return tuple((WHOLE_WORD, part) if part in ends else (part,) for part in parts)

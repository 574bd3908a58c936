"""The pattern of a rule, and how it matches the words of a query."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from svc_notebook.service.engine.text.tokenization import TokenizerSettings, split
from svc_notebook.service.rules.search_context import Reading, Words

PLACEHOLDER = re.compile(r"\{facet:([^{}]*)\}")


class Placeholder(NamedTuple):
    """Stands in a pattern for any value of a facet."""

    facet: str


class Capture(NamedTuple):
    """What a pattern found for one of its parts: which words of the query, and what they mean.

    Of a placeholder it has the facet and the values; of words that were found in another form it
    has those words.
    """

    start: int
    end: int
    facet: str = ""
    values: tuple[str, ...] = ()
    words: Words = ()


class PatternMatch(NamedTuple):
    """Where a pattern stands in a query, and what its parts found."""

    start: int
    end: int
    captures: tuple[Capture, ...] = ()


@dataclass(frozen=True)
class Pattern:
    """Words and placeholders, and where they must stand; `loose` ones match in other forms too."""

    tokens: tuple[str | Placeholder, ...]
    anchoring: str
    loose: bool = False

    @classmethod
    def of(
        cls, text: str, anchoring: str, rules: TokenizerSettings, *, loose: bool = False
    ) -> Pattern:
        """Read a pattern such as `cheap {facet:brand}`."""
        tokens: list[str | Placeholder] = []
        for number, piece in enumerate(PLACEHOLDER.split(text)):
            tokens += [Placeholder(piece.strip())] if number % 2 else split(piece, rules)
        return cls(tuple(tokens), anchoring, loose)

    @property
    def placeholders(self) -> list[str]:
        """The facets it has placeholders for."""
        return [token.facet for token in self.tokens if isinstance(token, Placeholder)]

    @property
    def longest_run(self) -> Words:
        """The most words that follow each other in it."""
        runs = [
            tuple(str(token) for token in run)
            for literal, run in groupby(self.tokens, lambda token: isinstance(token, str))
            if literal
        ]
        return max(runs, key=len, default=())

    def find(self, reading: Reading) -> PatternMatch | None:
        """Return where it first stands in the query, with what all places have for it."""
        count = len(reading.words)
        if not self.tokens:
            return PatternMatch(0, 0) if self.anchoring == "is" and not count else None
        first = range(1) if self.anchoring in ("is", "startsWith") else range(count)
        found = list(self._find_all(reading, first))
        if not found:
            return None
        captures = tuple(capture for one in found for capture in one.captures)
        return PatternMatch(found[0].start, found[0].end, captures)

    def _find_all(self, reading: Reading, starts: Sequence[int]) -> Iterator[PatternMatch]:
        """Find it from left to right, each time as long as it can be; no two overlap."""
        end = 0
        for start in starts:
            if start >= end and (found := self._find_at(reading, start)):
                yield found
                end = found.end

    def _find_at(self, reading: Reading, start: int) -> PatternMatch | None:
        """Go through the tokens, keeping for each word they may end before one way to get there."""
        ways: dict[int, dict[int, tuple[Capture, ...]]] = {0: {start: ()}}
        for number in range(len(self.tokens)):
            for at, way in ways.pop(number, {}).items():
                for step, end, captures in self._steps(number, at, reading):
                    ways.setdefault(number + step, {}).setdefault(end, way + captures)
            if not ways:
                return None
        ends = ways[len(self.tokens)]
        if self.anchoring in ("is", "endsWith"):
            ends = {end: way for end, way in ends.items() if end == len(reading.words)}
        return PatternMatch(start, max(ends), ends[max(ends)]) if ends else None

    def _steps(
        self, number: int, at: int, reading: Reading
    ) -> Iterator[tuple[int, int, tuple[Capture, ...]]]:
        """Return how many tokens the words from a place on may stand for, and where they end."""
        token = self.tokens[number]
        if isinstance(token, Placeholder):
            for named in reading.named(token.facet):
                if named.start == at:
                    yield 1, named.end, (Capture(at, named.end, token.facet, named.values),)
        elif at < len(reading.words):
            if reading.words[at] == token:
                yield 1, at + 1, ()
            if self.loose:
                yield from self._loose_steps(number, at, reading)

    def _loose_steps(
        self, number: int, at: int, reading: Reading
    ) -> Iterator[tuple[int, int, tuple[Capture, ...]]]:
        for form in reading.forms(at):
            if self.tokens[number : number + len(form.words)] == form.words:
                end = at + form.length
                yield len(form.words), end, (Capture(at, end, words=form.words),)
        token = str(self.tokens[number])
        if reading.misspells(at, token):
            yield 1, at + 1, (Capture(at, at + 1, words=(token,)),)

"""The pattern of a rule, and how it matches the words of a query."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from svc_notebook.core.tokenization.tokenizer import TokenizerSettings, split
from svc_notebook.service.rules.search_context import SearchContext, Words

PLACEHOLDER = re.compile(r"\{facet:([^{}]*)\}")


class Placeholder(NamedTuple):
    """A pattern token that matches any value of a facet."""

    facet: str


class Capture(NamedTuple):
    """The match of one pattern token: a range of query words and its meaning.

    A placeholder's capture has the facet and the values. A capture of words that matched in another
    form has those words.
    """

    start: int
    end: int
    facet: str = ""
    values: tuple[str, ...] = ()
    words: Words = ()


class PatternMatch(NamedTuple):
    """The range of query words that a pattern matches, and its captures."""

    start: int
    end: int
    captures: tuple[Capture, ...] = ()


@dataclass(frozen=True)
class Pattern:
    """Words and placeholders with anchoring; with `alternatives`, other word forms match too."""

    tokens: tuple[str | Placeholder, ...]
    anchoring: str
    alternatives: bool = False

    @classmethod
    def of(
        cls, text: str, anchoring: str, rules: TokenizerSettings, *, alternatives: bool = False
    ) -> Pattern:
        """Parse a pattern such as `cheap {facet:brand}`."""
        tokens: list[str | Placeholder] = []
        for number, piece in enumerate(PLACEHOLDER.split(text)):
            tokens += [Placeholder(piece.strip())] if number % 2 else split(piece, rules)
        return cls(tuple(tokens), anchoring, alternatives)

    @property
    def placeholders(self) -> list[str]:
        """The facets of its placeholders."""
        return [token.facet for token in self.tokens if isinstance(token, Placeholder)]

    @property
    def longest_run(self) -> Words:
        """The longest sequence of consecutive words in the pattern."""
        runs = [
            tuple(str(token) for token in run)
            for literal, run in groupby(self.tokens, lambda token: isinstance(token, str))
            if literal
        ]
        return max(runs, key=len, default=())

    def find(self, search: SearchContext) -> PatternMatch | None:
        """Return the first match in the query, with the captures of all matches."""
        count = len(search.words)
        if not self.tokens:
            return PatternMatch(0, 0) if self.anchoring == "is" and not count else None
        first = range(1) if self.anchoring in ("is", "startsWith") else range(count)
        matches = list(self._find_all(search, first))
        if not matches:
            return None
        captures = tuple(capture for match in matches for capture in match.captures)
        return PatternMatch(matches[0].start, matches[0].end, captures)

    def _find_all(self, search: SearchContext, starts: Sequence[int]) -> Iterator[PatternMatch]:
        """Yield non-overlapping matches from left to right, each as long as possible."""
        end = 0
        for start in starts:
            if start >= end and (match := self._find_at(search, start)):
                yield match
                end = match.end

    def _find_at(self, search: SearchContext, start: int) -> PatternMatch | None:
        """Match the tokens one by one, keeping one path for each word position they may end at."""
        paths: dict[int, dict[int, tuple[Capture, ...]]] = {0: {start: ()}}
        for number in range(len(self.tokens)):
            for at, path in paths.pop(number, {}).items():
                for step, end, captures in self._steps(number, at, search):
                    paths.setdefault(number + step, {}).setdefault(end, path + captures)
            if not paths:
                return None
        ends = paths[len(self.tokens)]
        if self.anchoring in ("is", "endsWith"):
            ends = {end: path for end, path in ends.items() if end == len(search.words)}
        return PatternMatch(start, max(ends), ends[max(ends)]) if ends else None

    def _steps(
        self, number: int, at: int, search: SearchContext
    ) -> Iterator[tuple[int, int, tuple[Capture, ...]]]:
        """Yield how many tokens the words at a position match, and where these words end."""
        token = self.tokens[number]
        if isinstance(token, Placeholder):
            for named in search.named(token.facet):
                if named.start == at:
                    yield 1, named.end, (Capture(at, named.end, token.facet, named.values),)
        elif at < len(search.words):
            if search.words[at] == token:
                yield 1, at + 1, ()
            if self.alternatives:
                yield from self._alternative_steps(number, at, search)

    def _alternative_steps(
        self, number: int, at: int, search: SearchContext
    ) -> Iterator[tuple[int, int, tuple[Capture, ...]]]:
        for form in search.forms(at):
            if self.tokens[number : number + len(form.words)] == form.words:
                end = at + form.length
                yield len(form.words), end, (Capture(at, end, words=form.words),)
        token = str(self.tokens[number])
        if search.is_misspelled_at(at, token):
            yield 1, at + 1, (Capture(at, at + 1, words=(token,)),)

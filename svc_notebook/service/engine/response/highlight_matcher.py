"""Match the tokens of a hit against a query for highlighting, by the rules of the index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from svc_notebook.service.engine.query.options import EffectiveParameters
from svc_notebook.service.engine.query.query import Query
from svc_notebook.service.engine.query.searched_attributes import path_test
from svc_notebook.service.engine.query.term_variants import Alternative
from svc_notebook.service.engine.response.highlight_spans import Marker, Run, TokenMatch
from svc_notebook.service.engine.text.placeholders import is_sealed, unseal
from svc_notebook.service.engine.text.typos import FIRST_LETTER_TYPOS, typos_between


class TokenHit(NamedTuple):
    """A matching token: its typos, the query word's number and the number of matched letters."""

    typos: int
    number: int
    letters: int
    span: int = 0
    instead: str = ""


Loose = Callable[[str], TokenHit | None]


class MatchOptions(NamedTuple):
    """Whether typos and prefixes match in an attribute."""

    typos: bool
    prefixes: bool


def make_marker(query: Query, options: EffectiveParameters) -> Marker:
    """Return the marker for the texts of a search's hits."""
    ways = [(number, way) for number, word in enumerate(query.words) for way in word.alternatives]
    unforgiven = options.words_without_typos
    manner_of = _make_manners(options)
    unsearched = _Tokens((), MatchOptions(typos=False, prefixes=False), unforgiven)

    bound = {way.within for _, way in ways if way.within}

    @cache
    def in_manner(manner: MatchOptions, outside: frozenset[tuple[str, ...]]) -> _Tokens:
        return _Tokens([pair for pair in ways if pair[1].within not in outside], manner, unforgiven)

    @cache
    def tokens_of(path: str) -> _Tokens:
        manner = manner_of(path)
        outside = frozenset(within for within in bound if not path_test(within)(path))
        return in_manner(manner, outside) if manner else unsearched

    def match(path: str, tokens: AbstractSet[str]) -> Mapping[str, TokenMatch]:
        return tokens_of(path).match(tokens)

    @cache
    def runs(path: str) -> Mapping[str, Sequence[Run]]:
        manner = manner_of(path)
        phrases = [
            (number, way)
            for number, way in ways
            if manner and _is_run(way) and (manner.typos or not way.typos)
            if not way.apart and (not way.within or path_test(way.within)(path))
        ]
        return _by_first_word(_join_spans(phrases))

    return Marker(match, runs)


def _is_run(way: Alternative) -> bool:
    return len(way.words) > 1 or is_sealed(way.words)


def _join_spans(ways: Iterable[tuple[int, Alternative]]) -> list[Run]:
    """Combine the variants of one span into one run."""
    numbers: dict[tuple[int, tuple[str, ...], str], list[int]] = {}
    for number, way in ways:
        alone = -1 - number  # unique key: spans are never negative
        numbers.setdefault((way.span or alone, way.words, way.instead), []).append(number)
    return [Run(tuple(some), words, instead) for (_, words, instead), some in numbers.items()]


def _by_first_word(runs: Iterable[Run]) -> dict[str, list[Run]]:
    by_word: dict[str, list[Run]] = {}
    for run in runs:
        by_word.setdefault(unseal(run.tokens[0]), []).append(run)
    return by_word


class _Tokens:
    """The tokens seen so far and their matches, for one set of match options."""

    def __init__(
        self,
        ways: Sequence[tuple[int, Alternative]],
        manner: MatchOptions,
        unforgiven: frozenset[str],
    ) -> None:
        self._met: set[str] = set()
        self._matches: dict[str, TokenMatch] = {}
        self._unforgiven = unforgiven
        self._whole = _by_word(pair for pair in ways if manner.typos or not pair[1].typos)
        self._inside = [(number, way) for number, way in ways if way.inside]
        self._by_first: dict[str, tuple[Loose, ...]] = {}
        self._by_second: dict[str, tuple[Loose, ...]] = {}
        for number, way in ways:
            if not way.inside:
                self._expect(_Spelling.of(number, way, manner))

    def _expect(self, one: _Spelling) -> None:
        """Index a word by the first or second letters of the tokens that may match it."""
        word, first, second = one.word, self._by_first, self._by_second
        if one.prefix or one.forgiven:
            first[word[0]] = (*first.get(word[0], ()), one.match)
        if one.forgiven >= FIRST_LETTER_TYPOS and len(word) > 1:
            first[word[1]] = (*first.get(word[1], ()), one.match_other)
            for letter in word[:2]:
                second[letter] = (*second.get(letter, ()), one.match_other)

    def match(self, tokens: AbstractSet[str]) -> dict[str, TokenMatch]:
        """Return the matches among the tokens."""
        new = tokens - self._met
        if new:
            self._met |= new
            first, second, whole = self._by_first, self._by_second, self._whole
            for token in new:
                if token[0] in first or token[1:2] in second or token in whole or self._inside:
                    self._meet(token)
        matches = self._matches
        return {token: matches[token] for token in matches.keys() & tokens}

    def _meet(self, token: str) -> None:
        tests = self._by_first.get(token[0], ()) + self._by_second.get(token[1:2], ())
        found = [spot for test in tests if (spot := test(token))]
        if token in self._unforgiven:
            found = [spot for spot in found if not spot.typos]
        found += self._whole.get(token, ())
        found += _spot_parts(token, self._inside)
        if found:
            self._matches[token] = _choose(found)


def _choose(found: Sequence[TokenHit]) -> TokenMatch:
    """Choose the words with the fewest typos, and all words of their spans.

    The token is a synonym if no chosen word is the query's own.
    """
    fewest = min(found).typos
    spans = {spot.span for spot in found if spot.span and spot.typos == fewest}
    chosen = [spot for spot in found if spot.typos == fewest or spot.span in spans]
    own = any(not spot.instead for spot in chosen)
    return TokenMatch(
        tuple(sorted({spot.number for spot in chosen})),
        max(spot.letters for spot in chosen),
        "" if own else chosen[0].instead,
    )


@dataclass(frozen=True)
class _Spelling:
    """A query word that also matches by prefix or with typos.

    Most tokens are rejected without comparing letters.
    """

    number: int
    word: str
    forgiven: int
    prefix: bool

    @classmethod
    def of(cls, number: int, way: Alternative, manner: MatchOptions) -> _Spelling:
        """Read the word's options under the match options."""
        forgiven = way.forgiven if manner.typos else 0
        return cls(number, way.words[0], forgiven, way.prefix and manner.prefixes)

    def match(self, token: str) -> TokenHit | None:
        """Compare the word with a token of the same first letter."""
        if self.prefix and token.startswith(self.word):
            return TokenHit(0, self.number, len(self.word))
        if not self.forgiven or len(token) < len(self.word) - self.forgiven:
            return None
        if len(self.letters.difference(token)) > self.forgiven:
            return None
        return self.compare(token)

    def match_other(self, token: str) -> TokenHit | None:
        """Compare the word with a token of another first letter."""
        if self.rest in token or token.startswith(self.swapped):
            return self.compare(token) if token[0] != self.word[0] else None
        return None

    def compare(self, token: str) -> TokenHit | None:
        """Count the typos."""
        typos, letters = typos_between(self.word, token, self.forgiven, self.prefix)
        return TokenHit(typos, self.number, letters) if typos <= self.forgiven else None

    @cached_property
    def letters(self) -> frozenset[str]:
        """The distinct letters."""
        return frozenset(self.word)

    @cached_property
    def rest(self) -> str:
        """All letters but the first."""
        return self.word[1:]

    @cached_property
    def swapped(self) -> str:
        """The word with its first two letters swapped."""
        return self.word[1:2] + self.word[0] + self.word[2:]


def _by_word(ways: Iterable[tuple[int, Alternative]]) -> dict[str, list[TokenHit]]:
    """Group the matches of whole tokens by word."""
    found: dict[str, list[TokenHit]] = {}
    for number, way in ways:
        single = len(way.words) == 1 and not way.inside
        for word in way.words if single or way.apart else ():
            spot = TokenHit(way.typos, number, len(word), way.span, way.instead)
            found.setdefault(word, []).append(spot)
    return found


def _spot_parts(token: str, ways: Iterable[tuple[int, Alternative]]) -> Iterator[TokenHit]:
    """Match query words against the parts of a compound, which is marked as a whole."""
    for number, way in ways:
        parts = way.inside.pieces(token) if way.inside else ()
        if any(_is_part(way, form) for piece in parts for form in piece):
            yield TokenHit(way.typos, number, len(token))


def _is_part(way: Alternative, form: str) -> bool:
    word = way.words[0]
    return form.startswith(word) if way.prefix else form == word


def _make_manners(options: EffectiveParameters) -> Callable[[str], MatchOptions | None]:
    """Return a function that returns an attribute's match options, None if it is not searched."""
    restricted = options["restrictSearchableAttributes"]
    searched = path_test(entry.path for entry in options.searched)
    chosen = path_test(restricted)
    rigid = path_test(options["disableTypoToleranceOnAttributes"])
    whole = path_test(options["disablePrefixOnAttributes"])

    @cache
    def manner_of(path: str) -> MatchOptions | None:
        if options.searched and not searched(path):
            return None
        if restricted and not chosen(path):
            return None
        return MatchOptions(typos=not rigid(path), prefixes=not whole(path))

    return manner_of

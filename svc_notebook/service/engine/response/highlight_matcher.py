"""Match the tokens of a hit, and runs of adjacent ones, against a query for highlighting."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from svc_notebook.service.engine.query.options import EffectiveParameters
from svc_notebook.service.engine.query.query import Query
from svc_notebook.service.engine.query.searched_attributes import path_test
from svc_notebook.service.engine.query.term_variants import TermVariant
from svc_notebook.service.engine.text.synonyms import is_placeholder, remove_markers
from svc_notebook.service.engine.text.typos import FIRST_LETTER_TYPOS, typos_between


class TokenMatch(NamedTuple):
    """The numbers of the query words that a token matches, and how many of its letters to mark.

    `replaced` are the query words of which the token is a synonym.
    """

    words: tuple[int, ...]
    letters: int
    replaced: str = ""


class Run(NamedTuple):
    """The numbers of the query words that a run of adjacent tokens matches."""

    words: tuple[int, ...]
    tokens: tuple[str, ...]
    replaced: str = ""


# Returns the matches among some tokens of a path.
Matcher = Callable[[str, AbstractSet[str]], Mapping[str, TokenMatch]]

# Returns the runs to mark in a path, by first word.
Runs = Callable[[str], Mapping[str, Sequence[Run]]]


class Marker(NamedTuple):
    """The matcher and the runs of a search."""

    match: Matcher
    runs: Runs


class TokenHit(NamedTuple):
    """A matching token: its typos, the query word's number and the number of matched letters."""

    typos: int
    number: int
    letters: int
    span: int = 0
    replaced: str = ""


TokenTest = Callable[[str], TokenHit | None]


class MatchOptions(NamedTuple):
    """Whether typos and prefixes match in an attribute."""

    typos: bool
    prefixes: bool


def make_marker(query: Query, options: EffectiveParameters) -> Marker:
    """Return the marker for the texts of a search's hits."""
    variants = [
        (number, variant) for number, word in enumerate(query.words) for variant in word.variants
    ]
    words_without_typos = options.words_without_typos
    match_options_of = _make_match_options(options)
    unsearched = _Tokens((), MatchOptions(typos=False, prefixes=False), words_without_typos)

    restrictions = {variant.attributes for _, variant in variants if variant.attributes}

    @cache
    def tokens_with(match_options: MatchOptions, excluded: frozenset[tuple[str, ...]]) -> _Tokens:
        return _Tokens(
            [pair for pair in variants if pair[1].attributes not in excluded],
            match_options,
            words_without_typos,
        )

    @cache
    def tokens_of(path: str) -> _Tokens:
        match_options = match_options_of(path)
        excluded = frozenset(
            attributes for attributes in restrictions if not path_test(attributes)(path)
        )
        return tokens_with(match_options, excluded) if match_options else unsearched

    def match(path: str, tokens: AbstractSet[str]) -> Mapping[str, TokenMatch]:
        return tokens_of(path).match(tokens)

    @cache
    def runs(path: str) -> Mapping[str, Sequence[Run]]:
        match_options = match_options_of(path)
        phrases = [
            (number, variant)
            for number, variant in variants
            if match_options and (match_options.typos or not variant.typos)
            if len(variant.words) > 1 or is_placeholder(variant.words)
            if not variant.anywhere
            and (not variant.attributes or path_test(variant.attributes)(path))
        ]
        return _group_runs(phrases)

    return Marker(match, runs)


def _group_runs(variants: Iterable[tuple[int, TermVariant]]) -> dict[str, list[Run]]:
    """Combine the variants of one span into one run; return the runs by their first word."""
    numbers: dict[tuple[int, tuple[str, ...], str], list[int]] = {}
    for number, variant in variants:
        alone = -1 - number  # unique key: spans are never negative
        numbers.setdefault((variant.span or alone, variant.words, variant.replaced), []).append(
            number
        )
    by_word: dict[str, list[Run]] = {}
    for (_, words, replaced), span_numbers in numbers.items():
        run = Run(tuple(span_numbers), words, replaced)
        by_word.setdefault(remove_markers(words[0]), []).append(run)
    return by_word


class _Tokens:
    """The tokens seen so far and their matches, for one set of match options."""

    def __init__(
        self,
        variants: Sequence[tuple[int, TermVariant]],
        match_options: MatchOptions,
        words_without_typos: frozenset[str],
    ) -> None:
        self._seen: set[str] = set()
        self._matches: dict[str, TokenMatch] = {}
        self._words_without_typos = words_without_typos
        self._exact = _by_word(
            pair for pair in variants if match_options.typos or not pair[1].typos
        )
        self._analyzed = [
            (number, variant) for number, variant in variants if _is_analyzed(variant)
        ]
        self._by_first: dict[str, tuple[TokenTest, ...]] = {}
        self._by_second: dict[str, tuple[TokenTest, ...]] = {}
        for number, variant in variants:
            if not _is_analyzed(variant):
                max_typos = variant.max_typos if match_options.typos else 0
                prefix = variant.prefix and match_options.prefixes
                self._index_word(_QueryWordMatcher(number, variant.words[0], max_typos, prefix))
        self._heads = _Heads(
            self._by_first, self._by_second, self._exact, every=bool(self._analyzed)
        )

    def _index_word(self, matcher: _QueryWordMatcher) -> None:
        """Index a word by the first or second letters of the tokens that may match it."""
        word, first, second = matcher.word, self._by_first, self._by_second
        if matcher.prefix or matcher.max_typos:
            first[word[0]] = (*first.get(word[0], ()), matcher.match)
        if matcher.max_typos >= FIRST_LETTER_TYPOS and len(word) > 1:
            first[word[1]] = (*first.get(word[1], ()), matcher.match_other)
            for letter in word[:2]:
                second[letter] = (*second.get(letter, ()), matcher.match_other)

    def match(self, tokens: AbstractSet[str]) -> dict[str, TokenMatch]:
        """Return the matches among the tokens."""
        new = tokens - self._seen
        if new:
            self._seen |= new
            heads = self._heads
            for token in [token for token in new if heads[token[:2]]]:
                self._match_new(token)
        matches = self._matches
        return {token: matches[token] for token in matches.keys() & tokens}

    def _match_new(self, token: str) -> None:
        tests = self._by_first.get(token[0], ()) + self._by_second.get(token[1:2], ())
        hits = [hit for test in tests if (hit := test(token))]
        if token in self._words_without_typos:
            hits = [hit for hit in hits if not hit.typos]
        hits += self._exact.get(token, ())
        hits += _match_analyzed(token, self._analyzed)
        if hits:
            self._matches[token] = _choose(hits)


class _Heads(dict[str, bool]):
    """Whether a token with these first two letters may match, filled as tokens are seen."""

    def __init__(
        self,
        by_first: Collection[str],
        by_second: Collection[str],
        whole: Iterable[str],
        *,
        every: bool,
    ) -> None:
        self._by_first = by_first
        self._by_second = by_second
        self._whole = {word[:2] for word in whole}
        self._every = every

    def __missing__(self, head: str) -> bool:
        may_match = head[0] in self._by_first or head[1:] in self._by_second or head in self._whole
        self[head] = may_match or self._every
        return self[head]


def _choose(hits: Sequence[TokenHit]) -> TokenMatch:
    """Choose the words with the fewest typos, and all words of their spans.

    The token is a synonym if no chosen word is the query's own.
    """
    fewest = min(hits).typos
    spans = {hit.span for hit in hits if hit.typos == fewest} - {0}
    chosen = [hit for hit in hits if hit.typos == fewest or hit.span in spans]
    has_query_word = any(not hit.replaced for hit in chosen)
    return TokenMatch(
        tuple(sorted({hit.number for hit in chosen})),
        max(hit.letters for hit in chosen),
        "" if has_query_word else chosen[0].replaced,
    )


@dataclass(frozen=True)
class _QueryWordMatcher:
    """A query word that also matches by prefix or with typos.

    Most tokens are rejected without comparing letters.
    """

    number: int
    word: str
    max_typos: int
    prefix: bool

    def match(self, token: str) -> TokenHit | None:
        """Compare the word with a token of the same first letter."""
        if self.prefix and token.startswith(self.word):
            return TokenHit(0, self.number, len(self.word))
        if not self.max_typos or len(token) < len(self.word) - self.max_typos:
            return None
        if len(self.letters.difference(token)) > self.max_typos:
            return None
        return self.compare(token)

    def match_other(self, token: str) -> TokenHit | None:
        """Compare the word with a token of another first letter."""
        if self.rest in token or token.startswith(self.swapped):
            return self.compare(token) if token[0] != self.word[0] else None
        return None

    def compare(self, token: str) -> TokenHit | None:
        """Count the typos."""
        typos, letters = typos_between(self.word, token, self.max_typos, self.prefix)
        return TokenHit(typos, self.number, letters) if typos <= self.max_typos else None

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


def _by_word(variants: Iterable[tuple[int, TermVariant]]) -> dict[str, list[TokenHit]]:
    """Group the matches of whole tokens by word."""
    hits: dict[str, list[TokenHit]] = {}
    for number, variant in variants:
        single = len(variant.words) == 1 and not _is_analyzed(variant)
        for word in variant.words if single or variant.anywhere else ():
            hit = TokenHit(variant.typos, number, len(word), variant.span, variant.replaced)
            hits.setdefault(word, []).append(hit)
    return hits


def _is_analyzed(variant: TermVariant) -> bool:
    """Return whether a variant is compared with a part or with the stem of a token."""
    return bool(variant.splitter or variant.stemmer)


def _match_analyzed(token: str, variants: Iterable[tuple[int, TermVariant]]) -> Iterator[TokenHit]:
    """Match query words against the parts or the stem of a token, which is marked as a whole."""
    for number, variant in variants:
        if variant.stemmer and variant.stemmer.stem([token]) == [*variant.words]:
            yield TokenHit(variant.typos, number, len(token))
        parts = variant.splitter.pieces(token) if variant.splitter else ()
        if any(_is_part(variant, form) for piece in parts for form in piece):
            yield TokenHit(variant.typos, number, len(token))


def _is_part(variant: TermVariant, form: str) -> bool:
    word = variant.words[0]
    return form.startswith(word) if variant.prefix else form == word


def _make_match_options(options: EffectiveParameters) -> Callable[[str], MatchOptions | None]:
    """Return a function that returns an attribute's match options, None if it is not searched."""
    restricted = options["restrictSearchableAttributes"]
    searched = path_test(entry.path for entry in options.searched)
    chosen = path_test(restricted)
    disables_typos = path_test(options["disableTypoToleranceOnAttributes"])
    whole = path_test(options["disablePrefixOnAttributes"])

    @cache
    def match_options_of(path: str) -> MatchOptions | None:
        if options.searched and not searched(path):
            return None
        if restricted and not chosen(path):
            return None
        return MatchOptions(typos=not disables_typos(path), prefixes=not whole(path))

    return match_options_of

"""Match the tokens of a hit, and runs of adjacent ones, against a query for highlighting."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple, Protocol

from svc_notebook.service.engine.index.schema import is_covered
from svc_notebook.service.engine.query.options import EffectiveParameters, cache_if_short
from svc_notebook.service.engine.query.query import Query
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


class TextMatcher(Protocol):
    """Matches the texts of an attribute; `runs` are those to mark in them, by first word."""

    @property
    def runs(self) -> Mapping[str, Sequence[Run]]:
        """The runs to mark, by first word."""

    def match(self, tokens: AbstractSet[str]) -> Mapping[str, TokenMatch]:
        """Return the matches among the distinct tokens of a text."""


# Returns the matcher for the texts of an attribute.
Marker = Callable[[str], TextMatcher]


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
    restrictions = {variant.attributes for _, variant in variants if variant.attributes}
    attributes = (
        tuple(entry.path for entry in options.searched),
        tuple(options["restrictSearchableAttributes"]),
        tuple(options["disableTypoToleranceOnAttributes"]),
        tuple(options["disablePrefixOnAttributes"]),
    )
    matchers: dict[object, TextMatcher] = {}

    @cache
    def matcher_of(path: str) -> TextMatcher:
        match_options = _read_match_options(path, *attributes)
        excluded = frozenset(entries for entries in restrictions if not is_covered(path, entries))
        matcher = matchers.get((match_options, excluded))
        if matcher is None:
            matcher = matchers[match_options, excluded] = _VariantMatcher(
                [pair for pair in variants if match_options and pair[1].attributes not in excluded],
                match_options or MatchOptions(typos=False, prefixes=False),
                options.words_without_typos,
            )
        return matcher

    return matcher_of


@cache_if_short
def _read_match_options(
    path: str,
    searched: tuple[str, ...],
    restricted: tuple[str, ...],
    without_typos: tuple[str, ...],
    without_prefixes: tuple[str, ...],
) -> MatchOptions | None:
    """Return an attribute's match options, None if it is not searched."""
    if any(entries and not is_covered(path, entries) for entries in (searched, restricted)):
        return None
    return MatchOptions(
        typos=not is_covered(path, without_typos), prefixes=not is_covered(path, without_prefixes)
    )


def _group_runs(variants: Iterable[tuple[int, TermVariant]]) -> dict[str, list[Run]]:
    """Return the runs that variants match, by first word; those of one span are one run."""
    numbers: dict[tuple[int, tuple[str, ...], str], list[int]] = {}
    for number, variant in variants:
        if variant.anywhere or (len(variant.words) == 1 and not is_placeholder(variant.words)):
            continue
        alone = -1 - number  # unique key: spans are never negative
        numbers.setdefault((variant.span or alone, variant.words, variant.replaced), []).append(
            number
        )
    by_word: dict[str, list[Run]] = {}
    for (_, words, replaced), span_numbers in numbers.items():
        run = Run(tuple(span_numbers), words, replaced)
        by_word.setdefault(remove_markers(words[0]), []).append(run)
    return by_word


class _VariantMatcher:
    """Variants of query words, and their matches among the tokens seen so far."""

    def __init__(
        self,
        variants: Sequence[tuple[int, TermVariant]],
        match_options: MatchOptions,
        words_without_typos: frozenset[str],
    ) -> None:
        self._seen: set[str] = set()
        self._matches: dict[str, TokenMatch] = {}
        self._words_without_typos = words_without_typos
        # These are compared with a part or with the stem of a token.
        self._analyzed: list[tuple[int, TermVariant]] = []
        written: list[tuple[int, TermVariant]] = []
        for pair in variants:
            is_analyzed = pair[1].splitter or pair[1].stemmer
            (self._analyzed if is_analyzed else written).append(pair)
        allowed = [pair for pair in written if match_options.typos or not pair[1].typos]
        self.runs = _group_runs(allowed)
        self._exact = _by_word(allowed)
        self._by_first: dict[str, tuple[TokenTest, ...]] = {}
        self._by_second: dict[str, tuple[TokenTest, ...]] = {}
        for number, variant in written:
            max_typos = variant.max_typos if match_options.typos else 0
            prefix = variant.prefix and match_options.prefixes
            word = variant.words[0]
            self._index_word(_QueryWordMatcher(number, word, frozenset(word), max_typos, prefix))
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
        if self._analyzed:
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
    letters: frozenset[str]
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
        for word in variant.words if len(variant.words) == 1 or variant.anywhere else ():
            hit = TokenHit(variant.typos, number, len(word), variant.span, variant.replaced)
            hits.setdefault(word, []).append(hit)
    return hits


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

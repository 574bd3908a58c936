"""A compiled rule: its conditions, the search that they are matched with, and its precedence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

from svc_notebook.core.api.rule_checks import read_span
from svc_notebook.core.tokenization.tokenizer import TokenizerSettings, split
from svc_notebook.service.engine.filters.filters import Facet, Tag, Term, parse_filters
from svc_notebook.service.engine.index.schema import TAGS
from svc_notebook.service.engine.query.options import NATURAL_LANGUAGE_CONTEXT, EffectiveParameters
from svc_notebook.service.engine.query.query import max_typos_of
from svc_notebook.service.engine.query.term_variants import DEFAULT_LANGUAGES
from svc_notebook.service.engine.response.facets import Named
from svc_notebook.service.engine.text.lexicon import NormalizedLexicon
from svc_notebook.service.engine.text.typos import typos_between

Words = tuple[str, ...]
FindNamed = Callable[[str, Sequence[str]], list[Named]]
# A facet, its case-folded value, and whether the value is excluded.
SelectedValue = tuple[str, str, bool]


class WordForm(NamedTuple):
    """An alternative form of `length` query words."""

    length: int
    words: Words


@dataclass(frozen=True, eq=False)
class SearchContext:
    """A search as conditions of rules read it; `find_named` finds facet values in the query."""

    options: EffectiveParameters
    find_named: FindNamed

    @property
    def _params(self) -> Mapping[str, Any]:
        return self.options.params

    @cached_property
    def words(self) -> list[str]:
        """The words of the query."""
        return split(self.options["query"], self.options.rules)

    @cached_property
    def contexts(self) -> frozenset[str]:
        """The contexts of the search."""
        languages = [NATURAL_LANGUAGE_CONTEXT] if self.options["naturalLanguages"] else []
        return frozenset([*self.options["ruleContexts"], *languages])

    @cached_property
    def selected(self) -> frozenset[SelectedValue]:
        """The facet values that the search filters by."""
        terms = [term for group in parse_filters(self._params) for term in group]
        return frozenset(key for term in terms if (key := selected_value(term)))

    def named(self, facet: str) -> list[Named]:
        """Return the sequences of query words that are values of a facet."""
        if facet not in self._named:
            self._named[facet] = self.find_named(facet, self.words)
        return self._named[facet]

    def forms(self, at: int) -> Sequence[WordForm]:
        """Return the alternative forms of the words at a position."""
        return self._forms.get(at, ())

    def is_misspelled_at(self, at: int, word: str) -> bool:
        """Return whether the word at a position is another word with typos."""
        if at >= len(self.words) or word in self.options.words_without_typos:
            return False
        typed = self.words[at]
        allowed = max_typos_of(typed, self.options)
        return 0 < typos_between(typed, word, allowed, False)[0] <= allowed

    @cached_property
    def _named(self) -> dict[str, list[Named]]:
        return {}

    @cached_property
    def _forms(self) -> Mapping[int, list[WordForm]]:
        forms: dict[int, list[WordForm]] = {}
        for sense in self.options.resources.synonyms.find(self.words, self.options.rules):
            forms.setdefault(sense.start, []).append(WordForm(sense.length, sense.words))
        book = self.options.lexicon
        for at, word in enumerate(self.words):
            others = book.forms(word, self._languages(book))
            forms.setdefault(at, []).extend(WordForm(1, words) for words in others)
        return forms

    def _languages(self, book: NormalizedLexicon) -> Sequence[str]:
        """Return the languages whose plurals count: the query's, or else all known ones."""
        languages: Sequence[str] = self.options["queryLanguages"] or self.options["indexLanguages"]
        return languages or (*DEFAULT_LANGUAGES, *book.inflected)


def selected_value(term: Term) -> SelectedValue | None:
    """Return the facet value that a term selects; None for a numeric filter."""
    match term:
        case Facet(attribute, value, negated):
            return attribute, value.casefold(), negated
        case Tag(value, negated):
            return TAGS, value, negated
    return None


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


ANCHORINGS = ("is", "startsWith", "endsWith", "contains")
# The match position of a condition without a pattern: after all conditions with a match.
NO_POSITION = 2**20
Precedence = tuple[int | str, ...]


@dataclass(frozen=True)
class CompiledRule:
    """A rule's consequence and time ranges; no ranges means always."""

    id: str
    consequence: Mapping[str, Any]
    spans: tuple[tuple[float, float], ...] = ()

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> CompiledRule:
        """Compile a stored rule."""
        spans = tuple(map(read_span, entry.get("validity", ())))
        return cls(entry["objectID"], entry["consequence"], spans)

    def is_valid(self, now: float) -> bool:
        """Return whether the rule is valid at a time in Unix seconds."""
        return not self.spans or any(start <= now < end for start, end in self.spans)


@dataclass(frozen=True)
class CompiledCondition:
    """One condition of a rule; a search must meet all of its parts."""

    pattern: Pattern | None = None
    context: str | None = None
    selected: tuple[SelectedValue, ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any], rules: TokenizerSettings) -> CompiledCondition:
        """Compile a stored condition."""
        text = given.get("pattern")
        alternatives = bool(given.get("alternatives"))
        pattern = (
            None
            if text is None
            else Pattern.of(text, given["anchoring"], rules, alternatives=alternatives)
        )
        terms = [term for group in parse_filters(given) for term in group]
        selected = tuple(key for term in terms if (key := selected_value(term)))
        return cls(pattern, given.get("context") or None, selected)

    def find(self, search: SearchContext) -> PatternMatch | None:
        """Return where the condition matches a search, or None."""
        if self.context is not None and self.context not in search.contexts:
            return None
        if self.selected and not search.selected.issuperset(self.selected):
            return None
        return self.pattern.find(search) if self.pattern else PatternMatch(NO_POSITION, NO_POSITION)


class AppliedRule(NamedTuple):
    """A rule that applies to a search, with the captures of its pattern and its precedence."""

    rule: CompiledRule
    captures: Sequence[Capture]
    precedence: Precedence


def apply_rule(
    rule: CompiledRule, condition: CompiledCondition, search: SearchContext
) -> AppliedRule | None:
    """Match one condition of a rule with a search; return None if it does not apply."""
    match = condition.find(search)
    if match is None:
        return None
    pattern = condition.pattern
    precedence = (
        match.start,
        match.start - match.end,
        ANCHORINGS.index(pattern.anchoring) if pattern else len(ANCHORINGS),
        condition.context is None,
        not condition.selected,
        bool(pattern and pattern.placeholders),
        not rule.spans,
        rule.id,
    )
    return AppliedRule(rule, match.captures, precedence)

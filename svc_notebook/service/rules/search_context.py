"""A search as the conditions of rules read it: query words, contexts and filters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from svc_notebook.core.tokenization.tokenizer import split
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

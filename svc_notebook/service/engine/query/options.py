"""The options of a search: effective parameters, highlighting, similarity.

An effective parameter is that of the search, else the index setting, else the default.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, wraps
from itertools import accumulate, count
from typing import Any, TypeVar

from svc_notebook.core.api.parameters import PARAMETERS
from svc_notebook.core.tokenization.tokenizer import TokenizerSettings, split
from svc_notebook.errors import BadInput
from svc_notebook.service.engine.index.schema import (
    MAX_CACHED_SETTINGS,
    Faceted,
    Searched,
    is_covered,
    names_path,
    read_faceted,
    read_filterable,
    read_searched,
)
from svc_notebook.service.engine.text.lexicon import (
    NO_LANGUAGE_RESOURCES,
    LanguageResources,
    NormalizedLexicon,
    standard_languages,
)

T = TypeVar("T")
# Internal setting that marks a virtual replica, whose customRanking sorts the relevant hits.
VIRTUAL = "_virtual"
# Internal parameter: lists of attributes in the form of `attributesToRetrieve`. Attributes outside
# these lists are never returned.
EMBEDDED_LISTS = "_embeddedLists"
# The context of rules that `naturalLanguages` implies.
NATURAL_LANGUAGE_CONTEXT = "natural_language"
# Parameters to which the context is added.
EXTENDED_PARAMETERS = ("ruleContexts", "analyticsTags")
DEFAULTS = {name: parameter.default for name, parameter in PARAMETERS.items()}
NEURAL = "neuralSearch"
WEIGHT, MIN_SIMILARITY = "localWeight", "localMinSimilarity"
FEEDBACK_HITS, LATENT_SHARE = "localFeedbackHits", "localLatentShare"
# Members of `semanticSearch` that only the local service has.
RERANKED_HITS = "localRerankedHits"
DEFAULT_WEIGHT, DEFAULT_MIN_SIMILARITY, DEFAULT_FEEDBACK_HITS = 0.3, 0.2, 0
DEFAULT_LATENT_SHARE = 0.5
MAX_FEEDBACK_HITS = MAX_RERANKED_HITS = 100
BOOLEAN_TEXTS = {"true": True, "false": False}
SNIPPET_WORDS = 10
_SNIPPET = re.compile(r"([^:]+)(?::0*([1-9][0-9]{0,8}))?")


@dataclass(frozen=True, eq=False)
class EffectiveParameters:
    """Parameters and settings by name; `None` means that a parameter is not set."""

    settings: Mapping[str, Any]
    params: Mapping[str, Any]
    resources: LanguageResources = NO_LANGUAGE_RESOURCES

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    @cached_property
    def _values(self) -> dict[str, Any]:
        """The value of every parameter and setting: a search reads dozens of them."""
        values = dict(DEFAULTS)
        for source in (self.settings, self.params):
            values.update((name, value) for name, value in source.items() if value is not None)
        return values

    @property
    def typo_tolerance(self) -> bool | str:
        """Return true, false, `min` or `strict`."""
        given = self["typoTolerance"]
        return BOOLEAN_TEXTS.get(given, given) if isinstance(given, str) else bool(given)

    @property
    def sorts_relevant(self) -> bool:
        """Whether relevant hits are sorted by customRanking first (virtual replicas)."""
        return bool(self.settings.get(VIRTUAL))

    @property
    def distinct(self) -> int:
        """The number of hits per group, 0 for all."""
        return int(self["distinct"]) if self["attributeForDistinct"] else 0

    @cached_property
    def rules(self) -> TokenizerSettings:
        """The tokenizer settings."""
        return TokenizerSettings.of(self.settings)

    @cached_property
    def words_without_typos(self) -> frozenset[str]:
        """The words without typo tolerance."""
        given = self["disableTypoToleranceOnWords"]
        return frozenset(word for text in given for word in split(text, self.rules))

    @cached_property
    def searched(self) -> list[Searched]:
        """The entries of searchableAttributes."""
        return read_searched(self.settings)

    @cached_property
    def faceted(self) -> dict[str, Faceted]:
        """The entries of attributesForFaceting."""
        return read_faceted(self.settings)

    @cached_property
    def filterable(self) -> dict[str, bool]:
        """The entries of numericAttributesForFiltering; empty means all numeric attributes."""
        return read_filterable(self.settings)

    @cached_property
    def lexicon(self) -> NormalizedLexicon:
        """The application's dictionaries, normalized by the tokenizer settings."""
        return self.resources.lexicon.normalized(self.rules)

    @property
    def query_languages(self) -> Sequence[str]:
        """The languages of the query, otherwise those of the index."""
        languages: Sequence[str] = self["queryLanguages"] or self["indexLanguages"]
        return languages

    def languages_of(self, name: str) -> bool | Sequence[str]:
        """Return true, false or the languages for which an option is enabled."""
        value = self[name]
        return BOOLEAN_TEXTS.get(value, False) if isinstance(value, str) else value

    def is_stop_word(self, word: str) -> bool:
        """Return whether a word is a stop word in the languages of the option or of the query."""
        languages = self.languages_of("removeStopWords") or True
        if languages is True:
            languages = self.query_languages or standard_languages()
        return self.lexicon.is_stop_word(word, languages)

    def with_similar_query(self) -> EffectiveParameters:
        """Return the options with `similarQuery` as the query and all its words optional."""
        similar = self.params.get("similarQuery")
        if not similar:
            return self
        others = [entry for entry in self["ranking"] if entry != "words"]
        changes = {
            "query": similar,
            "queryType": "prefixNone",
            "removeStopWords": self.languages_of("removeStopWords") or True,
            "optionalWords": split(similar, self.rules),
            "ranking": ["words", *others],
        }
        return replace(self, params={**self.params, **changes})

    @cached_property
    def hidden(self) -> tuple[str, ...]:
        """The attributes that the settings hide from the caller."""
        if self.params.get("_seeUnretrievable"):
            return ()
        return tuple(self.settings.get("unretrievableAttributes") or ())

    def is_visible(self, path: str) -> bool:
        """Return whether an attribute is visible to the caller."""
        lists = self.params.get(EMBEDDED_LISTS, ())
        return all(names_path(names, path) for names in lists) and not is_covered(path, self.hidden)


def read_facets(options: EffectiveParameters) -> list[str]:
    """Return the facets to count; `*` means all that may be counted."""
    given = options["facets"]
    requested = {given} if isinstance(given, str) else dict.fromkeys(given)
    if not requested:
        return []
    countable = {path: entry for path, entry in options.faceted.items() if entry.counted}
    chosen = countable if "*" in requested else [path for path in requested if path in countable]
    return [path for path in chosen if options.is_visible(path)]


def add_implied(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parameters with those that `naturalLanguages` implies; given ones are kept."""
    languages = params.get("naturalLanguages")
    if not languages:
        return params
    implied = {
        "removeStopWords": languages,
        "ignorePlurals": languages,
        "removeWordsIfNoResults": "allOptional",
    }
    added = {name: _with_context(params.get(name)) for name in EXTENDED_PARAMETERS}
    return {**implied, **params, **added}


def _with_context(given: list[str] | None) -> list[str]:
    return list(dict.fromkeys((*(given or ()), NATURAL_LANGUAGE_CONTEXT)))


# Arguments with more characters are not kept.
MAX_CACHED_CHARACTERS = 10_000


def cache_if_short(read: Callable[..., T]) -> Callable[..., T]:
    """Keep the results of a function of texts, whose arguments are mostly those of settings.

    A search may send other ones, which are not kept if they are long.
    """
    read_or_reuse = lru_cache(MAX_CACHED_SETTINGS)(read)

    @wraps(read)
    def call(*arguments: Sequence[str]) -> T:
        length = sum(len(text) for texts in arguments for text in texts)
        return (read_or_reuse if length <= MAX_CACHED_CHARACTERS else read)(*arguments)

    return call


@dataclass(frozen=True)
class HighlightedAttributes:
    """Selected attributes, each with the number of words of its snippet.

    `parents` are the parent objects of selected attributes that are not selected themselves.
    """

    numbers: Mapping[str, int]
    rest: int | None
    hidden: frozenset[str]
    parents: frozenset[str]


@cache_if_short
def select_highlighted(names: tuple[str, ...], hidden: tuple[str, ...]) -> HighlightedAttributes:
    """Select attributes by name, `*` for all, without snippets and without the hidden ones."""
    return _select({name.strip(): 0 for name in names}, hidden)


@cache_if_short
def select_snippeted(entries: tuple[str, ...], hidden: tuple[str, ...]) -> HighlightedAttributes:
    """Read `attributesToSnippet`, without the hidden attributes; raises `BadInput`."""
    return _select(dict(map(_read_snippet, entries, count())), hidden)


def _select(numbers: Mapping[str, int], hidden: Sequence[str]) -> HighlightedAttributes:
    named = {
        path: number
        for path, number in numbers.items()
        if path != "*" and not is_covered(path, hidden)
    }
    parents = frozenset(
        parent for path in named for parent in accumulate(path.split(".")[:-1], "{}.{}".format)
    )
    return HighlightedAttributes(named, numbers.get("*"), frozenset(hidden), parents)


@dataclass(frozen=True)
class Style:
    """How one search marks its hits; `words` are the query's, in the matcher's numbering.

    `distinct` are these words once each, and `whole` those that a text must contain for a full
    match. With `replacing`, a synonym is shown as the query words that it matches.
    """

    words: tuple[str, ...]
    distinct: tuple[str, ...]
    whole: frozenset[str]
    rules: TokenizerSettings
    highlighted: HighlightedAttributes
    snippeted: HighlightedAttributes
    before: str
    after: str
    ellipsis: str
    only_matching_items: bool
    replacing: bool
    _words_of: dict[tuple[int, ...], frozenset[str]] = field(
        default_factory=dict, init=False, compare=False
    )

    def of_numbers(self, numbers: tuple[int, ...]) -> frozenset[str]:
        """Return the words with these numbers, cached: there are few such sets and many texts."""
        cached = self._words_of.get(numbers)
        if cached is None:
            cached = self._words_of[numbers] = frozenset([self.words[number] for number in numbers])
        return cached

    @classmethod
    def of(cls, options: EffectiveParameters, words: Sequence[str]) -> Style:
        """Read the style of a search from its options."""
        highlighted = options["attributesToHighlight"]
        if highlighted is None:
            highlighted = [entry.path for entry in options.searched] or ["*"]
        return cls(
            words=tuple(words),
            distinct=tuple(dict.fromkeys(words)),
            whole=frozenset(words),
            rules=options.rules,
            highlighted=select_highlighted(tuple(highlighted), options.hidden),
            snippeted=select_snippeted(tuple(options["attributesToSnippet"]), options.hidden),
            before=options["highlightPreTag"],
            after=options["highlightPostTag"],
            ellipsis=options["snippetEllipsisText"],
            only_matching_items=options["restrictHighlightAndSnippetArrays"],
            replacing=options["replaceSynonymsInHighlight"],
        )


def _read_snippet(entry: str, position: int) -> tuple[str, int]:
    read = _SNIPPET.fullmatch(entry.strip())
    if not read:
        raise BadInput(
            f'attributesToSnippet[{position}]: expected name or name:words, found "{entry}"'
        )
    return read[1].strip(), int(read[2] or SNIPPET_WORDS)


@dataclass(frozen=True)
class SemanticOptions:
    """How much similarity counts against words, from 0 to 1, and the least cosine of a hit.

    `feedback_hits` are the best hits whose vectors move that of the query. `latent_share` is how
    much latent vectors count in a similarity against those of an embedder, from 0 to 1. A reranker
    orders the first `reranked_hits` hits, in any mode.
    """

    weight: float = DEFAULT_WEIGHT
    min_similarity: float = DEFAULT_MIN_SIMILARITY
    feedback_hits: int = DEFAULT_FEEDBACK_HITS
    latent_share: float = DEFAULT_LATENT_SHARE
    reranked_hits: int = 0

    @classmethod
    def of(cls, members: Mapping[str, Any] | None) -> SemanticOptions:
        """Read them from the value of `semanticSearch`; raises `BadInput`."""
        if not members:
            return DEFAULT_SEMANTIC_OPTIONS
        weight = _read_share(members, WEIGHT, DEFAULT_WEIGHT, 0)
        min_similarity = _read_share(members, MIN_SIMILARITY, DEFAULT_MIN_SIMILARITY, -1)
        latent_share = _read_share(members, LATENT_SHARE, DEFAULT_LATENT_SHARE, 0)
        feedback_hits = _read_count(members, FEEDBACK_HITS, MAX_FEEDBACK_HITS)
        reranked_hits = _read_count(members, RERANKED_HITS, MAX_RERANKED_HITS)
        return cls(weight, min_similarity, feedback_hits, latent_share, reranked_hits)


DEFAULT_SEMANTIC_OPTIONS = SemanticOptions()


def _read_share(members: Mapping[str, Any], name: str, default: float, minimum: float) -> float:
    value = members.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not minimum <= value <= 1:
        raise BadInput(f"semanticSearch: `{name}` must be a number from {minimum} to 1")
    return float(value)


def _read_count(members: Mapping[str, Any], name: str, limit: int) -> int:
    value = members.get(name)
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= limit:
        raise BadInput(
            f"semanticSearch: `{name}` must be a whole number from 0 to {limit}; 0 turns it off"
        )
    return value

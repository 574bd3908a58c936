"""Shapes of synonyms, rules and dictionary entries."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Required, TypedDict

from msgspec import Meta

from svc_notebook.core.api.parameters import SearchOptions
from svc_notebook.core.api.values import Integer, Natural


class Synonym(TypedDict, total=False):
    """A synonym: words that match each other."""

    objectID: Required[str]
    type: Required[
        Literal[
            "synonym",
            "onewaysynonym",
            "oneWaySynonym",
            "altcorrection1",
            "altCorrection1",
            "altcorrection2",
            "altCorrection2",
            "placeholder",
        ]
    ]
    synonyms: list[str]
    input: str
    word: str
    corrections: list[str]
    placeholder: str
    replacements: list[str]
    _highlightResult: dict[str, Any]  # fmt: skip


class SynonymHits(TypedDict):
    """Synonyms that match a query."""

    hits: list[Synonym]
    nbHits: int


class Condition(TypedDict, total=False):
    """A condition under which a rule applies."""

    pattern: str
    anchoring: Literal["is", "startsWith", "endsWith", "contains"]
    alternatives: bool
    context: str
    filters: str


class RuleEdit(TypedDict, total=False):
    """One edit of the query's words."""

    type: Required[Literal["remove", "replace"]]
    delete: Required[str]
    insert: str


class RuleQuery(TypedDict, total=False):
    """Edits of the query's words."""

    remove: list[str]
    edits: list[RuleEdit]


class AutomaticFilter(TypedDict, total=False):
    """A filter on the facet value that a placeholder of the pattern matched."""

    facet: Required[str]
    score: Integer
    disjunctive: bool
    negative: bool


class RuleParams(SearchOptions, total=False):
    """Search parameters that a rule sets; `query` is text or edits."""

    query: str | RuleQuery | None
    automaticFacetFilters: list[str | AutomaticFilter]
    automaticOptionalFacetFilters: list[str | AutomaticFilter]


class Promoted(TypedDict, total=False):
    """Records promoted to a position."""

    objectID: str
    objectIDs: Annotated[list[str], Meta(max_length=100)]
    position: Required[Natural]


class Hidden(TypedDict):
    """A record that a rule hides."""

    objectID: str


class Redirect(TypedDict):
    """The index that is searched instead."""

    indexName: str


class Consequence(TypedDict, total=False):
    """The consequence of a rule."""

    params: RuleParams
    promote: Annotated[list[Promoted], Meta(max_length=300)]
    filterPromotes: bool
    hide: Annotated[list[Hidden], Meta(max_length=50)]
    redirect: Redirect
    userData: Any


TimeRange = TypedDict("TimeRange", {"from": Integer, "until": Integer}, total=False)
TimeRange.__doc__ = "When a rule is valid, in Unix seconds; open at an end that is not given."


class Rule(TypedDict, total=False):
    """A rule: its conditions and its consequence."""

    objectID: Required[str]
    conditions: Annotated[list[Condition], Meta(max_length=25)]
    condition: Condition
    consequence: Required[Consequence]
    description: str
    enabled: bool
    validity: list[TimeRange]
    tags: list[str]
    scope: str
    _highlightResult: dict[str, Any]
    _metadata: dict[str, Any]


class RuleHits(TypedDict):
    """Rules that match a query."""

    hits: list[Rule]
    nbHits: int
    page: int
    nbPages: int


DictionaryName = Literal["stopwords", "plurals", "compounds"]


class DictionaryEntry(TypedDict, total=False):
    """A stop word, a plural or a compound."""

    objectID: Required[str]
    language: str
    word: str
    words: list[str]
    decomposition: list[str]
    state: Literal["enabled", "disabled"]
    type: Literal["custom", "standard"]


class DictionaryRequest(TypedDict):
    """One operation of a dictionary batch."""

    action: Literal["addEntry", "deleteEntry"]
    body: DictionaryEntry


class DictionaryHits(TypedDict):
    """Dictionary entries that match a query."""

    hits: list[DictionaryEntry]
    nbHits: int
    page: int
    nbPages: int


class StandardEntries(TypedDict, total=False):
    """Whether the standard entries are disabled, by dictionary and language."""

    stopwords: dict[str, bool] | None
    plurals: dict[str, bool] | None
    compounds: dict[str, bool] | None


class DictionarySettings(TypedDict):
    """The settings of the dictionaries."""

    disableStandardEntries: StandardEntries


LanguageListing = dict[str, dict[str, dict[str, int] | None]]

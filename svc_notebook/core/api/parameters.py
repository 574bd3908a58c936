"""All search parameters and settings, each with its type and default.

Three shapes contain them: `Shared` (both a setting and a search parameter), `SearchOptions` and
`SearchParams` (parameters of one search only), and `Settings` (settings of an index only).
`PARAMETERS` is generated from these shapes and `parameter_meanings`. `None` always means the
default.
"""

# No postponed annotations here: shapes of other modules inherit these members, and Python evaluates
# a postponed annotation with the names of the inheriting module.
import typing
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypedDict

from msgspec import Meta

from svc_notebook.core.api.parameter_meanings import GROUP_OF, MEANINGS
from svc_notebook.core.api.validation import hints, literals
from svc_notebook.core.api.values import Integer, Natural, Positive

Effect = Literal["works", "accepted", "local"]


@dataclass(frozen=True)
class Info:
    """The default of a parameter, and whether the local service supports it.

    The few parameters that are only `accepted` belong to the vendor's own products and have no
    effect here. Those that are `local` extend the API: hosted services do not know them.
    """

    default: Any = field(hash=False)
    effect: Effect = "works"


Hits = Annotated[int, Meta(ge=0, le=1000)]
Reach = Annotated[int, Meta(ge=0, le=20000)]
Percent = Annotated[int, Meta(ge=0, le=100)]
Places = Annotated[int, Meta(ge=0, le=1000)]
Groups = Annotated[int, Meta(ge=0, le=4)]
Nearness = Annotated[int, Meta(ge=1, le=8)]
Weight = Annotated[float, Meta(ge=0, le=100)]
Words = list[str]
Filters = str | list[Any]
Boxes = str | list[list[float] | float]
Tolerance = bool | Literal["min", "strict", "true", "false"]
Languages = bool | list[str] | Literal["true", "false"]
QueryType = Literal["prefixLast", "prefixAll", "prefixNone"]
RemoveWords = Literal["none", "lastWords", "firstWords", "allOptional"]
AdvancedFeature = Literal["exactPhrase", "excludeWords"]
SingleWord = Literal["attribute", "none", "word"]
Alternative = Literal[
    "ignorePlurals", "singleWordSynonym", "multiWordsSynonym", "ignoreConjugations"
]


PrecisionStep = TypedDict("PrecisionStep", {"from": Integer, "value": Integer})


class Shared(TypedDict, total=False):
    """Settings of an index that a single search can override."""

    attributesToRetrieve: Annotated[Words | None, Info(["*"])]
    ranking: Annotated[
        Words | None,
        Info(
            ["typo", "geo", "words", "filters", "proximity", "attribute", "exact", "custom"],
        ),
    ]
    relevancyStrictness: Annotated[
        Percent | None,
        Info(100),
    ]
    attributesToHighlight: Annotated[Words | None, Info(None)]
    attributesToSnippet: Annotated[Words | None, Info([])]
    highlightPreTag: Annotated[str | None, Info("<em>")]
    highlightPostTag: Annotated[str | None, Info("</em>")]
    snippetEllipsisText: Annotated[str | None, Info("…")]
    restrictHighlightAndSnippetArrays: Annotated[bool | None, Info(False)]
    hitsPerPage: Annotated[Hits | None, Info(20)]
    minWordSizefor1Typo: Annotated[Natural | None, Info(4)]
    minWordSizefor2Typos: Annotated[Natural | None, Info(8)]
    typoTolerance: Annotated[
        Tolerance | None,
        Info(
            True,
        ),
    ]
    allowTyposOnNumericTokens: Annotated[bool | None, Info(True)]
    disableTypoToleranceOnAttributes: Annotated[Words | None, Info([])]
    ignorePlurals: Annotated[
        Languages | None,
        Info(False),
    ]
    removeStopWords: Annotated[
        Languages | None,
        Info(False),
    ]
    decompoundQuery: Annotated[
        bool | None,
        Info(True),
    ]
    queryLanguages: Annotated[Words | None, Info([])]
    enableRules: Annotated[bool | None, Info(True)]
    enablePersonalization: Annotated[bool | None, Info(False, effect="accepted")]
    # Without it the hosted service may re-rank and the local one does not: neither is the default.
    enableReRanking: Annotated[bool | None, Info(None)]
    reRankingApplyFilter: Annotated[Filters | None, Info(None)]
    attributeWeights: Annotated[
        Literal["halving", "flat"] | dict[str, Weight] | None,
        Info("halving", effect="local"),
    ]
    mode: Annotated[
        Literal["keywordSearch", "neuralSearch"] | None,
        Info("keywordSearch"),
    ]
    semanticSearch: Annotated[dict[str, Any] | None, Info(None)]
    queryType: Annotated[QueryType | None, Info("prefixLast")]
    removeWordsIfNoResults: Annotated[RemoveWords | None, Info("none")]
    advancedSyntax: Annotated[bool | None, Info(False)]
    advancedSyntaxFeatures: Annotated[
        list[AdvancedFeature] | None,
        Info(["exactPhrase", "excludeWords"]),
    ]
    optionalWords: Annotated[
        str | Words | None,
        Info([]),
    ]
    disableExactOnAttributes: Annotated[Words | None, Info([])]
    exactOnSingleWordQuery: Annotated[SingleWord | None, Info("attribute")]
    alternativesAsExact: Annotated[
        list[Alternative] | None,
        Info(["ignorePlurals", "singleWordSynonym"]),
    ]
    distinct: Annotated[bool | Groups | None, Info(0)]
    replaceSynonymsInHighlight: Annotated[bool | None, Info(False)]
    minProximity: Annotated[Nearness | None, Info(1)]
    responseFields: Annotated[Words | None, Info(["*"])]
    maxFacetHits: Annotated[Percent | None, Info(10)]
    maxValuesPerFacet: Annotated[Places | None, Info(100)]
    sortFacetValuesBy: Annotated[Literal["count", "alpha", ""] | None, Info("count")]
    attributeCriteriaComputedByMinProximity: Annotated[bool | None, Info(False)]
    attributeCriteriaComputedBy: Annotated[str | None, Info(None, effect="accepted")]
    renderingContent: Annotated[dict[str, Any] | None, Info(None)]


class SearchOptions(Shared, total=False):
    """Parameters of one search except its query; all are optional."""

    similarQuery: Annotated[
        str | None,
        Info(""),
    ]
    filters: Annotated[str | None, Info(None)]
    facetFilters: Annotated[Filters | None, Info(None)]
    numericFilters: Annotated[Filters | None, Info(None)]
    tagFilters: Annotated[Filters | None, Info(None)]
    optionalFilters: Annotated[Filters | None, Info(None)]
    sumOrFiltersScores: Annotated[bool | None, Info(False)]
    restrictSearchableAttributes: Annotated[Words | None, Info([])]
    facets: Annotated[str | Words | None, Info([])]
    facetingAfterDistinct: Annotated[bool | None, Info(False)]
    page: Annotated[Natural | None, Info(0)]
    offset: Annotated[Natural | None, Info(None)]
    length: Annotated[Places | None, Info(None)]
    aroundLatLng: Annotated[str | None, Info("")]
    aroundLatLngViaIP: Annotated[
        bool | None,
        Info(False, effect="accepted"),
    ]
    aroundRadius: Annotated[
        Positive | Literal["all"] | None,
        Info(None),
    ]
    aroundPrecision: Annotated[
        Natural | list[PrecisionStep] | None,
        Info(10),
    ]
    minimumAroundRadius: Annotated[Positive | None, Info(None)]
    insideBoundingBox: Annotated[Boxes | None, Info(None)]
    insidePolygon: Annotated[Boxes | None, Info(None)]
    naturalLanguages: Annotated[
        Words | None,
        Info(
            [],
        ),
    ]
    ruleContexts: Annotated[Words | None, Info([])]
    personalizationImpact: Annotated[Percent | None, Info(100, effect="accepted")]
    userToken: Annotated[str | None, Info(None)]
    getRankingInfo: Annotated[bool | None, Info(False)]
    synonyms: Annotated[bool | None, Info(True)]
    clickAnalytics: Annotated[bool | None, Info(False)]
    analytics: Annotated[bool | None, Info(True)]
    analyticsTags: Annotated[Words | None, Info([])]
    enableABTest: Annotated[bool | None, Info(True)]
    percentileComputation: Annotated[bool | None, Info(True, effect="accepted")]
    explain: Annotated[Words | None, Info([], effect="accepted")]
    extensions: Annotated[dict[str, Any] | None, Info(None, effect="accepted")]


class SearchParams(SearchOptions, total=False):
    """All parameters of one search, including its query."""

    query: Annotated[str | None, Info("")]


class Settings(Shared, total=False):
    """The settings of an index; an omitted setting is unchanged, `None` restores the default."""

    searchableAttributes: Annotated[
        Words | None,
        Info([]),
    ]
    attributesForFaceting: Annotated[
        Words | None,
        Info([]),
    ]
    unretrievableAttributes: Annotated[Words | None, Info([])]
    customRanking: Annotated[Words | None, Info([])]
    replicas: Annotated[
        Words | None,
        Info([]),
    ]
    paginationLimitedTo: Annotated[Reach | None, Info(1000)]
    disableTypoToleranceOnWords: Annotated[Words | None, Info([])]
    separatorsToIndex: Annotated[str | None, Info("")]
    attributesToTransliterate: Annotated[Words | None, Info([])]
    camelCaseAttributes: Annotated[Words | None, Info([])]
    decompoundedAttributes: Annotated[
        dict[str, Words] | None,
        Info({}),
    ]
    keepDiacriticsOnCharacters: Annotated[str | None, Info("")]
    customNormalization: Annotated[dict[str, dict[str, str]] | None, Info(None)]
    indexLanguages: Annotated[Words | None, Info([])]
    disablePrefixOnAttributes: Annotated[Words | None, Info([])]
    numericAttributesForFiltering: Annotated[
        Words | None,
        Info([]),
    ]
    allowCompressionOfIntegerArray: Annotated[bool | None, Info(False, effect="accepted")]
    attributeForDistinct: Annotated[str | None, Info(None)]
    userData: Annotated[Any, Info({})]


class ReadSettings(Settings, total=False):
    """Settings as they are read; those of a replica name its primary."""

    primary: str


ParameterScope = Literal["parameter", "setting", "both"]


@dataclass(frozen=True)
class Parameter:
    """One search parameter or setting, as help, completion and docs show it."""

    name: str
    scope: ParameterScope
    type: Any
    default: Any
    meaning: str
    group: str
    effect: Effect
    choices: tuple[str, ...]


# api-notes.md, section 2: former names that older clients still send.
ALIASES = {
    "attributesToIndex": "searchableAttributes",
    "slaves": "replicas",
    "numericAttributesToIndex": "numericAttributesForFiltering",
}


def _read_off(shape: Any, scope: ParameterScope) -> dict[str, Parameter]:
    names = hints(shape).keys() - (hints(Shared).keys() if shape is not Shared else set())
    return {name: _parameter(name, hints(shape)[name], scope) for name in sorted(names)}


def _parameter(name: str, kind: Any, scope: ParameterScope) -> Parameter:
    plain, about = typing.get_args(kind)
    return Parameter(
        name, scope, plain, about.default, MEANINGS[name], GROUP_OF[name], about.effect,
        tuple(literals(plain)),
    )  # fmt: skip


PARAMETERS: dict[str, Parameter] = (
    _read_off(Shared, "both")
    | _read_off(SearchParams, "parameter")
    | _read_off(Settings, "setting")
)


# Parameters and settings that only the local service has.
LOCAL_PARAMETERS = frozenset(
    name for name, parameter in PARAMETERS.items() if parameter.effect == "local"
)


def default_of(name: str) -> Any:
    """Return the default of a parameter or setting."""
    return PARAMETERS[name].default

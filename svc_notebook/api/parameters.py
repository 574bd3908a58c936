"""All search parameters and settings, each with its type, default and meaning.

Three shapes contain them: `Shared` (both a setting and a search parameter), `SearchOptions` and
`SearchParams` (parameters of one search only), and `Settings` (settings of an index only).
`PARAMETERS` is generated from these shapes. `None` always means the default.
"""

# No postponed annotations here: shapes of other modules inherit these members, and Python evaluates
# a postponed annotation with the names of the inheriting module.
import typing
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypedDict

from msgspec import Meta

from svc_notebook.api.validation import hints, literals

Effect = Literal["works", "accepted"]


@dataclass(frozen=True)
class Info:
    """The default and the meaning of a parameter, and whether the local service supports it.

    The few parameters that are only `accepted` belong to the vendor's own products and have no
    effect here.
    """

    default: Any = field(hash=False)
    meaning: str
    effect: Effect = "works"


Natural = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Hits = Annotated[int, Meta(ge=0, le=1000)]
Reach = Annotated[int, Meta(ge=0, le=20000)]
Percent = Annotated[int, Meta(ge=0, le=100)]
Places = Annotated[int, Meta(ge=0, le=1000)]
Groups = Annotated[int, Meta(ge=0, le=4)]
Nearness = Annotated[int, Meta(ge=1, le=8)]
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


PrecisionStep = TypedDict("PrecisionStep", {"from": int, "value": int})


class Shared(TypedDict, total=False):
    """Settings of an index that a single search can override."""

    attributesToRetrieve: Annotated[
        Words | None, Info(["*"], "attributes in a hit; `-name` excludes one from `*`")
    ]
    ranking: Annotated[
        Words | None,
        Info(
            ["typo", "geo", "words", "filters", "proximity", "attribute", "exact", "custom"],
            "criteria in their order; `asc(a)` and `desc(a)` sort by an attribute",
        ),
    ]
    relevancyStrictness: Annotated[
        Percent | None,
        Info(100, "how relevant a hit of a virtual replica must be, in percent"),
    ]
    attributesToHighlight: Annotated[
        Words | None, Info(None, "attributes whose matches are marked; default: the searchable")
    ]
    attributesToSnippet: Annotated[
        Words | None, Info([], "attributes to cut around the match: `name` or `name:words`")
    ]
    highlightPreTag: Annotated[str | None, Info("<em>", "text before a marked word")]
    highlightPostTag: Annotated[str | None, Info("</em>", "text after a marked word")]
    snippetEllipsisText: Annotated[str | None, Info("…", "text at a snippet's cut ends")]
    restrictHighlightAndSnippetArrays: Annotated[
        bool | None, Info(False, "keep only the matching items of a highlighted array")
    ]
    hitsPerPage: Annotated[Hits | None, Info(20, "hits per page; 0 returns counts only")]
    minWordSizefor1Typo: Annotated[
        Natural | None, Info(4, "minimum letters of a query word for one typo")
    ]
    minWordSizefor2Typos: Annotated[
        Natural | None, Info(8, "minimum letters of a query word for two typos")
    ]
    typoTolerance: Annotated[
        Tolerance | None,
        Info(
            True,
            "whether typos match; `min`: only the fewest typos, `strict`: the two fewest",
        ),
    ]
    allowTyposOnNumericTokens: Annotated[
        bool | None, Info(True, "whether words with digits may match with typos")
    ]
    disableTypoToleranceOnAttributes: Annotated[
        Words | None, Info([], "attributes in which only exact words match")
    ]
    ignorePlurals: Annotated[
        Languages | None,
        Info(False, "singular and plural match each other: yes, or the languages"),
    ]
    removeStopWords: Annotated[
        Languages | None,
        Info(False, "remove stop words from the query: yes, or the languages"),
    ]
    decompoundQuery: Annotated[
        bool | None,
        Info(True, "split compound words of the query in the query's languages"),
    ]
    queryLanguages: Annotated[Words | None, Info([], "languages of the query, as ISO codes")]
    enableRules: Annotated[bool | None, Info(True, "whether the index's rules apply")]
    enablePersonalization: Annotated[
        bool | None, Info(False, "personalised ranking of the vendor's", effect="accepted")
    ]
    enableReRanking: Annotated[
        bool | None, Info(True, "learned re-ranking of the vendor's", effect="accepted")
    ]
    reRankingApplyFilter: Annotated[
        Filters | None, Info(None, "which hits learned re-ranking may move", effect="accepted")
    ]
    mode: Annotated[
        Literal["keywordSearch", "neuralSearch"] | None,
        Info("keywordSearch", "keyword or semantic matching", effect="accepted"),
    ]
    semanticSearch: Annotated[
        dict[str, Any] | None, Info(None, "options of semantic matching", effect="accepted")
    ]
    queryType: Annotated[
        QueryType | None, Info("prefixLast", "which query words match as beginnings of words")
    ]
    removeWordsIfNoResults: Annotated[
        RemoveWords | None, Info("none", "which words become optional if the search has no hits")
    ]
    advancedSyntax: Annotated[
        bool | None, Info(False, 'whether `"a phrase"` and `-word` are operators in a query')
    ]
    advancedSyntaxFeatures: Annotated[
        list[AdvancedFeature] | None,
        Info(["exactPhrase", "excludeWords"], "which of the two features advancedSyntax enables"),
    ]
    optionalWords: Annotated[
        str | Words | None,
        Info([], "query words that a hit need not contain; entries may be phrases"),
    ]
    disableExactOnAttributes: Annotated[
        Words | None, Info([], "attributes whose words never count as exact")
    ]
    exactOnSingleWordQuery: Annotated[
        SingleWord | None, Info("attribute", "when the one word of a query counts as exact")
    ]
    alternativesAsExact: Annotated[
        list[Alternative] | None,
        Info(["ignorePlurals", "singleWordSynonym"], "which alternatives count as exact"),
    ]
    distinct: Annotated[
        bool | Groups | None, Info(0, "hits kept of each group of attributeForDistinct")
    ]
    replaceSynonymsInHighlight: Annotated[
        bool | None, Info(False, "show the word of the query instead of its synonym")
    ]
    minProximity: Annotated[
        Nearness | None, Info(1, "distances up to this count as equal; 8 disables proximity")
    ]
    responseFields: Annotated[Words | None, Info(["*"], "top-level members of a response")]
    maxFacetHits: Annotated[Percent | None, Info(10, "values a search inside a facet returns")]
    maxValuesPerFacet: Annotated[Places | None, Info(100, "values counted of each facet")]
    sortFacetValuesBy: Annotated[
        Literal["count", "alpha"] | None, Info("count", "order of a facet's values")
    ]
    attributeCriteriaComputedByMinProximity: Annotated[
        bool | None, Info(False, "the best attribute is the one where the words are closest")
    ]
    attributeCriteriaComputedBy: Annotated[
        str | None, Info(None, "another way to select the best attribute", effect="accepted")
    ]
    renderingContent: Annotated[
        dict[str, Any] | None, Info(None, "hints for a user interface, returned unchanged")
    ]


class SearchOptions(Shared, total=False):
    """Parameters of one search except its query; all are optional."""

    similarQuery: Annotated[
        str | None,
        Info("", "a search instead of `query` in which every word is optional"),
    ]
    filters: Annotated[str | None, Info(None, "a boolean expression hits must satisfy")]
    facetFilters: Annotated[
        Filters | None, Info(None, "`name:value` hits must have; inner lists are alternatives")
    ]
    numericFilters: Annotated[
        Filters | None, Info(None, "`name > 10` hits must satisfy; inner lists are alternatives")
    ]
    tagFilters: Annotated[
        Filters | None, Info(None, "values of `_tags` hits must have; inner lists alternatives")
    ]
    optionalFilters: Annotated[
        Filters | None, Info(None, "`name:value` that rank a hit higher, or lower if negated")
    ]
    sumOrFiltersScores: Annotated[
        bool | None, Info(False, "add the scores of alternatives instead of using the highest")
    ]
    restrictSearchableAttributes: Annotated[
        Words | None, Info([], "search only in these of the searchable attributes")
    ]
    facets: Annotated[str | Words | None, Info([], "facets to count; `*` for all")]
    facetingAfterDistinct: Annotated[
        bool | None, Info(False, "count facets after groups are reduced by `distinct`")
    ]
    page: Annotated[Natural | None, Info(0, "page number, from 0")]
    offset: Annotated[Natural | None, Info(None, "number of the first hit, with `length`")]
    length: Annotated[Places | None, Info(None, "number of hits from `offset` on")]
    aroundLatLng: Annotated[str | None, Info("", "`lat,lng` to search around")]
    aroundLatLngViaIP: Annotated[
        bool | None,
        Info(False, "search around the location of the caller's address", effect="accepted"),
    ]
    aroundRadius: Annotated[
        Positive | Literal["all"] | None,
        Info(None, "metres around the centre; depends on the density if unset"),
    ]
    aroundPrecision: Annotated[
        Natural | list[PrecisionStep] | None,
        Info(10, "metres within which distances count as equal; below 10 counts as 10"),
    ]
    minimumAroundRadius: Annotated[
        Positive | None, Info(None, "minimum radius in metres if `aroundRadius` is unset")
    ]
    insideBoundingBox: Annotated[
        Boxes | None, Info(None, "boxes to search in, each as two opposite corners")
    ]
    insidePolygon: Annotated[Boxes | None, Info(None, "polygons to search in, each as its points")]
    naturalLanguages: Annotated[
        Words | None,
        Info(
            [],
            "languages of a spoken query: stop words, plurals, optional words",
        ),
    ]
    ruleContexts: Annotated[Words | None, Info([], "contexts that may trigger rules")]
    personalizationImpact: Annotated[
        Percent | None, Info(100, "weight of personalisation", effect="accepted")
    ]
    userToken: Annotated[str | None, Info(None, "who searches, for rate limits")]
    getRankingInfo: Annotated[
        bool | None, Info(False, "add `_rankingInfo`, the value of each criterion, to each hit")
    ]
    synonyms: Annotated[bool | None, Info(True, "whether the index's synonyms apply")]
    clickAnalytics: Annotated[bool | None, Info(False, "add a `queryID` for events to refer to")]
    analytics: Annotated[
        bool | None, Info(True, "count the search in analytics", effect="accepted")
    ]
    analyticsTags: Annotated[Words | None, Info([], "labels in analytics", effect="accepted")]
    enableABTest: Annotated[bool | None, Info(True, "take part in A/B tests", effect="accepted")]
    percentileComputation: Annotated[
        bool | None, Info(True, "count the search in latency statistics", effect="accepted")
    ]


class SearchParams(SearchOptions, total=False):
    """All parameters of one search, including its query."""

    query: Annotated[
        str | None, Info("", "the words to search for; an empty query matches all records")
    ]


class Settings(Shared, total=False):
    """The settings of an index; an omitted setting is unchanged, `None` restores the default."""

    searchableAttributes: Annotated[
        Words | None,
        Info([], "attributes to search, most important first; `a,b` equal, `unordered(a)`"),
    ]
    attributesForFaceting: Annotated[
        Words | None,
        Info([], "facets; `searchable(a)`, `filterOnly(a)`, `afterDistinct(a)`"),
    ]
    unretrievableAttributes: Annotated[Words | None, Info([], "attributes that are never returned")]
    customRanking: Annotated[
        Words | None, Info([], "`asc(a)` or `desc(a)`: the criterion `custom` of the ranking")
    ]
    replicas: Annotated[
        Words | None,
        Info([], "replica indices; `virtual(name)` sorts only relevant hits"),
    ]
    paginationLimitedTo: Annotated[Reach | None, Info(1000, "hits that pages can reach")]
    disableTypoToleranceOnWords: Annotated[
        Words | None, Info([], "words that match only without typos")
    ]
    separatorsToIndex: Annotated[
        str | None, Info("", "characters indexed as words instead of separators")
    ]
    attributesToTransliterate: Annotated[
        Words | None, Info([], "attributes also indexed in another script")
    ]
    camelCaseAttributes: Annotated[Words | None, Info([], "attributes whose camelCase is split")]
    decompoundedAttributes: Annotated[
        dict[str, Words] | None,
        Info({}, "per language, attributes whose compounds are split"),
    ]
    keepDiacriticsOnCharacters: Annotated[
        str | None, Info("", "characters that keep their accents")
    ]
    customNormalization: Annotated[
        dict[str, dict[str, str]] | None, Info(None, "replacements of characters, by language")
    ]
    indexLanguages: Annotated[Words | None, Info([], "languages of the records, as ISO codes")]
    disablePrefixOnAttributes: Annotated[
        Words | None, Info([], "attributes in which beginnings of words do not match")
    ]
    numericAttributesForFiltering: Annotated[
        Words | None,
        Info([], "numbers to filter by, all by default; `equalOnly(a)`"),
    ]
    allowCompressionOfIntegerArray: Annotated[
        bool | None, Info(False, "store arrays of integers compressed", effect="accepted")
    ]
    attributeForDistinct: Annotated[
        str | None, Info(None, "attribute whose equal values form a group")
    ]
    userData: Annotated[Any, Info({}, "any JSON up to 32 kB, returned with each response")]


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
    effect: Effect
    choices: tuple[str, ...]


# api-notes.md, section 2: former names that older clients still send.
ALIASES = {
    "attributesToIndex": "searchableAttributes",
    "slaves": "replicas",
    "numericAttributesToIndex": "numericAttributesForFiltering",
}


def _read_off(shape: Any, scope: ParameterScope) -> dict[str, Parameter]:
    own = hints(shape).keys() - (hints(Shared).keys() if shape is not Shared else set())
    return {name: _parameter(name, hints(shape)[name], scope) for name in sorted(own)}


def _parameter(name: str, kind: Any, scope: ParameterScope) -> Parameter:
    plain, about = typing.get_args(kind)
    return Parameter(
        name, scope, plain, about.default, about.meaning, about.effect, tuple(literals(plain))
    )


PARAMETERS: dict[str, Parameter] = (
    _read_off(Shared, "both")
    | _read_off(SearchParams, "parameter")
    | _read_off(Settings, "setting")
)


def default_of(name: str) -> Any:
    """Return the default of a parameter or setting."""
    return PARAMETERS[name].default

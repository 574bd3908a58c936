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
class About:
    """The default and the meaning of a parameter, and whether the local service supports it.

    The few parameters that are only `accepted` belong to the vendor's own products and have no
    effect
    here.
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
        Words | None, About(["*"], "attributes a hit carries; `-name` leaves one out of `*`")
    ]
    ranking: Annotated[
        Words | None,
        About(
            ["typo", "geo", "words", "filters", "proximity", "attribute", "exact", "custom"],
            "criteria in their order; `asc(a)` and `desc(a)` sort by an attribute",
        ),
    ]
    relevancyStrictness: Annotated[
        Percent | None,
        About(100, "how relevant a hit of a virtual replica must be, in percent"),
    ]
    attributesToHighlight: Annotated[
        Words | None, About(None, "attributes whose matches are marked; default: the searchable")
    ]
    attributesToSnippet: Annotated[
        Words | None, About([], "attributes to cut around the match: `name` or `name:words`")
    ]
    highlightPreTag: Annotated[str | None, About("<em>", "text before a marked word")]
    highlightPostTag: Annotated[str | None, About("</em>", "text after a marked word")]
    snippetEllipsisText: Annotated[str | None, About("…", "text at a snippet's cut ends")]
    restrictHighlightAndSnippetArrays: Annotated[
        bool | None, About(False, "keep only the matching items of a highlighted array")
    ]
    hitsPerPage: Annotated[Hits | None, About(20, "hits on one page; 0 counts only")]
    minWordSizefor1Typo: Annotated[
        Natural | None, About(4, "letters a query word needs to be forgiven one typo")
    ]
    minWordSizefor2Typos: Annotated[
        Natural | None, About(8, "letters a query word needs to be forgiven two typos")
    ]
    typoTolerance: Annotated[
        Tolerance | None,
        About(True, "whether typos match; `min` keeps only the fewest, `strict` the two fewest"),
    ]
    allowTyposOnNumericTokens: Annotated[
        bool | None, About(True, "whether words with digits may match with typos")
    ]
    disableTypoToleranceOnAttributes: Annotated[
        Words | None, About([], "attributes in which only exact words match")
    ]
    ignorePlurals: Annotated[
        Languages | None,
        About(False, "match singular and plural alike: yes, or the languages"),
    ]
    removeStopWords: Annotated[
        Languages | None,
        About(False, "leave stop words out of the query: yes, or the languages"),
    ]
    decompoundQuery: Annotated[
        bool | None,
        About(True, "split compound words of the query in the query's languages"),
    ]
    queryLanguages: Annotated[Words | None, About([], "languages of the query, as ISO codes")]
    enableRules: Annotated[bool | None, About(True, "whether the index's rules apply")]
    enablePersonalization: Annotated[
        bool | None, About(False, "personalised ranking of the vendor's", effect="accepted")
    ]
    enableReRanking: Annotated[
        bool | None, About(True, "learned re-ranking of the vendor's", effect="accepted")
    ]
    reRankingApplyFilter: Annotated[
        Filters | None, About(None, "which hits learned re-ranking may move", effect="accepted")
    ]
    mode: Annotated[
        Literal["keywordSearch", "neuralSearch"] | None,
        About("keywordSearch", "keyword or semantic matching", effect="accepted"),
    ]
    semanticSearch: Annotated[
        dict[str, Any] | None, About(None, "options of semantic matching", effect="accepted")
    ]
    queryType: Annotated[
        QueryType | None, About("prefixLast", "which query words match as beginnings of words")
    ]
    removeWordsIfNoResults: Annotated[
        RemoveWords | None, About("none", "which words become optional when nothing is found")
    ]
    advancedSyntax: Annotated[
        bool | None, About(False, 'whether `"a phrase"` and `-word` mean something in a query')
    ]
    advancedSyntaxFeatures: Annotated[
        list[AdvancedFeature] | None,
        About(["exactPhrase", "excludeWords"], "which of the two advancedSyntax turns on"),
    ]
    optionalWords: Annotated[
        str | Words | None, About([], "query words a hit need not contain; entries may be phrases")
    ]
    disableExactOnAttributes: Annotated[
        Words | None, About([], "attributes whose words never count as exact")
    ]
    exactOnSingleWordQuery: Annotated[
        SingleWord | None, About("attribute", "when the one word of a query counts as exact")
    ]
    alternativesAsExact: Annotated[
        list[Alternative] | None,
        About(["ignorePlurals", "singleWordSynonym"], "which alternatives count as exact"),
    ]
    distinct: Annotated[
        bool | Groups | None, About(0, "hits kept of each group of attributeForDistinct")
    ]
    replaceSynonymsInHighlight: Annotated[
        bool | None, About(False, "show the query's word in place of its synonym")
    ]
    minProximity: Annotated[
        Nearness | None, About(1, "distances up to this are all the same; 8 turns proximity off")
    ]
    responseFields: Annotated[Words | None, About(["*"], "top-level members an answer carries")]
    maxFacetHits: Annotated[Percent | None, About(10, "values a search inside a facet returns")]
    maxValuesPerFacet: Annotated[Places | None, About(100, "values counted of each facet")]
    sortFacetValuesBy: Annotated[
        Literal["count", "alpha"] | None, About("count", "order of a facet's values")
    ]
    attributeCriteriaComputedByMinProximity: Annotated[
        bool | None, About(False, "the best attribute is where the words stand closest")
    ]
    attributeCriteriaComputedBy: Annotated[
        str | None, About(None, "another way to choose the best attribute", effect="accepted")
    ]
    renderingContent: Annotated[
        dict[str, Any] | None, About(None, "hints for a user interface, handed through")
    ]


class SearchOptions(Shared, total=False):
    """Parameters of one search except its query; all are optional."""

    similarQuery: Annotated[
        str | None,
        About("", "a loose search in place of `query`: every word is optional"),
    ]
    filters: Annotated[str | None, About(None, "a boolean expression hits must satisfy")]
    facetFilters: Annotated[
        Filters | None, About(None, "`name:value` hits must have; inner lists are alternatives")
    ]
    numericFilters: Annotated[
        Filters | None, About(None, "`name > 10` hits must satisfy; inner lists are alternatives")
    ]
    tagFilters: Annotated[
        Filters | None, About(None, "values of `_tags` hits must have; inner lists alternatives")
    ]
    optionalFilters: Annotated[
        Filters | None, About(None, "`name:value` that lift, or negated sink, a hit")
    ]
    sumOrFiltersScores: Annotated[
        bool | None, About(False, "add up the scores inside an alternative, not keep the best")
    ]
    restrictSearchableAttributes: Annotated[
        Words | None, About([], "search only in these of the searchable attributes")
    ]
    facets: Annotated[str | Words | None, About([], "facets to count; `*` for all")]
    facetingAfterDistinct: Annotated[
        bool | None, About(False, "count facets after groups are reduced by `distinct`")
    ]
    page: Annotated[Natural | None, About(0, "page number, from 0")]
    offset: Annotated[Natural | None, About(None, "number of the first hit, with `length`")]
    length: Annotated[Places | None, About(None, "how many hits from `offset` on")]
    aroundLatLng: Annotated[str | None, About("", "`lat,lng` to search around")]
    aroundLatLngViaIP: Annotated[
        bool | None, About(False, "search around where the caller's address is", effect="accepted")
    ]
    aroundRadius: Annotated[
        Positive | Literal["all"] | None,
        About(None, "metres around the centre, by density if unset"),
    ]
    aroundPrecision: Annotated[
        Natural | list[PrecisionStep] | None,
        About(10, "metres within which distances count as equal; below 10 counts as 10"),
    ]
    minimumAroundRadius: Annotated[
        Positive | None, About(None, "least radius in metres where none is given")
    ]
    insideBoundingBox: Annotated[
        Boxes | None, About(None, "boxes to search in, each as two opposite corners")
    ]
    insidePolygon: Annotated[Boxes | None, About(None, "polygons to search in, each as its points")]
    naturalLanguages: Annotated[
        Words | None,
        About([], "languages of a spoken query: stop words, plurals, loose words"),
    ]
    ruleContexts: Annotated[Words | None, About([], "contexts that may trigger rules")]
    personalizationImpact: Annotated[
        Percent | None, About(100, "weight of personalisation", effect="accepted")
    ]
    userToken: Annotated[str | None, About(None, "who searches, for rate limits")]
    getRankingInfo: Annotated[
        bool | None, About(False, "add `_rankingInfo`, the value of each criterion, to each hit")
    ]
    synonyms: Annotated[bool | None, About(True, "whether the index's synonyms apply")]
    clickAnalytics: Annotated[bool | None, About(False, "add a `queryID` for events to refer to")]
    analytics: Annotated[
        bool | None, About(True, "count the search in analytics", effect="accepted")
    ]
    analyticsTags: Annotated[Words | None, About([], "labels in analytics", effect="accepted")]
    enableABTest: Annotated[bool | None, About(True, "take part in A/B tests", effect="accepted")]
    percentileComputation: Annotated[
        bool | None, About(True, "count the search in latency statistics", effect="accepted")
    ]


class SearchParams(SearchOptions, total=False):
    """All parameters of one search, including its query."""

    query: Annotated[str | None, About("", "the words looked for; none match everything")]


class Settings(Shared, total=False):
    """The settings of an index; an omitted setting is unchanged, `None` restores the default."""

    searchableAttributes: Annotated[
        Words | None,
        About([], "where to search, the most important first; `a,b` equal, `unordered(a)`"),
    ]
    attributesForFaceting: Annotated[
        Words | None,
        About([], "facets; `searchable(a)`, `filterOnly(a)`, `afterDistinct(a)`"),
    ]
    unretrievableAttributes: Annotated[Words | None, About([], "attributes never handed out")]
    customRanking: Annotated[
        Words | None, About([], "`asc(a)` or `desc(a)`, what `custom` in the ranking stands for")
    ]
    replicas: Annotated[
        Words | None,
        About([], "indices that follow this one; `virtual(name)` sorts what is relevant there"),
    ]
    paginationLimitedTo: Annotated[Reach | None, About(1000, "hits that pages can reach")]
    disableTypoToleranceOnWords: Annotated[
        Words | None, About([], "words that match only as they are written")
    ]
    separatorsToIndex: Annotated[
        str | None, About("", "characters that are words of their own, not separators")
    ]
    attributesToTransliterate: Annotated[
        Words | None, About([], "attributes also indexed in another script")
    ]
    camelCaseAttributes: Annotated[Words | None, About([], "attributes whose camelCase is split")]
    decompoundedAttributes: Annotated[
        dict[str, Words] | None,
        About({}, "per language, attributes whose compounds are split"),
    ]
    keepDiacriticsOnCharacters: Annotated[
        str | None, About("", "characters that keep their accents")
    ]
    customNormalization: Annotated[
        dict[str, dict[str, str]] | None, About(None, "characters and what they become")
    ]
    indexLanguages: Annotated[Words | None, About([], "languages of the records, as ISO codes")]
    disablePrefixOnAttributes: Annotated[
        Words | None, About([], "attributes in which beginnings of words do not match")
    ]
    numericAttributesForFiltering: Annotated[
        Words | None,
        About([], "numbers to filter by, all by default; `equalOnly(a)`"),
    ]
    allowCompressionOfIntegerArray: Annotated[
        bool | None, About(False, "store arrays of integers compressed", effect="accepted")
    ]
    attributeForDistinct: Annotated[str | None, About(None, "what makes records one group")]
    userData: Annotated[Any, About({}, "anything up to 32 kB, handed out with each answer")]


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

"""For each parameter and setting, one example: a response without it, and with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

Answer = dict[str, Any]


@dataclass(frozen=True)
class Scene:
    """Records and a search; `see` looks at its answer before and after `value` is given."""

    value: Any
    before: Any
    after: Any
    records: Sequence[Any] = ()
    see: Callable[[Answer], Any] = lambda answer: ids(answer)
    settings: Answer = field(default_factory=dict)
    params: Answer = field(default_factory=dict)
    synonyms: Sequence[Answer] = ()
    rules: Sequence[Answer] = ()
    facet: str = ""
    index: str = ""


def ids(answer: Answer) -> list[str]:
    return [hit["objectID"] for hit in answer["hits"]]


def count(answer: Answer) -> int:
    return int(answer["nbHits"])


def member(*path: str | int) -> Callable[[Answer], Any]:
    """Look at one place of the answer; None where there is none."""

    def look(answer: Any) -> Any:
        for step in path:
            try:
                answer = answer[step]
            except (KeyError, IndexError):
                return None
        return answer

    return look


def titles(*texts: str) -> list[Answer]:
    return [{"objectID": str(number), "title": text} for number, text in enumerate(texts, 1)]


def values(name: str, *many: Any) -> list[Answer]:
    return [{"objectID": str(number), name: value} for number, value in enumerate(many, 1)]


def refined(*names: str) -> Answer:
    return {"attributesForFaceting": list(names)}


def mark(name: str = "title") -> Callable[[Answer], Any]:
    return member("hits", 0, "_highlightResult", name, "value")


def snip(answer: Answer) -> Any:
    return member("hits", 0, "_snippetResult", "title", "value")(answer)


LONG = "one two three four five lamp seven eight nine ten eleven twelve"
BRANDS = values("brand", "b", "a", "b")
MAKERS = [
    {"objectID": "1", "maker": "x", "kind": "p"},
    {"objectID": "2", "maker": "x", "kind": "q"},
    {"objectID": "3", "maker": "y", "kind": "q"},
]
PLACES = [
    {"objectID": "1", "_geoloc": {"lat": 48.80, "lng": 2.30}},
    {"objectID": "2", "_geoloc": {"lat": 48.81, "lng": 2.30}},
    {"objectID": "3", "_geoloc": {"lat": 50.00, "lng": 2.30}},
    {"objectID": "4"},
]
HERE = {"aroundLatLng": "48.811,2.30"}
PARTS = [{"objectID": "1", "parts": ["lamp", "shade"]}]
SOFA = {"objectID": "s", "type": "synonym", "synonyms": ["sofa", "couch"]}
HIDE = {"objectID": "r", "consequence": {"hide": [{"objectID": "1"}]}}
GERMAN = titles("Lampenschirm", "Schirm Lampe")

SHARED = {
    "attributesToRetrieve": Scene(["title"], 5, None, [{"objectID": "1", "title": "a", "n": 5}],
        member("hits", 0, "n")),
    "ranking": Scene(["desc(n)"], ["1", "2"], ["2", "1"], values("n", 1, 2)),
    "relevancyStrictness": Scene(0, ["1"], ["1", "2"], titles("lamp", "lump"), index="virtual",
        params={"query": "lamp"}),
    "attributesToHighlight": Scene(["b"], "<em>x</em>", None,
        [{"objectID": "1", "a": "x", "b": "x"}], mark("a"), params={"query": "x"}),
    "attributesToSnippet": Scene(["title:3"], None, "…five <em>lamp</em> seven…", titles(LONG),
        snip, params={"query": "lamp"}),
    "highlightPreTag": Scene("[", "<em>x</em>", "[x</em>", titles("x"), mark(),
        params={"query": "x"}),
    "highlightPostTag": Scene("]", "<em>x</em>", "<em>x]", titles("x"), mark(),
        params={"query": "x"}),
    "snippetEllipsisText": Scene("~", "…five <em>lamp</em> seven…", "~five <em>lamp</em> seven~",
        titles(LONG), snip, {"attributesToSnippet": ["title:3"]}, {"query": "lamp"}),
    "restrictHighlightAndSnippetArrays": Scene(True, 2, 1, PARTS,
        lambda answer: len(answer["hits"][0]["_highlightResult"]["parts"]),
        params={"query": "lamp"}),
    "hitsPerPage": Scene(1, ["1", "2"], ["1"], titles("a", "b")),
    "minWordSizefor1Typo": Scene(5, ["1"], [], titles("lamp"), params={"query": "lamb"}),
    "minWordSizefor2Typos": Scene(9, ["1"], [], titles("cabinets"), params={"query": "cabynetz"}),
    "typoTolerance": Scene(False, ["1"], [], titles("lamp"), params={"query": "lamb"}),
    "allowTyposOnNumericTokens": Scene(False, ["1"], [], titles("12345"),
        params={"query": "12346"}),
    "disableTypoToleranceOnAttributes": Scene(["title"], ["1"], [], titles("lamp"),
        params={"query": "lamb"}),
    "ignorePlurals": Scene(["en"], [], ["1"], titles("mouse"),
        params={"query": "mice", "queryType": "prefixNone"}),
    "removeStopWords": Scene(["en"], [], ["1"], titles("history"),
        params={"query": "the history"}),
    "decompoundQuery": Scene(False, ["1", "2"], ["1"], GERMAN, lambda a: sorted(ids(a)),
        {"queryLanguages": ["de"], "indexLanguages": ["de"]}, {"query": "Lampenschirm"}),
    "queryLanguages": Scene(["fr"], ["1"], [], titles("mouse"),
        params={"query": "mice", "ignorePlurals": True, "queryType": "prefixNone"}),
    "enableRules": Scene(False, ["2"], ["1", "2"], titles("a", "b"), rules=[HIDE]),
    "queryType": Scene("prefixNone", ["1"], [], titles("lamp"), params={"query": "lam"}),
    "removeWordsIfNoResults": Scene("lastWords", [], ["1"], titles("lamp"),
        params={"query": "lamp nothing"}),
    "advancedSyntax": Scene(True, ["1"], ["2"], titles("red lamp", "red"),
        params={"query": "red -lamp"}),
    "advancedSyntaxFeatures": Scene(["exactPhrase"], ["2"], ["1"], titles("red lamp", "red"),
        params={"query": "red -lamp", "advancedSyntax": True}),
    "optionalWords": Scene(["lamp"], ["1"], ["1", "2"], titles("red lamp", "red"),
        params={"query": "red lamp"}),
    "disableExactOnAttributes": Scene(["title"], 1, 0, titles("lamp"),
        member("hits", 0, "_rankingInfo", "nbExactWords"),
        params={"query": "lamp", "getRankingInfo": True}),
    "exactOnSingleWordQuery": Scene("word", 0, 1, titles("red lamp"),
        member("hits", 0, "_rankingInfo", "nbExactWords"),
        params={"query": "lamp", "getRankingInfo": True}),
    "enableReRanking": Scene(True, ["1", "2"], ["2", "1"],
        titles("lamp of red glass and old brass", "red lamp"),
        settings={"searchableAttributes": ["title"], "ranking": ["attribute"]},
        params={"query": "lamp"}),
    "attributeWeights": Scene({"title": 0}, ["1", "2"], ["2", "1"],
        [{"objectID": "1", "title": "red lamp"}, {"objectID": "2", "about": "lamp"}],
        settings={"searchableAttributes": ["title", "about"], "ranking": ["attribute"],
                  "enableReRanking": True},
        params={"query": "lamp"}),
    "reRankingApplyFilter": Scene("title:no", ["2", "1"], ["1", "2"],
        titles("lamp of red glass and old brass", "red lamp"),
        settings={"searchableAttributes": ["title"], "ranking": ["attribute"],
                  "attributesForFaceting": ["title"]},
        params={"query": "lamp", "enableReRanking": True}),
    "alternativesAsExact": Scene([], 1, 0, titles("sofa"),
        member("hits", 0, "_rankingInfo", "nbExactWords"), synonyms=[SOFA],
        params={"query": "couch", "getRankingInfo": True}),
    "distinct": Scene(1, 3, 2, MAKERS, count, {"attributeForDistinct": "maker"}),
    "replaceSynonymsInHighlight": Scene(True, "<em>sofa</em>", "<em>couch</em>", titles("sofa"),
        mark(), synonyms=[SOFA], params={"query": "couch"}),
    "minProximity": Scene(3, ["2", "1"], ["1", "2"], titles("red big lamp", "red lamp big"),
        settings={"ranking": ["proximity"]}, params={"query": "red lamp"}),
    "responseFields": Scene(["hits"], 1, None, titles("a"), member("nbHits")),
    "maxFacetHits": Scene(1, 2, 1, BRANDS, lambda answer: len(answer["facetHits"]),
        refined("searchable(brand)"), facet="brand"),
    "maxValuesPerFacet": Scene(1, {"a": 1, "b": 2}, {"b": 2}, BRANDS, member("facets", "brand"),
        refined("brand"), {"facets": ["brand"]}),
    "sortFacetValuesBy": Scene("alpha", ["b", "a"], ["a", "b"], BRANDS,
        lambda answer: list(answer["facets"]["brand"]), refined("brand"), {"facets": ["brand"]}),
    "attributeCriteriaComputedByMinProximity": Scene(True, ["1", "2"], ["2", "1"],
        [{"objectID": "1", "a": "red x lamp", "b": "red lamp"}, {"objectID": "2", "a": "red lamp"}],
        settings={"searchableAttributes": ["a", "b"], "ranking": ["attribute", "proximity"],
                  "customRanking": []},
        params={"query": "red lamp"}),
    "renderingContent": Scene({"redirect": {"url": "u"}}, {}, {"redirect": {"url": "u"}},
        titles("a"),
        member("renderingContent")),
}  # fmt: skip

PARAMETERS_ONLY = {
    "query": Scene("red", ["1", "2"], ["1"], titles("red", "blue")),
    "similarQuery": Scene("red house", ["1", "2", "3"], ["1", "2"],
        titles("red", "house", "blue")),
    "filters": Scene("n > 1", ["1", "2"], ["2"], values("n", 1, 2)),
    "facetFilters": Scene(["brand:a"], ["1", "2", "3"], ["2"], BRANDS, settings=refined("brand")),
    "numericFilters": Scene(["n > 1"], ["1", "2"], ["2"], values("n", 1, 2)),
    "tagFilters": Scene(["b"], ["1", "2"], ["2"], values("_tags", ["a"], ["b"])),
    "optionalFilters": Scene(["brand:a"], ["1", "2", "3"], ["2", "1", "3"], BRANDS,
        settings=refined("brand")),
    "sumOrFiltersScores": Scene(True, 2, 3, [{"objectID": "1", "kind": ["p", "q"]}],
        member("hits", 0, "_rankingInfo", "filters"), refined("kind"),
        {"filters": "kind:p<score=1> OR kind:q<score=2>", "getRankingInfo": True}),
    "restrictSearchableAttributes": Scene(["b"], ["1", "2"], ["2"],
        [{"objectID": "1", "a": "x"}, {"objectID": "2", "b": "x"}],
        settings={"searchableAttributes": ["a,b"]}, params={"query": "x"}),
    "facets": Scene(["brand"], None, {"brand": {"b": 2, "a": 1}}, BRANDS, member("facets"),
        refined("brand")),
    "facetingAfterDistinct": Scene(True, {"q": 2, "p": 1}, {"p": 1, "q": 1}, MAKERS,
        member("facets", "kind"), {"attributeForDistinct": "maker"} | refined("kind"),
        {"facets": ["kind"], "distinct": 1}),
    "page": Scene(1, ["1"], ["2"], titles("a", "b"), params={"hitsPerPage": 1}),
    "offset": Scene(1, ["1"], ["2"], titles("a", "b"), params={"length": 1, "hitsPerPage": 1}),
    "length": Scene(1, ["1", "2"], ["2"], titles("a", "b"), params={"offset": 1}),
    "aroundLatLng": Scene("48.811,2.30", ["1", "2", "3", "4"], ["2", "1", "3"], PLACES,
        params={"aroundRadius": "all"}),
    "aroundRadius": Scene(1000, ["2", "1", "3"], ["2"], PLACES,
        params=HERE | {"minimumAroundRadius": 900_000}),
    "aroundPrecision": Scene(900_000, ["2", "1", "3"], ["1", "2", "3"], PLACES,
        params=HERE | {"aroundRadius": "all"}),
    "minimumAroundRadius": Scene(900_000, False, True, PLACES * 1,
        lambda answer: int(answer.get("automaticRadius", 0)) >= 900_000, params=HERE),
    "insideBoundingBox": Scene([[49, 2, 48, 3]], ["1", "2", "3", "4"], ["1", "2"], PLACES),
    "insidePolygon": Scene([[49, 2, 48, 2, 48, 3, 49, 3]], ["1", "2", "3", "4"], ["1", "2"],
        PLACES),
    "naturalLanguages": Scene(["en"], [], ["1"], titles("mouse"),
        params={"query": "the mice", "queryType": "prefixNone"}),
    "ruleContexts": Scene(["c"], ["1", "2"], ["2"], titles("a", "b"),
        rules=[HIDE | {"conditions": [{"context": "c"}]}]),
    "getRankingInfo": Scene(True, None, 0, titles("a"),
        member("hits", 0, "_rankingInfo", "nbTypos")),
    "synonyms": Scene(False, ["1"], [], titles("sofa"), synonyms=[SOFA],
        params={"query": "couch"}),
    "clickAnalytics": Scene(True, 0, 32, titles("a"),
        lambda answer: len(answer.get("queryID", ""))),
}  # fmt: skip

SETTINGS_ONLY = {
    "searchableAttributes": Scene(["b"], ["1", "2"], ["2"],
        [{"objectID": "1", "a": "x"}, {"objectID": "2", "b": "x"}], params={"query": "x"}),
    "attributesForFaceting": Scene(["brand"], [], ["2"], BRANDS, params={"filters": "brand:a"}),
    "unretrievableAttributes": Scene(["n"], 5, None, [{"objectID": "1", "n": 5}],
        member("hits", 0, "n")),
    "customRanking": Scene(["desc(n)"], ["1", "2"], ["2", "1"], values("n", 1, 2)),
    "replicas": Scene(["%"], None, 1, titles("a"), member("nbHits"), index="replica"),
    "paginationLimitedTo": Scene(1, ["2"], [], titles("a", "b"),
        params={"page": 1, "hitsPerPage": 1}),
    "disableTypoToleranceOnWords": Scene(["lamb"], ["1"], [], titles("lamp"),
        params={"query": "lamb"}),
    "separatorsToIndex": Scene("+", ["1", "2"], ["2"], titles("c", "c+"), params={"query": "c+"}),
    "attributesToTransliterate": Scene(["title"], [], ["1"], titles("かたかな"),
        settings={"indexLanguages": ["ja"]}, params={"query": "カタカナ", "typoTolerance": False}),
    "camelCaseAttributes": Scene(["title"], [], ["1"], titles("lampShade"),
        params={"query": "shade"}),
    "decompoundedAttributes": Scene({"de": ["title"]}, [], ["1"], titles("Hundehütte"),
        params={"query": "hütte"}),
    "keepDiacriticsOnCharacters": Scene("é", ["1"], [], titles("été"),
        params={"query": "ete", "typoTolerance": False}),
    "customNormalization": Scene({"default": {"ä": "ae"}}, [], ["1"], titles("mär"),
        params={"query": "maer", "typoTolerance": False}),
    "indexLanguages": Scene(["fr"], ["1"], [], titles("mouse"),
        params={"query": "mice", "ignorePlurals": True, "queryType": "prefixNone"}),
    "disablePrefixOnAttributes": Scene(["title"], ["1"], [], titles("lamp"),
        params={"query": "lam"}),
    "numericAttributesForFiltering": Scene(["m"], ["2"], "n is not in", values("n", 1, 2),
        lambda answer: ids(answer) if "hits" in answer else answer["message"][:11],
        params={"numericFilters": ["n > 1"]}),
    "attributeForDistinct": Scene("maker", 3, 2, MAKERS, count, params={"distinct": True}),
    "userData": Scene({"a": 1}, None, {"a": 1}, titles("a"), member("userData")),
}  # fmt: skip

SCENES = {**SHARED, **PARAMETERS_ONLY, **SETTINGS_ONLY}

"""The meaning of each search parameter and setting, in sentences and by group.

Help, completion, docs and editors show these groups and names in this order. Code in a sentence is
written between backticks.
"""

from __future__ import annotations

GROUPS: dict[str, dict[str, str]] = {
    "Query": {
        "query": "The words to search for. An empty query matches all records.",
        "similarQuery": (
            "A text to search for instead of `query`, in which every word is optional."
        ),
        "queryType": (
            "Which query words also match as beginnings of words: the last word, all words or none."
        ),
        "optionalWords": "Query words that a hit need not contain. Entries may be phrases.",
        "removeWordsIfNoResults": (
            "Which query words become optional, one after the other, if the search has no hits."
        ),
        "advancedSyntax": (
            'Whether `"a phrase"` and `-word` in a query are operators: the phrase as it stands, '
            "and an excluded word."
        ),
        "advancedSyntaxFeatures": (
            "Which operators `advancedSyntax` enables: exact phrases, excluded words or both."
        ),
    },
    "Attributes": {
        "searchableAttributes": (
            "The attributes to search, most important first. Attributes in one entry, such as "
            "`title,subtitle`, are equally important. In `unordered(title)`, the position of a "
            "word does not affect the ranking. Without entries, all attributes are searched."
        ),
        "restrictSearchableAttributes": (
            "Searches only these of the searchable attributes. Empty means all of them."
        ),
        "attributesToRetrieve": (
            "The attributes that hits contain. `*` means all; `-name` excludes one from `*`."
        ),
        "unretrievableAttributes": (
            "Attributes that no search returns, except to keys with the right "
            "`seeUnretrievableAttributes`."
        ),
        "responseFields": "The top-level members of the response. `*` means all.",
    },
    "Ranking": {
        "ranking": (
            "The ranking criteria in order: the first in which two hits differ decides. `asc(a)` "
            "and `desc(a)` sort by an attribute; `custom` is replaced by the criteria of "
            "`customRanking`."
        ),
        "customRanking": (
            "The attributes that the criterion `custom` compares, in order: `desc(a)` ranks "
            "higher values first, `asc(a)` lower values."
        ),
        "relevancyStrictness": (
            "The minimum relevance of the hits of a virtual replica, in percent. Lower values "
            "keep more hits."
        ),
        "replicas": (
            "Indices with the same records in another order. `virtual(name)` sorts only the "
            "relevant hits."
        ),
        "attributeForDistinct": (
            "The attribute that groups records: records with the same value are one group."
        ),
        "distinct": (
            "The number of hits kept of each group of `attributeForDistinct`. `true` means 1; "
            "`false` and 0 keep all hits."
        ),
        "exactOnSingleWordQuery": (
            "When a query of one word counts as exact: if it is the whole `attribute`, any "
            "`word` of it, or never (`none`)."
        ),
        "alternativesAsExact": "The kinds of alternatives that count as exact matches. In the "
        "local service, `ignoreConjugations` also makes `ignorePlurals` find words with the same "
        "stem.",
        "disableExactOnAttributes": "Attributes whose words never count as exact matches.",
        "minProximity": (
            "The minimum distance of words for the criterion `proximity`: smaller distances "
            "count as equal. 8 turns the criterion off."
        ),
        "attributeCriteriaComputedByMinProximity": (
            "Whether the criterion `attribute` uses the attribute in which the words are closest "
            "together instead of the most important one."
        ),
        "attributeCriteriaComputedBy": (
            "Another method to select the attribute for the criterion `attribute`."
        ),
        "getRankingInfo": (
            "Whether hits contain `_rankingInfo`, the values of their ranking criteria."
        ),
    },
    "Filters": {
        "filters": (
            "An expression that hits satisfy, such as `brand:Acme AND price < 50`. It may contain "
            "`AND`, `OR`, `NOT` and parentheses."
        ),
        "facetFilters": (
            "Facet values that hits have, as `name:value`. All entries apply; the entries of an "
            "inner list are alternatives."
        ),
        "numericFilters": (
            "Conditions on numbers, such as `price > 10`. All entries apply; the entries of an "
            "inner list are alternatives."
        ),
        "tagFilters": (
            "Values of `_tags` that hits have. All entries apply; the entries of an inner list "
            "are alternatives."
        ),
        "optionalFilters": (
            "Facet values, as `name:value`, that rank a hit higher without excluding others. "
            "`name:-value` ranks a hit lower."
        ),
        "sumOrFiltersScores": (
            "Whether the scores of alternatives in `optionalFilters` are added. Otherwise the "
            "highest score counts."
        ),
        "numericAttributesForFiltering": (
            "The numeric attributes that can be filtered. `equalOnly(a)` allows only equality. "
            "Without entries, all numeric attributes can be filtered."
        ),
    },
    "Facets": {
        "attributesForFaceting": (
            "The attributes that are facets. `searchable(a)` allows searches for its values, "
            "`filterOnly(a)` does not count them, `afterDistinct(a)` counts them after grouping."
        ),
        "facets": "The facets whose values are counted. `*` means all facets of the index.",
        "maxValuesPerFacet": "The maximum number of counted values of each facet.",
        "sortFacetValuesBy": (
            "The order of a facet's values: by `count`, highest first, or `alpha`, by name."
        ),
        "maxFacetHits": "The maximum number of values that a search for facet values returns.",
        "facetingAfterDistinct": (
            "Whether facets are counted after `distinct` has reduced the groups of hits."
        ),
    },
    "Pages": {
        "page": "The number of the page to return. The first page is 0.",
        "hitsPerPage": "The number of hits per page. 0 returns counts without hits.",
        "offset": "The number of hits to skip, used with `length` instead of pages.",
        "length": "The number of hits to return from `offset` on.",
        "paginationLimitedTo": "The number of hits that all pages together can reach.",
    },
    "Highlighting": {
        "attributesToHighlight": (
            "The attributes whose matches are marked. By default, the searchable attributes."
        ),
        "attributesToSnippet": (
            "The attributes that are cut around the match: `name`, or `name:words` for a number "
            "of words. `*` means all attributes."
        ),
        "highlightPreTag": "The text before a matched word.",
        "highlightPostTag": "The text after a matched word.",
        "snippetEllipsisText": "The text where a snippet is cut.",
        "restrictHighlightAndSnippetArrays": (
            "Whether the highlight of an array contains only its matching items."
        ),
        "replaceSynonymsInHighlight": (
            "Whether highlights show the word of the query instead of its synonym."
        ),
    },
    "Typos": {
        "typoTolerance": (
            "Whether words match with typos. `min` keeps only the hits with the fewest typos, "
            "`strict` those with the two lowest numbers of typos."
        ),
        "minWordSizefor1Typo": (
            "The minimum number of letters of a query word that matches with one typo."
        ),
        "minWordSizefor2Typos": (
            "The minimum number of letters of a query word that matches with two typos."
        ),
        "allowTyposOnNumericTokens": "Whether words with digits match with typos.",
        "disableTypoToleranceOnAttributes": "Attributes in which words match only without typos.",
        "disableTypoToleranceOnWords": "Words that match only without typos.",
    },
    "Languages": {
        "queryLanguages": (
            "The languages of the query, as ISO codes such as `en`. Plurals, stop words and "
            "compounds use them."
        ),
        "indexLanguages": "The languages of the records, as ISO codes such as `en`. In the local "
        "service, words of Japanese (`ja`), Thai, Lao, Khmer and Burmese are then found by "
        "dictionaries of the extra `languages`, and the mode `neuralSearch` compares stems of "
        "words.",
        "naturalLanguages": (
            "The languages of a spoken query. They set `removeStopWords` and `ignorePlurals`, and "
            "make words optional if there are no hits."
        ),
        "ignorePlurals": (
            "Whether singular and plural match each other: in the languages of the query, or in "
            "the listed languages."
        ),
        "removeStopWords": (
            "Whether stop words such as `the` are removed from the query: in the languages of "
            "the query, or in the listed languages."
        ),
        "decompoundQuery": "Whether compound words of the query are split into their parts.",
        "decompoundedAttributes": (
            "The attributes whose compound words are split into their parts, by language."
        ),
        "disablePrefixOnAttributes": "Attributes in which beginnings of words do not match.",
        "separatorsToIndex": (
            "Characters that are indexed as words. Other punctuation separates words."
        ),
        "camelCaseAttributes": "Attributes whose camelCase words are split into their parts.",
        "keepDiacriticsOnCharacters": "Characters that keep their accents, such as `øé`.",
        "customNormalization": "Characters that are replaced by others, by language.",
        "attributesToTransliterate": "Attributes that are also indexed in another script.",
    },
    "Places": {
        "aroundLatLng": "The centre of a search around a place, as `latitude,longitude`.",
        "aroundLatLngViaIP": "Whether the centre is the location of the caller's IP address.",
        "aroundRadius": (
            "The radius around the centre in metres. `all` removes the limit. By default, it "
            "depends on the density of the records."
        ),
        "minimumAroundRadius": "The minimum radius in metres if `aroundRadius` is not set.",
        "aroundPrecision": (
            "The number of metres within which distances count as equal. Values below 10 count "
            "as 10."
        ),
        "insideBoundingBox": "Boxes that hits are in, each as the coordinates of two corners.",
        "insidePolygon": "Polygons that hits are in, each as the coordinates of its points.",
    },
    "Rules and synonyms": {
        "enableRules": "Whether the rules of the index apply.",
        "ruleContexts": "Contexts of the search. A rule with a context applies only in it.",
        "synonyms": "Whether the synonyms of the index apply.",
        "renderingContent": "Hints for a user interface. The response contains them unchanged.",
        "userData": "Any JSON up to 32 kB. Each response contains it unchanged.",
    },
    "Users and analytics": {
        "userToken": "The user who searches. Rate limits are counted for each user.",
        "clickAnalytics": "Whether the response has a `queryID` that events can refer to.",
        "analytics": "Whether the search counts in analytics.",
        "analyticsTags": "Labels of the search in analytics.",
        "enableABTest": "Whether the search takes part in A/B tests.",
        "percentileComputation": "Whether the search counts in statistics of latency.",
        "explain": "Parts of the search that the vendor's response explains.",
        "extensions": "Options of the vendor's other products, by product.",
        "enablePersonalization": "Whether the vendor's personalization affects the ranking.",
        "personalizationImpact": "The weight of personalization, in percent.",
        "enableReRanking": "Whether the vendor's learned re-ranking affects the ranking. The "
        "local service then ranks by textual relevance instead of `proximity`, `attribute` and "
        "`exact`, only if it is true.",
        "reRankingApplyFilter": "A filter for the hits that re-ranking may move.",
        "attributeWeights": "How much an occurrence in each searchable attribute counts in textual "
        "relevance: `halving` by the order of `searchableAttributes`, `flat`, or numbers from 0 to "
        '100 by attribute, such as `{"title": 3}`; the others have the weight 1.',
        "mode": "Whether words match, or words and meanings. The local service compares vectors "
        "that it computes from the records, not those of the vendor's model.",
        "semanticSearch": "Options for matching meanings. In the local service `localWeight` is "
        "the weight of meanings against words, 0 to 1, `localMinSimilarity` the lowest cosine, and "
        "`localFeedbackHits` the number of best hits to which others are compared, too. With an "
        "embedder and latent vectors, `localLatentShare` is the share of the latter, 0 to 1. "
        "With a reranker, `localRerankedHits` is the number of first hits that it orders.",
    },
    "Storage": {
        "allowCompressionOfIntegerArray": "Whether arrays of integers are stored compressed.",
    },
}
MEANINGS = {name: meaning for group in GROUPS.values() for name, meaning in group.items()}
GROUP_OF = {name: title for title, group in GROUPS.items() for name in group}

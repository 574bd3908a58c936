"""The columns and dtypes of every DataFrame of a fixed schema; empty ones have them too."""

from __future__ import annotations

from typing import Any

Schema = dict[str, str]

TIME = "datetime64[us, UTC]"
# Values of members that a row lacks, by dtype.
DEFAULTS: dict[str, Any] = {"int64": 0, "str": "", "bool": False, "float64": float("nan")}

INDICES: Schema = {
    "name": "str",
    "entries": "int64",
    "dataSize": "int64",
    "fileSize": "int64",
    "createdAt": TIME,
    "updatedAt": TIME,
    "lastBuildTimeS": "int64",
    "numberOfPendingTasks": "int64",
    "pendingTask": "bool",
    "primary": "str",
    "replicas": "object",
}
SETTINGS: Schema = {"setting": "str", "value": "object"}
FACETS: Schema = {"facet": "str", "value": "str", "count": "int64"}
VALUE_COUNTS: Schema = {"value": "str", "count": "int64"}
FACET_VALUES: Schema = {"value": "str", "highlighted": "str", "count": "int64"}
LOGS: Schema = {
    "timestamp": TIME,
    "method": "str",
    "url": "str",
    "answer_code": "int64",
    "processing_time_ms": "int64",
    "ip": "str",
    "index": "str",
    "query_params": "str",
    "query_nb_hits": "int64",
    "query_body": "str",
    "answer": "str",
    "query_headers": "str",
    "nb_api_calls": "int64",
    "sha1": "str",
}
# `type` determines which columns have a value; missing lists are None.
SYNONYMS: Schema = {
    "objectID": "str",
    "type": "str",
    "synonyms": "object",
    "input": "str",
    "word": "str",
    "corrections": "object",
    "placeholder": "str",
    "replacements": "object",
}
RULES: Schema = {
    "objectID": "str",
    "description": "str",
    "enabled": "bool",
    "conditions": "object",
    "consequence": "object",
    "validity": "object",
    "tags": "object",
    "scope": "str",
}
# `index` is empty for a key of the application; `validity` is in seconds left, 0 is unlimited.
KEYS: Schema = {
    "value": "str",
    "description": "str",
    "acl": "object",
    "index": "str",
    "indexes": "object",
    "createdAt": TIME,
    "validity": "int64",
    "expires": TIME,
    "maxHitsPerQuery": "int64",
    "maxQueriesPerIPPerHour": "int64",
    "queryParameters": "str",
    "referers": "object",
}
PATHS: Schema = {
    "kind": "str",
    "content": "str",
    "bytes": "int64",
    "path": "str",
    "remove": "str",
}
CLUSTERS: Schema = {
    "clusterName": "str",
    "nbRecords": "int64",
    "nbUserIDs": "int64",
    "dataSize": "int64",
}
USERS: Schema = {
    "userID": "str",
    "clusterName": "str",
    "nbRecords": "int64",
    "dataSize": "int64",
}
TOP_USERS: Schema = {"clusterName": "str", "rank": "int64", **USERS}
SOURCES: Schema = {"source": "str", "description": "str"}
# Stop words have a `word`, plurals `words`, compounds a `word` and its `decomposition`.
DICTIONARY: Schema = {
    "objectID": "str",
    "language": "str",
    "word": "str",
    "words": "object",
    "decomposition": "object",
    "state": "str",
    "type": "str",
}
# Number of custom entries; missing if a language has no such dictionary.
LANGUAGES: Schema = {
    "language": "str",
    "stopwords": "Int64",
    "plurals": "Int64",
    "compounds": "Int64",
}
TASKS: Schema = {"taskID": "int64", "index": "str", "status": "str"}
CRAWLERS: Schema = {
    "id": "str",
    "name": "str",
    "createdAt": TIME,
    "updatedAt": TIME,
    "running": "bool",
    "reindexing": "bool",
    "blocked": "bool",
    "lastReindexStartedAt": TIME,
    "lastReindexEndedAt": TIME,
    "blockingTaskId": "str",
    "blockingError": "str",
    "warnings": "str",
}
CRAWLER_URLS: Schema = {
    "readable": "str",
    "count": "int64",
    "status": "str",
    "category": "str",
    "reason": "str",
    "crawler": "str",
}
CRAWLED_URLS: Schema = {
    "url": "str",
    "status": "str",
    "reason": "str",
    "message": "str",
    "category": "str",
    "kind": "str",
    "crawler": "str",
    "depth": "int64",
    "time": TIME,
    "referrer": "str",
}
DOMAINS: Schema = {"appId": "str", "domain": "str", "verified": "bool"}
# Lists are None if an event has none.
EVENTS: Schema = {
    "timestamp": TIME,
    "eventType": "str",
    "eventSubtype": "str",
    "eventName": "str",
    "index": "str",
    "userToken": "str",
    "authenticatedUserToken": "str",
    "queryID": "str",
    "objectIDs": "object",
    "positions": "object",
    "filters": "object",
    "objectData": "object",
    "value": "float64",
    "currency": "str",
}
# `first` is the position of the first of the objectIDs, 1 on the first page.
SEARCHES: Schema = {
    "timestamp": TIME,
    "queryID": "str",
    "index": "str",
    "query": "str",
    "params": "str",
    "userToken": "str",
    "nbHits": "int64",
    "first": "int64",
    "objectIDs": "object",
}
# Figures of analytics; those of each day have the index `date`.
TOP_SEARCHES: Schema = {
    "query": "str",
    "frequency": "int64",
    "nbHits": "int64",
    "trackedSearchCount": "int64",
    "clickCount": "int64",
    "clickThroughRate": "float64",
    "averageClickPosition": "float64",
    "conversionCount": "int64",
    "conversionRate": "float64",
    "addToCartCount": "int64",
    "addToCartRate": "float64",
    "purchaseCount": "int64",
    "purchaseRate": "float64",
    "revenue": "object",
}
NO_RESULTS: Schema = {
    "query": "str",
    "frequency": "int64",
    "nbHits": "int64",
    "withFilterCount": "int64",
}
NO_CLICKS: Schema = {
    "query": "str",
    "frequency": "int64",
    "nbHits": "int64",
}
TOP_HITS: Schema = {
    "objectID": "str",
    "frequency": "int64",
    "trackedHitCount": "int64",
    "clickCount": "int64",
    "clickThroughRate": "float64",
    "conversionCount": "int64",
    "conversionRate": "float64",
    "addToCartCount": "int64",
    "addToCartRate": "float64",
    "purchaseCount": "int64",
    "purchaseRate": "float64",
    "revenue": "object",
}
TOP_FILTERS: Schema = {
    "attribute": "str",
    "operator": "str",
    "value": "str",
    "frequency": "int64",
}
TOP_COUNTRIES: Schema = {
    "country": "str",
    "frequency": "int64",
}
CLICK_POSITIONS: Schema = {
    "first": "int64",
    "last": "Int64",
    "clickCount": "int64",
}
SEARCH_COUNTS: Schema = {
    "date": TIME,
    "searchCount": "int64",
    "userCount": "int64",
    "noResultCount": "int64",
    "noResultRate": "float64",
}
USERS_COUNT: Schema = {
    "date": TIME,
    "userCount": "int64",
}
CONVERSIONS: Schema = {
    "date": TIME,
    "trackedSearchCount": "int64",
    "clickCount": "int64",
    "clickThroughRate": "float64",
    "averageClickPosition": "float64",
    "conversionCount": "int64",
    "conversionRate": "float64",
    "addToCartCount": "int64",
    "addToCartRate": "float64",
    "purchaseCount": "int64",
    "purchaseRate": "float64",
}
REVENUE: Schema = {
    "date": TIME,
    "currency": "str",
    "revenue": "float64",
}
AB_TESTS: Schema = {
    "id": "int64",
    "name": "str",
    "status": "str",
    "index": "str",
    "variant": "str",
    "parameters": "object",
    "trafficPercentage": "int64",
    "searchCount": "int64",
    "userCount": "int64",
    "createdAt": TIME,
    "endAt": TIME,
    "stoppedAt": TIME,
}
SUGGESTIONS: Schema = {
    "index": "str",
    "sources": "object",
    "exclude": "object",
    "languages": "object",
    "isRunning": "bool",
    "lastBuiltAt": TIME,
    "lastSuccessfulBuiltAt": TIME,
    "message": "str",
}
# The criteria of `_rankingInfo`, in the order of the default ranking; only the local service has
# a `textScore`, and in the mode `neuralSearch` a `semanticScore` and a `fusedScore`.
RANKING: Schema = {
    "nbTypos": "int64",
    "geoDistance": "int64",
    "words": "int64",
    "filters": "int64",
    "proximityDistance": "int64",
    "firstMatchedWord": "int64",
    "nbExactWords": "int64",
    "userScore": "int64",
    "textScore": "float64",
    "semanticScore": "float64",
    "fusedScore": "float64",
    "promoted": "bool",
}
# The schema of each reader with a fixed one.
SCHEMAS: dict[str, Schema] = {
    "count_values": VALUE_COUNTS,
    "read_ab_tests": AB_TESTS,
    "read_click_positions": CLICK_POSITIONS,
    "read_clusters": CLUSTERS,
    "read_conversions": CONVERSIONS,
    "read_crawled_urls": CRAWLED_URLS,
    "read_crawler_urls": CRAWLER_URLS,
    "read_crawlers": CRAWLERS,
    "read_dictionary": DICTIONARY,
    "read_domains": DOMAINS,
    "read_events": EVENTS,
    "read_facet_values": FACET_VALUES,
    "read_facets": FACETS,
    "read_indices": INDICES,
    "read_keys": KEYS,
    "read_languages": LANGUAGES,
    "read_logs": LOGS,
    "read_no_clicks": NO_CLICKS,
    "read_no_results": NO_RESULTS,
    "read_revenue": REVENUE,
    "read_rules": RULES,
    "read_search_counts": SEARCH_COUNTS,
    "read_searches": SEARCHES,
    "read_settings": SETTINGS,
    "read_sources": SOURCES,
    "read_suggestions_configs": SUGGESTIONS,
    "read_synonyms": SYNONYMS,
    "read_tasks": TASKS,
    "read_top_countries": TOP_COUNTRIES,
    "read_top_filters": TOP_FILTERS,
    "read_top_hits": TOP_HITS,
    "read_top_searches": TOP_SEARCHES,
    "read_top_users": TOP_USERS,
    "read_users": USERS,
    "read_users_count": USERS_COUNT,
}

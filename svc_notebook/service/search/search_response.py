"""Build the responses of searches from the results of the engine."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, cast
from urllib.parse import quote_plus

import msgspec
import numpy as np

from svc_notebook.core.api.messages import FORMS_PENDING, VECTORS_PENDING, WORDS_MISSING
from svc_notebook.core.api.shapes import FacetAnswer, FacetHit, SearchAnswer
from svc_notebook.core.api.validation import write_text
from svc_notebook.core.tokenization.word_breaks import find_missing
from svc_notebook.errors import BadInput
from svc_notebook.service import limits
from svc_notebook.service.analytics.ab_tests import Assignment
from svc_notebook.service.analytics.search_counts import CountedSearch
from svc_notebook.service.call_context import CallContext
from svc_notebook.service.engine import SearchResult
from svc_notebook.service.engine.execution import without_missing_tables
from svc_notebook.service.engine.filters.geo_search import AREAS
from svc_notebook.service.engine.index.schema import read_faceted, read_sorts
from svc_notebook.service.engine.query.options import (
    DEFAULTS,
    EMBEDDED_LISTS,
    NEURAL,
    RERANKED_HITS,
    SemanticOptions,
    add_implied,
    select_snippeted,
)
from svc_notebook.service.engine.ranking.ranking import ScoreRecords
from svc_notebook.service.engine.response.search import FacetFound
from svc_notebook.service.engine.semantic.vector_index import EmbedQuery
from svc_notebook.service.events import MAX_HITS_PER_SEARCH
from svc_notebook.service.indices.published_index import PublishedIndex
from svc_notebook.service.indices.records import read_bodies
from svc_notebook.service.rules.consequence import RuleOutcome
from svc_notebook.service.rules.filters import FILTERS, OPTIONAL
from svc_notebook.service.search.rule_application import SearchWithRules, apply_rules, without_rules
from svc_notebook.service.search_models import read_texts
from svc_notebook.service.store import Store, current_milliseconds

T = TypeVar("T")
Params = Mapping[str, Any]

MIN_BULK_QUOTED_BYTES = 4096
# Maximum attempts of a search whose hits, settings or rules are changed while it runs.
MAX_ATTEMPTS = 3
# Lists that may be sent as comma-separated text.
COMMA_SEPARATED = ("facets", "optionalWords")
# Lists with separate limits.
LIMITED_ELSEWHERE = {*FILTERS, OPTIONAL, *AREAS}
# Members that `responseFields` does not remove (api-notes, section 2).
ALWAYS_RETURNED = {
    "message", "warning", "cursor", "abTestVariantID", "parsedQuery", "serverUsed", "indexUsed",
    "timeoutCounts", "timeoutHits", "processed",
}  # fmt: skip


def answer_search(
    call: CallContext, name: str, given: Mapping[str, Any]
) -> tuple[SearchAnswer, bool]:
    """Search one index; return the response, and whether its page is full."""
    with without_missing_tables() as languages:
        assigned = _assign_variant(call, name, given)
        searched, params, result = _try_rules(
            call, assigned.target, assigned.params, partial(_find, call)
        )
    index, outcome = searched.index, searched.outcome
    answer = _make_members(call, searched, params, result)
    if assigned.test is not None:
        answer |= assigned.members
    if params.get("mode") == NEURAL:
        call.service.catalog.request_vectors(index)
    notes = _vector_notes(call, index, result.notes) if result.notes else ()
    faults = [*outcome.faults, *notes]
    answer |= _rule_members(index, outcome) | _advice(index, params, faults, languages)
    if option(index, params, "getRankingInfo"):
        answer |= _ranking_members(searched, name, result)
    ids = [hit["objectID"] for hit in answer["hits"]]
    if "queryID" in answer:
        before = answer.get("offset", answer.get("page", 0) * answer.get("hitsPerPage", 0))
        record_impression(call, name, params, answer, before, ids)
    if params.get("analytics", True):
        sent = call.caller.restrict(searched.original, index.name)
        moment, address = current_milliseconds(), call.caller.address
        call.service.search_counts.add(CountedSearch.of(moment, name, address, sent, answer, ids))
    full = len(result.hits) >= result.paging.get("hitsPerPage", result.paging.get("length", 0))
    kept = keep_fields(answer, option(index, params, "responseFields"))
    return cast("SearchAnswer", kept), full


def answer_facet(
    call: CallContext, name: str, facet: str, query: str, given: Mapping[str, Any]
) -> FacetAnswer:
    """Search the values of one facet of an index."""
    _check_sizes({"facetQuery": query})

    def find(searched: SearchWithRules, params: Params) -> FacetFound:
        index, pins = searched.index, searched.outcome.pins
        _check_unused(params)
        if facet in call.caller.hidden_attributes(index.name, index.settings):
            raise BadInput(f"this key may not read the facet {facet}")
        limit = option(index, params, "maxFacetHits")
        embed = _query_embedder(call, index, params)
        language_resources = call.service.catalog.resources.language_resources(index.id)
        with without_missing_tables():
            return index.engine.get().facet_values(
                facet, query, params, limit, language_resources, pins, embed
            )

    assigned = _assign_variant(call, name, given)
    _, _, result = _try_rules(call, assigned.target, assigned.params, find)
    return {
        "facetHits": cast("list[FacetHit]", result.hits),
        "exhaustiveFacetsCount": result.exhaustive,
        "processingTimeMS": call.elapsed,
    }


def skipped_response(name: str, index: PublishedIndex, given: Mapping[str, Any]) -> SearchAnswer:
    """Return the response for a search that is skipped, because an earlier one had enough hits."""
    params = given_parameters(given)
    return {
        "hits": [],
        "nbHits": 0,
        "page": 0,
        "nbPages": 0,
        "hitsPerPage": option(index, params, "hitsPerPage"),
        "processed": False,
        "processingTimeMS": 0,
        "query": params.get("query", ""),
        "params": encode_params(params),
        "index": name,
    }


def effective_parameters(
    call: CallContext, index: PublishedIndex, given: Mapping[str, Any], size: int | None = None
) -> dict[str, Any]:
    """Return the effective parameters of a search: those given, restricted by the caller's key.

    `size` is the default number of hits. Raises `BadInput` for a text that is too long.
    """
    params = _restrict_params(call, index, _check_sizes(given_parameters(given)), size)
    _check_unused(params)
    return params


def _check_unused(params: Params) -> None:
    """Raise `BadInput` for values of ranking and snippets that a search would refuse.

    A browse and a facet search do not use them.
    """
    read_sorts({"ranking": params.get("ranking")})
    select_snippeted(tuple(params.get("attributesToSnippet") or ()), ())
    SemanticOptions.of(params.get("semanticSearch"))


def given_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that are not null; null means the default."""
    return {name: value for name, value in given.items() if value is not None}


def option(index: PublishedIndex, params: Mapping[str, Any], name: str) -> Any:
    """Return a parameter of the search, or else the index's setting, or else the default."""
    return params[name] if name in params else index.settings.get(name, DEFAULTS[name])


def encode_params(params: Mapping[str, Any]) -> str:
    """Return the parameters as sent, as URL-encoded text."""
    texts = {
        name: msgspec.json.encode(value) if isinstance(value, list) else write_text(value).encode()
        for name, value in params.items()
    }
    return "&".join(f"{quote_plus(name)}={quote_bytes(text)}" for name, text in texts.items())


def quote_bytes(raw: bytes) -> str:
    """URL-encode like `quote_plus`, 50 times faster for megabytes."""
    if len(raw) < MIN_BULK_QUOTED_BYTES:
        return quote_plus(raw)
    text = raw.decode("latin-1").replace("%", "%25")
    counts = np.bincount(np.frombuffer(raw, np.uint8), minlength=256)
    # The percent sign is replaced first and the space last, because replacements contain them.
    for code in set(np.flatnonzero(counts).tolist()) - {ord("%"), ord(" ")}:
        if (quoted := quote_plus(bytes([code]))) != chr(code):
            text = text.replace(chr(code), quoted)
    return text.replace(" ", "+")


def _fetch_records(
    store: Store, records_id: int, read: list[str], ids: Sequence[str]
) -> Iterator[dict[str, Any] | None]:
    """Read records for the engine and add their ids to `read`."""
    read.extend(ids)
    # One record after the other is decoded: a thousand large ones take a gigabyte.
    bodies = read_bodies(store, records_id, ids)
    for name in ids:
        yield msgspec.json.decode(bodies[name]) if name in bodies else None


def keep_fields(answer: dict[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    """Return only the members that `responseFields` names."""
    if "*" in fields:
        return answer
    return {
        name: value for name, value in answer.items() if name in ALWAYS_RETURNED or name in fields
    }


def _assign_variant(call: CallContext, name: str, given: Mapping[str, Any]) -> Assignment:
    """Return the index and parameters of a search: those of a variant where a test runs.

    A key that does not reach the variant's index searches the requested one and does not take part.
    """
    requested = Assignment(name, given)
    test = call.service.ab_tests.running(name)
    if test is None:
        return requested
    bound = call.caller.restrict(given_parameters(given), name)
    if bound.get("enableABTest") is False or not all(
        call.caller.may("search", variant.index) for variant in test.variants
    ):
        return requested
    token = str(bound.get("userToken") or "")
    return test.assign(given, token, call.caller.address) or requested


def _try_rules(
    call: CallContext,
    name: str,
    given: Mapping[str, Any],
    find: Callable[[SearchWithRules, Params], T],
) -> tuple[SearchWithRules, Params, T]:
    """Search with the rules of one state of the index, and repeat the search if that changed.

    Otherwise a search could filter by a facet of its rules that the settings no longer have.
    """
    original = add_implied(_check_sizes(given_parameters(given)))
    catalog = call.service.catalog
    for attempts_left in reversed(range(MAX_ATTEMPTS)):
        index = catalog.find(name)
        versions = catalog.resources.versions(index.id)
        outcome = _try_rules_once(call, index, original, find)
        now = catalog.get(name)
        same = now is not None and (now.id, now.settings) == (index.id, index.settings)
        if not attempts_left or (same and versions == catalog.resources.versions(index.id)):
            break
    return outcome


def _try_rules_once(
    call: CallContext,
    index: PublishedIndex,
    original: Params,
    find: Callable[[SearchWithRules, Params], T],
) -> tuple[SearchWithRules, Params, T]:
    """Search with the index's rules; if rules cause an error, search without the invalid parts."""
    searched = apply_rules(call, index, original)
    try:
        return _run(call, searched, find)
    except BadInput as error:
        if not searched.outcome.applied:
            raise
        fault = str(error)
    try:
        return _run(call, apply_rules(call, index, original, repair=True), find)
    except BadInput:
        return _run(call, without_rules(index, original, fault), find)


def _run(
    call: CallContext, searched: SearchWithRules, find: Callable[[SearchWithRules, Params], T]
) -> tuple[SearchWithRules, Params, T]:
    params = _restrict_params(call, searched.index, searched.outcome.params)
    return searched, params, find(searched, params)


def _find(call: CallContext, searched: SearchWithRules, params: Params) -> SearchResult:
    """Search, and repeat the search if hits were overwritten before they were read."""
    index, catalog = searched.index, call.service.catalog
    language_resources = catalog.resources.language_resources(index.id)
    # Without rules, too: textual relevance must not depend on records that the key may not see.
    pins = replace(searched.outcome.pins, within=call.caller.restrict({}, index.name))
    embed = _query_embedder(call, index, params)
    score = _record_scorer(call, index, params)
    for attempts_left in reversed(range(MAX_ATTEMPTS)):
        read: list[str] = []
        since = catalog.in_flight_writes.last_visible()
        fetch = partial(_fetch_records, call.service.store, index.records_id, read)
        result = index.engine.get().search(params, fetch, language_resources, pins, embed, score)
        if not (
            attempts_left
            and catalog.in_flight_writes.may_have_changed(since, index.records_id, read)
        ):
            break
        catalog.in_flight_writes.wait()
    return result


def _check_sizes(params: dict[str, Any]) -> dict[str, Any]:
    for name in ("query", "similarQuery", "facetQuery"):
        if len(str(params.get(name, "")).encode(errors="replace")) > limits.MAX_QUERY_BYTES:
            raise BadInput(f"`{name}` is longer than {limits.MAX_QUERY_BYTES} bytes")
    for name, value in params.items():
        if name not in LIMITED_ELSEWHERE:
            check_list(name, value)
    return params


def check_list(name: str, value: Any) -> None:
    """Raise `BadInput` for a list, or its comma-separated text, with too many items."""
    is_text = isinstance(value, str) and name in COMMA_SEPARATED
    count = value.count(",") + 1 if is_text else len(value) if isinstance(value, list) else 0
    if count > limits.MAX_LIST_ITEMS:
        raise BadInput(
            f"`{name}` has {count:,} items, the maximum is {limits.MAX_LIST_ITEMS:,}: leave some "
            "out, or make several calls"
        )


def _restrict_params(
    call: CallContext, index: PublishedIndex, params: Mapping[str, Any], size: int | None = None
) -> dict[str, Any]:
    bound = call.caller.restrict(params, index.name)
    if (most := call.caller.max_hits(index.name)) is not None:
        size_requested = bound.get("hitsPerPage", size or option(index, bound, "hitsPerPage"))
        bound["hitsPerPage"] = min(size_requested, most)
        bound |= {"length": min(bound["length"], most)} if "length" in bound else {}
    if call.caller.may("seeUnretrievableAttributes", index.name):
        bound["_seeUnretrievable"] = True
    if lists := call.caller.retrievable_lists(index.name):
        bound[EMBEDDED_LISTS] = lists
    for name in COMMA_SEPARATED:
        if isinstance(text := bound.get(name), str):
            bound[name] = [part for part in text.split(",") if part]
    return bound


def _make_members(
    call: CallContext, searched: SearchWithRules, params: Mapping[str, Any], result: SearchResult
) -> dict[str, Any]:
    """Return the response members of the result and of the request."""
    index = searched.index
    hidden = call.caller.hidden_attributes(index.name, index.settings)
    counted = {"facets": result.facets, "facets_stats": result.facets_stats}
    answer: dict[str, Any] = {
        "hits": result.hits,
        "nbHits": result.nbHits,
        **result.paging,
        **{
            name: {path: value for path, value in facets.items() if path not in hidden}
            for name, facets in counted.items()
            if facets is not None
        },
        **result.extra,
        "query": call.caller.restrict(searched.original, index.name).get("query", ""),
        "params": encode_params(searched.outcome.params),
        "renderingContent": option(index, params, "renderingContent") or {},
        "processingTimeMS": call.elapsed,
        "processingTimingsMS": {},
        "serverTimeMS": call.elapsed,
    }
    if params.get("clickAnalytics"):
        answer["queryID"] = new_query_id()
    return answer


def new_query_id() -> str:
    """Generate the id by which events refer to a search."""
    return secrets.token_hex(16)


def record_impression(
    call: CallContext, name: str, params: Params, answer: Params, before: int, ids: Sequence[str]
) -> None:
    """Store an impression: the hits of a response with a queryID, for later events.

    `before` is the number of hits before the first one; `ids` are the objectIDs of the hits.
    """
    call.service.impressions.add(
        {
            "queryID": answer["queryID"],
            "timestamp": current_milliseconds(),
            "index": name,
            "query": answer["query"],
            "params": answer["params"][: limits.MAX_LOGGED_BYTES],
            "userToken": str(params.get("userToken") or ""),
            "nbHits": answer["nbHits"],
            "first": before + 1,
            "objectIDs": list(ids[:MAX_HITS_PER_SEARCH]),
        }
    )


def _rule_members(index: PublishedIndex, outcome: RuleOutcome) -> dict[str, Any]:
    """Return the response members of rules, or else those of the settings."""
    members: dict[str, Any] = {}
    if outcome.user_data:
        members["userData"] = list(outcome.user_data)
    elif "userData" in index.settings:
        members["userData"] = index.settings["userData"]
    if outcome.applied:
        members["appliedRules"] = [{"objectID": name} for name in outcome.applied]
    return members


def _query_embedder(call: CallContext, index: PublishedIndex, params: Params) -> EmbedQuery | None:
    """Return the function that embeds a query; None where the search does not use vectors."""
    if option(index, params, "mode") != NEURAL:
        return None
    embedder = call.service.catalog.embedder
    return embedder.embed_query if embedder else None


def _record_scorer(call: CallContext, index: PublishedIndex, params: Params) -> ScoreRecords | None:
    """Return the function that scores records for a query; None unless hits are reranked."""
    if not (option(index, params, "semanticSearch") or {}).get(RERANKED_HITS):
        return None
    reranker, query = call.service.catalog.reranker, str(params.get("query") or "")
    if reranker is None:
        return None
    return lambda records: reranker.score(query, read_texts(records, index.settings))


def _vector_notes(call: CallContext, index: PublishedIndex, notes: Sequence[str]) -> list[str]:
    """Return why a search by vectors has no semantic hits, or few."""
    problem = call.service.catalog.vector_problems.get(index.id)
    return [note.replace(VECTORS_PENDING, problem or VECTORS_PENDING) for note in notes]


def _advice(
    index: PublishedIndex,
    params: Mapping[str, Any],
    faults: Sequence[str],
    languages: Collection[str],
) -> dict[str, str]:
    """Return a message: facets that were not counted, faults, languages without a table yet.

    It also names languages without blanks whose dictionary is not installed.
    """
    facets = params.get("facets") or ()
    declared = {"*", *read_faceted(index.settings)} if facets else ()
    missing = [f"`{path}`" for path in facets if path not in declared]
    uncounted = f"facets: {', '.join(missing)} not counted; add to attributesForFaceting first"
    unseparated = find_missing(tuple(index.settings.get("indexLanguages") or ()))
    messages = [
        *([uncounted] if missing else ()),
        *faults,
        *([f"word forms of {_name_all(languages)} {FORMS_PENDING}"] if languages else ()),
        *([f"words of {_name_all(unseparated)} {WORDS_MISSING}"] if unseparated else ()),
    ]
    return {"message": "; ".join(messages)} if messages else {}


def _name_all(languages: Iterable[str]) -> str:
    return ", ".join(f"`{language}`" for language in sorted(languages))


def _ranking_members(searched: SearchWithRules, name: str, result: SearchResult) -> dict[str, Any]:
    return {
        "parsedQuery": result.parsed_query,
        "index": name,
        "indexUsed": searched.index.name,
        "serverUsed": "local",
        "timeoutCounts": False,
        "timeoutHits": False,
    }

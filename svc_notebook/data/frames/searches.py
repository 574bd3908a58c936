"""Searches as DataFrames."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Unpack

import pandas as pd

from svc_notebook.core.api.messages import FORMS_PENDING, WORDS_MISSING
from svc_notebook.core.api.parameters import SearchOptions, SearchParams
from svc_notebook.core.api.shapes import SearchAnswer
from svc_notebook.core.api.values import OneOrMany, list_texts
from svc_notebook.core.terminal import warn_user
from svc_notebook.data.client.config import with_extra
from svc_notebook.data.frames.columns import Backend, Columns, finished, typed
from svc_notebook.data.frames.provenance import remembered
from svc_notebook.data.frames.records import names_of, others_of
from svc_notebook.data.frames.schemas import DEFAULTS, FACET_VALUES, FACETS, RANKING, VALUE_COUNTS
from svc_notebook.errors import BadInput, UnexpectedAnswer

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient

# Members of a hit that are not attributes of the record.
ADDED_MEMBERS = ("_highlightResult", "_snippetResult", "_rankingInfo", "_distinctSeqID")
# Members of a response that `attrs["svc"]` contains.
FACTS = (
    "nbHits", "page", "nbPages", "hitsPerPage", "offset", "length", "facets", "facets_stats",
    "processingTimeMS", "queryID", "parsedQuery", "appliedRules", "userData", "message",
)  # fmt: skip
# Searches per request.
MAX_QUERIES_PER_REQUEST = 50
# The dtypes that support missing values.
NULLABLE = {"int64": "Int64", "float64": "Float64", "bool": "boolean"}
# No service returns larger ranks; they would not fit the column's dtype either.
MAX_RANK = 2**53


@remembered
async def search(
    client: AsyncClient,
    index: str,
    query: str = "",
    *,
    criteria: bool = False,
    highlight: bool = False,
    columns: Sequence[str] | None = None,
    flatten: bool = False,
    dtype_backend: Backend | None = None,
    extra: Mapping[str, Any] | None = None,
    **params: Unpack[SearchOptions],
) -> pd.DataFrame:
    """Search an index: a row for each hit with `rank` (from 1), `objectID`, then its attributes.

    `criteria` adds the value of each criterion, `highlight` adds `highlighted.X` for attributes X,
    `flatten` gives each member of an object its own column; `extra` is sent without validation.
    With `clickAnalytics` each row has its search's `queryID`. `attrs["svc"]` contains index, query,
    params, the rest of the response, and `added`: the columns that are not attributes. If a record
    has an attribute of that name, the added column is `_rank`.
    """
    names = names_of(columns)
    request = _request_params(params, criteria, highlight, names)
    answer = await with_extra(client, extra).search(index, query, **request)
    warn_of_languages([answer])
    frame, added = _hits_frame([answer], None, criteria, highlight, names, flatten)
    facts = {"index": index, "query": query, "params": dict(params), "added": added}
    return finished(frame, facts | _facts_of(answer), dtype_backend)


@remembered
async def search_many(
    client: AsyncClient,
    index: str,
    queries: OneOrMany,
    *,
    criteria: bool = False,
    highlight: bool = False,
    columns: Sequence[str] | None = None,
    flatten: bool = False,
    dtype_backend: Backend | None = None,
    extra: Mapping[str, Any] | None = None,
    **params: Unpack[SearchOptions],
) -> pd.DataFrame:
    """Run many searches of one index; return one long DataFrame whose first column is `query`.

    A row for each hit, and one row for a query without hits, in which only `query` has a value, so
    that `frame["query"]` has every query and `frame.groupby("query")["objectID"].count()` counts
    the hits of each. `rank` is `Int64`. With `clickAnalytics` each row has its search's `queryID`.
    `attrs["svc"]["nbHits"]` contains the total number of hits of each query.
    """
    texts = list_texts(queries, "queries", column="query")
    names = names_of(columns)
    shared = _request_params(params, criteria, highlight, names)
    caller = with_extra(client, extra)
    answers: list[SearchAnswer] = []
    for start in range(0, len(texts), MAX_QUERIES_PER_REQUEST):
        part = texts[start : start + MAX_QUERIES_PER_REQUEST]
        requests: Any = [{"indexName": index, "query": query, **shared} for query in part]
        answers += (await caller.search_many(requests))["results"]  # type: ignore[arg-type]
    pending = warn_of_languages(answers)
    frame, added = _hits_frame(answers, texts, criteria, highlight, names, flatten)
    counts = {"nbHits": [answer["nbHits"] for answer in answers]}
    facts = {"index": index, "queries": texts, "params": dict(params), "added": added, **pending}
    return finished(frame, facts | counts, dtype_backend)


@remembered
async def read_facets(
    client: AsyncClient,
    index: str,
    query: str = "",
    *,
    extra: Mapping[str, Any] | None = None,
    **params: Unpack[SearchOptions],
) -> pd.DataFrame:
    """Count the values of `facets`, all by default, among the hits of a search.

    Columns `facet`, `value`, `count`. Minimum, maximum, mean and sum of numeric facets are in
    `attrs["svc"]["facets_stats"]`.
    """
    options: SearchOptions = {"facets": ["*"], "hitsPerPage": 1, **params}
    answer = await with_extra(client, extra).search(index, query, **options)
    warn_of_languages([answer])
    rows = [
        {"facet": facet, "value": value, "count": count}
        for facet, values in answer.get("facets", {}).items()
        for value, count in values.items()
    ]
    facts = {"index": index, "query": query, "params": dict(params)} | _facts_of(answer)
    facts.pop("facets", None)
    return finished(typed(rows, FACETS, DEFAULTS), facts, None)


@remembered
async def read_facet_values(
    client: AsyncClient,
    index: str,
    facet: str,
    text: str = "",
    **params: Unpack[SearchParams],
) -> pd.DataFrame:
    """Search the values of one facet: `value`, `highlighted`, `count`."""
    answer = await client.search_facet(index, facet, text, **params)
    facts = {"index": index, "facet": facet, "text": text, "params": dict(params)}
    return finished(typed(answer["facetHits"], FACET_VALUES, DEFAULTS), facts, None)


@remembered
async def count_values(
    client: AsyncClient,
    index: str,
    facet: str,
    values: Iterable[Any],
    **params: Unpack[SearchOptions],
) -> pd.DataFrame:
    """Count the records that have each of these values of a facet: `value`, `count`.

    The count is exact for every value, however rare; each distinct value is counted once.
    """
    if isinstance(values, str):
        raise BadInput(f"`values` must be a list: [{values!r}]")
    texts = list(dict.fromkeys(map(_facet_text, values)))
    counts: list[int] = []
    for start in range(0, len(texts), MAX_QUERIES_PER_REQUEST):
        part = texts[start : start + MAX_QUERIES_PER_REQUEST]
        requests: Any = [_counting(index, facet, value, params) for value in part]
        counts += [result["nbHits"] for result in (await client.search_many(requests))["results"]]  # type: ignore[typeddict-item]
    rows = [{"value": v, "count": n} for v, n in zip(texts, counts, strict=True)]
    facts = {"index": index, "facet": facet, "params": dict(params)}
    return finished(typed(rows, VALUE_COUNTS, DEFAULTS), facts, None)


def _facet_text(value: Any) -> str:
    """Return a value as facets have it: `true`, and `1` for 1.0, to which pandas converts 1."""
    if isinstance(value, str):
        return value
    if not pd.api.types.is_scalar(value) or pd.isna(value):
        raise BadInput(f"a facet cannot have the value {value!r}; remove it: values.dropna()")
    if pd.api.types.is_bool(value):
        return str(value).lower()
    whole = pd.api.types.is_float(value) and value.is_integer()
    return str(int(value) if whole else value)


def _counting(index: str, facet: str, value: str, params: Mapping[str, Any]) -> dict[str, Any]:
    given = params.get("facetFilters") or []
    filters = [given] if isinstance(given, str) else list(given)
    shown = f"\\{value}" if value.startswith("-") else value
    counting = {**params, "facetFilters": [*filters, f"{facet}:{shown}"], "hitsPerPage": 0}
    return {"indexName": index, **counting}


def _request_params(
    params: Mapping[str, Any], criteria: bool, highlight: bool, columns: Sequence[str] | None
) -> Any:
    request = dict(params)
    if criteria:
        request["getRankingInfo"] = True
    if not highlight:
        request.setdefault("attributesToHighlight", [])
    if columns is not None:
        request.setdefault("attributesToRetrieve", list(columns))
    return request


def _facts_of(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {name: answer[name] for name in FACTS if name in answer}


def warn_of_languages(answers: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Warn that a search lacked word forms or words; return its message for `attrs`."""
    messages = [str(answer.get("message") or "") for answer in answers]
    for message in messages:
        if FORMS_PENDING in message:
            warn_user(f"{message}; repeat the search in some seconds")
            return {"message": message}
        if WORDS_MISSING in message:
            _warn_once(message)
            return {"message": message}
    return {}


@cache
def _warn_once(message: str) -> None:
    """Issue a warning for the first search that it concerns."""
    warn_user(message)


def _hits_frame(
    answers: Sequence[SearchAnswer],
    queries: Sequence[str] | None,
    criteria: bool,
    highlight: bool,
    columns: Sequence[str] | None,
    flatten: bool,
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Combine records with the added columns of each hit; also return the names of those columns.

    With `queries`, a response without hits is a row without a record.
    """
    no_hits: list[Any] = [] if queries is None else [{}]
    hits = [hit for answer in answers for hit in answer["hits"] or no_hits]
    gathered = Columns(others_of(columns), flatten=flatten)
    gathered.add(_attributes(hit) for hit in hits)
    named = [hit.get("objectID") for hit in hits]
    records = [pd.DataFrame({"objectID": pd.Series(named, dtype="str")}), gathered.frame()]
    ranks = _ranks_frame(answers, queries)
    details = [*_details(hits, criteria, highlight, gaps=queries is not None)]
    attributes = set(map(str, chain(*records)))
    added = {name: _free_name(attributes, name) for name in map(str, chain(ranks, *details))}
    first, *last = (part.rename(columns=added) for part in (ranks, *details))
    return pd.concat([first, *records, *last], axis=1), added


def _ranks_frame(answers: Sequence[SearchAnswer], queries: Sequence[str] | None) -> pd.DataFrame:
    missing: list[int | None] = [] if queries is None else [None]
    ranks = [[*_ranks(answer)] or missing for answer in answers]
    sizes = [len(ranks_of_answer) for ranks_of_answer in ranks]
    dtype = "int64" if queries is None else "Int64"
    frame = pd.DataFrame({"rank": pd.Series([*chain(*ranks)], dtype=dtype)})
    if queries is not None:
        frame.insert(0, "query", pd.Series(_repeat(queries, sizes), dtype="str"))
    if any("queryID" in answer for answer in answers):
        named = [answer.get("queryID", "") for answer in answers]
        frame["queryID"] = pd.Series(_repeat(named, sizes), dtype="str")
    return frame


def _repeat(values: Sequence[str], sizes: Sequence[int]) -> list[str]:
    return [value for value, size in zip(values, sizes, strict=True) for _ in range(size)]


def _details(
    hits: Sequence[Mapping[str, Any]], criteria: bool, highlight: bool, *, gaps: bool
) -> Iterator[pd.DataFrame]:
    if highlight:
        marked = Columns()
        marked.add(_marked(_part(hit, "_highlightResult")) for hit in hits)
        yield marked.frame()
    if criteria:
        yield _criteria(hits, gaps=gaps)


def _criteria(hits: Sequence[Mapping[str, Any]], *, gaps: bool) -> pd.DataFrame:
    """Tabulate the criteria; with `gaps`, rows without a hit have missing values."""
    values = typed([_part(hit, "_rankingInfo") for hit in hits], RANKING, DEFAULTS)
    if not gaps:
        return values
    values = values.astype({name: NULLABLE[dtype] for name, dtype in RANKING.items()})
    values.loc[[not hit for hit in hits]] = pd.NA
    return values


def _part(hit: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return an object that a service adds to a hit; raise `UnexpectedAnswer` otherwise."""
    part = hit.get(name, {})
    if not isinstance(part, Mapping):
        raise UnexpectedAnswer(
            f"search: `{name}` of the hit {hit['objectID']!r} is not an object", endpoint="search"
        )
    return part


def _free_name(attributes: Collection[str], name: str) -> str:
    """Return the name of an added column, with underscores if an attribute has the name."""
    while name in attributes:
        name = f"_{name}"
    return name


def _ranks(answer: SearchAnswer) -> Iterator[int]:
    first = first_rank(answer)
    yield from range(first, first + len(answer["hits"]))


def first_rank(answer: SearchAnswer) -> int:
    """Return the rank of the first hit, from 1; raise `UnexpectedAnswer` for an invalid rank."""
    before = answer.get("offset", answer.get("page", 0) * answer.get("hitsPerPage", 0))
    if not 0 <= before < MAX_RANK:
        raise UnexpectedAnswer(
            f"search: the response gives its first hit the number {before + 1:,}, "
            "which is not a valid rank",
            endpoint="search",
        )
    return before + 1


def _attributes(hit: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: value for key, value in hit.items() if key != "objectID" and key not in ADDED_MEMBERS
    }


def _marked(marks: Mapping[str, Any]) -> dict[str, Any]:
    """Return the marked text of each attribute; lists and objects keep their structure."""
    return {f"highlighted.{name}": _text_of(mark) for name, mark in marks.items()}


def _text_of(mark: Any) -> Any:
    if isinstance(mark, list):
        return [_text_of(item) for item in mark]
    if isinstance(mark, dict):
        leaf = isinstance(mark.get("value"), str) and "matchLevel" in mark
        return mark["value"] if leaf else {k: _text_of(v) for k, v in mark.items()}
    return mark

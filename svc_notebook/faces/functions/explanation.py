"""Explanations: why hits rank as they do, and what each condition of a search costs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack

from pandas import DataFrame

from svc_notebook.core.api.attributes import compared_attributes, filtered_attributes
from svc_notebook.core.api.parameters import SearchOptions, SearchParams
from svc_notebook.core.api.validation import check_members
from svc_notebook.core.display import format_count, shorten
from svc_notebook.data.client import FilterFault, check_filters
from svc_notebook.data.declarations import public, verb
from svc_notebook.data.frames import finished, first_rank
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.faces.functions.empty_search import (
    CountedCondition,
    SearchCounts,
    count_conditions,
    describe_all,
    find_reason,
)
from svc_notebook.faces.functions.hit_renderer import TITLES
from svc_notebook.tuning.evaluation import (
    Criterion,
    criteria_in_order,
    describe_reason,
    describe_value,
    difference,
    ranking_of,
)

TEXTS = ["reason", "title", "next_title", "criterion", "better", "value", "next_value",
         "objectID", "next_objectID"]  # fmt: skip
COLUMNS = ["rank", *TEXTS, "raw_value", "next_raw_value"]
MAX_TITLE_CHARACTERS = 60
Hit = Mapping[str, Any]

DTYPES = {"condition": "str", "hits": "int64", "alone": "int64", "reason": "str", "fix": "str"}


@public(
    verb("explain", "explain products blue lamp", "explain products lamp --hitsPerPage 50"),
    endpoints=("search",),
)
async def explain(
    index: str,
    query: str = "",
    *,
    client: AnyClient | None = None,
    **params: Unpack[SearchOptions],
) -> DataFrame:
    """Explain the order of hits: the first criterion in which each hit differs from the next.

    Returns
    -------
    DataFrame
        One row per pair of adjacent hits: `rank` (int64, from 1), `reason` (str, why it ranks
        above the next hit, in words), `title` and `next_title` (str), `criterion` (str, the one
        that decides), `better` (str, which value ranks higher, such as `fewer`), `value` and
        `next_value` (str, phrases such as `1 typo` or `3 words apart`), `objectID` and
        `next_objectID` (str), `raw_value` and `next_raw_value` (object, the values of the
        response). Hits that are equal in every criterion differ in `tie`: the local service
        ranks the lower objectID higher.

    Raises
    ------
    NotFound

    Examples
    --------
    >>> svc.explain("products", "desk lamp", hitsPerPage=3)[["rank", "criterion", "objectID"]]
       rank criterion objectID
    0     1       tie  LMP-001
    1     2       tie  LMP-003
    """
    aio = asynchronous(client)
    needed = {"getRankingInfo": True, "attributesToRetrieve": ["*"], "attributesToHighlight": []}
    search: Any = {**params, **needed}
    answer = await aio.search(index, query, **search)
    ranking = await ranking_of(aio, index)
    start = first_rank(answer)
    searchable = ranking.get("searchableAttributes") or ()
    rows = _rows(answer["hits"], criteria_in_order(ranking, params), searchable, start)
    frame = DataFrame(list(rows), columns=COLUMNS, dtype=object)
    facts = {"index": index, "query": query, "params": dict(params), "nbHits": answer["nbHits"]}
    return finished(frame.astype({"rank": "int64", **dict.fromkeys(TEXTS, "str")}), facts, None)


def _rows(
    hits: Sequence[Hit], steps: Sequence[Criterion], searchable: Sequence[str], start: int
) -> Iterator[tuple[Any, ...]]:
    for rank, (higher, other) in enumerate(itertools.pairwise(hits), start):
        criterion, better, raw_value, next_raw_value = difference(higher, other, steps)
        value = describe_value(criterion, raw_value, higher, searchable)
        next_value = describe_value(criterion, next_raw_value, other, searchable)
        yield (
            rank, describe_reason(criterion, value, next_value), title_of(higher), title_of(other),
            criterion, better, value, next_value, higher["objectID"], other["objectID"],
            raw_value, next_raw_value,
        )  # fmt: skip


def title_of(hit: Hit) -> str:
    """Return the text that identifies a hit: its title or name, else its first text."""
    texts = {
        name: value
        for name, value in hit.items()
        if isinstance(value, str) and value and name != "objectID" and not name.startswith("_")
    }
    named = {name.casefold(): value for name, value in reversed(texts.items())}
    attributes = (named[name] for name in TITLES if name in named)
    text = " ".join(next(attributes, next(iter(texts.values()), "")).split())
    return shorten(text, MAX_TITLE_CHARACTERS)


@public(
    verb(
        "why",
        "why products lamp --filters 'price < 10'",
        "why products blue lamp --facetFilters brand:Acme",
        spread=SearchParams,
    ),
    endpoints=("search_many",),
)
async def why(
    index: str,
    query: str = "",
    *,
    client: AnyClient | None = None,
    **params: Unpack[SearchOptions],
) -> DataFrame:
    """Return what each condition of a search costs: its hits without that condition.

    It takes what `search` takes, and names the condition that excludes all hits first. Conditions
    are the words of the query, the filters, the parameters that decide what matches, and the rules
    of the index. Each is one search of one request, up to 40 words.

    Returns
    -------
    DataFrame
        One row per condition, those with the most `hits` first and a query of one word last:
        `condition` (str), `hits` (int64, of the search without it), `alone` (int64, of the
        condition alone), `reason` (str) and `fix` (str, Python code: the change that the condition
        needs, or the search without it).
        `attrs["svc"]` contains `nbHits` of the search, and the `reason` if that is 0.

    Raises
    ------
    BadInput
        If a search parameter is unknown or has a wrong type.
    NotFound

    Examples
    --------
    >>> conditions = svc.why("products", "desk lamp", filters="price < 1")
    >>> conditions[["condition", "hits", "alone"]]
                  condition  hits  alone
    0  the filter price < 1    10      0
    1                “desk”     0     40
    2                “lamp”     0     40
    """
    aio = asynchronous(client)
    given = check_members({**params, "query": query}, SearchParams, "")
    counts = await count_conditions(aio, index, given)
    faults = await check_filters(aio, index, given)
    rows = [
        (
            counted.condition.label, counted.hits, counted.alone,
            _reason(counts, counted, faults), _fix(index, counted, faults),
        )
        for counted in counts.ordered
        if counted.condition.kind != "rules" or counted.hits != counts.hits
    ]  # fmt: skip
    frame = DataFrame(rows, columns=[*DTYPES]).astype(DTYPES)
    reason = None if counts.hits else find_reason(index, counts, faults)
    facts = {"index": index, "query": query, "params": dict(params), "nbHits": counts.hits}
    return finished(frame, {**facts, "reason": reason}, None)


def _reason(counts: SearchCounts, counted: CountedCondition, faults: Sequence[FilterFault]) -> str:
    messages = [fault.message for fault in _faults_of(counted, faults)]
    if counted.condition.kind in ("word", "filter") and not counted.alone:
        has = "contains" if counted.condition.kind == "word" else "matches"
        messages.insert(0, f"no record {has} it")
    elif counts.hits:
        excluded = format_count(max(counted.hits - counts.hits, 0), "hit")
        messages.insert(0, f"it excludes {excluded}")
    elif counted.hits:
        messages.insert(0, f"it excludes {describe_all(counted.hits)}")
    else:
        messages.insert(0, "another condition excludes all hits")
    return "; ".join(messages)


def _fix(index: str, counted: CountedCondition, faults: Sequence[FilterFault]) -> str:
    code = [fault.fix for fault in _faults_of(counted, faults) if fault.fix]
    if code or not counted.hits:
        return "; ".join(code)
    query, *params = _write(counted.condition.without)
    return f"svc.search({', '.join([repr(index), query, *params])})"


def _write(params: Mapping[str, Any]) -> Iterator[str]:
    yield repr(params.get("query", ""))
    for name, value in params.items():
        if name != "query":
            yield f"{name}={value!r}"


def _faults_of(counted: CountedCondition, faults: Sequence[FilterFault]) -> list[FilterFault]:
    """Return the faults of attributes that a condition names."""
    values = [value for name, value in counted.condition.alone.items() if name != "query"]
    named = {*filtered_attributes(values), *compared_attributes(values)}
    return [fault for fault in faults if fault.attribute in named]

"""What each condition of a search costs, so that the reason for no hits is known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack

from pandas import DataFrame

from svc_notebook.core.api.attributes import compared_attributes, filtered_attributes
from svc_notebook.core.api.parameters import SearchOptions, SearchParams
from svc_notebook.data.client import FilterFault, check_filters
from svc_notebook.data.declarations import public, verb
from svc_notebook.data.frames import finished
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.faces.functions.empty_search import (
    CountedCondition,
    SearchCounts,
    count_conditions,
    find_reason,
)

DTYPES = {"condition": "str", "hits": "int64", "alone": "int64", "reason": "str", "fix": "str"}


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
    given: dict[str, Any] = {**params, "query": query}
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
        messages.insert(0, f"it excludes {max(counted.hits - counts.hits, 0):,} hits")
    elif counted.hits:
        messages.insert(0, f"it excludes all {counted.hits:,} hits")
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

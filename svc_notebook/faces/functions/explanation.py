"""The explanation of ranking: the criterion that decides between neighbouring hits."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack

from pandas import DataFrame

from svc_notebook.core.api.parameters import SearchOptions
from svc_notebook.core.display import shorten
from svc_notebook.data.declarations import public, verb
from svc_notebook.data.frames import finished, first_rank
from svc_notebook.data.session import AnyClient, asynchronous
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
    search: Any = {**params, "getRankingInfo": True, "attributesToRetrieve": ["*"]}
    answer = await aio.search(index, query, attributesToHighlight=[], **search)
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

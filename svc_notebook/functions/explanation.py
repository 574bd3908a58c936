"""Say why hits stand in the order they stand in."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack

from pandas import DataFrame

from svc_notebook.api.parameters import SearchOptions
from svc_notebook.frames.columns import finished
from svc_notebook.frames.searches import first_rank
from svc_notebook.functions.hit_renderer import TITLES
from svc_notebook.session.connection import AnyClient, asynchronous
from svc_notebook.tuning.evaluation.criteria import (
    Criterion,
    criteria_in_order,
    difference,
    ranking_of,
)
from svc_notebook.tuning.evaluation.criterion_phrases import describe_value

TEXTS = ["criterion", "better", "objectID", "title", "value",
         "next_objectID", "next_title", "next_value"]  # fmt: skip
COLUMNS = ["rank", *TEXTS, "raw_value", "next_raw_value"]
MAX_TITLE_CHARACTERS = 60
Hit = Mapping[str, Any]


async def explain(
    index: str,
    query: str = "",
    *,
    client: AnyClient | None = None,
    **params: Unpack[SearchOptions],
) -> DataFrame:
    """Say for each hit why it ranks before the next: the first criterion in which they differ.

    One row for each pair of hits that follow each other. `rank` (int64, from 1) and then text:
    `criterion` is the one that decides, and `better` which of its values ranks first, such as
    `fewer`; `objectID`, `title` and `value` are the hit's own, `next_objectID`, `next_title` and
    `next_value` those of the hit after it. Values are words: `1 typo`, "2nd word of `title`",
    `3 words apart`; `raw_value` and `next_raw_value` (object) are what the service answered. Hits
    equal in every criterion differ in `tie` alone: the local service ranks the lower objectID
    first.
    """
    own = asynchronous(client)
    asked: Any = {**params, "getRankingInfo": True, "attributesToRetrieve": ["*"]}
    answer = await own.search(index, query, attributesToHighlight=[], **asked)
    ranking = await ranking_of(own, index)
    start = first_rank(answer)
    searchable = ranking.get("searchableAttributes") or ()
    rows = _rows(answer["hits"], criteria_in_order(ranking, params), searchable, start)
    frame = DataFrame(list(rows), columns=COLUMNS, dtype=object)
    facts = {"index": index, "query": query, "params": dict(params), "nbHits": answer["nbHits"]}
    return finished(frame.astype({"rank": "int64", **dict.fromkeys(TEXTS, "str")}), facts, None)


def _rows(
    hits: Sequence[Hit], steps: Sequence[Criterion], searchable: Sequence[str], start: int
) -> Iterator[tuple[Any, ...]]:
    for rank, (one, other) in enumerate(itertools.pairwise(hits), start):
        criterion, better, value, next_value = difference(one, other, steps)
        yield (
            rank, criterion, better,
            one["objectID"], title_of(one), describe_value(criterion, value, one, searchable),
            other["objectID"], title_of(other),
            describe_value(criterion, next_value, other, searchable),
            value, next_value,
        )  # fmt: skip


def title_of(hit: Hit) -> str:
    """Return the text that a hit is known by: its title or name, else its first text."""
    texts = {
        name: value
        for name, value in hit.items()
        if isinstance(value, str) and value and name != "objectID" and not name.startswith("_")
    }
    named = {name.casefold(): value for name, value in reversed(texts.items())}
    known = (named[name] for name in TITLES if name in named)
    text = " ".join(next(known, next(iter(texts.values()), "")).split())
    cut = text[: MAX_TITLE_CHARACTERS - 1]
    return text if len(text) <= MAX_TITLE_CHARACTERS else f"{cut}…"

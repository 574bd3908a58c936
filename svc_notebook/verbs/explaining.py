"""Say why hits stand in the order they stand in."""

from __future__ import annotations

import itertools
from typing import Any, Unpack

from pandas import DataFrame

from svc_notebook.api.parameters import SearchOptions
from svc_notebook.frames.columns import finished
from svc_notebook.frames.searching import first_rank
from svc_notebook.tuning.criteria import difference, ranking_of, steps_of
from svc_notebook.verbs.clients import AnyClient, asynchronous

COLUMNS = ["rank", "objectID", "before", "criterion", "first", "value", "other"]


async def explain(
    index: str,
    query: str = "",
    *,
    client: AnyClient | None = None,
    **params: Unpack[SearchOptions],
) -> DataFrame:
    """Say for each hit why it stands before the next: the first criterion in which they differ.

    Columns `rank`, `objectID`, `before` (the next one's id), `criterion`, `first` (which of two
    values stands first), `value`, `other` (the next one's). Hits equal in every criterion differ
    in `tie` alone: the local service puts the lower objectID first.
    """
    own = asynchronous(client)
    asked: Any = {**params, "getRankingInfo": True, "attributesToRetrieve": ["*"]}
    answer = await own.search(index, query, attributesToHighlight=[], **asked)
    steps = steps_of(await ranking_of(own, index), params)
    start = first_rank(answer)
    rows = [
        (rank, one["objectID"], other["objectID"], *difference(one, other, steps))
        for rank, (one, other) in enumerate(itertools.pairwise(answer["hits"]), start)
    ]
    frame = DataFrame(rows, columns=COLUMNS, dtype=object)
    texts = dict.fromkeys(["objectID", "before", "criterion", "first"], "str")
    facts = {"index": index, "query": query, "params": dict(params), "nbHits": answer["nbHits"]}
    return finished(frame.astype({"rank": "int64", **texts}), facts, None)

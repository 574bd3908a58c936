"""Small runs and judgments, written in a short notation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
from pandas import DataFrame


def judgments_of(**queries: Mapping[str, float]) -> DataFrame:
    """Ratings by objectID, for each query."""
    rows = [
        {"query": query, "objectID": object_id, "rating": float(rating)}
        for query, ratings in queries.items()
        for object_id, rating in ratings.items()
    ]
    return DataFrame(rows, columns=["query", "objectID", "rating"])


def run_of(name: str = "run", **queries: Sequence[str]) -> DataFrame:
    """The objectIDs found for each query, the best first; none is a query without hits."""
    rows = [
        {"run": name, "query": query, "rank": rank, "objectID": object_id, "nbHits": len(ids)}
        for query, ids in queries.items()
        for rank, object_id in (enumerate(ids, 1) if ids else [(None, None)])
    ]
    frame = DataFrame(rows, columns=["run", "query", "rank", "objectID", "nbHits"])
    return frame.astype({"rank": "Int64"})


def value_of(scores: DataFrame, query: str, metric: str) -> float:
    """One score."""
    row = scores[(scores["query"] == query) & (scores["metric"] == metric)]
    return float(row["value"].item())


def letters(text: str) -> list[str]:
    """Short objectIDs."""
    return list(text)


def without(frame: DataFrame, *columns: str) -> DataFrame:
    """The same table with fewer columns."""
    return pd.DataFrame(frame.drop(columns=list(columns)))

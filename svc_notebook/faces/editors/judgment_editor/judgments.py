"""Judgments as rows that an editor changes: their pool, their file, the scores of their queries.

The pool has the top hits of each query under every search variant, merged.

One row is one rating of one hit of one query. A rating of 0, an unrateable hit and a hit without a
rating are different. `svc_notebook.tuning` validates the rows; the metrics, their treatment of
unjudged hits and the intervals are its own.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from pandas import DataFrame

from svc_notebook.core.api.parameters import SearchParams
from svc_notebook.core.api.validation import check_members
from svc_notebook.data.client import HITS_PER_PAGE, AsyncClient
from svc_notebook.errors import BadInput, BadOption
from svc_notebook.faces.editors.hit_cards import POST, PRE
from svc_notebook.faces.editors.rpc import report_progress
from svc_notebook.tuning.evaluation import find_records, score_runs, summary
from svc_notebook.tuning.tables import (
    JUDGMENTS,
    KINDS,
    Params,
    Question,
    check_judgments,
    check_runs,
    is_missing,
)
from svc_notebook.tuning.tables import now as now

MAX_QUERIES_PER_REQUEST = 50
Row = dict[str, Any]
Key = tuple[str, str, str, str]

FAMILIES = ("ndcg", "p", "rr", "ap")  # metrics that a view offers
MAX_CUTOFF = 10
MAX_HISTORY = 400  # points of the line, a judgment each; the oldest are dropped


def read_judgments(given: Any) -> list[Row]:
    """Validate judgments, given as a DataFrame or as rows; additional columns stay."""
    frame = check_judgments(given)
    records = frame.astype(object).to_dict("records")
    return [
        {
            str(name): _to_json(value)
            for name, value in row.items()
            if name in JUDGMENTS or not is_missing(value)
        }
        for row in records
    ]


def to_frame(rows: Iterable[Row]) -> DataFrame:
    """Return rows as a DataFrame of judgments, additional columns last."""
    return check_judgments(list(rows))


def check_file(file: str | os.PathLike[str]) -> Path:
    """Return the path of a file of judgments; raise `BadOption` for an invalid one."""
    path = Path(file)
    if path.suffix not in KINDS:
        raise BadOption(f"unsupported format `{path.suffix}`; use {' or '.join(KINDS)}")
    if not path.parent.is_dir():
        raise BadOption(f"the folder {path.parent} of {path.name} does not exist")
    return path


def key_of(row: Mapping[str, Any]) -> Key:
    """Return the query, filters, objectID and rater of a judgment."""
    return row["query"], row["filters"], row["objectID"], row["rater"]


def is_worth_storing(row: Mapping[str, Any]) -> bool:
    """Return whether a row has a rating, a note or is unrateable."""
    return row["rating"] is not None or row["unrateable"] or bool(row["note"])


def is_judged(row: Mapping[str, Any] | None) -> bool:
    """Return whether a hit is rated or unrateable."""
    return row is not None and (row["rating"] is not None or row["unrateable"])


def read_initial(file: Path | None, judgments: Any) -> list[Row]:
    """Return the judgments of an existing file, or else those that are passed."""
    if file and file.exists():
        if judgments is not None:
            raise BadOption(f"{file} already has judgments: omit `judgments`")
        judgments = check_judgments(file)
    return [] if judgments is None else read_judgments(judgments)


def find_row(rows: list[Row], key: Key) -> Row:
    """Return the row of a key, empty if there is none."""
    return next((row for row in rows if key_of(row) == key), {})


def replace_row(rows: list[Row], key: Key, row: Row) -> list[Row]:
    """Replace the row of a key, or append it; remove it if it has no content."""
    new_rows = [row] if is_worth_storing(row) else []
    position = next((n for n, other in enumerate(rows) if key_of(other) == key), len(rows))
    return [*rows[:position], *new_rows, *rows[position + 1 :]]


def _to_json(value: Any) -> Any:
    """Return a JSON value: None for a missing value, text for a time."""
    if is_missing(value):
        return None
    return value.isoformat() if hasattr(value, "isoformat") else value


class VariantScore(TypedDict):
    """The score of one variant; None where nothing is known yet.

    `upper` is the score if all unjudged hits had the best grade; of a single query, `low` and
    `high` are None.
    """

    variant: str
    mean: float | None
    low: float | None
    high: float | None
    upper: float | None
    judged: float | None
    queries: int
    without_hits: int
    without_relevant: int


def list_metrics(depth: int) -> list[str]:
    """Return the metrics that can be computed for pools of this depth."""
    return [f"{family}@{min(depth, MAX_CUTOFF)}" for family in FAMILIES]


def to_runs(
    questions: Sequence[Question],
    pools: Sequence[Sequence[Pooled]],
    variants: Sequence[PoolVariant],
) -> DataFrame:
    """Return the hits of each variant as runs; a query without hits has a row without one."""
    rows: list[dict[str, Any]] = []
    for variant in variants:
        for question, pooled in zip(questions, pools, strict=True):
            about = {"run": variant.name, "query": question.query, "filters": question.filters}
            hits = [
                {**about, "rank": hit.places[variant.name], "objectID": hit.id}
                for hit in pooled
                if variant.name in hit.places
            ]
            rows += hits or [{**about, "rank": None, "objectID": None}]
    return check_runs(rows)


def measure(
    runs: DataFrame, judgments: Sequence[Row], questions: Sequence[Question], metric: str
) -> tuple[list[VariantScore], list[list[VariantScore]]]:
    """Return the score of the whole set by variant, and those of each query."""
    weights = [{"query": asked.query, "filters": asked.filters, "weight": asked.weight}
               for asked in questions]  # fmt: skip
    scores = score_runs(
        runs, to_frame(judgments), metric, unjudged="bound", gains=None, relevant=1.0,
        queries=weights, warns=False,
    )  # fmt: skip
    whole = [_of_set(row) for row in summary(scores).to_dict("records")]
    scores_by_question: dict[tuple[str, str], list[VariantScore]] = {}
    for row in scores.to_dict("records"):
        scores_by_question.setdefault((row["query"], row["filters"]), []).append(_of_query(row))
    return whole, [scores_by_question[question.key] for question in questions]


def append_point(
    history: Sequence[Sequence[float | None]], whole: Sequence[VariantScore]
) -> list[Sequence[float | None]]:
    """Append the mean of each variant to the line of scores, unless nothing is known or new."""
    point = [score["mean"] for score in whole]
    if all(mean is None for mean in point) or (history and list(history[-1]) == point):
        return [*history]
    return [*history, point][-MAX_HISTORY:]


def describe_score(score: VariantScore) -> str:
    """Describe a score with its interval in a few words."""
    if score["mean"] is None:
        return f"{score['variant']}: no score yet"
    low, high = score["low"], score["high"]
    interval = "" if low is None or high is None else f" [{low:.3f}, {high:.3f}]"
    return f"{score['variant']}: {score['mean']:.3f}{interval}, {score['judged'] or 0:.0%} judged"


def _of_set(row: dict[Any, Any]) -> VariantScore:
    return {
        "variant": row["run"], "mean": or_none(row["mean"]), "low": or_none(row["low"]),
        "high": or_none(row["high"]), "upper": or_none(row["mean"] + row["residual"]),
        "judged": or_none(row["judged"]), "queries": row["queries"],
        "without_hits": row["without_hits"], "without_relevant": row["without_relevant"],
    }  # fmt: skip


def _of_query(row: dict[Any, Any]) -> VariantScore:
    return {
        "variant": row["run"], "mean": or_none(row["value"]), "low": None, "high": None,
        "upper": or_none(row["value"] + row["residual"]), "judged": or_none(row["judged_at_k"]),
        "queries": int(not math.isnan(row["value"])), "without_hits": int(not row["n_hits"]),
        "without_relevant": int(not row["n_relevant"]),
    }  # fmt: skip


def or_none(value: float) -> float | None:
    """Return a number, or None for NaN."""
    return None if math.isnan(value) else float(value)


@dataclass(frozen=True)
class PoolVariant:
    """One way of searching: an index and search parameters."""

    name: str
    index: str
    params: Params = field(default_factory=dict)

    def request(self, question: Question, more: Params) -> dict[str, Any]:
        """Return the search request of a question."""
        return question.request(self.index, self.params, more)


@dataclass(frozen=True)
class Pooled:
    """One hit, and its position in the results of each variant that finds it."""

    id: str
    places: Mapping[str, int]


def read_variants(given: Any, index: str) -> list[PoolVariant]:
    """Read variants, an index or search parameters by name; by default the index alone."""
    if not given:
        return [PoolVariant("current settings", index)]
    if not isinstance(given, Mapping):
        raise BadInput("`variants` must be a dict: for each name an index or search parameters")
    return [_read_variant(str(name), variant, index) for name, variant in given.items()]


def _read_variant(name: str, given: Any, index: str) -> PoolVariant:
    if isinstance(given, str):
        return PoolVariant(name, given)
    if not isinstance(given, Mapping):
        raise BadInput(f"the variant `{name}` must be an index or search parameters, not {given!r}")
    return PoolVariant(name, index, check_members(given, SearchParams, name))


async def pool(
    client: AsyncClient, variants: Sequence[PoolVariant], questions: Sequence[Question], depth: int
) -> list[list[Pooled]]:
    """Search for each question with every variant; return its pool, the best positions first."""
    more = {"hitsPerPage": depth, "attributesToRetrieve": ["objectID"], "attributesToHighlight": []}
    requests = [variant.request(q, more) for q in questions for variant in variants]
    answers: list[Any] = []
    for start in range(0, len(requests), MAX_QUERIES_PER_REQUEST):
        part: Any = requests[start : start + MAX_QUERIES_PER_REQUEST]
        answers += (await client.search_many(part))["results"]
        report_progress(len(answers), len(requests), f"{len(answers)} of {len(requests)} searches")
    step = len(variants)
    return [
        merge(variants, answers[first : first + step]) for first in range(0, len(answers), step)
    ]


def merge(variants: Sequence[PoolVariant], answers: Sequence[Mapping[str, Any]]) -> list[Pooled]:
    """Merge the hits of several variants to one pool, ordered by the best position of each hit."""
    places: dict[str, dict[str, int]] = {}
    for variant, answer in zip(variants, answers, strict=True):
        for rank, hit in enumerate(answer["hits"], 1):
            places.setdefault(hit["objectID"], {})[variant.name] = rank
    pooled = [Pooled(object_id, by) for object_id, by in places.items()]
    return sorted(pooled, key=lambda hit: min(hit.places.values()))


async def fetch(
    client: AsyncClient, variants: Sequence[PoolVariant], question: Question, ids: Sequence[str]
) -> dict[str, Any]:
    """Read the hits of one pool, with highlighted matches if a search finds them."""
    more = {
        "hitsPerPage": min(len(ids), HITS_PER_PAGE),
        "highlightPreTag": PRE,
        "highlightPostTag": POST,
    }
    requests: Any = [variant.request(question, more) for variant in variants]
    answers: Any = (await client.search_many(requests))["results"] if ids else []
    hits = {hit["objectID"]: hit for answer in answers for hit in answer["hits"]}
    not_found = [object_id for object_id in ids if object_id not in hits]
    records = await find_records(client, variants[0].index, not_found)
    return hits | {record["objectID"]: record for record in records if record}


def shuffle(pool: Sequence[Pooled], question: Question, seed: int) -> list[Pooled]:
    """Shuffle a pool, in the same order each time."""
    shuffled = sorted(pool, key=lambda hit: hit.id)
    random.Random(f"{seed} {question.key}").shuffle(shuffled)
    return shuffled

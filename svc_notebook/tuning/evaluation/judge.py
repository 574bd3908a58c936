"""Ratings by a judge that is a function: a language model, a rule, or another service."""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from pandas import DataFrame

from svc_notebook.core.display import format_count
from svc_notebook.core.files import expand_path
from svc_notebook.core.terminal import warn_user
from svc_notebook.data.client import OnProgress
from svc_notebook.data.declarations import public
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput, unreadable, unwritable
from svc_notebook.tuning.evaluation.model_judge import ModelJudge
from svc_notebook.tuning.evaluation.ranked_lists import known_gains
from svc_notebook.tuning.evaluation.rater_agreement import agreement
from svc_notebook.tuning.evaluation.record_texts import RECORD_HASH, digest_record, read_records
from svc_notebook.tuning.tables.schema import now
from svc_notebook.tuning.tables.tables import QUESTION, Table, check_judgments, check_runs

PAIR = [*QUESTION, "objectID"]

Pair = Mapping[str, Any]
Judge = Callable[[Sequence[Pair]], Sequence[float | None] | Awaitable[Sequence[float | None]]]
Cost = float | Callable[[Sequence[Pair]], float]
MAX_BATCH_PAIRS = 1000


@public(bar="pairs")
async def rate(
    index: str,
    pairs: Table,
    judge: Judge,
    *,
    attributes: Sequence[str] | None = None,
    batch: int = 20,
    cost: Cost = 0.0,
    max_cost: float | None = None,
    dry_run: bool = False,
    cache: str | Path | None = None,
    rater: str = "judge",
    human: Table | None = None,
    client: AnyClient | None = None,
    on_progress: OnProgress | None = None,
) -> DataFrame:
    """Let a function rate pairs of a query and a record, such as a language model.

    The function gets a batch of pairs, each a dict of `query`, `filters`, `objectID` and
    `record`, and returns a rating of 0 or more for each, or None if it cannot rate it. It may
    be a coroutine function. Ratings are stored in `cache` after each batch, so that a stopped
    call resumes; a record that has changed is rated again.

    Parameters
    ----------
    index : str
        Name of the index, whose records are read.
    pairs : DataFrame, list of dict or path
        Pairs with the columns `query` and `objectID`, and `filters` if there are any: a run, or
        the result of `next_to_judge`.
    judge : callable
        Function that rates a batch of pairs.
    attributes : list of str, default all
        Attributes of the records that the function gets.
    batch : int, default 20
        Number of pairs for each call of the function, up to 1,000.
    cost : float or callable, default 0.0
        Cost of a pair, or a function of the pairs of a batch that returns the cost of the
        batch; of a `ModelJudge` it is estimated from the prompts.
    max_cost : float, default None
        Cost above which nothing is rated.
    dry_run : bool, default False
        Estimate the cost, and rate nothing.
    cache : path, default None
        File of earlier ratings, one JSON object per line; it is created if necessary.
    rater : str, default 'judge'
        Name of the rater: name the model and the version of the prompt.
    human : DataFrame, list of dict or path, default None
        Judgments of people, to measure the agreement on the pairs that both have rated.

    Returns
    -------
    DataFrame
        One row per pair, with the columns of `check_judgments` and `record_hash` (str), by which
        `find_changed` finds records that have changed since. With `dry_run` one row of
        `pairs`, `cached`, `asked`, `missing`, `batches` (int64) and `cost` (float64).
        `attrs["svc"]` contains the numbers `pairs`, `cached`, `asked` and `missing` (records
        that the index lacks), the `cost` of what was or would be asked and, with `human`,
        `agreement` as `svc.tuning.agreement` returns it; with a `ModelJudge`, `usage` (requests,
        tokens and cost).

    Raises
    ------
    BadInput
        If an option is not valid, the cost is too high, or the function returns something else
        than a rating for each pair.
    NotFound

    Examples
    --------
    >>> def judge(batch):
    ...     return [3 if pair["query"] in pair["record"]["name"].lower() else 0 for pair in batch]
    >>> hits = svc.tuning.run("products", ["mug"], k=2)
    >>> svc.tuning.rate("products", hits, judge)[["query", "objectID", "rating", "rater"]]
      query objectID  rating  rater
    0   mug  MUG-001     3.0  judge
    1   mug  MUG-002     3.0  judge
    """
    _check_options(judge, batch)
    requested = _read_pairs(pairs)
    if cost == 0.0 and isinstance(judge, ModelJudge):
        cost = judge.estimate_cost
    caller = asynchronous(client)
    records = await read_records(caller, index, requested["objectID"].drop_duplicates().tolist())
    given = _add_records(requested, records, attributes)
    rated = _RatingCache(cache, rater)
    asked = [pair for pair in given if rated.key(pair) not in rated.ratings]
    batches = [asked[start : start + batch] for start in range(0, len(asked), batch)]
    price = math.fsum(_price(cost, part) for part in batches)
    facts: dict[str, Any] = {
        "index": index, "pairs": len(requested), "cached": len(given) - len(asked),
        "asked": len(asked), "missing": len(requested) - len(given), "cost": price,
        "rater": rater, "dry_run": dry_run,
    }  # fmt: skip
    if max_cost is not None and price > max_cost:
        raise BadInput(
            f"rating {len(asked):,} pairs would cost {price:g}, more than max_cost={max_cost:g}; "
            "rate fewer pairs, or raise the limit"
        )
    if dry_run:
        return _estimate(facts, len(batches))
    done = len(given) - len(asked)
    for part in batches:
        rated.add(part, await _ask(judge, part))
        done += len(part)
        if on_progress:
            on_progress(done, len(given))
    judged = _judgments(given, rated, rater)
    if isinstance(judge, ModelJudge):
        facts["usage"] = judge.take_usage()
        _warn_of_unread(judge)
    if human is not None:
        facts["agreement"] = _agreement(judged, check_judgments(human))
    judged.attrs["svc"] = facts
    return judged


def _check_options(judge: Any, batch: int) -> None:
    if not 1 <= batch <= MAX_BATCH_PAIRS:
        raise BadInput(f"`batch` is from 1 to {MAX_BATCH_PAIRS} pairs, not {batch!r}")
    if not callable(judge):
        raise BadInput("`judge` is a function of a batch of pairs")


def _add_records(
    requested: DataFrame,
    records: Mapping[str, Mapping[str, Any]],
    attributes: Sequence[str] | None,
) -> list[dict[str, Any]]:
    """Return the pairs whose records the index has, with these records."""
    return [
        {
            **dict(zip(requested.columns, row, strict=True)),
            "record": _part(records[row[1]], attributes),
        }
        for row in requested.to_numpy().tolist()
        if row[1] in records
    ]


def _warn_of_unread(judge: ModelJudge) -> None:
    """Warn of answers without a rating, once for each of them."""
    if judge.unread:
        warn_user(
            f"{format_count(len(judge.unread), 'pair')} unrateable: the model gave no grade of "
            f"{', '.join(f'{grade:g}' for grade in judge.grades)}, but {judge.unread[0]!r}"
        )
        judge.unread.clear()


def _estimate(facts: Mapping[str, Any], batches: int) -> DataFrame:
    counts = {name: facts[name] for name in ("pairs", "cached", "asked", "missing")}
    estimate = DataFrame([{**counts, "batches": batches, "cost": float(facts["cost"])}])
    estimate.attrs["svc"] = dict(facts)
    return estimate


def _read_pairs(pairs: Table) -> DataFrame:
    given: Any = pairs
    is_path = isinstance(pairs, str | os.PathLike)
    frame = pd.read_csv(given, dtype="str") if is_path else DataFrame(given)
    for name in ("query", "objectID"):
        if name not in frame:
            raise BadInput(f"pairs need a column `{name}`")
    filters = frame["filters"].fillna("") if "filters" in frame else ""
    frame = frame[["query", "objectID"]].assign(filters=filters)
    frame = frame[frame["objectID"].notna()].drop_duplicates().reset_index(drop=True)
    return frame.astype("str")


def _part(record: Mapping[str, Any], attributes: Sequence[str] | None) -> dict[str, Any]:
    if attributes is None:
        return dict(record)
    return {name: record[name] for name in attributes if name in record}


def _price(cost: Cost, part: Sequence[Pair]) -> float:
    return float(cost(part)) if callable(cost) else cost * len(part)


async def _ask(judge: Judge, part: Sequence[Pair]) -> list[float | None]:
    answer: Any = judge(part)
    if inspect.isawaitable(answer):
        answer = await answer
    ratings = list(answer) if isinstance(answer, Sequence | pd.Series) else None
    if ratings is None or isinstance(answer, str) or len(ratings) != len(part):
        count = "no list" if ratings is None else f"{len(ratings)} ratings"
        raise BadInput(f"the judge returned {count} for {len(part)} pairs; one for each is needed")
    return [_rating(value, pair) for value, pair in zip(ratings, part, strict=True)]


def _rating(value: Any, pair: Pair) -> float | None:
    if value is None or value != value:
        return None
    if (
        isinstance(value, bool | str)
        or not hasattr(value, "__float__")
        or not (0 <= float(value) < float("inf"))
    ):
        raise BadInput(
            f"the judge rated {pair['objectID']!r} for {pair['query']!r} with {value!r}; a rating "
            "is a number from 0, or None"
        )
    return float(value)


class _RatingCache:
    """Ratings by pair, rater and content of the record, in a file or in memory."""

    def __init__(self, path: str | Path | None, rater: str) -> None:
        self._path = None if path is None else expand_path(path)
        self._rater = rater
        self._is_torn = False  # the last line of the file is not complete
        self.ratings: dict[str, float | None] = {}
        if self._path and self._path.exists():
            try:
                text = self._path.read_text(encoding="utf-8")
            except OSError as error:
                raise unreadable(self._path, error) from None
            rows = map(_read, text.splitlines())
            self.ratings = {row["key"]: row["rating"] for row in rows if row}
            self._is_torn = bool(text) and not text.endswith("\n")

    def key(self, pair: Pair) -> str:
        """Return the identity of a rating."""
        facts = [self._rater, *(pair[name] for name in (*QUESTION, "objectID", "record"))]
        text = json.dumps(facts, sort_keys=True, ensure_ascii=False, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def add(self, part: Sequence[Pair], ratings: Sequence[float | None]) -> None:
        """Store the ratings of a batch."""
        rows = []
        for pair, rating in zip(part, ratings, strict=True):
            key = self.key(pair)
            self.ratings[key] = rating
            about = {name: pair[name] for name in (*QUESTION, "objectID")}
            rows.append({"key": key, "rating": rating, "rater": self._rater, "at": now(), **about})
        if self._path:
            try:
                with self._path.open("a", encoding="utf-8") as file:
                    file.write("\n" if self._is_torn else "")
                    self._is_torn = False
                    file.writelines(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
            except OSError as error:
                raise unwritable(self._path, error) from None


def _read(line: str) -> dict[str, Any] | None:
    """Read one line; a torn one counts as not there, so that its pair is rated again."""
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) and row.keys() >= {"key", "rating"} else None


def _judgments(given: Sequence[Pair], rated: _RatingCache, rater: str) -> DataFrame:
    rows = []
    for pair in given:
        rating = rated.ratings[rated.key(pair)]
        rows.append({
            **{name: pair[name] for name in (*QUESTION, "objectID")}, "rating": rating,
            "unrateable": rating is None, "rater": rater, "source": "import",
            RECORD_HASH: digest_record(pair["record"]),
        })  # fmt: skip
    return check_judgments(rows)


def _agreement(judged: DataFrame, human: DataFrame) -> Any:
    both = [*QUESTION, "objectID"]
    shared = judged[both].merge(human[both].drop_duplicates(), on=both)
    parts = [frame.merge(shared, on=both) for frame in (human, judged)]
    return agreement(pd.concat(parts, ignore_index=True)) if len(shared) else None


@public(bar="pairs")
async def try_judge(
    index: str,
    human: Table,
    judge: Judge,
    *,
    n: int = 10,
    seed: int = 0,
    client: AnyClient | None = None,
    on_progress: OnProgress | None = None,
    **options: Any,
) -> DataFrame:
    """Rate a few pairs that people have graded, to compare a judge with them at a low cost.

    Parameters
    ----------
    human : DataFrame, list of dict or path
        Judgments of people; their grades are drawn in equal numbers, if there are enough.
    judge : callable
        Judge, as `rate` takes it, such as a `ModelJudge`.
    n : int, default 10
        Number of pairs, 1 or more.
    **options
        Options of `rate`.

    Returns
    -------
    DataFrame
        One row per pair, the largest differences first: `query`, `filters` and `objectID` (str),
        `human` (float64, mean of the raters), `judge` and `difference` (float64) and `reason`
        (str, of a `ModelJudge`). `attrs["svc"]` is that of `rate`, with `agreement` and `usage`.

    Raises
    ------
    BadInput
        If `n` is less than 1, nothing is graded, or `rate` raises it.
    CallFailed

    Examples
    --------
    >>> trial = svc.tuning.try_judge("products", "judgments.csv", lambda pairs: [1] * len(pairs))
    >>> len(trial)
    10
    """
    if n < 1:
        raise BadInput(f"`n` must be 1 or more, not {n}")
    judged = check_judgments(human)
    graded = known_gains(judged, None).rename(columns={"gain": "human"})
    if graded.empty:
        raise BadInput("no judgment of people has a rating to compare with")
    drawn = graded.sample(frac=1, random_state=seed)
    turns = drawn.groupby("human").cumcount()
    chosen = drawn.assign(turn=turns).sort_values(["turn", "human"], kind="stable").head(n)
    rated = await rate(
        index, chosen[PAIR], judge, human=judged, client=client, on_progress=on_progress, **options
    )
    frame = rated[[*PAIR, "rating"]].rename(columns={"rating": "judge"})
    frame = frame.merge(chosen[[*PAIR, "human"]], on=PAIR)
    frame["difference"] = frame["judge"] - frame["human"]
    reasons: Mapping[Any, str] = getattr(judge, "reasons", {})
    keys = zip(*(frame[name] for name in PAIR), strict=True)
    frame["reason"] = pd.Series([reasons.get(key, "") for key in keys], frame.index, dtype="str")
    order = frame["difference"].abs().sort_values(ascending=False, kind="stable").index
    columns = [*PAIR, "human", "judge", "difference", "reason"]
    frame = frame.loc[order, columns].reset_index(drop=True)
    frame.attrs["svc"] = dict(rated.attrs["svc"])
    return frame


@public(bar="pairs")
async def complete_judgments(
    index: str,
    runs: Table,
    judgments: Table,
    judge: Judge,
    *,
    k: int = 10,
    client: AnyClient | None = None,
    on_progress: OnProgress | None = None,
    **options: Any,
) -> DataFrame:
    """Let a judge rate the unjudged hits of runs, and return all judgments.

    Parameters
    ----------
    runs : DataFrame, list of dict or path
        Runs, as `run` returns them.
    judge : callable
        Judge, as `rate` takes it, such as a `ModelJudge`.
    k : int, default 10
        Number of first hits of each query that are judged.
    **options
        Options of `rate`, such as `cache` and `max_cost`.

    Returns
    -------
    DataFrame
        The judgments, then those of the judge. `attrs["svc"]` is that of `rate`; `pairs` is the
        number of new pairs.

    Raises
    ------
    BadInput
        If `k` is less than 1, or `rate` raises it.
    CallFailed

    Examples
    --------
    >>> hits = svc.tuning.run("products", ["mug"], k=2)
    >>> human = [{"query": "mug", "objectID": "MUG-001", "rating": 3}]
    >>> judged = svc.tuning.complete_judgments("products", hits, human, lambda pairs: [1])
    >>> judged[["objectID", "rating", "rater"]]
      objectID  rating  rater
    0  MUG-001     3.0
    1  MUG-002     1.0  judge
    """
    if k < 1:
        raise BadInput(f"`k` must be 1 or more, not {k}")
    if options.get("dry_run"):
        raise BadInput("`dry_run` is an option of `rate`; pass it the pairs of the run")
    hits, judged = check_runs(runs), check_judgments(judgments)
    first = hits[hits["objectID"].notna() & (hits["rank"] <= k)][PAIR].drop_duplicates()
    done = judged.loc[judged["rating"].notna() | judged["unrateable"], PAIR].drop_duplicates()
    both = first.merge(done, how="left", on=PAIR, indicator="state")
    new = both.loc[both["state"] == "left_only", PAIR]
    rated = await rate(index, new, judge, client=client, on_progress=on_progress, **options)
    whole = check_judgments(pd.concat([judged, rated], ignore_index=True) if len(rated) else judged)
    whole.attrs["svc"] = dict(rated.attrs["svc"])
    return whole

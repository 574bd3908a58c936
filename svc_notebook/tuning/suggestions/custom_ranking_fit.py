"""A custom ranking fitted to judgments: one attribute, two, or a weighted sum to push."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas import DataFrame

from svc_notebook.core.display import format_difference, format_number, write_headed
from svc_notebook.data.client import AsyncClient, browse_pages
from svc_notebook.data.declarations import public
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.tuning.changes.scratch_copy import AsyncScratch
from svc_notebook.tuning.changes.state import as_parameters, read_part
from svc_notebook.tuning.diagnosis.record_evidence import (
    NumericAttribute,
    numbers_of,
    rank_attributes,
)
from svc_notebook.tuning.evaluation.comparison import Comparison, compare
from svc_notebook.tuning.evaluation.comparison_summary import describe_few, describe_row
from svc_notebook.tuning.evaluation.metrics import deepest
from svc_notebook.tuning.evaluation.record_texts import read_records
from svc_notebook.tuning.evaluation.runs import run
from svc_notebook.tuning.evaluation.scores import evaluate
from svc_notebook.tuning.statistics import check_seed
from svc_notebook.tuning.tables.tables import (
    QUESTION,
    Queries,
    Table,
    check_judgments,
    check_queries,
)
from svc_notebook.tuning.variants.query_parts import part_queries

Floats = NDArray[np.float64]
MAX_NEWTON_STEPS = 50
STEP_TOLERANCE = 1e-8
RIDGE_STRENGTH = 1e-3  # of the mean loss; keeps the weights of equal attributes finite
SKEW_RATIO = 20.0  # maximum over median, from which an attribute counts by its logarithm
SCORE_DIGITS = 4

MAX_ATTRIBUTES = 4
MAX_PAIRED_ATTRIBUTES = 2
RECORDS_PER_BATCH = 1000
TRACE = ["ranking", "score", "delta"]


@dataclass(frozen=True, repr=False, eq=False)
class CustomRankingFit:
    """A custom ranking fitted on some queries and measured on others; displayed as HTML.

    Attributes
    ----------
    index : str
        Name of the index.
    metric : str
        Metric of the scores.
    attributes : DataFrame
        One row per numeric attribute: `attribute` (str), `concordance` (float64, share of pairs
        of records of a query in which the better one has the higher value; 0.5 is chance) and
        `pairs` (int64), on the tune queries.
    trace : DataFrame
        One row per tried custom ranking: `ranking` (object, list), `score` and `delta`
        (float64, on the tune queries).
    ranking : list of str
        Best custom ranking on the tune queries; empty if none is better than the index.
    formula : str
        The weighted sum; empty if the best ranking does not use it.
    values : DataFrame
        `objectID` (str) and the weighted sum (float64) of every record, for `svc.push` with
        `action="update"`; empty if the best ranking does not use it.
    holdout : Comparison or None
        Comparison with the index on the held-out queries; None if nothing was better.

    Examples
    --------
    >>> fitted = svc.tuning.fit_custom_ranking("products", "judgments.csv")
    >>> fitted.attributes[["attribute", "pairs"]]
    """

    index: str
    metric: str
    attributes: DataFrame = field(repr=False)
    trace: DataFrame = field(repr=False)
    ranking: list[str]
    formula: str
    values: DataFrame = field(repr=False)
    holdout: Comparison | None = field(repr=False)

    @property
    def change(self) -> dict[str, Any]:
        """The custom ranking as a change, for `tuning.impact` and `tuning.apply`.

        A weighted sum must be pushed first: `svc.push(fit.values, index, action="update")`.
        """
        return {"settings": {"customRanking": self.ranking}} if self.ranking else {}

    def test(self) -> DataFrame:
        """Test the custom ranking on the held-out queries, as `Comparison.test` does."""
        if self.holdout is None:
            raise BadInput("nothing was held out: no custom ranking was better than the index")
        return self.holdout.test()

    def __repr__(self) -> str:
        return "\n".join(_describe(self))

    def _repr_html_(self) -> str:
        return write_headed(*_describe(self))


def _describe(fit: CustomRankingFit) -> list[str]:
    described = ", ".join(
        f"{row['attribute']} {row['concordance']:.1%}" for row in fit.attributes.to_dict("records")
    )
    lines = [f"{fit.index}: custom ranking by {fit.metric}"]
    lines.append(f"pairs in which the better record has the higher value: {described or 'none'}")
    if fit.holdout is None:
        return [*lines, "no custom ranking was better than the index as it is"]
    best = fit.trace.iloc[int(fit.trace["score"].argmax())]
    lines.append(
        f"best on the tune queries: {', '.join(fit.ranking)} {format_number(best['score'])} "
        f"({format_difference(best['delta'])})"
    )
    [row] = fit.test().to_dict("records")
    lines.append(f"held out: {'  '.join(describe_row(row))}")
    lines += describe_few([row])
    if fit.formula:
        lines.append(f"{_sum_name(fit)} = {fit.formula}")
        lines.append(f'push it first: svc.push(fit.values, {fit.index!r}, action="update")')
    return lines


def _sum_name(fit: CustomRankingFit) -> str:
    return str(fit.values.columns[1])


@public()
async def fit_custom_ranking(
    index: str,
    judgments: Table,
    queries: Queries | None = None,
    attributes: Sequence[str] | None = None,
    *,
    name: str = "ranking_score",
    metric: str = "ndcg@10",
    holdout: float = 0.3,
    k: int | None = None,
    seed: int = 0,
    client: AnyClient | None = None,
) -> CustomRankingFit:
    """Fit a custom ranking by numeric attributes to judgments; nothing is saved.

    Tried are the attributes that agree most with the grades, pairs of them, and a weighted sum
    of all, which is tried as an attribute of a temporary copy of the index. Attributes, weights
    and the best ranking are selected on the tune queries alone, and compared with the index on
    the held-out ones.

    Parameters
    ----------
    queries : str, list, DataFrame or path, default those of the judgments
        Queries to search for; their column `split` divides them, if there is one.
    attributes : list of str, default those that agree most with the grades
        Numeric attributes, such as popularity, rating, price or a timestamp.
    name : str, default 'ranking_score'
        Attribute of the weighted sum.
    metric : str, default 'ndcg@10'
        Metric that selects the ranking.
    holdout : float, default 0.3
        Share of the queries to hold out.
    k : int, default as many as the metric needs, at least 10
        Number of hits of each query.

    Returns
    -------
    CustomRankingFit
        The custom ranking, `change` to apply it, the weighted sum of every record, and the
        comparison on the held-out queries.

    Raises
    ------
    BadInput
        If no record has such an attribute, there are too few queries, or an option is not
        valid.
    NotFound

    Examples
    --------
    >>> fitted = svc.tuning.fit_custom_ranking("products", "judgments.csv", holdout=0.5)
    >>> fitted.ranking
    """
    judged = check_judgments(judgments)
    table = check_queries(judged if queries is None else queries)
    tune, held = part_queries(table, holdout, check_seed(seed))
    caller = asynchronous(client)
    depth = deepest(metric, k)
    rated = judged[judged["rating"].notna()].merge(tune[QUESTION], on=QUESTION)
    records = await read_records(caller, index, rated["objectID"].drop_duplicates().tolist())
    every = rank_attributes(rated, records)
    chosen = _choose(index, every, attributes)
    job = _FitTrials(caller, index, tune, held, judged, metric, depth, seed)
    rankings = _rankings(chosen)
    await job.open()
    for ranking in rankings:
        await job.try_out(ranking)
    values = DataFrame({"objectID": pd.Series(dtype="str"), name: pd.Series(dtype="float64")})
    if len(chosen) < 2:
        best, holdout_result = await job.conclude(index)
        return _result(job, every, best, "", values, holdout_result)
    numbers = {entry: numbers_of(record) for entry, record in records.items()}
    fitted = fit_sum(rated, numbers, [entry.name for entry in chosen])
    every_value = await _score_records(caller, index, fitted, name)
    async with AsyncScratch(index, caller) as scratch:
        await _push_values(caller, scratch.name, every_value, name)
        await job.try_out([f"desc({name})"], scratch.name)
        best, holdout_result = await job.conclude(scratch.name)
    uses_sum = best == [f"desc({name})"]
    return _result(
        job, every, best, str(fitted) if uses_sum else "", every_value if uses_sum else values,
        holdout_result,
    )  # fmt: skip


def _result(
    job: _FitTrials, every: Sequence[NumericAttribute], best: list[str], formula: str,
    values: DataFrame, holdout: Comparison | None,
) -> CustomRankingFit:  # fmt: skip
    frame = DataFrame(every, columns=["attribute", "concordance", "pairs"])
    trace = DataFrame(job.trace, columns=TRACE)
    return CustomRankingFit(
        job.index, job.metric,
        frame.astype({"attribute": "str", "concordance": "float64", "pairs": "int64"}),
        trace.astype({"score": "float64", "delta": "float64"}), best, formula, values, holdout,
    )  # fmt: skip


def _choose(
    index: str, every: Sequence[NumericAttribute], listed: Sequence[str] | None
) -> list[NumericAttribute]:
    if isinstance(listed, str):
        raise BadInput('`attributes` is a list of names, such as ["sales", "rating"]')
    names = [attribute.name for attribute in every]
    for name in listed or ():
        if name not in names:
            raise BadInput(
                f"`{name}` is a number in fewer than half of the judged records of {index}"
                f"{did_you_mean(name, names)}"
            )
    chosen = [*every[:MAX_ATTRIBUTES]]
    if listed is not None:
        chosen = [attribute for attribute in every if attribute.name in listed]
    if not chosen:
        raise BadInput(f"the judged records of {index} have no numeric attribute")
    return chosen


def _rankings(chosen: Sequence[NumericAttribute]) -> list[list[str]]:
    sorts = [attribute.sort for attribute in chosen]
    pairs = itertools.permutations(sorts[:MAX_PAIRED_ATTRIBUTES], 2)
    return [*([sort] for sort in sorts), *(list(pair) for pair in pairs)]


@dataclass
class _FitTrials:
    """Custom rankings tried on the tune queries."""

    client: AsyncClient
    index: str
    tune: DataFrame
    held: DataFrame
    judged: DataFrame
    metric: str
    k: int
    seed: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    before: float = 0.0
    trace: list[tuple[list[str], float, float]] = field(default_factory=list)

    async def open(self) -> None:
        """Read the settings, and measure the index as it is."""
        self.settings = await read_part(self.client, self.index, "settings")
        self.before = self._score(await self._run(self.index, self.tune, None))

    async def try_out(self, ranking: list[str], index: str = "") -> None:
        """Measure a custom ranking on the tune queries."""
        hits = await self._run(index or self.index, self.tune, ranking)
        score = self._score(hits)
        self.trace.append((ranking, score, score - self.before))

    async def conclude(self, index: str) -> tuple[list[str], Comparison | None]:
        """Return the best ranking, and its comparison with the index on the held-out queries."""
        ranking, score, _ = max(self.trace, key=lambda trial: trial[1])
        if score <= self.before:
            return [], None
        before = await self._run(self.index, self.held, None)
        after = await self._run(index, self.held, ranking)
        judged = self.judged
        return ranking, compare(before, after, judged, self.metric, seed=self.seed)

    async def _run(self, index: str, queries: DataFrame, ranking: list[str] | None) -> DataFrame:
        params: Any = {}
        if ranking is not None:
            changes = {"customRanking": ranking}
            params, _ = as_parameters(changes, {**self.settings, **changes})
        label = ", ".join(ranking) if ranking else self.index
        hits: DataFrame = await run(
            index, queries, params, k=self.k, name=label, client=self.client
        )
        return hits

    def _score(self, hits: DataFrame) -> float:
        return float(evaluate(hits, self.judged, self.metric)["value"].mean())


async def _score_records(
    client: AsyncClient, index: str, fitted: FittedSum, name: str
) -> DataFrame:
    ids: list[str] = []
    numbers: list[dict[str, float]] = []
    names = ["objectID", name, *(attribute.name for attribute in fitted.attributes)]
    async for page in browse_pages(client, index, attributesToRetrieve=names):
        for record in page["hits"]:
            if name in record:
                raise BadInput(
                    f"records of {index} have an attribute `{name}`; give another `name`"
                )
            ids.append(record["objectID"])
            numbers.append(numbers_of(record))
    frame = DataFrame({"objectID": ids, name: fitted.score(numbers)})
    return frame.astype({"objectID": "str", name: "float64"})


async def _push_values(client: AsyncClient, index: str, values: DataFrame, name: str) -> None:
    tasks = []
    for start in range(0, len(values), RECORDS_PER_BATCH):
        part = values.iloc[start : start + RECORDS_PER_BATCH]
        requests: Any = [
            {"action": "partialUpdateObjectNoCreate",
             "body": {"objectID": object_id, name: value}}
            for object_id, value in zip(part["objectID"], part[name].tolist(), strict=True)
        ]  # fmt: skip
        tasks.append(await client.batch(index, requests))
    await client.wait(tasks, index=index)


@dataclass(frozen=True)
class FittedAttribute:
    """One attribute of a sum: its weight, and how its values are made comparable."""

    name: str
    weight: float
    mean: float
    deviation: float
    by_logarithm: bool

    def scaled(self, values: Floats) -> Floats:
        """Scale values; a missing one counts as the mean."""
        scaled = np.log1p(np.maximum(values, 0)) if self.by_logarithm else values
        return np.nan_to_num((scaled - self.mean) / self.deviation)

    def __str__(self) -> str:
        shown = f"log(1 + {self.name})" if self.by_logarithm else self.name
        return f"{self.weight:+.3f} · ({shown} - {self.mean:.4g}) / {self.deviation:.4g}"


@dataclass(frozen=True)
class FittedSum:
    """A weighted sum of numeric attributes."""

    attributes: tuple[FittedAttribute, ...]

    def score(self, numbers: Sequence[Mapping[str, float]]) -> Floats:
        """Return the value of each record."""
        total = np.zeros(len(numbers))
        for attribute in self.attributes:
            values = np.array(
                [of_record.get(attribute.name, np.nan) for of_record in numbers], dtype=np.float64
            )
            total += attribute.weight * attribute.scaled(values)
        return np.round(total, SCORE_DIGITS)

    def __str__(self) -> str:
        return " ".join(map(str, self.attributes))


def fit_sum(
    judged: DataFrame, numbers: Mapping[str, Mapping[str, float]], names: Sequence[str]
) -> FittedSum:
    """Fit weights by logistic regression on pairs, in which each query counts the same.

    The probability that the better of two records has the higher sum is the logistic function
    of the difference of the sums (RankNet with one layer).
    """
    stored = judged[judged["objectID"].isin(list(numbers))].reset_index(drop=True)
    scales = [
        _scale(name, [numbers[object_id] for object_id in stored["objectID"]]) for name in names
    ]
    columns = [
        scale.scaled(
            np.array(
                [numbers[object_id].get(scale.name, np.nan) for object_id in stored["objectID"]]
            )
        )
        for scale in scales
    ]
    features = np.stack(columns, axis=1)
    parts = list(_pairs(stored, features))
    if not parts:
        return FittedSum(tuple(scales))
    differences = np.concatenate([rows for rows, _ in parts])
    shares = np.concatenate([np.full(len(rows), weight) for rows, weight in parts])
    weights = _solve(differences, shares / shares.sum())
    return FittedSum(
        tuple(
            FittedAttribute(s.name, float(w), s.mean, s.deviation, s.by_logarithm)
            for s, w in zip(scales, weights, strict=True)
        )
    )


def _scale(name: str, numbers: Sequence[Mapping[str, float]]) -> FittedAttribute:
    values = np.array([of_record.get(name, np.nan) for of_record in numbers], dtype=np.float64)
    present = values[~np.isnan(values)]
    skewed = len(present) > 0 and present.min() >= 0 and (
        present.max() > SKEW_RATIO * max(float(np.median(present)), 1e-9)
    )  # fmt: skip
    scaled = np.log1p(present) if skewed else present
    mean, deviation = (float(scaled.mean()), float(scaled.std())) if len(scaled) else (0.0, 0.0)
    return FittedAttribute(name, 0.0, mean, deviation or 1.0, bool(skewed))


def _pairs(stored: DataFrame, features: Floats) -> Iterator[tuple[Floats, float]]:
    """Yield for each query the differences, better less worse, and the weight of each."""
    for positions in stored.groupby(QUESTION, sort=False).indices.values():
        grades = stored["rating"].to_numpy(dtype=np.float64)[positions]
        better, worse = np.nonzero(grades[:, None] > grades[None, :])
        if len(better):
            of_query = features[positions]
            yield of_query[better] - of_query[worse], 1 / len(better)


def _solve(differences: Floats, shares: Floats) -> Floats:
    """Minimize the mean logistic loss with a small ridge by Newton's method."""
    weights = np.zeros(differences.shape[1])
    ridge = RIDGE_STRENGTH * np.eye(len(weights))
    for _ in range(MAX_NEWTON_STEPS):
        wrong = 1 / (1 + np.exp(np.clip(differences @ weights, -500, 500)))
        gradient = -differences.T @ (shares * wrong) + ridge @ weights
        curvature = (differences * (shares * wrong * (1 - wrong))[:, None]).T @ differences
        step = np.linalg.solve(curvature + ridge, gradient)
        weights = weights - step
        if np.abs(step).max(initial=0) < STEP_TOLERANCE:
            break
    return weights

"""Relevance as a test: required scores, and no loss against a baseline, with verdicts.

A verdict takes the uncertainty of few queries into account. A requirement has `failed` only if the
whole 95 % interval is on the wrong side; if the mean is on the wrong side and the interval is not,
it is `undecided`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any, Literal, TypedDict

import numpy as np
from pandas import DataFrame

from svc_notebook.core.api.parameters import SearchParams
from svc_notebook.core.api.validation import check_members
from svc_notebook.core.display import format_count, format_difference, format_number, write_frame
from svc_notebook.core.yaml_nodes import build_value, read_document
from svc_notebook.data.client import OnProgress
from svc_notebook.data.declarations import public
from svc_notebook.data.session import AnyClient
from svc_notebook.errors import BadInput, unreadable
from svc_notebook.tuning.evaluation.comparison import compare
from svc_notebook.tuning.evaluation.metrics import deepest, read_measure, read_measures
from svc_notebook.tuning.evaluation.runs import run
from svc_notebook.tuning.evaluation.scores import METRICS, Unjudged, evaluate, summary
from svc_notebook.tuning.statistics import FEW_QUERIES, TIE_TOLERANCE, interval, span, t_interval
from svc_notebook.tuning.tables.files import write_table
from svc_notebook.tuning.tables.tables import Table, check_judgments, check_runs

Outcome = Literal["passed", "undecided", "failed"]
SHOWN_QUERIES = 5
MIN_QUERIES = 2  # of fewer, no outcome is certain


@dataclass(frozen=True)
class Requirement:
    """One requirement and its outcome.

    - `value`, `low`, `high`: the score, or the difference to the baseline, and its interval.
    - `bound`: what it must reach.
    """

    name: str
    metric: str
    outcome: Outcome
    value: float
    low: float
    high: float
    bound: float
    reason: str

    def __str__(self) -> str:
        return f"{self.outcome}: {self.name}; {self.reason}"


@dataclass(frozen=True, repr=False)
class RelevanceVerdict:
    """The verdict on required scores; displayed as HTML in notebooks.

    Attributes
    ----------
    index : str
        Name of the index.
    scores : DataFrame
        One row per metric, as `svc.tuning.summary` returns it.
    requirements : tuple of Requirement
        Each requirement with `name`, `metric`, `outcome` (`passed`, `undecided` or `failed`),
        `value`, `low`, `high`, `bound` and `reason`.
    worst : DataFrame
        The queries with the lowest scores by the first metric: `query`, `filters` and `value`.
    strict : bool
        Whether undecided requirements fail.
    breakage : str
        Why no score can be trusted, such as a search that failed; empty without a reason.

    Examples
    --------
    >>> verdict = svc.tuning.check_relevance("products", "judgments.csv", {"ndcg@10": 0.1})
    >>> verdict.outcome, verdict.complete
    ('passed', True)
    """

    index: str
    scores: DataFrame
    requirements: tuple[Requirement, ...]
    worst: DataFrame
    strict: bool = False
    breakage: str = ""

    @property
    def outcome(self) -> Outcome:
        """The worst outcome of a requirement."""
        outcomes = {requirement.outcome for requirement in self.requirements}
        order: tuple[Outcome, ...] = ("failed", "undecided", "passed")
        return next(requirement for requirement in order if requirement in outcomes)

    @property
    def complete(self) -> bool:
        """Whether the test passes: no requirement failed, nor is undecided if `strict`."""
        return self.outcome == "passed" or (self.outcome == "undecided" and not self.strict)

    def __repr__(self) -> str:
        lines = [self._headline(), *(f"  {requirement}" for requirement in self.requirements)]
        if self.outcome != "passed" and len(self.worst):
            lines.append("lowest scores:")
            lines.append(self.worst.to_string(index=False, float_format="%.3f"))
        return "\n".join(lines)

    def to_frame(self) -> DataFrame:
        """Return one row per requirement, for output as CSV or JSON."""
        return DataFrame([asdict(requirement) for requirement in self.requirements])

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{escape(str(requirement))}</li>" for requirement in self.requirements)
        worst = write_frame(self.worst) if self.outcome != "passed" else ""
        return f"<p>{escape(self._headline())}</p><ul>{items}</ul>{worst}"

    def _headline(self) -> str:
        strict = " (strict)" if self.strict and self.outcome == "undecided" else ""
        return f"{self.index}: {self.outcome}{strict}"


@public(bar="searches")
async def check_relevance(
    index: str,
    judgments: Table,
    at_least: Mapping[str, float] | None = None,
    *,
    no_worse_than: Table | None = None,
    metrics: str | Iterable[str] | None = None,
    margin: float = 0.0,
    strict: bool = False,
    params: SearchParams | None = None,
    k: int | None = None,
    unjudged: Unjudged = "zero",
    relevant: float = 1.0,
    save: str | os.PathLike[str] | None = None,
    seed: int = 0,
    client: AnyClient | None = None,
    on_progress: OnProgress | None = None,
) -> RelevanceVerdict:
    """Search for every judged query, and check that the scores are as required.

    A requirement is `passed` if the mean reaches the bound, `failed` if the whole 95 % interval
    of the mean is below it, and `undecided` otherwise: too few queries for a verdict. The
    interval is that of the t distribution for fewer than 20 queries, else a bootstrap. A search
    that fails, or judgments without a relevant record, fail each requirement.

    Parameters
    ----------
    at_least : dict of float, default None
        Required mean of each metric.
    no_worse_than : DataFrame, list of dict or path, default None
        Baseline: an earlier run, which `save` wrote. The means of all metrics must not be lower.
    metrics : str or list of str, default those of `at_least`, else 'ndcg@10'
        Metrics to compute and to compare with the baseline.
    margin : float, default 0
        Maximum accepted loss against the baseline.
    strict : bool, default False
        Whether an undecided requirement fails the test.
    params : dict, default None
        Search parameters of every query.
    k : int, default as many as the metrics need, at least 10
        Number of hits of each query.
    save : path, default None
        CSV or Parquet file that the run is written to, as a baseline.
    seed : int, default 0
        Seed of the random numbers of intervals.

    Returns
    -------
    RelevanceVerdict
        The outcome of each requirement, and the scores.

    Raises
    ------
    BadInput
        If nothing is required, or a metric, a bound or a table is not valid.
    NotFound

    Examples
    --------
    >>> svc.tuning.check_relevance("products", "judgments.csv", {"ndcg@10": 0.1})
    products: passed
      passed: ndcg@10 at least 0.1; mean ... of 8 queries
    """
    bounds = _read_bounds(at_least)
    if not bounds and no_worse_than is None:
        raise BadInput(
            "nothing is required; pass at_least={'ndcg@10': 0.7} or a run as no_worse_than"
        )
    if not math.isfinite(margin) or margin < 0:
        raise BadInput(f"`margin` must be a number, 0 or more, not {margin!r}")
    names = _list_metrics(metrics, bounds)
    judged = check_judgments(judgments)
    baseline = None if no_worse_than is None else check_runs(no_worse_than)
    hits = await run(
        index, judged, params, k=deepest(names, k), client=client, on_progress=on_progress
    )
    options: Any = {"unjudged": unjudged, "relevant": relevant}
    scores = evaluate(hits, judged, names, queries=judged, **options)
    broken = _find_breakage(scores)
    requirements = [
        _check_bound(scores, metric, bound, broken, seed) for metric, bound in bounds.items()
    ]
    if baseline is not None:
        compared = compare(baseline, hits, judged, names, seed=seed, **options)
        tested = compared.test().to_dict("records")
        requirements += [_check_loss(row, margin, broken) for row in tested]
    if save is not None:
        write_table(hits, save)
    first = scores[scores["metric"] == names[0]].sort_values("value", kind="stable")
    worst = first[["query", "filters", "value"]].head(SHOWN_QUERIES).reset_index(drop=True)
    return RelevanceVerdict(
        index, summary(scores, seed=seed), tuple(requirements), worst, strict, broken
    )


def _list_metrics(metrics: str | Iterable[str] | None, bounds: Iterable[str]) -> list[str]:
    given = [metrics] if isinstance(metrics, str) else list(metrics or ())
    return [measure.name for measure in read_measures([*given, *bounds] or METRICS)]


def read_bound(text: str) -> tuple[str, float]:
    """Read a requirement such as `ndcg@10=0.70`; the last `=` separates."""
    metric, _, bound = text.rpartition("=")
    try:
        return metric.strip(), float(bound)
    except ValueError:
        raise BadInput(f"a requirement is written as ndcg@10=0.7, not {text!r}") from None


def _read_bounds(given: Mapping[str, float] | None) -> dict[str, float]:
    bounds = {}
    for metric, bound in (given or {}).items():
        if isinstance(bound, bool) or not isinstance(bound, int | float) or not 0 <= bound <= 1:
            raise BadInput(f"the bound of `{metric}` must be a number from 0 to 1, not {bound!r}")
        bounds[read_measure(metric).name] = float(bound)
    return bounds


def _find_breakage(scores: DataFrame) -> str:
    """Return why no score can be trusted; empty if there is no reason."""
    failed = scores.loc[scores["error"] != "", ["query", "error"]].drop_duplicates()
    if len(failed):
        query, error = failed.iloc[0]
        count = format_count(len(failed), "query", "queries")
        return f"{count} failed; the first is {query!r}: {error}"
    if scores["value"].isna().all():
        return "no judged query has a relevant record, so there is no score"
    return ""


def _check_bound(
    scores: DataFrame, metric: str, bound: float, broken: str, seed: int
) -> Requirement:
    of_metric = scores[scores["metric"] == metric]
    values = of_metric["value"].to_numpy(dtype=np.float64)
    weights = of_metric["weight"].fillna(1).to_numpy() if "weight" in of_metric else None
    count = int((~np.isnan(values)).sum())
    few = count < FEW_QUERIES
    estimate = t_interval(values, weights=weights) if few else interval(
        values, weights=weights, seed=seed
    )  # fmt: skip
    words = "query" if count == 1 else "queries"
    reason = f"mean {format_number(estimate.mean)} {span(estimate.low, estimate.high)}".strip()
    return Requirement(
        f"{metric} at least {bound:g}", metric,
        *_judge(estimate.mean, estimate.low, estimate.high, bound, broken, count),
        bound, broken or f"{reason} of {count:,} {words}{_say_few(count)}",
    )  # fmt: skip


def _check_loss(row: Mapping[Any, Any], margin: float, broken: str) -> Requirement:
    few = row["wins"] + row["losses"] < FEW_QUERIES
    low, high = (row["t_low"], row["t_high"]) if few else (row["low"], row["high"])
    pairs = row["wins"] + row["ties"] + row["losses"]
    within = f" by more than {margin:g}" if margin else ""
    reason = (
        f"{format_number(row['before'])} → {format_number(row['after'])}, difference "
        f"{format_difference(row['delta'])} {span(low, high)}".strip()
        + f", {row['wins']} won, {row['ties']} tied, {row['losses']} lost"
    )
    if row["left_out"]:
        reason += f", {format_count(row['left_out'], 'query', 'queries')} not in both runs"
    return Requirement(
        f"{row['metric']} no worse than the baseline{within}", row["metric"],
        *_judge(row["delta"], low, high, -margin, broken, pairs), -margin,
        broken or f"{reason}{_say_few(pairs)}",
    )  # fmt: skip


def _judge(
    value: float, low: float, high: float, bound: float, broken: str, count: int
) -> tuple[Outcome, float, float, float]:
    """Return the outcome with the numbers; without an interval, a miss is undecided."""
    if broken or math.isnan(value):
        return "failed", value, low, high
    if count < MIN_QUERIES:
        return "undecided", value, low, high
    if value >= bound - TIE_TOLERANCE:
        return "passed", value, low, high
    return ("failed" if high < bound - TIE_TOLERANCE else "undecided"), value, low, high


def _say_few(count: int) -> str:
    return ": too few to decide" if count < MIN_QUERIES else ""


class RelevanceFile(TypedDict, total=False):
    """The members of a file.

    Judgments are in `queries`, the rating of each record by objectID, or in the file `judgments`.
    """

    index: str
    at_least: dict[str, float]
    no_worse_than: str
    metrics: list[str]
    margin: float
    strict: bool
    params: SearchParams
    k: int
    unjudged: Unjudged
    relevant: float
    profile: str
    judgments: str
    queries: dict[str, dict[str, float]]


def read_relevance_file(path: Path) -> RelevanceFile:
    """Read a file; raise `BadInput` with its name if it is not valid."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not UTF-8 text") from None
    except OSError as error:
        raise unreadable(path, error) from None
    node = read_document(text, str(path))
    if node is None or node.id != "mapping":
        raise BadInput(f"{path} must contain `index`, `queries` and `at_least`")
    try:
        members: Any = check_members(build_value(node, RelevanceFile, text), RelevanceFile, "")
        if "index" not in members:
            raise BadInput("`index` is missing; add the name of the index")
        if ("queries" in members) == ("judgments" in members):
            raise BadInput("give either `queries` or `judgments`, the name of a file")
        if not members.get("at_least") and "no_worse_than" not in members:
            raise BadInput("nothing is required: `at_least` or `no_worse_than` is missing")
        list_requirements(members)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    read: RelevanceFile = members
    return read


def list_requirements(file: RelevanceFile) -> list[tuple[str, str]]:
    """Return the kind and the metric of each requirement, in the order of the verdict."""
    bounds = file.get("at_least", {})
    names = [measure.name for measure in read_measures([*bounds])] if bounds else []
    listed = [("at least", name) for name in names]
    if "no_worse_than" in file:
        metrics = read_measures([*file.get("metrics", ()), *bounds] or METRICS)
        listed += [("no worse", measure.name) for measure in metrics]
    return listed


def check_file(path: Path, file: RelevanceFile, profile: str | None) -> RelevanceVerdict:
    """Search and check, with the profile of the file, the given one, or the environment."""
    from svc_notebook.data.session import make_client
    from svc_notebook.tuning.blocking import check_relevance

    options: Any = {
        name: value
        for name, value in file.items()
        if name not in ("index", "profile", "judgments", "queries", "no_worse_than")
    }
    if "no_worse_than" in file:
        options["no_worse_than"] = path.parent / file["no_worse_than"]
    judged: Any = (
        path.parent / file["judgments"]
        if "judgments" in file
        else [
            {"query": query, "objectID": object_id, "rating": rating}
            for query, records in file["queries"].items()
            for object_id, rating in records.items()
        ]
    )
    with make_client(file.get("profile", profile)) as client:
        return check_relevance(file["index"], judged, client=client, progress=False, **options)

"""Start, read and stop A/B tests, and estimate how long they take."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypedDict, cast

from pandas import DataFrame

from svc_notebook.core.api.parameters import SearchParams
from svc_notebook.core.api.shapes.ab_tests import (
    ABTestConfiguration,
    EffectMetric,
    VariantFields,
    compute_sample_sizes,
)
from svc_notebook.data import frames
from svc_notebook.data.declarations import public, verb
from svc_notebook.data.frames import Backend
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput
from svc_notebook.faces.functions.ab_test_report import ABTestReport, build_report
from svc_notebook.faces.functions.text_values import read_variant

MAX_DAYS = 3650  # of a test


class Estimate(TypedDict):
    """The number of searches that an A/B test needs, and its duration."""

    rates: list[float]
    sampleSizes: list[int]
    durationDays: int | None
    summary: str


class ABTestSummary(TypedDict):
    """An A/B test that was started, stopped or deleted."""

    id: int
    index: str
    done: str


@public(
    verb(
        "abtests add",
        "abtests add products products_cheap --days 14",
        "abtests add products '{\"ignorePlurals\": true}' --days 14",
        types={"variant": str},
    ),
    endpoints=("add_ab_tests",),
)
async def add_ab_test(
    index: str,
    variant: str | Mapping[str, Any],
    *,
    name: str | None = None,
    traffic: int = 50,
    days: float = 14,
    metric: EffectMetric | None = None,
    effect: float | None = None,
    outliers: bool = False,
    empty_searches: bool = False,
    client: AnyClient | None = None,
) -> ABTestSummary:
    """Start an A/B test: from now on, part of the users search the variant.

    A user with a `userToken` stays in one variant; without, the address decides. Responses name
    the test and the variant, and events count by the `queryID` of searches with `clickAnalytics`.

    Parameters
    ----------
    index : str
        Name of the index that users search, the control.
    variant : str or dict
        Name of the other index, or search parameters that replace those of searches in `index`, as
        JSON, too.
    name : str, default None
        Name of the test; None takes the variant's.
    traffic : int, default 50
        Percentage of the users that search the variant, from 1 to 99.
    days : float, default 14
        Duration in days; more than 0, at most 3,650.
    metric : {'clickThroughRate', ...}, default None
        The rate whose change decides: `clickThroughRate`, `conversionRate`, `addToCartRate` or
        `purchaseRate`. With `effect`, the report says how many searches are missing.
    effect : float, default None
        Smallest relative change of `metric` to detect: 0.05 is 5 %.
    outliers : bool, default False
        Count users with unusually many searches, which may be programs.
    empty_searches : bool, default False
        Count searches with an empty query.

    Returns
    -------
    dict
        `id` (int), `index` (str, the control) and `done` (`started`).

    Raises
    ------
    BadInput
        If only one of `metric` and `effect` is given, `days` is not above 0, or the indices,
        parameters or percentage cannot be tested.
    NotFound
        If an index does not exist.
    Refused
        If another test runs on one of the indices.

    Examples
    --------
    >>> test = svc.add_ab_test("products", {"hitsPerPage": 5}, days=7)
    >>> svc.stop_ab_test(test["id"])["done"]
    'stopped'
    """
    if (metric is None) != (effect is None):
        raise BadInput("give both `metric` and `effect`, or neither")
    if not 0 < days <= MAX_DAYS:
        raise BadInput(f"`days` must be more than 0 and at most {MAX_DAYS}, not {days:g}")
    if not 0 < traffic < 100:
        raise BadInput(f"`traffic` must be between 1 and 99, not {traffic}")
    if isinstance(variant, str):
        variant = read_variant(variant)
    other: VariantFields = {"index": index, "trafficPercentage": traffic}
    if isinstance(variant, str):
        other["index"] = variant
    else:
        # The endpoint checks the names and values before anything is sent.
        other["customSearchParameters"] = cast("SearchParams", dict(variant))
    configuration: ABTestConfiguration = {
        "outliers": {"exclude": not outliers},
        "emptySearch": {"exclude": not empty_searches},
    }
    if metric is not None and effect is not None:
        configuration["minimumDetectableEffect"] = {"size": effect, "metric": metric}
    title = variant if isinstance(variant, str) else ", ".join(variant)
    answer = await asynchronous(client).add_ab_tests(
        name or f"{index}: {title}",
        [{"index": index, "trafficPercentage": 100 - traffic}, other],
        (datetime.now(UTC) + timedelta(days)).isoformat(timespec="seconds"),
        configuration,
    )
    return {"id": answer["abTestID"], "index": answer["index"], "done": "started"}


@public(
    verb("abtests", "abtests", lists=True),
    endpoints=("list_ab_tests",),
)
async def read_ab_tests(
    *, client: AnyClient | None = None, dtype_backend: Backend | None = None
) -> DataFrame:
    """Read the A/B tests, newest first.

    Returns
    -------
    DataFrame
        One row per test: `id` (int64), `name`, `status` (str, active, stopped or expired),
        `index` (str, the control), `variant` (str, its index), `parameters` (object, a dict, or
        None), `trafficPercentage` (int64, of the variant), `searchCount` and `userCount` (int64),
        `createdAt`, `endAt` and `stoppedAt` (datetime64[us, UTC], missing if it was not stopped).

    Examples
    --------
    >>> tests = svc.read_ab_tests()
    >>> running = tests[tests["status"] == "active"]
    """
    return await frames.read_ab_tests(asynchronous(client), dtype_backend=dtype_backend)


@public(
    verb("abtests report", "abtests report 3"),
    endpoints=("get_ab_test",),
)
async def read_ab_test(test: int, *, client: AnyClient | None = None) -> ABTestReport:
    """Read the report of an A/B test: rates with intervals, a verdict, and how long it still runs.

    Parameters
    ----------
    test : int
        Id of the test.

    Returns
    -------
    ABTestReport
        `verdict` and `outlook` (str), `metrics` (DataFrame: `control`, `variant` and relative
        `change` of each rate and currency with 95 % intervals, `p`, `significant`), `variants`
        (DataFrame of counts), `days_left` (int), `searches_left` (int or None) and `plot`.

    Raises
    ------
    NotFound
        If the test does not exist.

    Examples
    --------
    >>> test = svc.add_ab_test("products", {"hitsPerPage": 5})
    >>> report = svc.read_ab_test(test["id"])
    >>> report.days_left
    14
    >>> svc.delete_ab_test(test["id"])["done"]
    'deleted'
    """
    return build_report(await asynchronous(client).get_ab_test(test))


@public(
    verb(
        "abtests stop",
        "abtests stop 3 --yes",
        destructive="stop the A/B test {test}, which cannot be started again",
    ),
    endpoints=("stop_ab_test",),
    like=read_ab_test.__doc__,
)
async def stop_ab_test(test: int, *, client: AnyClient | None = None) -> ABTestSummary:
    """Stop an A/B test: all users search the control again, and the figures stay.

    Returns
    -------
    dict
        `id` (int), `index` (str, the control) and `done` (`stopped`).

    Raises
    ------
    NotFound
        If the test does not exist.
    Refused
        If the test does not run.

    Examples
    --------
    >>> test = svc.add_ab_test("products", {"hitsPerPage": 5})
    >>> svc.stop_ab_test(test["id"])["done"]
    'stopped'
    """
    answer = await asynchronous(client).stop_ab_test(test)
    return {"id": answer["abTestID"], "index": answer["index"], "done": "stopped"}


@public(
    verb(
        "abtests delete",
        "abtests delete 3 --yes",
        destructive="delete the A/B test {test} and its report",
    ),
    endpoints=("delete_ab_test",),
    like=read_ab_test.__doc__,
)
async def delete_ab_test(test: int, *, client: AnyClient | None = None) -> ABTestSummary:
    """Delete an A/B test and its report; its searches stay counted in analytics.

    Returns
    -------
    dict
        `id` (int), `index` (str, the control) and `done` (`deleted`).

    Examples
    --------
    >>> test = svc.add_ab_test("products", {"hitsPerPage": 5})
    >>> svc.delete_ab_test(test["id"])["done"]
    'deleted'
    """
    answer = await asynchronous(client).delete_ab_test(test)
    return {"id": answer["abTestID"], "index": answer["index"], "done": "deleted"}


@public(
    verb(
        "abtests estimate",
        "abtests estimate 0.2 0.05 --searches-per-day 2000",
        names={"searches_per_day": "searches-per-day"},
        profile=False,
    ),
    # From a rate and a number of searches, so that it needs no service.
    replaces={"estimate_ab_test": "estimate_ab_test"},
)
def estimate_ab_test(
    rate: float,
    effect: float,
    *,
    searches_per_day: float | None = None,
    traffic: float = 50,
    power: float = 0.8,
    significance: float = 0.05,
) -> Estimate:
    """Estimate how many searches and days an A/B test needs to detect a change of a rate.

    The estimate is that of a two-sided test of two proportions. Nothing is sent.

    Parameters
    ----------
    rate : float
        Rate of the control, such as its click-through rate: between 0 and 1.
    effect : float
        Smallest relative change to detect: 0.05 is 5 % more, -0.05 is 5 % less.
    searches_per_day : float, default None
        Searches of both variants in a day that the rate is computed of; None estimates no
        duration.
    traffic : float, default 50
        Percentage of the searches that the variant receives; the control receives the others.
    power : float, default 0.8
        Probability that a change of this size is detected.
    significance : float, default 0.05
        Probability that a change is reported although there is none.

    Returns
    -------
    dict
        `rates` (of control and variant), `sampleSizes` (searches of control and variant),
        `durationDays` (int or None) and `summary` (str).

    Raises
    ------
    BadInput
        If a rate or a share is out of range, or the effect is 0.

    Examples
    --------
    >>> svc.estimate_ab_test(0.2, 0.05, searches_per_day=2000)["durationDays"]
    26
    """
    changed = rate * (1 + effect)
    _check_shares(
        {"rate": rate, "traffic": traffic / 100, "power": power, "significance": significance}
    )
    if not (effect and 0 < changed < 1):
        raise BadInput(
            f"`effect` {effect:g} changes the rate from {rate:g} to {changed:g}; it must change it "
            "to another value between 0 and 1"
        )
    sizes = compute_sample_sizes(rate, changed, traffic / (100 - traffic), power, significance)
    days = _days(sum(sizes), searches_per_day)
    change = f"a change from {rate:.2%} to {changed:.2%}"
    summary = (
        f"{sizes[0]:,} searches of the control and {sizes[1]:,} of the variant detect {change}"
    )
    if days is not None:
        summary += f", after {days:,} day{'s' * (days != 1)}"
    return {
        "rates": [rate, changed],
        "sampleSizes": sizes,
        "durationDays": days,
        "summary": summary,
    }


def _check_shares(shares: dict[str, float]) -> None:
    for name, share in shares.items():
        if not 0 < share < 1:
            unit = "0 and 100" if name == "traffic" else "0 and 1"
            given = share * 100 if name == "traffic" else share
            raise BadInput(f"`{name}` must be between {unit}, not {given:g}")


def _days(searches: int, searches_per_day: float | None) -> int | None:
    if searches_per_day is None:
        return None
    if searches_per_day <= 0:
        raise BadInput(f"`searches_per_day` must be more than 0, not {searches_per_day:g}")
    return math.ceil(searches / searches_per_day)

"""Handlers of A/B tests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from svc_notebook.core.api import AnalyticsApi
from svc_notebook.core.api.shapes.ab_tests import (
    ABTest,
    ABTestChange,
    ABTestConfiguration,
    ABTestEstimate,
    ABTestPage,
    EstimateConfiguration,
    VariantFields,
    Variants,
)
from svc_notebook.errors import BadInput
from svc_notebook.service.analytics.ab_test_results import (
    estimate_sizes,
    evaluate,
    measure_rate,
)
from svc_notebook.service.analytics.ab_tests import StoredTest
from svc_notebook.service.analytics.figures import Selection
from svc_notebook.service.analytics.suggestion_configs import write_time
from svc_notebook.service.handlers.registry import serves
from svc_notebook.service.service import RequestContext
from svc_notebook.service.store import current_milliseconds

# An estimate takes the rate and the number of searches from these days.
ESTIMATE_DAYS = 30
# Parameters that decide who takes part, and whether a search can be clicked.
FIXED_PARAMETERS = ("analytics", "clickAnalytics", "enableABTest", "userToken")


@serves(AnalyticsApi.add_ab_tests)
def add_ab_tests(
    call: RequestContext,
    name: str,
    variants: Variants,
    endAt: str,
    configuration: ABTestConfiguration | None = None,
) -> ABTestChange:
    """Start a test."""
    _check_variants(call, "editSettings", variants)
    ends = _read_time(endAt)
    if ends <= current_milliseconds():
        raise BadInput(f"`endAt` {endAt} is in the past")
    return _change(call, call.service.ab_tests.add(name, variants, ends, configuration or {}))


@serves(AnalyticsApi.list_ab_tests)
def list_ab_tests(
    call: RequestContext,
    *,
    offset: int = 0,
    limit: int = 10,
    indexPrefix: str | None = None,
    indexSuffix: str | None = None,
) -> ABTestPage:
    """Return the tests of indices that the key reaches, newest first."""
    call.service.ab_tests.stop_incomplete()
    tests = [
        test
        for test in call.service.ab_tests.all()
        if all(call.caller.may("analytics", index) for index in test.indices)
        and _has_index(test, indexPrefix or "", indexSuffix or "")
    ]
    page = tests[offset : offset + limit]
    described = [_describe(call, test) for test in page]
    return {"abtests": described or None, "count": len(page), "total": len(tests)}


def _has_index(test: StoredTest, prefix: str, suffix: str) -> bool:
    return any(index.startswith(prefix) and index.endswith(suffix) for index in test.indices)


@serves(AnalyticsApi.get_ab_test)
def get_ab_test(call: RequestContext, id: int) -> ABTest:
    """Return a test with its figures."""
    call.service.ab_tests.stop_incomplete()
    test = call.service.ab_tests.find(id)
    call.caller.require("analytics", test.indices)
    return _describe(call, test)


@serves(AnalyticsApi.stop_ab_test)
def stop_ab_test(call: RequestContext, id: int) -> ABTestChange:
    """Stop a test."""
    call.caller.require("editSettings", call.service.ab_tests.find(id).indices)
    call.service.ab_tests.stop_incomplete()
    return _change(call, call.service.ab_tests.stop(id))


@serves(AnalyticsApi.delete_ab_test)
def delete_ab_test(call: RequestContext, id: int) -> ABTestChange:
    """Delete a test."""
    call.caller.require("editSettings", call.service.ab_tests.find(id).indices)
    return _change(call, call.service.ab_tests.delete(id))


@serves(AnalyticsApi.estimate_ab_test)
def estimate_ab_test(
    call: RequestContext, configuration: EstimateConfiguration, variants: Variants
) -> ABTestEstimate:
    """Estimate from the searches of the control in the last days."""
    _check_variants(call, "analytics", variants)
    index, effect = variants[0]["index"], configuration["minimumDetectableEffect"]
    start = (datetime.now(UTC) - timedelta(ESTIMATE_DAYS - 1)).date().isoformat()
    call.service.search_counts.flush()
    selection = Selection.of(index, {"startDate": start})
    outcomes, tracked = measure_rate(call.service.store, selection, effect["metric"])
    if not outcomes:
        raise BadInput(
            f"{index} has no {effect['metric']} yet: nothing was counted in the last "
            f"{ESTIMATE_DAYS} days among {tracked:,} searches with `clickAnalytics`"
        )
    sizes = estimate_sizes(variants, outcomes / tracked, effect["size"])
    if sizes is None:
        raise BadInput(
            f"`configuration.minimumDetectableEffect.size` {effect['size']:g} changes the "
            f"{effect['metric']} of {outcomes / tracked:.2%} to more than 100 %"
        )
    return {
        "durationDays": math.ceil(sum(sizes) / (tracked / ESTIMATE_DAYS)),
        "sampleSizes": sizes,
    }


def _check_variants(call: RequestContext, right: str, variants: list[VariantFields]) -> None:
    """Check the indices, the parameters and the percentages of a new test."""
    indices = [variant["index"] for variant in variants]
    call.caller.require(right, indices)
    for index in indices:
        call.service.catalog.find(index)
    _check_parameters(
        indices, [variant.get("customSearchParameters") or {} for variant in variants]
    )
    total = sum(variant["trafficPercentage"] for variant in variants)
    if total != 100:
        raise BadInput(f"`trafficPercentage`: the percentages add up to {total}, not to 100")


def _check_parameters(indices: Sequence[str], params: Sequence[Mapping[str, Any]]) -> None:
    """Raise `BadInput` unless the variants are two indices, or one with two sets of parameters."""
    if len({*indices}) == len(indices):
        if any(params):
            raise BadInput(
                "`customSearchParameters` is for two variants of one index; put the parameters "
                "of another index into its settings"
            )
    elif params[0] == params[1]:
        raise BadInput(
            f"`variants`: {indices[0]} is compared with itself; give another index, or "
            "`customSearchParameters` to one variant"
        )
    for given in params:
        if fixed := [name for name in FIXED_PARAMETERS if name in given]:
            raise BadInput(f"`customSearchParameters`: a variant cannot set `{fixed[0]}`")


def _read_time(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise BadInput(
            f"`endAt` must be a time such as 2026-01-31T00:00:00Z, not {text[:40]!r}"
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return int(moment.timestamp() * 1000)


def _change(call: RequestContext, test: StoredTest) -> ABTestChange:
    """Return the response to a change, which is complete: clients may wait for its task."""
    return {
        "abTestID": test.id,
        "index": test.indices[0],
        "taskID": call.service.tasks.published,
    }


def _describe(call: RequestContext, test: StoredTest) -> ABTest:
    call.service.search_counts.flush()
    results = evaluate(call.service.store, test)
    now = current_milliseconds()
    last = test.stopped or min(now, test.ends)
    answer: dict[str, Any] = {
        "abTestID": test.id,
        "name": test.name,
        "status": test.status,
        "createdAt": write_time(test.created),
        "updatedAt": write_time(last),
        "endAt": write_time(test.ends),
        "stoppedAt": write_time(test.stopped) if test.stopped else None,
        "variants": results.variants,
        "configuration": {
            "outliers": {"exclude": True},
            "emptySearch": {"exclude": True},
            **test.configuration,
        },
        **results.significances,
    }
    # A test without a significance lacks these members.
    return cast("ABTest", answer)

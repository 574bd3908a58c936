"""A/B tests as a DataFrame of a fixed schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from svc_notebook.core.api.shapes.ab_tests import ABTest
from svc_notebook.data.frames.columns import Backend, finished, typed
from svc_notebook.data.frames.provenance import remembered
from svc_notebook.data.frames.schemas import AB_TESTS, DEFAULTS

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient

TESTS_PER_PAGE = 100


@remembered
async def read_ab_tests(
    client: AsyncClient, *, dtype_backend: Backend | None = None
) -> pd.DataFrame:
    """Read the A/B tests, newest first."""
    rows: list[dict[str, Any]] = []
    while True:
        page = await client.list_ab_tests(offset=len(rows), limit=TESTS_PER_PAGE)
        tests = page["abtests"] or []
        rows += map(_row, tests)
        if len(tests) < TESTS_PER_PAGE:
            return finished(typed(rows, AB_TESTS, DEFAULTS), {}, dtype_backend)


def _row(test: ABTest) -> dict[str, Any]:
    parts: list[Any] = [*test["variants"], {}, {}]
    control, variant = parts[:2]
    return {
        **test,
        "id": test["abTestID"],
        "index": control.get("index", ""),
        "variant": variant.get("index", ""),
        "parameters": variant.get("customSearchParameters"),
        "trafficPercentage": variant.get("trafficPercentage", 0),
        **{
            name: sum(part.get(name) or 0 for part in parts)
            for name in ("searchCount", "userCount")
        },
    }

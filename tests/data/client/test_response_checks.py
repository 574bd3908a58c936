"""Checks of responses against the declared shapes: their results, and their cost."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

from svc_notebook.core.api import ENDPOINTS, RequestSpec
from svc_notebook.data.client import response_checks
from svc_notebook.data.client.response_checks import check_answer
from svc_notebook.errors import UnexpectedAnswer

BATCH = next(endpoint for endpoint in ENDPOINTS if endpoint.name == "batch")
SEARCH = next(endpoint for endpoint in ENDPOINTS if endpoint.name == "search")
SPEC = RequestSpec("POST", "/", {})


def test_a_response_about_many_rows_is_checked_in_a_few_calls() -> None:
    rows = 30_000
    answer = {"taskID": 1, "objectIDs": [str(number) for number in range(rows)]}
    calls = 0

    def count(frame: FrameType, event: str, _: Any) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code.co_filename == response_checks.__file__

    check_answer(BATCH, answer, SPEC)
    sys.setprofile(count)
    checked = check_answer(BATCH, answer, SPEC)
    sys.setprofile(None)

    assert checked == answer
    assert calls < 20


def test_one_wrong_value_among_many_is_named() -> None:
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (BATCH, {"taskID": 1, "objectIDs": ["1", "2", 3]}, r"`objectIDs\[2\]` .*must be text"),
        (BATCH, {"taskID": 1, "objectIDs": ["1", None]}, r"`objectIDs\[1\]` .* not null"),
        (
            SEARCH,
            {"hits": [], "facets": {"brand": {"Acme": 1, "Umbra": "2"}}},
            r"`facets.brand.Umbra` .* a whole number, not text",
        ),
        (
            SEARCH,
            {"hits": [], "facets": {"brand": {"Acme": True}}},
            r"`facets.brand.Acme` .* a whole number, not true or false",
        ),
    ]
    for endpoint, answer, message in cases:
        with pytest.raises(UnexpectedAnswer, match=message):
            check_answer(endpoint, answer, SPEC)

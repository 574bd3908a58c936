"""Messages on invalid values name JSON types, never Python's."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

import pytest
from msgspec import Meta

from svc_notebook.core.api.validation import check_value
from svc_notebook.errors import BadInput


@pytest.mark.parametrize(
    ("value", "wanted", "told"),
    [
        ("3", int, "`a` must be a whole number, not text"),
        (1.5, int, "`a` must be a whole number, not a number with decimals"),
        (True, float, "`a` must be a number, not true or false"),
        (3, bool | str, "`a` must be true, false or text, not a number"),
        (3, list[str] | None, "`a` must be a list, not a number"),
        (["a", None], list[str], "`a[1]` must be text, not null"),
        ([], dict[str, int], "`a` must be an object, not a list"),
        (date(2024, 1, 1), int, "`a` must be a whole number, not a `date`"),
        (5, Annotated[int, Meta(le=4)], "`a` must be a whole number, at most 4"),
        (0, Annotated[float, Meta(gt=1)], "`a` must be a number, more than 1.0"),
        (["a", "b"], Annotated[list[str], Meta(max_length=1)],
         "`a` must be a list of at most 1 entries"),
        ("", Annotated[str, Meta(min_length=2)], "`a` must be text of at least 2 characters"),
        ([1], tuple[int, int], "`a`: expected `array` of length 2, got 1"),
    ],
)  # fmt: skip
def test_a_mismatch_is_told_in_plain_words(value: Any, wanted: Any, told: str) -> None:
    with pytest.raises(BadInput) as refused:
        check_value(value, wanted, "a")

    assert str(refused.value) == told


def test_a_mismatch_of_all_is_told_of_the_body() -> None:
    with pytest.raises(BadInput, match=r"^the body must be an object, not a list$"):
        check_value([], dict[str, int], "")

"""HTML tables, shortened texts and formatted numbers."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

from svc_notebook.core.display import (
    Html,
    format_count,
    format_difference,
    format_number,
    list_names,
    shorten,
    text_of,
    write_frame,
    write_table,
)


def read(table: str) -> list[list[str]]:
    """The cells of a table, as a browser's parser reads them."""
    parser = pytest.importorskip("selectolax.lexbor").LexborHTMLParser
    rows = parser(table).css("tr")
    return [[cell.text() for cell in row.css("th, td")] for row in rows]


HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "&lt;b&gt;", "a\nb"]


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_of_a_table_are_escaped(text: str) -> None:
    table = write_table([text], [[text]])

    assert read(table) == [[text], [text]]
    assert "<script" not in table
    assert "<img" not in table


def test_html_is_written_as_it_is() -> None:
    assert "<td" in write_table(["a"], [[Html("<b>x</b>")]])
    assert "<b>x</b>" in write_table(["a"], [[Html("<b>x</b>")]])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""), ("a", "a"), (5, "5"), (0.5, "0.5"), (True, "true"), (["ä", 1], '["ä", 1]'),
        ({"a": None}, '{"a": null}'), (pd.Timestamp("2024-07-01"), "2024-07-01 00:00:00"),
    ],
)  # fmt: skip
def test_a_value_is_written_as_text(value: Any, text: str) -> None:
    assert text_of(value) == text


def test_json_may_be_compact() -> None:
    assert text_of({"a": [1, 2]}, compact=True) == '{"a":[1,2]}'


@pytest.mark.parametrize("length", range(12))
@pytest.mark.parametrize("keep_end", [False, True])
def test_a_text_is_at_most_as_long_as_allowed(length: int, keep_end: bool) -> None:
    text = "0123456789ab"[:length]

    found = shorten(text, 8, keep_end=keep_end)

    assert len(found) <= 8
    assert found == text if length <= 8 else "…" in found
    assert found.startswith(text[:3])
    assert not keep_end or found.endswith(text[-3:])


def test_long_cells_are_shortened() -> None:
    assert read(write_table(["a"], [["x" * 50]], max_characters=10))[1] == ["x" * 9 + "…"]


def test_a_dataframe_is_a_table_without_its_index() -> None:
    frame = pd.DataFrame(
        {"name": ["a", None], "count": [1, 2], "share": [0.5, math.nan], "gone": [pd.NA, pd.NaT]},
        index=["x", "y"],
    )

    table = write_frame(frame)

    assert read(table) == [
        ["name", "count", "share", "gone"],
        ["a", "1", "0.5", ""],
        ["", "2", "", ""],
    ]
    assert table.count("class=n") == 6


def test_an_empty_dataframe_has_a_head() -> None:
    assert read(write_frame(pd.DataFrame(columns=["a", "b"]))) == [["a", "b"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (format_number(0.12345), "0.123"),
        (format_number(math.nan), "–"),  # noqa: RUF001
        (format_number(None), "–"),  # noqa: RUF001
        (format_number(2, 0), "2"),
        (format_difference(0.1), "+0.100"),
        (format_difference(-0.1, 2), "\N{MINUS SIGN}0.10"),
        (format_difference(math.nan), "–"),  # noqa: RUF001
        (format_count(1, "hit"), "1 hit"),
        (format_count(0, "hit"), "0 hits"),
        (format_count(1200, "hit"), "1,200 hits"),
    ],
)
def test_numbers_are_formatted(text: str, expected: str) -> None:
    assert text == expected


def test_names_beyond_a_limit_are_left_out_with_a_sign() -> None:
    names = ["a", "b", "c"]

    assert list_names(names) == "`a`, `b`, `c`"
    assert list_names(names, 2) == "`a`, `b`, …"
    assert list_names(names, 3, " or ") == "`a` or `b` or `c`"

"""Results as compact HTML tables."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pytest

from svc_notebook.data.frames.compact_table import write_compact_table, write_html

RECORD: dict[str, Any] = {
    "rank": 1,
    "objectID": "LMP-001",
    "name": "Classic <b>brass</b> desk lamp with a stem & shade of brass, for long evenings",
    "description": "The arm turns and stays where it is put. " * 5,
    "tags": ["desk", "brass", "<i>"],
    "price": 34.5,
    "stock": 0,
    "brand": "Norrvik",
    "color": "black",
    "material": "brass",
    "size": {"width": 12},
    "rating": None,
    "released": pd.Timestamp("2021-01-04T10:30:00.123Z"),
    "highlighted.name": "Classic brass <em>desk</em> lamp",
}
FACTS = {"reader": "search", "index": "products", "query": "<lamp>", "nbHits": 43}


def result(rows: int = 3, **columns: Any) -> pd.DataFrame:
    frame = pd.DataFrame([{**RECORD, "rank": n, **columns} for n in range(1, rows + 1)])
    frame.attrs["svc"] = FACTS
    return frame


def heads(html: str) -> list[list[str]]:
    """The column names of each table."""
    return [re.findall(r"<th[^>]*>(.*?)</th>", table) for table in html.split("<table>")[1:]]


def unmarked(html: str) -> list[list[str]]:
    return [[re.sub("<[^>]*>", "", name) for name in names] for names in heads(html)]


def test_the_columns_that_matter_stand_in_front_and_the_rest_is_closed() -> None:
    html = write_compact_table(result())

    before, _, closed = html.partition("<details>")
    shown, rest = unmarked(before)[0], unmarked(closed)[0]
    assert len(shown) == 8
    assert {"rank", "objectID", "name", "tags", "price"} <= {*shown}
    assert "description" in rest
    assert "size" in rest
    assert "highlighted.name" in rest
    assert rest[0] == "rank"  # says to which row the rest belongs
    assert {*shown, *rest} == {*RECORD} - {"rating"}
    assert "Without values: rating" in html


def test_the_title_says_what_was_read() -> None:
    html = write_compact_table(result())

    assert "search · products · “&lt;lamp&gt;” · 3 rows of 43 hits" in html


def test_numbers_are_right_aligned_and_lists_are_chips() -> None:
    html = write_compact_table(result()[["name", "price", "stock", "tags"]])

    [first] = re.findall(r"<tbody><tr>(.*?)</tr>", html)
    name, price, stock, tags = re.findall(r"<td.*?</td>", first)
    assert "text-align:right" in price
    assert "34.5" in price
    assert "text-align:right" in stock
    assert "text-align:left" in name
    assert tags.count("border-radius") == 3
    assert "&lt;i&gt;" in tags


def test_texts_of_records_are_never_html_and_long_ones_say_the_rest_when_pointed_at() -> None:
    html = write_compact_table(result())

    assert "<b>brass" not in html
    assert "<script" not in html
    assert "<style" not in html
    assert 'title="Classic &lt;b&gt;brass' in html


def test_a_reason_is_whole_however_long() -> None:
    reason = "matches in earlier attributes, and at earlier words, rank higher; " * 4

    html = write_compact_table(result(reason=reason.strip()))

    assert reason.strip() in html.partition("<details>")[0]


def test_many_rows_are_shown_as_far_as_pandas_says() -> None:
    html = write_compact_table(result(100))

    assert html.partition("<details>")[0].count("<tr>") == 1 + 10
    assert "… and 90 more rows" in html
    with pd.option_context("display.max_rows", None):
        assert write_compact_table(result(100)).partition("<details>")[0].count("<tr>") == 101


def test_labels_of_chosen_rows_are_kept() -> None:
    html = write_compact_table(result().iloc[[2]][["name"]])

    assert unmarked(html)[0] == ["", "name"]
    assert ">2</" in html


@pytest.mark.parametrize("rows", [0, 1])
def test_few_rows_are_a_table_too(rows: int) -> None:
    assert f"{rows} row" in write_compact_table(result(3).head(rows))


def test_what_is_no_result_is_as_pandas_shows_it() -> None:
    plain = pd.DataFrame({"a": [1]})
    grouped = result().set_index(["rank", "objectID"])

    assert write_html(plain) == plain._repr_html_()  # type: ignore[operator]
    assert write_html(grouped) == grouped._repr_html_()  # type: ignore[operator]
    with pd.option_context("display.notebook_repr_html", False):
        assert write_html(result()) is None


def test_a_package_that_shows_all_frames_shows_results_too(monkeypatch: pytest.MonkeyPatch) -> None:
    # As `itables.init_notebook_mode(all_interactive=True)` does.
    monkeypatch.setattr(pd.DataFrame, "_repr_html_", lambda self: "<table id=interactive>")

    assert write_html(result()) == "<table id=interactive>"


def test_columns_of_one_name_are_both_shown() -> None:
    frame = pd.DataFrame([[1, "a"]], columns=["rank", "rank"])
    frame.attrs["svc"] = {}

    assert unmarked(write_compact_table(frame)) == [["rank", "rank"]]

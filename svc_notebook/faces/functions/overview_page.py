"""The overview of a service as one static page, readable in light and dark themes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from pandas import DataFrame, Timestamp

from svc_notebook.core.display import Html, format_size, shorten, write_list, write_table

if TYPE_CHECKING:
    from svc_notebook.faces.functions.overview import Overview

MAX_ROWS = 12
MAX_TEXT_CHARACTERS = 120
BAR_PIXELS = 110
TREND_PIXELS = (90, 16)
# Colours that are visible on white and on black.
BAR, MARK, SHADE = "#4f8bc2", "#d9534f", "rgba(127,127,127,.14)"
# Parts whose count needs attention, unless it is 0.
URGENT = ("errors", "zero-result", "keys", "crawlers")

PAGE = "font:13px/1.45 system-ui,sans-serif;max-width:1000px"
TILES = "display:flex;flex-wrap:wrap;gap:8px;margin:8px 0 4px"
TILE = f"background:{SHADE};border-radius:6px;padding:6px 12px;border-left:4px solid"
COLUMNS = "display:flex;flex-wrap:wrap;gap:4px 28px;align-items:flex-start"


def write_page(overview: Overview, summary: Iterable[tuple[str, int, str]]) -> str:
    """Write the page: the numbers as tiles, then a table for each part that has rows."""
    title = f"<b>{escape(overview.service)}</b>, {overview.at:%Y-%m-%d %H:%M} UTC"
    tiles = "".join(_tile(part, count) for part, count, _ in summary if part != "records")
    tables = [
        ("Indices", overview.indices, _indices(overview.indices, overview.sizes)),
        *(
            (title, frame, _rows(frame, columns))
            for title, frame, columns in _list_tables(overview)
        ),
    ]
    sections = [_section(title, table, len(frame)) for title, frame, table in tables]
    notes = write_list(overview.notes)
    return (
        f'<div style="{PAGE}"><div>{title}</div><div style="{TILES}">{tiles}</div>'
        f'<div style="{COLUMNS}">{"".join(sections)}</div>'
        f"{f'<p>Not read:</p>{notes}' if notes else ''}</div>"
    )


def _list_tables(overview: Overview) -> list[tuple[str, DataFrame, tuple[str, ...]]]:
    """List the tables below the indices: title, rows and columns."""
    return [
        ("Failed requests", overview.errors, ("count", "status", "method", "index", "url")),
        ("Queries without results", overview.zero_results, ("count", "query", "filters", "index")),
        ("Keys that expire", overview.keys, ("key", "description", "expires")),
        ("Crawlers with problems", overview.crawlers, ("crawler", "problem", "last")),
        ("Use of keys", overview.key_use, ("count", "key", "errors", "last")),
        ("Events by day", overview.events, ("count", "day", "type")),
    ]


def _tile(part: str, count: int) -> str:
    urgent = count and part.startswith(URGENT)
    edge = MARK if urgent else BAR if part == "pending tasks" and count else "transparent"
    number = f'<b style="font-size:18px">{count:,}</b>'
    return f'<div style="{TILE} {edge}">{number}<br>{escape(part)}</div>'


def _section(title: str, table: str, rows: int) -> str:
    if not rows:
        return ""
    more = f", {MAX_ROWS} of {rows:,}" if rows > MAX_ROWS else ""
    return f'<div><p style="margin:10px 0 2px"><b>{title}</b>{more}</p>{table}</div>'


def _indices(indices: DataFrame, sizes: DataFrame) -> str:
    """Write the indices with bars of their sizes, and lines of earlier numbers if there are any."""
    largest = max(int(indices["dataSize"].max()), 1) if len(indices) else 1
    history = {str(name): rows for name, rows in sizes.groupby("index", sort=False)}
    has_history = any(len(rows) > 1 for rows in history.values())
    head = ["index", "records", "size", "last write", "pending"]
    head += ["records over time", "pending over time"] if has_history else []
    rows = [
        [
            row["index"], f"{row['entries']:,}",
            _bar(row["dataSize"] / largest, format_size(row["dataSize"])),
            _text(row["updatedAt"]), f"{row['pending']:,}" if row["pending"] else "",
            *(_trend(history.get(row["index"]), name) for name in ("entries", "pending")
              if has_history),
        ]
        for row in indices.head(MAX_ROWS).to_dict("records")
    ]  # fmt: skip
    return write_table(head, rows, numbers=(1, 4))


def _trend(history: DataFrame | None, name: str) -> Html:
    """Draw the measurements of an index as a line from 0 to their largest value."""
    if history is None or len(history) < 2:
        return Html("")
    width, height = TREND_PIXELS
    values, times = history[name].tolist(), [at.timestamp() for at in history["at"]]
    span, largest = max(times[-1] - times[0], 1e-9), max(*values, 1)
    points = " ".join(
        f"{1 + (width - 2) * (at - times[0]) / span:.1f},"
        f"{height - 1 - (height - 2) * value / largest:.1f}"
        for at, value in zip(times, values, strict=True)
    )
    text = f"{values[0]:,} at {history['at'].iloc[0]:%Y-%m-%d %H:%M}, {values[-1]:,} now"
    line = f'<polyline points="{points}" fill="none" stroke="{BAR}" stroke-width="1.5"/>'
    return Html(
        f'<svg width="{width}" height="{height}" role="img"><title>{text}</title>{line}</svg>'
    )


def _rows(frame: DataFrame, columns: Sequence[str]) -> str:
    """Write the rows of a table, with bars of their counts."""
    largest = max(int(frame["count"].max()), 1) if "count" in columns and len(frame) else 1
    rows = [
        [
            _bar(row[name] / largest, f"{row[name]:,}") if name == "count" else _text(row[name])
            for name in columns
        ]
        for row in frame.head(MAX_ROWS).to_dict("records")
    ]
    return write_table(columns, rows)


def _bar(share: float, text: str) -> Html:
    width = max(round(BAR_PIXELS * share), 1)
    style = f"display:inline-block;width:{width}px;height:.75em;background:{BAR}"
    bar = f'<span style="{style}"></span>'
    return Html(f'<span style="white-space:nowrap">{bar} {escape(text)}</span>')


def _text(value: Any) -> str:
    if isinstance(value, Timestamp):
        return f"{value:%Y-%m-%d}" if value == value.floor("D") else f"{value:%Y-%m-%d %H:%M}"
    return "" if value is None or value != value else shorten(str(value), MAX_TEXT_CHARACTERS)

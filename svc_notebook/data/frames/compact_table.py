"""DataFrames of results as compact HTML tables, which need no script and no style sheet."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from html import escape
from typing import Any

import pandas as pd

from svc_notebook.core.display import (
    MAIN_COLUMNS,
    Html,
    format_count,
    shorten,
    text_of,
    write_table,
)

MAX_COLUMNS = 8
MAX_TEXT_CHARACTERS = 60
LONG_TEXT_CHARACTERS = 100
# A cell of fewer characters is on one line.
MAX_LINE_CHARACTERS = 28
MAX_CHIPS = 6
MAX_TITLE_CHARACTERS = 80
LEADING_COLUMNS = ("rank", "objectID", "title", "name", "label", "headline", "query")
CHIP = "display:inline-block;border:1px solid #8888;border-radius:9px;padding:0 7px;margin:1px"
SCROLLED = "overflow-x:auto;width:fit-content;max-width:100%"


def write_html(frame: pd.DataFrame) -> str | None:
    """Write the HTML of a DataFrame: compact for a result, else what pandas shows.

    pandas' HTML is kept as well where its options or another package (`itables`) change it, and
    for rows or columns of several levels.
    """
    plain = pd.get_option("display.notebook_repr_html") and _is_unchanged(type(frame))
    levels = max(frame.index.nlevels, frame.columns.nlevels)
    if not plain or levels > 1 or not isinstance(frame.attrs.get("svc"), dict):
        html: str | None = frame._repr_html_()  # type: ignore[operator]
        return html
    return write_compact_table(frame)


def _is_unchanged(frame_type: type[pd.DataFrame]) -> bool:
    method = getattr(frame_type, "_repr_html_", None)
    return getattr(method, "__module__", "") == "pandas.core.frame"


def write_compact_table(frame: pd.DataFrame) -> str:
    """Write a result as a table of the columns that matter; the others are in a closed part."""
    shown = frame.head(_row_count(len(frame)))
    columns = [(str(name), shown.iloc[:, position]) for position, name in enumerate(shown)]
    if not _is_numbered(frame):
        columns.insert(0, (str(frame.index.name or ""), frame.index[: len(shown)].to_series()))
    chosen = _choose(columns)
    parts = [f"<p><b>{escape(_title(frame))}</b></p>", _write([columns[at] for at in chosen])]
    if left := len(frame) - len(shown):
        parts.append(f"<p>… and {format_count(left, 'more row')}</p>")
    rest = [column for at, column in enumerate(columns) if at not in chosen]
    parts += _write_rest(columns[chosen[0]], rest)
    return f"<div>{''.join(parts)}</div>"


def _write_rest(
    first: tuple[str, pd.Series[Any]], rest: Sequence[tuple[str, pd.Series[Any]]]
) -> Iterator[str]:
    """Write the other columns in a closed part, and the names of those without values."""
    filled = [column for column in rest if not _is_empty(column[1])]
    if filled:
        names = format_count(len(filled), "more column")
        table = _write([first, *filled])
        yield f"<details><summary>{names}</summary>{table}</details>"
    if empty := [name for name, values in rest if _is_empty(values)]:
        yield f"<p>Without values: {escape(', '.join(empty))}</p>"


def _row_count(rows: int) -> int:
    """Return the number of rows to show, by pandas' options."""
    max_rows = pd.get_option("display.max_rows") or rows
    return rows if rows <= max_rows else min(pd.get_option("display.min_rows") or rows, max_rows)


def _is_numbered(frame: pd.DataFrame) -> bool:
    index = frame.index
    return isinstance(index, pd.RangeIndex) and (index.start, index.step) == (0, 1)


def _title(frame: pd.DataFrame) -> str:
    facts: Mapping[str, Any] = frame.attrs["svc"]
    parts = [str(facts.get("reader", "")).removeprefix("read_").replace("_", " ")]
    parts += [str(facts[name]) for name in ("index", "name") if isinstance(facts.get(name), str)]
    if query := facts.get("query"):
        parts.append(f"“{shorten(str(query), MAX_TITLE_CHARACTERS)}”")
    hits = facts.get("nbHits")
    total = f" of {format_count(hits, 'hit')}" if isinstance(hits, int) and hits else ""
    parts.append(format_count(len(frame), "row") + total)
    return " · ".join(part for part in parts if part)


def _choose(columns: Sequence[tuple[str, pd.Series[Any]]]) -> list[int]:
    """Choose the positions of the columns to show: all if they are few."""
    places = range(len(columns))
    if len(columns) <= MAX_COLUMNS:
        return [*places]
    return sorted(sorted(places, key=lambda at: _demerit(*columns[at]))[:MAX_COLUMNS])


def _demerit(name: str, values: pd.Series[Any]) -> int:
    """Return the weight of a column; the columns of the lowest weights are shown."""
    weights = (
        (name in MAIN_COLUMNS, -8),
        (name in LEADING_COLUMNS, -4),
        (_is_empty(values), 16),
        (name.startswith(("highlighted.", "_")), 4),
        (any(isinstance(value, dict) for value in values), 3),
        (any(len(text_of(value)) > LONG_TEXT_CHARACTERS for value in values), 2),
        (len(values) > 1 and len({*map(text_of, values)}) == 1, 1),
    )
    return sum(weight for holds, weight in weights if holds)


def _is_empty(values: pd.Series[Any]) -> bool:
    return all(_is_missing(value) or value in ("", [], {}) for value in values)


def _is_missing(value: Any) -> bool:
    return value is None or (pd.api.types.is_scalar(value) and bool(pd.isna(value)))


def _write(columns: Sequence[tuple[str, pd.Series[Any]]]) -> str:
    right = [at for at, (_, values) in enumerate(columns) if values.dtype.kind in "iuf"]
    written = [[_cell(name, value) for value in values] for name, values in columns]
    rows = zip(*written, strict=True)
    table = write_table([name for name, _ in columns], rows, numbers=right)
    return f'<div style="{SCROLLED}">{table}</div>'


def _cell(name: str, value: Any) -> Html:
    if isinstance(value, list | tuple):
        chips = [_chip(text_of(item)) for item in value[:MAX_CHIPS]]
        more = [f"+{len(value) - MAX_CHIPS}"] if len(value) > MAX_CHIPS else []
        return Html(" ".join(chips + more))
    text = _text(value)
    whole = text if name in MAIN_COLUMNS else shorten(text, MAX_TEXT_CHARACTERS)
    if len(whole) <= MAX_LINE_CHARACTERS:
        return Html(f'<span style="white-space:nowrap">{escape(whole)}</span>')
    title = "" if whole == text else f' title="{escape(text)}"'
    return Html(f"<span{title}>{escape(whole)}</span>")


def _chip(text: str) -> str:
    return f'<span style="{CHIP}">{escape(shorten(text, MAX_LINE_CHARACTERS))}</span>'


def _text(value: Any) -> str:
    if _is_missing(value):
        return ""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        return f"{value:.6g}" if abs(float(value)) < 1_000_000 else f"{value:.0f}"
    return text_of(value)

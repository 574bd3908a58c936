"""What notebooks and terminals show: HTML tables, shortened texts, formatted numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Sequence
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame

NO_VALUE, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"
MAX_CELL_CHARACTERS = 300
MAX_JOINED = 5  # texts; others are counted
# The main columns of results: tables never shorten them or leave them out.
MAIN_COLUMNS = ("reason", "readable", "message", "evidence", "url", "remove")
SIZE_UNITS = ("B", "kB", "MB", "GB", "TB")
TEXT_CELL = "text-align:left;vertical-align:top;padding:2px 10px"
NUMBER_CELL = (
    "text-align:right;vertical-align:top;padding:2px 10px;font-variant-numeric:tabular-nums"
)


class Html(str):
    """HTML that a notebook shows, and that `write_table` writes as it is."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


def write_table(
    head: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    numbers: Collection[int] = (),
    max_characters: int = MAX_CELL_CHARACTERS,
) -> str:
    """Write an HTML table.

    - `rows`: their cells are texts, which are escaped; `Html`, which is not; or other values, which
      `text_of` writes.
    - `numbers`: the places of the columns that are right-aligned.
    - `max_characters`: of a cell; longer texts are shortened.
    """
    marks = [
        f' class=n style="{NUMBER_CELL}"' if column in numbers else f' style="{TEXT_CELL}"'
        for column in range(len(head))
    ]

    def write_row(tag: str, cells: Sequence[Any]) -> str:
        inner = (
            f"<{tag}{mark}>{_cell(cell, max_characters)}</{tag}>"
            for cell, mark in zip(cells, marks, strict=True)
        )
        return f"<tr>{''.join(inner)}</tr>"

    body = "".join(write_row("td", row) for row in rows)
    return f"<table><thead>{write_row('th', head)}</thead><tbody>{body}</tbody></table>"


def write_frame(frame: DataFrame) -> str:
    """Write a DataFrame as an HTML table without its index; missing values are empty cells."""
    plain = frame.astype(object).where(frame.notna(), None)
    numbers = [
        number for number, name in enumerate(frame.columns) if frame[name].dtype.kind in "iuf"
    ]
    rows = plain.itertuples(index=False, name=None)
    return write_table([str(name) for name in frame.columns], rows, numbers=numbers)


def _cell(value: Any, max_characters: int) -> str:
    if isinstance(value, Html):
        return value
    return escape_lines(shorten(text_of(value), max_characters))


def escape_lines(text: str) -> str:
    """Escape a text as HTML of one line: in Markdown, a blank line ends HTML."""
    return escape(text).replace("\n", "&#10;")


def text_of(value: Any, *, compact: bool = False) -> str:
    """Write a value as text: texts as they are, None as nothing, the rest as JSON if it is JSON.

    With `compact`, JSON has no spaces between its parts.
    """
    if value is None:
        return ""
    if isinstance(value, (bool, dict, list, tuple)):
        separators = (",", ":") if compact else None
        return json.dumps(value, ensure_ascii=False, default=str, separators=separators)
    return str(value)


def shorten(text: str, max_characters: int, *, keep_end: bool = False) -> str:
    """Shorten a text to a number of characters, an ellipsis at its end included.

    With `keep_end`, the ellipsis is in the middle.
    """
    if len(text) <= max_characters:
        return text
    if keep_end:
        half = (max_characters - 1) // 2
        return f"{text[:half]}…{text[-half:]}"
    return f"{text[: max_characters - 1]}…"


def list_names(names: Collection[str], limit: int | None = None, separator: str = ", ") -> str:
    """Return names in backticks; with a `limit`, the first ones, and `, …` if there are more."""
    shown = separator.join(f"`{name}`" for name in islice(names, limit))
    return shown + (", …" if limit is not None and len(names) > limit else "")


def join_first(texts: Sequence[str], separator: str = ", ", last: str = " and ") -> str:
    """Join the first texts, and count the others: `a, b, c, d, e and 3 more`."""
    more = len(texts) - MAX_JOINED
    return separator.join(texts[:MAX_JOINED]) + (f"{last}{more:,} more" if more > 0 else "")


def write_headed(head: str, *lines: str) -> str:
    """Write texts as HTML paragraphs, the first one bold."""
    paragraphs = "".join(f"<p>{escape(line)}</p>" for line in lines)
    return f"<div><p><b>{escape(head)}</b></p>{paragraphs}</div>"


def write_list(texts: Iterable[str]) -> str:
    """Write texts as an HTML list; empty without texts."""
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<ul>{items}</ul>" if items else ""


def format_number(value: float | None, digits: int = 3) -> str:
    """Format a number with that many digits after the point; a dash for a missing one."""
    return NO_VALUE if value is None or math.isnan(value) else f"{value:.{digits}f}"


def format_difference(value: float, digits: int = 3) -> str:
    """Format a difference with its sign; a dash for a missing one."""
    return NO_VALUE if math.isnan(value) else f"{value:+.{digits}f}".replace("-", MINUS)


def format_count(number: int, noun: str, plural: str = "") -> str:
    """Format a number with its noun: `1 hit`, `1,200 hits`; `plural` is one that is irregular."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def format_size(count: float) -> str:
    """Format a number of bytes with its unit: `12.3 MB`."""
    power = 0
    while count >= 1000 and power < len(SIZE_UNITS) - 1:
        count, power = count / 1000, power + 1
    return f"{count:.3g} {SIZE_UNITS[power]}"

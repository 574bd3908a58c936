"""An editor's state as plain HTML, for notebooks that are saved, exported or not trusted.

It contains no script, style sheet or URL: all content of a record is text, and is escaped.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

_CELL = "text-align:left;vertical-align:top;padding:2px 8px"
MAX_CELL_CHARACTERS = 300  # characters of one cell


class HtmlSnapshot(str):
    """HTML that a notebook shows."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


def write_table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Write a table whose cells are text."""
    lines = [_row("th", head), *(_row("td", row) for row in rows)]
    return f"<table>{''.join(lines)}</table>"


def write_line(text: str, *, tag: str = "p") -> str:
    """Write one paragraph, or heading, of text."""
    return f"<{tag}>{escape(text)}</{tag}>"


def write_count(number: int, noun: str) -> str:
    """Write how many there are of what a noun calls one of."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def write_json(value: Any) -> str:
    """Write a value as JSON."""
    return f"<pre>{escape(json.dumps(value, indent=2, ensure_ascii=False, default=str))}</pre>"


def _row(tag: str, cells: Sequence[Any]) -> str:
    inner = "".join(f'<{tag} style="{_CELL}">{escape(_text(cell))}</{tag}>' for cell in cells)
    return f"<tr>{inner}</tr>"


def _text(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= MAX_CELL_CHARACTERS else f"{text[: MAX_CELL_CHARACTERS - 1]}…"

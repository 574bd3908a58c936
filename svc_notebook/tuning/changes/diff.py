"""The diff between two states, as a table and as readable text."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from html import escape
from typing import Any

import pandas as pd

from svc_notebook.core.display import Html, write_table
from svc_notebook.tuning.changes.state import Delta, Deltas, Scope, is_default

COLUMNS = ["scope", "name", "kind", "before", "after"]
# Of removed and added values: tints that are visible on white and on black.
STYLES = {
    "-": "text-decoration:line-through;background:rgba(217,83,79,.22)",
    "+": "font-weight:600;background:rgba(60,160,90,.28)",
}
REQUEST_NOTE = "Not saved in the index; each search must have these parameters"
MAX_INLINE_CHARACTERS = 90  # maximum characters of a value on one line


class Differences(pd.DataFrame):
    """A row for each differing name; displayed as HTML with the values before and after."""

    @property
    def _constructor(self) -> type[pd.DataFrame]:
        return pd.DataFrame  # a part of it is a plain table

    def __repr__(self) -> str:
        code = self.attrs.get("svc", {}).get("code")
        return f"{super().__repr__()}\n\n{REQUEST_NOTE}:\n\n{code}" if code else super().__repr__()

    def _repr_html_(self) -> str:
        code = self.attrs.get("svc", {}).get("code")
        shown = write_differences(self)
        return f"{shown}<p>{REQUEST_NOTE}:</p><pre>{escape(code)}</pre>" if code else shown


def tabulate(deltas: Deltas) -> Differences:
    """Return differences as a table: `scope, name, kind{new, changed, gone}, before, after`."""
    rows = [row for scope, delta in deltas.items() for row in _rows(scope, delta)]
    return Differences(pd.DataFrame(rows, columns=COLUMNS, dtype=object))


def _rows(scope: Scope, delta: Delta) -> Iterator[tuple[Any, ...]]:
    for name, before in delta.before.items():
        after = delta.after[name]
        new, gone = is_default(scope, name, before), is_default(scope, name, after)
        kind = "new" if new else "gone" if gone else "changed"
        yield scope, name, kind, before, after


def write_differences(frame: pd.DataFrame) -> str:
    """Write differences as HTML: a table whose cells mark removed and added values."""
    if frame.empty:
        return "<p>Nothing differs.</p>"
    rows = [
        (
            f"{row.scope}", Html(f"<code>{escape(f'{row.name}')}</code>"), row.kind,
            Html(write_change(row.before, row.after)),
        )
        for row in frame.itertuples(index=False)
    ]  # fmt: skip
    return write_table(("", "name", "", "change"), rows)


def write_change(before: Any, after: Any) -> str:
    """Write two values as one diff: short ones side by side, long ones line by line."""
    old, new = _lines(before), _lines(after)
    if max(len(old), len(new)) <= 1:
        return " → ".join(_mark(sign, side) for sign, side in (("-", old), ("+", new)))
    marked = [_mark(line[0], [line[2:]]) for line in difflib.ndiff(old, new) if line[0] != "?"]
    return f'<pre style="margin:0;white-space:pre-wrap">{chr(10).join(marked)}</pre>'


def _lines(value: Any) -> list[str]:
    if value is None:
        return []
    if isinstance(value, dict):  # the name is in the cell beside it
        value = {name: member for name, member in value.items() if name != "objectID"}
    short = json.dumps(value, ensure_ascii=False, default=str)
    if len(short) <= MAX_INLINE_CHARACTERS:
        return [short]
    return json.dumps(value, ensure_ascii=False, indent=1, default=str).split("\n")


def _mark(sign: str, lines: list[str]) -> str:
    text = escape("\n".join(lines)) or "—"
    style = STYLES.get(sign)
    return f'<span style="{style}">{text}</span>' if style and lines else text

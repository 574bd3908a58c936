"""Text output of values, for terminals and for programs."""

from __future__ import annotations

import csv
import dataclasses
import io
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import PurePath
from types import NoneType
from typing import TYPE_CHECKING, Any

import msgspec

from svc_notebook.core.display import MAIN_COLUMNS, format_count, shorten
from svc_notebook.core.terminal import is_terminal

if TYPE_CHECKING:
    from pandas import DataFrame

_MAX_CELL_CHARACTERS = 60
_MAX_REJECTED_ROWS = 10
PLAIN = (str, int, float, PurePath)
# The column of tables that holds code.
CODE_COLUMN = "fix"
REJECTED_COLUMNS = ["row", "column", "value", "reason"]


def as_text(
    value: Any,
    format: str = "table",  # noqa: A002
    spell: Callable[[str], str] = str,
) -> str:
    """Format a value as a `table`, as `csv` or as `json`; `spell` words messages and code."""
    if isinstance(value, (str, NoneType)):
        return value or ""
    if hasattr(value, "to_csv"):
        return FRAMES[format](_spell_code(value, spell))
    if format != "table" and hasattr(value, "to_frame"):
        return FRAMES[format](value.to_frame())
    if dataclasses.is_dataclass(value):
        return _result_text(value, spell) if format == "table" else as_text(_numbers(value), format)
    if isinstance(value, Mapping):
        return MAPPINGS[format](value)
    return _json(value) if format == "json" and isinstance(value, list) else str(value)


def _spell_code(frame: Any, spell: Callable[[str], str]) -> Any:
    if CODE_COLUMN not in frame:
        return frame
    lines = [spell(code).strip("`") for code in frame[CODE_COLUMN]]
    return frame.assign(**{CODE_COLUMN: lines})


def _result_text(result: Any, spell: Callable[[str], str]) -> str:
    """Format the result of a load, with the first rows that could not be sent."""
    rejected = getattr(result, "rejected", None) if hasattr(result, "plan") else None
    text = spell(str(result))
    if rejected is None or rejected.empty:
        return text
    return f"{text}\n{_frame_table(rejected[REJECTED_COLUMNS].head(_MAX_REJECTED_ROWS))}"


def _numbers(result: Any) -> dict[str, Any]:
    """Return the members of a result that are not tables."""
    names = [field.name for field in dataclasses.fields(result)]
    names += ["rejected_rows"] if hasattr(result, "rejected_rows") else []
    members = {name: getattr(result, name) for name in names}
    return {name: value for name, value in members.items() if isinstance(value, PLAIN)}


def _frame_table(frame: DataFrame) -> str:
    if frame.empty:
        return f"(no rows; columns: {', '.join(map(str, frame.columns))})"
    width = shutil.get_terminal_size().columns if is_terminal(sys.stdout) else None
    return fit_table(frame, width)


def frame_text(frame: DataFrame) -> str:
    """Return what IPython shows of a DataFrame in a terminal: pandas' text, or a table that fits.

    pandas shortens the reasons of an explanation.
    """
    from pandas import get_option

    is_read = "svc" in frame.attrs and not {*MAIN_COLUMNS}.isdisjoint(map(str, frame))
    max_rows = get_option("display.max_rows") or len(frame)
    if not is_read or frame.empty or not frame.columns.is_unique:
        return repr(frame)
    more = len(frame) - max_rows
    text = fit_table(frame.head(max_rows), get_option("display.width"))
    return f"{text}\n… and {format_count(more, 'more row')}" if more > 0 else text


def fit_table(frame: DataFrame, width: int | None) -> str:
    """Write a table of the columns that fit into `width` characters; None writes all of them.

    Main columns are never shortened; the last line names the columns that do not fit.
    """
    frame = with_unique_columns(_flat(frame))
    for name in frame.columns.difference([*MAIN_COLUMNS]):
        frame[name] = [
            shorten(value, _MAX_CELL_CHARACTERS) if isinstance(value, str) else value
            for value in frame[name]
        ]
    chosen, left_out = _split_by_width(frame, width)
    text: str = frame[chosen].to_string(index=False, max_colwidth=None, na_rep="")
    if not left_out:
        return text
    return f"{text}\n… and {format_count(len(left_out), 'more column')}: {', '.join(left_out)}"


def _split_by_width(frame: DataFrame, width: int | None) -> tuple[list[str], list[str]]:
    """Return the columns that fit, the first and the main ones whatever the width, and the rest."""
    widths = {
        str(name): 1 + max(len(str(name)), *(len(str(value)) for value in frame[name]))
        for name in frame
    }
    fixed = {*MAIN_COLUMNS, *[*widths][:1]}
    room = sum(widths.values()) if width is None else width
    room -= sum(widths[name] for name in fixed.intersection(widths))
    chosen = []
    for name, count in widths.items():
        if name in fixed:
            chosen.append(name)
        elif count <= room:
            chosen.append(name)
            room -= count
    return chosen, [name for name in widths if name not in chosen]


def _frame_csv(frame: DataFrame) -> str:
    return _flat(frame).to_csv(index=False).rstrip("\n")


def _flat(frame: DataFrame) -> DataFrame:
    """Write nested values as JSON, and missing values as empty text."""
    from pandas import isna

    def flat(value: Any) -> Any:
        if isinstance(value, (list, dict)):
            return _json(value)
        return "" if isna(value) is True else value

    return frame.map(flat)


def _frame_json(frame: DataFrame) -> str:
    text: str = with_unique_columns(frame).to_json(
        orient="records", date_format="iso", force_ascii=False
    )
    return text


def with_unique_columns(frame: DataFrame) -> DataFrame:
    """Number columns of the same name: a record can have an attribute `rank`, as a search has."""
    seen: Counter[Any] = Counter()
    names = []
    for name in frame.columns:
        names.append(f"{name}.{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return frame if frame.columns.is_unique else frame.set_axis(names, axis=1)


def _mapping_table(mapping: Mapping[str, Any]) -> str:
    width = max(map(len, mapping), default=0)
    return "\n".join(f"{name:{width}}  {_cell(value)}" for name, value in mapping.items())


def _mapping_csv(mapping: Mapping[str, Any]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([mapping, map(_cell, mapping.values())])
    return text.getvalue().rstrip("\r\n")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    plain = isinstance(value, str) or hasattr(value, "reveal")  # text, or a secret
    return f"{value}" if plain else _json(value)


def _json(value: Any) -> str:
    return msgspec.json.encode(value, enc_hook=str).decode()


FRAMES: dict[str, Callable[[DataFrame], str]] = {
    "table": _frame_table,
    "csv": _frame_csv,
    "json": _frame_json,
}
MAPPINGS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "table": _mapping_table,
    "csv": _mapping_csv,
    "json": _json,
}

"""Cells of sheets: their values, their texts, and what a streamed sheet does not say of them."""

from __future__ import annotations

import datetime as dt
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from svc_notebook.core.display import format_count, list_names

MAX_SHOWN_CHARACTERS = 100
MERGED = re.compile(rb'<mergeCell ref="([A-Z]+)(\d+):([A-Z]+)(\d+)"')
# A formula that was never calculated has no stored value.
UNCALCULATED = re.compile(rb"</f>\s*(?:<v\s*/>|<v></v>|</c>)")
CHUNK_BYTES, OVERLAP_BYTES = 1 << 20, 200
# Formats of dates and times, and of numbers that are codes: as many digits as the format has.
TIME_FORMAT = re.compile(r"[hs]", re.I)
CODE_FORMAT = re.compile(r"0{2,}")
# The types of cells with an error of a formula, and with a text.
ERROR, TEXT = "e", "s"


class PlainCell(NamedTuple):
    """A cell of a reader that does not tell formats; the attributes are those of openpyxl."""

    value: Any
    data_type: str = "n"
    number_format: str = "General"


# Cells of openpyxl, or plain ones.
Row = Sequence[Any]


@dataclass
class SheetFacts:
    """What a streamed sheet does not say of its cells."""

    # The rows and columns of merged cells, from 1: first row, first column, last row, last column.
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)
    uncalculated: int = 0

    @classmethod
    def read(cls, path: Path, inside: str) -> SheetFacts:
        """Scan the XML of a sheet."""
        from openpyxl.utils import column_index_from_string

        facts, left = cls(), b""
        with suppress(KeyError), zipfile.ZipFile(path) as archive, archive.open(inside) as xml:
            while piece := xml.read(CHUNK_BYTES):
                text = left + piece
                # What could be the beginning of a match is searched with the next piece.
                cut = text.rfind(b"<c ", max(len(text) - OVERLAP_BYTES, 0))
                cut = len(text) - OVERLAP_BYTES if cut < 0 else cut
                cut = max(cut, 0) if len(piece) == CHUNK_BYTES else len(text)
                facts._add(text[:cut], column_index_from_string)
                left = text[cut:]
            facts._add(left, column_index_from_string)
        return facts

    def _add(self, text: bytes, number_of: Any) -> None:
        self.uncalculated += len(UNCALCULATED.findall(text))
        for first, top, last, bottom in MERGED.findall(text):
            left, right = number_of(first.decode()), number_of(last.decode())
            self.merged.append((int(top), left, int(bottom), right))


@dataclass
class ValueReader:
    """Reads values of cells, and counts what is sent in another form than it is stored."""

    # The option of the load; without it, a time without a zone is a text.
    timezone: str | None
    codes: dict[str, None] = field(default_factory=dict)
    local_times: dict[str, None] = field(default_factory=dict)
    clock_times: dict[str, None] = field(default_factory=dict)
    # Cells of each error, such as #N/A.
    formula_errors: Counter[str] = field(default_factory=Counter)

    def read(self, cell: Any, column: str) -> Any:
        """Return the value of a cell of a column; a date if its format has no hours."""
        value = cell.value
        if isinstance(value, dt.datetime):
            if not TIME_FORMAT.search(str(cell.number_format)):
                return value.date()
            if self.timezone is not None or value.tzinfo is not None:
                return value
            self.local_times[column] = None
            return value.isoformat()
        if isinstance(value, (dt.time, dt.timedelta)):
            self.clock_times[column] = None
            return write_clock_time(value)
        if type(value) is int and value >= 0 and CODE_FORMAT.fullmatch(str(cell.number_format)):
            self.codes[column] = None
            return str(value).zfill(len(cell.number_format))
        return value

    def notes(self) -> Iterator[str]:
        """Yield the notes about values in another form."""
        if self.codes:
            names = list_names(self.codes)
            yield f"{names}: texts, because the format of the cells has leading zeros"
        if self.local_times:
            yield (
                f"{list_names(self.local_times)}: times without a time zone, sent as texts; "
                "timezone='UTC' sends moments of that zone"
            )
        if self.clock_times:
            yield f"{list_names(self.clock_times)}: times of day and durations are texts, HH:MM"
        if self.formula_errors:
            count = format_count(self.formula_errors.total(), "cell")
            yield f"{count} with {', '.join(sorted(self.formula_errors))}: missing values"


def write_clock_time(value: dt.time | dt.timedelta) -> str:
    """Return a time of day or a duration as HH:MM, with seconds if there are any."""
    if isinstance(value, dt.time):
        value = dt.datetime.combine(dt.date.min, value.replace(tzinfo=None)) - dt.datetime.min
    seconds = round(value.total_seconds())
    sign, seconds = ("-", -seconds) if seconds < 0 else ("", seconds)
    text = f"{sign}{seconds // 3600:02d}:{seconds // 60 % 60:02d}"
    return f"{text}:{seconds % 60:02d}" if seconds % 60 else text


def is_filled(cell: Any) -> bool:
    """Return whether a cell has a value."""
    return cell.value is not None and cell.value != ""


def count_filled(row: Row) -> int:
    """Return the number of cells with a value."""
    return sum(map(is_filled, row))


def texts_of(row: Row) -> list[str]:
    """Return the texts of cells, of names for example; empty for cells without a value."""
    return [_text(cell) for cell in row]


def show_row(row: Row) -> str:
    """Return the texts of a row for a note."""
    return " ".join(filter(None, texts_of(row)))[:MAX_SHOWN_CHARACTERS]


def _text(cell: Any) -> str:
    if not is_filled(cell):
        return ""
    return str(ValueReader(None).read(cell, "")).strip()

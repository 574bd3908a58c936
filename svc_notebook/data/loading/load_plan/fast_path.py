"""The fast path for a few rows: encode them as batch operations without opening DuckDB.

For a few rows, opening DuckDB takes longer than anything else. The output equals that of DuckDB
byte for byte. Rows that this path does not support, such as a row that cannot be sent, take the
DuckDB path.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any, NamedTuple

import msgspec
import pandas as pd

from svc_notebook.core.files import expand_path
from svc_notebook.data.loading.database import Database
from svc_notebook.data.loading.encoding.json_sql import GEO, MAX_LAT, MAX_LNG, column_sql
from svc_notebook.data.loading.encoding.json_values import (
    JSON,
    Unsendable,
    canonical_member,
    find_json_types,
    is_missing,
    name_json_types,
    write_json,
)
from svc_notebook.data.loading.encoding.record_sql import (
    ColumnProfile,
    operation_overhead,
    operation_prefix,
)
from svc_notebook.data.loading.load_plan.column_guesses import add_number_words, guess_columns
from svc_notebook.data.loading.load_plan.ids import (
    HASHED,
    Ids,
    is_short,
    order_proposals,
    proposal,
    reason_against,
)
from svc_notebook.data.loading.load_plan.mixed_columns import frequent_type
from svc_notebook.data.loading.load_plan.profile import MAX_ID_BYTES, choose_columns, id_fields
from svc_notebook.data.loading.load_plan.type_inference import (
    ColumnTexts,
    count_sample_rows,
    infer_few_texts,
)
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sources.csv_cells import MAX_FEW_ROWS_BYTES
from svc_notebook.data.loading.sources.dataframe import (
    describe_index,
    name_columns,
    title,
    with_named_index,
)
from svc_notebook.data.loading.sources.python_records import RecordStream
from svc_notebook.data.loading.table import WRITTEN, SourceTable, TableColumn
from svc_notebook.errors import BadInput

# Encoding this many cells in Python takes as long as opening DuckDB; encoding this many rows of a
# wide table takes as long as DuckDB's queries, which grow with the columns.
MAX_CELLS, MAX_WIDE_ROWS = 10_000, 80
# DuckDB escapes these control characters with upper-case digits, msgspec with lower-case ones.
UPPER_CASE_ESCAPE = re.compile("[\x0b\x0e\x0f\x1a-\x1f]")
_ENCODER = msgspec.json.Encoder()

Texts = Sequence[str | None]
Write = Callable[[Any], str | None]


class NeedsDatabase(Exception):
    """The fast path does not support the source, an option or a value."""


@dataclass(frozen=True)
class Cells:
    """A column, and the JSON of each of its values; None for a missing value."""

    field: TableColumn
    texts: Texts
    # For a column of a delimited file: its profile if it is sent, and its cells.
    profile: ColumnProfile | None = None
    cells: Texts | None = None

    def id_texts(self, rows: int) -> Texts:
        """Return the JSON of the values that become ids: of a delimited file's cells, as texts."""
        reading = self.profile and self.profile.reading
        is_text = reading and reading.kind == "string" and (reading.form or not reading.missing)
        if self.cells is None or is_text:
            return self.texts[:rows]
        return _write_texts(self.cells[:rows])


class SmallTable(NamedTuple):
    """A table of a few rows, the values of its columns, and the number of rows."""

    table: SourceTable
    cells: list[Cells]
    rows: int


def may_be_small_file(source: Any) -> bool:
    """Return whether a source is a file, not a pattern, that may have only a few rows."""
    if not isinstance(source, (str, os.PathLike)):
        return False
    try:
        path = expand_path(source)
        return path.is_file() and path.stat().st_size <= MAX_FEW_ROWS_BYTES
    except (BadInput, OSError, ValueError):  # a text that is not a path, such as a query
        return False


def read_texts(table: SourceTable, options: LoadSettings) -> SmallTable:
    """Read the cells of a delimited file and infer their types, by the rules of `profile_table`.

    Raises `NeedsDatabase` for a file of another format, with many rows, or with a column that a
    few values prevent from being numbers.
    """
    _refuse_options(options)
    if not table.untyped or table.errors or table.cursor:
        raise NeedsDatabase
    columns = table.few_rows(_max_cells(len(table.fields)))
    if columns is None:
        raise NeedsDatabase
    rows = min(len(columns[0]), options.limit or len(columns[0]))
    texts = {field: column[:rows] for field, column in zip(table.fields, columns, strict=True)}
    profiles = _infer_profiles(table, texts, rows, options)
    cells = [
        Cells(field, _write_cells(column, profile) if profile else column, profile, column)
        for field, column in texts.items()
        for profile in [profiles.get(field)]
    ]
    return SmallTable(table, cells, rows)


def _infer_profiles(
    table: SourceTable, texts: Mapping[TableColumn, Texts], rows: int, options: LoadSettings
) -> dict[TableColumn, ColumnProfile]:
    profiles = {}
    chosen = choose_columns(table, options)
    first = count_sample_rows(len(chosen))
    sample = add_number_words({field: ColumnTexts(texts[field][:first]) for field in chosen})
    guesses = guess_columns(sample, table.separator, options)
    for field in chosen:
        column_texts = sample[field] if rows <= first else sample[field].with_texts(texts[field])
        profile = infer_few_texts(field, column_texts, guesses[field], sample[field])
        if profile.sent_as == "text" and frequent_type(column_texts):
            raise NeedsDatabase
        profiles[field] = profile
    return profiles


def _write_cells(texts: Texts, profile: ColumnProfile) -> Texts:
    """Return the JSON of the cells of a column that is sent."""
    assert profile.reading is not None
    missing = profile.reading.missing
    if profile.sent_as == "text" and not profile.reading.form:
        present = [None if text in missing else text for text in texts] if missing else texts
        return _write_texts(present)
    # A cell that is a number is its own JSON.
    plain = not missing and not profile.reading.form and profile.sent_as != "boolean"
    return texts if plain else [*map(profile.reading.write, texts)]


def open_small(source: Any, db: Database) -> SmallTable:
    """Encode the values of a few rows; raises `NeedsDatabase` for unsupported sources."""
    if isinstance(source, RecordStream):
        return _open_records(source, db)
    if not isinstance(source, pd.DataFrame) or not len(source.columns):
        raise NeedsDatabase
    if source.size > _max_cells(len(source.columns)):
        raise NeedsDatabase
    frame = with_named_index(source)
    cells = [_cells(frame.iloc[:, n], name, n) for n, name in enumerate(name_columns(frame))]
    name = title("DataFrame", len(frame))
    fields = tuple(column.field for column in cells)
    table = SourceTable(db, "", fields, name, notes=describe_index(frame))
    return SmallTable(table, cells, len(frame))


def _open_records(records: RecordStream, db: Database) -> SmallTable:
    texts = records.texts
    if texts is None or records.errors or records.skipped:
        raise NeedsDatabase
    if len(texts) * records.rows > _max_cells(len(texts)):
        raise NeedsDatabase
    table = SourceTable(
        db, "", records.fields, records.name, ragged=True, notes=tuple(records.notes)
    )
    return SmallTable(table, list(map(Cells, records.fields, texts)), records.rows)


def write_small(
    opened: SmallTable, options: LoadSettings
) -> tuple[list[str], tuple[ColumnProfile, ...], Ids]:
    """Return the operations of a few rows, with their columns and ids.

    Raises `NeedsDatabase` for unsupported rows and options.
    """
    table, cells, rows = opened
    if not cells and not rows:
        return [], (), Ids("", HASHED)
    if not cells:
        raise NeedsDatabase
    _refuse_options(options)
    rows = min(rows, options.limit or rows)
    values = {column.field.name: column.texts[:rows] for column in cells}
    by_name = {column.field.name: column for column in cells}
    profiles = {column.field.name: column.profile for column in cells}
    chosen = choose_columns(table, options)
    columns = tuple(
        _column(field, values[field.name], profiles[field.name], options) for field in chosen
    )
    members = _members(columns, values, rows, options)
    ids, texts = _find_ids(table, columns, values, by_name, rows, options)
    return _operations(texts, members, options), columns, ids


def _max_cells(columns: int) -> int:
    return max(MAX_CELLS, MAX_WIDE_ROWS * columns)


def _refuse_options(options: LoadSettings) -> None:
    of_source = options.path is not None or options.sheet is not None
    of_rows = options.dtype or options.nest or options.derives_columns
    if of_source or of_rows or options.salt or options.spread:
        raise NeedsDatabase


def _cells(series: pd.Series[Any], name: str, number: int) -> Cells:
    kind, write = _writer(series)
    try:
        texts = [None if is_missing(value) else write(value) for value in series.tolist()]
    except Unsendable:
        raise NeedsDatabase from None
    return Cells(TableColumn(name, f"c{number}", kind), texts)


def _writer(series: pd.Series[Any]) -> tuple[str, Write]:
    dtype = series.dtype
    kind = str(dtype)
    if pd.api.types.is_object_dtype(dtype):
        kind = OBJECTS.get(pd.api.types.infer_dtype(series, skipna=True), kind)
    elif isinstance(dtype, pd.StringDtype):
        kind = "str"
    if kind not in WRITERS:
        raise NeedsDatabase
    return WRITERS[kind]


def _write_text(value: Any) -> str:
    (written,) = _write_texts([str(value)])
    assert written is not None
    return written


def _write_texts(texts: Texts) -> list[str | None]:
    """Return the JSON of texts, which are encoded all at once, one on each line."""
    present = [text for text in texts if text is not None]
    try:
        lines = _ENCODER.encode_lines(present).decode()
    except UnicodeEncodeError:
        raise NeedsDatabase from None
    # Every control character without a short escape is encoded as `\\u00` and two digits.
    if "\\u00" in lines and UPPER_CASE_ESCAPE.search("".join(present)):
        raise NeedsDatabase
    written = lines.split("\n")
    if len(present) == len(texts):
        return [*written[: len(texts)]]
    encoded = iter(written)
    return [None if text is None else next(encoded) for text in texts]


def _write_number(value: Any) -> str:
    if value - value:  # an infinity
        raise NeedsDatabase
    return repr(float(value))


def _write_whole(value: Any) -> str:
    return str(int(value))


def _write_flag(value: Any) -> str:
    return "true" if value else "false"


def _write_time(value: pd.Timestamp) -> str | None:
    if not 1 <= value.year <= 9999:
        raise NeedsDatabase
    return write_json(value)


# From the type that pandas infers for a column of objects to the writer's key; "" has none.
OBJECTS = {"string": "str", "empty": "str", "boolean": "bool", "floating": "", "decimal": ""}
# For each dtype: DuckDB's name of the type, and the function that writes a value.
WRITERS: Mapping[str, tuple[str, Write]] = {
    "bool": ("BOOLEAN", _write_flag),
    "boolean": ("BOOLEAN", _write_flag),
    "int32": ("INTEGER", _write_whole),
    "int64": ("BIGINT", _write_whole),
    "Int64": ("BIGINT", _write_whole),
    "float64": ("DOUBLE", _write_number),
    "str": ("VARCHAR", _write_text),
    "datetime64[us, UTC]": ("TIMESTAMP WITH TIME ZONE", _write_time),
    "object": (WRITTEN, write_json),
}


def _column(
    field: TableColumn, texts: Texts, profile: ColumnProfile | None, options: LoadSettings
) -> ColumnProfile:
    missing = texts.count(None)
    if missing and options.nulls_of(field.name) == "error":
        raise NeedsDatabase
    if profile is not None:
        return profile
    json_sql = column_sql(field, options)
    if field.name == GEO and not all(map(_is_on_globe, texts)):
        raise NeedsDatabase  # which reports the rows
    json_types = name_json_types(find_json_types(texts)) if json_sql.sent_as == JSON else ""
    return ColumnProfile(field, json_sql, missing, json_types=json_types)


def _is_on_globe(text: str | None) -> bool:
    """Return whether the coordinates of a place, or of a list of them, are in range."""
    value = None if text is None else msgspec.json.decode(text)
    places = value if isinstance(value, list) else [value]
    return all(
        _is_within(coordinates.get("lat"), MAX_LAT) and _is_within(coordinates.get("lng"), MAX_LNG)
        for coordinates in places
        if isinstance(coordinates, dict)
    )


def _is_within(value: Any, maximum: int) -> bool:
    try:
        return abs(float(value)) <= maximum
    except (TypeError, ValueError):
        return value is None


def _members(
    columns: Sequence[ColumnProfile], values: Mapping[str, Texts], rows: int, options: LoadSettings
) -> list[str]:
    """Return each row's members, each preceded by a comma."""
    written = [_column_members(column, values[column.name], options) for column in columns]
    return ["".join(row) for row in zip(*written, strict=True)] if written else [""] * rows


def _column_members(column: ColumnProfile, texts: Texts, options: LoadSettings) -> list[str]:
    key = f",{msgspec.json.encode(column.name).decode()}:"
    operation = options.operations.get(column.name)
    if operation:
        opened = f'{key}{{"_operation":"{operation}","value":'
        return [f"{opened}{text}}}" if text is not None else "" for text in texts]
    absent = f"{key}null" if options.nulls_of(column.name) == "null" else ""
    return [absent if text is None else key + text for text in texts]


def _find_ids(
    table: SourceTable,
    columns: Sequence[ColumnProfile],
    values: Mapping[str, Texts],
    cells: Mapping[str, Cells],
    rows: int,
    options: LoadSettings,
) -> tuple[Ids, list[str]]:
    """Choose the ids by the rules of `ids.find_ids`; return the JSON of each id, too."""
    notes = []
    for field in id_fields(table, options):
        texts = _ids_of(cells[field.name].id_texts(rows))
        ids = [*filter(None, texts)]
        good = len(set(ids)) == rows
        if good:
            return Ids("", f"column `{field.name}`", field.name), ids
        if options.id or field.name == "objectID":
            raise NeedsDatabase
        notes.append(reason_against(field.name, len(ids), len(set(ids)), rows))
    hashes = [f'"{digest}"' for digest in _hash(columns, values, rows)]
    if options.action != "replace" or len(set(hashes)) < len(hashes):
        raise NeedsDatabase
    if unique := _find_unique(columns, cells, rows):
        notes.append(proposal(unique))
    return Ids("", HASHED, notes=tuple(notes)), hashes


def _hash(
    columns: Sequence[ColumnProfile], values: Mapping[str, Texts], rows: int
) -> Iterator[str]:
    """Hash each row's members in canonical form, sorted by name."""
    in_order = sorted(columns, key=lambda column: column.name)
    written = [
        ["" if text is None else canonical_member(name, text) for text in values[name]]
        for name in (column.name for column in in_order)
    ]
    for row in zip(*written, strict=True) if written else [()] * rows:
        yield hashlib.md5("".join(row).encode(), usedforsecurity=False).hexdigest()


def _find_unique(
    columns: Sequence[ColumnProfile], cells: Mapping[str, Cells], rows: int
) -> str | None:
    """Propose an id by the rules of `ids.find_ids`."""
    for name in order_proposals(columns, rows):
        texts = filter(None, cells[name].id_texts(rows))
        values = {str(msgspec.json.decode(text)) for text in texts}
        if len(values) == rows and all(map(is_short, values)):
            return name
    return None


def _ids_of(texts: Texts) -> list[str | None]:
    """Return the JSON texts of ids, texts or whole numbers; None for a missing id."""
    values = msgspec.json.decode(f"[{','.join(text or 'null' for text in texts)}]")
    if {*map(type, values)} - {str, int, NoneType}:
        raise NeedsDatabase
    shown = [None if value in (None, "") else str(value) for value in values]
    # A character takes at most four bytes, so that most ids need not be encoded.
    present = [*filter(None, shown)]
    if any(len(text) * 4 > MAX_ID_BYTES < len(text.encode()) for text in present):
        raise NeedsDatabase
    if "\0" in "".join(present):
        raise NeedsDatabase
    return _write_texts(shown)


def _operations(ids: Sequence[str], members: Sequence[str], options: LoadSettings) -> list[str]:
    start, end = operation_prefix(options), "}}"
    if options.action == "delete":
        members = [""] * len(ids)
    operations = [
        f"{start}{quoted_id}{row}{end}" for quoted_id, row in zip(ids, members, strict=True)
    ]
    limit = options.record_bytes + operation_overhead(options)
    # A character takes at most four bytes, so that most operations need not be encoded.
    if any(
        len(operation) * 4 > limit and len(operation.encode()) > limit for operation in operations
    ):
        raise NeedsDatabase
    return operations

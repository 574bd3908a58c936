"""SQL that writes a row as one operation of a batch request, from the profiles of its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from svc_notebook.data.loading import sql
from svc_notebook.data.loading.encoding.json_sql import JsonSql, ValueCheck
from svc_notebook.data.loading.encoding.json_values import JSON, canonical_sql
from svc_notebook.data.loading.options import ACTIONS, LoadSettings
from svc_notebook.data.loading.table import WRITTEN, TableColumn
from svc_notebook.data.loading.text_cells.text_forms import AmountForm, DateForm, FormulaText
from svc_notebook.errors import BadInput

Tree = dict[str, Any]


# A form of values that are not sent as they are written.
TextForm = AmountForm | DateForm | FormulaText


@dataclass(frozen=True)
class TextReading:
    """The reading of a column of text, in SQL and in Python with equal results: its type, the form
    of its amounts, and its words for missing values.
    """

    # "string", "boolean", "integer", "number" or "date".
    kind: str
    form: TextForm | None = None
    missing: tuple[str, ...] = ()
    # Why it is sent as text although its values look like amounts.
    doubt: str = ""

    def column_sql(self, field: TableColumn) -> JsonSql:
        """Return the SQL that writes the values of a column."""
        value = field.column
        if self.missing:
            absent = sql.one_of(value, self.missing)
            value = f"CASE WHEN {absent} THEN NULL ELSE {value} END"
        kind = "text" if self.kind == "string" else self.kind
        if self.form:
            return JsonSql(self.form.value_sql(f"({value})"), kind, complete=True)
        if self.kind == "string":
            return JsonSql(f"to_json({value})::VARCHAR", kind, complete=True)
        return JsonSql(f"lower({value})" if self.kind == "boolean" else value, self.kind,
                       complete=True)  # fmt: skip

    def write(self, text: str | None) -> str | None:
        """Return the JSON of a text of a column that is not sent as text; None if it is missing."""
        if text is None or text in self.missing:
            return None
        if self.form:
            return self.form.convert(text)
        return text.lower() if self.kind == "boolean" else text


@dataclass(frozen=True)
class ColumnProfile:
    """A column, the SQL that writes its values, and what the profile counted in it."""

    field: TableColumn
    sql: JsonSql
    missing: int = 0
    failing: tuple[tuple[ValueCheck, int], ...] = ()
    note: str = ""
    # The JSON types found in a column of JSON.
    json_types: str = ""
    # For a column of text whose content determines its type.
    reading: TextReading | None = None

    @property
    def sent_as(self) -> str:
        """The type that its values are sent as."""
        return self.json_types or self.sql.sent_as

    @property
    def type(self) -> str:
        """Its type in the source; for a column of JSON, the types of its values."""
        return self.sent_as if self.field.type in (JSON, WRITTEN) else self.field.type

    @property
    def name(self) -> str:
        """Its name in the records."""
        return self.field.name

    @property
    def complete(self) -> bool:
        """Whether every row has a value in it."""
        return self.missing == 0 and self.sql.complete


# From a column to the SQL that writes its values.
WriteValue = Callable[[ColumnProfile, LoadSettings], str]


class NonNullSql(str):
    """The SQL of a value that is never null, so that the member's name can precede it."""

    __slots__ = ()


def operation_prefix(options: LoadSettings) -> str:
    """Return the beginning of every operation, up to its id."""
    return f',{{"action":"{ACTIONS[options.action]}","body":{{"objectID":'


def operation_overhead(options: LoadSettings) -> int:
    """Return the number of bytes of an operation that are not its record."""
    return len(operation_prefix(options)) - len('{"objectID":') + len("}")


def operation_sql(id_sql: str, columns: Sequence[ColumnProfile], options: LoadSettings) -> str:
    """Return the SQL of a row as `,{"action": …, "body": {"objectID": …, …}}`."""
    members = _members(columns, options, _value) if options.action != "delete" else []
    parts = [sql.text(operation_prefix(options)), f"to_json({id_sql})::VARCHAR", *members, "'}}'"]
    return f"concat({', '.join(parts)})"


def object_sql(columns: Sequence[ColumnProfile], options: LoadSettings) -> str:
    """Return the SQL of a row's members as one JSON object, without its id."""
    return f"'{{' || substr({_concat(_members(columns, options, _value))}, 2) || '}}'"


def canonical_members_sql(columns: Sequence[ColumnProfile], options: LoadSettings) -> str:
    """Return the SQL of a row's members in canonical form, sorted by name, without missing ones."""
    # Sorted by the parts of a name, so that the members of nested objects are sorted, too.
    in_order = sorted(columns, key=lambda column: _parts(column.name, options))
    return _concat(_members(in_order, options, _canonical_value))


def _members(
    columns: Sequence[ColumnProfile], options: LoadSettings, write: WriteValue
) -> list[str]:
    tree = _tree(columns, options, write)
    return [part for name, value in tree.items() for part in _member(name, value)]


def _parts(name: str, options: LoadSettings) -> list[str]:
    return name.split(".") if options.nest else [name]


def _member(name: str, value: str | Tree) -> Iterator[str]:
    """Yield the arguments of `concat` for a member; `concat` skips those that are null."""
    key = f",{msgspec.json.encode(name).decode()}:"
    if isinstance(value, NonNullSql):
        yield sql.text(key)
        yield value
    else:
        yield f"{sql.text(key)} || {_object(value)}"


def _tree(columns: Sequence[ColumnProfile], options: LoadSettings, write: WriteValue) -> Tree:
    """Nest dotted names if requested: `size.width` becomes `width` inside `size`."""
    if options.nest:
        _refuse_overlap([column.name for column in columns])
    tree: Tree = {}
    for column in columns:
        *path, last = _parts(column.name, options)
        here = tree
        for part in path:
            here = here.setdefault(part, {})
        here[last] = write(column, options)
    return tree


def _refuse_overlap(names: Sequence[str]) -> None:
    for name in names:
        parts = name.split(".")
        outer = (".".join(parts[:depth]) for depth in range(1, len(parts)))
        for repeated in set(names).intersection(outer):
            raise BadInput(
                f"`{repeated}` cannot be both a value and the object around `{name}`; rename or "
                "exclude one of them, or keep dotted names: nest=False"
            )


def _object(value: str | Tree) -> str:
    if isinstance(value, str):
        return value
    members = _concat([part for name, inner in value.items() for part in _member(name, inner)])
    return f"'{{' || nullif(substr({members}, 2), '') || '}}'"


def _concat(parts: Sequence[str]) -> str:
    return f"concat({', '.join(parts)})" if parts else "''"


def _value(column: ColumnProfile, options: LoadSettings) -> str:
    json = f"({column.sql.json})"
    if operation := options.operations.get(column.name):
        return f'\'{{"_operation":"{operation}","value":\' || {json} || \'}}\''
    if options.nulls_of(column.name) == "null":
        return NonNullSql(f"coalesce({json}, 'null')")
    return NonNullSql(json) if column.complete else json


def _canonical_value(column: ColumnProfile, options: LoadSettings) -> str:
    json = canonical_sql(f"({column.sql.json})", column.sql.sent_as)
    return NonNullSql(json) if column.complete else json

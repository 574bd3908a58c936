"""SQL that writes a whole row as one operation of a batch request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from svc_notebook.errors import BadInput
from svc_notebook.loading import sql
from svc_notebook.loading.encoding.canonical_json import canonical_sql
from svc_notebook.loading.load_plan.profile import ColumnProfile
from svc_notebook.loading.options import ACTIONS, LoadSettings

Tree = dict[str, Any]
# From a column to the SQL of what is written of its values.
WriteValue = Callable[[ColumnProfile, LoadSettings], str]


class NonNullSql(str):
    """The SQL of a value that is never null, so that its name may be written beforehand."""

    __slots__ = ()


def opening(options: LoadSettings) -> str:
    """Write what every step begins with, up to its id."""
    return f',{{"action":"{ACTIONS[options.action]}","body":{{"objectID":'


def wrapping(options: LoadSettings) -> int:
    """Count the bytes of a step that are not its record."""
    return len(opening(options)) - len('{"objectID":') + len("}")


def step_sql(id_sql: str, columns: Sequence[ColumnProfile], options: LoadSettings) -> str:
    """Write a row as `,{"action": …, "body": {"objectID": …, …}}`."""
    members = _members(columns, options, _value) if options.action != "delete" else []
    parts = [sql.text(opening(options)), f"to_json({id_sql})::VARCHAR", *members, "'}}'"]
    return f"concat({', '.join(parts)})"


def object_sql(columns: Sequence[ColumnProfile], options: LoadSettings) -> str:
    """Write a row's members as one JSON object, without its id."""
    return f"'{{' || substr({_joined(_members(columns, options, _value))}, 2) || '}}'"


def canonical_members_sql(columns: Sequence[ColumnProfile], options: LoadSettings) -> str:
    """Write a row's members in canonical form, sorted by name; missing ones are left out."""
    # By the parts of a name, so that the members of nested objects are sorted, too.
    in_order = sorted(columns, key=lambda column: _parts(column.name, options))
    return _joined(_members(in_order, options, _canonical_value))


def _members(
    columns: Sequence[ColumnProfile], options: LoadSettings, write: WriteValue
) -> list[str]:
    tree = _tree(columns, options, write)
    return [part for name, value in tree.items() for part in _member(name, value)]


def _parts(name: str, options: LoadSettings) -> list[str]:
    return name.split(".") if options.nest else [name]


def _member(name: str, value: str | Tree) -> Iterator[str]:
    """Write a member as parts of a `concat`, which passes over those that are null."""
    key = f",{msgspec.json.encode(name).decode()}:"
    if isinstance(value, NonNullSql):
        yield sql.text(key)
        yield value
    else:
        yield f"{sql.text(key)} || {_branch(value)}"


def _tree(columns: Sequence[ColumnProfile], options: LoadSettings, write: WriteValue) -> Tree:
    """Nest dotted names on request: `size.width` becomes `width` inside `size`."""
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
        for found in set(names).intersection(outer):
            raise BadInput(
                f"`{found}` cannot be both a value and the object around `{name}`; rename or leave "
                "out one of them, or all columns as they are: nest=False"
            )


def _branch(value: str | Tree) -> str:
    if isinstance(value, str):
        return value
    members = _joined([part for name, inner in value.items() for part in _member(name, inner)])
    return f"'{{' || nullif(substr({members}, 2), '') || '}}'"


def _joined(parts: Sequence[str]) -> str:
    return f"concat({', '.join(parts)})" if parts else "''"


def _value(column: ColumnProfile, options: LoadSettings) -> str:
    json = f"({column.rendering.json})"
    if operation := options.operations.get(column.name):
        return f'\'{{"_operation":"{operation}","value":\' || {json} || \'}}\''
    if options.nulls_of(column.name) == "null":
        return NonNullSql(f"coalesce({json}, 'null')")
    return NonNullSql(json) if column.complete else json


def _canonical_value(column: ColumnProfile, options: LoadSettings) -> str:
    json = canonical_sql(f"({column.rendering.json})", column.rendering.sends)
    return NonNullSql(json) if column.complete else json

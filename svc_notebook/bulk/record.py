"""The SQL that writes a whole row as one step of a batch request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from svc_notebook.bulk import sql
from svc_notebook.bulk.options import ACTIONS, Options
from svc_notebook.bulk.profile import Column

Tree = dict[str, Any]


def opening(options: Options) -> str:
    """Write what every step begins with, up to its id."""
    return f',{{"action":"{ACTIONS[options.action]}","body":{{"objectID":"'


def wrapping(options: Options) -> int:
    """Count the bytes of a step that are not its record."""
    return len(opening(options)) - len('{"objectID":"') + len("}")


def step_sql(id_sql: str, columns: Sequence[Column], options: Options) -> str:
    """Write a row as `,{"action": …, "body": {"objectID": …, …}}`."""
    quoted = f"substr(to_json({id_sql})::VARCHAR, 2)"
    members = members_sql(columns, options) if options.action != "delete" else "''"
    return f"concat({sql.text(opening(options))}, {quoted}, {members}, '}}}}')"


def members_sql(columns: Sequence[Column], options: Options) -> str:
    """Write a row's members, each with a comma before it; missing ones as the options say."""
    return _joined(_tree(columns, options) if options.nest else _flat(columns, options))


def _flat(columns: Sequence[Column], options: Options) -> Tree:
    return {column.name: _value(column, options) for column in columns}


def _tree(columns: Sequence[Column], options: Options) -> Tree:
    """Nest dotted names: `size.width` becomes `width` inside `size`."""
    tree: Tree = {}
    for column in columns:
        *path, last = column.name.split(".")
        here = tree
        for part in path:
            inner = here.setdefault(part, {})
            here = inner if isinstance(inner, dict) else here
        here[last] = _value(column, options)
    return tree


def _joined(tree: Mapping[str, Any]) -> str:
    parts = [
        f"{sql.text(',')} || {sql.json_text(name)} || ':' || {_branch(value)}"
        for name, value in tree.items()
    ]
    return f"concat({', '.join(parts)})" if parts else "''"


def _branch(value: Any) -> str:
    if isinstance(value, str):
        return value
    return f"'{{' || nullif(substr({_joined(value)}, 2), '') || '}}'"


def _value(column: Column, options: Options) -> str:
    json = f"({column.rendering.json})"
    if operation := options.operations.get(column.name):
        return f'\'{{"_operation":"{operation}","value":\' || {json} || \'}}\''
    return f"coalesce({json}, 'null')" if options.nulls_of(column.name) == "null" else json

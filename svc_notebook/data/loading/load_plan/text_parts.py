"""Long texts as several records: one row for each part of a text."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

import msgspec

from svc_notebook.data.loading.encoding.canonical_json import map_texts
from svc_notebook.data.loading.encoding.json_sql import as_text
from svc_notebook.data.loading.load_plan.profile import id_fields
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.table import WRITTEN, SourceTable, TableColumn
from svc_notebook.errors import BadInput, did_you_mean

# Ends of paragraphs, sentences and words, the best one first, and the smallest share of the size
# at which a text may be cut there.
BOUNDARIES = (
    (re.compile(r"(?=\n\s*\n)"), 0.5),
    (re.compile("[.!?…][\"'”\u2019»)\\]]*(?=\\s)|[。\uff01\uff1f]"), 0.3),
    (re.compile(r"(?=\n)"), 0.5),
    (re.compile(r"(?=\s)"), 0.1),
)
PART_MARK = "#"


def split_texts(table: SourceTable, options: LoadSettings) -> SourceTable:
    """Return the table with a row for each part of the texts of one column.

    The id of a part is that of the row, `#` and its number from 1; all parts share an attribute.
    """
    if not options.split:
        return table
    ((name, size),) = options.split.items()
    by_name = {field.name: field for field in table.fields}
    if name not in by_name:
        advice = did_you_mean(name, list(by_name))
        raise BadInput(f"{table.name} has no column `{name}`, which `split` names{advice}")
    if options.distinct in by_name:
        raise BadInput(
            f"{table.name} has a column `{options.distinct}`: name another attribute for all parts "
            "of a row, distinct='…'"
        )
    ids = id_fields(table, options)
    if not ids:
        raise BadInput("`split` makes ids such as `7#1`: pass the column of the ids, id='…'")
    return _store_parts(table, by_name[name], size, ids[0], options)


def _store_parts(
    table: SourceTable, column: TableColumn, size: int, id_field: TableColumn, options: LoadSettings
) -> SourceTable:
    function = f"split_text_{size}"
    table.db.define(function, map_texts(lambda text: write_parts(text, size)))
    columns = ", ".join(f"{field.column} AS c{n}" for n, field in enumerate(table.fields))
    parts = f"from_json({function}({as_text(column)}), '[\"VARCHAR\"]')"
    rows = (
        f"SELECT {columns}, {as_text(id_field)} AS source_id, coalesce({parts}, [NULL]) AS parts "
        f"FROM {table.scan}"
    )
    kept = table.db.keep(
        "SELECT * EXCLUDE (parts), unnest(parts) AS part, unnest(range(1, len(parts) + 1)) AS n "
        f"FROM ({rows})",
        "parts",
    )
    text = TableColumn(column.name, "part", "VARCHAR")
    if column.type == WRITTEN:
        text = TableColumn(column.name, "(to_json(part)::VARCHAR)", WRITTEN)
    fields = [
        text if field == column else field._replace(column=f"c{n}")
        for n, field in enumerate(table.fields)
    ]
    part_id = f"(to_json(source_id || '{PART_MARK}' || n)::VARCHAR)"
    fields += [
        TableColumn(options.distinct, "(to_json(source_id)::VARCHAR)", WRITTEN),
        TableColumn(options.part_id, part_id, WRITTEN),
    ]
    return replace(
        table, sql=kept, numbered_sql=f"(SELECT *, rowid AS pos FROM {kept})", watched_sql="",
        fields=tuple(fields), hidden=table.hidden | {options.part_id}, files=(),
        few_rows=lambda _: None, check_lost_rows=lambda *_: None,
        parts_sql=f"SELECT source_id, max(n) FROM {kept} WHERE source_id <> '' GROUP BY source_id",
    )  # fmt: skip


def write_parts(text: str, size: int) -> str:
    """Return the parts of a text as JSON."""
    return msgspec.json.encode(cut_text(text, size)).decode()


def cut_text(text: str, size: int) -> list[str]:
    """Cut a text into parts of at most `size` characters, if possible at ends of sentences."""
    parts = []
    rest = text.strip()
    while len(rest) > size:
        at = _find_boundary(rest, size)
        parts.append(rest[:at].rstrip())
        rest = rest[at:].lstrip()
    return [*parts, rest] if rest or not parts else parts


def _find_boundary(text: str, size: int) -> int:
    """Return the last position up to `size` at which a text can be cut best."""
    # The white space of a boundary may follow the last character of the part.
    for boundary, share in BOUNDARIES:
        positions = [match.end() for match in boundary.finditer(text, 0, size + 1)]
        allowed = [at for at in positions if max(size * share, 1) <= at <= size]
        if allowed:
            return allowed[-1]
    at = size
    while at > 1 and unicodedata.combining(text[at]):
        at -= 1
    return at

"""Columns that are made from a source's columns, and long texts that become several records."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import replace
from string import Formatter

import msgspec

from svc_notebook.data.loading import sql
from svc_notebook.data.loading.encoding.json_sql import GEO, PLAIN_TYPE, as_text
from svc_notebook.data.loading.encoding.json_values import map_texts
from svc_notebook.data.loading.load_plan.profile import id_fields
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.table import WRITTEN, SourceTable, TableColumn
from svc_notebook.data.loading.text_cells.cell_kinds import MISSING_WORDS
from svc_notebook.errors import BadInput

# The separators that are tried for columns of lists and of levels, the most likely one first.
SEPARATORS = {"list": ("|", ";", ","), "levels": (">", "»", "|", "/")}
LEVEL_SEPARATOR = " > "
# A decimal comma in a coordinate.
COMMA_NUMBER = r"-?\d+,\d+"
# An item of a list as Python writes it.
QUOTED_ITEM = """^'(.*)'$|^"(.*)"$"""
# Ends of paragraphs, sentences and words, the best one first, and the smallest share of the size
# at which a text may be cut there.
BOUNDARIES = (
    (re.compile(r"(?=\n\s*\n)"), 0.5),
    (re.compile("[.!?…][\"'”\u2019»)\\]]*(?=\\s)|[。\uff01\uff1f]"), 0.3),
    (re.compile(r"(?=\n)"), 0.5),
    (re.compile(r"(?=\s)"), 0.1),
)
PART_MARK = "#"


def derive_columns(table: SourceTable, options: LoadSettings) -> SourceTable:
    """Return the table with the columns that the options make of its columns.

    The scans of the table compute them, in columns that follow those of the source.
    """
    if not options.derives_columns:
        return table
    table = _rename(table, options)
    table = _split_lists(table, options)
    table = _add_place(table, options)
    return _add_templates(table, options)


def _compute(table: SourceTable, columns: Mapping[str, str]) -> SourceTable:
    """Return the table with computed columns, given as names and SQL.

    A column that others use many times is computed once: their SQL would repeat its own in each
    place, and DuckDB needed seconds to parse and plan it.
    """
    if not columns:
        return table
    computed = ", ".join(f"{written} AS {name}" for name, written in columns.items())

    def extend(rows: str) -> str:
        return f"(SELECT *, {computed} FROM {rows})" if rows else ""

    return replace(
        table,
        sql=extend(table.sql),
        numbered_sql=extend(table.numbered_sql),
        watched_sql=extend(table.watched_sql),
    )


def _find(table: SourceTable, name: str, option: str) -> TableColumn:
    return table.find_field(name, f", which `{option}` names")


def _rename(table: SourceTable, options: LoadSettings) -> SourceTable:
    for name in options.rename:
        _find(table, name, "rename")
    names = [options.rename.get(field.name, field.name) for field in table.fields]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise BadInput(f"`rename` makes two columns `{repeated}`; choose another name")
    fields = [field._replace(name=name) for field, name in zip(table.fields, names, strict=True)]
    return replace(table, fields=tuple(fields))


def _split_lists(table: SourceTable, options: LoadSettings) -> SourceTable:
    """Make lists and levels of the columns of text that `dtype` names."""
    split = {
        number: field
        for number, field in enumerate(table.fields)
        if options.dtype.get(field.name) in SEPARATORS and _may_have_texts(field)
    }
    texts = {number: f"list_text_{number}" for number in split}
    table = _compute(table, {texts[n]: _present_text(table, field) for n, field in split.items()})
    fields, notes = list(table.fields), list(table.notes)
    written = {}
    for number, field in split.items():
        kind, text = options.dtype[field.name], texts[number]
        separator = options.separator_of(field.name) or _find_separator(table, text, kind)
        written[f"list_{number}"] = _split_sql(field, text, kind, separator)
        fields[number] = TableColumn(field.name, f"list_{number}", WRITTEN)
        if separator:
            made = "lists" if kind == "list" else "levels lvl0, lvl1, …"
            notes.append(f"`{field.name}`: texts are split at `{separator}` into {made}")
    return replace(_compute(table, written), fields=tuple(fields), notes=tuple(notes))


def _split_sql(field: TableColumn, text: str, kind: str, separator: str) -> str:
    """Return the SQL of the lists or levels of a column; JSON that is no text stays as it is."""
    parts = _parts_sql(text, separator)
    value = _list_sql(text, parts) if kind == "list" else _levels_sql(parts)
    if _is_text(field):
        return value
    is_text = f"json_type({field.column}::JSON) = 'VARCHAR'"
    return f"CASE WHEN {is_text} THEN {value} ELSE {field.column}::VARCHAR END"


def _may_have_texts(field: TableColumn) -> bool:
    return _is_text(field) or field.type in ("JSON", WRITTEN)


def _is_text(field: TableColumn) -> bool:
    return bool(PLAIN_TYPE.fullmatch(field.type))


def _present_text(table: SourceTable, field: TableColumn) -> str:
    """Return the SQL of a value as text, NULL for a word such as NA in a delimited file."""
    text = as_text(field)
    if table.untyped:
        text = f"CASE WHEN {sql.one_of(text, MISSING_WORDS)} THEN NULL ELSE {text} END"
    return f"nullif(trim({text}), '')"


def _find_separator(table: SourceTable, text: str, kind: str) -> str:
    """Return the separator that most values have; empty if none has one."""
    separators = SEPARATORS[kind]
    counts = [f"count_if(contains({text}, {sql.text(mark)}))" for mark in separators]
    (row,) = table.db.rows(f"SELECT {', '.join(counts)} FROM {table.sql}")
    most = max(row)
    return separators[row.index(most)] if most else ""


def _parts_sql(text: str, separator: str) -> str:
    split = f"string_split({text}, {sql.text(separator)})" if separator else f"[{text}]"
    return f"list_filter(list_transform({split}, lambda p: trim(p)), lambda p: p <> '')"


def _list_sql(text: str, parts: str) -> str:
    """Return the SQL of a list of texts; a list that is written as JSON, or as Python does, too."""
    inner = f"string_split(regexp_replace({text}, '^\\[\\s*|\\s*\\]$', '', 'g'), ',')"
    bare = f"regexp_replace(trim(p), {sql.text(QUOTED_ITEM)}, '\\1\\2')"
    items = f"list_filter(list_transform({inner}, lambda p: {bare}), lambda p: p <> '')"
    return (
        f"CASE WHEN {text} IS NULL THEN NULL "
        f"WHEN starts_with({text}, '[') AND json_valid({text}) THEN ({text})::JSON::VARCHAR "
        f"WHEN starts_with({text}, '[') AND ends_with({text}, ']') "
        f"THEN to_json({items})::VARCHAR "
        f"ELSE to_json({parts})::VARCHAR END"
    )


def _levels_sql(parts: str) -> str:
    """Return the SQL of an object: each level is the path to it from the first one."""
    path = f"array_to_string(({parts})[1:i + 1], {sql.text(LEVEL_SEPARATOR)})"
    member = f"'\"lvl' || i || '\":' || to_json({path})::VARCHAR"
    members = f"list_transform(range(len({parts})), lambda i: {member})"
    return f"CASE WHEN len({parts}) > 0 THEN '{{' || array_to_string({members}, ',') || '}}' END"


def _add_place(table: SourceTable, options: LoadSettings) -> SourceTable:
    """Make the attribute of places of two columns, which are not sent by themselves."""
    if options.geo is None:
        return table
    pairs = zip(("lat", "lng"), options.geo, strict=True)
    fields = {member: _find(table, name, "geo") for member, name in pairs}
    if any(field.name == GEO for field in table.fields):
        raise BadInput(f"{table.name} has a column `{GEO}`; leave it or `geo` out")
    texts = {f"text_{member}": _present_text(table, fields[member]) for member in fields}
    table = _compute(table, texts)
    members = " || ',' || ".join(
        f"'\"{member}\":' || {_coordinate_sql(f'text_{member}')}" for member in fields
    )
    table = _compute(table, {"place": f"'{{' || {members} || '}}'"})
    column = TableColumn(GEO, "place", WRITTEN)
    hidden = table.hidden | {field.name for field in fields.values()}
    return replace(table, fields=(*table.fields, column), hidden=hidden)


def _coordinate_sql(text: str) -> str:
    point = (
        f"CASE WHEN regexp_full_match({text}, {sql.text(COMMA_NUMBER)}) "
        f"THEN replace({text}, ',', '.') ELSE {text} END"
    )
    number = f"try_cast({point} AS DOUBLE)"
    return f"CASE WHEN isfinite({number}) THEN {number}::VARCHAR ELSE to_json({text})::VARCHAR END"


def _add_templates(table: SourceTable, options: LoadSettings) -> SourceTable:
    """Add the computed columns, and the column of an id that is a template."""
    source, written = table, {}
    for number, (name, template) in enumerate(options.computed.items()):
        text = _template_sql(source, template, "computed")
        written[f"computed_{number}"] = f"to_json(nullif(trim({text}), ''))::VARCHAR"
        fields = [field for field in table.fields if field.name != name]
        fields.append(TableColumn(name, f"computed_{number}", WRITTEN))
        table = replace(table, fields=tuple(fields))
    table = _compute(table, written)
    names = {field.name for field in table.fields}
    if options.id and options.id not in names and "{" in options.id:
        text = _template_sql(table, options.id, "id", complete=True)
        table = _compute(table, {"template_id": f"to_json({text})::VARCHAR"})
        field = TableColumn(options.id, "template_id", WRITTEN)
        table = replace(table, fields=(*table.fields, field), hidden=table.hidden | {options.id})
    return table


def _template_sql(table: SourceTable, template: str, option: str, *, complete: bool = False) -> str:
    """Return the SQL of a text with values of columns; NULL if `complete` and one is missing."""
    parts = []
    for text, name in parse_template(template, option):
        if text:
            parts.append(sql.text(text))
        if name:
            value = _present_text(table, _find(table, name, option))
            parts.append(value if complete else f"coalesce({value}, '')")
    return " || ".join(parts)


def parse_template(template: str, option: str) -> Iterator[tuple[str, str]]:
    """Yield the texts of a template, each with the name of the column that follows it."""
    try:
        pieces = list(Formatter().parse(template))
    except ValueError as error:
        raise BadInput(f"`{option}`: {template!r} is not a template: {error}") from None
    if not any(name for _, name, _, _ in pieces):
        raise BadInput(f"`{option}`: {template!r} names no column; write `{{column}}`")
    for text, name, form, conversion in pieces:
        # A column's name can contain these characters.
        more = f"!{conversion}" if conversion else ""
        yield text, f"{name or ''}{more}{f':{form}' if form else ''}"


def split_texts(table: SourceTable, options: LoadSettings) -> SourceTable:
    """Return the table with a row for each part of the texts of one column.

    The id of a part is that of the row, `#` and its number from 1; all parts share an attribute.
    """
    if not options.split:
        return table
    ((name, size),) = options.split.items()
    column = _find(table, name, "split")
    if any(field.name == options.distinct for field in table.fields):
        raise BadInput(
            f"{table.name} has a column `{options.distinct}`: name another attribute for all parts "
            "of a row, distinct='…'"
        )
    ids = id_fields(table, options)
    if not ids:
        raise BadInput("`split` makes ids such as `7#1`: pass the column of the ids, id='…'")
    return _store_parts(table, column, size, ids[0], options)


def _store_parts(
    table: SourceTable, column: TableColumn, size: int, id_field: TableColumn, options: LoadSettings
) -> SourceTable:
    function = f"split_text_{size}"
    encode = msgspec.json.encode
    table.db.define(function, map_texts(lambda text: encode(cut_text(text, size)).decode()))
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
        table.with_stored_rows(kept), fields=tuple(fields), hidden=table.hidden | {options.part_id},
        parts_sql=f"SELECT source_id, max(n) FROM {kept} WHERE source_id <> '' GROUP BY source_id",
    )  # fmt: skip


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

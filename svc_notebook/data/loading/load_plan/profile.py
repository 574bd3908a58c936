"""The profile of a table: row count, types, missing values and candidate ids, from one pass."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from svc_notebook.core.display import list_names
from svc_notebook.data.loading import sql
from svc_notebook.data.loading.database import ROW_COUNT, aggregate
from svc_notebook.data.loading.encoding.json_sql import JsonSql, as_text, cast_sql, column_sql
from svc_notebook.data.loading.encoding.json_values import JSON, json_types_sql, name_json_types
from svc_notebook.data.loading.encoding.record_sql import ColumnProfile, TextForm
from svc_notebook.data.loading.load_plan.column_guesses import (
    TextAmounts,
    add_number_words,
    find_amounts,
    find_named_forms,
    guess_columns,
    read_as_text,
)
from svc_notebook.data.loading.load_plan.mixed_columns import (
    MixedColumn,
    find_late_texts,
    find_mixed_columns,
)
from svc_notebook.data.loading.load_plan.type_inference import (
    Aggregates,
    ColumnGuess,
    ColumnTexts,
    count_if,
    count_present,
    decided_type,
    infer_column,
    null_count,
    read_sample,
    type_aggregates,
)
from svc_notebook.data.loading.options import Kind, LoadSettings
from svc_notebook.data.loading.table import WRITTEN, Advice, RowError, SourceTable, TableColumn
from svc_notebook.data.loading.text_cells.cell_kinds import MISSING_WORDS
from svc_notebook.errors import BadInput, did_you_mean

Forms = Mapping[TableColumn, TextForm]
Texts = Mapping[TableColumn, ColumnTexts]
MAX_ID_BYTES = 512
# The types of columns that later increments have, too: the values of `dtype` by what is sent.
EARLIER_TYPES: Mapping[str, Kind] = {
    "integer": "number", "number": "number", "boolean": "boolean",
}  # fmt: skip
# The columns that a note names.
MAX_NAMED_COLUMNS = 5
# Values of `dtype` whose values are JSON.
JSON_KINDS = ("json", "list", "levels")
# Names of columns that become the id unless the option `id` names one, by priority.
ID_NAMES = (
    "objectID", "objectId", "object_id", "id", "ID", "Id", "_id", "uuid", "sku", "SKU", "key",
)  # fmt: skip
# Ids that services refuse: the condition, and the reason in the rejected rows.
INVALID_IDS = (
    ("coalesce({}, '') = ''", "has no id"),
    (f"strlen({{}}) > {MAX_ID_BYTES}", f"has an id of more than {MAX_ID_BYTES} bytes"),
    ("contains({}, chr(0))", "has an id with a NUL character in it"),
)


@dataclass(frozen=True)
class Profile:
    """The result of one pass over a table."""

    rows: int
    columns: tuple[ColumnProfile, ...]
    # For each column that may be the id: the number of valid ids, and of distinct ones.
    ids: Mapping[str, tuple[int, int]]
    # The number of bytes of the largest row.
    largest_row_bytes: int
    skipped: tuple[RowError, ...]
    mixed: tuple[MixedColumn, ...] = ()


@dataclass(frozen=True)
class _FirstRows:
    """What the first rows of a table say about the columns to send."""

    chosen: Sequence[TableColumn]
    # The texts of columns whose types are inferred, and what they can be.
    sample: Texts
    guesses: Mapping[TableColumn, ColumnGuess]
    amounts: Mapping[TableColumn, TextAmounts]
    # The forms of columns that `dtype` makes numbers or dates.
    forms: Forms

    def certain(self, columns: Sequence[ColumnProfile]) -> list[ColumnProfile]:
        """Return the columns whose values are not different numbers by different readings."""
        doubtful = {field.name for field, guess in self.guesses.items() if guess.doubt}
        return [column for column in columns if column.name not in doubtful]


def profile_table(table: SourceTable, options: LoadSettings, late: Texts | None = None) -> Profile:
    """Read every row once; the first rows, read before, limit what has to be computed.

    Columns of which later rows have another form are read again in view of those, `late`.
    """
    first = _read_first_rows(table, options, late or {})
    counts = _aggregate_rows(table, first, options)
    columns = tuple(_infer_column(table, field, first, counts, options) for field in first.chosen)
    if misfits := _find_misfits(table, columns, first, counts[ROW_COUNT]):
        return profile_table(table, replace(options, dtype={**options.dtype, **misfits}), late)
    mixed = find_mixed_columns(table, first.certain(columns), first.sample)
    if late is None and (late := find_late_texts(table, mixed, first.sample, options)):
        return profile_table(table, options, late)
    notes = {column.column: column.note for column in mixed}
    return Profile(
        rows=counts[ROW_COUNT],
        columns=tuple(replace(c, note=notes.get(c.name, c.note)) for c in columns),
        ids={
            field.name: (counts[_id_count(field)], counts[_distinct_ids(field)])
            for field in id_fields(table, options)
        },
        largest_row_bytes=counts[_largest_row(table)] or 0,
        skipped=tuple(table.skipped()),
        mixed=mixed,
    )


def _read_first_rows(table: SourceTable, options: LoadSettings, late: Texts) -> _FirstRows:
    chosen = choose_columns(table, options)
    inferred = [f for f in chosen if f.type != WRITTEN and f.name not in options.dtype]
    inferred = inferred if table.untyped else []
    sample = add_number_words(
        {field: late.get(field, texts) for field, texts in read_sample(table, inferred).items()}
    )
    earlier = table.cursor.columns if table.cursor else {}
    guesses = {
        field: replace(guess, types=()) if earlier.get(field.name) == "text" else guess
        for field, guess in guess_columns(sample, table.separator, options).items()
    }
    amounts = find_amounts(table, chosen, options)
    return _FirstRows(chosen, sample, guesses, amounts, _find_forms(table, chosen, options))


def _aggregate_rows(table: SourceTable, first: _FirstRows, options: LoadSettings) -> Aggregates:
    """Return the aggregates of a pass; of a second one if rows do not have the likely types."""
    # Every pass reads every column: a scan skips, and reports, only broken rows of what it reads.
    every = [_largest_row(table)]
    expressions = [
        *map(null_count, table.fields),
        *_aggregates(table, first, options),
        *(
            count_if(sql.one_of(field.column, guess.words))
            for field, guess in first.guesses.items()
            if guess.words
        ),
        *(sql_text for amount in first.amounts.values() for sql_text in amount.aggregates()),
    ]
    counts = aggregate(table, expressions, table.scan, always=every)
    others = [
        expression
        for field, texts in first.sample.items()
        if _is_undecided(field, first, counts)
        for expression in type_aggregates(field, first.guesses[field].types, texts.number_words)
    ]
    return counts | aggregate(table, others, table.sql, always=every) if others else counts


def _infer_column(
    table: SourceTable, field: TableColumn, first: _FirstRows, counts: Aggregates,
    options: LoadSettings,
) -> ColumnProfile:  # fmt: skip
    if field in first.sample:
        return infer_column(field, first.guesses[field], counts, first.sample[field])
    amounts = first.amounts.get(field)
    if amounts is not None and amounts.are_all(counts):
        return amounts.profile(counts)
    typed = _typed_column(table, field, counts, first.forms, options)
    return typed if amounts is None else amounts.doubt(typed)


def _is_undecided(field: TableColumn, first: _FirstRows, counts: Aggregates) -> bool:
    types, sample = first.guesses[field].types[:1], first.sample[field]
    has_values = bool(types) and count_present(field, counts, sample) > 0
    return has_values and not decided_type(field, types, counts, sample)


def _find_misfits(
    table: SourceTable, columns: Sequence[ColumnProfile], first: _FirstRows, rows: int
) -> dict[str, Kind]:
    """Return the types of columns of text that earlier increments sent as numbers or booleans."""
    if not table.cursor:
        return {}
    earlier = table.cursor.columns
    filled = [c for c in columns if c.field in first.sample and c.missing < rows]
    return {
        column.name: EARLIER_TYPES[earlier[column.name]]
        for column in filled
        if column.sent_as == "text" and earlier.get(column.name) in EARLIER_TYPES
    }


def choose_columns(table: SourceTable, options: LoadSettings) -> list[TableColumn]:
    """Return the columns to send; raises `BadInput` for a name that the table does not have."""
    by_name = {field.name: field for field in table.fields}
    existing = [*by_name]
    named = options.named_columns() | ({options.id} if options.id else set())
    for name in named - set(existing) - set(absent_columns(table, options)):
        if name in table.first_row:
            raise BadInput(
                f"no header was found in {table.name}, but the first row holds `{name}`: "
                "header=True reads that row as the header"
            )
        raise BadInput(f"{table.name} has no column `{name}`{did_you_mean(name, existing)}")
    sent = [name for name in existing if name not in table.hidden]
    chosen = sent if options.columns is None else options.columns
    return [by_name[name] for name in chosen if name != "objectID"]


def absent_columns(table: SourceTable, options: LoadSettings) -> list[str]:
    """Return the columns that only the option `dtype` names and that no document has."""
    existing = {field.name for field in table.fields}
    others = replace(options, dtype={}).named_columns() | {options.id}
    return [name for name in options.dtype if table.ragged and name not in existing | others]


def id_fields(table: SourceTable, options: LoadSettings) -> list[TableColumn]:
    """Return the columns that may be the id, in order of priority."""
    names = (options.id,) if options.id else ID_NAMES
    by_name = {field.name: field for field in table.fields}
    return [by_name[name] for name in names if name in by_name]


def _aggregates(table: SourceTable, first: _FirstRows, options: LoadSettings) -> Iterator[str]:
    for field in id_fields(table, options):
        yield from (_id_count(field), _distinct_ids(field))
    for field in first.chosen:
        if field not in first.sample:
            json_sql = _typed_sql(table, field, first.forms, options)
            yield from (count_if(check.bad) for check in json_sql.checks)
            if json_sql.sent_as == JSON:
                yield json_types_sql(f"({json_sql.json})")
        elif likely := first.guesses[field].types[:1]:
            texts = first.sample[field]
            words = texts.number_words if texts.missing_words else ()
            yield from type_aggregates(field, likely, words)


def _typed_column(
    table: SourceTable, field: TableColumn, counts: Aggregates, forms: Forms, options: LoadSettings
) -> ColumnProfile:
    json_sql = _typed_sql(table, field, forms, options)
    counted = ((check, counts[count_if(check.bad)]) for check in json_sql.checks)
    failing = tuple((check, count) for check, count in counted if count)
    types = counts[json_types_sql(f"({json_sql.json})")] if json_sql.sent_as == JSON else None
    json_types = "" if types is None else name_json_types(types)
    return ColumnProfile(field, json_sql, counts[null_count(field)], failing, json_types=json_types)


def _find_forms(table: SourceTable, chosen: Sequence[TableColumn], options: LoadSettings) -> Forms:
    """Return the forms of columns that `dtype` makes numbers or dates."""
    may_hold = table.untyped or table.text_amounts
    texts = {
        read_as_text(field): field
        for field in chosen
        if field.name in options.dtype and (may_hold or field.type == "VARCHAR")
    }
    if not texts or (table.ragged and not may_hold):
        return {}
    forms = find_named_forms(read_sample(table, [*texts]), options)
    return {texts[field]: form for field, form in forms.items()}


def _typed_sql(
    table: SourceTable, field: TableColumn, forms: Forms, options: LoadSettings
) -> JsonSql:
    kind, form = options.dtype.get(field.name), forms.get(field)
    is_value = table.untyped and kind not in ("string", *JSON_KINDS)
    if kind is None or not (form or is_value):
        return column_sql(field, options)
    text = read_as_text(field) if form else field
    absent = f"WHEN {sql.one_of(text.column, MISSING_WORDS)} THEN NULL"
    if form:
        absent += f" WHEN {form.condition_sql(text.column)} THEN {form.text_sql(text.column)}"
    value = f"(CASE {absent} ELSE {text.column} END)"
    return cast_sql(kind, text._replace(column=value), options)


def _id_count(field: TableColumn) -> str:
    return f"count({_valid_id(field)})"


def _distinct_ids(field: TableColumn) -> str:
    return f"count(DISTINCT hash({_valid_id(field)}))"


def _valid_id(field: TableColumn) -> str:
    text = as_text(field)
    refused = " OR ".join(condition.format(text) for condition, _ in INVALID_IDS)
    return f"CASE WHEN NOT ({refused}) THEN {text} END"


def _largest_row(table: SourceTable) -> str:
    kinds = ("VARCHAR", "JSON", WRITTEN)
    long = (field for field in table.fields if field.type in kinds or {*"[("} & {*field.type})
    sizes = [f"coalesce(strlen({field.column}::VARCHAR), 0)" for field in long]
    return f"max({_sum(sizes)})"


def _sum(terms: Sequence[str]) -> str:
    """Add terms in a balanced tree: DuckDB's parser accepts at most a thousand levels."""
    if len(terms) < 3:
        return " + ".join(terms) or "0"
    half = len(terms) // 2
    return f"({_sum(terms[:half])} + {_sum(terms[half:])})"


def describe_readings(columns: Sequence[ColumnProfile], rows: int) -> Iterator[str]:
    """Yield the notes; columns that are read in the same way share one."""
    names_by_note: dict[str, list[str]] = defaultdict(list)
    for column in columns:
        reading = column.reading
        if reading is None:
            continue
        if reading.form:
            names_by_note[f"{rows - column.missing:,} {column.note}"].append(column.name)
        elif reading.kind == "string" and reading.missing:
            names_by_note[column.note].append(column.name)
        elif reading.doubt:
            yield Advice(f"`{column.name}` is {reading.doubt}")
    for note, names in names_by_note.items():
        others = len(names) - MAX_NAMED_COLUMNS
        more = f" and {others:,} more columns" if others > 0 else ""
        yield f"{list_names(names[:MAX_NAMED_COLUMNS])}{more}: {note}"

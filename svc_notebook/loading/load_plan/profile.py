"""The profile of a table, made in one pass: row count, content of each column, and problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.loading import sql
from svc_notebook.loading.database import Database
from svc_notebook.loading.encoding.json_sql import (
    INTEGER,
    LIKELY_NUMBER,
    NUMBER,
    Rendering,
    ValueCheck,
    as_text,
    render,
    render_as,
    render_text,
)
from svc_notebook.loading.load_plan.json_kinds import JSON, kinds_sql, name_kinds
from svc_notebook.loading.options import LoadSettings
from svc_notebook.loading.table import WRITTEN, RowError, SourceTable, TableColumn

# From a column's name to the SQL of a condition.
Condition = Callable[[str], str]
# Words that stand for a missing value where all other values are numbers or truth values.
MISSING = ("NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "-")


def _fits(pattern: str) -> Condition:
    """Match a pattern of numbers: what begins with a letter need not be matched."""
    return lambda column: (
        f"CASE WHEN {column} < ':' THEN regexp_full_match({column}, {sql.text(pattern)}) "
        "ELSE false END"
    )


def _is_boolean(column: str) -> str:
    return sql.one_of(f"lower({column})", ("true", "false"))


# What values of a kind have in common.
KINDS: Mapping[str, Condition] = {
    "boolean": _is_boolean,
    "integer": _fits(INTEGER),
    "number": _fits(NUMBER),
}
LIKELY = {**KINDS, "number": _fits(LIKELY_NUMBER)}
HINTS = {
    "leading zeros: kept as text": _fits(r"0\d+"),
    "more than 18 digits: kept as text": _fits(r"-?[1-9]\d{18,}"),
    "decimal commas: kept as text": _fits(r"-?\d{1,3}([. ]?\d{3})*,\d+"),
}
MAX_ID_BYTES = 512
IDS = ("objectID", "objectId", "object_id", "id", "ID", "Id", "_id", "uuid", "sku", "SKU", "key")
# Ids that services refuse: the condition, and how it is told.
BAD_IDS = (
    ("coalesce({}, '') = ''", "has no id"),
    (f"strlen({{}}) > {MAX_ID_BYTES}", f"has an id of more than {MAX_ID_BYTES} bytes"),
    ("contains({}, chr(0))", "has an id with a NUL character in it"),
)
# What most values of a column of text may be, and the share from which that is worth telling.
NEARLY = {"number": "numbers", "boolean": "true or false"}
NEARLY_ALL = 0.8
MAX_SHOWN_CHARACTERS = 100
SAMPLE_ROWS = 10_000
# Questions of one pass: a pattern takes half a megabyte in each thread.
MAX_EXPRESSIONS_PER_PASS = 256


@dataclass(frozen=True)
class ColumnProfile:
    """What is known of a column, and how it is written."""

    field: TableColumn
    rendering: Rendering
    missing: int = 0
    failing: tuple[tuple[ValueCheck, int], ...] = ()
    note: str = ""
    # The kinds of values found in a column of JSON.
    found: str = ""

    @property
    def sends(self) -> str:
        """What its values are sent as."""
        return self.found or self.rendering.sends

    @property
    def type(self) -> str:
        """Its type in the source; a column of JSON has none but the kinds of its values."""
        return self.sends if self.field.type in (JSON, WRITTEN) else self.field.type

    @property
    def name(self) -> str:
        """Its name on the wire."""
        return self.field.name

    @property
    def complete(self) -> bool:
        """Whether every row has a value of it."""
        return self.missing == 0 and self.rendering.whole


@dataclass(frozen=True)
class Nearly:
    """A column sent as text since a few of its values are not what the others are."""

    column: str
    # What the others are, and the `dtype` that rejects those which are not.
    what: str
    dtype: str
    held: int
    fitting: int
    # The first that does not fit.
    position: int
    value: str


@dataclass(frozen=True)
class Profile:
    """What one pass over a table found."""

    rows: int
    columns: tuple[ColumnProfile, ...]
    # For each column that may be the id: how many values, how many different ones.
    ids: Mapping[str, tuple[int, int]]
    longest: int
    skipped: tuple[RowError, ...]
    nearly: tuple[Nearly, ...] = ()


def study(table: SourceTable, options: LoadSettings) -> Profile:
    """Look at every row once, after a look at the first ones to know what to look for."""
    chosen = choose(table, options)
    open_fields = [field for field in chosen if _is_open(table, field, options)]
    first = ask(table.db, _content_questions(open_fields), _sample(table, len(open_fields)))
    possible = {field.name: _possible(field, first) for field in open_fields}
    likely = {name: kinds[:1] for name, kinds in possible.items()}
    # Every column is read each time: a scan skips, and reports, the broken rows it comes across.
    nulls = list(map(_null, table.fields))
    asked = _questions(table, chosen, likely, first, options)
    answers = ask(table.db, asked, table.scan, always=nulls)
    if odd := [f for f in open_fields if likely[f.name] and not _kind(f, likely[f.name], answers)]:
        # Rarely: what the first rows hold is not what all hold.
        answers |= ask(table.db, _second_questions(odd, possible), table.sql, always=nulls)
    columns = tuple(
        _open_column(field, possible[field.name], answers, first)
        if field.name in possible
        else _typed_column(table, field, answers, options)
        for field in chosen
    )
    nearly = _find_nearly(table, columns, possible, first)
    told = {each.column: f"{each.fitting:,} of {each.held:,} are {each.what}" for each in nearly}
    return Profile(
        rows=answers[ROWS],
        columns=tuple(replace(c, note=told.get(c.name, c.note)) for c in columns),
        nearly=nearly,
        ids={
            f.name: (answers[_held(f)], answers[_different(f)]) for f in id_fields(table, options)
        },
        longest=answers[_longest(table)] or 0,
        skipped=tuple(table.skipped()),
    )


def choose(table: SourceTable, options: LoadSettings) -> list[TableColumn]:
    """Take the columns asked for; raises `BadInput` for a name the table does not have."""
    known = [field.name for field in table.fields]
    named = options.named_columns() | ({options.id} if options.id else set())
    for name in named - set(known) - set(absent(table, options)):
        raise BadInput(f"{table.name} has no column `{name}`{did_you_mean(name, known)}")
    wanted = known if options.columns is None else options.columns
    by_name = {field.name: field for field in table.fields}
    return [by_name[name] for name in wanted if name != "objectID"]


def absent(table: SourceTable, options: LoadSettings) -> list[str]:
    """Name the columns whose type was said though no document has them."""
    known = {field.name for field in table.fields}
    others = replace(options, dtype={}).named_columns() | {options.id}
    return [name for name in options.dtype if table.ragged and name not in known | others]


def id_fields(table: SourceTable, options: LoadSettings) -> list[TableColumn]:
    """Name the columns that may be the id, the likeliest first."""
    wanted = (options.id,) if options.id else IDS
    by_name = {field.name: field for field in table.fields}
    return [by_name[name] for name in wanted if name in by_name]


ROWS = "count(*)"
Answers = Mapping[str, Any]


def _sample(table: SourceTable, columns: int) -> str:
    """Name the first rows; those of a wide table are kept, as they are asked for several times."""
    query = f"SELECT * FROM {table.sql} LIMIT {SAMPLE_ROWS}"
    wide = columns * len((*KINDS, *HINTS)) > MAX_EXPRESSIONS_PER_PASS
    return table.db.keep(query, "first_rows") if wide else f"({query})"


def ask(
    db: Database, questions: Iterable[str], source: str, always: Sequence[str] = ()
) -> dict[str, Any]:
    """Compute aggregates, a few hundred in one pass; each is its own key to its answer."""
    asked = list(dict.fromkeys(questions))
    answers: dict[str, Any] = {}
    for start in range(0, max(len(asked), 1), MAX_EXPRESSIONS_PER_PASS):
        portion = list(
            dict.fromkeys([ROWS, *always, *asked[start : start + MAX_EXPRESSIONS_PER_PASS]])
        )
        (found,) = db.rows(f"SELECT {', '.join(portion)} FROM {source}")
        answers |= zip(portion, found, strict=True)
    return answers


def _content_questions(fields: Sequence[TableColumn]) -> Iterator[str]:
    for field in fields:
        yield _null(field)
        yield _words(field)
        yield from (_matches(field, each) for each in (*LIKELY.values(), *HINTS.values()))


def _possible(field: TableColumn, first: Answers) -> tuple[str, ...]:
    held = first[ROWS] - first[_null(field)] - first[_words(field)]
    return tuple(kind for kind, is_one in LIKELY.items() if first[_matches(field, is_one)] == held)


def _questions(
    table: SourceTable,
    chosen: Sequence[TableColumn],
    likely: Mapping[str, tuple[str, ...]],
    first: Answers,
    options: LoadSettings,
) -> Iterator[str]:
    yield _longest(table)
    for field in id_fields(table, options):
        yield from (_held(field), _different(field))
    for field in chosen:
        if field.name not in likely:
            rendering = _rendering(table, field, options)
            yield from (_count(check.bad) for check in rendering.checks)
            if rendering.sends == JSON:
                yield kinds_sql(f"({rendering.json})")
        for kind in likely.get(field.name, ()):
            yield _matches(field, KINDS[kind])
            if first[_words(field)]:
                yield _words(field)


def _second_questions(
    fields: Sequence[TableColumn], possible: Mapping[str, tuple[str, ...]]
) -> Iterator[str]:
    for field in fields:
        yield _words(field)
        yield from (_matches(field, KINDS[kind]) for kind in possible[field.name])


def _kind(field: TableColumn, kinds: Sequence[str], answers: Answers) -> str | None:
    """Tell the first kind that all values are of."""
    held = answers[ROWS] - answers[_null(field)] - answers.get(_words(field), 0)
    asked = (kind for kind in kinds if _matches(field, KINDS[kind]) in answers)
    fits = (kind for kind in asked if answers[_matches(field, KINDS[kind])] == held)
    return next(fits, None) if held else "string"


def _open_column(
    field: TableColumn, possible: Sequence[str], answers: Answers, first: Answers
) -> ColumnProfile:
    """Settle the kind of a column of text by its content."""
    missing = answers[_null(field)]
    kind = _kind(field, possible, answers) or "string"
    if kind == "string":
        return ColumnProfile(field, render_text(field, kind, ""), missing, note=_hint(field, first))
    words = answers.get(_words(field), 0)
    rendering = render_text(field, kind, _is_missing(field) if words else "")
    note = f"{words:,} words such as NA taken as missing" if words else ""
    return ColumnProfile(field, rendering, missing + words, note=note)


def _find_nearly(
    table: SourceTable,
    columns: Sequence[ColumnProfile],
    possible: Mapping[str, tuple[str, ...]],
    first: Answers,
) -> tuple[Nearly, ...]:
    """Find the columns of text that only a few values keep from being numbers, or truth values."""
    texts = [c.field for c in columns if c.name in possible and c.rendering.sends == "text"]
    suspects = [(field, kind) for field in texts if (kind := _nearly_kind(field, first))]
    asked = [question for field, kind in suspects for question in _nearly_questions(field, kind)]
    if not asked:
        return ()
    answers = ask(table.db, asked, table.numbered)
    found = []
    for field, kind in suspects:
        fitting, bad, position, value = (answers[q] for q in _nearly_questions(field, kind))
        if bad and fitting >= NEARLY_ALL * (fitting + bad):
            found.append(
                Nearly(
                    field.name,
                    NEARLY[kind],
                    kind,
                    fitting + bad,
                    fitting,
                    position,
                    value[:MAX_SHOWN_CHARACTERS],
                )
            )
    return tuple(found)


def _nearly_kind(field: TableColumn, first: Answers) -> str:
    """Tell what most of the first values are."""
    held = first[ROWS] - first[_null(field)] - first[_words(field)]
    likely = (kind for kind in NEARLY if _count_likely(field, kind, first) >= NEARLY_ALL * held)
    return next(likely, "") if held else ""


def _count_likely(field: TableColumn, kind: str, first: Answers) -> int:
    return int(first[_matches(field, LIKELY[kind])])


def _nearly_questions(field: TableColumn, kind: str) -> tuple[str, str, str, str]:
    fits = KINDS[kind](field.column)
    bad = f"{field.column} IS NOT NULL AND NOT ({_is_missing(field)}) AND NOT ({fits})"
    first = f"arg_min({field.column}, pos) FILTER ({bad})"
    return _count(fits), _count(bad), f"min(pos) FILTER ({bad})", first


def _typed_column(
    table: SourceTable, field: TableColumn, answers: Answers, options: LoadSettings
) -> ColumnProfile:
    rendering = _rendering(table, field, options)
    counted = ((check, answers[_count(check.bad)]) for check in rendering.checks)
    failing = tuple((check, count) for check, count in counted if count)
    kinds = answers[kinds_sql(f"({rendering.json})")] if rendering.sends == JSON else None
    found = "" if kinds is None else name_kinds(kinds)
    return ColumnProfile(field, rendering, answers[_null(field)], failing, found=found)


def _is_open(table: SourceTable, field: TableColumn, options: LoadSettings) -> bool:
    return table.untyped and field.name not in options.dtype


def _rendering(table: SourceTable, field: TableColumn, options: LoadSettings) -> Rendering:
    kind = options.dtype.get(field.name)
    if table.untyped and kind not in (None, "string", "json"):
        held = f"(CASE WHEN {_is_missing(field)} THEN NULL ELSE {field.column} END)"
        return render_as(kind, field._replace(column=held), options)
    return render(field, options)


def _hint(field: TableColumn, first: Answers) -> str:
    held = first[ROWS] - first[_null(field)]
    counts = {hint: first[_matches(field, fits)] for hint, fits in HINTS.items()}
    return next((hint for hint, count in counts.items() if count > held / 2), "")


def _null(field: TableColumn) -> str:
    return f"count(*) - count({field.column})"


def _held(field: TableColumn) -> str:
    return f"count({_sendable_id(field)})"


def _different(field: TableColumn) -> str:
    return f"count(DISTINCT hash({_sendable_id(field)}))"


def _sendable_id(field: TableColumn) -> str:
    text = as_text(field)
    refused = " OR ".join(condition.format(text) for condition, _ in BAD_IDS)
    return f"CASE WHEN NOT ({refused}) THEN {text} END"


def _count(condition: str) -> str:
    return f"count(*) FILTER ({condition})"


def _matches(field: TableColumn, condition: Condition) -> str:
    return _count(condition(field.column))


def _words(field: TableColumn) -> str:
    return _count(_is_missing(field))


def _is_missing(field: TableColumn) -> str:
    return sql.one_of(field.column, MISSING)


def _longest(table: SourceTable) -> str:
    sizes = [f"coalesce(strlen({f.column}::VARCHAR), 0)" for f in table.fields if _is_long(f)]
    return f"max({_sum(sizes)})"


def _sum(parts: Sequence[str]) -> str:
    """Add up without nesting deep: DuckDB's parser goes a thousand levels down."""
    if len(parts) < 3:
        return " + ".join(parts) or "0"
    half = len(parts) // 2
    return f"({_sum(parts[:half])} + {_sum(parts[half:])})"


def _is_long(field: TableColumn) -> bool:
    return field.type in ("VARCHAR", "JSON", WRITTEN) or any(mark in field.type for mark in "[(")

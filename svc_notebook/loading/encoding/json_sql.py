"""SQL expressions by column type: they write values as JSON and find values that cannot be sent."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, NoReturn

from svc_notebook.errors import BadRecord
from svc_notebook.loading import sql
from svc_notebook.loading.encoding.python_encoder import MAX_DEPTH
from svc_notebook.loading.options import Kind, LoadSettings
from svc_notebook.loading.table import WRITTEN, TableColumn

# Text that is a JSON number as it stands: no leading zero, no plus, no more than 18 digits.
INTEGER = r"-?(0|[1-9]\d{0,17})"
WHOLE = r"-?(0|[1-9]\d{0,18})"  # one digit more may still be within 64 bits
FRACTION = r"(\.\d{1,300})?"
NUMBER = (
    rf"-?((0|[1-9]\d{{0,17}}){FRACTION}([eE](\+?(\d{{1,2}}|1\d\d|2[0-8]\d)|-\d{{1,3}}))?"
    rf"|\d{FRACTION}[eE]\+?(29\d|30[0-7]))"
)
# Quicker to make ready, and seldom wrong: an exponent or a fraction may be too long.
LIKELY_NUMBER = r"-?(0|[1-9]\d{0,17})(\.\d+)?([eE][+-]?\d{1,3})?"
# Where each value is looked at, whether it is within a float's range need not be seen by its shape.
ANY_NUMBER = rf"-?(0|[1-9]\d{{0,17}}){FRACTION}([eE][+-]?\d{{1,3}})?"
SPELLED_TRUE = ("true", "t", "yes", "y", "1")
SPELLED_FALSE = ("false", "f", "no", "n", "0")
LARGE_NUMBER = r"[:\[,]-?\d{20,}[,\]}]"
ODD_NUMBER = (
    r"(?i)(^|[:\[,])-?(nan|inf(inity)?|\d[\d.]*e\+?(30[89]|3[1-9]\d|[4-9]\d\d|\d{4,}))([,\]}]|$)"
)
# More than fifteen digits that count.
LONG_DECIMAL = r"[:\[,]-?[0.]*[1-9]\.?(\d\.?){14,}[1-9][0.]*[,\]}]"
PLAIN = r"VARCHAR|ENUM\(.*\)"
TEXTS = r'"(\\.|[^"\\])*"'
FLAT = r"[^\[\]{}]*"
SHALLOW = FLAT + rf"(?:[\[{{]{FLAT}" * MAX_DEPTH + rf"[\]}}]{FLAT})*" * MAX_DEPTH
TOO_LARGE = "is beyond 64 bits; send it as text: dtype={'%s': 'string'}"


class ValueCheck(NamedTuple):
    """A condition under which a value cannot be sent."""

    bad: str
    reason: str


@dataclass(frozen=True)
class Rendering:
    """How a column is written: the SQL of its JSON, null where there is none."""

    json: str
    sends: str
    checks: tuple[ValueCheck, ...] = ()
    # Whether every value that is there has JSON; NaN, for one, has none.
    whole: bool = False

    def but(self, *checks: ValueCheck) -> Rendering:
        """Add checks."""
        return replace(self, checks=self.checks + checks)


def render(field: TableColumn, options: LoadSettings) -> Rendering:
    """Say how a typed column is written; raises `BadRecord` where its type has no place in JSON."""
    wanted = options.dtype.get(field.name)
    if wanted:
        return render_as(wanted, field, options)
    return _render_typed(field, options)


def _render_typed(field: TableColumn, options: LoadSettings) -> Rendering:
    for pattern, rule in RULES:
        if re.fullmatch(pattern, field.type):
            return rule(field, options)
    return _nested(field, options)


def render_text(field: TableColumn, kind: str, missing: str) -> Rendering:
    """Say how a column of a delimited file is written, once its content has told its kind."""
    held = f"CASE WHEN {missing} THEN NULL ELSE {field.column} END" if missing else field.column
    if kind == "string":
        return Rendering(f"to_json({held})::VARCHAR", "text", whole=True)
    return Rendering(f"lower({held})" if kind == "boolean" else held, kind, whole=True)


def render_as(kind: Kind, field: TableColumn, options: LoadSettings) -> Rendering:
    """Say how a column is written as the kind that was asked for."""
    return CASTS[kind](field, as_text(field), options)


def as_text(field: TableColumn) -> str:
    """Say how a value is written as plain text; a whole float as the whole number it is."""
    column = field.column
    if field.type in ("DOUBLE", "FLOAT"):
        whole = f"{column} = trunc({column}) AND abs({column}) < 9e18"
        return (
            f"CASE WHEN NOT {_is_number(column)} THEN NULL "
            f"WHEN {whole} THEN {column}::BIGINT::VARCHAR ELSE {column}::VARCHAR END"
        )
    if field.type in ("JSON", WRITTEN):
        # A JSON text sheds its quotes; anything else is its own text.
        return f"json_extract_string({column}::JSON, '$')"
    written = f"{column}::VARCHAR"
    # DuckDB leaves out the zero before the point where the type has no digit there.
    bare = re.fullmatch(r"DECIMAL\((\d+),\1\)", field.type)
    return f"regexp_replace({written}, '^(-?)[.]', '\\10.')" if bare else written


def _is_number(column: str) -> str:
    # Parquet's statistics know of no NaN, and let DuckDB take `isnan` for false.
    return f"(isfinite({column}) OR isinf({column}))"


def _string(field: TableColumn, text: str, options: LoadSettings) -> Rendering:
    return Rendering(f"to_json({text})::VARCHAR", "text")


def _number(field: TableColumn, text: str, options: LoadSettings) -> Rendering:
    fits = f"regexp_full_match(trim({text}), {sql.text(ANY_NUMBER)})"
    held = f"coalesce(isfinite(try_cast(trim({text}) AS DOUBLE)), false)"
    bad = f"{text} IS NOT NULL AND NOT ({fits} AND {held})"
    return Rendering(f"trim({text})", "number", (ValueCheck(bad, "is not a number"),))


def _integer(field: TableColumn, text: str, options: LoadSettings) -> Rendering:
    fits = f"regexp_full_match(trim({text}), {sql.text(WHOLE)})"
    held = f"try_cast(trim({text}) AS BIGINT) IS NOT NULL"
    bad = f"{text} IS NOT NULL AND NOT ({fits} AND {held})"
    return Rendering(f"trim({text})", "integer", (ValueCheck(bad, "is not a whole number"),))


def _spelled_boolean(field: TableColumn, text: str, options: LoadSettings) -> Rendering:
    word = f"lower(trim({text}))"
    true, false = sql.one_of(word, SPELLED_TRUE), sql.one_of(word, SPELLED_FALSE)
    json = f"CASE WHEN {true} THEN 'true' WHEN {false} THEN 'false' END"
    bad = f"{text} IS NOT NULL AND NOT ({true} OR {false})"
    return Rendering(json, "boolean", (ValueCheck(bad, "is neither true nor false"),))


def _day(field: TableColumn, text: str, options: LoadSettings) -> Rendering:
    day = f"try_cast({text} AS DATE)"
    bad = f"{text} IS NOT NULL AND {day} IS NULL"
    return Rendering(_quoted(f"{day}::VARCHAR"), "date", (ValueCheck(bad, "is no date"),))


def _instant(
    write: Callable[[str], str], sends: str
) -> Callable[[TableColumn, str, LoadSettings], Rendering]:
    def cast(field: TableColumn, text: str, options: LoadSettings) -> Rendering:
        if options.timezone is None and not _has_zone(field):
            raise _zone_missing(field)
        # Text and naive times are read in the session's zone, which is the one asked for.
        instant = f"try_cast({text} AS TIMESTAMPTZ)"
        bad = f"{text} IS NOT NULL AND {instant} IS NULL"
        return Rendering(write(instant), sends, (ValueCheck(bad, "is no time"),))

    return cast


def _json(field: TableColumn, text: str, options: LoadSettings) -> Rendering:
    if not re.fullmatch(PLAIN, field.type):
        return _render_typed(field, options)  # what has a type is JSON as it is
    bad = f"{text} IS NOT NULL AND NOT json_valid({text})"
    json = f"nullif(try_cast({text} AS JSON)::VARCHAR, 'null')"
    return Rendering(json, "JSON", (ValueCheck(bad, "is not JSON"), _too_deep(text)))


def _iso(instant: str) -> str:
    return f"replace(({instant} AT TIME ZONE 'UTC')::VARCHAR, ' ', 'T') || 'Z'"


def _quoted(text: str) -> str:
    return f"'\"' || {text} || '\"'"


CASTS: dict[Kind, Callable[[TableColumn, str, LoadSettings], Rendering]] = {
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _spelled_boolean,
    "date": _day,
    "timestamp": _instant(lambda instant: _quoted(_iso(instant)), "time"),
    "epoch": _instant(
        lambda t: f"floor(epoch_us({t}) / 1000000)::BIGINT::VARCHAR", "epoch seconds"
    ),
    "epoch_ms": _instant(
        lambda t: f"floor(epoch_us({t}) / 1000)::BIGINT::VARCHAR", "epoch milliseconds"
    ),
    "json": _json,
}


def _verbatim(sends: str) -> Callable[[TableColumn, LoadSettings], Rendering]:
    return lambda field, _: Rendering(f"{field.column}::VARCHAR", sends, whole=True)


def _wide_integer(field: TableColumn, options: LoadSettings) -> Rendering:
    bad = f"{field.column} NOT BETWEEN -9223372036854775808 AND 9223372036854775807"
    check = ValueCheck(bad, TOO_LARGE % field.name)
    return Rendering(f"{field.column}::VARCHAR", "integer", (check,))


def _float(field: TableColumn, options: LoadSettings) -> Rendering:
    check = ValueCheck(f"isinf({field.column})", "is infinite; JSON has no infinity")
    json = f"CASE WHEN {_is_number(field.column)} THEN {field.column}::VARCHAR END"
    return Rendering(json, "number", (check,))


def _text(field: TableColumn, options: LoadSettings) -> Rendering:
    return Rendering(f"to_json({field.column}::VARCHAR)::VARCHAR", "text", whole=True)


def _decimal(field: TableColumn, options: LoadSettings) -> Rendering:
    back = f"try_cast({field.column}::DOUBLE AS {field.type})"
    bad = f"{field.column} IS NOT NULL AND {back} IS DISTINCT FROM {field.column}"
    reason = f"is a decimal no JSON number holds exactly; dtype={{'{field.name}': 'string'}} does"
    return Rendering(as_text(field), "number", (ValueCheck(bad, reason),))


def _date(field: TableColumn, options: LoadSettings) -> Rendering:
    written = _quoted(f"{field.column}::VARCHAR")
    return Rendering(written, "date").but(_out_of_calendar(field))


def _time(field: TableColumn, options: LoadSettings) -> Rendering:
    if not _has_zone(field) and options.timezone is None:
        raise _zone_missing(field)
    column = field.column
    if field.type == "TIMESTAMP_NS":
        # A zone is a matter of whole seconds; anything else would cut off nanoseconds.
        second = f"left({column}::VARCHAR, {len('2024-01-02 03:04:05')})::TIMESTAMP::TIMESTAMPTZ"
        utc = f"replace(({second} AT TIME ZONE 'UTC')::VARCHAR, ' ', 'T')"
        iso = f"{utc} || regexp_extract({column}::VARCHAR, '[.][0-9]+') || 'Z'"
    else:
        iso = _iso(column if _has_zone(field) else f"{column}::TIMESTAMP::TIMESTAMPTZ")
    return Rendering(_quoted(iso), "time").but(_out_of_calendar(field))


def _out_of_calendar(field: TableColumn) -> ValueCheck:
    day = f"{field.column}::DATE" if "ZONE" not in field.type else field.column
    bad = f"(isinf({day}) OR year({day}) NOT BETWEEN 1 AND 9999)"
    return ValueCheck(f"{field.column} IS NOT NULL AND {bad}", "is outside the years 1 to 9999")


def _has_zone(field: TableColumn) -> bool:
    return "TIME ZONE" in field.type or "TIMESTAMPTZ" in field.type


def _zone_missing(field: TableColumn) -> BadRecord:
    return BadRecord(
        f"column `{field.name}` holds times without a zone; say which: timezone='UTC', or send "
        f"them as text: dtype={{'{field.name}': 'string'}}",
        column=field.name,
    )


def _document(field: TableColumn, options: LoadSettings) -> Rendering:
    column = f"{field.column}::VARCHAR"
    large = f"regexp_full_match({column}, '-?\\d{{19,}}') AND try_cast({column} AS BIGINT) IS NULL"
    return Rendering(
        column,
        "JSON",
        (
            ValueCheck(f"{large} OR {_bare(column, LARGE_NUMBER)}", TOO_LARGE % field.name),
            # DuckDB reads these and writes them again, though they are no JSON.
            ValueCheck(
                _bare(column, ODD_NUMBER), "holds NaN or an infinity, which JSON has no word for"
            ),
            _too_deep(column),
        ),
    )


def _too_deep(json: str) -> ValueCheck:
    """Refuse what services refuse; what is short cannot be deep."""
    without = f"regexp_replace({json}, {sql.text(TEXTS)}, '', 'g')"
    bad = f"NOT regexp_full_match({without}, {sql.text(SHALLOW)})"
    return ValueCheck(
        f"CASE WHEN strlen({json}) > {2 * MAX_DEPTH} THEN {bad} ELSE false END",
        f"is nested more than {MAX_DEPTH} deep",
    )


def _bare(json: str, pattern: str) -> str:
    """Look for a pattern outside of the texts of a document."""
    found = f"regexp_matches({json}, {sql.text(pattern)})"
    without = f"regexp_replace({json}, {sql.text(TEXTS)}, '\"\"', 'g')"
    return f"{found} AND regexp_matches({without}, {sql.text(pattern)})"


def _refused(what: str, advice: str) -> Callable[[TableColumn, LoadSettings], Rendering]:
    def refuse(field: TableColumn, options: LoadSettings) -> Rendering:
        raise BadRecord(f"column `{field.name}` holds {what}; {advice}", column=field.name)

    return refuse


def refuse_spans(column: str) -> NoReturn:
    """Refuse a column of time spans, however they are stored."""
    raise BadRecord(
        f"column `{column}` holds time spans; send a number of seconds, for example "
        ".dt.total_seconds()",
        column=column,
    )


def _nested(field: TableColumn, options: LoadSettings) -> Rendering:
    found = re.search(r"TIMESTAMP|TIME\b|INTERVAL|BLOB|BIT\b|HUGEINT|UBIGINT|UNION", field.type)
    if found:
        _refused(
            f"{found[0]} inside {field.type}",
            "write its parts as columns in SQL, or send all as text: "
            f"dtype={{'{field.name}': 'string'}}",
        )(field, options)
    written = f"to_json({field.column})::VARCHAR"
    checks = [
        (r"DOUBLE|FLOAT|REAL", ODD_NUMBER, "holds NaN or an infinity inside"),
        (r"DECIMAL", LONG_DECIMAL, "holds a decimal no JSON number holds exactly"),
    ]
    return Rendering(
        written,
        "list" if field.type.endswith("]") else "object",
        tuple(
            ValueCheck(_bare(written, pattern), reason)
            for kinds, pattern, reason in checks
            if re.search(kinds, field.type)
        ),
    )


RULES: tuple[tuple[str, Callable[[TableColumn, LoadSettings], Rendering]], ...] = (
    ("BOOLEAN", _verbatim("boolean")),
    ("U?(TINY|SMALL)INT|U?INTEGER|BIGINT", _verbatim("integer")),
    ("UBIGINT|U?HUGEINT|BIGNUM|VARINT", _wide_integer),
    ("FLOAT|DOUBLE|REAL", _float),
    (r"DECIMAL\(\d+,\d+\)", _decimal),
    (r"VARCHAR|UUID|TIME|TIME_NS|ENUM\(.*\)|\"NULL\"|NULL", _text),
    ("JSON", _document),
    (WRITTEN, _verbatim("JSON")),
    ("DATE", _date),
    (r"TIMESTAMP(_S|_MS|_NS|TZ_NS)?|TIMESTAMP WITH TIME ZONE|TIMESTAMPTZ.*", _time),
    ("INTERVAL", lambda field, _: refuse_spans(field.name)),
    ("BLOB|BIT", _refused("bytes", "decode them, or encode them as base64 text")),
    (
        "TIME WITH TIME ZONE",
        _refused("times of day with a zone", "send them as text with dtype 'string'"),
    ),
)

"""SQL by column type: expressions that write values as JSON, and checks for unsendable values."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, NoReturn

from svc_notebook.data.loading import sql
from svc_notebook.data.loading.encoding.json_values import MAX_DEPTH
from svc_notebook.data.loading.options import Kind, LoadSettings
from svc_notebook.data.loading.table import WRITTEN, TableColumn
from svc_notebook.errors import BadRecord

# Text that is already a JSON number: no leading zero, no plus sign, at most 18 digits.
INTEGER = r"-?(0|[1-9]\d{0,17})"
WHOLE = r"-?(0|[1-9]\d{0,18})"  # a number of 19 digits can fit into 64 bits
FRACTION = r"(\.\d{1,300})?"
NUMBER = (
    rf"-?((0|[1-9]\d{{0,17}}){FRACTION}([eE](\+?(\d{{1,2}}|1\d\d|2[0-8]\d)|-\d{{1,3}}))?"
    rf"|\d{FRACTION}[eE]\+?(29\d|30[0-7]))"
)
# Compiles faster and is rarely wrong: an exponent or a fraction may be too long.
LIKELY_NUMBER = r"-?(0|[1-9]\d{0,17})(\.\d+)?([eE][+-]?\d{1,3})?"
# For checks that cast each value: the cast finds the values that exceed the range of a float.
ANY_NUMBER = rf"-?(0|[1-9]\d{{0,17}}){FRACTION}([eE][+-]?\d{{1,3}})?"
SPELLED_TRUE = ("true", "t", "yes", "y", "1")
SPELLED_FALSE = ("false", "f", "no", "n", "0")
LARGE_NUMBER = r"[:\[,]-?\d{20,}[,\]}]"
NON_FINITE_NUMBER = (
    r"(?i)(^|[:\[,])-?(nan|inf(inity)?|\d[\d.]*e\+?(30[89]|3[1-9]\d|[4-9]\d\d|\d{4,}))([,\]}]|$)"
)
# More than fifteen significant digits.
LONG_DECIMAL = r"[:\[,]-?[0.]*[1-9]\.?(\d\.?){14,}[1-9][0.]*[,\]}]"
PLAIN_TYPE = re.compile(r"VARCHAR|ENUM\(.*\)")
TEXTS = r'"(\\.|[^"\\])*"'
FLAT = r"[^\[\]{}]*"
SHALLOW = FLAT + rf"(?:[\[{{]{FLAT}" * MAX_DEPTH + rf"[\]}}]{FLAT})*" * MAX_DEPTH
OFFSET = r"(Z|UTC|[+-]\d\d(:?\d\d)?)$"
UTC = "UTC"  # its clocks never change
# The clocks of all zones change by these minutes.
CLOCK_CHANGE_MINUTES = (60, 30)
CLOCK_CHANGE = (
    "is a time that its zone skips or repeats when clocks change; add its offset, or pass "
    "timezone='UTC'"
)
# The attribute of places, and the range of their coordinates in degrees.
GEO, MAX_LAT, MAX_LNG = "_geoloc", 90, 180
OFF_GLOBE = "has a latitude beyond 90 or a longitude beyond 180 degrees; check their order"
TOO_LARGE = "does not fit in 64 bits; send it as text: dtype={'%s': 'string'}"


class ValueCheck(NamedTuple):
    """A condition under which a value cannot be sent."""

    bad: str
    reason: str


@dataclass(frozen=True)
class JsonSql:
    """The SQL that writes a column's values as JSON, NULL for missing values, and its checks."""

    json: str
    sent_as: str
    checks: tuple[ValueCheck, ...] = ()
    # Whether every non-null value has JSON; NaN, for example, has none.
    complete: bool = False

    def with_checks(self, *checks: ValueCheck) -> JsonSql:
        """Return a copy with more checks."""
        return replace(self, checks=self.checks + checks)


def column_sql(field: TableColumn, options: LoadSettings) -> JsonSql:
    """Return the SQL of a typed column; raises `BadRecord` if JSON cannot represent its type."""
    kind = options.dtype.get(field.name)
    written = cast_sql(kind, field, options) if kind else _typed_sql(field, options)
    if field.name != GEO:
        return written
    return written.with_checks(_off_globe(written.json), _no_coordinates(written.json))


def _typed_sql(field: TableColumn, options: LoadSettings) -> JsonSql:
    for pattern, rule in RULES:
        if re.fullmatch(pattern, field.type):
            return rule(field, options)
    return _nested(field, options)


def cast_sql(kind: Kind, field: TableColumn, options: LoadSettings) -> JsonSql:
    """Return the SQL of a column that the option `dtype` converts to a type."""
    return CASTS[kind](field, as_text(field), options)


def as_text(field: TableColumn) -> str:
    """Return the SQL of a value as plain text; a whole float is written as a whole number."""
    column = field.column
    if field.type in ("DOUBLE", "FLOAT"):
        whole = f"{column} = trunc({column}) AND abs({column}) < 9e18"
        return (
            f"CASE WHEN NOT {_is_number(column)} THEN NULL "
            f"WHEN {whole} THEN {column}::BIGINT::VARCHAR ELSE {column}::VARCHAR END"
        )
    if field.type in ("JSON", WRITTEN):
        # A whole float loses its decimals; a text loses its quotes, and so never ends with `.0`.
        number = f"{column}::VARCHAR"
        return (
            f"CASE WHEN {number} = '-0.0' THEN '0' "
            f"WHEN ends_with({number}, '.0') THEN left({number}, -2) "
            f"ELSE json_extract_string({column}::JSON, '$') END"
        )
    written = f"{column}::VARCHAR"
    # DuckDB omits the zero before the point if the type has no digit there.
    bare = re.fullmatch(r"DECIMAL\((\d+),\1\)", field.type)
    return f"regexp_replace({written}, '^(-?)[.]', '\\10.')" if bare else written


def _is_number(column: str) -> str:
    # Parquet's statistics do not cover NaN, so DuckDB may assume that `isnan` is false.
    return f"(isfinite({column}) OR isinf({column}))"


def _unless(fits: str, text: str, reason: str) -> ValueCheck:
    """Return the check of a text, if there is one, that does not fulfil a condition."""
    return ValueCheck(f"{text} IS NOT NULL AND NOT ({fits})", reason)


def _number(field: TableColumn, text: str, options: LoadSettings) -> JsonSql:
    fits = f"regexp_full_match(trim({text}), {sql.text(ANY_NUMBER)})"
    in_range = f"coalesce(isfinite(try_cast(trim({text}) AS DOUBLE)), false)"
    check = _unless(f"{fits} AND {in_range}", text, "is not a number")
    return JsonSql(f"trim({text})", "number", (check,))


def _integer(field: TableColumn, text: str, options: LoadSettings) -> JsonSql:
    fits = f"regexp_full_match(trim({text}), {sql.text(WHOLE)})"
    in_range = f"try_cast(trim({text}) AS BIGINT) IS NOT NULL"
    check = _unless(f"{fits} AND {in_range}", text, "is not a whole number")
    return JsonSql(f"trim({text})", "integer", (check,))


def _spelled_boolean(field: TableColumn, text: str, options: LoadSettings) -> JsonSql:
    word = f"lower(trim({text}))"
    true, false = sql.one_of(word, SPELLED_TRUE), sql.one_of(word, SPELLED_FALSE)
    json = f"CASE WHEN {true} THEN 'true' WHEN {false} THEN 'false' END"
    check = _unless(f"{true} OR {false}", text, "is neither true nor false")
    return JsonSql(json, "boolean", (check,))


def _day(field: TableColumn, text: str, options: LoadSettings) -> JsonSql:
    day = f"try_cast({text} AS DATE)"
    check = _unless(f"{day} IS NOT NULL", text, "is not a date")
    return JsonSql(_quoted(f"{day}::VARCHAR"), "date", (check,))


def _instant(
    write: Callable[[str], str], sends: str
) -> Callable[[TableColumn, str, LoadSettings], JsonSql]:
    def cast(field: TableColumn, text: str, options: LoadSettings) -> JsonSql:
        if options.timezone is None and not _has_zone(field):
            raise _zone_missing(field)
        # Text and naive times are read in the session's time zone, set by the option `timezone`.
        instant = f"try_cast({text} AS TIMESTAMPTZ)"
        bad = f"{text} IS NOT NULL AND {instant} IS NULL"
        checks = [ValueCheck(bad, "is not a time")]
        if not _has_zone(field) and options.timezone != UTC:
            # A text with an offset names one moment.
            local = (
                f"CASE WHEN NOT regexp_matches({text}, {sql.text(OFFSET)}) "
                f"THEN try_cast({text} AS TIMESTAMP) END"
            )
            checks.append(_shifted(instant, f"({local})"))
        return JsonSql(write(instant), sends, tuple(checks))

    return cast


def _json(field: TableColumn, text: str, options: LoadSettings) -> JsonSql:
    if not PLAIN_TYPE.fullmatch(field.type):
        return _typed_sql(field, options)  # typed values are written as JSON without a cast
    bad = f"{text} IS NOT NULL AND NOT json_valid({text})"
    json = f"nullif(try_cast({text} AS JSON)::VARCHAR, 'null')"
    return JsonSql(json, "JSON", (ValueCheck(bad, "is not JSON"), _too_deep(text)))


def _iso(instant: str) -> str:
    return f"replace(({instant} AT TIME ZONE 'UTC')::VARCHAR, ' ', 'T') || 'Z'"


def _quoted(text: str) -> str:
    return f"'\"' || {text} || '\"'"


CASTS: dict[Kind, Callable[[TableColumn, str, LoadSettings], JsonSql]] = {
    "string": lambda _, text, __: JsonSql(f"to_json({text})::VARCHAR", "text"),
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
    # Lists and levels are made of texts before (`derived_columns`); other values are sent as JSON.
    "list": _json,
    "levels": _json,
}


def _verbatim(sends: str) -> Callable[[TableColumn, LoadSettings], JsonSql]:
    return lambda field, _: JsonSql(f"{field.column}::VARCHAR", sends, complete=True)


def _wide_integer(field: TableColumn, options: LoadSettings) -> JsonSql:
    bad = f"{field.column} NOT BETWEEN -9223372036854775808 AND 9223372036854775807"
    check = ValueCheck(bad, TOO_LARGE % field.name)
    return JsonSql(f"{field.column}::VARCHAR", "integer", (check,))


def _float(field: TableColumn, options: LoadSettings) -> JsonSql:
    check = ValueCheck(f"isinf({field.column})", "is infinite; JSON has no infinity")
    json = f"CASE WHEN {_is_number(field.column)} THEN {field.column}::VARCHAR END"
    return JsonSql(json, "number", (check,))


def _text(field: TableColumn, options: LoadSettings) -> JsonSql:
    return JsonSql(f"to_json({field.column}::VARCHAR)::VARCHAR", "text", complete=True)


def _decimal(field: TableColumn, options: LoadSettings) -> JsonSql:
    back = f"try_cast({field.column}::DOUBLE AS {field.type})"
    bad = f"{field.column} IS NOT NULL AND {back} IS DISTINCT FROM {field.column}"
    reason = (
        "is a decimal that no JSON number represents exactly; send it as text: "
        f"dtype={{'{field.name}': 'string'}}"
    )
    return JsonSql(as_text(field), "number", (ValueCheck(bad, reason),))


def _date(field: TableColumn, options: LoadSettings) -> JsonSql:
    written = _quoted(f"{field.column}::VARCHAR")
    return JsonSql(written, "date").with_checks(_out_of_calendar(field))


def _time(field: TableColumn, options: LoadSettings) -> JsonSql:
    if not _has_zone(field) and options.timezone is None:
        raise _zone_missing(field)
    column = field.column
    if field.type == "TIMESTAMP_NS":
        # A zone shifts by whole seconds; converting the whole value would lose nanoseconds.
        second = f"left({column}::VARCHAR, {len('2024-01-02 03:04:05')})::TIMESTAMP::TIMESTAMPTZ"
        utc = f"replace(({second} AT TIME ZONE 'UTC')::VARCHAR, ' ', 'T')"
        iso = f"{utc} || regexp_extract({column}::VARCHAR, '[.][0-9]+') || 'Z'"
    else:
        iso = _iso(column if _has_zone(field) else f"{column}::TIMESTAMP::TIMESTAMPTZ")
    written = JsonSql(_quoted(iso), "time").with_checks(_out_of_calendar(field))
    if _has_zone(field) or options.timezone == UTC:
        return written
    local = f"date_trunc('second', {column}::TIMESTAMP)"
    return written.with_checks(_shifted(f"{local}::TIMESTAMPTZ", local))


def _out_of_calendar(field: TableColumn) -> ValueCheck:
    day = f"{field.column}::DATE" if "ZONE" not in field.type else field.column
    bad = f"(isinf({day}) OR year({day}) NOT BETWEEN 1 AND 9999)"
    return ValueCheck(f"{field.column} IS NOT NULL AND {bad}", "is outside the years 1 to 9999")


def _off_globe(json: str) -> ValueCheck:
    """Check the coordinates of places, one or a list of them."""

    def is_beyond(member: str, maximum: int) -> str:
        coordinate = f"try_cast(json_extract_string(({json})::JSON, '$.{member}') AS DOUBLE)"
        several = f"json_extract_string(({json})::JSON, '$[*].{member}')"
        largest = f"list_max(list_transform({several}, lambda v: abs(try_cast(v AS DOUBLE))))"
        return f"greatest(coalesce(abs({coordinate}), 0), coalesce({largest}, 0)) > {maximum}"

    bad = f"{json} IS NOT NULL AND ({is_beyond('lat', MAX_LAT)} OR {is_beyond('lng', MAX_LNG)})"
    return ValueCheck(bad, OFF_GLOBE)


def _no_coordinates(json: str) -> ValueCheck:
    """Check that the coordinates of a place are numbers."""
    texts = [f"json_extract_string(({json})::JSON, '$.{member}')" for member in ("lat", "lng")]
    bad = " OR ".join(f"({text} IS NOT NULL AND try_cast({text} AS DOUBLE) IS NULL)"
                      for text in texts)  # fmt: skip
    return ValueCheck(bad, "has a latitude or longitude that is not a number")


def _shifted(instant: str, local: str) -> ValueCheck:
    """Check local times that a zone skips or repeats when its clocks change."""
    changes = [f"to_minutes({minutes})" for minutes in CLOCK_CHANGE_MINUTES]
    twice = [
        f"({instant} {sign} {change})::TIMESTAMP = {local}"
        for change in changes
        for sign in ("+", "-")
    ]
    bad = f"{local} IS NOT NULL AND ({instant}::TIMESTAMP <> {local} OR {' OR '.join(twice)})"
    return ValueCheck(bad, CLOCK_CHANGE)


def _has_zone(field: TableColumn) -> bool:
    return "TIME ZONE" in field.type or "TIMESTAMPTZ" in field.type


def _zone_missing(field: TableColumn) -> BadRecord:
    return BadRecord(
        f"column `{field.name}` has times without a time zone; pass their zone: timezone='UTC', "
        f"or send them as text: dtype={{'{field.name}': 'string'}}",
        column=field.name,
    )


def _document(field: TableColumn, options: LoadSettings) -> JsonSql:
    # Python's encoder writes a missing number as NaN.
    column = f"nullif({field.column}::VARCHAR, 'NaN')"
    large = f"regexp_full_match({column}, '-?\\d{{19,}}') AND try_cast({column} AS BIGINT) IS NULL"
    return JsonSql(
        column,
        "JSON",
        (
            ValueCheck(f"{large} OR {_bare(column, LARGE_NUMBER)}", TOO_LARGE % field.name),
            # DuckDB accepts and writes these although they are not valid JSON.
            ValueCheck(
                _bare(column, NON_FINITE_NUMBER),
                "contains NaN or an infinity, which JSON cannot represent",
            ),
            _too_deep(column),
        ),
    )


def _too_deep(json: str) -> ValueCheck:
    """Return the check for the maximum depth of services; short values are not checked."""
    without = f"regexp_replace({json}, {sql.text(TEXTS)}, '', 'g')"
    bad = f"NOT regexp_full_match({without}, {sql.text(SHALLOW)})"
    return ValueCheck(
        f"CASE WHEN strlen({json}) > {2 * MAX_DEPTH} THEN {bad} ELSE false END",
        f"is nested more than {MAX_DEPTH} deep",
    )


def _bare(json: str, pattern: str) -> str:
    """Return the condition that a pattern occurs in a document outside of its texts."""
    condition = f"regexp_matches({json}, {sql.text(pattern)})"
    without = f"regexp_replace({json}, {sql.text(TEXTS)}, '\"\"', 'g')"
    return f"{condition} AND regexp_matches({without}, {sql.text(pattern)})"


def _unsupported(what: str, advice: str) -> Callable[[TableColumn, LoadSettings], JsonSql]:
    def refuse(field: TableColumn, options: LoadSettings) -> JsonSql:
        raise BadRecord(f"column `{field.name}` has {what}; {advice}", column=field.name)

    return refuse


def refuse_durations(column: str) -> NoReturn:
    """Raise `BadRecord` for a column of durations."""
    raise BadRecord(
        f"column `{column}` has durations; send a number of seconds, for example "
        ".dt.total_seconds()",
        column=column,
    )


def _nested(field: TableColumn, options: LoadSettings) -> JsonSql:
    match = re.search(r"TIMESTAMP|TIME\b|INTERVAL|BLOB|BIT\b|HUGEINT|UBIGINT|UNION", field.type)
    if match:
        _unsupported(
            f"{match[0]} inside {field.type}",
            "extract its parts as columns in SQL, or send the values as text: "
            f"dtype={{'{field.name}': 'string'}}",
        )(field, options)
    written = f"to_json({field.column})::VARCHAR"
    checks = [
        (r"DOUBLE|FLOAT|REAL", NON_FINITE_NUMBER, "contains NaN or an infinity"),
        (r"DECIMAL", LONG_DECIMAL, "contains a decimal that no JSON number represents exactly"),
    ]
    return JsonSql(
        written,
        "list" if field.type.endswith("]") else "object",
        tuple(
            ValueCheck(_bare(written, pattern), reason)
            for kinds, pattern, reason in checks
            if re.search(kinds, field.type)
        ),
    )


RULES: tuple[tuple[str, Callable[[TableColumn, LoadSettings], JsonSql]], ...] = (
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
    ("INTERVAL", lambda field, _: refuse_durations(field.name)),
    ("BLOB|BIT", _unsupported("bytes", "decode them, or encode them as base64 text")),
    (
        "TIME WITH TIME ZONE",
        _unsupported("times of day with a time zone", "send them as text with dtype 'string'"),
    ),
)

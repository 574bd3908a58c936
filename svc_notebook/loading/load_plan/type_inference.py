"""Type inference for columns of text: which type all values of a delimited file's column have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import ceil
from typing import Any

from svc_notebook.loading import sql
from svc_notebook.loading.aggregates import aggregate
from svc_notebook.loading.database import ROW_COUNT
from svc_notebook.loading.encoding.json_sql import INTEGER, LIKELY_NUMBER, NUMBER, text_column_sql
from svc_notebook.loading.encoding.record_sql import ColumnProfile
from svc_notebook.loading.table import SourceTable, TableColumn

# The values of aggregates, by their SQL.
Aggregates = Mapping[str, Any]
# Words for a missing value in a column whose other values are numbers or booleans.
MISSING_WORDS = ("NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "-")
is_missing_text = frozenset(MISSING_WORDS).__contains__

BOOLEANS = ("true", "false")
# The same in upper and lower case, mixed in every way.
_SPELLED_BOOLEANS = frozenset(
    "".join(letters)
    for word in BOOLEANS
    for letters in product(*((letter, letter.upper()) for letter in word))
)
# The character after the last digit: a text from it on is not a number.
END_OF_DIGITS = ":"


@dataclass(frozen=True)
class TextCondition:
    """A condition on a text: its SQL for a column, and the same in Python for a value."""

    sql_of: Callable[[str], str]
    # Returns a true value, or a false one.
    holds: Callable[[str], object]
    # Whether only texts before `END_OF_DIGITS` can fulfil it.
    begins_early: bool = False

    def __call__(self, column: str) -> str:
        """Return the SQL of the condition for a column."""
        return self.sql_of(column)


def _fits(pattern: str) -> TextCondition:
    """Match a pattern of numbers; values that begin with a letter are not compared with it."""
    matches = re.compile(pattern, re.ASCII).fullmatch
    return TextCondition(
        lambda column: (
            f"CASE WHEN {column} < '{END_OF_DIGITS}' "
            f"THEN regexp_full_match({column}, {sql.text(pattern)}) ELSE false END"
        ),
        matches,
        begins_early=True,
    )


_is_boolean = TextCondition(
    lambda column: sql.one_of(f"lower({column})", BOOLEANS), _SPELLED_BOOLEANS.__contains__
)


# The condition that every value of a type fulfils; the first type in this order is chosen.
TYPES: Mapping[str, TextCondition] = {
    "boolean": _is_boolean,
    "integer": _fits(INTEGER),
    "number": _fits(NUMBER),
}
LIKELY_TYPES = {**TYPES, "number": _fits(LIKELY_NUMBER)}
HINTS = {
    "leading zeros: kept as text": _fits(r"0\d+"),
    "more than 18 digits: kept as text": _fits(r"-?[1-9]\d{18,}"),
    "decimal commas: kept as text": _fits(r"-?\d{1,3}([. ]?\d{3})*,\d+"),
    "no digit before the point: kept as text": _fits(r"-?\.\d+"),
    "dates, as text; numbers with dtype={{'{0}': 'epoch'}}, timezone='UTC'": _fits(
        r"\d{4}-\d\d-\d\d"
    ),
    "times, as text; numbers with dtype={{'{0}': 'epoch'}}, timezone='UTC'": _fits(
        r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?( ?(Z|[+-]\d\d(:?\d\d)?))?"
    ),
}
# The types that a note proposes for a column of text, if at least this share of its values fits.
PROPOSED_TYPES = {"number": "numbers", "boolean": "true or false"}
MIN_FITTING_SHARE = 0.8
MAX_SHOWN_CHARACTERS = 100
# The first rows, by which types are guessed before all rows are checked.
MIN_SAMPLE_ROWS, MAX_SAMPLE_ROWS, MAX_SAMPLE_CELLS = 100, 2_000, 100_000
# Every number and date is shorter.
MAX_SAMPLE_CHARACTERS = 400
# Aggregates that are kept as SQL: those of a few hundred columns.
MAX_CACHED_SQL = 4096


class ColumnTexts:
    """The texts of a column of a few rows, or of the first rows of a table."""

    def __init__(self, texts: Sequence[str | None]) -> None:
        self._texts = [text for text in texts if text is not None]
        self._early = [text for text in self._texts if text < END_OF_DIGITS]
        self.nulls = len(texts) - len(self._texts)
        # A filter calls what C implements without a function of Python.
        self.missing_words = len(list(filter(is_missing_text, self._texts)))

    @property
    def values(self) -> int:
        """The number of texts that are neither missing nor a word such as NA."""
        return len(self._texts) - self.missing_words

    def fits(self, condition: TextCondition, least: int) -> bool:
        """Return whether at least so many texts fulfil a condition."""
        texts = self._early if condition.begins_early else self._texts
        others = len(texts) - least
        # Too few fulfil it if none of the first `others + 1` does: most columns need no more tests.
        if least > 0 and not any(map(condition.holds, texts[: max(others + 1, 0)])):
            return False
        return len(list(filter(condition.holds, texts))) >= least

    def all_fit(self, condition: TextCondition) -> bool:
        """Return whether all values fulfil a condition."""
        return self.fits(condition, self.values)

    @property
    def hint(self) -> str:
        """What more than half of the texts look like, for a column that is sent as text."""
        least = len(self._texts) // 2 + 1
        return next((hint for hint, fits in HINTS.items() if self.fits(fits, least)), "")


@dataclass(frozen=True)
class MixedColumn:
    """A column that is sent as text because a few of its values do not fit the others' type."""

    column: str
    # The type of the other values in words, and the `dtype` that rejects the misfits.
    what: str
    dtype: str
    values: int
    fitting: int
    # The first value that does not fit.
    position: int
    value: str

    @property
    def note(self) -> str:
        """The note of the column in a plan."""
        return f"{self.fitting:,} of {self.values:,} are {self.what}"


def read_sample(
    table: SourceTable, fields: Sequence[TableColumn]
) -> dict[TableColumn, ColumnTexts]:
    """Return the texts of the first rows, which narrow down the types of columns.

    They are compared in Python: DuckDB compiles each condition for each column, which takes longer.
    """
    rows = max(MIN_SAMPLE_ROWS, min(MAX_SAMPLE_ROWS, MAX_SAMPLE_CELLS // max(len(fields), 1)))
    texts = [f"left({field.column}, {MAX_SAMPLE_CHARACTERS})" for field in fields]
    found = table.db.rows(f"SELECT {', '.join(['1', *texts])} FROM {table.sql} LIMIT {rows}")
    _, *columns = list(zip(*found, strict=True)) or [()] * (len(fields) + 1)
    return dict(zip(fields, map(ColumnTexts, columns), strict=True))


def possible_types(sample: ColumnTexts) -> tuple[str, ...]:
    """Return the types that all values of the sample have."""
    return tuple(name for name, fits in LIKELY_TYPES.items() if sample.all_fit(fits))


def type_aggregates(
    field: TableColumn, types: Sequence[str], *, missing_words: bool
) -> Iterator[str]:
    """Yield the aggregates over all rows that decide between types."""
    for name in types:
        yield _match_count(field, TYPES[name])
    if missing_words:
        yield _missing_word_count(field)


def decided_type(field: TableColumn, types: Sequence[str], found: Aggregates) -> str | None:
    """Return the first type that all values have; `string` if there is no value."""
    present = _present(field, found)
    counted = (name for name in types if _match_count(field, TYPES[name]) in found)
    fitting = (name for name in counted if found[_match_count(field, TYPES[name])] == present)
    return next(fitting, None) if present else "string"


def infer_column(
    field: TableColumn, types: Sequence[str], found: Aggregates, sample: ColumnTexts
) -> ColumnProfile:
    """Return the profile of a column of text, with the type that its content has."""
    kind = decided_type(field, types, found) or "string"
    words = found.get(_missing_word_count(field), 0)
    return _make_profile(field, kind, found[null_count(field)], words, sample)


def infer_few_texts(field: TableColumn, texts: ColumnTexts) -> ColumnProfile:
    """Return the profile of a column of text of which all texts are known."""
    fitting = (name for name, condition in TYPES.items() if texts.all_fit(condition))
    kind = next(fitting, "string") if texts.values else "string"
    return _make_profile(field, kind, texts.nulls, texts.missing_words, texts)


def _make_profile(
    field: TableColumn, kind: str, missing: int, words: int, texts: ColumnTexts
) -> ColumnProfile:
    if kind == "string":
        own = text_column_sql(field, kind, "")
        return ColumnProfile(field, own, missing, note=texts.hint.format(field.name))
    own = text_column_sql(field, kind, is_missing_word(field) if words else "")
    note = f"{words:,} words such as NA are missing values" if words else ""
    return ColumnProfile(field, own, missing + words, note=note)


def find_mixed_columns(
    table: SourceTable,
    columns: Sequence[ColumnProfile],
    sample: Mapping[TableColumn, ColumnTexts],
) -> tuple[MixedColumn, ...]:
    """Find columns of text that only a few values prevent from being numbers or booleans."""
    texts = [c.field for c in columns if c.field in sample and c.sql.sent_as == "text"]
    suspects = [(field, kind) for field in texts if (kind := frequent_type(sample[field]))]
    wanted = [each for field, kind in suspects for each in _misfit_aggregates(field, kind)]
    if not wanted:
        return ()
    found = aggregate(table, wanted, table.numbered)
    mixed = []
    for field, kind in suspects:
        values = (found[each] for each in _misfit_aggregates(field, kind))
        fitting, misfits, position, value = values
        if misfits and fitting >= MIN_FITTING_SHARE * (fitting + misfits):
            mixed.append(
                MixedColumn(
                    column=field.name,
                    what=PROPOSED_TYPES[kind],
                    dtype=kind,
                    values=fitting + misfits,
                    fitting=fitting,
                    position=position,
                    value=value[:MAX_SHOWN_CHARACTERS],
                )
            )
    return tuple(mixed)


def frequent_type(sample: ColumnTexts) -> str:
    """Return the type that most values of the sample have."""
    least = ceil(MIN_FITTING_SHARE * sample.values)
    likely = (name for name in PROPOSED_TYPES if sample.fits(LIKELY_TYPES[name], least))
    return next(likely, "") if sample.values else ""


def _misfit_aggregates(field: TableColumn, kind: str) -> tuple[str, str, str, str]:
    fits = TYPES[kind](field.column)
    bad = f"{field.column} IS NOT NULL AND NOT ({is_missing_word(field)}) AND NOT ({fits})"
    first = f"arg_min({field.column}, pos) FILTER ({bad})"
    return count_if(fits), count_if(bad), f"min(pos) FILTER ({bad})", first


def _present(field: TableColumn, found: Aggregates) -> int:
    words = found.get(_missing_word_count(field), 0)
    return int(found[ROW_COUNT] - found[null_count(field)] - words)


def null_count(field: TableColumn) -> str:
    """Return the SQL of the number of rows without a value."""
    return f"count(*) - count({field.column})"


def count_if(condition: str) -> str:
    """Return the SQL of the number of rows that fulfil a condition."""
    return f"count(*) FILTER ({condition})"


def is_missing_word(field: TableColumn) -> str:
    """Return the condition that a value is a word such as NA."""
    return sql.one_of(field.column, MISSING_WORDS)


@lru_cache(MAX_CACHED_SQL)
def _match_count(field: TableColumn, condition: TextCondition) -> str:
    return count_if(condition(field.column))


@lru_cache(MAX_CACHED_SQL)
def _missing_word_count(field: TableColumn) -> str:
    return count_if(is_missing_word(field))

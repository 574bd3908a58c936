"""Type inference for columns of text: which type all values of a delimited file's column have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

from svc_notebook.data.loading import sql
from svc_notebook.data.loading.database import ROW_COUNT
from svc_notebook.data.loading.encoding.json_sql import INTEGER, LIKELY_NUMBER, NUMBER
from svc_notebook.data.loading.encoding.record_sql import ColumnProfile, TextForm, TextReading
from svc_notebook.data.loading.table import SourceTable, TableColumn
from svc_notebook.data.loading.text_cells.cell_kinds import MISSING_WORDS, is_missing_text
from svc_notebook.data.loading.text_cells.text_forms import DateForm, FormulaText

# The values of aggregates, by their SQL.
Aggregates = Mapping[str, Any]
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


@dataclass(frozen=True)
class TextType:
    """A type that a column of text can have, and the condition that every value of it fulfils."""

    # "boolean", "integer" or "number".
    name: str
    condition: TextCondition = field(compare=False)
    # Compiles faster, and is rarely wrong.
    likely: TextCondition = field(compare=False)
    # The form of amounts that are not numbers as they are written.
    form: TextForm | None = None


# The first type in this order is chosen.
TYPES: Mapping[str, TextCondition] = {
    "boolean": _is_boolean,
    "integer": _fits(INTEGER),
    "number": _fits(NUMBER),
}
LIKELY_TYPES = {**TYPES, "number": _fits(LIKELY_NUMBER)}
PLAIN_TYPES = tuple(TextType(name, TYPES[name], LIKELY_TYPES[name]) for name in TYPES)


@lru_cache
def form_type(form: TextForm) -> TextType:
    """Return the type of amounts or dates of a form."""
    condition = TextCondition(form.condition_sql, form.fits)
    kinds = {DateForm: "date", FormulaText: "string"}
    return TextType(kinds.get(type(form), "number"), condition, condition, form)


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
# The first rows, by which types are guessed before all rows are checked.
MIN_SAMPLE_ROWS, MAX_SAMPLE_ROWS, MAX_SAMPLE_CELLS = 100, 2_000, 100_000
# Every number and date is shorter.
MAX_SAMPLE_CHARACTERS = 400
# Aggregates that are kept as SQL: those of a few hundred columns.
MAX_CACHED_SQL = 4096


class ColumnTexts:
    """The texts of a column of a few rows, or of the first rows of a table."""

    def __init__(self, texts: Sequence[str | None], more_words: Sequence[str] = ()) -> None:
        # The words that are missing values if it is a column of numbers.
        self.number_words = (*MISSING_WORDS, *more_words)
        self.is_word = frozenset(self.number_words).__contains__ if more_words else is_missing_text
        # The texts that are not missing.
        self.texts = [text for text in texts if text is not None]
        self._early = [text for text in self.texts if text < END_OF_DIGITS]
        self._all_fit: dict[TextCondition, bool] = {}
        self.nulls = len(texts) - len(self.texts)
        # A filter calls what C implements without a function of Python.
        self.missing_words = len(list(filter(self.is_word, self.texts)))

    def joined_with(self, texts: Sequence[str]) -> ColumnTexts:
        """Return these texts and others."""
        return ColumnTexts([*self.texts, *[None] * self.nulls, *texts])

    def with_words(self, words: Sequence[str]) -> ColumnTexts:
        """Return these texts with other words that are missing values among numbers."""
        return ColumnTexts([*self.texts, *[None] * self.nulls], words)

    def with_texts(self, texts: Sequence[str | None]) -> ColumnTexts:
        """Return other texts of the same column."""
        return ColumnTexts(texts, self.number_words[len(MISSING_WORDS) :])

    @cached_property
    def present(self) -> list[str]:
        """The texts that are neither missing nor a word such as NA."""
        if not self.missing_words:
            return self.texts
        return [text for text in self.texts if not self.is_word(text)]

    @property
    def values(self) -> int:
        """The number of texts that are neither missing nor a word such as NA."""
        return len(self.texts) - self.missing_words

    def fits(self, condition: TextCondition, min_fitting: int) -> bool:
        """Return whether at least so many texts fulfil a condition."""
        texts = self._early if condition.begins_early else self.texts
        others = len(texts) - min_fitting
        # Too few fulfil it if none of the first `others + 1` does: most columns need no more tests.
        if min_fitting > 0 and not any(map(condition.holds, texts[: max(others + 1, 0)])):
            return False
        return len(list(filter(condition.holds, texts))) >= min_fitting

    def all_fit(self, condition: TextCondition) -> bool:
        """Return whether all values fulfil a condition, which is tested once."""
        if condition not in self._all_fit:
            self._all_fit[condition] = self.fits(condition, self.values)
        return self._all_fit[condition]

    @property
    def hint(self) -> str:
        """What more than half of the texts look like, for a column that is sent as text."""
        min_fitting = len(self.texts) // 2 + 1
        return next((hint for hint, fits in HINTS.items() if self.fits(fits, min_fitting)), "")


@dataclass(frozen=True)
class ColumnGuess:
    """What the first texts of a table say about a column."""

    # The types that all of its first texts have, the most likely one first.
    types: tuple[TextType, ...] = ()
    # Words for missing values if it is a column of text.
    words: tuple[str, ...] = ()
    # Why it is sent as text although its values look like amounts.
    doubt: str = ""


def count_sample_rows(columns: int) -> int:
    """Return the number of first rows by which the types of columns are guessed."""
    return max(MIN_SAMPLE_ROWS, min(MAX_SAMPLE_ROWS, MAX_SAMPLE_CELLS // max(columns, 1)))


def read_sample(
    table: SourceTable, fields: Sequence[TableColumn]
) -> dict[TableColumn, ColumnTexts]:
    """Return the texts of the first rows, which narrow down the types of columns.

    They are compared in Python: DuckDB compiles each condition for each column, which takes longer.
    """
    rows = count_sample_rows(len(fields))
    texts = [f"left({field.column}, {MAX_SAMPLE_CHARACTERS})" for field in fields]
    first_rows = table.db.rows(f"SELECT {', '.join(['1', *texts])} FROM {table.sql} LIMIT {rows}")
    _, *columns = list(zip(*first_rows, strict=True)) or [()] * (len(fields) + 1)
    return dict(zip(fields, map(ColumnTexts, columns), strict=True))


def plain_types(sample: ColumnTexts) -> tuple[TextType, ...]:
    """Return the types, other than forms of amounts, that all values of the sample have."""
    return tuple(kind for kind in PLAIN_TYPES if sample.all_fit(kind.condition))


def type_aggregates(
    field: TableColumn, types: Sequence[TextType], words: Sequence[str]
) -> Iterator[str]:
    """Yield the aggregates over all rows that decide between types, and count words if any."""
    for kind in types:
        yield _match_count(field, kind.condition)
    if words:
        yield _word_count(field, words)


def decided_type(
    field: TableColumn, types: Sequence[TextType], counts: Aggregates, sample: ColumnTexts
) -> TextType | None:
    """Return the first type that all values have, as far as it was counted."""
    present = count_present(field, counts, sample)
    fitting = (
        candidate
        for candidate in types
        if counts.get(_match_count(field, candidate.condition)) == present
    )
    return next(fitting, None) if present else None


def infer_column(
    field: TableColumn, guess: ColumnGuess, counts: Aggregates, sample: ColumnTexts
) -> ColumnProfile:
    """Return the profile of a column of text, with the type that its content has."""
    kind = decided_type(field, guess.types, counts, sample)
    words = counts.get(_word_count(field, sample.number_words), 0) if kind else 0
    if kind is None and guess.words:
        words = counts[count_if(sql.one_of(field.column, guess.words))]
    return make_profile(field, kind, counts[null_count(field)], words, sample, guess)


def infer_few_texts(
    field: TableColumn, texts: ColumnTexts, guess: ColumnGuess, sample: ColumnTexts
) -> ColumnProfile:
    """Return the profile of a column of text of which all texts are known."""
    fitting = (candidate for candidate in guess.types if texts.all_fit(candidate.condition))
    kind = next(fitting, None) if texts.values else None
    words = texts.missing_words if kind else len([t for t in texts.texts if t in guess.words])
    return make_profile(field, kind, texts.nulls, words, sample, guess)


def make_profile(
    field: TableColumn,
    kind: TextType | None,
    missing: int,
    words: int,
    texts: ColumnTexts,
    guess: ColumnGuess,
) -> ColumnProfile:
    """Return the profile of a column with a type, or of a column of text."""
    nulls = (texts.number_words if kind else guess.words) if words else ()
    reading = (
        TextReading(kind.name, kind.form, nulls)
        if kind
        else TextReading("string", missing=nulls, doubt=guess.doubt)
    )
    notes = [_describe_words(words, nulls, texts)] if words else []
    if kind is None:
        notes += filter(None, [guess.doubt or texts.hint.format(field.name)])
    elif kind.form:
        notes.insert(0, kind.form.describe(texts.present))
    json_sql = reading.column_sql(field)
    return ColumnProfile(field, json_sql, missing + words, note="; ".join(notes), reading=reading)


def _describe_words(count: int, words: Sequence[str], texts: ColumnTexts) -> str:
    """Return the note on words for missing values, with one of the first rows."""
    word = next((f" such as {text}" for text in texts.texts if text in words), "")
    verb = "word{} is a missing value" if count == 1 else "words{} are missing values"
    return f"{count:,} {verb.format(word)}"


def count_present(field: TableColumn, counts: Aggregates, sample: ColumnTexts) -> int:
    """Return the number of values that are not words such as NA."""
    words = counts.get(_word_count(field, sample.number_words), 0)
    return int(counts[ROW_COUNT] - counts[null_count(field)] - words)


def null_count(field: TableColumn) -> str:
    """Return the SQL of the number of rows without a value."""
    return f"count(*) - count({field.column})"


def count_if(condition: str) -> str:
    """Return the SQL of the number of rows that fulfil a condition."""
    return f"count(*) FILTER ({condition})"


@lru_cache(MAX_CACHED_SQL)
def _match_count(field: TableColumn, condition: TextCondition) -> str:
    return count_if(condition(field.column))


@lru_cache(MAX_CACHED_SQL)
def _word_count(field: TableColumn, words: Sequence[str]) -> str:
    """Return the SQL of the number of words such as NA."""
    return count_if(sql.one_of(field.column, words))

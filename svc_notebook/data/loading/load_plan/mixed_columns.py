"""Columns of text that a few values prevent from being numbers, amounts or truth values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import ceil

from svc_notebook.data.loading import sql
from svc_notebook.data.loading.database import aggregate
from svc_notebook.data.loading.encoding.record_sql import ColumnProfile
from svc_notebook.data.loading.load_plan.column_guesses import add_number_words, guess_columns
from svc_notebook.data.loading.load_plan.type_inference import (
    MAX_SAMPLE_CHARACTERS,
    MAX_SAMPLE_ROWS,
    PLAIN_TYPES,
    ColumnTexts,
    TextType,
    count_if,
    form_type,
)
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.table import SourceTable, TableColumn
from svc_notebook.data.loading.text_cells.cell_kinds import MISSING_WORDS
from svc_notebook.data.loading.text_cells.text_forms import find_best_form, may_be_amounts

# The types that a note proposes for a column of text, if at least this share of its values fits.
PROPOSED_TYPES = {"number": "numbers", "boolean": "true or false"}
MIN_FITTING_SHARE = 0.8
MAX_SHOWN_CHARACTERS = 100
# The first texts that say whether a column can hold amounts.
FIRST_TEXTS_COUNT = 20
# Codes among numbers, such as `007`.
LEADING_ZEROS = re.compile(r"0\d+")


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
    def holds_codes(self) -> bool:
        """Whether the values are codes, which lose their zeros as numbers."""
        return LEADING_ZEROS.fullmatch(self.value) is not None

    @property
    def note(self) -> str:
        """The note of the column in a plan."""
        if self.holds_codes:
            return "leading zeros: kept as text"
        return f"{self.fitting:,} of {self.values:,} are {self.what}"


def find_mixed_columns(
    table: SourceTable, columns: Sequence[ColumnProfile], sample: Mapping[TableColumn, ColumnTexts]
) -> tuple[MixedColumn, ...]:
    """Find columns of text that only a few values prevent from being numbers or booleans."""
    suspects = _find_suspects(columns, sample)
    if not suspects:
        return ()
    aggregates = {field: _misfit_aggregates(field, kind) for field, kind in suspects.items()}
    counted = aggregate(table, chain(*aggregates.values()), table.numbered)
    mixed = []
    for field, kind in suspects.items():
        fitting, misfits, position, value = map(counted.__getitem__, aggregates[field])
        if misfits and fitting >= MIN_FITTING_SHARE * (fitting + misfits):
            what = _describe(kind, sample[field])
            mixed.append(MixedColumn(
                field.name, what, kind.name, fitting + misfits, fitting, position,
                value[:MAX_SHOWN_CHARACTERS],
            ))  # fmt: skip
    return tuple(mixed)


def _find_suspects(
    columns: Sequence[ColumnProfile], sample: Mapping[TableColumn, ColumnTexts]
) -> dict[TableColumn, TextType]:
    """Return the columns of text with the type that most of their first values have."""
    fields = (c.field for c in columns if c.sql.sent_as == "text" and c.field in sample)
    return {field: kind for field in fields if (kind := frequent_type(sample[field]))}


def find_late_texts(
    table: SourceTable,
    mixed: Sequence[MixedColumn],
    sample: Mapping[TableColumn, ColumnTexts],
    options: LoadSettings,
) -> dict[TableColumn, ColumnTexts]:
    """Return the texts of columns that have one type in view of the values that do not fit.

    The first rows have only a part of the forms of a long column: `.5`, and `nil` for a missing
    value, can be far below.
    """
    names = {column.column for column in mixed if not column.holds_codes}
    fields = [field for field in sample if field.name in names]
    if not fields:
        return {}
    joined = dict(sample)
    for field in fields:
        if kind := frequent_type(sample[field]):
            joined[field] = sample[field].joined_with(_read_misfits(table, field, kind))
    guesses = guess_columns(add_number_words(joined), table.separator, options)
    return {field: joined[field] for field in fields if guesses[field].types}


def _read_misfits(table: SourceTable, field: TableColumn, kind: TextType) -> list[str]:
    start = f"left({field.column}, {MAX_SAMPLE_CHARACTERS})"
    bad = f"{field.column} IS NOT NULL AND NOT ({kind.condition(field.column)})"
    rows = table.db.rows(
        f"SELECT DISTINCT {start} FROM {table.sql} WHERE {bad} LIMIT {MAX_SAMPLE_ROWS}"
    )
    return [text for (text,) in rows]


def frequent_type(sample: ColumnTexts) -> TextType | None:
    """Return the type that most values of the sample have."""
    if not sample.values:
        return None
    min_fitting = ceil(MIN_FITTING_SHARE * sample.values)
    proposed = (kind for kind in PLAIN_TYPES if kind.name in PROPOSED_TYPES)
    likely = next((kind for kind in proposed if sample.fits(kind.likely, min_fitting)), None)
    return likely or _frequent_form(sample, min_fitting)


def _frequent_form(sample: ColumnTexts, min_fitting: int) -> TextType | None:
    """Return the form of amounts that at least so many values of the sample have."""
    texts = sample.present
    first = texts[:FIRST_TEXTS_COUNT]
    form = find_best_form(first, "") if may_be_amounts(first) else None
    if form is None or 2 * sum(map(form.fits, first)) < len(first):
        return None
    form = find_best_form(texts, "")
    return form_type(form) if form and sum(map(form.fits, texts)) >= min_fitting else None


def _describe(kind: TextType, sample: ColumnTexts) -> str:
    if kind.form is None:
        return PROPOSED_TYPES[kind.name]
    return kind.form.describe(filter(kind.form.fits, sample.present))


def _misfit_aggregates(field: TableColumn, kind: TextType) -> tuple[str, str, str, str]:
    fits = kind.condition(field.column)
    absent = sql.one_of(field.column, MISSING_WORDS)
    bad = f"{field.column} IS NOT NULL AND NOT ({absent}) AND NOT ({fits})"
    first = f"arg_min({field.column}, pos) FILTER ({bad})"
    return count_if(fits), count_if(bad), f"min(pos) FILTER ({bad})", first

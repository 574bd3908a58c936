"""Amounts that documents and workbooks contain as texts, decided as those of delimited files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from svc_notebook.data.loading.encoding.json_sql import as_text
from svc_notebook.data.loading.encoding.json_types import JSON
from svc_notebook.data.loading.encoding.record_sql import ColumnProfile, TextReading
from svc_notebook.data.loading.load_plan.column_guesses import guess_amounts
from svc_notebook.data.loading.load_plan.type_inference import (
    Aggregates,
    ColumnGuess,
    ColumnTexts,
    count_if,
    decided_type,
    infer_column,
    null_count,
    read_sample,
    type_aggregates,
)
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.table import WRITTEN, SourceTable, TableColumn

# The first rows that say whether a column has values other than texts.
FIRST_ROWS_COUNT = 100


@dataclass(frozen=True)
class TextAmounts:
    """A column of JSON texts that are amounts of one form in the first rows."""

    field: TableColumn
    # The column as plain text.
    text: TableColumn
    guess: ColumnGuess
    sample: ColumnTexts

    def aggregates(self) -> Iterator[str]:
        """Yield the aggregates over all rows that say whether all values are such texts."""
        yield from (null_count(self.text), _other_count(self.field))
        yield from type_aggregates(self.text, self.guess.types, missing_words=True)

    def are_all(self, counts: Aggregates) -> bool:
        """Return whether all values are texts of this form."""
        decided = decided_type(self.text, self.guess.types, counts)
        return decided is not None and not counts[_other_count(self.field)]

    def profile(self, counts: Aggregates) -> ColumnProfile:
        """Return the profile of the column, which is sent as numbers or dates."""
        return infer_column(self.text, self.guess, counts, self.sample)

    def doubt(self, column: ColumnProfile) -> ColumnProfile:
        """Return the profile of the column as text, with the reason why it is not sent as numbers.

        There is none if later values are others than the first.
        """
        reading = TextReading("string", doubt=self.guess.doubt) if self.guess.doubt else None
        return replace(column, reading=reading, note=self.guess.doubt)


def find_amounts(
    table: SourceTable, chosen: Sequence[TableColumn], options: LoadSettings
) -> dict[TableColumn, TextAmounts]:
    """Return the columns of a document or a workbook whose texts are amounts, by the first rows."""
    if not table.text_amounts:
        return {}
    texts = {
        read_as_text(field): field
        for field in chosen
        if field.type in (JSON, WRITTEN) and field.name not in options.dtype
        if field.column.isidentifier()  # not a column that options make
    }
    sample = read_sample(table, _of_texts(table, texts.values()))
    return {
        texts[text]: TextAmounts(texts[text], text, guess, sample[text])
        for text, guess in guess_amounts(sample, options).items()
    }


def read_as_text(field: TableColumn) -> TableColumn:
    """Return the column of the plain texts of a column of JSON; any other column as it is."""
    if field.type not in (JSON, WRITTEN):
        return field
    return field._replace(column=f"({as_text(field)})", type="VARCHAR")


def _of_texts(table: SourceTable, fields: Iterable[TableColumn]) -> list[TableColumn]:
    """Return the text of each column whose first values are all texts."""
    fields = [*fields]
    if not fields:
        return []
    first = f"(SELECT * FROM {table.sql} LIMIT {FIRST_ROWS_COUNT})"
    others = [f"coalesce(count_if({_is_other(field)}), 0)" for field in fields]
    (counts,) = table.db.rows(f"SELECT {', '.join(others)} FROM {first}")
    return [read_as_text(f) for f, count in zip(fields, counts, strict=True) if not count]


def _is_other(field: TableColumn) -> str:
    """Return the condition that a value of a column of JSON is not a text."""
    return f"left({field.column}::VARCHAR, 1) <> '\"'"


def _other_count(field: TableColumn) -> str:
    return count_if(_is_other(field))

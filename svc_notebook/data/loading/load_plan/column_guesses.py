"""Guesses on a table's columns of text from its first rows, each in view of the others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from svc_notebook.data.loading.encoding.json_sql import as_text
from svc_notebook.data.loading.encoding.json_values import JSON
from svc_notebook.data.loading.encoding.record_sql import ColumnProfile, TextForm, TextReading
from svc_notebook.data.loading.load_plan.type_inference import (
    Aggregates,
    ColumnGuess,
    ColumnTexts,
    TextType,
    count_if,
    decided_type,
    form_type,
    infer_column,
    null_count,
    plain_types,
    read_sample,
    type_aggregates,
)
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.table import WRITTEN, SourceTable, TableColumn
from svc_notebook.data.loading.text_cells.cell_kinds import find_missing_words, find_number_words
from svc_notebook.data.loading.text_cells.text_forms import (
    AmountForm,
    DateForm,
    FormulaText,
    are_point_groups,
    certain_decimal,
    choose_form,
    find_amount_forms,
    find_best_form,
    find_decimal,
    may_be_pairs,
)

EXPONENT = re.compile("[eE]")
POINT_GROUPS = AmountForm(",", ".")
# The first rows that say whether a column of a document has values other than texts.
FIRST_ROWS_COUNT = 100


class _Possible(NamedTuple):
    """The plain types of a column, and the forms of amounts that its values have."""

    plain: tuple[TextType, ...]
    forms: tuple[AmountForm, ...]
    texts: ColumnTexts


def guess_columns(
    sample: Mapping[TableColumn, ColumnTexts], separator: str, options: LoadSettings
) -> dict[TableColumn, ColumnGuess]:
    """Return the guess for each column; one column never decides alone between two readings."""
    possible = {field: _find_possible(texts, options) for field, texts in sample.items()}
    marks = [(f.name, mark) for f, types in possible.items() if (mark := _decimal_of(types))]
    decimal = find_decimal(marks, separator, options.decimal)
    can_split = separator == "," and options.decimal is None
    pointed = _find_pointed(marks) if can_split else ""
    chosen = {
        field: _find_dates(types, options)
        or _find_formulas(types)
        or _find_pairs(types, pointed)
        or _choose(types, decimal, separator)
        for field, types in possible.items()
    }
    return _add_missing_words(sample, chosen)


def add_number_words(sample: Mapping[TableColumn, ColumnTexts]) -> dict[TableColumn, ColumnTexts]:
    """Return the texts of columns, each with the words that are missing among its numbers."""
    present = {field.name: texts.present for field, texts in sample.items()}
    words = find_number_words(present)
    return {
        field: texts.with_words(words[field.name]) if field.name in words else texts
        for field, texts in sample.items()
    }


def _find_pointed(marks: Sequence[tuple[str, str]]) -> str:
    """Return the name of the first column with decimal points; empty if there is none."""
    return next((name for name, mark in marks if mark == "."), "")


def _add_missing_words(
    sample: Mapping[TableColumn, ColumnTexts], chosen: Mapping[TableColumn, ColumnGuess]
) -> dict[TableColumn, ColumnGuess]:
    """Return guesses with the words that are missing values in columns of text."""
    texts = {
        field.name: sample[field].texts
        for field, guess in chosen.items()
        if not (guess.types and sample[field].values)
    }
    numeric = {
        word
        for field, guess in chosen.items() if guess.types and sample[field].missing_words
        for word in filter(sample[field].is_word, sample[field].texts)
    }  # fmt: skip
    words = find_missing_words(texts, numeric)
    return {
        field: replace(guess, words=words.get(field.name, ())) for field, guess in chosen.items()
    }


def _guess_amounts(
    sample: Mapping[TableColumn, ColumnTexts], options: LoadSettings
) -> dict[TableColumn, ColumnGuess]:
    """Return the guess for each column of texts that are amounts or dates of one form.

    Texts that are numbers as they are written stay texts: the source could have written numbers.
    """
    guesses = guess_columns(sample, "", options)
    formed = {
        field: replace(guess, types=tuple(kind for kind in guess.types if kind.form))
        for field, guess in guesses.items()
    }
    return {
        field: guess for field, guess in formed.items()
        if guess.doubt or (guess.types and guesses[field].types[0].form)
    }  # fmt: skip


def _find_possible(texts: ColumnTexts, options: LoadSettings) -> _Possible:
    plain = plain_types(texts)
    if plain and not _has_decimals(plain):
        return _Possible(plain, (), texts)
    present = texts.present
    if plain:
        forms = [AmountForm(".", ","), POINT_GROUPS] if are_point_groups(present) else []
    else:
        forms = find_amount_forms(present)
    for name, mark in (("group", options.thousands), ("decimal", options.decimal)):
        if mark is not None:
            forms = [form for form in forms if getattr(form, name) == mark] or forms
    return _Possible(plain, tuple(forms), texts)


def _find_dates(possible: _Possible, options: LoadSettings) -> ColumnGuess | None:
    """Return the guess for a column of dates in the order that the option `dates` names."""
    if options.dates is None or possible.plain:
        return None
    form = DateForm(options.dates)
    return ColumnGuess((form_type(form),)) if all(map(form.fits, possible.texts.present)) else None


def _find_formulas(possible: _Possible) -> ColumnGuess | None:
    """Return the guess for a column of texts that are written as formulas."""
    form, texts = FormulaText(), possible.texts.present
    is_formula = not possible.plain and bool(texts) and all(map(form.fits, texts))
    return ColumnGuess((form_type(form),)) if is_formula else None


def _find_pairs(possible: _Possible, pointed: str) -> ColumnGuess | None:
    """Return the guess for texts such as `1,7` in a table with a column of decimal points."""
    texts = possible.texts.present
    decimals = [form.decimal for form in possible.forms]
    if not pointed or possible.plain or decimals != [","] or not may_be_pairs(texts):
        return None
    what = f"`{texts[0]}` has a comma, and `{pointed}` has decimal points"
    return ColumnGuess(doubt=f"kept as text: {what}; decimal=',' reads numbers")


def find_named_forms(
    sample: Mapping[TableColumn, ColumnTexts], options: LoadSettings
) -> dict[TableColumn, TextForm]:
    """Return the forms of the columns of text that the option `dtype` makes numbers or dates."""
    forms: dict[TableColumn, TextForm] = {}
    for field, texts in sample.items():
        kind = options.dtype.get(field.name)
        if kind == "date" and options.dates:
            forms[field] = DateForm(options.dates)
        elif kind in ("number", "integer"):
            needed = options.decimal or not plain_types(texts)
            form = find_best_form(texts.present, options.decimal or "") if needed else None
            forms |= {field: form} if form else {}
    return forms


def _has_decimals(plain: tuple[TextType, ...]) -> bool:
    return plain[0].name == "number"


def _decimal_of(possible: _Possible) -> str:
    """Return the decimal separator that a column's values certainly have."""
    if possible.plain:
        return "." if _has_decimals(possible.plain) and not possible.forms else ""
    return certain_decimal(possible.texts.present, possible.forms)


def _choose(possible: _Possible, decimal: str, separator: str) -> ColumnGuess:
    plain, forms, texts = possible
    if plain and _has_decimals(plain) and (code := _find_code(texts.present)):
        return ColumnGuess(doubt=f"kept as text: `{code}` can be a code")
    if not forms:
        return ColumnGuess(_allow_point_groups(plain) if decimal == "," else plain)
    form = choose_form(forms, decimal)
    if plain and (form != POINT_GROUPS if form else separator != ";"):
        return ColumnGuess(plain)
    if form:
        return ColumnGuess((form_type(form), *plain))
    return ColumnGuess(doubt=_describe_doubt(texts.present, forms))


def _allow_point_groups(plain: tuple[TextType, ...]) -> tuple[TextType, ...]:
    """Return the types of whole numbers of which later ones can have points between thousands."""
    if not plain or plain[0].name != "integer":
        return plain
    return plain[0], form_type(POINT_GROUPS), *plain[1:]


def _find_code(texts: Sequence[str]) -> str:
    """Return a value such as `1E5` of a column without points and signs, which can be a code."""
    if any(mark in text for text in texts for mark in ".+-"):
        return ""
    return next((text for text in texts if EXPONENT.search(text)), "")


def _describe_doubt(texts: list[str], forms: tuple[AmountForm, ...]) -> str:
    """Return the note of a column whose values can be different numbers."""
    first, other = forms[:2]
    text = next(text for text in texts if first.convert(text) != other.convert(text))
    readings = ", ".join(
        f"{form.convert(text)} with decimal='{form.decimal}'" for form in (first, other)
    )
    return f"kept as text: `{text}` is {readings}"


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
        yield from (null_count(self.text), count_if(_is_no_text(self.field)))
        yield from type_aggregates(self.text, self.guess.types, self.sample.number_words)

    def are_all(self, counts: Aggregates) -> bool:
        """Return whether all values are texts of this form."""
        decided = decided_type(self.text, self.guess.types, counts, self.sample)
        return decided is not None and not counts[count_if(_is_no_text(self.field))]

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
        for text, guess in _guess_amounts(sample, options).items()
    }


def read_as_text(field: TableColumn) -> TableColumn:
    """Return the column of the plain texts of a column of JSON; any other column as it is."""
    if field.type not in (JSON, WRITTEN):
        return field
    return field._replace(column=f"({as_text(field)})", type="VARCHAR")


def _of_texts(table: SourceTable, fields: Iterable[TableColumn]) -> list[TableColumn]:
    """Return the text of each column whose first values are all texts."""
    if not (fields := [*fields]):
        return []
    first = f"(SELECT * FROM {table.sql} LIMIT {FIRST_ROWS_COUNT})"
    others = [f"coalesce(count_if({_is_no_text(field)}), 0)" for field in fields]
    (counts,) = table.db.rows(f"SELECT {', '.join(others)} FROM {first}")
    return [read_as_text(f) for f, count in zip(fields, counts, strict=True) if not count]


def _is_no_text(field: TableColumn) -> str:
    """Return the condition that a value of a column of JSON is not a text."""
    return f"left({field.column}::VARCHAR, 1) <> '\"'"

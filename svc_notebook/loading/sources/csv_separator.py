"""The separator of a delimited file, inferred from a sample, and the blanks around it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from svc_notebook.loading.sources.csv_cells import LINE_ENDS, split_cells, split_records
from svc_notebook.loading.sources.csv_dialect import (
    SNIFFED_ROWS,
    UNUSUAL_SEPARATORS,
    USUAL_SEPARATORS,
    Dialect,
    Row,
    parse_rows,
    usual_width,
)
from svc_notebook.loading.text_cells.cell_kinds import (
    MOMENT,
    NUMBER,
    TEXT,
    TRUTH,
    VALUE,
    cell_kind,
    column_kind,
)

# The share of rows with the most frequent width: of a usual separator that is not questioned, and
# of an unusual one, which needs a minimum number of rows as well.
CERTAIN_SHARE, UNUSUAL_SHARE, MIN_UNUSUAL_ROWS = 0.8, 0.95, 3
# The minimum number of rows of a table between blanks that has no header, and a number in it.
MIN_ALIGNED_ROWS = 5
PLAIN_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.I)
# A comma that separates cells: not a decimal comma, and none of a sentence.
COMMA_BETWEEN_CELLS = re.compile(r"(?<!\d),(?! )|,(?![\d ])")
# Blanks belong to the separator if they follow at least this share of the separators.
PADDED_SHARE = 0.95
# They also do if they precede at least this share of them, or fill up a column of so many rows.
ENDING_SHARE, MIN_FILLED_ROWS = 0.5, 3


def find_separator(text: str, quote: str) -> tuple[str, list[Row]]:
    """Return the separator that gives most rows the same number of cells, and these rows."""
    parsed = {
        separator: parse_rows(text, separator, quote) if separator in text else []
        for separator in USUAL_SEPARATORS
    }
    best, share = max(
        (
            (separator, rate_separator(text, separator, quote, rows))
            for separator, rows in parsed.items()
        ),
        key=lambda rated: rated[1],
    )
    if share[0] < CERTAIN_SHARE:
        for separator in UNUSUAL_SEPARATORS:
            if _is_evident(text, separator, quote):
                return separator, parse_rows(text, separator, quote)
    return best, parsed[best] or parse_rows(text, best, quote)


def rate_separator(
    text: str, separator: str, quote: str, rows: Sequence[Row]
) -> tuple[float, bool, float, int]:
    """Rate a separator by the share of rows with the most frequent width, and by that width.

    A cell with one quote inside is a part of a value. Of separators with nearly the same share,
    that of lists in a column is worse: it does not split the first rows as the others, or its cells
    contain another separator.
    """
    if any(cell.startswith(" ") for _, row in rows for cell in row):
        rows = parse_rows(text, separator, quote, padded=True)
    width = usual_width(rows)
    if width < 2:
        return 0, False, 0, 0
    cells = [cell for _, row in rows if len(row) == width for cell in row]
    others = [
        other for other in USUAL_SEPARATORS if other not in (separator, ",") and other in text
    ]
    quoted = [cell for cell in cells if quote in cell]
    halves = sum(cell.count(quote) % 2 for cell in quoted) / len(cells)
    has_commas = separator != "," and "," in text
    torn = sum(
        any(other in cell for other in others)
        or (has_commas and bool(COMMA_BETWEEN_CELLS.search(cell)))
        for cell in cells
    ) / len(cells)
    share = len(cells) / width / len(rows)
    begins = all(len(row) == width for _, row in rows[:2])
    return round(share - halves, 1), begins, -torn, width


def _is_evident(text: str, separator: str, quote: str) -> bool:
    """Return whether a character that occurs in text, too, separates cells.

    Nearly all rows must have the same width, and some column must contain numbers or dates below a
    name, for a list of names or of times has neither; a table of numbers alone has three columns.
    """
    if separator == " ":
        text = re.sub(r"(?<! ) +(?=[\r\n]|\Z)", "", text)
    rows = [[cell.strip() for cell in row] for _, row in parse_rows(text, separator, quote)]
    width = max(Counter(map(len, rows)).items(), key=lambda item: item[1], default=(0, 0))[0]
    usual = [row for row in rows if len(row) == width]
    if width < 2:
        return False
    regular = len(rows) - (separator == " " and len(rows[0]) == width - 1 > 1)
    if len(usual) < max(MIN_UNUSUAL_ROWS, UNUSUAL_SHARE * regular):
        return False
    if separator in "^~" or (
        separator == " "
        and width > 2
        and all(VALUE.fullmatch(cell) for row in usual for cell in row)
    ):
        return True
    if separator == " " and _is_aligned(usual, "  " in text):
        return True
    first, *others = usual
    if (
        separator == " " and len(rows[0]) == width - 1 > 1
    ):  # as R writes it, without a name for the first column
        first, others = ["", *rows[0]], usual
    return any(
        name and cell_kind(name) == TEXT and column_kind(column) in (NUMBER, MOMENT, TRUTH)
        for name, *column in zip(first, *others, strict=True)
    )


def _is_aligned(rows: Sequence[Sequence[str]], several_blanks: bool) -> bool:
    """Return whether rows without a header have at least two columns of numbers between blanks.

    Digits of one number can be in groups, and then have neither a point nor several blanks.
    """
    columns = list(zip(*rows, strict=True))
    numeric = [column for column in columns if all(map(PLAIN_NUMBER.fullmatch, column))]
    decimal = any(all("." in cell for cell in column) for column in numeric)
    evident = decimal or (several_blanks and len(numeric) == len(columns))
    return evident and len(numeric) > 1 and len(rows) >= MIN_ALIGNED_ROWS


def is_padded(lines: Sequence[str], rows: Sequence[Row], dialect: Dialect) -> bool:
    """Return whether blanks around separators, outside of quotes, belong to them.

    A blank follows nearly every separator, or precedes most, or fills up the cells of some column.
    `rows` are what the csv module finds in the lines.
    """
    first = lines[:SNIFFED_ROWS]
    if _has_few_blanks(first, [row for line, row in rows if line < len(first)], dialect):
        return False
    records = [
        split_cells(record, dialect)
        for record in split_records(first, dialect)
        if record.strip(LINE_ENDS)
    ]
    begins = [cell.startswith(" ") for record in records for cell in record[1:] if cell]
    ends = [cell.endswith(" ") for record in records for cell in record[1:-1] if cell]
    return (
        (len(begins) > 1 and sum(begins) >= PADDED_SHARE * len(begins))
        or (len(ends) > 1 and sum(ends) >= ENDING_SHARE * len(ends))
        or _has_filled_column(records[1:])
    )


def _has_filled_column(records: Sequence[Sequence[str]]) -> bool:
    """Return whether the cells of a column have one length because blanks fill them up."""
    if len(records) < MIN_FILLED_ROWS or len({*map(len, records)}) > 1:
        return False
    return any(
        len({*map(len, column)}) == 1
        and len({cell.strip(" ") for cell in column}) > 1
        and 2 * sum(cell != cell.strip(" ") for cell in column) >= len(column)
        for column in list(zip(*records, strict=True))[:-1]
    )


def _has_few_blanks(lines: Sequence[str], rows: Sequence[Sequence[str]], dialect: Dialect) -> bool:
    """Return whether blanks are certainly beside too few separators; False where it is uncertain.

    Where no quote follows a blank after a separator, and no record has several lines, the csv
    module finds the same cells, and finds them faster.
    """
    separator, quote, text = dialect.separator, dialect.quote, "".join(lines)
    after, before = text.count(f"{separator} "), text.count(f" {separator}")
    if not after and not before:
        return True
    after_blank = re.compile(f"{re.escape(separator)} +{re.escape(quote)}")
    if not quote or dialect.escape != quote or after_blank.search(text):
        return False
    if len(rows) != sum(bool(line.strip("\r\n")) for line in lines):
        return False
    cells = sum(len(list(filter(None, row[1:]))) for row in rows)
    inner = sum(len(list(filter(None, row[1:-1]))) for row in rows)
    few = after < PADDED_SHARE * cells and before < ENDING_SHARE * max(inner, 1)
    return few and not (2 * (after + before) >= len(rows) - 1 and _has_filled_column(rows[1:]))

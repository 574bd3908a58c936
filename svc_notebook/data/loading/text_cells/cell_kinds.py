"""The kinds of cells and of columns of text: numbers, dates, words for missing values, text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_letters, digits

# The digit is looked for ahead, so that the time is linear in the length of a cell.
VALUE = re.compile(
    r"(?=[-+]?[.,:/ -]*\d)[-+]?[\d.,:/ -]+(?:e[-+]?\d+)?%?|true|false|yes|no|null|nan|n/?a", re.I
)
YEAR = re.compile(r"(1[5-9]|20|21)\d\d")
DATE = re.compile(
    r"\d{4}([-/.])\d{1,2}(?:\1\d{1,2})?"
    r"(?:[T ]\d\d?:\d\d(?::\d\d(?:\.\d+)?)?(?: ?Z|[+-]\d\d:?\d\d)?)?"
    r"|\d{1,2}([-/.])\d{1,2}\2\d{2}(?:\d\d)?(?: \d\d?:\d\d(?::\d\d)?)?"
    r"|\d\d?:\d\d(?::\d\d)?"
)
NUMBER_LIKE = re.compile(r"(?=[-+]?[.,:/ -]*\d)[-+]?[\d.,:/ -]+(?:e[-+]?\d+)?%?", re.I)
_NUMBER = re.compile(r"[-+]?\d[\d.,]*(e[-+]?\d+)?%?", re.I)
TRUTH_WORD = re.compile(r"true|false|yes|no", re.I)
# Words for a missing number, which can be above numbers without being a name.
NO_NUMBER = re.compile(
    r"\W*|[<>=~≤≥≈].*|n\.?\s?[adks]\.?|#?n/a|null|nan|\\n|none|nil|unknown|unk|missing|tb[ad]|inf"
    r"|not .*|no (?:data|answer|values?|response|info\w*|records?|readings?)",
    re.I,
)
DIGITS, LETTERS = re.compile(r"\d+"), re.compile(r"[^\W\d_]+")
_ASCII_FORMS = str.maketrans(ascii_letters + digits, "a" * len(ascii_letters) + "9" * len(digits))

# The kinds of a cell.
EMPTY, NUMBER, MOMENT, TRUTH, MISSING, TEXT = (
    "empty", "number", "date", "truth value", "missing value", "text",
)  # fmt: skip


def cell_kind(cell: str) -> str:
    """Return the kind of a cell without blanks around it."""
    if not cell:
        return EMPTY
    if _is_value(cell):
        return MOMENT if DATE.fullmatch(cell) else NUMBER
    if TRUTH_WORD.fullmatch(cell):
        return TRUTH
    return MISSING if NO_NUMBER.fullmatch(cell) else TEXT


def _is_value(cell: str) -> bool:
    """Return whether a cell is a number or a date; a date can contain the letters T and Z."""
    return bool(NUMBER_LIKE.fullmatch(cell) or (cell[0].isdigit() and DATE.fullmatch(cell)))


def column_kind(values: Sequence[str]) -> str:
    """Return the kind that all values have which are not missing; TEXT for several kinds."""
    filled = [*filter(None, values)]
    words = [value for value in filled if not _is_value(value)]
    if not words:
        if not filled:
            return EMPTY
        return MOMENT if all(map(DATE.fullmatch, filled)) else NUMBER
    others = [word for word in words if not TRUTH_WORD.fullmatch(word)]
    if not all(map(NO_NUMBER.fullmatch, others)):
        return TEXT
    if len(others) == len(filled):
        return MISSING
    numbers, truths = len(filled) - len(words), len(words) - len(others)
    if numbers and truths:
        return TEXT
    return NUMBER if numbers else TRUTH


def value_form(value: str) -> str:
    """Return a value with every run of letters as `a` and every run of digits as `9`."""
    if value.isascii():
        form = value.translate(_ASCII_FORMS)
        for run in ("aa", "99"):
            while run in form:
                form = form.replace(run, run[0])
        return form
    return LETTERS.sub("a", DIGITS.sub("9", value))


def cell_form(value: str) -> str:
    """Return the form of a value; all numbers have one form."""
    return "9" if _NUMBER.fullmatch(value) else value_form(value)


def value_forms(values: Sequence[str]) -> list[str]:
    """Return the form of each value; of values without line ends, all at once."""
    forms = value_form("\n".join(values)).split("\n") if values else []
    return forms if len(forms) == len(values) else [*map(value_form, values)]

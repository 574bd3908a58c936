"""The kinds of cells and of columns of text, and the words for missing values that a table uses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from string import ascii_letters, ascii_lowercase, digits

from svc_notebook.data.loading.text_cells.signals import Signal, total_points

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
# An empty text that is written as a formula, as `="0441"` is one that is not empty.
EMPTY_FORMULA = '=""'
# Errors of formulas as spreadsheets write them, in English, German, French and Spanish.
FORMULA_ERRORS = (
    *("#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#NULL!", "#SPILL!", "#CALC!"),
    *("#WERT!", "#BEZUG!", "#ZAHL!", "#\u00dcBERLAUF!", "#VALEUR!", "#NOMBRE!", "#NOM?", "#NUL!"),
    *("#\u00a1DIV/0!", "#\u00a1VALOR!", "#\u00a1REF!", "#\u00a1NUM!", "#\u00bfNOMBRE?"),
)  # fmt: skip
# Words for a missing value in a column whose other values are numbers or truth values.
MISSING_WORDS = (
    *("NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "-"),
    *("\\N", "#N/A", "#NV", "<NA>", "(null)", "n.a.", "N.A.", "na", "n.d.", "k.A.", "k. A."),
    *("NAN", ":", "...", "\u2026", EMPTY_FORMULA, *FORMULA_ERRORS),
    *("?", "..", ".", "--", " --", "---", "\u2013", "\u2014", "NaT", "Null", "none", "NONE"),
    *("nil", "Nil", "NIL", "missing", "Missing", "MISSING"),
    # Signs of statistics offices, and cells that a fixed width fills up.
    *("*", "**", "***", "****", "*****", " ", "  ", "   "),
)  # fmt: skip
is_missing_text = frozenset(MISSING_WORDS).__contains__
# Words that are never a text.
CERTAIN_WORDS = (
    *("\\N", "#N/A", "#NV", "<NA>", "(null)", "NaN", "nan", "NaT", EMPTY_FORMULA), *FORMULA_ERRORS,
)  # fmt: skip
# These, and those that need evidence from the table.
TEXT_WORDS = (*CERTAIN_WORDS, "N/A", "n/a", "NULL", "null", "NA", "None")
# Signs that are missing values of columns of text only if they are so in columns of numbers.
SIGNS = ("-", "--", "---", "?", "..", "\u2013", "\u2014")
MYSQL_WORD = "\\N"
# Published words for a missing number that can be texts, too: of weather stations, laboratories and
# statistics offices, and the extended missing values of Stata; and how certainly each is one.
PUBLISHED_WORDS: Mapping[str, float] = {
    **dict.fromkeys(("M", "x", "X"), 1),
    **dict.fromkeys(("mq", "ND", "N/D", "n/d", "S/D", "s/d", "s.d.", "NR", "n.r.", "BDL"), 1.5),
    **dict.fromkeys(("No data", "no data", "Not available", "not available", "n. a.", "n/v"), 2),
    **dict.fromkeys(("[x]", "[c]", "[z]", "[u]", "(X)", "(D)", "(S)", "(Z)", "(NA)", " (D)"), 2),
    **{f".{letter}": 2 for letter in ascii_lowercase},
}
is_published = frozenset(PUBLISHED_WORDS).__contains__
# A published word is a missing value if its signals have more points.
DOUBTFUL_POINTS, MAX_COLUMN_POINTS = 1.5, 2
is_candidate = frozenset(TEXT_WORDS).__contains__
# Codes of countries and languages, among which NA is Namibia or North America.
CODE = re.compile(r"[A-Z]{2,3}")
CODE_SHARE = 0.8


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


def find_number_words(columns: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return the published words that are missing values of the columns whose others are numbers.

    `columns` are the first texts of each column, without those that are missing in every table.
    """
    marked = {name: texts for name, texts in columns.items() if any(map(is_published, texts))}
    numeric = {name: texts for name, texts in marked.items() if _are_numbers(texts)}
    codes = {*chain.from_iterable(marked[name] for name in marked.keys() - numeric)}
    used = {name: {*filter(is_published, texts)} for name, texts in numeric.items()}
    uses = Counter(chain.from_iterable(used.values()))
    return {
        name: (*sorted(words),)
        for name, words in used.items()
        if all(
            total_points(_rate_word(word, numeric[name], uses[word], codes)) > DOUBTFUL_POINTS
            for word in words
        )
    }


def _are_numbers(texts: Sequence[str]) -> bool:
    """Return whether all texts but published words are numbers."""
    numbers = [text for text in texts if not is_published(text)]
    return bool(numbers) and all(map(NUMBER_LIKE.fullmatch, numbers))


def _rate_word(word: str, texts: Sequence[str], uses: int, codes: set[str]) -> Iterator[Signal]:
    """Yield the signals of a word among the numbers of a column, which can be a size or a code.

    `codes` are the values of columns of texts that contain such words.
    """
    numbers = [text for text in texts if not is_published(text)]
    yield Signal(f"`{word}` is a published word for a missing number", PUBLISHED_WORDS[word])
    if uses > 1:
        yield Signal(f"{uses} columns of numbers contain it", min(uses - 1, MAX_COLUMN_POINTS))
    if any("." in number or "," in number for number in numbers):
        yield Signal("numbers of the column have decimals", 0.5)
    if texts.count(word) > 1:
        yield Signal("the column repeats it", 0.5)
    if len(numbers) < len(texts) / 2:
        yield Signal("most values of the column are no numbers", -0.5)
    if len(word) == 1 and 1 in map(len, codes - {word}):
        yield Signal("it is a letter, and a column of texts has others beside it", -1)


def find_missing_words(
    texts: Mapping[str, Sequence[str]], numeric_words: set[str]
) -> dict[str, tuple[str, ...]]:
    """Return the words that are missing values in each column of text.

    `texts` are the first texts of each column, `numeric_words` the words for missing values in
    columns of numbers. A table that writes missing values as `\\N` has no other word for them.
    """
    signs = {*SIGNS} & numeric_words
    published = {*filter(is_published, numeric_words)}
    words_by_name = {
        name: {*filter(is_candidate, values), *signs.intersection(values),
               *_find_apart(published, values)}
        for name, values in texts.items()
    }  # fmt: skip
    uses = Counter(word for words in words_by_name.values() for word in words)
    elsewhere = {word for word in uses if word in numeric_words or uses[word] > 2}
    escaped = MYSQL_WORD in uses or MYSQL_WORD in numeric_words
    return {
        name: missing
        for name, words in words_by_name.items()
        if words and (missing := tuple(
            word for word in (*TEXT_WORDS, *SIGNS, *sorted(published))
            if word in words and (word in CERTAIN_WORDS or not escaped)
            if _is_missing(word, texts[name], word in elsewhere)
        ))
    }  # fmt: skip


def _find_apart(words: set[str], values: Sequence[str]) -> set[str]:
    """Return the words among values that are no codes of the same length, as `M` beside `F`."""
    return {
        word for word in words.intersection(values)
        if all(value == word or len(value) != len(word) for value in values)
    }  # fmt: skip


def _is_missing(word: str, values: Sequence[str], elsewhere: bool) -> bool:
    if word in SIGNS or word in CERTAIN_WORDS or is_published(word):
        return True
    others = [value for value in values if not is_candidate(value)]
    if not others:
        return elsewhere
    is_repeated = values.count(word) > 1
    rule = WORD_RULES.get(word)
    return rule(others, is_repeated, elsewhere) if rule else elsewhere or is_repeated


def _is_missing_na(others: Sequence[str], is_repeated: bool, elsewhere: bool) -> bool:
    long = sum(len(other) > 2 for other in others) > len(others) / 2
    return not _are_codes(others) and (elsewhere or (long and is_repeated))


def _is_missing_null(others: Sequence[str], is_repeated: bool, elsewhere: bool) -> bool:
    # A name in capitals can be NULL.
    return elsewhere or is_repeated or not all(map(str.isupper, others)) or _are_codes(others)


def _are_codes(values: Sequence[str]) -> bool:
    return sum(map(bool, map(CODE.fullmatch, values))) >= CODE_SHARE * len(values)


# Whether a word is a missing value, by the other values of its column, whether the column repeats
# it, and whether it is a missing value in other columns.
WORD_RULES: Mapping[str, Callable[[Sequence[str], bool, bool], bool]] = {
    "NA": _is_missing_na,
    "NULL": _is_missing_null,
    "null": _is_missing_null,
    "None": lambda others, _, elsewhere: elsewhere and len({*others}) > len(others) / 2,
}

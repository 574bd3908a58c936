"""Forms of texts that are converted: amounts, dates, and formulas whose text is sent.

Amounts are numbers as people and programs write them: `1.234,50`, `1 234,50`, `1'234.50`,
`$1,200.00`, `12,50-`, `(3.00)`, `.28` and `45.12%` are numbers in one form each. `1.250` can be two
numbers: the other columns of the table say which. Dates are in the order that an option names:
`13/04/2024`, `13.4.24` and `2024/04/13`. Formulas such as `="0441"` are written by programs so that
a spreadsheet shows texts.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache

from svc_notebook.data.loading import sql

# Blanks between groups of digits: the usual one, and those that do not end a line.
BLANKS = " \u00a0\u202f\u2009"
APOSTROPHES = "'\u2019"
MINUS_SIGNS = "-\u2212"
# The dash of texts is one before a number; after one, it is that of an open range.
LEADING_SIGNS = f"{MINUS_SIGNS}\u2013"
# The characters of a group separator, by the one that names it.
GROUP_CHARACTERS = {"": "", ".": ".", ",": ",", " ": BLANKS, "'": APOSTROPHES}
# The separators of decimals and of groups, in the order of preference.
STYLES = ((".", ","), (",", "."), (",", " "), (".", " "), (".", "'"), (",", "'"))
CURRENCIES = (
    *("R$", "US$", "A$", "C$", "CA$", "NZ$", "HK$", "S$", "$", "€", "£", "¥", "₹", "₽", "₩", "₺"),
    *("₪", "₴", "₫", "฿", "EUR", "USD", "GBP", "CHF", "JPY", "CNY", "INR", "AUD", "CAD", "SEK"),
    *("NOK", "DKK", "PLN", "CZK", "HUF", "BRL", "MXN", "TRY", "RUB", "ZAR", "SFr.", "Fr.", "kr."),
    *("kr", "zł", "Kč", "Ft", "Rs.", "Rs", "lei", "元", "円", "TL", "RON", "BGN"),
    *("\u0440\u0443\u0431.", "\u0440\u0443\u0431", "\u0433\u0440\u043d", "UAH", "ILS", "THB"),
    *("KRW", "AED", "SGD", "HKD", "NZD"),
)
PERCENT = "%"
# A JSON number has at most 18 digits before the point, so that a client reads it exactly.
MAX_WHOLE_DIGITS, MAX_DECIMALS = 18, 30
_PHONE = re.compile(r"\s*[+][0-9 ]+")
_LIKELY = re.compile(
    r"[^\d\n]{0,6}\d[\d.,'\u2019 \u00a0\u202f\u2009]*[^\d\n]{0,6}|[^\d\n]{0,5}[.,]\d+"
)
# The first digit of an amount follows signs, blanks and a currency at most.
_BEGINS = re.compile(
    rf"[{LEADING_SIGNS}{BLANKS}+(]*(?:{'|'.join(map(re.escape, CURRENCIES))}|%)?"
    rf"[{LEADING_SIGNS}{BLANKS}+(]*[.,]?[0-9]"
)
_ZERO = re.compile(rf"\D{{0,6}}[{MINUS_SIGNS}]\D{{0,6}}")
_AFFIXES = re.compile(r"^([^\d.,]*)[.,]?\d.*?([^\d]*)$", re.S)
_POINT_GROUPS = re.compile(r"-?(0|[1-9]\d{0,17}|[1-9]\d{0,2}(\.\d{3})+)")
_PAIR, _PRICE = re.compile(r"\d+,\d+"), re.compile(r"\d+,\d\d")
PATTERN = '="[^"]+"'
BEGIN, END = '="', '"'
SEPARATORS = "[/.-]"
SHORT_YEAR = r"\d{1,2}[/.-]\d{1,2}[/.-]\d{2}"
# For each order: the pattern of a date, and the formats of a long and of a short year.
ORDERS = {
    "dmy": (r"\d{1,2}[/.-]\d{1,2}[/.-](\d{4}|\d{2})", "%d/%m/%Y", "%d/%m/%y"),
    "mdy": (r"\d{1,2}[/.-]\d{1,2}[/.-](\d{4}|\d{2})", "%m/%d/%Y", "%m/%d/%y"),
    "ymd": (r"\d{4}[/.-]\d{1,2}[/.-]\d{1,2}", "%Y/%m/%d", "%Y/%m/%d"),
}
PART_NAMES = {"d": "day", "m": "month", "y": "year"}


@dataclass(frozen=True)
class AmountForm:
    """A form of numbers: the separators of decimals and groups, and the sign that is left out."""

    decimal: str = "."
    # "" if digits have no groups.
    group: str = ","
    # A currency or `%`, which each value may have before or after it.
    unit: str = ""

    @cached_property
    def pattern(self) -> str:
        """The pattern of a value, for Python and for DuckDB."""
        blank, characters = f"[{BLANKS}]", GROUP_CHARACTERS[self.group]
        decimal, group = re.escape(self.decimal), characters and f"[{re.escape(characters)}]"
        whole = rf"0|[1-9][0-9]{{0,{MAX_WHOLE_DIGITS - 1}}}"
        if group:
            whole += rf"|[1-9][0-9]{{0,2}}({group}[0-9]{{3}}){{1,5}}"
        if self.group == ",":  # lakhs and crores
            whole += r"|[1-9][0-9]?(,[0-9]{2}){1,6},[0-9]{3}"
        body = (
            rf"(({whole})({decimal}[0-9]{{0,{MAX_DECIMALS}}})?|{decimal}[0-9]{{1,{MAX_DECIMALS}}})"
        )
        unit = f"({re.escape(self.unit)})?" if self.unit else ""
        before = f"{unit}{blank}?" if unit else ""
        after = f"{blank}?{unit}" if unit else ""
        sign = f"[{LEADING_SIGNS}+]?"
        signed = f"{sign}{blank}?{before}{sign}{body}{after}"
        zero = f"|{_zero_pattern(self.unit)}" if self.unit else ""
        return (
            f"{blank}*({signed}|{before}{body}{after}{blank}?[{MINUS_SIGNS}]{after}"
            f"|[(]{before}{body}{after}[)]|{before}[(]{body}[)]{after}{zero}){blank}*"
        )

    def fits(self, text: str) -> bool:
        """Return whether a text is an amount of this form."""
        return _compile(self.pattern).fullmatch(text) is not None

    def convert(self, text: str) -> str:
        """Return the JSON number of an amount of this form."""
        if self.unit:
            text = text.replace(self.unit, "")
        digits = re.sub(rf"[^0-9{re.escape(self.decimal)}]", "", text).replace(self.decimal, ".")
        digits = digits.removesuffix(".")
        digits = f"0{digits}" if digits.startswith(".") else digits
        if not digits:
            return "0"
        return f"-{digits}" if any(sign in text for sign in f"{LEADING_SIGNS}(") else digits

    def condition_sql(self, column: str) -> str:
        """Return the SQL of the condition that a column's value has this form."""
        return f"regexp_full_match({column}, {sql.text(self.pattern)})"

    def value_sql(self, column: str) -> str:
        """Return the SQL of the JSON number of a column's value, which has this form."""
        text = f"replace({column}, {sql.text(self.unit)}, '')" if self.unit else column
        digits = f"regexp_replace({text}, {sql.text(f'[^0-9{self.decimal}]')}, '', 'g')"
        if self.decimal != ".":
            digits = f"replace({digits}, {sql.text(self.decimal)}, '.')"
        digits = f"regexp_replace(regexp_replace({digits}, '[.]$', ''), '^[.]', '0.')"
        negative = f"regexp_matches({text}, {sql.text(f'[{LEADING_SIGNS}(]')})"
        value = f"(CASE WHEN {negative} THEN '-' ELSE '' END || {digits})"
        return f"(CASE WHEN {digits} = '' THEN '0' ELSE {value} END)" if self.unit else value

    def text_sql(self, column: str) -> str:
        """Return the SQL of the number of a column's value as a plain text."""
        return self.value_sql(column)

    def describe(self, texts: Iterable[str]) -> str:
        """Return what values of this form look like, and what is left out of them."""
        texts = [*texts]
        groups = GROUP_CHARACTERS[self.group]
        marks = {".": "points", ",": "commas", " ": "blanks", "'": "apostrophes", "": ""}
        signed = f"{BLANKS}{LEADING_SIGNS}+"
        signs = [
            (self.decimal == "," and any("," in text for text in texts), "a decimal comma"),
            (any(mark in text.strip() for mark in groups for text in texts),
             f"{marks[self.group]} between thousands"),
            (any(text.rstrip()[-1:] in MINUS_SIGNS for text in texts), "a minus after the number"),
            (any("(" in text for text in texts), "negative ones in parentheses"),
            (any(text.lstrip(signed).startswith(self.decimal) for text in texts),
             f"no digit before the {'point' if self.decimal == '.' else 'comma'}"),
        ]  # fmt: skip
        parts = [part for holds, part in signs if holds]
        described = f"amounts with {' and '.join(parts)}" if parts else "amounts"
        return f"{described}; `{self.unit}` is left out" if self.unit else described


def _zero_pattern(unit: str) -> str:
    """Return the pattern of a currency with a dash, which spreadsheets show for a zero."""
    blank, unit = f"[{BLANKS}]", re.escape(unit)
    return f"{unit}{blank}*[{MINUS_SIGNS}]|[{MINUS_SIGNS}]{blank}*{unit}"


@lru_cache(256)
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def find_amount_forms(texts: Sequence[str]) -> list[AmountForm]:
    """Return the forms that all texts have; those that give equal numbers only once.

    More than one form means that the texts can be several numbers.
    """
    other = next((text for text in texts if not _BEGINS.match(text)), None)
    if other is not None and _ZERO.fullmatch(other):
        amounts = [text for text in texts if not _ZERO.fullmatch(text)]
        return [form for form in find_amount_forms(amounts) if all(map(form.fits, texts))]
    if not texts or other is not None or not all(map(_LIKELY.fullmatch, texts)):
        return []
    unit = _find_unit(texts)
    # Whole numbers after a plus sign are phone numbers.
    if unit is None or all(map(_PHONE.fullmatch, texts)):
        return []
    forms: dict[tuple[str, ...], AmountForm] = {}
    for decimal, group in STYLES:
        form = AmountForm(decimal, group, unit)
        if all(map(form.fits, texts)) and not (group == " " and _are_codes(texts)):
            forms.setdefault(tuple(map(form.convert, texts)), form)
    return list(forms.values())


def _find_unit(texts: Sequence[str]) -> str | None:
    """Return the currency or percent sign of all amounts, empty without one; `None` for others."""
    units = {unit for text in texts for unit in _units_of(text)}
    is_usual = len(units) < 2 and units <= {*CURRENCIES, PERCENT}
    return next(iter(units), "") if is_usual else None


def may_be_amounts(texts: Sequence[str]) -> bool:
    """Return whether at least half of the texts look like amounts; a fast test."""
    likely = filter(_LIKELY.fullmatch, filter(_BEGINS.match, texts))
    return 2 * len(list(likely)) >= len(texts)


def find_best_form(texts: Sequence[str], decimal: str) -> AmountForm | None:
    """Return the form that most texts have; of equal ones, the one with the decimal separator."""
    units = Counter(unit for text in texts for unit in _units_of(text))
    likely = [unit for unit, _ in units.most_common() if unit in (*CURRENCIES, PERCENT)]
    forms = [AmountForm(mark, group, next(iter(likely), "")) for mark, group in STYLES]
    rated = [(sum(map(form.fits, texts)), form.decimal == decimal, form) for form in forms]
    fitting, _, best = max(rated, key=lambda rating: rating[:2])
    return best if fitting else None


def _units_of(text: str) -> list[str]:
    """Return the texts before and after the number, without signs and blanks."""
    affixes = _AFFIXES.match(text)
    parts = affixes.groups() if affixes else ("?",)
    units = (part.strip(f"{BLANKS}{LEADING_SIGNS}+()") for part in parts)
    return [unit for unit in units if unit.strip(".,")]


def _are_codes(texts: Sequence[str]) -> bool:
    """Return whether all texts have the same digits in groups between usual blanks, as codes do."""
    form, *others = {re.sub(r"\d", "9", text.strip()) for text in texts}
    return not others and re.fullmatch(r"9{1,3}( 9{3})+", form) is not None and len(texts) > 1


def are_point_groups(texts: Sequence[str]) -> bool:
    """Return whether plain numbers can be whole ones with points between thousands."""
    return any("." in text for text in texts) and all(map(_POINT_GROUPS.fullmatch, texts))


def may_be_pairs(texts: Sequence[str]) -> bool:
    """Return whether texts such as `1,7` can be two numbers as well as one: prices cannot."""
    return all(map(_PAIR.fullmatch, texts)) and not all(map(_PRICE.fullmatch, texts))


def choose_form(forms: Sequence[AmountForm], decimal: str) -> AmountForm | None:
    """Return the only form of a column, or that with a decimal separator; None in doubt."""
    return next((form for form in forms if len(forms) == 1 or form.decimal == decimal), None)


def find_decimal(certain: Sequence[tuple[str, str]], separator: str, option: str | None) -> str:
    """Return the decimal separator of a table's amounts, which the option names; empty in doubt.

    `certain` are the names of columns that have one without a doubt, each with it; `separator` is
    between cells.
    """
    marks = {option} if option else {mark for _, mark in certain}
    if len(marks) == 1:
        return marks.pop()
    # Without other columns, a comma inside of a cell of a comma-separated file is quoted, and
    # rarely a decimal one.
    return "." if separator == "," and not marks else ""


def certain_decimal(texts: Sequence[str], forms: Sequence[AmountForm]) -> str:
    """Return the decimal separator of a column if it can only be one, and occurs."""
    if len(forms) != 1:
        return ""
    (form,) = forms
    marks = {form.decimal, form.group} if form.group in ".," else {form.decimal}
    return form.decimal if any(mark in text for mark in marks for text in texts) else ""


@dataclass(frozen=True)
class DateForm:
    """Dates whose day, month and year are in one order."""

    # "dmy", "mdy" or "ymd".
    order: str

    def fits(self, text: str) -> bool:
        """Return whether a text is a date in this order."""
        return self._parse(text) is not None

    def convert(self, text: str) -> str:
        """Return the JSON of a date: a text YYYY-MM-DD."""
        parsed = self._parse(text)
        return f'"{parsed.date().isoformat()}"' if parsed else "null"

    def _parse(self, text: str) -> datetime | None:
        pattern, long, short = ORDERS[self.order]
        if not re.fullmatch(pattern, text, re.ASCII):
            return None
        form = short if re.fullmatch(SHORT_YEAR, text, re.ASCII) else long
        try:
            return datetime.strptime(re.sub(SEPARATORS, "/", text), form)
        except ValueError:
            return None

    def condition_sql(self, column: str) -> str:
        """Return the SQL of the condition that a column's value is a date in this order."""
        pattern, _, _ = ORDERS[self.order]
        fits = f"regexp_full_match({column}, {sql.text(pattern)})"
        return f"(CASE WHEN {fits} THEN {self._day_sql(column)} IS NOT NULL ELSE false END)"

    def value_sql(self, column: str) -> str:
        """Return the SQL of the JSON of a column's dates."""
        return f"('\"' || {self.text_sql(column)} || '\"')"

    def text_sql(self, column: str) -> str:
        """Return the SQL of a column's dates as YYYY-MM-DD."""
        return f"strftime({self._day_sql(column)}, '%Y-%m-%d')"

    def _day_sql(self, column: str) -> str:
        _, long, short = ORDERS[self.order]
        form = f"CASE WHEN regexp_full_match({column}, '{SHORT_YEAR}')"
        plain = f"regexp_replace({column}, '{SEPARATORS}', '/', 'g')"
        return (
            f"({form} THEN try_strptime({plain}, '{short}') "
            f"ELSE try_strptime({plain}, '{long}') END)"
        )

    def describe(self, texts: Iterable[str]) -> str:
        """Return what the values are."""
        return f"dates as {', '.join(PART_NAMES[letter] for letter in self.order)}"


@dataclass(frozen=True)
class FormulaText:
    """Texts inside of `="` and `"`; empty ones are among the words for missing values."""

    def fits(self, text: str) -> bool:
        """Return whether a text is such a formula."""
        return re.fullmatch(PATTERN, text) is not None

    def convert(self, text: str) -> str:
        """Return the JSON of the text inside."""
        inside = text.removeprefix(BEGIN).removesuffix(END)
        return json.dumps(inside, ensure_ascii=False)

    def condition_sql(self, column: str) -> str:
        """Return the SQL of the condition that a column's value is such a formula."""
        return f"regexp_full_match({column}, {sql.text(PATTERN)})"

    def value_sql(self, column: str) -> str:
        """Return the SQL of the JSON of the texts inside."""
        return f"to_json({self.text_sql(column)})::VARCHAR"

    def text_sql(self, column: str) -> str:
        """Return the SQL of the texts inside."""
        return f"nullif(({column})[{len(BEGIN) + 1}:-{len(END) + 1}], '')"

    def describe(self, texts: Iterable[str]) -> str:
        """Return what the values are."""
        first = next(iter(texts))
        return f"formulas such as `{first}`: the texts inside are sent"

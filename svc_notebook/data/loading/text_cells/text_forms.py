"""Forms of texts that are converted: dates, and formulas whose text is sent.

Dates are in the order that an option names: `13/04/2024`, `13.4.24` and `2024/04/13`. Formulas such
as `="0441"` are written by programs so that a spreadsheet shows texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from svc_notebook.data.loading import sql

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

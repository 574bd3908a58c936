"""Texts that a program wrote as formulas, `="0441"`, so that a spreadsheet shows them as texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from svc_notebook.data.loading import sql

PATTERN = '="[^"]+"'
BEGIN, END = '="', '"'


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

"""The reading of a column of text: in SQL for DuckDB, and in Python with equal results."""

from __future__ import annotations

from dataclasses import dataclass

from svc_notebook.loading import sql
from svc_notebook.loading.encoding.json_sql import JsonSql
from svc_notebook.loading.table import TableColumn
from svc_notebook.loading.text_cells.amounts import AmountForm
from svc_notebook.loading.text_cells.dates import DateForm


@dataclass(frozen=True)
class TextReading:
    """The type of a column of text, the form of its amounts, and its words for missing values."""

    # "string", "boolean", "integer", "number" or "date".
    kind: str
    # The form of amounts and dates that are not sent as they are written.
    form: AmountForm | DateForm | None = None
    missing: tuple[str, ...] = ()
    # Why it is sent as text although its values look like amounts.
    doubt: str = ""

    def column_sql(self, field: TableColumn) -> JsonSql:
        """Return the SQL that writes the values of a column."""
        value = field.column
        if self.missing:
            absent = sql.one_of(value, self.missing)
            value = f"CASE WHEN {absent} THEN NULL ELSE {value} END"
        if self.kind == "string":
            return JsonSql(f"to_json({value})::VARCHAR", "text", complete=True)
        if self.form:
            return JsonSql(self.form.value_sql(f"({value})"), self.kind, complete=True)
        return JsonSql(f"lower({value})" if self.kind == "boolean" else value, self.kind,
                       complete=True)  # fmt: skip

    def write(self, text: str | None) -> str | None:
        """Return the JSON of a text of a column that is not sent as text; None if it is missing."""
        if text is None or text in self.missing:
            return None
        if self.form:
            return self.form.convert(text)
        return text.lower() if self.kind == "boolean" else text

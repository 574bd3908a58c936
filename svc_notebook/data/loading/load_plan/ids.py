"""The source of each record's objectID: a column, or a hash of the row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from svc_notebook.data.loading import sql
from svc_notebook.data.loading.database import MAX_PARALLEL_COLUMNS, aggregate
from svc_notebook.data.loading.encoding.json_sql import as_text
from svc_notebook.data.loading.encoding.json_values import (
    FUNCTION,
    MEMBERS_FUNCTION,
    canonical,
    canonical_members,
    map_texts,
)
from svc_notebook.data.loading.encoding.record_sql import (
    ColumnProfile,
    canonical_members_sql,
    object_sql,
)
from svc_notebook.data.loading.load_plan.profile import Profile, id_fields
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.table import Advice, SourceTable, TableColumn
from svc_notebook.data.loading.text_cells.text_forms import FormulaText
from svc_notebook.errors import BadInput

# The source of hashed ids, as plans and results name it.
HASHED = "hash of the row"
# The version of the hash; a load that was interrupted under another version is not resumed.
SCHEME = "canonical"
# A column of longer texts, of texts that contain blanks, or of dates is not proposed as the id.
MAX_PROPOSED_BYTES = 64
# The rows by which columns are chosen that are counted over all rows, and how many of them are.
MAX_FIRST_ROWS = 10_000
MAX_COUNTED_COLUMNS = 8
# In fewer rows, a unique column of texts is proposed only if it has the name of an id.
MIN_UNIQUE_ROWS = 3
# A column of unique whole numbers is proposed only if it has such a name.
ID_NAME = re.compile(
    r"(id|key|code|num|number|sku|isbn|ean|gtin|uuid|guid|slug|symbol"
    r"|nummer|nr\.?|kennung|schlüssel|n°|numéro|identifiant|référence|réf\.?|código|clave|número"
    r"|referencia|identificador|codice|numero|kod|numer|номер|код|артикул|κωδικός|رقم|رمز"
    r"|[编編番代]号|[编編]號|号|[代编品型]码|番号|コード|品番|型番|번호|코드)$",
    re.I,
)


# A date or a time of day.
DATE = (
    r"\d{4}-\d\d-\d\d([T ].*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}:\d\d(:\d\d.*)?"
    r"|\d{1,2}-[A-Za-z]{3}-\d{2,4}"
)


@dataclass(frozen=True)
class Ids:
    """The SQL of the ids, and their source."""

    sql: str
    origin: str
    column: str | None = None
    # Whether some row has no id, an invalid one, or the id of another row.
    faulty: bool = False
    notes: tuple[str, ...] = ()

    @property
    def hashed(self) -> bool:
        """Whether the ids are hashes of the rows."""
        return self.column is None


def find_ids(table: SourceTable, profile: Profile, options: LoadSettings) -> Ids:
    """Use the column of the option `id`, else a unique complete one, else hashes of the rows."""
    for field in [] if options.salt else id_fields(table, options):
        valid, distinct = profile.ids[field.name]
        good = valid == distinct == profile.rows
        if options.id or good or field.name == "objectID":
            text, is_complete = _text_inside(field, profile)
            return Ids(text, f"column `{field.name}`", field.name, not (good and is_complete))
    return _hash_rows(table, profile, options)


def _hash_rows(table: SourceTable, profile: Profile, options: LoadSettings) -> Ids:
    """Use hashes of the rows; the notes say why no column is the id."""
    if options.action != "replace":
        raise BadInput("pass the column of the ids: id='…'; a hash does not match stored records")
    members = _members_sql(table, profile, options)
    hashed = (
        f"md5(concat({sql.text(options.salt)}, {members}))" if options.salt else f"md5({members})"
    )
    ((distinct,),) = table.db.rows(f"SELECT count(DISTINCT hash({hashed})) FROM {table.sql}")
    notes = [reason_against(name, *counts, profile.rows) for name, counts in profile.ids.items()]
    if not options.salt and (unique := _find_unique(table, profile)):
        notes.append(proposal(unique))
    origin = f"{HASHED} and its partition" if options.salt else HASHED
    return Ids(hashed, origin, None, distinct != profile.rows, tuple(notes))


def _text_inside(field: TableColumn, profile: Profile) -> tuple[str, bool]:
    """Return the SQL of a column's texts, of formulas those inside, and whether none is empty."""
    text = as_text(field)
    readings = (column.reading for column in profile.columns if column.name == field.name)
    form = next((reading.form for reading in readings if reading), None)
    return (form.text_sql(text), False) if isinstance(form, FormulaText) else (text, True)


def _members_sql(table: SourceTable, profile: Profile, options: LoadSettings) -> str:
    """Return the SQL of what is hashed; a wide table uses a Python function, which is faster."""
    if len(profile.columns) > MAX_PARALLEL_COLUMNS:
        table.db.define(MEMBERS_FUNCTION, map_texts(canonical_members))
        return f"{MEMBERS_FUNCTION}({object_sql(profile.columns, options)})"
    table.db.define(FUNCTION, map_texts(canonical))
    return canonical_members_sql(profile.columns, options)


def reason_against(name: str, valid: int, distinct: int, rows: int) -> str:
    """Return the note why a column is not the id."""
    count, verb = (rows - valid, "lack") if valid < rows else (valid - distinct, "share")
    reason = f"1 row {verb}s it" if count == 1 else f"{count:,} rows {verb} it"
    return Advice(f"`{name}` is not the id: {reason}")


def proposal(name: str) -> str:
    """Return the note that proposes a column as the id."""
    return Advice(f"`{name}` is unique; pass id={name!r}")


def is_short(text: str) -> bool:
    """Return whether a text is short, and has neither blanks nor the form of a date."""
    short = 1 <= len(text.encode()) <= MAX_PROPOSED_BYTES and " " not in text
    return short and not re.fullmatch(DATE, text, re.S)


def order_proposals(columns: Sequence[ColumnProfile], rows: int) -> list[str]:
    """Return the complete columns of texts and whole numbers that can be ids, the likely first.

    These have the name of an id. In a few rows, any column is unique: then only a name tells an id.
    """
    complete = [c for c in columns if not c.missing and c.sent_as in ("text", "integer")]
    named = [column.name for column in complete if ID_NAME.search(column.name)]
    if rows < MIN_UNIQUE_ROWS:
        return named if rows > 1 else []
    texts = [column.name for column in complete if column.sent_as == "text"]
    return [*dict.fromkeys([*named, *texts])]


def _find_unique(table: SourceTable, profile: Profile) -> str | None:
    """Return a column that could be the id: every row has a short value that no other row has."""
    proposed = order_proposals(profile.columns, profile.rows)
    first = f"(SELECT * FROM {table.sql} LIMIT {MAX_FIRST_ROWS})"
    likely = _unique(table, proposed, first, min(profile.rows, MAX_FIRST_ROWS))
    if profile.rows > MAX_FIRST_ROWS:
        likely = _unique(table, likely[:MAX_COUNTED_COLUMNS], table.sql, profile.rows)
    return next(iter(likely), None)


def _unique(table: SourceTable, names: Sequence[str], source: str, rows: int) -> list[str]:
    """Return the columns that have a different value, short and without blanks, in every row."""
    by_name = {field.name: field for field in table.fields}
    counts = {name: _count_short(by_name[name]) for name in names}
    distinct = aggregate(table, counts.values(), source) if counts else {}
    return [name for name, count in counts.items() if distinct[count] == rows]


def _count_short(field: TableColumn) -> str:
    text = as_text(field)
    date = f"CASE WHEN {text} < ':' THEN regexp_full_match({text}, {sql.text(DATE)}, 's') END"
    short = (
        f"strlen({text}) BETWEEN 1 AND {MAX_PROPOSED_BYTES} AND NOT contains({text}, ' ') "
        f"AND NOT coalesce({date}, false)"
    )
    return f"count(DISTINCT hash({text})) FILTER ({short})"

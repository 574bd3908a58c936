"""The source of each record's objectID: a column, or a hash of the row."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from svc_notebook.errors import BadInput
from svc_notebook.loading import sql
from svc_notebook.loading.database import MAX_PARALLEL_COLUMNS
from svc_notebook.loading.encoding.canonical_json import (
    FUNCTION,
    MEMBERS_FUNCTION,
    canonical,
    canonical_members,
    each,
)
from svc_notebook.loading.encoding.json_sql import as_text
from svc_notebook.loading.encoding.record_sql import canonical_members_sql, object_sql
from svc_notebook.loading.load_plan.profile import SAMPLE_ROWS, Profile, ask, id_fields
from svc_notebook.loading.options import LoadSettings
from svc_notebook.loading.table import SourceTable, TableColumn

# What plans and results say of ids that are made here.
HASHED = "hash of the row"
# Which hash it is; loads broken off under another one are not resumed.
SCHEME = "canonical"
# A column of longer texts, or of texts with blanks in them, is not proposed as the id.
MAX_PROPOSED_BYTES = 64
# How many columns are counted over all rows before one is proposed.
MAX_PROPOSED = 8
# Unique whole numbers are ids only where their name says so.
ID_NAME = re.compile(r"(id|key|code|num|number|sku|isbn|ean|gtin|uuid|guid|slug|symbol)$", re.I)


@dataclass(frozen=True)
class Ids:
    """The SQL of the ids, and where they come from."""

    sql: str
    origin: str
    column: str | None = None
    # Whether some row has none, or one that another row has too.
    faulty: bool = False
    notes: tuple[str, ...] = ()

    @property
    def hashed(self) -> bool:
        """Whether they are made here."""
        return self.column is None


def find_ids(table: SourceTable, profile: Profile, options: LoadSettings) -> Ids:
    """Take the column named, else one that is unique and complete, else hash the rows."""
    for field in [] if options.salt else id_fields(table, options):
        held, different = profile.ids[field.name]
        good = held == different == profile.rows
        if options.id or good or field.name == "objectID":
            return Ids(as_text(field), f"column `{field.name}`", field.name, not good)
    if options.action != "replace":
        raise BadInput("give the column of the ids: id='…'; a hash finds no stored record")
    members = _members_sql(table, profile, options)
    hashed = (
        f"md5(concat({sql.text(options.salt)}, {members}))" if options.salt else f"md5({members})"
    )
    ((different,),) = table.db.rows(f"SELECT count(DISTINCT hash({hashed})) FROM {table.sql}")
    notes = [note_of(name, *counts, profile.rows) for name, counts in profile.ids.items()]
    if not options.salt and (found := _find_unique(table, profile)):
        notes.append(propose(found))
    origin = f"{HASHED} and of its part" if options.salt else HASHED
    return Ids(hashed, origin, None, different != profile.rows, tuple(notes))


def _members_sql(table: SourceTable, profile: Profile, options: LoadSettings) -> str:
    """Write what is hashed: in SQL, or for a wide table, whose SQL takes longer, in Python."""
    if len(profile.columns) > MAX_PARALLEL_COLUMNS:
        table.db.define(MEMBERS_FUNCTION, each(canonical_members))
        return f"{MEMBERS_FUNCTION}({object_sql(profile.columns, options)})"
    table.db.define(FUNCTION, each(canonical))
    return canonical_members_sql(profile.columns, options)


def note_of(name: str, held: int, different: int, rows: int) -> str:
    """Say why a column is not the ids."""
    lack = f"{rows - held:,} rows lack it" if held < rows else f"{held - different:,} rows share it"
    return f"`{name}` is not the id: {lack}"


def propose(name: str) -> str:
    """Advise to take a column as the id."""
    return f"`{name}` is unique; pass id={name!r}"


def is_short(text: str) -> bool:
    """Whether a text may be an id that is proposed."""
    return 1 <= len(text.encode()) <= MAX_PROPOSED_BYTES and " " not in text


def order_proposals(names: Mapping[str, bool]) -> list[str]:
    """Order columns that may be ids, given whether each is of text: named like an id first."""
    named = [name for name in names if ID_NAME.search(name)]
    return [*named, *(name for name, is_text in names.items() if is_text and name not in named)]


def _find_unique(table: SourceTable, profile: Profile) -> str | None:
    """Name a column that could be the id: every row has a short value of it, and its own."""
    texts = {
        column.name: column.sends == "text"
        for column in profile.columns
        if not column.missing and column.sends in ("text", "integer")
    }
    if profile.rows < 2 or not texts:
        return None
    first = f"(SELECT * FROM {table.sql} LIMIT {SAMPLE_ROWS})"
    likely = _unique(table, order_proposals(texts), first, min(profile.rows, SAMPLE_ROWS))
    if profile.rows > SAMPLE_ROWS:
        likely = _unique(table, likely[:MAX_PROPOSED], table.sql, profile.rows)
    return next(iter(likely), None)


def _unique(table: SourceTable, names: Sequence[str], source: str, rows: int) -> list[str]:
    """Keep the columns that have a value of its own, short and without blanks, for every row."""
    by_name = {field.name: field for field in table.fields}
    counts = {name: _count_short(by_name[name]) for name in names}
    answers = ask(table.db, counts.values(), source) if counts else {}
    return [name for name, count in counts.items() if answers[count] == rows]


def _count_short(field: TableColumn) -> str:
    text = as_text(field)
    short = f"strlen({text}) BETWEEN 1 AND {MAX_PROPOSED_BYTES} AND NOT contains({text}, ' ')"
    return f"count(DISTINCT hash({text})) FILTER ({short})"

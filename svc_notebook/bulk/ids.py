"""Where records get their objectID: a column, or a hash of the row."""

from __future__ import annotations

from dataclasses import dataclass

from svc_notebook.bulk import sql
from svc_notebook.bulk.options import Options
from svc_notebook.bulk.profile import Profile, id_fields
from svc_notebook.bulk.record import members_sql
from svc_notebook.bulk.rendering import as_text
from svc_notebook.bulk.table import Table
from svc_notebook.errors import BadInput


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


def find_ids(table: Table, profile: Profile, options: Options) -> Ids:
    """Take the column named, else one that is unique and complete, else hash the rows."""
    for field in [] if options.salt else id_fields(table, options):
        held, different = profile.ids[field.name]
        good = held == different == profile.rows
        if options.id or good or field.name == "objectID":
            origin = f"column `{field.name}`"
            return Ids(as_text(field), origin, field.name, not good)
    if options.action != "replace":
        raise BadInput("give the column of the ids: id='…'; a hash finds no stored record")
    members = members_sql(profile.columns, options)
    hashed = (
        f"md5(concat({sql.text(options.salt)}, {members}))" if options.salt else f"md5({members})"
    )
    ((different,),) = table.db.rows(f"SELECT count(DISTINCT hash({hashed})) FROM {table.sql}")
    notes = tuple(note_of(name, *counts, profile.rows) for name, counts in profile.ids.items())
    return Ids(hashed, "a hash of each row", None, different != profile.rows, notes)


def note_of(name: str, held: int, different: int, rows: int) -> str:
    """Say why a column is not the ids."""
    lack = f"{rows - held:,} rows lack it" if held < rows else f"{held - different:,} rows share it"
    return f"`{name}` is not the id: {lack}"

"""The pandas index of a stored DataFrame, which pandas or Dask saves as columns of a table.

A load excludes an index without a name, as for a DataFrame in memory; a named index is a column
like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from svc_notebook.data.loading.options import LoadSettings

if TYPE_CHECKING:
    import pyarrow as pa

# Dask's name for an index without a name.
UNNAMED = "__null_dask_index__"


@dataclass(frozen=True)
class StoredIndex:
    """The columns that were an index: those that are excluded, and those that are sent."""

    excluded: tuple[str, ...] = ()
    sent: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes about them in a plan."""
        return (
            *(f"`{n}` is the index of a DataFrame: not sent; name it in `columns` to send it"
              for n in self.excluded),
            *(f"`{n}` is the index of a DataFrame: sent as a column" for n in self.sent),
        )  # fmt: skip


def find_index(schemas: Iterable[pa.Schema], options: LoadSettings) -> StoredIndex:
    """Find the columns that are an index in each table that has them."""
    named_columns = options.named_columns() | {options.id}
    index_columns = _find_levels(schemas)
    excluded = tuple(
        c for c, named in index_columns.items() if not named and c not in named_columns
    )
    return StoredIndex(excluded, tuple(c for c, named in index_columns.items() if named))


def _find_levels(schemas: Iterable[pa.Schema]) -> dict[str, bool]:
    """Return the columns that are an index in each table, and whether some index has a name."""
    levels: dict[str, bool] = {}
    others: set[str] = set()
    for schema in schemas:
        named = dict(_levels(schema))
        others.update(set(schema.names) - named.keys())
        for column, has_name in named.items():
            levels[column] = levels.get(column, False) or has_name
    return {column: named for column, named in levels.items() if column not in others}


def _levels(schema: pa.Schema) -> Iterator[tuple[str, bool]]:
    """Yield each column that was an index, and whether the index had a name."""
    facts = _facts(schema)
    names = {column.get("field_name"): column.get("name") for column in facts.get("columns", [])}
    for column in facts.get("index_columns", []):
        if isinstance(column, str) and column in schema.names:  # a range has no column
            yield column, names.get(column) not in (None, UNNAMED)


def _facts(schema: pa.Schema) -> Mapping[str, Any]:
    """Read the metadata that pandas adds to a table; empty if it is missing or invalid."""
    try:
        facts = msgspec.json.decode((schema.metadata or {}).get(b"pandas", b"{}"), type=_Facts)
    except msgspec.MsgspecError:
        return {}
    return msgspec.structs.asdict(facts)


class _Facts(msgspec.Struct):
    columns: list[dict[str, Any]] = []
    index_columns: list[Any] = []

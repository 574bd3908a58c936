"""The pandas index of a stored DataFrame, which pandas or Dask saved as columns of a table.

A pandas reader restores the index. Here an index without a name is left out, as it is for a
DataFrame in memory, and a named index is a column like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from svc_notebook.loading.options import LoadSettings

if TYPE_CHECKING:
    import pyarrow as pa

# What Dask calls an index that has no name.
UNNAMED = "__null_dask_index__"


@dataclass(frozen=True)
class StoredIndex:
    """The columns that were an index: those to be left out, and those that are sent."""

    left_out: tuple[str, ...] = ()
    sent: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What a plan says of them."""
        return (
            *(f"`{n}` is the index of a DataFrame: left out; `columns` takes it"
              for n in self.left_out),
            *(f"`{n}` is the index of a DataFrame: sent as a column" for n in self.sent),
        )  # fmt: skip


def find_index(schemas: Iterable[pa.Schema], options: LoadSettings) -> StoredIndex:
    """Find the columns that were an index in each table that has them."""
    wanted = options.named_columns() | {options.id}
    levels: dict[str, bool] = {}
    others: set[str] = set()
    for schema in schemas:
        named = dict(_levels(schema))
        others.update(set(schema.names) - named.keys())
        for column, has_name in named.items():
            levels[column] = levels.get(column, False) or has_name
    own = {column: named for column, named in levels.items() if column not in others}
    left_out = tuple(c for c, named in own.items() if not named and c not in wanted)
    return StoredIndex(left_out, tuple(c for c, named in own.items() if named))


def read_schemas(paths: Iterable[Path]) -> Iterator[pa.Schema]:
    """Read the schemas of Parquet files, passing over those that cannot be read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for path in paths:
        try:
            yield pq.read_schema(path)
        except (pa.ArrowException, OSError):
            continue  # DuckDB tells what is wrong with it, if anything is


def _levels(schema: pa.Schema) -> Iterator[tuple[str, bool]]:
    """Yield each column that was an index, and whether that had a name."""
    facts = _facts(schema)
    names = {column.get("field_name"): column.get("name") for column in facts.get("columns", [])}
    for column in facts.get("index_columns", []):
        if isinstance(column, str) and column in schema.names:  # a range is no column
            yield column, names.get(column) not in (None, UNNAMED)


def _facts(schema: pa.Schema) -> Mapping[str, Any]:
    """Read what pandas says of a table; nothing where it is not as pandas writes it."""
    try:
        found = msgspec.json.decode((schema.metadata or {}).get(b"pandas", b"{}"), type=_Facts)
    except msgspec.MsgspecError:
        return {}
    return msgspec.structs.asdict(found)


class _Facts(msgspec.Struct):
    columns: list[dict[str, Any]] = []
    index_columns: list[Any] = []

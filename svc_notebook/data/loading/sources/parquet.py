"""Parquet files as one table with the union of their columns; no value is changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from svc_notebook.data.loading import sql
from svc_notebook.data.loading.database import MIN_MEGABYTES
from svc_notebook.data.loading.encoding.json_sql import refuse_durations
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sources.dataframe import check_unique, find_index
from svc_notebook.data.loading.sources.read_limits import check_parquet
from svc_notebook.data.loading.table import SourceTable, TableColumn
from svc_notebook.errors import BadInput

if TYPE_CHECKING:
    import pyarrow as pa

    from svc_notebook.data.loading.database import Database

# Floats represent all whole numbers up to this exactly.
MAX_EXACT_FLOAT_INTEGER = 2**53
# The type of each column in each file.
ColumnTypes = Mapping[str, Mapping[Path, "pa.DataType"]]


class Footer(NamedTuple):
    """What a footer says: the schema, the bytes of the largest row group, all rows and bytes."""

    schema: pa.Schema
    group_bytes: int
    rows: int = 0
    unpacked_bytes: int = 0


Footers = Mapping[Path, Footer]


def open_parquet(
    paths: Sequence[Path], name: str, options: LoadSettings, db: Database
) -> SourceTable:
    """Make a table of Parquet files."""
    footers = read_footers(paths)
    for path, footer in footers.items():
        check_parquet(path, footer.rows, footer.unpacked_bytes, name)
    inner = read_parquet(paths, footers, options, db)
    excluded, notes = find_index((footer.schema for footer in footers.values()), options)
    types = db.types(f"SELECT * FROM {inner}")
    kept = [(column, kind) for column, kind in types.items() if column not in excluded]
    fields = tuple(TableColumn(column, f"c{i}", kind) for i, (column, kind) in enumerate(kept))
    if not fields:
        raise BadInput(f"{name} has no columns")
    picked = ", ".join(f"{sql.name(f.name)} AS {f.column}" for f in fields)
    return SourceTable(db, f"(SELECT {picked} FROM {inner})", fields, name, notes=notes)


def read_footers(paths: Iterable[Path]) -> dict[Path, Footer]:
    """Read the footers of files; a file that cannot be read has none: DuckDB reports the error."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    footers = {}
    for path in paths:
        with suppress(pa.ArrowException, OSError):
            facts = pq.read_metadata(path)
            sizes = [facts.row_group(n).total_byte_size for n in range(facts.num_row_groups)]
            schema = facts.schema.to_arrow_schema()
            footers[path] = Footer(schema, max(sizes, default=0), facts.num_rows, sum(sizes))
    return footers


def read_parquet(
    paths: Sequence[Path], footers: Footers, options: LoadSettings, db: Database
) -> str:
    """Return the SQL that reads files as one table; raises `BadInput` if values would change."""
    db.grant(needed_megabytes(footers, db.threads))
    types = _column_types(footers)
    for footer in footers.values():
        check_unique(footer.schema.names)
    _check_folders(paths, types)
    chosen = types.keys() if options.columns is None else {*options.columns, options.id}
    _check_case(types)
    for name in types.keys() & chosen - options.dtype.keys():
        _check_column(name, types[name], db)
    return scan(paths)


def needed_megabytes(footers: Footers, threads: int) -> int:
    """Return the memory in MB that a scan of files needs: each thread has a row group in memory."""
    largest = max((footer.group_bytes for footer in footers.values()), default=0)
    columns = max((len(footer.schema) for footer in footers.values()), default=0)
    # A row group is in memory twice: as it is read, and decompressed.
    return MIN_MEGABYTES + columns + 2 * threads * largest // 1_000_000


def distinct_paths(paths: Iterable[Path], footers: Footers) -> list[Path]:
    """Return the first file of each schema and folder, and those without a footer.

    The names of folders can be values of columns, whose types depend on all of them.
    """
    firsts: dict[Any, Path] = {}
    for path in paths:
        footer = footers.get(path)
        columns = str(footer.schema.remove_metadata()) if footer else path
        firsts.setdefault((columns, path.parent), path)
    return list(firsts.values())


def scan(paths: Iterable[Path]) -> str:
    """Return the SQL of a scan of files, with every column that one of them has."""
    return f"read_parquet({sql.listing(map(str, paths))}, union_by_name=true)"


def _column_types(footers: Footers) -> ColumnTypes:
    types: dict[str, dict[Path, pa.DataType]] = {}
    for path, footer in footers.items():
        for column in footer.schema:
            types.setdefault(column.name, {})[path] = column.type
    return types


def _check_folders(paths: Sequence[Path], types: ColumnTypes) -> None:
    """Raise if a folder such as `a=3` has the name of a stored column, which it would replace."""
    for path in paths:
        for part in path.parts[:-1]:
            name, mark, _ = part.partition("=")
            if mark and name in types:
                raise BadInput(
                    f"`{name}` is a column of the files, and the folder `{part}` would replace its "
                    "values: load SELECT * FROM read_parquet('…', hive_partitioning=false) for the "
                    "stored values, or rename the folder"
                )


def _check_case(types: ColumnTypes) -> None:
    """Raise for names that differ only in case, which DuckDB would rename or merge."""
    _check_names(types)
    for in_files in types.values():
        for kind in in_files.values():
            for members in _members(kind):
                _check_names(members)


def _check_names(names: Collection[str]) -> None:
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise BadInput(
                f"`{other}` and `{name}` differ only in case, which the Parquet reader ignores; "
                "rename one of them, or load a DataFrame or NDJSON"
            )


def _members(kind: pa.DataType) -> Iterator[list[str]]:
    """Yield the names of the members of each object in a type."""
    if not kind.num_fields:
        return
    fields = [kind.field(number) for number in range(kind.num_fields)]
    yield [field.name for field in fields]
    for field in fields:
        yield from _members(field.type)


def _check_column(name: str, in_files: Mapping[Path, pa.DataType], db: Database) -> None:
    import pyarrow.types as of

    if any(map(of.is_duration, in_files.values())):
        refuse_durations(name)
    for (path, kind), (other_path, other) in combinations(_firsts(in_files), 2):
        family, other_family = _family(kind), _family(other)
        if family == other_family or "null" in (family, other_family):
            continue
        whole = [path for path, kind in in_files.items() if of.is_integer(kind)]
        if {family, other_family} == {"integer", "floating"} and not _has_large_integers(
            name, whole, db
        ):
            continue
        raise BadInput(
            f"`{name}` is {kind} in {path.name} and {other} in {other_path.name}, so its values "
            f"would change: load the files one by one, or pass its type: dtype={{'{name}': …}}"
        )


def _firsts(in_files: Mapping[Path, pa.DataType]) -> list[tuple[Path, pa.DataType]]:
    """Return the first file of each type."""
    firsts: dict[str, tuple[Path, pa.DataType]] = {}
    for path, kind in in_files.items():
        firsts.setdefault(str(kind), (path, kind))
    return list(firsts.values())


def _family(kind: pa.DataType) -> str:
    """Return the family of a type; DuckDB merges types of one family without changing values."""
    import pyarrow.types as of

    if of.is_dictionary(kind):
        return _family(kind.value_type)
    families = {
        "null": of.is_null, "integer": of.is_integer, "floating": of.is_floating,
        "text": lambda k: of.is_string(k) or of.is_large_string(k) or of.is_string_view(k),
        "time": lambda k: of.is_timestamp(k) and k.tz is None, "moment": of.is_timestamp,
        "date": of.is_date,
    }  # fmt: skip
    return next((family for family, holds in families.items() if holds(kind)), str(kind))


def _has_large_integers(name: str, paths: Sequence[Path], db: Database) -> bool:
    """Return whether a float cannot represent some whole number of a column."""
    column = sql.name(name)
    beyond = f"{column} NOT BETWEEN -{MAX_EXACT_FLOAT_INTEGER} AND {MAX_EXACT_FLOAT_INTEGER}"
    return bool(db.rows(f"SELECT count(*) FILTER ({beyond}) FROM {scan(paths)}")[0][0])

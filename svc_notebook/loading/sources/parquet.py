"""Parquet files as one table with the union of their columns; no value is changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from svc_notebook.errors import BadInput
from svc_notebook.loading import sql
from svc_notebook.loading.database import LEAST_MEGABYTES
from svc_notebook.loading.encoding.json_sql import refuse_spans
from svc_notebook.loading.options import LoadSettings

if TYPE_CHECKING:
    import pyarrow as pa

    from svc_notebook.loading.database import Database

# Whole numbers up to this are floats, too.
MAX_EXACT_FLOAT_INTEGER = 2**53
# For each column, its type in each file.
Kinds = Mapping[str, Mapping[Path, "pa.DataType"]]


def read_parquet(paths: Sequence[Path], options: LoadSettings, db: Database) -> str:
    """Write the SQL that reads files as one; raises where that would change what they hold."""
    db.grant(needed_megabytes(paths, db.threads))
    kinds = _kinds(paths)
    chosen = kinds.keys() if options.columns is None else {*options.columns, options.id}
    _refuse_case(kinds)
    for name in kinds.keys() & chosen - options.dtype.keys():
        _check_column(name, kinds[name], db)
    return scan(paths)


def needed_megabytes(paths: Sequence[Path], threads: int) -> int:
    """Return the memory that reading files takes: each thread holds a row group of them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    largest = columns = 0
    for path in paths:
        with suppress(pa.ArrowException, OSError):  # DuckDB tells what is wrong with it
            facts = pq.read_metadata(path)
            groups = (facts.row_group(number) for number in range(facts.num_row_groups))
            largest = max([largest, *(group.total_byte_size for group in groups)])
            columns = max(columns, facts.num_columns)
    # A group is held as it is read and as it is unpacked.
    return LEAST_MEGABYTES + columns + 2 * threads * largest // 1_000_000


def scan(paths: Iterable[Path]) -> str:
    """Write the call that reads files, with every column that one of them has."""
    return f"read_parquet({sql.listing(map(str, paths))}, union_by_name=true)"


def _kinds(paths: Sequence[Path]) -> Kinds:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds: dict[str, dict[Path, pa.DataType]] = {}
    for path in paths:
        try:
            schema = pq.read_schema(path)
        except (pa.ArrowException, OSError):
            continue  # DuckDB tells what is wrong with it, if anything is
        for column in schema:
            kinds.setdefault(column.name, {})[path] = column.type
    return kinds


def _refuse_case(kinds: Kinds) -> None:
    """Refuse names that DuckDB, which takes no notice of case, would rename or merge."""
    _refuse_twins(kinds)
    for in_files in kinds.values():
        for kind in in_files.values():
            for members in _members(kind):
                _refuse_twins(members)


def _refuse_twins(names: Collection[str]) -> None:
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise BadInput(
                f"`{other}` and `{name}` differ in case alone, and would not be told apart; rename "
                "one of them, or load a DataFrame or NDJSON"
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
        refuse_spans(name)
    for (path, kind), (other_path, other) in combinations(_firsts(in_files), 2):
        one, two = _family(kind), _family(other)
        if one == two or "null" in (one, two):
            continue
        whole = [path for path, kind in in_files.items() if of.is_integer(kind)]
        if {one, two} == {"integer", "floating"} and not _holds_large(name, whole, db):
            continue
        raise BadInput(
            f"`{name}` is {kind} in {path.name} and {other} in {other_path.name}, and would not "
            f"be sent as it is: load them one by one, or say what it is: dtype={{'{name}': …}}"
        )


def _firsts(in_files: Mapping[Path, pa.DataType]) -> list[tuple[Path, pa.DataType]]:
    """Take one file for each type."""
    firsts: dict[str, tuple[Path, pa.DataType]] = {}
    for path, kind in in_files.items():
        firsts.setdefault(str(kind), (path, kind))
    return list(firsts.values())


def _family(kind: pa.DataType) -> str:
    """Name what one type has in common with those that DuckDB makes it one with, unchanged."""
    import pyarrow.types as of

    if of.is_dictionary(kind):
        return _family(kind.value_type)
    families = {"null": of.is_null, "integer": of.is_integer, "floating": of.is_floating}
    texts = {"text": lambda k: of.is_string(k) or of.is_large_string(k) or of.is_string_view(k)}
    times = {"time": lambda k: of.is_timestamp(k) and k.tz is None, "moment": of.is_timestamp}
    every = {**families, **texts, **times, "date": of.is_date}
    found = next((family for family, is_one in every.items() if is_one(kind)), None)
    return found or str(kind)


def _holds_large(name: str, paths: Sequence[Path], db: Database) -> bool:
    """Tell whether some whole number would not be the same as a float."""
    column = sql.name(name)
    beyond = f"{column} NOT BETWEEN -{MAX_EXACT_FLOAT_INTEGER} AND {MAX_EXACT_FLOAT_INTEGER}"
    return bool(db.rows(f"SELECT count(*) FILTER ({beyond}) FROM {scan(paths)}")[0][0])

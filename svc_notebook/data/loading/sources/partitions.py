"""The partitions of a source that Dask workers send: its Dask partitions, or its files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from svc_notebook.data.loading import sql
from svc_notebook.data.loading.database import Database
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sources.dataframe import find_index
from svc_notebook.data.loading.sources.parquet import (
    Footer,
    distinct_paths,
    read_footers,
    read_parquet,
    scan,
)
from svc_notebook.data.loading.sources.source import QUERY, Source, origin_of, parquet_folder
from svc_notebook.data.loading.table import TableOrigin
from svc_notebook.errors import BadInput

# Files whose footers one task reads; fewer are read in this process.
FOOTERS_PER_TASK = 32
FOOTERS_SECONDS = 60.0


@dataclass(frozen=True)
class SourcePartitions:
    """Delayed DataFrames or queries, one for each partition, and the names of their columns."""

    name: str
    columns: tuple[str, ...]
    partitions: Sequence[Any]
    notes: tuple[str, ...] = ()
    # None if the partitions cannot be recognised in a later load.
    origin: TableOrigin | None = None

    def __len__(self) -> int:
        return len(self.partitions)

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        return iter(enumerate(self.partitions))

    def first(self) -> Source:
        """Return the first partition as a source."""
        first = self.partitions[0]
        return first if isinstance(first, str) else first.compute(scheduler="synchronous")


def may_have_partitions(source: Any) -> bool:
    """Return whether `find_partitions` can find some: if not, it is not worth a thread."""
    is_path = isinstance(source, (str, os.PathLike))
    return is_dask(source) or (is_path and "distributed" in sys.modules)


def find_partitions(source: Any, options: LoadSettings) -> SourcePartitions | None:
    """Return the partitions of a Dask DataFrame, or, on a cluster, of a folder of Parquet files.

    None for any other source, which is loaded in this process.
    """
    if is_dask(source):
        names = tuple(map(str, (*_named(source), *source.columns)))
        name = f"the Dask DataFrame of {source.npartitions:,} partitions"
        return SourcePartitions(name, names, source.to_delayed(), origin=_origin_of(source))
    named = isinstance(source, (str, os.PathLike)) and not QUERY.match(str(source))
    if named and find_workers() is not None and (files := parquet_folder(Path(source))):
        return _files(str(source), files, options)
    return None


def is_dask(source: object) -> bool:
    """Return whether a source is a Dask DataFrame; Dask is not imported for it."""
    dask = sys.modules.get("dask.dataframe")
    return dask is not None and isinstance(source, dask.DataFrame)


def _origin_of(source: Any) -> TableOrigin | None:
    """Return the token of the computation, which depends on files, code and partitions.

    None if Dask knows none that is equal in another process.
    """
    from dask import config
    from dask.base import tokenize

    try:
        with config.set({"tokenize.ensure-deterministic": True}):
            token = tokenize(_describe(source.expr), source.npartitions)
    except Exception:  # any object of the computation can fail to be tokenized
        return None
    return TableOrigin("Dask", f"dask {token}")


def _describe(expr: Any) -> Any:
    """Return a computation as nested lists, without the caches that differ in each process."""
    if not hasattr(expr, "operands"):
        return expr
    names = [*getattr(expr, "_parameters", ()), *[""] * len(expr.operands)]
    pairs = zip(names, expr.operands, strict=False)
    kept = [_describe(value) for name, value in pairs if name != "_dataset_info_cache"]
    # The digest of the times and sizes of Parquet files.
    info = getattr(expr, "_dataset_info", None)
    return [type(expr).__qualname__, kept, info["checksum"] if info else None]


def find_workers() -> Any:
    """Return the client of the running Dask cluster, if there is one."""
    # Another thread may be importing it: until it has imported all of it, there is no client.
    get_client = getattr(sys.modules.get("distributed"), "get_client", None)
    if get_client is None:
        return None
    try:
        return get_client()
    except ValueError:
        return None


def _named(source: Any) -> list[str]:
    name = source.index.name
    return [name] if name is not None and name not in source.columns else []


def _files(name: str, files: Sequence[Path], options: LoadSettings) -> SourcePartitions:
    """Return a query for each file; a column has one type in all, folder names are columns."""
    paths = [file.absolute() for file in files]
    footers = _read_footers(paths)
    with Database() as db:
        db.about = name
        read_parquet(paths, footers, options, db)
        # DuckDB would read the footers of all files again.
        types = db.types(f"SELECT * FROM {scan(distinct_paths(paths, footers))}")
    excluded, notes = find_index((footer.schema for footer in footers.values()), options)
    kept = {column: kind for column, kind in types.items() if column not in excluded}
    queries = [query_of(path, kept) for path in paths]
    origin = origin_of(paths, None)
    return SourcePartitions(
        f"{name} of {len(files):,} files", tuple(kept), queries, notes,
        # A load in one process has another checkpoint: its entries are batches.
        origin._replace(state=f"files {origin.state}"),
    )  # fmt: skip


def _read_footers(paths: Sequence[Path]) -> dict[Path, Footer]:
    """Read the footers of many files on the workers; what these do not read, in this process.

    Raises `BadInput` if workers cannot read files that this process can.
    """
    cluster = find_workers()
    if len(paths) <= FOOTERS_PER_TASK or not cluster.scheduler_info()["workers"]:
        return read_footers(paths)
    parts = [paths[at : at + FOOTERS_PER_TASK] for at in range(0, len(paths), FOOTERS_PER_TASK)]
    tasks = cluster.map(read_footers, parts, pure=False)
    try:
        results = [task.result(timeout=FOOTERS_SECONDS) for task in tasks]
        footers = {path: footer for result in results for path, footer in result.items()}
    except Exception:  # the cluster is lost or busy; the load reports what is wrong with it
        footers = {}
    finally:
        cluster.cancel(tasks, force=True)
    local = read_footers(path for path in paths if path not in footers)
    if footers and local:
        raise BadInput(
            f"workers cannot read {len(local):,} of {len(paths):,} files, such as "
            f"{next(iter(local))}: the files must have the same path on every worker; put them on "
            "storage that all see, or load a Dask DataFrame"
        )
    # In the order of the files, which is that of the columns.
    every = {**footers, **local}
    return {path: every[path] for path in paths if path in every}


def query_of(path: Path, types: Mapping[str, str]) -> str:
    """Return the query of one file's rows, with all columns of the folder and their types."""
    every = f"SELECT {', '.join(f'NULL::{kind} AS {sql.name(n)}' for n, kind in types.items())}"
    typed = f"SELECT COLUMNS(lambda c: list_contains({sql.listing(types)}, c)) FROM {scan([path])}"
    return f"{every} WHERE false UNION ALL BY NAME {typed}"

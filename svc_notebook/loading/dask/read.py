"""An index as a Dask DataFrame: the worker that computes a partition browses it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pandas as pd

from svc_notebook.api.parameters import SearchParams
from svc_notebook.client.operations import BROWSE_PAGE_RECORDS, FULL_RECORD_PARAMS
from svc_notebook.client.task_group import run_together
from svc_notebook.errors import BadInput, CallFailed, SvcError
from svc_notebook.frames import read_browse
from svc_notebook.frames.columns import Columns
from svc_notebook.loading.dask.partition_filters import divide
from svc_notebook.loading.dask.worker_credentials import WorkerCredentials

if TYPE_CHECKING:
    import dask.dataframe as dd

    from svc_notebook.client import AsyncClient

# Records, over all partitions, from which columns and types are inferred.
SAMPLE_RECORDS = 5_000
# Nullable dtypes, so that values can be missing in every partition.
NULLABLE = {"int64": "Int64", "uint64": "UInt64", "bool": "boolean"}


async def read_dask(
    client: AsyncClient,
    index: str,
    *,
    by: str,
    npartitions: int = 8,
    divisions: Sequence[float] | None = None,
    columns: Sequence[str] | None = None,
    dtype: Mapping[str, Any] | None = None,
    **params: Unpack[SearchParams],
) -> dd.DataFrame:
    """Return an index as a Dask DataFrame; its partitions are read when they are computed.

    It is partitioned `by` a facet's values or the ranges of a number. The columns and dtypes are
    those of the first records of each partition, unless `columns` and `dtype` are given.
    """
    dataframe, config = _import_dask()
    if npartitions < 1:
        raise BadInput("`npartitions` is 1 or more")
    _check_divisions(divisions)
    if columns is None:
        params = {**FULL_RECORD_PARAMS, **params}
    filters = await divide(client, index, by, npartitions, divisions, params)
    meta = await _look(client, index, filters, columns, params)
    meta = meta.astype(dict(dtype)) if dtype else meta
    asked = {"columns": columns, **params}
    # It would convert lists and objects to text.
    with config.set({"dataframe.convert-string": False}):
        made: dd.DataFrame = dataframe.from_map(
            read_part, filters,
            ticket=WorkerCredentials(client.connection), index=index, asked=asked,
            schema=meta, meta=meta, label="svc-browse", enforce_metadata=False,
        )  # fmt: skip
    return made


def _check_divisions(divisions: object) -> None:
    if divisions is None:
        return
    every = list(divisions) if isinstance(divisions, Iterable) else []
    numbers = [each for each in every if isinstance(each, (int, float, np.number))]
    if not every or len(numbers) < len(every) or not all(map(math.isfinite, numbers)):
        raise BadInput(f"`divisions` are the bounds of a number: [0, 10, 100], not {divisions!r}")


def read_part(
    filters: str,
    *,
    ticket: WorkerCredentials,
    index: str,
    asked: Mapping[str, Any],
    schema: pd.DataFrame,
) -> pd.DataFrame:
    """Read one partition, on a worker, in the given schema."""

    async def read() -> pd.DataFrame:
        async with ticket.client() as client:
            found: pd.DataFrame = await read_browse(client, index, **{**asked, "filters": filters})
            return found

    try:
        return conform(asyncio.run(read()), schema)
    except CallFailed as error:
        # Errors with additional members are not unpickled correctly.
        raise SvcError(str(error)) from None


def conform(frame: pd.DataFrame, schema: pd.DataFrame) -> pd.DataFrame:
    """Convert a DataFrame to the columns and dtypes of the schema; raise if data would be lost."""
    others = frame.columns.difference(schema.columns)
    if len(others):
        raise BadInput(
            f"some records have `{others[0]}`, which the first ones had not; "
            "name the columns: columns=[…]"
        )
    made = frame.reindex(columns=schema.columns)
    for name, dtype in schema.dtypes.items():
        if dtype.kind == "O" and name not in frame:
            made[name] = None
        try:
            made[name] = made[name].astype(dtype)
        except (TypeError, ValueError) as error:
            raise BadInput(
                f"`{name}` is not {dtype} in all records, as it is in the first ones; "
                f"say what it is: dtype={{'{name}': object}}"
            ) from error
    return made


async def _look(
    client: AsyncClient,
    index: str,
    filters: Sequence[str],
    columns: Sequence[str] | None,
    params: SearchParams,
) -> pd.DataFrame:
    """Return an empty DataFrame with the columns and dtypes of each partition's first records."""
    if isinstance(columns, str):
        raise BadInput(f"`columns` should be a list of names: columns=[{columns!r}]")
    wanted = None if columns is None else ["objectID", *(c for c in columns if c != "objectID")]
    page: SearchParams = {
        "hitsPerPage": min(max(SAMPLE_RECORDS // len(filters), 50), BROWSE_PAGE_RECORDS),
        **params,
    }
    page["attributesToHighlight"] = []
    hits: dict[str, Any] = {}

    async def look(each: str) -> None:
        part: SearchParams = {**page, "filters": each}
        hits[each] = (await client.browse(index, None, **part))["hits"]

    await run_together(map(look, filters))
    gathered = Columns(wanted)
    gathered.add(hit for each in filters for hit in hits[each])
    frame = gathered.frame()
    names = ["objectID", *frame.columns.drop("objectID", errors="ignore")]
    return frame.reindex(columns=names).astype(_nullable(frame)).iloc[:0]


def _nullable(frame: pd.DataFrame) -> dict[str, str]:
    return {
        str(name): NULLABLE[str(dtype)]
        for name, dtype in frame.dtypes.items()
        if str(dtype) in NULLABLE
    }


def _import_dask() -> tuple[Any, Any]:
    try:
        from dask import config, dataframe
    except ImportError as error:
        raise BadInput('this needs Dask: pip install "svc-notebook[dask]"') from error
    return dataframe, config

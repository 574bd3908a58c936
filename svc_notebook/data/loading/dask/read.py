"""An index as a Dask DataFrame: each partition is a filter, or a range of pages of a browse."""

from __future__ import annotations

import asyncio
import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pandas as pd

from svc_notebook.core.api.parameters import SearchParams
from svc_notebook.core.api.values import is_number
from svc_notebook.core.imports import register_accessors
from svc_notebook.data.client.operations import BROWSE_PAGE_RECORDS, FULL_RECORD_PARAMS
from svc_notebook.data.client.task_group import run_together
from svc_notebook.data.frames import read_browse
from svc_notebook.data.frames.columns import Columns
from svc_notebook.data.loading.dask.partition_sender import WorkerCredentials
from svc_notebook.errors import BadInput, CallFailed, NotFound, SvcError

if TYPE_CHECKING:
    import dask.dataframe as dd

    from svc_notebook.data.client import AsyncClient

# Records, over all partitions, from which columns and types are inferred.
SAMPLE_RECORDS = 5_000
MIN_SAMPLE_RECORDS_PER_PARTITION = 50
MAX_PARTITIONS = 10_000
# Nullable dtypes, so that values can be missing in every partition.
NULLABLE = {"int64": "Int64", "uint64": "UInt64", "bool": "boolean"}
# Facet values that a service returns, and those that filters name; the rest is one partition.
MAX_FACET_VALUES, MAX_NAMED_VALUES = 1000, 200
# Pages of a browse from which the bounds of a number are inferred.
SAMPLED_PAGES = 8
COUNT_ONLY: SearchParams = {
    "hitsPerPage": 0,
    "attributesToHighlight": [],
    "analytics": False,
    "enableRules": False,
    "distinct": False,
}


async def read_dask(
    client: AsyncClient,
    index: str,
    *,
    by: str | None = None,
    npartitions: int = 8,
    divisions: Sequence[float] | None = None,
    columns: Sequence[str] | None = None,
    dtype: Mapping[str, Any] | None = None,
    **params: Unpack[SearchParams],
) -> dd.DataFrame:
    """Return an index as a Dask DataFrame; its partitions are read when they are computed.

    It is partitioned `by` a facet's values or the ranges of a number; without `by`, into ranges of
    the pages of a browse. The columns and dtypes are those of the first records of each partition,
    unless `columns` and `dtype` are given.
    """
    dataframe, config = _import_dask()
    if not 1 <= npartitions <= MAX_PARTITIONS:
        raise BadInput(f"`npartitions` must be from 1 to {MAX_PARTITIONS:,}, not {npartitions}")
    _check_divisions(divisions)
    if columns is None:
        params = {**FULL_RECORD_PARAMS, **params}
    partitions = await divide(client, index, by, npartitions, divisions, params)
    meta = await _infer_schema(client, index, partitions, columns, params)
    meta = meta.astype(dict(dtype)) if dtype else meta
    # Dask would convert lists and objects to text.
    with config.set({"dataframe.convert-string": False}):
        made: dd.DataFrame = dataframe.from_map(
            read_partition, partitions,
            credentials=WorkerCredentials(client.connection), index=index,
            params={"columns": columns, **params},
            schema=meta, meta=meta, label="svc-browse", enforce_metadata=False,
        )  # fmt: skip
    return made


def _check_divisions(divisions: object) -> None:
    if divisions is None:
        return
    every = list(divisions) if isinstance(divisions, Iterable) else []
    numbers = [division for division in every if isinstance(division, (int, float, np.number))]
    if not every or len(numbers) < len(every) or not all(map(math.isfinite, numbers)):
        raise BadInput(
            f"`divisions` must be the bounds of a number: [0, 10, 100], not {divisions!r}"
        )


@dataclass(frozen=True)
class IndexPartition:
    """The records that pass a filter, or those on some pages of a browse, and their number."""

    filters: str
    records: int
    # The first page, and the page after the last one; the number of records of a page.
    pages: tuple[int, int] | None = None
    page_records: int = BROWSE_PAGE_RECORDS
    # The number of records on all pages.
    total: int = 0


def read_partition(
    partition: IndexPartition,
    *,
    credentials: WorkerCredentials,
    index: str,
    params: Mapping[str, Any],
    schema: pd.DataFrame,
) -> pd.DataFrame:
    """Read one partition, on a worker, in the given schema; raise if its size has changed."""

    async def read() -> pd.DataFrame:
        async with credentials.client() as client:
            if partition.pages:
                return await _read_pages(client, index, partition, params)
            search_params = {**params, "filters": partition.filters}
            table: pd.DataFrame = await read_browse(client, index, **search_params)
            return table

    try:
        frame = asyncio.run(read())
    except CallFailed as error:
        # Errors with additional members are not unpickled correctly.
        raise SvcError(str(error)) from None
    if len(frame) != partition.records:
        raise _changed(f"a partition of {index}", len(frame), partition.records)
    return conform(frame, schema)


def _changed(what: str, count: int, expected: int) -> BadInput:
    return BadInput(
        f"{what} has {count:,} records, but had {expected:,} when the partitions were made: the "
        "index has changed, so that records could be lost or read twice. Call svc.read_dask again"
    )


async def _read_pages(
    client: AsyncClient, index: str, partition: IndexPartition, params: Mapping[str, Any]
) -> pd.DataFrame:
    columns = params.get("columns")
    others: Any = {name: value for name, value in params.items() if name != "columns"}
    gathered = Columns(_with_id(columns))
    for page in range(*partition.pages or (0, 0)):
        others |= {"page": page, "hitsPerPage": partition.page_records}
        answer = await client.browse(index, None, **_page_params(partition.filters, others))
        # One record more or less moves the records of all later pages.
        if (total := answer.get("nbHits", partition.total)) != partition.total:
            raise _changed(index, total, partition.total)
        gathered.add(answer["hits"])
    return gathered.frame()


def _page_params(filters: str, params: Mapping[str, Any]) -> SearchParams:
    page: Any = {**params, "attributesToHighlight": []}
    if filters:
        page["filters"] = filters
    page_params: SearchParams = page
    return page_params


def _with_id(columns: Sequence[str] | None) -> list[str] | None:
    return None if columns is None else ["objectID", *(c for c in columns if c != "objectID")]


def conform(frame: pd.DataFrame, schema: pd.DataFrame) -> pd.DataFrame:
    """Convert a DataFrame to the columns and dtypes of the schema; raise if data would be lost."""
    others = frame.columns.difference(schema.columns)
    if len(others):
        raise BadInput(
            f"some records have `{others[0]}`, which the first records of the partitions lack; "
            "name the columns: columns=[…]"
        )
    made = frame.reindex(columns=schema.columns)
    for column, dtype in schema.dtypes.items():
        if dtype.kind == "O" and column not in frame:
            made[column] = None
        try:
            made[column] = made[column].astype(dtype)
        except (TypeError, ValueError) as error:
            raise BadInput(
                f"`{column}` is not {dtype} in all records, as it is in the first ones; "
                f"pass its type: dtype={{'{column}': object}}"
            ) from error
    return made


async def _infer_schema(
    client: AsyncClient,
    index: str,
    partitions: Sequence[IndexPartition],
    columns: Sequence[str] | None,
    params: SearchParams,
) -> pd.DataFrame:
    """Return an empty DataFrame with the columns and dtypes of each partition's first records."""
    if isinstance(columns, str):
        raise BadInput(f"`columns` must be a list of names: columns=[{columns!r}]")
    share = max(SAMPLE_RECORDS // len(partitions), MIN_SAMPLE_RECORDS_PER_PARTITION)
    hits: dict[IndexPartition, Any] = {}

    async def browse_first(part: IndexPartition) -> None:
        size: dict[str, Any] = {"hitsPerPage": min(share, BROWSE_PAGE_RECORDS)}
        if part.pages:
            size = {"hitsPerPage": part.page_records, "page": part.pages[0]}
        query = _page_params(part.filters, {**size, **params, **(size if part.pages else {})})
        hits[part] = (await client.browse(index, None, **query))["hits"][:share]

    await run_together(map(browse_first, partitions))
    gathered = Columns(_with_id(columns))
    gathered.add(hit for partition in partitions for hit in hits[partition])
    frame = gathered.frame()
    names = ["objectID", *frame.columns.drop("objectID", errors="ignore")]
    types = {str(c): NULLABLE[str(t)] for c, t in frame.dtypes.items() if str(t) in NULLABLE}
    return frame.reindex(columns=names).astype(types).iloc[:0]


def _import_dask() -> tuple[Any, Any]:
    try:
        from dask import config, dataframe
    except ImportError as error:
        raise BadInput('this needs Dask: pip install "svc-notebook[dask]"') from error
    register_accessors()
    return dataframe, config


async def divide(
    client: AsyncClient,
    index: str,
    by: str | None,
    parts: int,
    divisions: Sequence[float] | None,
    params: SearchParams,
) -> list[IndexPartition]:
    """Return partitions of which every record is in exactly one; empty ones are dropped."""
    if by is None:
        if divisions is not None:
            raise BadInput("`divisions` are bounds of a number: name its attribute, by='price'")
        return await _divide_pages(client, index, parts, params)
    answer = await _count_facet(client, index, by, params)
    if divisions is None:
        divisions = await _find_bounds(client, index, by, answer, parts, params)
    if divisions is None:
        filters = groups(by, answer["facets"][by], parts)
    else:
        filters = ranges(by, divisions)
    partitions = await _count_partitions(client, index, filters, params)
    total = sum(partition.records for partition in partitions)
    if total != answer["nbHits"]:
        raise BadInput(
            f"the partitions by `{by}` hold {total:,} records, but {index} has "
            f"{answer['nbHits']:,}: some records are in several partitions. Partition by an "
            "attribute with one value per record, or without `by`"
        )
    return [partition for partition in partitions if partition.records] or partitions[:1]


async def _count_partitions(
    client: AsyncClient, index: str, filters: Sequence[str], params: SearchParams
) -> list[IndexPartition]:
    """Return the partition of each filter, combined with those of the parameters."""
    joined = [join_filters(params.get("filters"), text) for text in filters]
    return [
        IndexPartition(text, await _count(client, index, {**params, "filters": text}))
        for text in joined
    ]


async def _divide_pages(
    client: AsyncClient, index: str, parts: int, params: SearchParams
) -> list[IndexPartition]:
    """Divide the pages of a browse; a service returns them in the same order while none changes."""
    filters = params.get("filters") or ""
    total = (await _count_facet(client, index, None, params))["nbHits"]
    size = min(BROWSE_PAGE_RECORDS, max(-(-total // parts), 1))
    pages = -(-total // size)
    bounds = sorted({pages * part // parts for part in range(parts + 1)})
    made = [
        IndexPartition(filters, min(last * size, total) - first * size, (first, last), size, total)
        for first, last in pairwise(bounds)
    ]
    return made or [IndexPartition(filters, 0, (0, 1), size)]


async def _find_bounds(
    client: AsyncClient, index: str, by: str, answer: Any, parts: int, params: SearchParams
) -> list[float] | None:
    """Return bounds of a number; None for a facet of texts."""
    if stats := answer.get("facets_stats", {}).get(by):
        low, high = stats["min"], stats["max"]
        return [low + (high - low) * n / parts for n in range(1, parts)] or [high]
    if answer.get("facets", {}).get(by):
        return None
    return await _sample_bounds(client, index, by, answer["nbHits"], parts, params)


async def _sample_bounds(
    client: AsyncClient, index: str, by: str, total: int, parts: int, params: SearchParams
) -> list[float]:
    """Return bounds of a number that is not a facet, from records of evenly spaced pages."""
    size = BROWSE_PAGE_RECORDS // SAMPLED_PAGES
    pages = max(-(-total // size), 1)
    sampled = sorted({pages * number // SAMPLED_PAGES for number in range(SAMPLED_PAGES)})
    values: list[Any] = []
    for page in sampled:
        others: Any = {**params, "attributesToRetrieve": [by], "hitsPerPage": size, "page": page}
        hits = (await client.browse(index, None, **_page_params("", others)))["hits"]
        values += [value for hit in hits if (value := _member(hit, by)) is not None]
    if not values or not all(map(is_number, values)):
        raise BadInput(
            f"`{by}` is neither a number nor a facet of {index}: add it to the setting "
            "attributesForFaceting, or leave out `by`, which makes partitions of any records"
        )
    inner = np.quantile(values, [part / parts for part in range(1, parts)] or [1.0])
    return [float(bound) for bound in inner]


def _member(hit: Mapping[str, Any], name: str) -> Any:
    """Return the value of an attribute, which can be a member of an object."""
    if name in hit:
        return hit[name]
    value: Any = hit
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def ranges(by: str, bounds: Sequence[float]) -> list[str]:
    """Return a filter for each range, also outside the bounds, and one for no number."""
    edges = sorted(set(bounds))
    name = quote(by)
    inner = [f"{name} >= {low} AND {name} < {high}" for low, high in pairwise(edges)]
    first, last = f"{name} < {edges[0]}", f"{name} >= {edges[-1]}"
    neither = f"NOT {first} AND NOT {name} >= {edges[0]}"
    return [first, *inner, last, neither]


def groups(by: str, counts: Mapping[str, int], parts: int) -> list[str]:
    """Group the values into partitions of similar size, and all other records into the last one."""
    common = sorted(counts, key=lambda value: -counts[value])[:MAX_NAMED_VALUES]
    heap: list[tuple[int, int, list[str]]] = [(0, n, []) for n in range(min(parts, len(common)))]
    for value in common:
        size, number, values = heapq.heappop(heap)
        heapq.heappush(heap, (size + counts[value], number, [*values, value]))
    shared = [values for _, _, values in sorted(heap, key=lambda item: item[1])]
    filters, before = [], list[str]()
    for values in shared:
        # A record can have several values: it belongs to the partition of the first.
        either = " OR ".join(f"{quote(by)}:{quote(value)}" for value in values)
        filters.append(join_filters(either, *before))
        before += [f"NOT {quote(by)}:{quote(value)}" for value in values]
    return [*filters, join_filters(*before)]


def join_filters(*filters: str | None) -> str:
    """Combine filters with AND; OR binds tighter than AND."""
    return " AND ".join(filter(None, filters))


def quote(text: str) -> str:
    """Quote a name or a value in a filter."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


async def _count_facet(
    client: AsyncClient, index: str, by: str | None, params: SearchParams
) -> Any:
    facets = {"facets": [by], "maxValuesPerFacet": MAX_FACET_VALUES} if by else {}
    query: Any = {**COUNT_ONLY, **params, **facets}
    try:
        return await client.search(index, **query)
    except NotFound as error:
        raise BadInput(
            f"there is no index {index}; svc.read_indices() lists the indices"
        ) from error


async def _count(client: AsyncClient, index: str, params: SearchParams) -> int:
    query: Any = {**COUNT_ONLY, **params}
    return int((await client.search(index, **query))["nbHits"])

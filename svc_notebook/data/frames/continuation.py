"""DataFrames read on: refreshed, with their next page, or with all hits of their search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from svc_notebook.data.frames.browse import browse_chunks, read_browse
from svc_notebook.data.frames.provenance import FrameOrigin
from svc_notebook.data.frames.records import read_records
from svc_notebook.errors import BadInput

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient

# Search arguments that select a page, or that a browse does not accept.
PAGING = {
    "page", "offset", "length", "hitsPerPage", "ranking", "criteria", "highlight", "chunksize",
    "cursor", "ids",
}  # fmt: skip


async def refresh(client: AsyncClient, frame: pd.DataFrame) -> pd.DataFrame:
    """Repeat the request of a DataFrame: the same search, or the same records of a chunk."""
    origin = FrameOrigin.of(frame)
    if origin.reader == "read_records" or "chunksize" in origin.arguments:
        origin.check(client)
        return await read_records(client, _index_of(origin), frame["objectID"], **_shape(origin))
    return await origin.read(client)


async def next_page(client: AsyncClient, frame: pd.DataFrame) -> pd.DataFrame:
    """Read the page after the DataFrame of a search or a browse; empty after the last page."""
    origin = FrameOrigin.of(frame)
    if origin.reader == "search":
        return await origin.read(client, **_following(origin.arguments, frame.attrs["svc"]))
    if origin.reader != "read_browse":
        raise BadInput(f"the result of {origin.reader} has no pages; svc.refresh(…) reads it again")
    origin.check(client)
    position = frame.attrs["svc"].get("next")
    if position is None:
        rest = frame.head(0)
        rest.attrs = frame.attrs
        return rest
    pages = browse_chunks(client, **{**origin.arguments, "cursor": position})
    try:
        return await anext(pages)
    finally:
        await pages.aclose()


async def browse_all(client: AsyncClient, frame: pd.DataFrame) -> pd.DataFrame:
    """Read every record that matches the search of a DataFrame, beyond the pagination limit."""
    origin = FrameOrigin.of(frame)
    origin.check(client)
    kept = {name: value for name, value in origin.arguments.items() if name not in PAGING}
    if origin.reader not in ("search", "read_browse", "read_records"):
        raise BadInput(
            f"the result of {origin.reader} does not contain records of one index; pass the "
            "DataFrame of a search"
        )
    everything: pd.DataFrame = await read_browse(client, **kept)
    return everything


def _following(arguments: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    if arguments.get("offset") is not None:
        return {"offset": arguments["offset"] + facts.get("length", arguments.get("length", 0))}
    return {"page": facts.get("page", 0) + 1}


def _index_of(origin: FrameOrigin) -> str:
    return str(origin.arguments["index"])


def _shape(origin: FrameOrigin) -> dict[str, Any]:
    shaping = ("columns", "flatten", "dtype_backend")
    return {name: origin.arguments[name] for name in shaping if name in origin.arguments}

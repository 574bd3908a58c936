"""Put other records in place of all an index has, at one moment."""

from __future__ import annotations

import dataclasses
from typing import Unpack

from svc_notebook import bulk
from svc_notebook.bulk.loading import OnProgress
from svc_notebook.bulk.records import awaited
from svc_notebook.bulk.source import Source
from svc_notebook.errors import BadInput
from svc_notebook.verbs.attributes import without_told
from svc_notebook.verbs.clients import AnyClient, asynchronous


async def replace_records(
    index: str,
    source: Source,
    *,
    least: float = 0.5,
    skip_rejected: bool = False,
    client: AnyClient | None = None,
    on_progress: OnProgress | None = None,
    **options: Unpack[bulk.RowOptions],
) -> bulk.LoadResult:
    """Replace an index's records by a file's or a DataFrame's; its settings and the like stay.

    The new ones are loaded into a temporary index, which then takes the other's place. Nothing
    changes if anything goes wrong, if a row cannot be sent, or if less than the share `least` of
    the number of old records would be there.
    """
    if not 0 <= least <= 1:
        raise BadInput(f"`least` is a share, from 0 to 1, not {least!r}")
    own = asynchronous(client)
    async with awaited(source, options) as given, own.replacing(index, least=least) as scratch:
        rows = without_told(given, options)
        result = await bulk.load(own, rows, scratch, on_progress=on_progress, **options)
        if result.rejected_rows and not skip_rejected:
            raise BadInput(
                f"{result.rejected_rows} rows cannot be sent; nothing was replaced. `plan` says "
                "why, `skip_rejected` leaves them out"
            )
    return dataclasses.replace(result, index=index)

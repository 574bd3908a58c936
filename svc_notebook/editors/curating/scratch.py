"""A draft tried on a copy of its index, which is dropped afterwards.

No search parameter stands for synonyms or rules, so the only exact answer is that of an index
which has them. The copy is one task of the service; the index itself is never touched.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from svc_notebook.client import AsyncClient
from svc_notebook.client.curated import Kind, write_all
from svc_notebook.client.flows import drop, name_scratch


@asynccontextmanager
async def copy_with(
    client: AsyncClient, kind: Kind, index: str, documents: Sequence[Any]
) -> AsyncIterator[str]:
    """Give a copy of an index with these synonyms, or rules, in place of its own."""
    name = name_scratch(index)
    try:
        copied = await client.operate_index(index, "copy", name)
        await client.wait(copied, index=index)
        await client.wait(await write_all(client, kind, name, list(documents)), index=name)
        yield name
    finally:
        await asyncio.shield(drop(client, name))

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
from svc_notebook.client.flows import drop, name_scratch
from svc_notebook.verbs.curation import Kind


@asynccontextmanager
async def copy_with(
    client: AsyncClient, kind: Kind, index: str, documents: Sequence[Any]
) -> AsyncIterator[str]:
    """Give a copy of an index with these synonyms, or rules, in place of its own."""
    name = name_scratch(index)
    try:
        copied = await client.operate_index(index, "copy", name)
        await client.wait(copied, index=index)
        await client.wait(await write_all(client, kind, name, documents), index=name)
        yield name
    finally:
        await asyncio.shield(drop(client, name))


async def write_all(
    client: AsyncClient, kind: Kind, index: str, documents: Sequence[Any], forward: bool = False
) -> Any:
    """Put objects in place of all there are, at one moment."""
    where: Any = {"forwardToReplicas": True} if forward else {}
    if documents:
        return await kind.save(client, index, documents, True, where)
    return await kind.clear(client, index, where)

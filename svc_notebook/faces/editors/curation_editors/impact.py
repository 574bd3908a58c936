"""The impact of a draft on searches, measured on a copy of its index that is dropped afterwards.

No search parameter can replace synonyms or rules, so only an index that has them gives the exact
result. The copy is one task of the service; the index itself is never changed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypedDict

from svc_notebook.data.client import AsyncClient, ResourceKind, TemporaryIndex, write_all
from svc_notebook.faces.editors.query_editor.comparison import SideBySide, compare

OnProgress = Callable[[int, int, str], None]


class SkippedReason(TypedDict, total=False):
    """The reason why an object had no effect on a search; `spans` are its times."""

    text: str
    spans: list[dict[str, float]]


class QueryImpact(TypedDict):
    """The results of one query before and after the draft, and the objects without effect."""

    query: str
    comparison: SideBySide
    skipped: dict[str, SkippedReason]


async def measure(
    client: AsyncClient,
    index: str,
    copy: str,
    queries: Sequence[str],
    params: Mapping[str, Any],
    on_progress: OnProgress,
    searchable: Sequence[str] = (),
) -> list[QueryImpact]:
    """Search an index and its copy for each query; compare the results.

    `searchable` are the attributes of headlines.
    """
    impacts: list[QueryImpact] = []
    for number, query in enumerate(queries):
        on_progress(
            number, len(queries), f"{query or '(everything)'}: searching the index and the copy"
        )
        search_params = {**params, "query": query, "analytics": False}
        sides = [(index, search_params), (copy, search_params)]
        comparison = await compare(client, sides, searchable)
        impacts.append({"query": query, "comparison": comparison, "skipped": {}})
    return impacts


def tabulate(impacts: Sequence[QueryImpact]) -> list[dict[str, Any]]:
    """Return impacts as rows: the numbers of hits, and of the first hits that changed."""
    return [
        {
            "query": impact["query"],
            "before": impact["comparison"]["sides"][0]["nbHits"],
            "after": impact["comparison"]["sides"][1]["nbHits"],
            **{name: impact["comparison"][name] for name in ("gained", "lost", "moved")},
        }
        for impact in impacts
    ]


@asynccontextmanager
async def copy_with(
    client: AsyncClient, kind: ResourceKind, index: str, documents: Sequence[Any]
) -> AsyncIterator[str]:
    """Yield a copy of an index that has these synonyms or rules."""
    async with TemporaryIndex(client, index, "preview") as copy:
        written = await write_all(client, kind, copy.name, list(documents))
        await client.wait(written, index=copy.name)
        yield copy.name

"""What a draft does to searches: their hits as they are, and as they would be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from svc_notebook.client import AsyncClient
from svc_notebook.editors.searching.comparing import Comparison, compare

Tell = Callable[[int, int, str], None]


class Impact(TypedDict):
    """One query on either side."""

    query: str
    comparison: Comparison


async def measure(
    client: AsyncClient,
    index: str,
    copy: str,
    queries: Sequence[str],
    params: Mapping[str, Any],
    tell: Tell,
) -> list[Impact]:
    """Search an index and its copy for each query."""
    impacts: list[Impact] = []
    for number, query in enumerate(queries):
        tell(number, len(queries), f"{query or '(everything)'}: searching both ways")
        asked = {**params, "query": query, "analytics": False}
        comparison = await compare(client, [(index, asked), (copy, asked)])
        impacts.append({"query": query, "comparison": comparison})
    return impacts


def tabulate(impacts: Sequence[Impact]) -> list[dict[str, Any]]:
    """Write impacts as rows: how many hits there were and are, and what became of the first."""
    return [
        {
            "query": impact["query"],
            "before": impact["comparison"]["sides"][0]["nbHits"],
            "after": impact["comparison"]["sides"][1]["nbHits"],
            **{name: impact["comparison"][name] for name in ("gained", "lost", "moved")},
        }
        for impact in impacts
    ]

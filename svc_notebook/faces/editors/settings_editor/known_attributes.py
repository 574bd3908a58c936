"""The attributes of an index's records, read from a sample of the records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypedDict

from svc_notebook.data.client import AsyncClient
from svc_notebook.errors import KeyRefused

SAMPLE_RECORDS = 100
MAX_DEPTH = 5  # levels of nested members


class Attribute(TypedDict):
    """One attribute, the kinds of its values, and the share of the sample that has it."""

    name: str
    kinds: list[str]
    share: float


async def read_attributes(client: AsyncClient, index: str) -> list[Attribute]:
    """Read the attributes of a sample; none if the key cannot search."""
    options: Any = {
        "hitsPerPage": SAMPLE_RECORDS,
        "attributesToHighlight": [],
        "attributesToSnippet": [],
    }
    try:
        answer = await client.search(index, **options, analytics=False, enableRules=False)
    except KeyRefused:
        return []
    return list_attributes(answer["hits"])


def list_attributes(records: Iterable[Mapping[str, Any]]) -> list[Attribute]:
    """List attributes, nested ones by path, in the order of their first occurrence."""
    count = 0
    seen: Counter[str] = Counter()
    kinds: dict[str, dict[str, None]] = {}
    for record in records:
        count += 1
        names = list(_walk(record, "", MAX_DEPTH))
        seen.update({name for name, _ in names})
        for name, value in names:
            kinds.setdefault(name, {})[_kind(value)] = None
    return [
        {"name": name, "kinds": list(kinds[name]), "share": seen[name] / count} for name in kinds
    ]


def _walk(value: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and depth:
        for name, member in value.items():
            if path or name[:1] != "_" or name in ("_tags", "_geoloc"):
                yield from _walk(member, f"{path}.{name}" if path else name, depth - 1)
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item, path, depth)
    elif path and value is not None:
        yield path, value


def _kind(value: Any) -> str:
    kinds: dict[type, str] = {bool: "true or false", int: "number", float: "number", str: "text"}
    return kinds.get(type(value), "object")

"""Read and write all synonyms or rules of an index, with one set of functions for both."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from svc_notebook.core.api.shapes import Rule, Synonym
from svc_notebook.data.client.operations import each_page, every_entry
from svc_notebook.errors import BadInput, NotFound

if TYPE_CHECKING:
    from svc_notebook.data.client.endpoint_client import EndpointClient

HITS_PER_PAGE = 1000  # maximum hits of one search
ID_HEX_DIGITS = 12  # hexadecimal digits of a generated objectID


@dataclass(frozen=True)
class ResourceKind:
    """Synonyms or rules, with the client calls that read and write them."""

    name: Literal["synonyms", "rules"]
    shape: Any
    find: Callable[..., Awaitable[Any]]
    get: Callable[..., Awaitable[Any]]
    save: Callable[..., Awaitable[Any]]
    delete: Callable[..., Awaitable[Any]]
    clear: Callable[..., Awaitable[Any]]


SYNONYMS = ResourceKind(
    "synonyms", Synonym,
    find=lambda client, index, page, size: client.search_synonyms(
        index, page=page, hitsPerPage=size
    ),
    get=lambda client, index, object_id: client.get_synonym(index, object_id),
    save=lambda client, index, objects, replace, forward: client.save_synonyms(
        index, objects, replaceExistingSynonyms=replace, **forward
    ),
    delete=lambda client, index, object_id, forward: client.delete_synonym(
        index, object_id, **forward
    ),
    clear=lambda client, index, forward: client.clear_synonyms(index, **forward),
)  # fmt: skip
RULES = ResourceKind(
    "rules", Rule,
    find=lambda client, index, page, size: client.search_rules(
        index, page=page, hitsPerPage=size
    ),
    get=lambda client, index, object_id: client.get_rule(index, object_id),
    save=lambda client, index, objects, replace, forward: client.save_rules(
        index, objects, clearExistingRules=replace, **forward
    ),
    delete=lambda client, index, object_id, forward: client.delete_rule(
        index, object_id, **forward
    ),
    clear=lambda client, index, forward: client.clear_rules(index, **forward),
)  # fmt: skip


def with_id(kind: ResourceKind, document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an object with an objectID; a missing one is derived from the object's content.

    Equal objects get equal objectIDs, so saving an object again replaces it.
    """
    if document.get("objectID") not in (None, ""):
        return document
    rest = {name: value for name, value in document.items() if name != "objectID"}
    try:
        text = json.dumps(rest, sort_keys=True, default=str)
    except (TypeError, ValueError) as error:
        raise BadInput(f"one of the {kind.name} cannot be written as JSON: {error}") from None
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {"objectID": f"{kind.name[:-1]}-{digest[:ID_HEX_DIGITS]}", **rest}


def in_existing_index(
    client: EndpointClient, index: str, fetch: Callable[[int], Awaitable[Any]]
) -> Callable[[int], Awaitable[Any]]:
    """Return `fetch`, which then raises `NotFound` for an index that does not exist.

    Services find no synonyms and no rules in such an index, and report no error.
    """

    async def fetch_existing(page: int) -> Any:
        answer = await fetch(page)
        if not answer["nbHits"]:
            await client.get_settings(index)
        return answer

    return fetch_existing


async def find_all(client: EndpointClient, kind: ResourceKind, index: str) -> list[dict[str, Any]]:
    """Read all synonyms or rules of an index as they were saved; raise `NotFound` without it."""
    fetch = in_existing_index(
        client, index, lambda page: kind.find(client, index, page, HITS_PER_PAGE)
    )
    documents = await every_entry(fetch, "hits")
    return [own_members(document) for document in documents]


async def iterate_entries(fetch: Callable[[int], Awaitable[Any]]) -> AsyncIterator[Any]:
    """Yield the hits of all pages as they were saved."""
    async for page in each_page(fetch, "hits"):
        for entry in page:
            yield own_members(entry)


async def find_few(
    client: EndpointClient, kind: ResourceKind, index: str, ids: Iterable[str]
) -> dict[str, dict[str, Any] | None]:
    """Read the objects with these ids, one call each; None for a missing one."""
    return {object_id: await _get_or_none(client, kind, index, object_id) for object_id in ids}


async def _get_or_none(
    client: EndpointClient, kind: ResourceKind, index: str, object_id: str
) -> dict[str, Any] | None:
    try:
        return own_members(await kind.get(client, index, object_id))
    except NotFound:
        return None


def own_members(document: Mapping[str, Any]) -> dict[str, Any]:
    """Remove the members that a service adds to a saved object."""
    members = {name: value for name, value in document.items() if not name.startswith("_")}
    members["objectID"] = document["objectID"]
    return members


async def write_all(
    client: EndpointClient,
    kind: ResourceKind,
    index: str,
    documents: list[Any],
    forward: bool = False,
) -> Any:
    """Replace all synonyms or rules of an index at once; return the response with the task."""
    where: Any = {"forwardToReplicas": True} if forward else {}
    if documents:
        return await kind.save(client, index, documents, True, where)
    return await kind.clear(client, index, where)

"""The judgment pool: the top hits of each query under every search variant, merged."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from svc_notebook.api.parameters import SearchParams
from svc_notebook.api.validation import check_members
from svc_notebook.client import AsyncClient
from svc_notebook.editors.hit_cards import POST, PRE
from svc_notebook.editors.rpc import tell_progress
from svc_notebook.errors import BadInput
from svc_notebook.tuning.tables.queries import Params, Question

MAX_QUERIES_PER_REQUEST = 50  # searches of one request


@dataclass(frozen=True)
class PoolVariant:
    """One way of searching."""

    name: str
    index: str
    params: Params = field(default_factory=dict)

    def request(self, question: Question, more: Params) -> dict[str, Any]:
        """Write the search of a question."""
        return question.request(self.index, self.params, more)


@dataclass(frozen=True)
class Pooled:
    """One hit, and the place at which each variant found it."""

    id: str
    places: Mapping[str, int]


def read_variants(given: Any, index: str) -> list[PoolVariant]:
    """Read ways of searching: by name, an index or search parameters; without any, the index's."""
    if not given:
        return [PoolVariant("as it is", index)]
    if not isinstance(given, Mapping):
        raise BadInput("variants are a dict: a name, and an index or search parameters for each")
    return [_read_variant(str(name), one, index) for name, one in given.items()]


def _read_variant(name: str, given: Any, index: str) -> PoolVariant:
    if isinstance(given, str):
        return PoolVariant(name, given)
    if not isinstance(given, Mapping):
        raise BadInput(f"the variant `{name}` is an index or search parameters, not {given!r}")
    return PoolVariant(name, index, check_members(given, SearchParams, name))


async def pool(
    client: AsyncClient, variants: Sequence[PoolVariant], questions: Sequence[Question], depth: int
) -> list[list[Pooled]]:
    """Find what each question is to be judged by: the best places first."""
    more = {"hitsPerPage": depth, "attributesToRetrieve": ["objectID"], "attributesToHighlight": []}
    asked = [variant.request(q, more) for q in questions for variant in variants]
    answers: list[Any] = []
    for start in range(0, len(asked), MAX_QUERIES_PER_REQUEST):
        part: Any = asked[start : start + MAX_QUERIES_PER_REQUEST]
        answers += (await client.search_many(part))["results"]
        tell_progress(len(answers), len(asked), f"{len(answers)} of {len(asked)} searches")
    step = len(variants)
    return [
        merge(variants, answers[place : place + step]) for place in range(0, len(answers), step)
    ]


def merge(variants: Sequence[PoolVariant], answers: Sequence[Mapping[str, Any]]) -> list[Pooled]:
    """Make one pool of what several variants found, ordered by each hit's best place."""
    places: dict[str, dict[str, int]] = {}
    for variant, answer in zip(variants, answers, strict=True):
        for place, hit in enumerate(answer["hits"], 1):
            places.setdefault(hit["objectID"], {})[variant.name] = place
    found = [Pooled(object_id, by) for object_id, by in places.items()]
    return sorted(found, key=lambda one: min(one.places.values()))


async def fetch(
    client: AsyncClient, variants: Sequence[PoolVariant], question: Question, ids: Sequence[str]
) -> dict[str, Any]:
    """Get the hits of one pool, marked where a search found them."""
    more = {"hitsPerPage": min(len(ids), 1000), "highlightPreTag": PRE, "highlightPostTag": POST}
    asked: Any = [variant.request(question, more) for variant in variants]
    answers: Any = (await client.search_many(asked))["results"] if ids else []
    hits = {hit["objectID"]: hit for answer in answers for hit in answer["hits"]}
    lost = [object_id for object_id in ids if object_id not in hits]
    found = await get_all(client, variants[0].index, lost)
    return hits | {record["objectID"]: record for record in found if record}


async def get_all(
    client: AsyncClient, index: str, ids: Sequence[str], columns: Sequence[str] | None = None
) -> list[Any]:
    """Get records by their ids, `None` for each that is not there."""
    more = {} if columns is None else {"attributesToRetrieve": list(columns)}
    found: list[Any] = []
    asked = [{"indexName": index, "objectID": object_id, **more} for object_id in ids]
    for start in range(0, len(asked), 1000):
        part: Any = asked[start : start + 1000]
        found += (await client.get_objects(part))["results"]
    return found


def shuffle(found: Sequence[Pooled], question: Question, seed: int) -> list[Pooled]:
    """Put a pool in an order that tells nothing, the same each time."""
    mixed = sorted(found, key=lambda one: one.id)
    random.Random(f"{seed} {question.key}").shuffle(mixed)
    return mixed

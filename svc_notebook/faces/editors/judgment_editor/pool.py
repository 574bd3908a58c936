"""The judgment pool: the top hits of each query under every search variant, merged."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from svc_notebook.core.api.parameters import SearchParams
from svc_notebook.core.api.validation import check_members
from svc_notebook.data.client import AsyncClient
from svc_notebook.errors import BadInput
from svc_notebook.faces.editors.hit_cards import POST, PRE
from svc_notebook.faces.editors.rpc import report_progress
from svc_notebook.tuning.tables import Params, Question

MAX_QUERIES_PER_REQUEST = 50
MAX_RECORDS_PER_REQUEST = 1000


@dataclass(frozen=True)
class PoolVariant:
    """One way of searching: an index and search parameters."""

    name: str
    index: str
    params: Params = field(default_factory=dict)

    def request(self, question: Question, more: Params) -> dict[str, Any]:
        """Return the search request of a question."""
        return question.request(self.index, self.params, more)


@dataclass(frozen=True)
class Pooled:
    """One hit, and its position in the results of each variant that finds it."""

    id: str
    places: Mapping[str, int]


def read_variants(given: Any, index: str) -> list[PoolVariant]:
    """Read variants, an index or search parameters by name; by default the index alone."""
    if not given:
        return [PoolVariant("current settings", index)]
    if not isinstance(given, Mapping):
        raise BadInput("`variants` must be a dict: for each name an index or search parameters")
    return [_read_variant(str(name), variant, index) for name, variant in given.items()]


def _read_variant(name: str, given: Any, index: str) -> PoolVariant:
    if isinstance(given, str):
        return PoolVariant(name, given)
    if not isinstance(given, Mapping):
        raise BadInput(f"the variant `{name}` must be an index or search parameters, not {given!r}")
    return PoolVariant(name, index, check_members(given, SearchParams, name))


async def pool(
    client: AsyncClient, variants: Sequence[PoolVariant], questions: Sequence[Question], depth: int
) -> list[list[Pooled]]:
    """Search for each question with every variant; return its pool, the best positions first."""
    more = {"hitsPerPage": depth, "attributesToRetrieve": ["objectID"], "attributesToHighlight": []}
    requests = [variant.request(q, more) for q in questions for variant in variants]
    answers: list[Any] = []
    for start in range(0, len(requests), MAX_QUERIES_PER_REQUEST):
        part: Any = requests[start : start + MAX_QUERIES_PER_REQUEST]
        answers += (await client.search_many(part))["results"]
        report_progress(len(answers), len(requests), f"{len(answers)} of {len(requests)} searches")
    step = len(variants)
    return [
        merge(variants, answers[first : first + step]) for first in range(0, len(answers), step)
    ]


def merge(variants: Sequence[PoolVariant], answers: Sequence[Mapping[str, Any]]) -> list[Pooled]:
    """Merge the hits of several variants to one pool, ordered by the best position of each hit."""
    places: dict[str, dict[str, int]] = {}
    for variant, answer in zip(variants, answers, strict=True):
        for rank, hit in enumerate(answer["hits"], 1):
            places.setdefault(hit["objectID"], {})[variant.name] = rank
    pooled = [Pooled(object_id, by) for object_id, by in places.items()]
    return sorted(pooled, key=lambda hit: min(hit.places.values()))


async def fetch(
    client: AsyncClient, variants: Sequence[PoolVariant], question: Question, ids: Sequence[str]
) -> dict[str, Any]:
    """Read the hits of one pool, with highlighted matches if a search finds them."""
    more = {
        "hitsPerPage": min(len(ids), MAX_RECORDS_PER_REQUEST),
        "highlightPreTag": PRE,
        "highlightPostTag": POST,
    }
    requests: Any = [variant.request(question, more) for variant in variants]
    answers: Any = (await client.search_many(requests))["results"] if ids else []
    hits = {hit["objectID"]: hit for answer in answers for hit in answer["hits"]}
    not_found = [object_id for object_id in ids if object_id not in hits]
    records = await get_all(client, variants[0].index, not_found)
    return hits | {record["objectID"]: record for record in records if record}


async def get_all(
    client: AsyncClient, index: str, ids: Sequence[str], columns: Sequence[str] | None = None
) -> list[Any]:
    """Read records by objectID; `None` for each missing one."""
    more = {} if columns is None else {"attributesToRetrieve": list(columns)}
    records: list[Any] = []
    requests = [{"indexName": index, "objectID": object_id, **more} for object_id in ids]
    for start in range(0, len(requests), MAX_RECORDS_PER_REQUEST):
        part: Any = requests[start : start + MAX_RECORDS_PER_REQUEST]
        records += (await client.get_objects(part))["results"]
    return records


def shuffle(pool: Sequence[Pooled], question: Question, seed: int) -> list[Pooled]:
    """Shuffle a pool, in the same order each time."""
    shuffled = sorted(pool, key=lambda hit: hit.id)
    random.Random(f"{seed} {question.key}").shuffle(shuffled)
    return shuffled

"""Searches with a draft of the index's configuration, alone and compared with another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

from svc_notebook.core.api.parameters import PARAMETERS
from svc_notebook.data.client import AsyncClient
from svc_notebook.faces.editors.query_editor.comparison import ComparedSearch, compare, name_sides
from svc_notebook.faces.editors.query_editor.search import count_before
from svc_notebook.faces.editors.rpc import report_progress
from svc_notebook.faces.editors.settings_editor.changes import complete
from svc_notebook.faces.editors.settings_editor.temporary_copy import Copy
from svc_notebook.tuning.changes import as_parameters

Params = dict[str, Any]
PAGING = ("page", "offset", "length", "hitsPerPage")
COMPARED_HITS = 200  # without the draft; a hit below them counts as new


@dataclass(frozen=True)
class DraftTarget:
    """Where a draft is searched: an index, added parameters, and the settings in effect."""

    index: str
    params: Params
    settings: Mapping[str, Any]


async def find_places(client: AsyncClient, index: str, params: Params) -> dict[str, int]:
    """Return the places, from 1, of the first hits by objectID."""
    options: Any = {
        "hitsPerPage": COMPARED_HITS, "attributesToRetrieve": ["objectID"],
        "attributesToHighlight": [], "attributesToSnippet": [], "facets": [], "analytics": False,
    }  # fmt: skip
    rest: Any = {name: value for name, value in params.items() if name not in PAGING}
    answer: Any = await client.search(index, **{**rest, **options})
    return {hit["objectID"]: rank for rank, hit in enumerate(answer["hits"], 1)}


def mark_moves(answer: Mapping[str, Any], before: Mapping[str, int]) -> dict[str, Any]:
    """Add to each card its place without the draft as `previous`, 0 if new, and count the moves.

    `left` is the number of hits that were on this page without the draft and are not on it now.
    """
    cards = [{**card, "previous": before.get(card["id"], 0)} for card in answer["hits"]]
    first = count_before(answer) + 1
    places = range(first, first + answer.get("hitsPerPage", answer.get("length", 0)))
    ids = {card["id"] for card in cards}
    counts = {
        "gained": sum(card["previous"] == 0 for card in cards),
        "moved": sum(card["previous"] not in (0, card["place"]) for card in cards),
        "left": sum(rank in places and name not in ids for name, rank in before.items()),
    }
    return {**answer, "hits": cards, "moves": counts}


class SettingsComparison(TypedDict):
    """A comparison, or the settings that need a copy of the index, which `copy` names."""

    needs: list[str]
    copy: str
    sides: NotRequired[list[ComparedSearch]]
    shared: NotRequired[list[list[int]]]
    gained: NotRequired[int]
    lost: NotRequired[int]
    moved: NotRequired[int]


def split_settings(value: Mapping[str, Any]) -> tuple[Params, Params]:
    """Split members into search parameters and settings that are not search parameters."""
    settings = {
        name: member
        for name, member in value.items()
        if name in PARAMETERS and PARAMETERS[name].scope == "setting"
    }
    return {name: value[name] for name in value if name not in settings}, settings


class SecondSearch:
    """Compares a search with another one; keeps the copy of an index until it is dropped."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._copy: Copy | None = None
        self._source = ""

    async def compare(
        self,
        this: tuple[str, Params],
        other: tuple[str, Params],
        settings: Params,
        searchable: Sequence[str] = (),
        *,
        may_copy: bool = False,
    ) -> SettingsComparison:
        """Compare `this` search with `other` under changed settings of the index of `other`.

        Settings that have the form of search parameters are sent as such. Others need a copy,
        which is made only with `may_copy`. `searchable` are the attributes of headlines.
        """
        index, params = other
        saved: Params = {}
        if settings:
            saved = dict(await self._client.get_settings(index))
        converted, others = as_parameters(settings, complete(saved, settings))
        target = index
        if others:
            if self._source != index and not may_copy:
                return {"needs": others, "copy": self.copy_name}
            target = await self._prepare_copy(index, saved, settings)
        comparison = await compare(
            self._client, [this, (target, {**converted, **params})], searchable
        )
        names = name_sides([this, (index, {**params, **settings})], saved)
        for side, name in zip(comparison["sides"], names, strict=True):
            side["name"] = name
        return {**comparison, "needs": [], "copy": self.copy_name}

    @property
    def copy_name(self) -> str:
        """The name of the copy; empty if there is none."""
        return self._copy.name if self._copy else ""

    async def drop(self) -> None:
        """Delete the copy."""
        copy, self._copy, self._source = self._copy, None, ""
        if copy:
            await copy.drop()

    async def _prepare_copy(self, index: str, saved: Params, settings: Params) -> str:
        if self._copy is None or self._source != index:
            await self.drop()
            copy = Copy(self._client, index)
            report_progress(0, 0, f"copying {index} to {copy.name}")
            await copy.make(saved)
            self._copy, self._source = copy, index
        await self._copy.configure(complete(saved, settings))
        return self._copy.name

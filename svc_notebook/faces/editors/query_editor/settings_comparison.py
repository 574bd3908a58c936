"""The second search of a comparison, with other settings of the index, on a copy if necessary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from svc_notebook.core.api.parameters import PARAMETERS
from svc_notebook.data.client import AsyncClient
from svc_notebook.faces.editors.query_editor.comparison import ComparedSearch, compare, name_sides
from svc_notebook.faces.editors.rpc import report_progress
from svc_notebook.faces.editors.settings_editor.changes import complete
from svc_notebook.faces.editors.settings_editor.temporary_copy import Copy
from svc_notebook.tuning.changes import as_parameters

Params = dict[str, Any]


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

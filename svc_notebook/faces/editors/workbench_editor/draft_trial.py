"""The trial of a draft: by search parameters where they suffice, else on one copy of the index."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from svc_notebook.data.client import AsyncClient, ResourceKind, count_records
from svc_notebook.faces.editors.error_display import Explanation
from svc_notebook.faces.editors.query_editor.draft_search import DraftTarget
from svc_notebook.faces.editors.settings_editor.temporary_copy import Copy
from svc_notebook.faces.editors.workbench_editor.score_change import ScoreChange
from svc_notebook.tuning.changes import as_parameters

# A larger index is copied only when the user agrees: a copy takes time, and may cost money.
MAX_UNASKED_COPY_RECORDS = 100_000


class TrialState(TypedDict):
    """How the draft is tried, as a view shows it; `busy` while that is being prepared.

    `needs` are the parts that need a copy of the index, which has `records`, and waits for the
    user's agreement.
    """

    by: Literal["", "parameters", "copy"]
    busy: bool
    copy: str
    needs: list[str]
    records: int
    error: Explanation | None
    score: ScoreChange | None


def no_trial(copy: str = "") -> TrialState:
    """Return the state without a draft."""
    return {
        "by": "", "busy": False, "copy": copy, "needs": [], "records": 0, "error": None,
        "score": None,
    }  # fmt: skip


@dataclass(frozen=True)
class CopyNeeded:
    """The draft needs a copy of a large index, for which the user has to agree."""

    parts: list[str]
    records: int


class DraftTrial:
    """Finds where a draft is searched; keeps the copy of the index until it is dropped."""

    def __init__(self, client: AsyncClient, index: str) -> None:
        self._client, self._index = client, index
        self._copy: Copy | None = None
        self.may_copy = False

    @property
    def copy_name(self) -> str:
        """The name of the copy; empty if there is none."""
        return self._copy.name if self._copy else ""

    async def prepare(
        self,
        changes: Mapping[str, Mapping[str, Any]],
        saved: Mapping[str, Any],
        values: Mapping[str, Any],
        kinds: Mapping[str, ResourceKind],
    ) -> DraftTarget | CopyNeeded:
        """Return where the draft is searched; `CopyNeeded` if that needs the user's agreement.

        `saved` and `values` are the whole parts before and after the changes.
        """
        settings = values["settings"]
        params, others = as_parameters(changes.get("settings", {}), settings)
        needs = [*others, *(part for part in kinds if changes.get(part))]
        if not needs:
            return DraftTarget(self._index, params, settings)
        if self._copy is None:
            if not self.may_copy:
                records = await count_records(self._client, self._index)
                if records > MAX_UNASKED_COPY_RECORDS:
                    return CopyNeeded(needs, records)
            copy = Copy(self._client, self._index)
            await copy.make(saved["settings"], {part: saved[part] for part in kinds})
            self._copy = copy
        await self._copy.configure(settings)
        for part, kind in kinds.items():
            await self._copy.replace(kind, values[part])
        return DraftTarget(self._copy.name, {}, settings)

    async def drop(self) -> None:
        """Delete the copy."""
        copy, self._copy = self._copy, None
        if copy:
            await copy.drop()

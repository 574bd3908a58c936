"""The base of the synonym editor and the rule editor: a list of objects, drafted as a whole.

The value is the whole list in the API's format. Applying it replaces all stored objects in one
call, so that no search sees a partial list. If the stored list was changed elsewhere, nothing is
written, and reloading merges both changes.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar, Literal, TypedDict

import pandas as pd
import traitlets

from svc_notebook.core.api.validation import same
from svc_notebook.core.api.values import OneOrMany, list_texts
from svc_notebook.core.display import join_first
from svc_notebook.data.client import ResourceKind, Tasks, find_all, write_all
from svc_notebook.errors import BadInput, BadOption
from svc_notebook.faces.editors.base import JSON, Editor
from svc_notebook.faces.editors.changes import (
    Document,
    Draft,
    ObjectChange,
    ReviewedChange,
    by_id,
    change_objects,
    changed_objects,
)
from svc_notebook.faces.editors.rpc import call, report_progress, run_on_loop, wait_for
from svc_notebook.faces.editors.search_comparison import (
    QueryImpact,
    SkippedReason,
    copy_with,
    measure,
    tabulate,
)
from svc_notebook.faces.editors.snippets import write_curation
from svc_notebook.faces.editors.traits import Texts
from svc_notebook.faces.functions.documents import READERS, WRITERS, take_curated, write_file
from svc_notebook.tuning.changes import holds, noting


class ObjectProblem(TypedDict, total=False):
    """A problem of one object: an `error` prevents applying, a `warning` does not."""

    level: str
    text: str
    other: str


Faults = dict[str, list[ObjectProblem]]
# How to import an objectID that is in the draft: take the file's object, keep the draft's, or
# replace the whole draft.
ImportMode = Literal["take", "keep", "replace"]
ListChange = Callable[[list[Document]], list[Document]]


class ImportCounts(TypedDict):
    """The number of objects in a file, and of their changes to the draft."""

    read: int
    added: int
    changed: int
    removed: int


class CurationEditor(Editor):
    """An editor of all the synonyms, or rules, of an index.

    `queries` are searches to try a draft on, `params` their additional parameters; with `forward`,
    applying also replaces the objects of the index's replicas.
    """

    needs: ClassVar[str] = "editSettings"
    kind: ClassVar[ResourceKind]

    decided = ("draft",)

    draft: Any = traitlets.Dict(read_only=True).tag(sync=True, **JSON)
    faults: Any = traitlets.Dict().tag(sync=True, **JSON)
    changes: Any = traitlets.Dict().tag(sync=True, **JSON)
    queries: Any = Texts("query").tag(sync=True)
    forward = traitlets.Bool(False).tag(sync=True)

    def __init__(self, index: str, *, params: Mapping[str, Any] | None = None, **more: Any) -> None:
        self.params = dict(params or {})
        self._last_read: list[Document] = []
        super().__init__(index, **more)

    # Methods that subclasses override.

    def normalize(self, document: Document) -> Document:
        """Return the canonical form of an object."""
        return document

    def find_faults(self, value: Sequence[Document]) -> Faults:
        """Return the errors and warnings by objectID."""
        return {}

    def as_of(self, documents: Sequence[Document], at: float | None) -> Sequence[Document]:
        """Return objects as they apply at a time, in seconds since 1970; None is now."""
        return documents

    def find_skipped(
        self, applied: Collection[str], params: Mapping[str, Any], at: float | None
    ) -> dict[str, SkippedReason]:
        """Return the reasons why objects of the draft had no effect on a search, by objectID."""
        return {}

    def typical_queries(self, changes: Iterable[ObjectChange]) -> list[str]:
        """Return queries that changes probably affect."""
        return []

    async def load(self) -> list[Document]:
        """Read the saved objects."""
        documents = await find_all(self.client, self.kind, self.index)
        return [self.normalize(document) for document in documents]

    def check(self, value: Any) -> list[Document]:
        """Read objects from a list, a table or a file; raise `BadInput` for invalid ones."""
        documents = [self.normalize(document) for document in take_curated(value, self.kind)[0]]
        if duplicate_id := _find_duplicate(document["objectID"] for document in documents):
            raise BadInput(f"duplicate objectID `{duplicate_id}` in the {self.kind.name}")
        return documents

    async def save(self, saved: Any, value: Any) -> Tasks:
        """Replace the saved list; raise `BadInput` if it was changed elsewhere."""
        await self.refuse_conflicts(saved, value)
        answer: Tasks = await write_all(self.client, self.kind, self.index, value, self.forward)
        return answer

    async def refuse_conflicts(self, saved: Any, value: Any) -> None:
        """Raise `BadInput` if the draft has errors, or the saved list was changed elsewhere."""
        self.refuse_faults()
        if not same(by_id(await self.load()), by_id(self._last_read)):
            raise BadInput(
                f"the {self.kind.name} of {self.index} were changed elsewhere; "
                "reload to merge both changes, then apply"
            )

    async def is_saved(self, saved: Any, value: Any) -> bool:
        """Return whether the saved list equals the draft."""
        return await holds(self.client, self.index, self.kind.name, by_id(value), whole=True)

    def journal_change(self, saved: Any, value: Any) -> AbstractAsyncContextManager[None]:
        """Record an applied change of the list in the journal."""
        note, whole = self.title.lower(), {**by_id(value)}
        return noting(self.client, self.index, {self.kind.name: whole}, whole=True, note=note)

    def take_applied(self, value: Any) -> None:
        """Take a list as saved that another editor has applied."""
        self._last_read = value
        super().take_applied(value)

    def list_decisions(self, draft: Draft) -> dict[str, Any]:
        """Return the changed objects by objectID; None deletes an object."""
        changes = changed_objects(draft.saved, draft.value)
        return {"draft": {change["id"]: change["after"] for change in changes}}

    def codes(self) -> dict[str, str]:
        """Write the changes as code."""
        connection, changes = self.client.connection, changed_objects(self.changed_from, self.value)
        return write_curation(connection, self.kind.name, self.index, changes, forward=self.forward)

    # Methods for cells.

    def impact(self, *queries: Any) -> pd.DataFrame:
        """Try the draft on queries, by default those of `queries`; nothing is applied.

        Each argument is one query, or several: a list, a Series and the like.
        """
        named = [text for query in queries for text in list_texts(query, "queries", column="query")]
        impacts: list[QueryImpact] = wait_for(self.preview(named or None))
        return pd.DataFrame(tabulate(impacts))

    def read_file(self, path: str | Path, *, replace: bool = False) -> None:
        """Import the objects of a CSV, JSON or NDJSON file into the draft."""
        documents = self.check(str(path))
        self._change(lambda value: _merge(value, documents, "replace" if replace else "take"))

    def write_file(self, path: str | Path) -> None:
        """Write the draft to a CSV, JSON or NDJSON file."""
        write_file(Path(path), self.value, self.kind.shape)

    # Calls for views and cells.

    @call
    def put(self, document: dict[str, Any], id: str | None = None, merge: bool = False) -> str:  # noqa: A002
        """Replace the object `id`, or add an object without it; return the objectID."""
        draft = {"objectID": id or self._new_id(), **document}
        try:
            [new] = self.check([draft])
        except BadInput as error:  # the index in a list of one object is not informative
            raise BadInput(str(error).replace(f"{self.kind.name}[0].", "")) from error
        self._change(lambda value: self._insert_or_replace(value, new, id), merge=merge)
        return str(new["objectID"])

    @call
    def put_all(self, documents: list[dict[str, Any]]) -> list[str]:
        """Add objects without an objectID in one undo step; return their objectIDs."""
        new = self.check([{"objectID": self._new_id(), **document} for document in documents])
        self._change(lambda value: [*new, *value])
        return [str(document["objectID"]) for document in new]

    @call
    def remove(self, ids: OneOrMany) -> None:
        """Remove objects from the draft."""
        removed = set(list_texts(ids, "ids", column="objectID"))
        self._change(
            lambda value: [document for document in value if document["objectID"] not in removed]
        )

    @call
    def duplicate(self, id: str) -> str:  # noqa: A002
        """Add a copy of an object; return the copy's objectID."""
        original = self.get(id)
        return self.put({**original, "objectID": self._new_id(f"{id}-copy")})

    def get(self, id: str) -> Document:  # noqa: A002
        """Return one object of the draft."""
        document = next(
            (candidate for candidate in self.value if candidate["objectID"] == id), None
        )
        if document is None:
            raise BadOption(f"no object `{id}` in the {self.kind.name} of the draft")
        return dict(document)

    @call
    def differences(self) -> list[ObjectChange]:
        """List the changes that applying makes."""
        return changed_objects(self.saved, self.value)

    @call
    async def review(self) -> list[ReviewedChange]:
        """List the changes that applying makes, each with the warnings about its object."""
        return [
            ReviewedChange(
                id=change["id"], how=change["how"], before=change["before"], after=change["after"],
                warnings=[fault["text"] for fault in self.faults.get(change["id"], ())],
            )
            for change in self.differences()
        ]  # fmt: skip

    @call(latest=True)
    async def preview(
        self,
        queries: OneOrMany | None = None,
        without: str = "",
        params: dict[str, Any] | None = None,
        at: float | None = None,
    ) -> list[QueryImpact]:
        """Search for queries in the index, and in a copy of the index that has the draft.

        With `without`, an objectID, the draft is compared with the draft without that object.
        `params` are added to the search parameters of the editor. With `at`, in seconds since
        1970, schedules are as of that time, on copies of both versions.
        """
        self.refuse_faults()
        search_params = {**self.params, **(params or {})}
        given = self.queries if queries is None else queries
        texts = list_texts(given, "queries", column="query")
        texts = texts or self.typical_queries(self._previewed_changes(without))
        if not texts:
            raise BadOption("enter a query to try the draft on")
        before = self._last_read
        if without:
            before = [document for document in self.value if document["objectID"] != without]
        sides = self.as_of(before, at), self.as_of(self.value, at)
        async with self._index_with(sides[0]) as left, self._index_with(sides[1]) as right:
            impacts = await measure(
                self.client, left, right, texts, search_params, report_progress, self.searchable
            )
        for impact in impacts:
            applied = impact["comparison"]["sides"][1]["applied"]
            impact["skipped"] = self.find_skipped(applied, search_params, at)
        return impacts

    @call
    def bring_in(self, name: str, text: str, how: ImportMode = "take") -> ImportCounts:
        """Import the objects of a file's text into the draft; return the numbers of changes."""
        suffix = Path(name).suffix.lower()
        if (reader := READERS.get(suffix)) is None:
            raise BadInput(f"unsupported format `{suffix}`; use {', '.join(READERS)}")
        documents = self.check(reader(text.removeprefix("\ufeff"), self.kind.shape))
        before = self.value
        self._change(lambda value: _merge(value, documents, how))
        changes = changed_objects(before, self.value)
        kinds = Counter(change["how"] for change in changes)
        return {
            "read": len(documents), "added": kinds["added"], "changed": kinds["changed"],
            "removed": kinds["removed"],
        }  # fmt: skip

    @call
    def give_out(self, suffix: str) -> str:
        """Return the draft as the text of a file."""
        return WRITERS[suffix](self.value, self.kind.shape)

    @call
    async def write(self) -> None:
        """Apply the draft; a failed call leaves it unchanged."""
        await super().write()
        self._last_read = await self.load()

    @call
    async def refresh(self) -> None:
        """Read the saved list, and apply the changes of the draft to it."""
        self._last_read = await self._load_again(error=None)
        changes = self.differences()
        draft = self._draft.rebase(self._last_read)
        self._set_draft(draft.put(change_objects(self._last_read, changes)))

    # Internals.

    async def _begin(self, value: Any) -> None:
        await asyncio.gather(super()._begin(value), self._read_searchable())
        self._last_read = self.saved

    def _previewed_changes(self, without: str) -> list[ObjectChange]:
        """Return the changes that a preview shows."""
        if not without:
            return self.differences()
        return [{"id": without, "how": "removed", "before": self.get(without), "after": None}]

    @asynccontextmanager
    async def _index_with(self, documents: Sequence[Document]) -> AsyncIterator[str]:
        """Yield an index with these objects: the index itself if they are saved, else a copy."""
        if same(by_id(documents), by_id(self._last_read)):
            yield self.index
            return
        report_progress(0, 0, f"copying {self.index} to try the draft on the copy")
        async with copy_with(self.client, self.kind, self.index, documents) as copy:
            yield copy

    def _change(self, change_list: ListChange, *, merge: bool = False) -> None:
        """Change the draft on the editors' loop: a cell and a view can change it at once."""
        self._refuse_read_only()

        def change() -> None:
            self._set_draft(self._draft.put(change_list(self._draft.value), merge=merge))

        run_on_loop(change)

    def _insert_or_replace(
        self, value: list[Document], new: Document, old_id: str | None
    ) -> list[Document]:
        if any(document["objectID"] == new["objectID"] != old_id for document in value):
            raise BadInput(
                f"duplicate objectID `{new['objectID']}`: another object of the list has it"
            )
        if all(document["objectID"] != old_id for document in value):
            return [new, *value]
        return [new if document["objectID"] == old_id else document for document in value]

    def _set_draft(self, draft: Draft) -> None:
        self.faults = self.find_faults(draft.value)
        changes = changed_objects(draft.saved, draft.value)
        self.changes = {change["id"]: change["how"] for change in changes}
        super()._set_draft(draft)
        self._update_state(typical=self.typical_queries(changes))

    def refuse_faults(self) -> None:
        """Raise `BadInput` if the draft has errors."""
        errors = [
            f"{name}: {fault['text']}"
            for name, faults in self.faults.items()
            for fault in faults
            if fault["level"] == "error"
        ]
        if errors:
            raise BadInput(join_first(errors, "; ", "; and "))

    def _new_id(self, preferred: str = "") -> str:
        taken = {document["objectID"] for document in self.value}
        if preferred and preferred not in taken:
            return preferred
        return f"{preferred or self.kind.name[:-1]}-{secrets.token_hex(4)}"


def _merge(value: list[Document], imported: list[Document], how: ImportMode) -> list[Document]:
    """Combine objects of a file with those of the draft; new ones come first."""
    if how == "replace":
        return imported
    old, new = by_id(value), by_id(imported)
    added = [document for document in imported if document["objectID"] not in old]
    kept = (
        value if how == "keep" else [new.get(document["objectID"], document) for document in value]
    )
    return [*added, *kept]


def _find_duplicate(names: Iterable[str]) -> str | None:
    seen: set[str] = set()
    return next((name for name in names if name in seen or seen.add(name)), None)  # type: ignore[func-returns-value]

"""The base of the synonym editor and the rule editor: a list of objects, drafted as a whole.

The value is the whole list in the API's format. Applying it replaces all stored objects in one
call, so that no search sees a partial list. If the stored list changed meanwhile, nothing is
written, and reloading merges both.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar, Literal, TypedDict

import pandas as pd
import traitlets

from svc_notebook.api.texts import OneOrMany, list_texts
from svc_notebook.api.validation import same
from svc_notebook.client.curation import ResourceKind, find_all, write_all
from svc_notebook.client.tasks import Tasks
from svc_notebook.editors.base import JSON, Editor
from svc_notebook.editors.curation_editors.changes import (
    Document,
    ObjectChange,
    by_id,
    changes_of,
    make_changes,
)
from svc_notebook.editors.curation_editors.impact import QueryImpact, copy_with, measure, tabulate
from svc_notebook.editors.draft import Draft
from svc_notebook.editors.rpc import call, on_stage, tell_progress, wait_for
from svc_notebook.editors.snippets import write_curation
from svc_notebook.editors.traits import Texts
from svc_notebook.errors import BadInput, BadOption
from svc_notebook.functions.documents import READERS, WRITERS, take_curated, write_file
from svc_notebook.tuning.changes.journalled_write import noting
from svc_notebook.tuning.changes.state import holds

MAX_LISTED_ERRORS = 5  # faults that a refusal names


class ObjectProblem(TypedDict, total=False):
    """A problem of one object: `wrong` prevents applying the draft, `odd` is a warning."""

    level: str
    text: str
    other: str


Faults = dict[str, list[ObjectProblem]]
# Of one objectID in a file and in the draft: take the file's, keep the draft's, or replace all.
Bringing = Literal["take", "keep", "replace"]
Make = Callable[[list[Document]], list[Document]]


class ImportCounts(TypedDict):
    """How many objects a file had, and what they changed in the draft."""

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

    faults: Any = traitlets.Dict().tag(sync=True, **JSON)
    changes: Any = traitlets.Dict().tag(sync=True, **JSON)
    queries: Any = Texts("query").tag(sync=True)
    forward = traitlets.Bool(False).tag(sync=True)

    def __init__(self, index: str, *, params: Mapping[str, Any] | None = None, **more: Any) -> None:
        self.params = dict(params or {})
        self._read: list[Document] = []
        super().__init__(index, **more)

    # What an editor says of itself, and its kinds besides.

    def tidy(self, document: Document) -> Document:
        """Write an object in the one way it is kept."""
        return document

    def find_faults(self, value: Sequence[Document]) -> Faults:
        """Say what is wrong or odd about the objects, by their objectIDs."""
        return {}

    def typical_queries(self, changes: Iterable[ObjectChange]) -> list[str]:
        """Queries that changes are likely to bear on."""
        return []

    async def load(self) -> list[Document]:
        """Read all of them."""
        found = await find_all(self.client, self.kind, self.index)
        return [self.tidy(document) for document in found]

    def check(self, value: Any) -> list[Document]:
        """Take objects, a table or a file of them; raises `BadInput` where it is none."""
        found = [self.tidy(document) for document in take_curated(value, self.kind)[0]]
        if twice := _first_twice(document["objectID"] for document in found):
            raise BadInput(f"two {self.kind.name} have the objectID `{twice}`")
        return found

    async def save(self, saved: Any, value: Any) -> Tasks:
        """Put the draft in place of all there are, unless they are others by now."""
        self._refuse_faults()
        if not same(by_id(await self.load()), by_id(self._read)):
            raise BadInput(
                f"the {self.kind.name} of {self.index} were changed elsewhere meanwhile; "
                "reload to see both changes together, then apply"
            )
        answer: Tasks = await write_all(self.client, self.kind, self.index, value, self.forward)
        return answer

    async def is_saved(self, saved: Any, value: Any) -> bool:
        """Say whether the draft is all there is."""
        return await holds(self.client, self.index, self.kind.name, by_id(value), whole=True)

    def noting(self, saved: Any, value: Any) -> AbstractAsyncContextManager[None]:
        """Keep what differs in the whole list."""
        note, whole = self.title.lower(), {**by_id(value)}
        return noting(self.client, self.index, {self.kind.name: whole}, whole=True, note=note)

    def codes(self) -> dict[str, str]:
        """What applying does, as code."""
        connection, changes = self.client.connection, self.differences()
        return write_curation(connection, self.kind.name, self.index, changes)

    # For cells.

    def impact(self, *queries: Any) -> pd.DataFrame:
        """Try the draft on queries, by default those of `queries`; nothing is applied.

        Each argument is one query, or several: a list, a Series and the like.
        """
        named = [text for each in queries for text in list_texts(each, "queries", column="query")]
        found: list[QueryImpact] = wait_for(self.preview(named or None))
        return pd.DataFrame(tabulate(found))

    def read_file(self, path: str | Path, *, replace: bool = False) -> None:
        """Take objects of a CSV, JSON or NDJSON file into the draft."""
        found = self.check(str(path))
        self._change(lambda value: _join(value, found, "replace" if replace else "take"))

    def write_file(self, path: str | Path) -> None:
        """Write the draft to a CSV, JSON or NDJSON file."""
        write_file(Path(path), self.value, self.kind.shape)

    # For views and cells.

    @call
    def put(self, document: dict[str, Any], id: str | None = None, merge: bool = False) -> str:  # noqa: A002
        """Put an object in place of the one with `id`, or add it; returns its objectID."""
        own = {"objectID": id or self._new_id(), **document}
        try:
            [new] = self.check([own])
        except BadInput as error:  # of a list of one, the place in it says nothing
            raise BadInput(str(error).replace(f"{self.kind.name}[0].", "")) from error
        self._change(lambda value: self._put_in(value, new, id), merge=merge)
        return str(new["objectID"])

    @call
    def remove(self, ids: OneOrMany) -> None:
        """Take objects out of the draft."""
        gone = set(list_texts(ids, "ids", column="objectID"))
        self._change(lambda value: [each for each in value if each["objectID"] not in gone])

    @call
    def duplicate(self, id: str) -> str:  # noqa: A002
        """Add a copy of an object; returns the copy's objectID."""
        found = self.get(id)
        return self.put({**found, "objectID": self._new_id(f"{id}-copy")})

    def get(self, id: str) -> Document:  # noqa: A002
        """Return one object of the draft."""
        found = next((each for each in self.value if each["objectID"] == id), None)
        if found is None:
            raise BadOption(f"the draft has no {self.kind.name} `{id}`")
        return dict(found)

    @call
    def differences(self) -> list[ObjectChange]:
        """List what applying changes."""
        return changes_of(self.saved, self.value)

    @call(latest=True)
    async def preview(
        self,
        queries: OneOrMany | None = None,
        without: str = "",
        params: dict[str, Any] | None = None,
    ) -> list[QueryImpact]:
        """Search for queries as things are, and on a copy of the index that has the draft.

        With the objectID of one in `without`, search with the draft as it would be but for that;
        `params` are asked with besides those of the editor.
        """
        self._refuse_faults()
        asked = {**self.params, **(params or {})}
        own = self.queries if queries is None else queries
        wanted = list_texts(own, "queries", column="query")
        wanted = wanted or self.typical_queries(self._bearing(without))
        if not wanted:
            raise BadOption("name a query to try the draft on")
        before = self._read
        if without:
            before = [each for each in self.value if each["objectID"] != without]
        async with self._stand_in(before) as left, self._stand_in(self.value) as right:
            return await measure(self.client, left, right, wanted, asked, tell_progress)

    @call
    def bring_in(self, name: str, text: str, how: Bringing = "take") -> ImportCounts:
        """Take the objects of a file's text into the draft; returns what became of them."""
        reader = READERS.get(Path(name).suffix.lower())
        if reader is None:
            raise BadInput(f"{name} should end in one of {', '.join(READERS)}")
        found = self.check(reader(text.removeprefix("\ufeff"), self.kind.shape))
        before = self.value
        self._change(lambda value: _join(value, found, how))
        changes = changes_of(before, self.value)
        kinds = Counter(change["how"] for change in changes)
        return {
            "read": len(found), "added": kinds["added"], "changed": kinds["changed"],
            "removed": kinds["removed"],
        }  # fmt: skip

    @call
    def give_out(self, suffix: str) -> str:
        """Write the draft as the text of a file."""
        return WRITERS[suffix](self.value, self.kind.shape)

    @call
    async def write(self) -> None:
        """Apply the draft; a call that fails leaves it as it was."""
        await super().write()
        self._read = await self.load()

    @call
    async def refresh(self) -> None:
        """Read what is saved, and make the draft's changes to that."""
        self._tell(busy="loading", error=None)
        try:
            self._read = await self.load()
        finally:
            self._tell(busy="")
        mine = self.differences()
        draft = self._draft.rebase(self._read)
        self._settle(draft.put(make_changes(self._read, mine)))

    # The rest.

    async def _begin(self, value: Any) -> None:
        await super()._begin(value)
        self._read = self.saved

    def _bearing(self, without: str) -> list[ObjectChange]:
        """The changes that a preview is about."""
        if not without:
            return self.differences()
        return [{"id": without, "how": "removed", "before": self.get(without), "after": None}]

    @asynccontextmanager
    async def _stand_in(self, documents: Sequence[Document]) -> AsyncIterator[str]:
        """Give an index that has these objects: the index itself, where they are saved there."""
        if same(by_id(documents), by_id(self._read)):
            yield self.index
            return
        tell_progress(0, 0, f"copying {self.index} to try the draft on the copy")
        async with copy_with(self.client, self.kind, self.index, documents) as copy:
            yield copy

    def _change(self, make: Make, *, merge: bool = False) -> None:
        """Change the draft as it is by then: a cell and a view may both be at it."""
        self._refuse_read_only()

        def change() -> None:
            self._settle(self._draft.put(make(self._draft.value), merge=merge))

        on_stage(change)

    def _put_in(self, value: list[Document], new: Document, id: str | None) -> list[Document]:  # noqa: A002
        if any(each["objectID"] == new["objectID"] != id for each in value):
            raise BadInput(f"another of the {self.kind.name} has the objectID `{new['objectID']}`")
        if all(each["objectID"] != id for each in value):
            return [new, *value]
        return [new if each["objectID"] == id else each for each in value]

    def _settle(self, draft: Draft) -> None:
        self.faults = self.find_faults(draft.value)
        changes = changes_of(draft.saved, draft.value)
        self.changes = {change["id"]: change["how"] for change in changes}
        super()._settle(draft)
        self._tell(typical=self.typical_queries(changes))

    def _refuse_faults(self) -> None:
        wrong = [
            f"{name}: {fault['text']}"
            for name, faults in self.faults.items()
            for fault in faults
            if fault["level"] == "wrong"
        ]
        if wrong:
            more = (
                f"; and {len(wrong) - MAX_LISTED_ERRORS} more"
                if len(wrong) > MAX_LISTED_ERRORS
                else ""
            )
            raise BadInput(f"{'; '.join(wrong[:MAX_LISTED_ERRORS])}{more}")

    def _new_id(self, wanted: str = "") -> str:
        taken = {each["objectID"] for each in self.value}
        if wanted and wanted not in taken:
            return wanted
        return f"{wanted or self.kind.name[:-1]}-{secrets.token_hex(4)}"


def _join(value: list[Document], found: list[Document], how: Bringing) -> list[Document]:
    """Put objects of a file with those of the draft; what is new comes first."""
    if how == "replace":
        return found
    old, new = by_id(value), by_id(found)
    added = [each for each in found if each["objectID"] not in old]
    kept = value if how == "keep" else [new.get(each["objectID"], each) for each in value]
    return [*added, *kept]


def _first_twice(names: Iterable[str]) -> str | None:
    seen: set[str] = set()
    return next((name for name in names if name in seen or seen.add(name)), None)  # type: ignore[func-returns-value]

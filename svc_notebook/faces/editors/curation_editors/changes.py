"""The changes that a draft makes to a list of objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from svc_notebook.core.api.validation import same

Document = dict[str, Any]
How = Literal["added", "changed", "removed"]


class ObjectChange(TypedDict):
    """The change of one object when the draft is applied."""

    id: str
    how: How
    before: Document | None
    after: Document | None


class ReviewedChange(ObjectChange, total=False):
    """A change as the dialog before applying shows it.

    `lines` has sentences about the object before and after; without them the view writes them.
    """

    warnings: list[str]
    lines: tuple[list[str], list[str]]


def by_id(documents: Iterable[Document]) -> dict[str, Document]:
    """Return objects by their objectIDs."""
    return {document["objectID"]: document for document in documents}


def changes_of(saved: Sequence[Document], value: Sequence[Document]) -> list[ObjectChange]:
    """List the objects that differ between two lists; the order does not count."""
    old, new = by_id(saved), by_id(value)
    changes = [_change(name, old.get(name), new.get(name)) for name in dict.fromkeys([*new, *old])]
    return [change for change in changes if not same(change["before"], change["after"])]


def _change(name: str, before: Document | None, after: Document | None) -> ObjectChange:
    how: How = "added" if before is None else "removed" if after is None else "changed"
    return {"id": name, "how": how, "before": before, "after": after}


def make_changes(documents: Sequence[Document], changes: Iterable[ObjectChange]) -> list[Document]:
    """Apply changes that were made to another version of a list; return the new list."""
    changes_by_id: Mapping[str, ObjectChange] = {change["id"]: change for change in changes}
    kept = [
        changes_by_id[name]["after"]
        if (name := document["objectID"]) in changes_by_id
        else document
        for document in documents
    ]
    present = by_id(documents)
    added = [change["after"] for name, change in changes_by_id.items() if name not in present]
    return [document for document in [*added, *kept] if document is not None]

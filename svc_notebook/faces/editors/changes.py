"""Drafts of editors, and changes as they list them: of a draft, of all drafts, and recorded ones.

A draft of settings has every saved setting; `None` resets a setting to its default. The changes of
a workbench are as `svc.tuning.apply` takes them: `{"settings": {name: value}, "synonyms":
{objectID: object}, "rules": {objectID: object}}`. A part without changes is missing, and `None`
resets a setting or deletes an object. Interrupted changes of the journal have two ways to end each.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, Self, TypedDict

from pandas import DataFrame

from svc_notebook.core.api.parameters import default_of
from svc_notebook.core.api.validation import same
from svc_notebook.data.client import AsyncClient
from svc_notebook.errors import BadInput
from svc_notebook.tuning.changes import Change, Journal, describe_change, read_interruptions

MAX_UNDO_STEPS = 200


@dataclass(frozen=True)
class Draft:
    """One immutable state of an edit; every change creates another, for use by several threads."""

    value: Any
    saved: Any = None
    past: tuple[Any, ...] = ()
    future: tuple[Any, ...] = ()

    @classmethod
    def of(cls, saved: Any) -> Self:
        """Return the draft of an unchanged saved value."""
        return cls(value=saved, saved=saved)

    @property
    def is_dirty(self) -> bool:
        """Whether the value differs from what is saved."""
        return not same(self.value, self.saved)

    def put(self, value: Any, *, merge: bool = False) -> Self:
        """Change the value; with `merge` it replaces the last value without a new undo step.

        The redo history is cleared. An equal value is not a change.
        """
        if same(value, self.value):
            return self
        past = self.past if merge and self.past else (*self.past, self.value)[-MAX_UNDO_STEPS:]
        if same(value, past[-1]):  # the merge restored the previous value
            past = past[:-1]
        return replace(self, value=value, past=past, future=())

    def undo(self) -> Self:
        """Go back one step, if there is one."""
        if not self.past:
            return self
        return replace(
            self, value=self.past[-1], past=self.past[:-1], future=(self.value, *self.future)
        )

    def redo(self) -> Self:
        """Redo one undone step, if there is one."""
        if not self.future:
            return self
        return replace(
            self, value=self.future[0], past=(*self.past, self.value), future=self.future[1:]
        )

    def revert(self) -> Self:
        """Return to the saved value, as a step that can be undone."""
        return self.put(self.saved)

    def keep(self, saved: Any) -> Self:
        """Set the saved value; the current value and its history stay."""
        return replace(self, saved=saved)

    def rebase(self, saved: Any) -> Self:
        """Set the saved value, and follow it unless the value was edited."""
        return self.keep(saved) if self.is_dirty else replace(self, saved=saved, value=saved)


Settings = dict[str, Any]
SettingHow = Literal["set", "changed", "reset"]

Document = dict[str, Any]
ObjectHow = Literal["added", "changed", "removed"]

Part = Literal["settings", "synonyms", "rules"]
Changes = dict[str, dict[str, Any]]

FACETING = "attributesForFaceting"


class SettingChange(TypedDict):
    """The change of one setting when the draft is applied."""

    name: str
    how: SettingHow
    before: Any
    after: Any
    default: Any


def complete_settings(saved: Mapping[str, Any], value: Mapping[str, Any]) -> Settings:
    """Complete a draft in which missing settings keep their saved values."""
    return tidy_settings(saved, {**saved, **value})


def tidy_settings(saved: Mapping[str, Any], value: Mapping[str, Any]) -> Settings:
    """Complete a draft in which missing settings are reset."""
    reset = {name: None for name in saved if name not in value}
    kept = {name: member for name, member in value.items() if member is not None or name in saved}
    return {**kept, **reset}


def changed_settings(saved: Mapping[str, Any], value: Mapping[str, Any]) -> Settings:
    """Return the changed settings as the API accepts them; `None` resets."""
    whole = tidy_settings(saved, value)
    return {
        name: member
        for name, member in whole.items()
        if name not in saved or not same(member, saved[name])
    }


def without_defaults(value: Mapping[str, Any]) -> Settings:
    """Return the settings that differ from their defaults."""
    return {
        name: member
        for name, member in value.items()
        if member is not None and not same(member, default_of(name))
    }


def rebase_settings(
    before: Mapping[str, Any], value: Mapping[str, Any], saved: Mapping[str, Any]
) -> Settings:
    """Apply the changes of a draft to newly saved settings."""
    return tidy_settings(saved, {**saved, **changed_settings(before, value)})


def list_setting_changes(saved: Mapping[str, Any], value: Mapping[str, Any]) -> list[SettingChange]:
    """List the changes as a view shows them."""
    return [
        {
            "name": name,
            "how": "reset" if member is None else "changed" if name in saved else "set",
            "before": saved.get(name),
            "after": member,
            "default": default_of(name),
        }
        for name, member in changed_settings(saved, value).items()
    ]


def invert_settings(saved: Mapping[str, Any], changes: Mapping[str, Any]) -> Settings:
    """Return the changes that revert other changes."""
    return {name: saved.get(name) for name in changes}


def find_setting_conflicts(
    saved: Mapping[str, Any], now: Mapping[str, Any], changes: Mapping[str, Any]
) -> list[str]:
    """Return the settings of `changes` that were also changed elsewhere, to other values."""
    return [
        name
        for name, member in changes.items()
        if not same(saved.get(name), now.get(name)) and not same(member, now.get(name))
    ]


def show_setting(value: Any) -> str:
    """Return a setting's value as one line of JSON."""
    return json.dumps(value, ensure_ascii=False)


class ObjectChange(TypedDict):
    """The change of one object when the draft is applied."""

    id: str
    how: ObjectHow
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


def changed_objects(saved: Sequence[Document], value: Sequence[Document]) -> list[ObjectChange]:
    """List the objects that differ between two lists; the order does not count."""
    old, new = by_id(saved), by_id(value)
    changes = [_change(name, old.get(name), new.get(name)) for name in dict.fromkeys([*new, *old])]
    return [change for change in changes if not same(change["before"], change["after"])]


def _change(name: str, before: Document | None, after: Document | None) -> ObjectChange:
    how: ObjectHow = "added" if before is None else "removed" if after is None else "changed"
    return {"id": name, "how": how, "before": before, "after": after}


def change_objects(
    documents: Sequence[Document], changes: Iterable[ObjectChange]
) -> list[Document]:
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


def diff_part(part: Part, saved: Any, value: Any) -> dict[str, Any]:
    """Return the changes of one part, by name or objectID."""
    if part == "settings":
        return changed_settings(saved, value)
    return {change["id"]: change["after"] for change in changed_objects(saved, value)}


def patch_part(part: Part, saved: Any, changes: Mapping[str, Any]) -> Any:
    """Return the whole value of one part: the saved one with changes."""
    if part == "settings":
        return complete_settings(saved, changes)
    return change_objects(saved, _object_changes(saved, changes))


def is_same_part(part: Part, value: Any, other: Any) -> bool:
    """Return whether two values of a part are equal; the order of objects does not count."""
    return not diff_part(part, value, other)


def order_parts(changes: Mapping[str, Mapping[str, Any]], saved: Mapping[str, Any]) -> list[Part]:
    """Return the changed parts in the order in which they are written.

    Rules can filter by facets. Settings come first, so that a new facet exists when a rule names
    it. If the settings only remove facets they come last, when no rule names these any more.
    """
    parts: list[Part] = ["settings", "synonyms", "rules"]
    changed = changes.get("settings", {})
    if FACETING in changed:
        before, after = ({*(settings.get(FACETING) or ())} for settings in (saved, changed))
        if after < before:
            parts = ["synonyms", "rules", "settings"]
    return [part for part in parts if changes.get(part)]


def _object_changes(saved: Sequence[Document], changes: Mapping[str, Any]) -> list[ObjectChange]:
    objects = by_id(list(saved))
    return [
        {
            "id": name,
            "how": "removed" if after is None else "changed" if name in objects else "added",
            "before": objects.get(name),
            "after": None if after is None else {"objectID": name, **after},
        }
        for name, after in changes.items()
    ]


class InterruptedChange(TypedDict):
    """One interrupted change: its id, its description, and the labels of its two actions."""

    change: str
    text: str
    finish: str
    revert: str


async def list_interrupted(client: AsyncClient, index: str) -> list[InterruptedChange]:
    """List the interrupted changes of an index that are made in part, oldest first.

    The index is read only if the journal has such changes. None is listed if the journal cannot be
    read, about which the next write warns.
    """
    try:
        interruptions = await read_interruptions(client, Journal.of(client, index))
    except BadInput:
        return []
    return [_describe_interrupted(entry.change) for entry in interruptions if entry.missing]


def _describe_interrupted(change: Change) -> InterruptedChange:
    when = datetime.fromtimestamp(change.when).astimezone()
    made_by = f", {change.note}" if change.note else ""
    return {
        "change": change.change_id,
        "text": f"A change of {when:%Y-%m-%d %H:%M} was interrupted and may be made in part: "
        f"{describe_change(change)}{made_by}.",
        "finish": "Finish the undo" if change.parent else "Finish it",
        "revert": "Cancel the undo" if change.parent else "Take it back",
    }


class AppliedChange(TypedDict):
    """One change: `when` in seconds since 1970, and what changed, by part.

    `undone` is whether a later change reverted it, `open` whether its outcome is unknown.
    """

    id: str
    when: float
    note: str
    changed: list[list[str]]
    undone: bool
    open: bool


def list_applied(history: DataFrame) -> list[AppliedChange]:
    """Return the changes of a history, as `svc.tuning.history` returns it, newest first."""
    applied: dict[str, AppliedChange] = {}
    rows = history.to_dict("records")
    reverted = _find_undone([(row["change_id"], row["parent"]) for row in rows])
    for row in rows:
        change = applied.setdefault(row["change_id"], {
            "id": row["change_id"], "when": row["when"].timestamp(), "note": row["note"],
            "changed": [], "undone": row["change_id"] in reverted, "open": row["state"] == "open",
        })  # fmt: skip
        change["changed"].append([row["scope"], row["changed"]])
    return list(applied.values())


def _find_undone(changes: list[tuple[str, str]]) -> set[str]:
    """Return the changes that are undone; the newest change, which is first, decides."""
    undone: set[str] = set()
    for name, parent in changes:
        if parent and name not in undone:
            undone.add(parent)
    return undone

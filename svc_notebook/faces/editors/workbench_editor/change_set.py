"""The value of a workbench: the changes of all its drafts, as `svc.tuning.apply` takes them.

`{"settings": {name: value}, "synonyms": {objectID: object}, "rules": {objectID: object}}`; a part
without changes is missing, and None resets a setting or deletes an object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from svc_notebook.faces.editors.curation_editors.changes import (
    Document,
    ObjectChange,
    by_id,
    changes_of,
    make_changes,
)
from svc_notebook.faces.editors.settings_editor import changes as settings_changes

Part = Literal["settings", "synonyms", "rules"]
Changes = dict[str, dict[str, Any]]

FACETING = "attributesForFaceting"


def diff_part(part: Part, saved: Any, value: Any) -> dict[str, Any]:
    """Return the changes of one part, by name or objectID."""
    if part == "settings":
        return settings_changes.changes_of(saved, value)
    return {change["id"]: change["after"] for change in changes_of(saved, value)}


def patch_part(part: Part, saved: Any, changes: Mapping[str, Any]) -> Any:
    """Return the whole value of one part: the saved one with changes."""
    if part == "settings":
        return settings_changes.complete(saved, changes)
    return make_changes(saved, _list_changes(saved, changes))


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


def _list_changes(saved: Sequence[Document], changes: Mapping[str, Any]) -> list[ObjectChange]:
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

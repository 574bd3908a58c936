"""Settings as a draft: what is absent, what is set, and what goes back to its default.

A draft names every setting that is saved; `None` stands for one that is to be reset.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from svc_notebook.api.parameters import default_of
from svc_notebook.api.validation import same

Settings = dict[str, Any]
How = Literal["set", "changed", "reset"]


class SettingChange(TypedDict):
    """What happens to one setting when the draft is applied."""

    name: str
    how: How
    before: Any
    after: Any
    default: Any


def complete(saved: Mapping[str, Any], value: Mapping[str, Any]) -> Settings:
    """Make a draft whole, as the API takes it: what is left out stays as it is saved."""
    return tidy(saved, {**saved, **value})


def tidy(saved: Mapping[str, Any], value: Mapping[str, Any]) -> Settings:
    """Make a draft whole that leaves out what is to be reset."""
    reset = {name: None for name in saved if name not in value}
    kept = {name: member for name, member in value.items() if member is not None or name in saved}
    return {**kept, **reset}


def changes_of(saved: Mapping[str, Any], value: Mapping[str, Any]) -> Settings:
    """What differs, as the API takes it: `None` resets."""
    whole = tidy(saved, value)
    return {
        name: member
        for name, member in whole.items()
        if name not in saved or not same(member, saved[name])
    }


def rebase(
    before: Mapping[str, Any], value: Mapping[str, Any], saved: Mapping[str, Any]
) -> Settings:
    """Take the changes of a draft over to what is saved now."""
    return tidy(saved, {**saved, **changes_of(before, value)})


def list_changes(saved: Mapping[str, Any], value: Mapping[str, Any]) -> list[SettingChange]:
    """Tell the changes one by one, as a view shows them."""
    return [
        {
            "name": name,
            "how": "reset" if member is None else "changed" if name in saved else "set",
            "before": saved.get(name),
            "after": member,
            "default": default_of(name),
        }
        for name, member in changes_of(saved, value).items()
    ]


def inverse(saved: Mapping[str, Any], changes: Mapping[str, Any]) -> Settings:
    """The changes that take others back."""
    return {name: saved.get(name) for name in changes}


def find_conflicts(
    saved: Mapping[str, Any], now: Mapping[str, Any], changes: Mapping[str, Any]
) -> list[str]:
    """Name the settings to be changed that somebody else changed meanwhile, to something else."""
    return [
        name
        for name, member in changes.items()
        if not same(saved.get(name), now.get(name)) and not same(member, now.get(name))
    ]


def show(value: Any) -> str:
    """Write a setting's value on one line."""
    return json.dumps(value, ensure_ascii=False)

"""The changes that a draft of settings makes.

A draft has every saved setting; `None` resets a setting to its default.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from svc_notebook.core.api.parameters import default_of
from svc_notebook.core.api.validation import same

Settings = dict[str, Any]
How = Literal["set", "changed", "reset"]


class SettingChange(TypedDict):
    """The change of one setting when the draft is applied."""

    name: str
    how: How
    before: Any
    after: Any
    default: Any


def complete(saved: Mapping[str, Any], value: Mapping[str, Any]) -> Settings:
    """Complete a draft in which missing settings keep their saved values."""
    return tidy(saved, {**saved, **value})


def tidy(saved: Mapping[str, Any], value: Mapping[str, Any]) -> Settings:
    """Complete a draft in which missing settings are reset."""
    reset = {name: None for name in saved if name not in value}
    kept = {name: member for name, member in value.items() if member is not None or name in saved}
    return {**kept, **reset}


def changes_of(saved: Mapping[str, Any], value: Mapping[str, Any]) -> Settings:
    """Return the changed settings as the API accepts them; `None` resets."""
    whole = tidy(saved, value)
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


def rebase(
    before: Mapping[str, Any], value: Mapping[str, Any], saved: Mapping[str, Any]
) -> Settings:
    """Apply the changes of a draft to newly saved settings."""
    return tidy(saved, {**saved, **changes_of(before, value)})


def list_changes(saved: Mapping[str, Any], value: Mapping[str, Any]) -> list[SettingChange]:
    """List the changes as a view shows them."""
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
    """Return the changes that revert other changes."""
    return {name: saved.get(name) for name in changes}


def find_conflicts(
    saved: Mapping[str, Any], now: Mapping[str, Any], changes: Mapping[str, Any]
) -> list[str]:
    """Return the settings of `changes` that were also changed elsewhere, to other values."""
    return [
        name
        for name, member in changes.items()
        if not same(saved.get(name), now.get(name)) and not same(member, now.get(name))
    ]


def show(value: Any) -> str:
    """Return a setting's value as one line of JSON."""
    return json.dumps(value, ensure_ascii=False)

"""The settings as a view lists them, by group, and checks of their entries."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypedDict

from svc_notebook.core.api.attributes import attributes_in, entries_of, name_attributes
from svc_notebook.core.api.parameter_meanings import MEANINGS
from svc_notebook.core.api.parameters import PARAMETERS, Parameter, default_of
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.faces.editors.query_editor.panel import describe

_CALL = re.compile(r"(\w+)\((.*)\)", re.S)
CRITERIA: tuple[str, ...] = tuple(default_of("ranking"))
# The modifiers of an attribute; "" if an attribute without a modifier is allowed. `ordered(a)`
# means the same as `a`; the service accepts both.
MODIFIERS: dict[str, tuple[str, ...]] = {
    "searchableAttributes": ("", "unordered", "ordered"),
    "attributesForFaceting": ("", "searchable", "filterOnly", "afterDistinct"),
    "customRanking": ("desc", "asc"),
    "ranking": ("", "desc", "asc"),
}


class Problem(TypedDict):
    """A warning about an entry; it does not prevent applying."""

    name: str
    entry: str
    text: str


def check_entries(name: str, entries: Sequence[str]) -> None:
    """Raise `BadInput` for duplicate or invalid entries."""
    duplicates = [entry for entry, count in Counter(entries).items() if count > 1]
    if duplicates:
        raise BadInput(f"`{name}` has the duplicate entry `{duplicates[0]}`")
    for entry in entries:
        _check_entry(name, entry)


def _check_entry(name: str, entry: str) -> None:
    if not attributes_in(entry):
        raise BadInput(f"`{name}` has an entry without a name")
    match = _CALL.fullmatch(entry)
    modifier = match[1] if match else ""
    if modifier not in MODIFIERS[name] and (modifier or name == "customRanking"):
        forms = " or ".join(f"`{word}(attribute)`" for word in MODIFIERS[name] if word)
        raise BadInput(f"`{name}`: `{entry}` is not of the form {forms}")
    if name == "ranking" and not modifier and entry not in CRITERIA:
        suggestion = did_you_mean(entry, CRITERIA)
        raise BadInput(
            f"`ranking`: `{entry}` is not a criterion{suggestion or '; use asc(a) or desc(a)'}"
        )


def _is_known(attribute: str, names: Collection[str]) -> bool:
    """Return whether records have an attribute, or nested members of it."""
    return attribute in names or any(name.startswith(f"{attribute}.") for name in names)


def find_problems(value: Mapping[str, Any], attributes: Collection[str]) -> list[Problem]:
    """Find probable mistakes: attributes that no record has, and an unused custom ranking."""
    names = set(attributes)
    problems: list[Problem] = []
    for name in value if names else ():
        for entry in entries_of(value[name]):
            unknown = [a for a in name_attributes({name: entry}) if not _is_known(a, names)]
            if unknown:
                text = f"no record of the sample has `{unknown[0]}`"
                problems.append(
                    {"name": name, "entry": entry, "text": text + did_you_mean(unknown[0], names)}
                )
    ranking = value.get("ranking")
    if ranking is not None and value.get("customRanking") and "custom" not in ranking:
        text = "the custom ranking has no effect, because `custom` is not in the ranking"
        problems.append({"name": "customRanking", "entry": "", "text": text})
    return problems


# Settings that are true, false or a list of languages.
BY_LANGUAGE = ("ignorePlurals", "removeStopWords")


class SettingRow(TypedDict):
    """One setting and the control that sets it."""

    name: str
    meaning: str
    kind: str
    choices: list[str]
    default: Any
    effect: str
    group: str
    scope: str
    around: list[str]


def list_settings() -> list[SettingRow]:
    """List all settings, group by group."""
    return [_row(PARAMETERS[name]) for name in MEANINGS if PARAMETERS[name].scope != "parameter"]


def _row(parameter: Parameter) -> SettingRow:
    row = describe(parameter, parameter.default)
    return {
        "name": row["name"],
        "meaning": row["meaning"],
        "kind": "languages" if parameter.name in BY_LANGUAGE else row["kind"],
        "choices": list(CRITERIA) if parameter.name == "ranking" else row["choices"],
        "default": row["default"],
        "effect": row["effect"],
        "group": row["group"],
        "scope": row["scope"],
        "around": list(MODIFIERS.get(parameter.name, ())),
    }

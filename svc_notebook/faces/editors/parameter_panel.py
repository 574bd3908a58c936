"""Parameters and settings as views list them, with their controls and checks of their entries."""

from __future__ import annotations

import re
import typing
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypedDict, get_args, get_origin

from svc_notebook.core.api.attributes import attributes_in, entries_of, name_attributes
from svc_notebook.core.api.parameter_meanings import MEANINGS
from svc_notebook.core.api.parameters import PARAMETERS, Parameter, default_of
from svc_notebook.data.client import AsyncClient
from svc_notebook.errors import BadInput, KeyRefused, did_you_mean
from svc_notebook.faces.functions.text_values import read_word

Kind = Literal["switch", "number", "choice", "words", "languages", "text", "json"]

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

SAMPLE_RECORDS = 100
MAX_DEPTH = 5  # levels of nested members


class PanelRow(TypedDict):
    """One parameter and the control that sets it."""

    name: str
    meaning: str
    kind: Kind
    choices: list[str]
    default: Any
    effect: str
    group: str
    scope: str


def list_parameters(settings: Mapping[str, Any], *, with_settings: bool = False) -> list[PanelRow]:
    """List the search parameters by group; a setting of the index replaces the default.

    With `with_settings`, settings that are not search parameters are listed, too.
    """
    parameters = (PARAMETERS[name] for name in MEANINGS)
    return [
        describe_parameter(parameter, settings.get(parameter.name, parameter.default))
        for parameter in parameters
        if (with_settings or parameter.scope != "setting") and parameter.name != "query"
    ]


def read_parameter(name: str, text: str) -> Any:
    """Parse the typed value of a parameter."""
    return read_word(text, PARAMETERS[name].type, name)


def describe_parameter(parameter: Parameter, default: Any) -> PanelRow:
    """Describe one parameter, and the control that sets it."""
    kind = _control_kind(parameter.type)
    return {
        "name": parameter.name, "meaning": parameter.meaning, "kind": kind,
        "choices": _choices(parameter, kind), "default": default, "effect": parameter.effect,
        "group": parameter.group, "scope": parameter.scope,
    }  # fmt: skip


def _choices(parameter: Parameter, kind: Kind) -> list[str]:
    if kind == "choice" and bool in _alternatives(parameter.type):
        return list(dict.fromkeys(["true", "false", *parameter.choices]))
    return list(parameter.choices)


def _control_kind(expected: Any) -> Kind:
    kinds = {*_alternatives(expected)} - {type(None)}
    choices = {kind for kind in kinds if get_origin(kind) is Literal}
    if choices:
        return "choice" if kinds - choices <= {bool} else "json"
    if len(kinds) > 1:
        return "words" if kinds <= {str, list[str]} else "json"
    [only] = kinds
    if get_origin(only) is list and get_origin(get_args(only)[0]) is not list:
        return "words"
    return {bool: "switch", int: "number", str: "text"}.get(only, "json")  # type: ignore[return-value]


def _alternatives(expected: Any) -> list[Any]:
    if get_origin(expected) is typing.Annotated:
        return _alternatives(get_args(expected)[0])
    members = get_args(expected) if get_origin(expected) is not None else ()
    if members and get_origin(expected) not in (list, dict, Literal):
        return [kind for member in members for kind in _alternatives(member)]
    return [expected]


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
    if modifier not in MODIFIERS[name]:
        forms = " or ".join(f"`{word}(attribute)`" for word in MODIFIERS[name] if word)
        raise BadInput(f"`{name}`: `{entry}` is not of the form {forms}")
    if name == "ranking" and not modifier and entry not in CRITERIA:
        suggestion = did_you_mean(entry, CRITERIA) or "; use asc(a) or desc(a)"
        raise BadInput(f"`ranking`: `{entry}` is not a criterion{suggestion}")


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


class SettingRow(PanelRow):
    """One setting and the control that sets it, with the modifiers of its entries."""

    around: list[str]


def list_settings() -> list[SettingRow]:
    """List all settings, group by group."""
    return [_row(PARAMETERS[name]) for name in MEANINGS if PARAMETERS[name].scope != "parameter"]


def _row(parameter: Parameter) -> SettingRow:
    row = describe_parameter(parameter, parameter.default)
    if parameter.name in BY_LANGUAGE:
        row["kind"] = "languages"
    if parameter.name == "ranking":
        row["choices"] = list(CRITERIA)
    return {**row, "around": list(MODIFIERS.get(parameter.name, ()))}


class Attribute(TypedDict):
    """One attribute, the kinds of its values, and the share of the sample that has it."""

    name: str
    kinds: list[str]
    share: float


async def read_attributes(client: AsyncClient, index: str) -> list[Attribute]:
    """Read the attributes of a sample; none if the key cannot search."""
    options: Any = {
        "hitsPerPage": SAMPLE_RECORDS,
        "attributesToHighlight": [],
        "attributesToSnippet": [],
    }
    try:
        answer = await client.search(index, **options, analytics=False, enableRules=False)
    except KeyRefused:
        return []
    return list_attributes(answer["hits"])


def list_attributes(records: Iterable[Mapping[str, Any]]) -> list[Attribute]:
    """List attributes, nested ones by path, in the order of their first occurrence."""
    count = 0
    seen: Counter[str] = Counter()
    kinds: dict[str, dict[str, None]] = {}
    for record in records:
        count += 1
        members = {
            name: value
            for name, value in record.items()
            if name[:1] != "_" or name in ("_tags", "_geoloc")
        }
        names = list(_walk(members, "", MAX_DEPTH))
        seen.update({name for name, _ in names})
        for name, value in names:
            kinds.setdefault(name, {})[_kind(value)] = None
    return [
        {"name": name, "kinds": list(kinds[name]), "share": seen[name] / count} for name in kinds
    ]


def _walk(value: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and depth:
        prefix = f"{path}." if path else ""
        for name, member in value.items():
            yield from _walk(member, f"{prefix}{name}", depth - 1)
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item, path, depth)
    elif path and value is not None:
        yield path, value


def _kind(value: Any) -> str:
    kinds: dict[type, str] = {bool: "true or false", int: "number", float: "number", str: "text"}
    return kinds.get(type(value), "object")

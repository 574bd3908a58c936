"""The registry of all verbs of `%svc`, `%%svc` and the `svc` command."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from svc_notebook.core.foreign_names import ACTIONS, FUNCTIONS, OFFICIAL_NAMES, Equivalent
from svc_notebook.data.declarations import BodyDocument
from svc_notebook.errors import BadOption, deletes, did_you_mean
from svc_notebook.faces.commands.verb import (
    FORMAT,
    PARAMS,
    PROFILE,
    Face,
    Option,
    Verb,
    import_path,
)

TABLE = Path(__file__).with_name("verbs.json")
# Types of values by the names that the table has for them; a list of words is a choice of these.
TYPES: dict[str, Any] = {
    "bool": bool, "int": int, "float": float, "bool | None": bool | None, "list[str]": list[str],
    "list[int]": list[int], "dict[str, str]": dict[str, str], "dict[str, Any]": dict[str, Any],
}  # fmt: skip
# Options that many verbs share, by name.
SHARED = {"profile": PROFILE, "format": FORMAT, "params": PARAMS}

LIST, SEARCH = "list", "search"
LEADING = ("--profile", "--format")  # options that can stand before the verb, too


def find_verb(name: str, face: Face) -> Verb:
    """Return the row of a verb's name."""
    rows = _rows_of(face)
    if name not in rows:
        prefix = "%svc" if face == "magic" else "svc"
        if any(name in (verb.name, verb.family) for verb in VERBS):
            other = "in a terminal" if face == "magic" else "in notebooks"
            raise BadOption(f"`{name}` is available only {other}; `{prefix} help` lists verbs")
        advice = _verb_meant(name, face) or did_you_mean(name, rows)
        advice = advice or f"; `{prefix} help` lists the verbs"
        raise BadOption(f"`{name}` is not a verb{advice}")
    return rows[name]


def _rows_of(face: Face) -> dict[str, Verb]:
    return {verb.name: verb for verb in VERBS if face in verb.faces}


def _verb_meant(name: str, face: Face) -> str:
    """Suggest the verb of a function, by its name here or in other tools."""
    function = name.replace("-", "_")
    verbs = {v.does.rpartition(".")[2]: v.name for v in reversed(VERBS) if face in v.faces}
    official = OFFICIAL_NAMES.get(function, Equivalent(None, None)).function
    # Only who asks for a deletion is answered with one.
    equals = [official] if official and (deletes(function) or not deletes(official)) else []
    names = (function, *FUNCTIONS.get(function, ()), *equals)
    meant = list(dict.fromkeys(verbs[word] for word in names if word in verbs))
    return f"; use {' or '.join(f'`{verb}`' for verb in meant)}" if meant else ""


def pick_verb(words: Sequence[str], face: Face) -> tuple[Verb, list[str]]:
    """Return the row of the verb at the beginning of a line, and the remaining words.

    A word that is a verb of the family takes precedence over an operand of the same name; `list`,
    and `search` in families that support it, mean that the next word is not a verb.
    """
    leading, words = _split_leading(words)
    if words[0] in ("-h", "--help"):
        return find_verb("help", face), []
    verb, rest = _pick(words, face)
    return verb, [*leading, *rest]


def _split_leading(words: Sequence[str]) -> tuple[list[str], Sequence[str]]:
    """Return options that every verb has and that stand before the verb, and the other words."""
    at = 0
    while at < len(words) and words[at].partition("=")[0] in LEADING:
        at += 1 if "=" in words[at] else 2
    if at and at >= len(words):
        raise BadOption(f"the verb is missing after `{words[0]}`")
    return [*words[:at]], words[at:]


def _pick(words: Sequence[str], face: Face) -> tuple[Verb, list[str]]:
    names = _rows_of(face)
    first, *rest = words
    second = rest[0] if rest else ""
    if f"{first} {second}" in names:
        return find_verb(f"{first} {second}", face), rest[1:]
    members = [name for name in names if name.startswith(f"{first} ")]
    if members and first not in names:
        return _help_on_family(first, second, members, face)
    verb = find_verb(first, face)
    if second in lists_of(verb, members, face):
        return verb, rest[1:]
    if rest and not second.startswith("-"):
        _refuse_other_verb(verb, second, members, face)
    return verb, rest


def _help_on_family(
    family: str, word: str, members: Sequence[str], face: Face
) -> tuple[Verb, list[str]]:
    if word in ("-h", "--help"):
        return find_verb("help", face), [family]
    raise BadOption(_subcommand_error(family, word, members))


def _refuse_other_verb(verb: Verb, word: str, members: Sequence[str], face: Face) -> None:
    """Raise `BadOption` for a word after a verb that another tool has, or that is no operand."""
    actions = [f"{verb.name} {action}" for action in ACTIONS.get(word, ())]
    if meant := [name for name in actions if name in members]:
        raise BadOption(f"`{verb.name} {word}` is not a verb; use `{meant[0]}`")
    if members and not verb.placed(face):
        raise BadOption(_subcommand_error(verb.name, word or "''", members))


def lists_of(verb: Verb, members: Sequence[str], face: Face) -> list[str]:
    """Return the words that can follow a family's name to list it."""
    operands = [operand.name for operand in verb.placed(face)]
    searched = [SEARCH] if members and "query" in operands else []
    return [LIST, *searched] if members or verb.lists else searched


def _subcommand_error(family: str, word: str, members: Sequence[str]) -> str:
    subcommands = sorted(name.removeprefix(f"{family} ") for name in members)
    if not word or word.startswith("-"):
        return f"`{family}` requires a subcommand: {', '.join(subcommands)}"
    advice = did_you_mean(word, subcommands) or f"; the verbs are {', '.join(subcommands)}"
    return f"`{family} {word}` is not a verb{advice}"


def _read_verb(row: dict[str, Any]) -> Verb:
    document, spread = row.pop("document", None), row.pop("spread", None)
    placed, named, common = (row.pop(name, []) for name in ("operands", "options", "common"))
    return Verb(
        operands=tuple(_read_option(stored, positional=True) for stored in placed),
        options=tuple(map(_read_option, named)),
        common=tuple(map(_read_option, common)),
        spread=spread and import_path(spread),
        document=document and BodyDocument(**{**document, "shape": import_path(document["shape"])}),
        **{name: _frozen(value) for name, value in row.items()},
    )


def _read_option(row: dict[str, Any] | str, **facts: Any) -> Option:
    if isinstance(row, str):
        return SHARED[row]
    return Option(
        **{name: _frozen(v) for name, v in row.items() if name != "type"},
        type=_type(row.get("type")),
        **facts,
    )


def _type(written: Any) -> Any:
    if written is None:
        return str
    if isinstance(written, str):
        return TYPES[written]
    if isinstance(written[0], list):
        return list[_choice(written[0])]  # type: ignore[misc]
    return _choice(written)


def _choice(words: Iterable[str]) -> Any:
    return Literal[tuple(words)]


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


VERBS: tuple[Verb, ...] = tuple(map(_read_verb, json.loads(TABLE.read_text(encoding="utf-8"))))

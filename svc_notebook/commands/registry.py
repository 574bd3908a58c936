"""The registry of all verbs of `%svc`, `%%svc` and the `svc` command."""

from __future__ import annotations

from collections.abc import Sequence

from svc_notebook.commands.verb import Face, Verb
from svc_notebook.commands.verb_table import VERBS as VERBS
from svc_notebook.errors import BadOption, did_you_mean

LIST, SEARCH = "list", "search"


def find_verb(name: str, face: Face) -> Verb:
    """Return the row of a verb's name."""
    rows = {verb.name: verb for verb in VERBS if face in verb.faces}
    if name not in rows:
        prefix = "%svc" if face == "magic" else "svc"
        if any(name in (verb.name, verb.family) for verb in VERBS):
            raise BadOption(f"`{name}` is for notebooks; `{prefix} help` lists what is here")
        advice = did_you_mean(name, rows) or f"; `{prefix} help` lists them"
        raise BadOption(f"`{name}` is not a verb{advice}")
    return rows[name]


def pick_verb(words: Sequence[str], face: Face) -> tuple[Verb, list[str]]:
    """Return the row of the verb at the beginning of a line, and the remaining words.

    A word that is a verb of the family takes precedence over an operand of the same name; `list`,
    and `search` in families that support it, mean that the next word is not a verb.
    """
    names = {verb.name for verb in VERBS if face in verb.faces}
    first, *rest = words
    members = [name for name in names if name.startswith(f"{first} ")]
    if rest and f"{first} {rest[0]}" in names:
        return find_verb(f"{first} {rest[0]}", face), rest[1:]
    if members and first not in names and rest[:1] in (["-h"], ["--help"]):
        return find_verb("help", face), [first]
    if members and first not in names:
        raise BadOption(_which(first, rest[:1], members))
    verb = find_verb(first, face)
    if rest and rest[0] in lists_of(verb, members, face):
        return verb, rest[1:]
    if members and rest and not rest[0].startswith("-") and not verb.placed(face):
        raise BadOption(_which(first, rest[:1], members))
    return verb, rest


def lists_of(verb: Verb, members: Sequence[str], face: Face) -> list[str]:
    """Return the words that can follow a family's name to list it."""
    operands = [operand.name for operand in verb.placed(face)]
    searched = [SEARCH] if members and "query" in operands else []
    return [LIST, *searched] if members or verb.lists else searched


def _which(family: str, word: Sequence[str], members: Sequence[str]) -> str:
    known = sorted(name.removeprefix(f"{family} ") for name in members)
    if not word or word[0].startswith("-"):
        return f"`{family}` wants one of {', '.join(known)} after it"
    advice = did_you_mean(word[0], known) or f"; there are {', '.join(known)}"
    return f"`{family} {word[0]}` is not a verb{advice}"

"""Help texts, generated from the verb table."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from svc_notebook.data.declarations import verb, verb_only
from svc_notebook.faces.commands.binding import usage, written
from svc_notebook.faces.commands.registry import VERBS, find_verb
from svc_notebook.faces.commands.verb import (
    VARIABLE_ALTERNATIVE,
    Face,
    Option,
    Verb,
    spread_options,
)

_LINE_WIDTH = 96
# Search parameters and settings are described on a page of their own.
_MAX_DESCRIBED_MEMBERS = 12
# The families of verbs by the job that they are for, as the overview lists them.
JOBS: dict[str, tuple[str, ...]] = {
    "Connect": (
        "connect", "use", "profiles", "whoami", "trust", "paths", "serve", "stop", "status",
        "overview", "tutorials",
    ),
    "Load and read": (
        "load", "loads", "push", "get", "browse", "export", "delete", "clear", "replace",
        "undo-load", "tasks", "wait",
    ),
    "Search": ("search", "show", "explain", "why", "multi-search", "facets"),
    "Indices and settings": (
        "indices", "settings", "copy", "move", "drop", "clone", "deploy", "pull-config",
        "apply-config",
    ),
    "Synonyms, rules and dictionaries": (
        "synonyms", "rules", "pin", "unpin", "hide", "unhide", "dictionaries", "languages",
    ),
    "Measure and tune": (
        "edit", "evaluate", "compare", "snapshot", "diff", "restore", "history", "undo",
        "scratches", "interleave",
    ),
    "Operate": (
        "logs", "events", "analytics", "suggestions", "abtests", "keys", "users", "clusters",
        "sources", "call", "mcp",
    ),
    "Crawl": ("crawlers", "domains"),
    "Help": ("help",),
}  # fmt: skip


class Help(str):
    """A help text that notebooks display as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@verb_only(
    verb(
        "help",
        "help",
        "help search",
        "help synonyms save",
        without=("face",),
        completes={"verb": "verb"},
        rest="verb",
        profile=False,
        format=False,
    )
)
def help(verb: str | None = None, *, face: Face = "magic") -> Help:  # noqa: A001
    """Return the list of verbs, or the parameters of one verb.

    Parameters
    ----------
    verb : str, default None
        Name of a verb.
    face : {'magic', 'command'}, default 'magic'
        Where the verb is typed.

    Returns
    -------
    Help
        The text.
    """
    if verb is None:
        return Help("\n".join(_overview(face)))
    family = [row for row in VERBS if row.name.startswith(f"{verb} ") and face in row.faces]
    head = [] if family and not _is_verb(verb, face) else describe_verb(find_verb(verb, face), face)
    return Help("\n".join([*head, *_family(verb, family, face)]))


def _is_verb(name: str, face: Face) -> bool:
    return any(row.name == name and face in row.faces for row in VERBS)


def _family(name: str, family: list[Verb], face: Face) -> Iterator[str]:
    if not family:
        return
    if _is_verb(name, face):
        yield ""
        yield f"`{_prefix(face)} {name} list ...` is an alias. Subcommands:"
    yield from _columns((row.name, row.summary) for row in family)


def _overview(face: Face) -> Iterator[str]:
    prefix = _prefix(face)
    families: dict[str, list[Verb]] = {}
    for row in VERBS:
        if face in row.faces:
            families.setdefault(row.family, []).append(row)
    yield f"{prefix} VERB ...    (`{prefix} help VERB` describes a verb)"
    others = tuple(name for name in families if name not in {*chain(*JOBS.values())})
    for job, members in {**JOBS, "Others": others}.items():
        rows = [(name, _summary(name, families[name])) for name in members if name in families]
        if rows:
            yield ""
            yield f"{job}:"
            yield from _columns(rows)


def _summary(family: str, verbs: list[Verb]) -> str:
    summaries = [verb.summary for verb in verbs if verb.name == family]
    members = ", ".join(verb.name.removeprefix(f"{family} ") for verb in verbs[len(summaries) :])
    return "; ".join(
        [*summaries, *([f"subcommands: {members}" if summaries else members] if members else [])]
    )


def describe_verb(verb: Verb, face: Face) -> Iterator[str]:
    """Return the lines of a verb's help."""
    yield f"{usage(verb, face)}"
    yield ""
    yield f"{verb.summary}."
    if verb.placed(face):
        yield ""
        yield from _columns((o.name.upper(), _help_of(o, face)) for o in verb.placed(face))
    yield from _own_options(verb, face)
    yield from _spread(verb, face)
    if face == "magic":
        yield ""
        yield "-o NAME assigns the result to a variable instead of displaying it."
    yield ""
    yield "Examples:"
    yield from (f"  {_prefix(face)} {example}" for example in verb.examples)


def _help_of(operand: Option, face: Face) -> str:
    """Remove variables and bodies, which only notebooks have, from the help of a command."""
    text = operand.help if face == "magic" else operand.help.partition(VARIABLE_ALTERNATIVE)[0]
    return replace(operand, help=text).described


def _own_options(verb: Verb, face: Face) -> Iterator[str]:
    named = verb.named(face).values()
    options = [option for option in named if option.name not in spread_options(verb.spread)]
    if options:
        yield ""
        yield "Options:"
        yield from _columns((written(option), option.described) for option in options)


def _spread(verb: Verb, face: Face) -> Iterator[str]:
    if members := spread_options(verb.spread):
        kind = verb.body or "search parameters"
        yield ""
        yield f"{kind[:1].upper()}{kind[1:]}, as options:"
        if len(members) <= _MAX_DESCRIBED_MEMBERS:
            yield from _columns((written(option), option.described) for option in members.values())
        else:
            names = ", ".join(f"--{name}" for name in members)
            indent = "  "
            yield from textwrap.wrap(
                names, _LINE_WIDTH, initial_indent=indent, subsequent_indent=indent
            )
    if face == "magic" and verb.body:
        yield ""
        yield from _body(verb)


def _body(verb: Verb) -> Iterator[str]:
    if verb.document is None:
        text = (
            f"`%%svc {verb.name} ...` also reads them from the cell body: JSON, or YAML such as "
            "`name: value`. The line takes precedence over the body, and the body over --params."
        )
        yield from textwrap.wrap(text, _LINE_WIDTH)
        return
    several = ", or several separated by `---`," if verb.document.many else ""
    text = (
        f"`%%svc {verb.name} ...` reads the {verb.body} from the cell body: JSON, or YAML such "
        f"as `name: value`{several}"
    ).rstrip(",")
    text += ", or JavaScript such as `new Crawler({ ... })`" if verb.document.script else ""
    yield from textwrap.wrap(f"{text}.", _LINE_WIDTH)
    if verb.members():
        names = ", ".join(name for name in verb.members() if not name.startswith("_"))
        yield from textwrap.wrap(f"Names: {names}.", _LINE_WIDTH)


def _columns(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    rows = list(rows)
    if not rows:
        return
    width = min(max(len(name) for name, _ in rows), 30) + 2
    for name, text in rows:
        head = f"  {name:{width}}"
        lines = textwrap.wrap(text, _LINE_WIDTH - width - 2) or [""]
        if len(name) > 30:
            yield head.rstrip()
            head = " " * (width + 2)
        yield head + lines[0]
        yield from (" " * (width + 2) + line for line in lines[1:])


def _prefix(face: Face) -> str:
    return "%svc" if face == "magic" else "svc"

"""Help texts, generated from the verb table."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from svc_notebook.commands.binding import usage, written
from svc_notebook.commands.registry import VERBS, find_verb
from svc_notebook.commands.verb import Face, Option, Verb, spread_options
from svc_notebook.declarations.declaration import verb, verb_only

_LINE_WIDTH = 96


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
    head = [] if family and not _is_verb(verb, face) else _chapter(find_verb(verb, face), face)
    return Help("\n".join([*head, *_relatives(verb, family, face)]))


def _is_verb(name: str, face: Face) -> bool:
    return any(row.name == name and face in row.faces for row in VERBS)


def _relatives(name: str, family: list[Verb], face: Face) -> Iterator[str]:
    if not family:
        return
    if _is_verb(name, face):
        yield ""
        yield f"`{_prefix(face)} {name} list ...` is the same. Further:"
    yield from _columns((row.name, row.summary) for row in family)


def write_page() -> str:
    """Write the documentation's page on verbs, in Markdown."""
    chapters = [_section(row) for row in VERBS]
    return "\n\n".join(["# Verbs", _PREFACE, *chapters]) + "\n"


_PREFACE = """\
`%load_ext svc_notebook` gives a notebook `%svc VERB ...`, and installing the package gives a
terminal `svc VERB ...`; both are read off one table. A line's words are split at blanks; quotes
group, JSON stays whole, and nothing in a line is taken for Python: variables are named, as in
`--from df`. `found = %svc ...` and `-o found` keep a result; when a cell fails, the name keeps its
old value. A name of two words, `%svc synonyms save`, is a verb of its own; the first word alone
lists, and so does `%svc synonyms list`.

A `%%svc` cell takes its body as JSON or as YAML. A value is read by the type of its member:
`query: 1984` is text, `attributesToRetrieve: name, price` a list, and so are indented lines below
`attributesToRetrieve:`, with a dash before each or without. In what has parts, `true`, `false`,
`null` and JSON's numbers are what they say, and everything else is text: `no`, `2024-05-01`,
`0123`. A comment needs a blank behind its `#` unless it has the line to itself. Anchors, aliases
and tags are not taken. A line that is not YAML, such as `query: "exact phrase" lamp`, is taken as
it stands. Where a cell takes several objects, a line of `---` stands between them, or they are a
list.

Tab goes on with verbs and options, and with what the service, the kernel and the folder know:
indices, attributes, facets and their values inside filters, ranking criteria, ids of synonyms and
rules, profiles, variables, files, and the columns of the table or CSV that a line names. Inside a
call such as `svc.search("films", filters="` Tab knows the same."""


def _section(verb: Verb) -> str:
    title = f"## {verb.name}" + (" (command)" if verb.faces == ("command",) else "")
    text = "\n".join(_chapter(verb, verb.faces[0]))
    return f"{title}\n\n```text\n{text}\n```"


def _overview(face: Face) -> Iterator[str]:
    prefix = _prefix(face)
    families: dict[str, list[Verb]] = {}
    for row in VERBS:
        if face in row.faces:
            families.setdefault(row.family, []).append(row)
    yield f"{prefix} VERB ...    (`{prefix} help VERB` says more)"
    yield ""
    yield from _columns((name, _gist(name, verbs)) for name, verbs in families.items())


def _gist(family: str, verbs: list[Verb]) -> str:
    own = [verb.summary for verb in verbs if verb.name == family]
    members = ", ".join(verb.name.removeprefix(f"{family} ") for verb in verbs[len(own) :])
    return "; ".join([*own, *([f"further: {members}" if own else members] if members else [])])


def _chapter(verb: Verb, face: Face) -> Iterator[str]:
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
        yield "-o NAME keeps the result in a variable in place of showing it."
    yield ""
    yield "Examples:"
    yield from (f"  {_prefix(face)} {example}" for example in verb.examples)


def _help_of(operand: Option, face: Face) -> str:
    """Remove variables and bodies, which only notebooks have, from a command's help."""
    return operand.help if face == "magic" else operand.help.partition("; or say --from")[0]


def _own_options(verb: Verb, face: Face) -> Iterator[str]:
    named = verb.named(face).values()
    own = [option for option in named if option.name not in spread_options(verb.spread)]
    if own:
        yield ""
        yield "Options:"
        yield from _columns((written(option), option.help) for option in own)


def _spread(verb: Verb, face: Face) -> Iterator[str]:
    if spread_options(verb.spread):
        kind = verb.body or "search parameters"
        yield ""
        yield f"Every one of the {kind} is an option as well:"
        names = ", ".join(f"--{name}" for name in spread_options(verb.spread))
        yield from textwrap.wrap(names, _LINE_WIDTH, initial_indent="  ", subsequent_indent="  ")
    if face == "magic" and verb.body:
        yield ""
        yield from _body(verb)


def _body(verb: Verb) -> Iterator[str]:
    if verb.document is None:
        yield f"`%%svc {verb.name} ...` reads them from the cell's body too: JSON, or YAML such as"
        yield "`name: value`. What the line says wins over the body, and the body over --params."
        return
    several = ", or several with `---` between," if verb.document.many else ""
    text = (
        f"`%%svc {verb.name} ...` reads the {verb.body} from the cell's body: JSON, or YAML such "
        f"as `name: value`{several}"
    ).rstrip(",")
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

"""Help texts, generated from the verb table."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from svc_notebook.commands.binding import usage, written
from svc_notebook.commands.registry import VERBS, find_verb
from svc_notebook.commands.verb import VARIABLE_ALTERNATIVE, Face, Option, Verb, spread_options
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


def write_page() -> str:
    """Write the documentation's page on verbs, in Markdown."""
    chapters = [_section(row) for row in VERBS]
    return "\n\n".join(["# Verbs", _PREFACE, *chapters]) + "\n"


_PREFACE = """\
`%load_ext svc_notebook` adds `%svc VERB ...` to a notebook; installing the package adds
`svc VERB ...` to a terminal. Both use the same table of verbs. The words of a line are separated by
whitespace; quotes group words, and JSON is one word. Tables are passed by name, as in `--from df`,
and other values in braces, as in `{q}`. `found = %svc ...` and `-o found` assign the
result; if a cell fails, the variable keeps its old value. A name of two words, such as
`%svc synonyms save`, is a verb; the first word alone lists, as `%svc synonyms list` does.

The body of a `%%svc` cell is JSON or YAML. A value is parsed by the type of its member:
`query: 1984` is text, `attributesToRetrieve: name, price` is a list, and so are indented lines
below `attributesToRetrieve:`, with or without a dash before each. Inside lists and objects, `true`,
`false`, `null` and JSON numbers are parsed, and everything else is text: `no`, `2024-05-01`,
`0123`. A comment needs whitespace after its `#`, unless it is a line of its own. Anchors, aliases
and tags are rejected. A line that is not YAML, such as `query: "exact phrase" lamp`, is literal
text. Several objects in a cell are separated by a line `---`, or are a list.

In lines and bodies of a notebook, `{q}`, `{df.brand.iloc[0]}` and `$q` are values of its
variables. An expression is a name with attributes, indices and calls, or a calculation; `$`
takes the name of a variable that exists. A value is never syntax: a word or a member that is
one expression has the type of the value (`--hitsPerPage {n}`, `hitsPerPage: {n}`), a list is
one value of each item (`get products {ids}`), and inside other text a value is text. In filters
it is quoted by its type: `--filters 'brand:{b} AND price < {p}'` sends `brand:"Acme & Co" AND
price < 12`. In JSON, an expression outside of quotes is written as JSON, and inside of quotes
as text. Other braces, such as `{"a": 1}`, `{a: 1}` and `{facet:brand}`, are literal, and so is
the code in bodies of `crawlers`. `{name}` is an error if there is no such variable; `{{name}}`
and `$$name` are literal. Verbs that delete or replace something take values only if the
confirmation shows them, so not with `--yes`. The environment variable `SVC_MAGIC_VARIABLES=off`
(`%env SVC_MAGIC_VARIABLES=off`) makes all braces literal.

Tab completes verbs and options, and names from the service, the kernel and the folder: indices,
attributes, facets and their values inside filters, ranking criteria, ids of synonyms and rules,
profiles, variables, files, and the columns of the table or CSV file that a line names. Inside a
call such as `svc.search("films", filters="`, Tab completes the same names."""


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
    yield f"{prefix} VERB ...    (`{prefix} help VERB` describes a verb)"
    yield ""
    yield from _columns((name, _summary(name, verbs)) for name, verbs in families.items())


def _summary(family: str, verbs: list[Verb]) -> str:
    own = [verb.summary for verb in verbs if verb.name == family]
    members = ", ".join(verb.name.removeprefix(f"{family} ") for verb in verbs[len(own) :])
    return "; ".join([*own, *([f"subcommands: {members}" if own else members] if members else [])])


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
        yield "-o NAME assigns the result to a variable instead of displaying it."
    yield ""
    yield "Examples:"
    yield from (f"  {_prefix(face)} {example}" for example in verb.examples)


def _help_of(operand: Option, face: Face) -> str:
    """Remove variables and bodies, which only notebooks have, from the help of a command."""
    return operand.help if face == "magic" else operand.help.partition(VARIABLE_ALTERNATIVE)[0]


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
        yield f"{kind[:1].upper()}{kind[1:]}, as options:"
        names = ", ".join(f"--{name}" for name in spread_options(verb.spread))
        yield from textwrap.wrap(names, _LINE_WIDTH, initial_indent="  ", subsequent_indent="  ")
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

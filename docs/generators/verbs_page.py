"""The documentation's page on verbs."""

from __future__ import annotations

from svc_notebook.faces.commands.help import describe_verb
from svc_notebook.faces.commands.registry import VERBS
from svc_notebook.faces.commands.verb import Verb


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
    text = "\n".join(describe_verb(verb, verb.faces[0]))
    return f"{title}\n\n```text\n{text}\n```"

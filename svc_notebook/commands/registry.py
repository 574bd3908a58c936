"""The registry of all verbs of `%svc`, `%%svc` and the `svc` command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from svc_notebook.api.parameters import SearchOptions, SearchParams
from svc_notebook.commands.families.administration import LOOKING, MANAGING
from svc_notebook.commands.families.crawlers import CRAWLING
from svc_notebook.commands.families.curation import CURATING, SETTING
from svc_notebook.commands.families.editors import EDITING
from svc_notebook.commands.families.events import COLLECTING
from svc_notebook.commands.families.history import UNDOING
from svc_notebook.commands.families.operations import LISTING, REMOVING
from svc_notebook.commands.families.tuning import MEASURING
from svc_notebook.commands.options import (
    ADDRESS,
    COLUMNS,
    FLATTEN,
    FOLDER,
    IDS_FROM,
    IF_EXISTS,
    INDEX,
    LEAST,
    LOADING,
    PARAMS,
    PRIVATE_CRAWL,
    ROWS,
    SEARCH_TIMEOUT,
    STAY,
    VERIFY,
)
from svc_notebook.commands.verb import FORMAT, Face, Option, Verb, operand
from svc_notebook.errors import BadOption, did_you_mean

LIST, SEARCH = "list", "search"

VERBS: tuple[Verb, ...] = (
    Verb(
        "connect", "Set the client that everything else uses; nothing is sent by it",
        "svc_notebook.functions.connection.connect_asking",
        operands=(
            operand("profile", "a profile's name, or `local`", completes="profile", required=False),
        ),
        options=(*ADDRESS, FOLDER, STAY, PRIVATE_CRAWL, SEARCH_TIMEOUT),
        common=(),
        faces=("magic",),
        examples=("connect local", "connect staging", "connect local --data ./shop --stay"),
    ),
    Verb(
        "use", "Change to another profile",
        "svc_notebook.functions.connection.connect_asking",
        operands=(
            operand("profile", "a profile's name", completes="profile"),
        ),
        common=(),
        faces=("magic",),
        examples=("use staging",),
    ),
    Verb(
        "profiles", "List the profiles that are configured",
        "svc_notebook.functions.connection.profiles",
        common=(FORMAT,),
        examples=("profiles",),
    ),
    Verb(
        "serve", "Start the local service of a data folder, or find it running",
        "svc_notebook.functions.connection.local",
        options=(FOLDER, STAY, PRIVATE_CRAWL, SEARCH_TIMEOUT),
        common=(),
        faces=("magic",),
        examples=("serve", "serve --data ./shop"),
    ),
    Verb(
        "serve", "Run the local service in the foreground; Ctrl-C stops it",
        "svc_notebook.functions.service.serve",
        options=(
            Option("host", "address to listen on"),
            Option("port", "port to listen on; 0 takes a free one", int),
            FOLDER,
            Option("json", "say address and keys as one line of JSON", bool),
            Option("clusters", "how many clusters user mapping knows", int),
            PRIVATE_CRAWL,
            Option("app-id", "application id to answer to"),
            Option(
                "admin-key",
                "admin key to answer to; as an argument it shows in the list of processes, from "
                "the environment's SVC_ADMIN_KEY it does not",
            ),
            Option(
                "admin-key-file", "a file that holds the admin key; `-` is standard input",
                completes="path",
            ),
            Option("parent", "end with the process of this id", int),
            Option("reset-allowlist", "let every address in again", bool),
            SEARCH_TIMEOUT,
        ),
        common=(),
        faces=("command",),
        examples=("serve", "serve --port 8108 --data ./shop"),
    ),
    Verb(
        "stop", "Stop the local service: the one connected to, or that of a data folder",
        "svc_notebook.functions.connection.stop",
        options=(FOLDER,),
        common=(),
        examples=("stop",),
    ),
    Verb(
        "load", "Load a file, URL or SQL query into an index; done when every row is published",
        "svc_notebook.functions.verb_variants.load_or_plan",
        operands=(
            operand("source", "path, glob, URL or SQL", completes="path"),
            INDEX,
        ),
        options=LOADING,
        examples=(
            "load products.csv products --id sku",
            "load products.csv products --dry-run",
            "load 'data/*.parquet' products --if-exists replace",
        ),
    ),
    Verb(
        "push", "Send a DataFrame's rows to an index",
        "svc_notebook.functions.blocking.push",
        operands=(INDEX,),
        options=(
            Option(
                "from", "the variable that holds the DataFrame",
                completes="variable", argument="df", required=True,
            ),
            *ROWS, IF_EXISTS, LEAST, VERIFY,
        ),
        faces=("magic",),
        examples=("push products --from df", "push products --from prices --action update"),
    ),
    Verb(
        "search", "Search an index; the hits come as a DataFrame",
        "svc_notebook.functions.blocking.search",
        operands=(INDEX, operand("query", "the words looked for", rest=True, required=False)),
        options=(
            Option("criteria", "add the value of each criterion", bool),
            Option("highlight", "add the attributes with their matches marked", bool),
            COLUMNS, FLATTEN, PARAMS,
        ),
        spread=SearchParams,
        body="search parameters",
        examples=(
            "search products blue lamp",
            'search products lamp --filters "price < 50" --facets brand --criteria',
        ),
    ),
    *LOOKING,
    Verb(
        "multi-search", "Run several searches of one index; the hits come as one long DataFrame",
        "svc_notebook.functions.blocking.search_many",
        operands=(
            INDEX,
            operand("queries", "a query each, quoted where it has blanks", list[str], rest=True),
        ),
        options=(
            Option(
                "from", "a variable holding the queries, a column for one",
                completes="variable", argument="queries", faces=("magic",),
            ),
            Option("criteria", "add the value of each criterion", bool),
            Option("highlight", "add the attributes with their matches marked", bool),
            COLUMNS, FLATTEN, PARAMS,
        ),
        spread=SearchOptions,
        body="search parameters",
        examples=(
            "multi-search products lamp 'oak table' --hitsPerPage 3",
        ),
    ),
    Verb(
        "browse", "Take every record of an index that passes the filters",
        "svc_notebook.functions.blocking.read_browse",
        operands=(INDEX,),
        options=(COLUMNS, FLATTEN, PARAMS),
        spread=SearchOptions,
        body="search parameters",
        examples=("browse products", "browse products --filters brand:Acme --columns name,price"),
    ),
    Verb(
        "export", "Write an index, or what passes the filters, to a file; its name says the format",
        "svc_notebook.functions.blocking.export",
        operands=(
            INDEX,
            operand("path", "a file ending in .parquet, .ndjson, .csv …", completes="path"),
        ),
        options=(
            Option("query", "only what these words find"),
            COLUMNS,
            Option(
                "beside", "write these next to it, as JSON",
                list[Literal["settings", "synonyms", "rules"]],
            ),
            Option("resume", "go on where an export to the same file was cut off", bool),
            PARAMS,
        ),
        spread=SearchOptions,
        body="search parameters",
        examples=(
            "export products products.parquet",
            "export products cheap.csv.gz --filters 'price < 10' --beside settings,synonyms,rules",
        ),
    ),
    Verb(
        "get", "Read records by their objectIDs",
        "svc_notebook.functions.blocking.read_records",
        operands=(INDEX, operand("ids", "objectIDs; or say --from", list[str], rest=True)),
        options=(IDS_FROM, COLUMNS, FLATTEN),
        examples=("get products 17 18", "get products sku-1 --columns name,price"),
    ),
    *SETTING,
    Verb(
        "indices", "List the indices",
        "svc_notebook.functions.blocking.read_indices",
        examples=("indices",),
    ),
    *EDITING,
    *MEASURING,
    *UNDOING,
    *LISTING,
    *CURATING,
    *REMOVING,
    *MANAGING,
    *CRAWLING,
    *COLLECTING,
    Verb(
        "wait", "Wait until tasks are published",
        "svc_notebook.functions.blocking.wait",
        operands=(
            operand("tasks", "task ids", list[int], rest=True),
        ),
        options=(
            Option("index", "index of the tasks", completes="index"),
            Option(
                "from", "a variable holding an answer or several",
                completes="variable", argument="tasks", faces=("magic",),
            ),
            Option("timeout", "seconds to wait at the most", float),
        ),
        examples=("wait 17 18 --index products",),
    ),
    Verb(
        "whoami", "Say which service is used, by which application and with which rights",
        "svc_notebook.functions.blocking.whoami",
        examples=("whoami",),
    ),
    Verb(
        "help", "Say what there is, or what one verb takes",
        "svc_notebook.commands.help.help",
        operands=(operand("verb", "a verb", completes="verb", required=False, rest=True),),
        common=(),
        examples=("help", "help search", "help synonyms save"),
    ),
)  # fmt: skip


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
    return [LIST, *searched] if members or verb.summary.startswith("List ") else searched


def _which(family: str, word: Sequence[str], members: Sequence[str]) -> str:
    known = sorted(name.removeprefix(f"{family} ") for name in members)
    if not word or word[0].startswith("-"):
        return f"`{family}` wants one of {', '.join(known)} after it"
    advice = did_you_mean(word[0], known) or f"; there are {', '.join(known)}"
    return f"`{family} {word[0]}` is not a verb{advice}"

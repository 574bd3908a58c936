"""Every verb of `%svc`, `%%svc` and the `svc` command."""

from __future__ import annotations

from svc_notebook.api.parameters import SearchOptions, SearchParams, Settings
from svc_notebook.errors import BadOption, did_you_mean
from svc_notebook.verbs.operating import LISTING, REMOVING
from svc_notebook.verbs.options import (
    ADDRESS,
    COLUMNS,
    FOLDER,
    INDEX,
    LOADING,
    PARAMS,
    ROWS,
    STAY,
)
from svc_notebook.verbs.verb import FORMAT, Face, Option, Verb, operand

VERBS: tuple[Verb, ...] = (
    Verb(
        "connect", "Set the client that everything else uses; nothing is sent by it",
        "svc_notebook.verbs.connecting.connect_asking",
        operands=(
            operand("profile", "a profile's name, or `local`", completes="profile", required=False),
        ),
        options=(*ADDRESS, FOLDER, STAY),
        common=(),
        faces=("magic",),
        examples=("connect local", "connect staging", "connect local --data ./shop --stay"),
    ),
    Verb(
        "use", "Change to another profile",
        "svc_notebook.verbs.connecting.connect_asking",
        operands=(
            operand("profile", "a profile's name", completes="profile"),
        ),
        common=(),
        faces=("magic",),
        examples=("use staging",),
    ),
    Verb(
        "profiles", "List the profiles that are configured",
        "svc_notebook.verbs.connecting.profiles",
        common=(FORMAT,),
        examples=("profiles",),
    ),
    Verb(
        "serve", "Start the local service of a data folder, or find it running",
        "svc_notebook.verbs.connecting.local",
        options=(FOLDER, STAY),
        common=(),
        faces=("magic",),
        examples=("serve", "serve --data ./shop"),
    ),
    Verb(
        "serve", "Run the local service in the foreground; Ctrl-C stops it",
        "svc_notebook.verbs.serving.serve",
        options=(
            Option("host", "address to listen on"),
            Option("port", "port to listen on; 0 takes a free one", int),
            FOLDER,
            Option("json", "say address and keys as one line of JSON", bool),
            Option("clusters", "how many clusters user mapping knows", int),
            Option("allow-private-crawl", "let the crawler visit private addresses", bool),
            Option("app-id", "application id to answer to"),
            Option("admin-key", "admin key to make at the first start"),
            Option("parent", "end with the process of this id", int),
            Option("reset-allowlist", "let every address in again", bool),
        ),
        common=(),
        faces=("command",),
        examples=("serve", "serve --port 8108 --data ./shop"),
    ),
    Verb(
        "stop", "Stop the local service of a data folder",
        "svc_notebook.verbs.connecting.stop",
        options=(FOLDER,),
        common=(),
        examples=("stop",),
    ),
    Verb(
        "load", "Load a file, URL or SQL query into an index; done when every row is published",
        "svc_notebook.verbs.blocking.load_or_plan",
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
        "svc_notebook.verbs.blocking.push",
        operands=(INDEX,),
        options=(
            Option(
                "from", "the variable that holds the DataFrame",
                completes="variable", argument="df", required=True,
            ),
            *ROWS,
        ),
        faces=("magic",),
        examples=("push products --from df", "push products --from prices --action update"),
    ),
    Verb(
        "search", "Search an index; the hits come as a DataFrame",
        "svc_notebook.verbs.blocking.search",
        operands=(INDEX, operand("query", "the words looked for", rest=True, required=False)),
        options=(
            Option("ranking", "add the value of each criterion", bool),
            Option("highlight", "add the attributes with their matches marked", bool),
            COLUMNS, PARAMS,
        ),
        spread=SearchParams,
        body="search parameters",
        examples=(
            "search products blue lamp",
            'search products lamp --filters "price < 50" --facets brand --ranking',
        ),
    ),
    Verb(
        "multi-search", "Run several searches of one index; the hits come as one long DataFrame",
        "svc_notebook.verbs.blocking.search_many",
        operands=(
            INDEX,
            operand("queries", "a query each, quoted where it has blanks", list[str], rest=True),
        ),
        options=(
            Option(
                "from", "a variable holding the queries, a column for one",
                completes="variable", argument="queries", faces=("magic",),
            ),
            Option("ranking", "add the value of each criterion", bool),
            Option("highlight", "add the attributes with their matches marked", bool),
            COLUMNS, PARAMS,
        ),
        spread=SearchOptions,
        body="search parameters",
        examples=(
            "multi-search products lamp 'oak table' --hitsPerPage 3",
        ),
    ),
    Verb(
        "browse", "Take every record of an index that passes the filters",
        "svc_notebook.verbs.blocking.read_browse",
        operands=(INDEX,),
        options=(COLUMNS, PARAMS),
        spread=SearchOptions,
        body="search parameters",
        examples=("browse products", "browse products --filters brand:Acme --columns name,price"),
    ),
    Verb(
        "get", "Read records by their objectIDs",
        "svc_notebook.verbs.blocking.read_records",
        operands=(INDEX, operand("ids", "objectIDs", list[str], rest=True)),
        options=(COLUMNS,),
        examples=("get products 17 18", "get products sku-1 --columns name,price"),
    ),
    Verb(
        "settings", "Show an index's settings, or change those that are named",
        "svc_notebook.verbs.blocking.settings",
        operands=(INDEX,),
        options=(PARAMS,),
        spread=Settings,
        body="settings; null resets one",
        examples=(
            "settings products",
            "settings products --searchableAttributes name,brand --hitsPerPage 10",
        ),
    ),
    Verb(
        "indices", "List the indices",
        "svc_notebook.verbs.blocking.read_indices",
        examples=("indices",),
    ),
    *LISTING,
    *REMOVING,
    Verb(
        "wait", "Wait until tasks are published",
        "svc_notebook.verbs.blocking.wait",
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
        "svc_notebook.verbs.blocking.whoami",
        examples=("whoami",),
    ),
    Verb(
        "help", "Say what there is, or what one verb takes",
        "svc_notebook.verbs.helping.help",
        operands=(operand("verb", "a verb", completes="verb", required=False),),
        common=(),
        examples=("help", "help search"),
    ),
)  # fmt: skip


def find_verb(name: str, face: Face) -> Verb:
    """Return the row of that name."""
    rows = {verb.name: verb for verb in VERBS if face in verb.faces}
    if name not in rows:
        prefix = "%svc" if face == "magic" else "svc"
        advice = did_you_mean(name, rows) or f"; `{prefix} help` lists them"
        raise BadOption(f"`{name}` is not a verb{advice}")
    return rows[name]

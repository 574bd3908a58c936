"""Options and operands that several verbs share."""

from __future__ import annotations

from typing import Any, Literal

from svc_notebook.commands.verb import Option, operand

INDEX = operand("index", "the index", completes="index")
PARAMS = Option(
    "params", "a variable holding more of them, as a dict", completes="variable",
    faces=("magic",),
)  # fmt: skip
OUTPUT = Option("-o", "a variable for the result", completes="variable")
COLUMNS = Option(
    "columns", "only these attributes, in this order", list[str], completes="attribute"
)
FLATTEN = Option("flatten", "a column for each member of an object, `size.width`", bool)
FORWARD = Option("forwardToReplicas", "do the same to the replicas of the index", bool)
ADDRESS = (
    Option("url", "address of a service"),
    Option("app-id", "application id"),
    Option("api-key", "key; better left out, for it stays in the history: you are asked for it"),
    Option("vendor", "how the vendor spells its header names"),
    Option("domain", "the vendor's domain, from which host names are made"),
    Option("region", "whose hosts take events, such as us or de"),
    Option("connect-timeout", "seconds to wait for a connection (2)", float),
    Option("read-timeout", "seconds to wait for the answer of a read (5)", float),
    Option("write-timeout", "seconds to wait for the answer of a write (30)", float),
)
FOLDER = Option("data", "folder of the local service's data", completes="path")
STAY = Option("stay", "let it run on when this kernel ends", bool)
PRIVATE_CRAWL = Option(
    "allow-private-crawl", "let its crawlers visit this machine and its network", bool
)
SEARCH_TIMEOUT = Option(
    "search-timeout",
    "seconds after which it refuses a search that is not done, 4 by default",
    float,
)
IDS_FROM = Option(
    "from", "a variable holding the ids: a column, a list, or a DataFrame with its objectIDs",
    completes="variable", argument="ids", faces=("magic",),
)  # fmt: skip
ROWS = (
    Option(
        "id", "column of the objectIDs; found, or made from the row, where not given",
        completes="column",
    ),
    Option("columns", "send only these columns", list[str], completes="column"),
    Option("dtype", "types by column, as JSON", dict[str, Any], completes="column"),
    Option("nulls", "what becomes of missing values", Literal["omit", "null", "error"]),
    Option("timezone", "zone of the times that name none"),
    Option(
        "duplicates",
        "what becomes of rows with the same id",
        Literal["reject", "last", "keep", "error"],
    ),
    Option(
        "action",
        "replace whole records, update the attributes named, or delete",
        Literal["replace", "update", "update_existing", "delete"],
    ),
    Option(
        "operations", "operations by column, as JSON, with `update`", dict[str, str],
        completes="column",
    ),
    Option("nest", "make `a.b` columns objects", bool),
    Option("limit", "send only so many rows", int),
    Option("batch", "records in one batch", int),
    Option("in-flight", "batches sent at the same time", int),
)  # fmt: skip
IF_EXISTS = Option(
    "if-exists",
    "what to do with an index that exists",
    Literal["append", "replace", "fail", "merge"],
)
LEAST = Option(
    "least", "with `--if-exists replace`: share of the old number of records there must be", float
)
VERIFY = Option("verify", "read all back and tell what is not as it was sent", bool)
LOADING = (
    *ROWS,
    IF_EXISTS,
    LEAST,
    Option("dry-run", "show the plan and send nothing", bool),
    Option("resume", "go on where a load of the same source was cut off", bool),
    VERIFY,
    Option("separator", "what separates the columns of a CSV"),
    Option("quote", "what quotes a CSV's values"),
    Option("header", "whether a CSV's first line names its columns", bool | None),
    Option("encoding", "a file's encoding"),
    Option("path", "the list of records inside a JSON document, for example `data.items`"),
)

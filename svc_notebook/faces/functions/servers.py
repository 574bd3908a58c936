"""Commands that serve by HTTP until they are stopped: agents, and interleaved hits."""

from __future__ import annotations

import asyncio

from svc_notebook.data.declarations import verb, verb_only
from svc_notebook.data.session import AnyClient, asynchronous, serve_application
from svc_notebook.errors import BadInput
from svc_notebook.faces.functions.text_values import read_variant
from svc_notebook.tuning.interleaving import interleave
from svc_notebook.tuning.tables import Table, check_judgments


@verb_only(
    verb(
        "mcp",
        "mcp",
        "mcp --judgments judged.csv --allow-writes",
        "mcp --port 8110 --profile shop",
        completes={"judgments": "path"},
        faces=("command",),
        format=False,
    )
)
def serve_agents(
    *,
    judgments: Table | None = None,
    allow_writes: bool = False,
    port: int | None = None,
    client: AnyClient | None = None,
) -> None:
    """Serve tools for agents by the Model Context Protocol.

    An agent starts the command and talks to it by its standard streams, or connects to
    `http://127.0.0.1:PORT/mcp`. Tools read indices, searches, settings, logs and scores. A change
    is planned by a tool and applied by its token, and only with `allow_writes`.

    Parameters
    ----------
    judgments : path, default None
        CSV or Parquet file of the judgments that tools use if an agent gives none.
    allow_writes : bool, default False
        Offer tools that plan changes, and the one that applies a plan.
    port : int, default None
        Port of loopback to serve HTTP on; None serves the standard streams.

    Raises
    ------
    BadInput
        If the extra `agents` is not installed, the judgments are wrong, or the port is in use.

    Examples
    --------
    $ svc mcp --judgments judged.csv
    """
    try:
        from svc_notebook.faces.agents import server
    except ImportError as error:
        raise BadInput(f"agents need {error.name}: pip install 'svc-notebook[agents]'") from error
    judged = None if judgments is None else check_judgments(judgments)
    server.serve(asynchronous(client), judgments=judged, allow_writes=allow_writes, port=port)


@verb_only(
    verb(
        "interleave",
        "interleave products products_b --log users.jsonl",
        'interleave products {} \'{"ignorePlurals": ["en"]}\' --log users.jsonl --port 8111',
        completes={"log": "path"},
        faces=("command",),
        format=False,
    )
)
def serve_interleaving(
    index: str,
    a: str,
    b: str | None = None,
    *,
    log: str,
    host: str = "127.0.0.1",
    port: int = 8111,
    client: AnyClient | None = None,
) -> None:
    """Serve searches with the interleaved hits of two variants, for a page to call.

    The page sends its searches to this address in place of the service, in the same form:
    `POST /1/indexes/INDEX/query` and `POST /1/indexes/*/queries`. Events go to the service, with
    the `_queryID` of each hit. `svc.tuning.read_interleaving` reads the outcome from the log.

    Parameters
    ----------
    index : str
        Index that the page searches.
    a : str
        Variant: search parameters as JSON, `{}` for none, or the name of another index.
    b : str, default None
        The other variant; without it, `a` is compared with the index as it is.
    log : path
        File to which a line is written for each search; it is created, or appended to.
    host : str, default '127.0.0.1'
        Address to listen on. Everyone who reaches it searches with the key of this command.
    port : int, default 8111
        Port to listen on; 0 chooses a free one.

    Raises
    ------
    BadInput
        If a variant is not valid, both are the same, the log cannot be written, or the port is in
        use.
    NotFound
        If an index does not exist.

    Examples
    --------
    $ svc interleave products '{"ignorePlurals": ["en"]}' --log users.jsonl
    """
    variants = (read_variant(a), read_variant(b)) if b is not None else ({}, read_variant(a))
    mixed = interleave(index, *variants, log=log, client=client)
    announcement = f"pages search {index} at {{address}}"
    asyncio.run(serve_application(mixed, host=host, port=port, announcement=announcement))

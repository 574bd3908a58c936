"""The command that serves agents."""

from __future__ import annotations

from svc_notebook.data.declarations import verb, verb_only
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput
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

"""The command that serves the interleaved hits of two variants to a page."""

from __future__ import annotations

import asyncio

from svc_notebook.data.declarations import verb, verb_only
from svc_notebook.data.session import AnyClient, serve_application
from svc_notebook.faces.functions.text_values import read_variant
from svc_notebook.tuning.interleaving import interleave


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

    Examples
    --------
    $ svc interleave products '{"ignorePlurals": ["en"]}' --log users.jsonl
    """
    variants = (read_variant(a), read_variant(b)) if b is not None else ({}, read_variant(a))
    mixed = interleave(index, *variants, log=log, client=client)
    announcement = f"pages search {index} at {{address}}"
    asyncio.run(serve_application(mixed, host=host, port=port, announcement=announcement))

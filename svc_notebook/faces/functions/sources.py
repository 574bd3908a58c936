"""The allowlist: networks from which requests are allowed."""

from __future__ import annotations

from typing import Any

from pandas import DataFrame

from svc_notebook.core.api.shapes import Source
from svc_notebook.data import frames
from svc_notebook.data.declarations import BodyDocument, public, verb
from svc_notebook.data.frames import Backend
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import NotFound, did_you_mean
from svc_notebook.faces.functions.curation import WriteSummary
from svc_notebook.faces.functions.documents import Documents, take_documents


@public(
    verb(
        "sources add",
        "sources add 192.0.2.0/24 --description office --yes",
        completes={"source": None},
        destructive="allow requests from {source}, and from other networks only if they are listed",
    ),
    endpoints=("append_source",),
)
async def add_source(
    source: str, *, description: str = "", client: AnyClient | None = None
) -> WriteSummary:
    """Allow requests from a network.

    With the first network on the allowlist, requests from all others are refused.

    Parameters
    ----------
    source : str
        Address, or network in CIDR notation.
    description : str, default ""
        Description of the network.

    Returns
    -------
    dict
        `source`, and the number of networks `before` and `after`.

    Examples
    --------
    >>> svc.add_source("127.0.0.1/32", description="this machine")["after"]
    1
    >>> svc.delete_source("127.0.0.1/32")["after"]
    0
    """
    aio = asynchronous(client)
    before = len(await aio.list_sources())
    entry: Source = {"source": source}
    await aio.append_source({**entry, "description": description} if description else entry)
    return {"source": source, "before": before, "after": len(await aio.list_sources())}


@public(
    verb(
        "sources replace",
        "sources replace networks.csv --yes",
        variable="sources",
        body="networks",
        document=BodyDocument("sources", Source),
        destructive="allow requests from these networks only",
    ),
    endpoints=("replace_sources",),
)
async def replace_sources(sources: Documents, *, client: AnyClient | None = None) -> WriteSummary:
    """Replace the allowlist of networks.

    Parameters
    ----------
    sources : dict, list of dict, DataFrame or path
        Networks with `source` and `description`: one, several, the rows of a table, or a
        CSV, JSON or NDJSON file. An empty list allows every network.

    Returns
    -------
    dict
        The number of networks `before` and `after`.

    Raises
    ------
    BadInput
        If a network has a wrong or unknown member.

    Examples
    --------
    >>> svc.replace_sources([{"source": "127.0.0.1/32", "description": "this machine"}])["after"]
    1
    >>> svc.replace_sources([])["after"]
    0
    """
    listed: list[Any] = take_documents(sources, Source, "sources")
    aio = asynchronous(client)
    before = len(await aio.list_sources())
    await aio.replace_sources(listed)
    return {"before": before, "after": len(listed)}


@public(
    verb(
        "sources delete",
        "sources delete 192.0.2.0/24",
        completes={"source": "network"},
        destructive="remove {source} from the allowlist",
    ),
    endpoints=("delete_source",),
)
async def delete_source(source: str, *, client: AnyClient | None = None) -> WriteSummary:
    """Remove a network from the allowlist.

    With the last network removed, requests from every network are allowed.

    Parameters
    ----------
    source : str
        Address or network, as on the allowlist.

    Returns
    -------
    dict
        `source`, and the number of networks `before` and `after`.

    Raises
    ------
    NotFound
        If the network is not on the allowlist.

    Examples
    --------
    >>> svc.add_source("127.0.0.1/32")["after"]
    1
    >>> svc.delete_source("127.0.0.1/32")["after"]
    0
    """
    aio = asynchronous(client)
    listed = [entry["source"] for entry in await aio.list_sources()]
    if source not in listed:
        raise NotFound(
            f"{source} is not on the allowlist{did_you_mean(source, listed)}", status=404
        )
    await aio.delete_source(source)
    return {"source": source, "before": len(listed), "after": len(listed) - 1}


@public(verb("sources", "sources"), endpoints=("list_sources",))
async def read_sources(
    *, client: AnyClient | None = None, dtype_backend: Backend | None = None
) -> DataFrame:
    """Read the networks from which requests are allowed.

    Returns
    -------
    DataFrame
        One row per network: `source` (str, an address or a network in CIDR notation) and
        `description` (str). An empty DataFrame allows every network.

    Examples
    --------
    >>> svc.read_sources()
    """
    return await frames.read_sources(asynchronous(client), dtype_backend=dtype_backend)

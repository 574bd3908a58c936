"""The client that a function uses: the one it is given, else the current one."""

from __future__ import annotations

from svc_notebook.client import AsyncClient, Client
from svc_notebook.errors import BadInput
from svc_notebook.session.connecting import current

AnyClient = AsyncClient | Client


def asynchronous(client: AnyClient | None) -> AsyncClient:
    """Return the client to use, as one whose methods are coroutine functions."""
    found = current() if client is None else client
    if not isinstance(found, (Client, AsyncClient)):
        raise BadInput(f"`client` is what `svc.connect` returns, not {type(found).__name__}")
    return found.aio if isinstance(found, Client) else found

"""A server of an ASGI application by HTTP that runs in the foreground."""

from __future__ import annotations

import os
import socket
import sys
from typing import Any

from svc_notebook.errors import BadInput


async def serve_application(application: Any, *, host: str, port: int, announcement: str) -> None:
    """Serve until the process is stopped; `{address}` in the announcement is the address.

    Raises `BadInput` if the port cannot be listened on, or the extra `local` is not installed.
    """
    try:
        import uvicorn
    except ImportError as error:
        raise BadInput(f"a server needs {error.name}: pip install 'svc-notebook[local]'") from error
    if port not in range(65536):
        raise BadInput(f"{port} is not a port: use 1 to 65535, or 0 for a free port")
    try:
        listener = socket.create_server((host, port))
    except OSError as error:
        raise BadInput(
            f"cannot listen on port {port}: {os.strerror(error.errno or 0)}; pass another one"
        ) from None
    address = f"http://{host}:{listener.getsockname()[1]}"
    shown = announcement.replace("{address}", address)
    sys.stderr.write(f"svc: {shown}; Ctrl-C stops\n")
    sys.stderr.flush()
    settings = uvicorn.Config(application, log_level="warning")
    await uvicorn.Server(settings).serve(sockets=[listener])

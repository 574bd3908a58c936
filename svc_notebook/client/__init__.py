"""The client's end of the wire."""

from __future__ import annotations

from svc_notebook.client.client import AsyncClient, Client
from svc_notebook.client.connection import Connection
from svc_notebook.client.progress import Progress
from svc_notebook.client.retry import Patience
from svc_notebook.client.secret import Secret

__all__ = ["AsyncClient", "Client", "Connection", "Patience", "Progress", "Secret"]

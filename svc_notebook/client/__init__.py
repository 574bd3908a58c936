"""The HTTP client of the API, asynchronous and blocking."""

from __future__ import annotations

from svc_notebook.client.client import AsyncClient, Client
from svc_notebook.client.config import ClientConfig
from svc_notebook.client.progress import Progress
from svc_notebook.client.retry import RetryPolicy
from svc_notebook.client.secret import Secret

__all__ = ["AsyncClient", "Client", "ClientConfig", "Progress", "RetryPolicy", "Secret"]

"""The HTTP client of the API, asynchronous and blocking."""

from __future__ import annotations

from svc_notebook.data.client import (
    AsyncClient,
    Client,
    ClientConfig,
    Progress,
    RetryPolicy,
    Secret,
)

__all__ = ["AsyncClient", "Client", "ClientConfig", "Progress", "RetryPolicy", "Secret"]

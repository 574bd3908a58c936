"""The credentials with which a Dask worker connects."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from svc_notebook.data.client import AsyncClient, ClientConfig, Secret


class WorkerCredentials:
    """A picklable connection for a worker; its keys are visible only in the pickled bytes."""

    def __init__(self, connection: ClientConfig) -> None:
        self._connection = connection

    def client(self) -> AsyncClient:
        """Create a client with these credentials."""
        return AsyncClient(self._connection)

    def __repr__(self) -> str:
        return f"WorkerCredentials({self._connection.app_id!r}, {self._connection.address!r})"

    def __dask_tokenize__(self) -> str:
        return repr(self)

    def __reduce__(self) -> tuple[Any, ...]:
        options = {row.name: getattr(self._connection, row.name) for row in fields(ClientConfig)}
        keys = {name: options.pop(name).reveal() for name in ("api_key", "crawler_api_key")}
        return _restore, (options, keys)


def _restore(values: dict[str, Any], keys: dict[str, str]) -> WorkerCredentials:
    secrets = {name: Secret(key) for name, key in keys.items()}
    return WorkerCredentials(ClientConfig(**{**values, **secrets}))

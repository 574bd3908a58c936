"""The request to one host, its authentication headers, and the response."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Generator, Mapping
from typing import NamedTuple

import httpx

from svc_notebook.core.api import Endpoint
from svc_notebook.data.client.config import ClientConfig
from svc_notebook.data.client.request_options import MAX_ANSWER_BYTES
from svc_notebook.data.client.secret import NO_SECRET, Secret


class Keys(httpx.Auth):
    """Adds the keys to a request when it is sent; no frame of this package contains them."""

    def __init__(
        self, connection: ClientConfig, endpoint: Endpoint, forwarded: Secret = NO_SECRET
    ) -> None:
        self._connection = connection
        self._crawler = endpoint.interface == "crawler"
        self._forwarded = forwarded

    def headers(self) -> dict[str, str]:
        """Return the authentication headers of the interface."""
        connection = self._connection
        if self._crawler:
            pair = f"{connection.crawler_user_id}:{connection.crawler_api_key.reveal()}".encode()
            return {"authorization": f"Basic {b64encode(pair).decode()}"}
        forwarded = {"X-Forwarded-API-Key": self._forwarded.reveal()} if self._forwarded else {}
        return {
            f"X-{connection.vendor}-Application-Id": connection.app_id,
            f"X-{connection.vendor}-API-Key": connection.api_key.reveal(),
            **forwarded,
        }

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Add the headers, as the auth interface of httpx."""
        request.headers.update(self.headers())
        yield request


class Request(NamedTuple):
    """A request to one host; its timeouts are in seconds.

    A response of more than `max_bytes` is not read to its end.
    """

    verb: str
    host: str
    target: str
    headers: Mapping[str, str]
    content: bytes | None
    keys: Keys
    timeout: httpx.Timeout
    max_bytes: int = MAX_ANSWER_BYTES


class HttpReply(NamedTuple):
    """A complete response; the names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes

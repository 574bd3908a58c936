"""A service as a separate process, called over its socket through all layers of the server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.conftest import Inside, Running, credentials, start_service, stop_service

HERE = "127.0.0.1"
# Another address of this machine: a caller that the service can tell from one at `HERE`.
ELSEWHERE = "127.0.0.2"


class Outside(Inside):
    """Calls a running service as `Inside` calls an application, from an address of one's choice."""

    def __init__(self, running: Running) -> None:
        self.running = running
        self.facts = {name: value for name, value in vars(running).items() if name != "pid"}
        self._clients: dict[str, httpx.Client] = {}

    def call(
        self,
        verb: str,
        path: str,
        body: Any = None,
        *,
        key: str | None = None,
        headers: dict[str, str] | None = None,
        content: bytes | None = None,
        source: str = HERE,
    ) -> httpx.Response:
        """Send one request from an address; `content` is sent as it is, `body` as JSON."""
        own = credentials(self.facts["appId"], key or self.facts["adminKey"])
        data: dict[str, Any] = {} if body is None else {"json": body}
        if content is not None:
            data = {"content": content}
        client = self._client(source)
        return client.request(verb, path, headers={**own, **(headers or {})}, **data)

    def _client(self, source: str) -> httpx.Client:
        if source not in self._clients:
            transport = httpx.HTTPTransport(local_address=source)
            self._clients[source] = httpx.Client(
                base_url=self.running.url, transport=transport, timeout=30
            )
        return self._clients[source]

    def done(self, verb: str, path: str, body: Any = None, **more: Any) -> Any:
        """Send a write and wait until it is published; returns its answer."""
        answer = self.call(verb, path, body, **more)
        assert answer.is_success, answer.text
        task = answer.json()["taskID"]
        for one in task.values() if isinstance(task, dict) else [task]:
            while self.call("GET", f"/1/task/{one}").json()["status"] != "published":
                time.sleep(0.002)
        return answer.json()

    def close(self) -> None:
        """Close the connections."""
        for client in self._clients.values():
            client.close()


@contextmanager
def outside(data: Path, *options: str) -> Iterator[Outside]:
    """Run a service on a folder and call it from outside."""
    process, running = start_service(data, *options)
    caller = Outside(running)
    try:
        yield caller
    finally:
        caller.close()
        stop_service(process)

"""One service called with and without search workers."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from svc_notebook.service.app import App
from svc_notebook.service.service import Service
from svc_notebook.service.vector_builder import VectorTimes
from tests.conftest import Inside

# What differs between two answers to the same search.
OWN_MEMBERS = re.compile(
    rb'"(?:processingTimeMS|serverTimeMS)":\d+|"queryID":"[0-9a-f]+"|"(?:createdAt|at)":\d+'
)
START_SECONDS = 120


class WithWorkers(Inside):
    """Calls one service through two applications, one of which has workers."""

    def __init__(self, service: Service, count: int, seconds: float = 4.0) -> None:
        super().__init__(App(service, search_timeout=seconds))
        self.shared = App(service, search_timeout=seconds, workers=count)
        self.count = count
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    @property
    def workers(self) -> Any:
        """The workers of the application that has them."""
        return self.shared.workers

    def start(self) -> None:
        """Start the workers and wait until all are ready."""
        self.loop.call_soon_threadsafe(self.workers.start)
        self.wait_for_workers()

    def wait_for_workers(self) -> None:
        """Wait until as many workers are ready as there should be."""
        end = time.monotonic() + START_SECONDS
        while len(self.workers.processes) < self.count:
            assert time.monotonic() < end, "the workers did not start"
            time.sleep(0.01)

    def send_all(self, calls: Sequence[tuple[str, str, Any]], **more: Any) -> list[httpx.Response]:
        """Send calls at the same time to the application with workers."""

        async def send() -> list[httpx.Response]:
            transport = httpx.ASGITransport(self.shared)
            async with httpx.AsyncClient(transport=transport, base_url="http://local") as client:
                headers = {
                    "x-service-application-id": self.facts["appId"],
                    "x-service-api-key": more.get("key") or self.facts["adminKey"],
                }
                return await asyncio.gather(
                    *(client.request(v, p, headers=headers, **_json(b)) for v, p, b in calls)
                )

        return asyncio.run_coroutine_threadsafe(send(), self.loop).result(120)

    def compare(self, verb: str, path: str, body: Any = None, **more: Any) -> httpx.Response:
        """Send a call to both applications; their answers must be equal to the byte."""
        [shared] = self.send_all([(verb, path, body)], **more)
        own = self.call(verb, path, body, **more)
        assert shared.status_code == own.status_code, (shared.text, own.text)
        assert without_own_members(shared) == without_own_members(own), (path, body)
        return shared

    def close(self) -> None:
        """End the workers, both applications and the loop."""

        async def close() -> None:
            self.shared.close()
            await asyncio.sleep(0)  # in which the loop closes the connections

        asyncio.run_coroutine_threadsafe(close(), self.loop).result(10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(10)
        self.loop.close()
        self.app.close()


def _json(body: Any) -> dict[str, Any]:
    return {} if body is None else {"json": body}


def without_own_members(response: httpx.Response) -> bytes:
    """Return the body without times and random ids."""
    return OWN_MEMBERS.sub(b"", response.content)


@contextmanager
def with_workers(
    folder: Path, count: int = 2, seconds: float = 4.0, vectors: VectorTimes | None = None
) -> Iterator[WithWorkers]:
    """Run a service whose workers are ready."""
    service = Service(folder, vectors=vectors)
    service.start()
    inside = WithWorkers(service, count, seconds)
    try:
        inside.start()
        yield inside
    finally:
        inside.close()
        service.stop()

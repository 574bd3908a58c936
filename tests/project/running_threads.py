"""Start a service with workers, a client and an editor: writes threads and child processes as JSON.

`python -m tests.project.running_threads URL APP_ID KEY` in a process of its own; the client uses
the service at the URL.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx
import psutil  # type: ignore[import-untyped]  # it has no types of its own

import svc_notebook as svc
from svc_notebook.data.client import Client, ClientConfig, Secret
from svc_notebook.service.app import App
from svc_notebook.service.service import Service
from svc_notebook.service.workers.pool import SUPPORTED
from tests.conftest import credentials

WORKERS = 2 if SUPPORTED else 0
START_SECONDS = 60


async def use(app: App) -> None:
    """Write, and search at the same time until all workers run."""
    facts = app.service.keyring.facts
    headers = credentials(facts["appId"], facts["adminKey"])
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(
        transport=transport, base_url="http://local", headers=headers
    ) as client:
        await client.put("/1/indexes/films/1", json={"title": "lamp"})
        end = time.monotonic() + START_SECONDS
        while True:
            search = client.post("/1/indexes/films/query", json={"query": "lamp"})
            again = client.post("/1/indexes/films/query", json={"query": "lam"})
            await asyncio.gather(search, again)
            if len(app.workers.processes) == WORKERS or time.monotonic() > end:
                return
            await asyncio.sleep(0.05)


def main(url: str, app_id: str, key: str) -> None:
    """Write what runs."""
    with tempfile.TemporaryDirectory() as folder:
        service = Service(Path(folder))
        service.start()
        app = App(service, workers=WORKERS)
        client = Client(ClientConfig(url=url, app_id=app_id, api_key=Secret(key)))
        client.replace_all("threads", [{"objectID": "1", "title": "lamp"}])
        svc.edit.query("threads", client=client)

        async def run() -> None:
            await use(app)
            threads = sorted({thread.name for thread in threading.enumerate()})
            children = psutil.Process().children(recursive=True)
            processes = sorted({" ".join(child.cmdline()) for child in children})
            sys.stdout.write(json.dumps({"threads": threads, "processes": processes}))
            app.close()

        asyncio.run(run())
        client.close()
        service.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Load a CSV into a service that only swallows: as ours do, as the official client's users do.

Beside both, bodies made before the clock starts: sent by each of the two clients, which is as
fast as it could read and write tables in no time.

    python benchmarks/load.py [--rows 1000000]

Every way runs in a process of its own against one service, and tells its rows a second and the
most memory it held. The official client gets a tenth of the rows: the file is read with pandas,
turned into dicts and saved, as its documentation shows.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

if TYPE_CHECKING:
    from algoliasearch.search.client import SearchClientSync

    from svc_notebook.client import AsyncClient

TRIALS = 3
WANTED = {"theirs": 8, "prepared": 0.4, "prepared, theirs": 0.4}
WORDS = ["amber", "brass", "cedar", "copper", "desk", "lamp", "oak", "silver", "table", "chair"]
LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
ANSWER = json.dumps(
    {"taskID": 1, "objectIDs": [], "status": "published", "pendingTask": False, "updatedAt": ""}
).encode()
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"


class Swallow(asyncio.Protocol):
    """Reads requests, forgets them, and answers that all is well."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self.transport = transport
        self.head = b""
        self.left = 0

    def data_received(self, data: bytes) -> None:
        if self.left:
            self.left -= len(data)
        else:
            self.head += data
            head, end, rest = self.head.partition(b"\r\n\r\n")
            if not end:
                return
            found = LENGTH.search(head)
            self.left, self.head = (int(found[1]) if found else 0) - len(rest), b""
        if self.left <= 0:
            self.left = 0
            self.transport.write(HEAD % len(ANSWER) + ANSWER)


async def serve() -> None:
    """Run the service; the first line printed is its address."""
    server = await asyncio.get_running_loop().create_server(Swallow, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def write_table(path: Path, rows: int) -> None:
    """Write a CSV of ten columns with text of all lengths, numbers, gaps, quotes and dates."""
    words = "[" + ", ".join(f"'{word}'" for word in WORDS) + "]"
    word = f"{words}[1 + (hash(i * 31 + k) % 10)::INT]"
    text = f"array_to_string([{word} for k in range(%d)], ' ')"
    duckdb.sql(
        f"""COPY (SELECT
            format('SKU-{{:08d}}', i) AS sku,
            {text.replace("%d", "3")} || ' "' || i || '"' AS name,
            {text.replace("%d", "15")} || ', é' AS description,
            {words}[1 + (hash(i) % 10)::INT] || ' & Co' AS brand,
            CASE WHEN hash(i + 1) % 30 > 0 THEN round((hash(i) % 40000) / 100, 2) END AS price,
            (hash(i + 2) % 5000)::INT AS stock,
            round(1 + (hash(i + 3) % 40) / 10, 1) AS rating,
            hash(i + 4) % 2 = 0 AS available,
            DATE '2000-01-01' + (hash(i + 5) % 9000)::INT AS released,
            'https://shop.example/p/' || i AS url
            FROM range({rows}) AS t(i)) TO '{path}' (HEADER, DELIMITER ',')"""
    )


Work = Callable[[], int]


def load_ours(path: Path, port: int, rows: int) -> Work:
    from svc_notebook import loading
    from svc_notebook.loading.database import import_duckdb

    import_duckdb()
    client = _client(port)

    def work() -> int:
        result = asyncio.run(loading.load(client, path, "swallowed", limit=rows or None))
        assert result.complete
        return result.published

    return work


def load_theirs(path: Path, port: int, rows: int) -> Work:
    import pandas as pd

    client = _their_client(port)

    def work() -> int:
        frame = pd.read_csv(path, nrows=rows).astype(object)
        frame["objectID"] = frame["sku"]
        records = frame.where(frame.notna(), None).to_dict("records")
        client.save_objects("swallowed", records)  # type: ignore[arg-type]
        return len(records)

    return work


def send_prepared(path: Path, port: int, rows: int) -> Work:
    """Send bodies that were made before the clock starts."""
    from svc_notebook.api import RequestSpec, SearchApi

    bodies, count = _bodies(path, rows)
    client = _client(port)

    async def send() -> None:
        async with asyncio.TaskGroup() as group:
            for lane in range(4):
                group.create_task(send_lane(lane))

    async def send_lane(lane: int) -> None:
        for body in bodies[lane::4]:
            parcel = RequestSpec("POST", "/1/indexes/swallowed/batch", {}, body)
            await client.perform(SearchApi.batch.endpoint, parcel)

    def work() -> int:
        asyncio.run(send())
        return count

    return work


def send_prepared_theirs(path: Path, port: int, rows: int) -> Work:
    """Send the same bodies as dicts: the official client writes the JSON of every one itself."""
    bodies, count = _bodies(path, rows)
    prepared = [json.loads(body) for body in bodies]
    client = _their_client(port)

    def work() -> int:
        for body in prepared:
            client.batch("swallowed", body)
        return count

    return work


def _bodies(path: Path, rows: int) -> tuple[list[bytes], int]:
    from svc_notebook.loading.database import Database
    from svc_notebook.loading.load_plan.plan import prepare
    from svc_notebook.loading.options import LoadSettings
    from svc_notebook.loading.sending.batches import pack_batches

    with Database() as db:
        batches = list(pack_batches(prepare(path, "swallowed", LoadSettings(limit=rows), db)))
    return [batch.body for batch in batches], sum(batch.rows for batch in batches)


def _client(port: int) -> AsyncClient:
    from svc_notebook.client import AsyncClient, ClientConfig, Secret

    url = f"http://127.0.0.1:{port}"
    return AsyncClient(ClientConfig(url=url, app_id="app", api_key=Secret("key")))


def _their_client(port: int) -> SearchClientSync:
    from algoliasearch.http.hosts import Host, HostsCollection
    from algoliasearch.search.client import SearchClientSync
    from algoliasearch.search.config import SearchConfig

    config = SearchConfig("app", "key")
    config.hosts = HostsCollection([Host("127.0.0.1", scheme="http", port=port)])
    return SearchClientSync.create_with_config(config)


WAYS: dict[str, Callable[[Path, int, int], Work]] = {
    "ours": load_ours,
    "theirs": load_theirs,
    "prepared": send_prepared,
    "prepared, theirs": send_prepared_theirs,
}


def run_way(way: str, path: Path, port: int, rows: int) -> None:
    """Measure one way in this process."""
    work = WAYS[way](path, port, rows)
    started = time.perf_counter()
    rate = round(work() / (time.perf_counter() - started))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"rate": rate, "peak": peak}))


def measure(way: str, path: Path, port: int, rows: int) -> dict[str, float]:
    """Measure one way in a process of its own."""
    command = [sys.executable, __file__, "--way", way, "--path", str(path)]
    command += ["--port", str(port), "--rows", str(rows)]
    with tempfile.TemporaryDirectory() as state:
        environment = os.environ | {"XDG_STATE_HOME": state}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    measured: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return measured


def compare(rows: int) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "products.csv"
        write_table(path, rows)
        print(f"{rows:,} rows, {path.stat().st_size / 1e6:.0f} MB")
        command = [sys.executable, __file__, "--serve"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
            assert service.stdout
            port = int(service.stdout.readline())
            few = max(rows // 10, 1)
            trials = [
                {
                    "ours": measure("ours", path, port, 0),
                    "theirs": measure("theirs", path, port, few),
                    "prepared": measure("prepared", path, port, rows),
                    "prepared, theirs": measure("prepared, theirs", path, port, few),
                }
                for _ in range(TRIALS)
            ]
            service.terminate()
    rates = {way: statistics.median(trial[way]["rate"] for trial in trials) for way in WAYS}
    for way, rate in rates.items():
        peak = max(trial[way]["peak"] for trial in trials)
        print(f"{way:17} {rate:12,.0f} rows/s   peak {peak:6.0f} MB")
    for way, wanted in WANTED.items():
        print(f"ours / {way:17} {rates['ours'] / rates[way]:5.2f}   wanted >= {wanted}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--way", choices=WAYS)
    parser.add_argument("--path", type=Path)
    parser.add_argument("--port", type=int)
    given = parser.parse_args()
    if given.serve:
        asyncio.run(serve())
    elif given.way:
        run_way(given.way, given.path, given.port, given.rows)
    else:
        compare(given.rows)


if __name__ == "__main__":
    main()

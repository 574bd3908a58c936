"""Load a CSV file into a service that discards it: by `svc.load`, and by the official client.

    python benchmarks/load.py [--rows 10 1000 200000 1000000]

Both clients also send request bodies that exist before the clock starts: the speed that each would
reach if it read and converted tables in no time.

Each way runs in a process of its own against one service. The process has imported pandas and its
client before the clock starts, and reports the time of its first call (cold), of later calls (warm)
and its peak memory. With the official client, the file is read with pandas, converted to dicts and
saved, as its documentation shows; of a million rows it loads a tenth.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from benchmarks.figures import record  # noqa: E402
from benchmarks.trials import (  # noqa: E402
    Trial,
    Work,
    print_ratio,
    print_trials,
    read_trial,
    record_rates,
    run_trial,
)

if TYPE_CHECKING:
    from algoliasearch.search.client import SearchClientSync

    from svc_notebook.data.client import AsyncClient

TRIALS = 3
ROWS = (10, 1000, 200_000, 1_000_000)
# The ratio to the official client, and the peak memory in MB, by the number of rows.
WANTED = {10: ">= 1", 1000: ">= 1", 200_000: ">= 8", 1_000_000: ">= 12"}
WANTED_PEAK_MB = {1_000_000: "<= 350"}
WANTED_OF_PREPARED = ">= 0.4"
# From this number on, the official client loads a tenth of the rows, and prepared bodies are sent.
MANY_ROWS = 500_000
OFFICIAL = "official client"
PREPARED = {"prepared": "prepared bodies", "prepared, theirs": f"prepared bodies, {OFFICIAL}"}
WORDS = ["amber", "brass", "cedar", "copper", "desk", "lamp", "oak", "silver", "table", "chair"]
LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
ANSWER = json.dumps(
    {"taskID": 1, "objectIDs": [], "status": "published", "pendingTask": False, "updatedAt": ""}
).encode()
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"


class DiscardingServer(asyncio.Protocol):
    """Reads requests, discards them, and responds with success."""

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
    server = await asyncio.get_running_loop().create_server(DiscardingServer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def write_table(path: Path, rows: int) -> None:
    """Write a CSV of ten columns with text of all lengths, numbers, gaps, quotes and dates."""
    import duckdb

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


def load_ours(path: Path, port: int, rows: int) -> Work:
    import pandas  # noqa: F401 - imported before the clock starts, as for the official client

    import svc_notebook as svc

    connect(port)

    def work() -> int:
        result = svc.load(path, "discarded", progress=False)
        assert result.complete
        assert result.published == rows
        return result.published

    return work


def connect(port: int) -> None:
    """Connect to the service of a port."""
    import svc_notebook as svc

    svc.connect(url=f"http://127.0.0.1:{port}", app_id="app", api_key="key")


def load_theirs(path: Path, port: int, rows: int) -> Work:
    import pandas as pd

    client = _their_client(port)

    def work() -> int:
        frame = pd.read_csv(path, nrows=rows).astype(object)
        frame["objectID"] = frame["sku"]
        records = frame.where(frame.notna(), None).to_dict("records")
        client.save_objects("discarded", records)  # type: ignore[arg-type]
        return len(records)

    return work


def send_prepared(path: Path, port: int, rows: int) -> Work:
    """Send bodies that exist before the clock starts."""
    from svc_notebook.core.api import RequestSpec, SearchApi

    bodies, count = _bodies(path, rows)
    client = _client(port)

    async def send() -> None:
        async with asyncio.TaskGroup() as group:
            for lane in range(4):
                group.create_task(send_lane(lane))

    async def send_lane(lane: int) -> None:
        for body in bodies[lane::4]:
            request = RequestSpec("POST", "/1/indexes/discarded/batch", {}, body)
            await client.perform(SearchApi.batch.endpoint, request)

    def work() -> int:
        asyncio.run(send())
        return count

    return work


def send_prepared_theirs(path: Path, port: int, rows: int) -> Work:
    """Send the same bodies as dicts: the official client encodes the JSON of each itself."""
    bodies, count = _bodies(path, rows)
    prepared = [json.loads(body) for body in bodies]
    client = _their_client(port)

    def work() -> int:
        for body in prepared:
            client.batch("discarded", body)
        return count

    return work


def _bodies(path: Path, rows: int) -> tuple[list[bytes], int]:
    from svc_notebook.data.loading.database import Database
    from svc_notebook.data.loading.load_plan.preparation import prepare
    from svc_notebook.data.loading.options import LoadSettings
    from svc_notebook.data.loading.sending.batches import pack_batches

    with Database() as db:
        batches = list(pack_batches(prepare(path, "discarded", LoadSettings(limit=rows), db)))
    return [batch.body for batch in batches], sum(batch.rows for batch in batches)


def _client(port: int) -> AsyncClient:
    from svc_notebook.data.client import AsyncClient, ClientConfig, Secret

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


def measure(way: str, path: Path, port: int, rows: int) -> Trial:
    """Measure one way in a process of its own."""
    command = [sys.executable, __file__, "--way", way, "--path", str(path)]
    command += ["--port", str(port), "--rows", str(rows)]
    with tempfile.TemporaryDirectory() as state:
        return read_trial(command, os.environ | {"XDG_STATE_HOME": state})


def compare(rows: int, port: int, folder: Path) -> None:
    """Print and record the comparison for one file."""
    path = folder / f"products-{rows}.csv"
    write_table(path, rows)
    print(f"\n{rows:,} rows, {path.stat().st_size / 1e6:.1f} MB", flush=True)
    sizes = {"ours": rows, "theirs": rows}
    if rows >= MANY_ROWS:
        few = rows // 10
        sizes |= {"theirs": few, "prepared": rows, "prepared, theirs": few}
    rounds = [
        {way: measure(way, path, port, size) for way, size in sizes.items()} for _ in range(TRIALS)
    ]
    print_trials(rounds)
    wanted = WANTED.get(rows, "")
    name = f"{rows:,} rows"
    print_ratio(rounds, "ours", "theirs", wanted and f"wanted {wanted}")
    record_rates(name, rounds, "ours", "theirs", peer=OFFICIAL, wanted=wanted)
    for other, peer in PREPARED.items():
        if other in sizes:
            print_ratio(rounds, "ours", other, f"wanted {WANTED_OF_PREPARED}")
            record_rates(
                f"{name} / {peer}", rounds, "ours", other, peer=peer, wanted=WANTED_OF_PREPARED
            )
    peak = statistics.median(one["ours"].peak for one in rounds)
    record(f"{name}, peak memory", peak, "MB", wanted=WANTED_PEAK_MB.get(rows, ""))


def compare_all(sizes: list[int]) -> None:
    """Compare with files of several sizes."""
    command = [sys.executable, __file__, "--serve"]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service,
    ):
        assert service.stdout
        port = int(service.stdout.readline())
        for rows in sizes:
            compare(rows, port, Path(folder))
        service.terminate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, nargs="+", default=list(ROWS))
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--way", choices=WAYS)
    parser.add_argument("--path", type=Path)
    parser.add_argument("--port", type=int)
    given = parser.parse_args()
    if given.serve:
        asyncio.run(serve())
    elif given.way:
        run_trial(WAYS[given.way](given.path, given.port, given.rows[0]))
    else:
        compare_all(given.rows)


if __name__ == "__main__":
    main()

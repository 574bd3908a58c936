"""Push a DataFrame, and browse an index into one: by svc_notebook, and by the official client.

    python benchmarks/frames.py [--rows 200000]

Each way runs in a process of its own, in turn, against two services. The process has imported
pandas and its client before the clock starts. The first service discards pushed records and returns
prepared pages, so that the time is that of the client alone; the second is the local service, so
that the time is the one that its users wait for. The official client pushes a tenth of the rows,
and browses the same number.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from benchmarks import load  # noqa: E402
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

TRIALS = 3
PAGE = 1000
CURSOR = b'"cursor":"'
INDEX = "browsed"
FEW = "few"


class ReplayingServer(load.DiscardingServer):
    """Also answers browse requests; a cursor is the number of the next page."""

    pages: ClassVar[list[bytes]] = []

    def data_received(self, data: bytes) -> None:
        if self.left or b"/browse" not in (self.head + data).split(b"\r\n", 1)[0]:
            super().data_received(data)
            return
        self.head += data
        head, end, body = self.head.partition(b"\r\n\r\n")
        found = load.LENGTH.search(head)
        if not end or len(body) < (int(found[1]) if found else 0):
            return
        self.head = b""
        _, _, rest = body.replace(b" ", b"").partition(CURSOR)
        number = -1 if FEW.encode() in head.split(b"\r\n", 1)[0] else rest.split(b'"', 1)[0] or 0
        page = self.pages[int(number)]
        self.transport.write(load.HEAD % len(page) + page)


def make_pages(rows: int) -> list[bytes]:
    """Encode the responses of one browse."""
    around = {"page": 0, "nbPages": 1, "hitsPerPage": PAGE, "processingTimeMS": 1, "query": ""}
    last = -(-rows // PAGE) - 1
    return [
        json.dumps(
            {
                "hits": [make_record(n) for n in range(start, min(start + PAGE, rows))],
                **({"cursor": str(number + 1)} if number < last else {}),
                **around, "nbHits": rows, "params": "",
            }
        ).encode()
        for number, start in enumerate(range(0, rows, PAGE))
    ]  # fmt: skip


def make_record(n: int) -> dict[str, Any]:
    """Make a record of ten attributes; one in thirty has no price."""
    words = [load.WORDS[(n * k) % 10] for k in range(1, 16)]
    record: dict[str, Any] = {
        "objectID": f"SKU-{n:08d}", "name": " ".join(words[:3]), "description": " ".join(words),
        "brand": words[0], "price": n % 40_000 / 100, "stock": n % 5000, "rating": 1 + n % 40 / 10,
        "available": n % 2 == 0, "released": f"20{n % 24:02d}-01-0{1 + n % 9}",
        "url": f"https://shop.example/p/{n}",
    }  # fmt: skip
    if n % 30 == 0:
        del record["price"]
    return record


async def serve(rows: int) -> None:
    """Run the service; the first line printed is its address."""
    ReplayingServer.pages = make_pages(rows)
    server = await asyncio.get_running_loop().create_server(ReplayingServer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def make_frame(rows: int) -> Any:
    """Make a frame of text, numbers, gaps, categories, times, truth values and lists."""
    import numpy as np
    import pandas as pd

    n = np.arange(rows)
    texts = pd.Series(n.astype(str))
    return pd.DataFrame(
        {
            "objectID": "SKU-" + texts.str.zfill(8),
            "name": texts.map(lambda t: f"{t} \"oak\" é"),
            "price": np.where(n % 30 == 0, np.nan, n % 40_000 / 100),
            "stock": pd.array(np.where(n % 7 == 0, np.nan, n % 5000), dtype="Int64"),
            "rating": (n % 40).astype("float32"),
            "brand": pd.Categorical([load.WORDS[k % 10] for k in n]),
            "available": n % 2 == 0,
            "seen": pd.Timestamp("2024-01-01", tz="UTC") + pd.to_timedelta(n, unit="s"),
            "tags": [[load.WORDS[k % 10], load.WORDS[k % 7]] for k in n],
        }
    )  # fmt: skip


def push_ours(port: int, rows: int) -> Work:
    import svc_notebook as svc

    frame = make_frame(rows)
    load.connect(port)

    def work() -> int:
        return svc.push(frame, f"pushed-{os.getpid()}", progress=False).published

    return work


def push_theirs(port: int, rows: int) -> Work:
    client, frame = _their_client(port), make_frame(rows)

    def work() -> int:
        plain = frame.assign(seen=frame["seen"].map(lambda time: time.isoformat())).astype(object)
        records = plain.where(frame.notna(), None).to_dict("records")
        client.save_objects(f"pushed-{os.getpid()}", records, wait_for_tasks=True)
        return len(records)

    return work


def browse_ours(port: int, rows: int) -> Work:
    import pandas  # noqa: F401 - imported before the clock starts, as for the official client

    import svc_notebook as svc

    load.connect(port)
    return lambda: len(svc.read_browse(INDEX))


def browse_theirs(port: int, rows: int) -> Work:
    import pandas as pd

    client = _their_client(port)
    # The official client calls itself for each page.
    sys.setrecursionlimit(100_000)

    def work() -> int:
        records: list[dict[str, Any]] = []

        def take(answer: Any) -> None:
            records.extend(hit.to_dict() for hit in answer.hits)

        client.browse_objects(INDEX, aggregator=take)
        return len(pd.DataFrame(records))

    return work


def _their_client(port: int) -> Any:
    from algoliasearch.http.hosts import Host, HostsCollection
    from algoliasearch.search.client import SearchClientSync
    from algoliasearch.search.config import SearchConfig

    config = SearchConfig("app", "key")
    config.headers |= {"X-Service-Application-Id": "app", "X-Service-API-Key": "key"}
    config.hosts = HostsCollection([Host("127.0.0.1", scheme="http", port=port)])
    return SearchClientSync.create_with_config(config)


# Ratios to the official client.
WANTED = {"push": ">= 4", "browse": ">= 6", "memory": "<= 0.4"}
WAYS = {
    "push ours": push_ours,
    "push theirs": push_theirs,
    "browse ours": browse_ours,
    "browse theirs": browse_theirs,
}


def measure(way: str, port: int, rows: int) -> Trial:
    """Measure one way in a process of its own."""
    command = [sys.executable, __file__, "--way", way, "--port", str(port), "--rows", str(rows)]
    return read_trial(command)


@contextmanager
def replaying(rows: int) -> Iterator[int]:
    """Run the service that discards records and returns prepared pages; yield its port."""
    command = [sys.executable, __file__, "--serve", "--rows", str(rows)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout
        yield int(service.stdout.readline())
        service.terminate()


@contextmanager
def local(rows: int) -> Iterator[int]:
    """Run the local service with the records to browse; yield its port."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "svc_notebook.service", "--json", "--data", folder]
        command += ["--app-id", "app", "--admin-key", "key"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
            assert service.stdout
            port = int(json.loads(service.stdout.readline())["url"].rpartition(":")[2])
            # In a process of its own: the peak memory of this one is inherited by its children.
            fill = [sys.executable, __file__, "--fill", "--port", str(port), "--rows", str(rows)]
            subprocess.run(fill, check=True)
            yield port
            service.terminate()


def fill(port: int, rows: int) -> None:
    """Write the records to browse."""
    import pandas as pd

    from svc_notebook.data import loading

    client = load._client(port)
    for index, count in ((FEW, 10), (INDEX, rows)):
        frame = pd.DataFrame([make_record(n) for n in range(count)])
        asyncio.run(loading.push(client, frame, index))


def compare(service: str, port: int, sizes: dict[str, int], wanted: dict[str, str]) -> None:
    """Print and record the comparison with one service."""
    rounds = [{way: measure(way, port, size) for way, size in sizes.items()} for _ in range(TRIALS)]
    print_trials(rounds)
    for work in ("push", "browse"):
        bound, ways = wanted.get(work, ""), (f"{work} ours", f"{work} theirs")
        print_ratio(rounds, *ways, bound and f"wanted {bound}")
        name = f"{service}, {work} {sizes[ways[0]]:,} rows"
        record_rates(name, rounds, *ways, peer=load.OFFICIAL, wanted=bound)
    ours, theirs = ([one[way].peak for one in rounds] for way in ("browse ours", "browse theirs"))
    memory = statistics.median(mine / other for mine, other in zip(ours, theirs, strict=True))
    bound = wanted.get("memory", "")
    print(f"memory of browse ours / browse theirs: {memory:.2f}   {bound and f'wanted {bound}'}")
    record(
        f"{service}, browse {sizes['browse ours']:,} rows, peak memory",
        statistics.median(ours), "MB", peer=load.OFFICIAL, peer_value=statistics.median(theirs),
        ratio=memory, wanted=bound,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--fill", action="store_true")
    parser.add_argument("--way", choices=WAYS)
    parser.add_argument("--port", type=int)
    given = parser.parse_args()
    if given.serve:
        asyncio.run(serve(given.rows))
    elif given.fill:
        fill(given.port, given.rows)
    elif given.way:
        run_trial(WAYS[given.way](given.port, given.rows))
    else:
        rows = given.rows
        few = max(rows // 10, 1)
        sizes = {way: few if way == "push theirs" else rows for way in WAYS}
        print(f"{rows:,} rows, a service that discards and replays")
        with replaying(rows) as port:
            compare("replaying service", port, sizes, WANTED)
        print(f"\n{rows:,} rows to browse, {few:,} to push, the local service")
        with local(rows) as port:
            compare("local service", port, sizes | {"push ours": few}, {})


if __name__ == "__main__":
    main()

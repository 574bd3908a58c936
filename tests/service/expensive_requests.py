"""A client with one search-only key that sends the most expensive requests it can.

`python -m tests.service.expensive_requests` runs it as a process of its own, so that it does not
slow down the test that measures the service beside it.
"""

from __future__ import annotations

import json
import math
import random
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

CONNECTIONS = 6
Requests = Mapping[str, tuple[str, bytes]]


def make_requests() -> Requests:
    """Return requests by name: some at the limits of the service, the others far beyond."""
    zigzag = [n for k in range(5000) for n in (-60, -170 + k * 0.068, 60, -170 + k * 0.068)]
    one: dict[str, dict[str, Any]] = {
        "terms": {"filters": any_of(10_000)},
        "many terms": {"filters": any_of(20_000)},
        "very many terms": {"filters": any_of(100_000)},
        "exclusions": {"filters": " AND ".join(f"NOT sku:sku{n}" for n in range(10_000))},
        "comparisons": {"numericFilters": [[f"price<{n}" for n in range(-10_000, 0)]]},
        "scores": {"optionalFilters": [[f"sku:sku{n}<score={n}>" for n in range(1000)]]},
        "many scores": {"optionalFilters": [f"sku:sku{n}" for n in range(20_000)]},
        "polygons": {"insidePolygon": [make_ring(number) for number in range(200)]},
        "long edges": {"insidePolygon": [zigzag]},
        "names": {"attributesToRetrieve": [f"a{n}" for n in range(1000)], "hitsPerPage": 1000},
        "many names": {"attributesToRetrieve": [f"a{n}" for n in range(100_000)]},
    }
    found = {name: ("/1/indexes/p/query", pack(body)) for name, body in one.items()}
    words = make_words()
    searches = [
        {"indexName": "p", "query": f"{words[n]} {words[n + 1]}", "hitsPerPage": 100}
        for n in range(1000)
    ]
    found["searches"] = "/1/indexes/*/queries", pack({"requests": searches[:500]})
    found["many searches"] = "/1/indexes/*/queries", pack({"requests": searches})
    found["rules"] = "/1/indexes/ruled/query", pack({"query": words[0]})
    return found


def make_words() -> list[str]:
    """Return some thousand words, of which few are alike."""
    draw = random.Random(3)
    pairs = [one + other for one in "bcdfghklmnprstvz" for other in "aeiou"]
    return sorted({"".join(draw.choices(pairs, k=draw.choice([2, 3, 4]))) for _ in range(4000)})


def any_of(count: int) -> str:
    """Return a filter of so many terms."""
    return " OR ".join(f"sku:sku{n}" for n in range(count))


def make_ring(number: int) -> list[float]:
    """Return a polygon of a thousand points."""
    turns = [2 * math.pi * n / 1000 for n in range(1000)]
    return [
        round(x, 4)
        for turn in turns
        for x in (20 + 15 * math.sin(turn) + number / 100, 30 + 20 * math.cos(turn))
    ]


def pack(body: Any) -> bytes:
    """Write a body."""
    return json.dumps(body, separators=(",", ":")).encode()


def send(url: str, app_id: str, key: str, path: str, body: bytes) -> socket.socket:
    """Send a request and return its connection, on which nothing was read yet."""
    parts = urlsplit(url)
    plug = socket.create_connection((parts.hostname, parts.port or 80), timeout=20)
    lines = [
        f"POST {path} HTTP/1.1", "host: local", "connection: close", f"content-length: {len(body)}",
        f"X-Service-Application-Id: {app_id}", f"X-Service-API-Key: {key}", "", "",
    ]  # fmt: skip
    plug.sendall("\r\n".join(lines).encode() + body)
    return plug


def hear_status(plug: socket.socket) -> int:
    """Read an answer to its end and close the connection; returns the status."""
    with plug:
        heard = plug.recv(65536)
        while plug.recv(2**20):
            pass
    return int(heard.split()[1])


def main() -> None:
    """Send until time is over, then tell how often each request was answered with which status."""
    url, app_id, key, seconds = sys.argv[1:]
    requests, end = make_requests(), time.monotonic() + float(seconds)
    counts: Counter[str] = Counter()
    sys.stdout.write("ready\n")
    sys.stdout.flush()

    def work(number: int) -> None:
        draw = random.Random(number)
        while time.monotonic() < end:
            name = draw.choice(sorted(requests))
            try:
                with send(url, app_id, key, *requests[name]) as plug:
                    status = "abandoned" if draw.random() < 0.3 else str(hear_status(plug))
            except TimeoutError:
                status = "late"
            counts[f"{name}: {status}"] += 1

    threads = [threading.Thread(target=work, args=[number]) for number in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.stdout.write(json.dumps(counts) + "\n")


if __name__ == "__main__":
    main()

"""Simulate a month of a shop over HTTP, and compare every figure with that of pandas.

    python benchmarks/shop_month.py [--searches 300000] [--users 10000]

A service in this process takes the searches and events of 30 days of its clock over a socket. Then
each endpoint of analytics is compared with the figures of the simulation, as the tests do it with
fewer searches. Printed are the times, and the size of the data folder.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import uvicorn

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from svc_notebook.service import events  # noqa: E402
from svc_notebook.service.app import App  # noqa: E402
from svc_notebook.service.service import Service  # noqa: E402
from tests.conftest import Running  # noqa: E402
from tests.service.past import Clock  # noqa: E402
from tests.service.service_process import Outside  # noqa: E402
from tests.service.shop_month import (  # noqa: E402
    DAY_SECONDS,
    DAYS,
    Expected,
    ShopMonth,
    make_products,
)
from tests.service.test_analytics import compare_all, days  # noqa: E402

PROGRESS_SECONDS = 60
BOTH = "limit=1000&clickAnalytics=true&revenueAnalytics=true&"
PATHS = (
    "searches/count?", "users/count?", "clicks/clickThroughRate?", "searches?", f"searches?{BOTH}",
    "searches/noResults?", "searches/noClicks?", "hits?", f"hits?{BOTH}", "filters?",
)  # fmt: skip


@contextmanager
def serve(folder: Path) -> Iterator[Outside]:
    """Serve a data folder on a free port; the clock of its events can be moved."""
    service = Service(folder)
    service.start()
    app = App(service)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    facts = service.keyring.facts
    names = ("appId", "adminKey", "searchKey", "crawlerUserId", "crawlerApiKey")
    running = Running(url=f"http://127.0.0.1:{port}", pid=0, **{n: facts[n] for n in names})
    try:
        yield Outside(running)
    finally:
        server.should_exit = True
        thread.join()
        app.close()
        service.stop()


@contextmanager
def report_progress(month: ShopMonth) -> Iterator[None]:
    """Print the number of searches regularly, until the block ends."""
    ended = threading.Event()

    def report() -> None:
        while not ended.wait(PROGRESS_SECONDS):
            print(f"{len(month.searches):,} searches", flush=True)

    thread = threading.Thread(target=report)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def main() -> None:
    """Simulate, compare and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--searches", type=int, default=300_000)
    parser.add_argument("--users", type=int, default=10_000)
    given = parser.parse_args()
    clock = Clock()
    start = (time.time() // DAY_SECONDS - DAYS) * DAY_SECONDS
    with (
        tempfile.TemporaryDirectory() as name,
        patch.object(events, "time", clock),
        serve(Path(name)) as shop,
    ):
        shop.fill("shop", *make_products(random.Random(1)), attributesForFaceting=["brand"])
        month = ShopMonth(
            lambda verb, path, body: shop.call(verb, path, body).raise_for_status().json(),
            lambda moment: setattr(clock, "seconds", moment),
            start,
            given.users,
        )
        begun = time.perf_counter()
        with report_progress(month):
            month.run(given.searches)
        elapsed = time.perf_counter() - begun
        print(
            f"{len(month.searches):,} searches and {len(month.outcomes):,} outcomes of "
            f"{given.users:,} users: {elapsed:.0f} s, "
            f"{len(month.searches) / elapsed:,.0f} searches per second"
        )
        every = days(month)
        period = f"index=shop&startDate={every[0]}&endDate={every[-1]}"
        for path in PATHS:
            begun = time.perf_counter()
            shop.call("GET", f"/2/{path}{period}").raise_for_status()
            print(f"{path.rstrip('?&')}: {time.perf_counter() - begun:.2f} s")
        begun = time.perf_counter()
        compare_all(shop, Expected(month, every), startDate=every[0], endDate=every[-1])
        print(f"all figures equal those of pandas ({time.perf_counter() - begun:.0f} s)")
        size = sum(path.stat().st_size for path in Path(name).rglob("*") if path.is_file())
        print(
            f"data folder: {size / 2**20:.0f} MB, {size / len(month.searches):.0f} bytes a search"
        )


if __name__ == "__main__":
    main()

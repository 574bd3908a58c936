"""Ten million records in the local service: load, memory, disk, searches, browse and restart.

    python benchmarks/scale.py [MILLIONS] [--folder PATH]

10 million by default. A Parquet file of generated products is loaded by `svc load` into a new
service, then queries of several classes are sent one after the other, and the service is started
again. Resident memory also contains the pages of segment files, which the system can free; `own` is
the memory without them. About 15 GB of disk are needed. The folder of `--folder`
is kept, and the next run searches its data without a load.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from http.client import HTTPConnection
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import psutil  # type: ignore[import-untyped]  # it has no types of its own
import pyarrow as pa
from pyarrow import parquet

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from benchmarks.engine import SETTINGS, make_queries, make_vocabulary  # noqa: E402
from benchmarks.figures import (  # noqa: E402
    compute_percentiles,
    record,
    record_percentiles,
)
from svc_notebook.service.maintenance import MERGED_RECORDS_PER_QUIET_SECOND  # noqa: E402
from tests.conftest import Running, credentials, start_service, stop_service  # noqa: E402

AFTER_LOAD, AFTER_RESTART = "after the load", "after a restart"
INDEX, FILE = "products", "products.parquet"
MILLION, CHUNK_RECORDS, SAMPLE_RECORDS = 1_000_000, 100_000, 5_000
QUERIES, GB = 100, 1e9
SAMPLE_SECONDS, IDLE_SECONDS, STOP_SECONDS = 2.0, 20, 600
# The slowest million as a ratio to the first; resident memory of the service; and times.
WANTED_SLOWEST, WANTED_MEMORY_GB = ">= 0.33", "<= 9"
WANTED_RESTART_SECONDS, WANTED_P95_MS = "< 10", "< 150"
# Searches that take longer than the default of four seconds are measured, too.
OPTIONS = ("--search-timeout", "60")
Call = Callable[[str, str, object], Any]


def make_table(first: int, count: int) -> pa.Table:
    """Make product records like those of `engine.py` by NumPy, each chunk independent of others."""
    chance, words = np.random.default_rng(first), np.array(make_vocabulary(), dtype=object)

    def texts(exponent: float, low: int, high: int) -> list[str]:
        weights = list(accumulate(1 / place**exponent for place in range(1, len(words) + 1)))
        ends = np.cumsum(chance.integers(low, high + 1, count))
        drawn = words[np.searchsorted(weights, chance.random(ends[-1]) * weights[-1])].tolist()
        starts = [0, *ends[:-1].tolist()]
        return [" ".join(drawn[start:end]) for start, end in zip(starts, ends, strict=True)]

    def names(start: int, shape: float, most: int) -> list[str]:
        places = np.minimum((chance.pareto(shape, count) + 1).astype(int), most)
        return [words[start + place].title() for place in places.tolist()]

    return pa.table(
        {
            "objectID": [str(number) for number in range(first, first + count)],
            "title": texts(0.85, 3, 9),
            "description": texts(1.0, 15, 45),
            "brand": names(2000, 0.6, 500),
            "category": names(500, 0.5, 60),
            "price": np.round(chance.lognormal(3.5, 1, count), 2),
            "rating": np.round(chance.uniform(1, 5, count), 1),
            "popularity": ((chance.pareto(1.2, count) + 1) * 10).astype(np.int64),
        }
    )


def write_file(path: Path, records: int) -> None:
    """Write the Parquet file."""
    first = make_table(0, min(CHUNK_RECORDS, records))
    with parquet.ParquetWriter(path, first.schema) as writer:
        writer.write_table(first)
        for start in range(CHUNK_RECORDS, records, CHUNK_RECORDS):
            writer.write_table(make_table(start, min(CHUNK_RECORDS, records - start)))


def open_connection(running: Running) -> Call:
    """Return a function that sends a request on one connection and returns the decoded response."""
    connection = HTTPConnection(running.url.removeprefix("http://"))
    headers = {
        **credentials(running.appId, running.adminKey),
        "content-type": "application/json",
    }

    def call(verb: str, path: str, body: object = None) -> Any:
        content = b"" if body is None else json.dumps(body).encode()
        connection.request(verb, path, content, headers)
        response = connection.getresponse()
        text = response.read()
        assert response.status < 300, text
        return json.loads(text)

    return call


def measure_memory(process: psutil.Process) -> tuple[float, float]:
    """Return the resident memory of a process, and that without pages of files, in GB."""
    found = process.memory_info()
    return found.rss / GB, (found.rss - found.shared) / GB


def load_file(path: Path, running: Running, service: psutil.Process, records: int) -> None:
    """Load the file by `svc load`; print and record rates and memory for each million records."""
    start = "from svc_notebook.faces.cli import main; main()"
    command = [sys.executable, "-c", start, "load", str(path), INDEX, "--id", "objectID"]
    named = {"URL": running.url, "APP_ID": running.appId, "API_KEY": running.adminKey}
    environment = os.environ | {f"SVC_{name}": value for name, value in named.items()}
    call = open_connection(running)
    begun = time.perf_counter()
    loader = psutil.Popen(command, stdout=subprocess.DEVNULL, env=environment, cwd=ROOT)
    peaks, next_million, last, rates = [0.0] * 3, MILLION, 0.0, []
    print(f"{'records':>12} {'rows/s':>8} resident     own  loader  GB", flush=True)
    while loader.poll() is None:
        time.sleep(SAMPLE_SECONDS)
        found = [each["entries"] for each in call("GET", "/1/indexes", None)["items"]]
        try:
            sizes = [*measure_memory(service), loader.memory_info().rss / GB]
        except psutil.NoSuchProcess:
            break
        peaks = list(map(max, peaks, sizes))
        published, now = max(found, default=0), time.perf_counter()
        if published and not last:
            print(f"first records published after {now - begun:.0f} s", flush=True)
            last = now
        if published >= next_million:
            rates.append((published - next_million + MILLION) / (now - last))
            next_million, last = published + MILLION, now
            print(
                f"{published:12,} {rates[-1]:8,.0f} {' '.join(f'{size:7.2f}' for size in sizes)}",
                flush=True,
            )
    assert loader.wait() == 0, "the load failed"
    seconds = time.perf_counter() - begun
    report_load(records, seconds, rates, peaks)


def report_load(
    records: int, seconds: float, rates: Sequence[float], peaks: Sequence[float]
) -> None:
    """Print and record the rates of a load, and the peak memory of service and loader in GB."""
    print(f"whole load: {seconds:,.0f} s, {records / seconds:,.0f} rows/s")
    record(f"load of {records:,} rows", records / seconds, "rows/s")
    if rates:
        slowest = min(rates)
        print(f"slowest million / first: {slowest / rates[0]:.2f}   wanted {WANTED_SLOWEST}")
        record(
            "slowest million", slowest, "rows/s", peer="first million", peer_value=rates[0],
            wanted=WANTED_SLOWEST,
        )  # fmt: skip
    print(
        f"most memory: service {peaks[0]:.2f} GB resident, {peaks[1]:.2f} own; "
        f"loader {peaks[2]:.2f} GB   wanted {WANTED_MEMORY_GB}"
    )
    record("load, memory of the service", peaks[0], "GB", wanted=WANTED_MEMORY_GB)
    record("load, own memory of the service", peaks[1], "GB")
    record("load, memory of the loader", peaks[2], "GB")


def wait_merged(data: Path, service: psutil.Process, records: int) -> None:
    """Wait until the idle service has merged its segments; print and record time and memory."""
    begun, peaks = time.perf_counter(), [0.0, 0.0]
    time.sleep(records / MERGED_RECORDS_PER_QUIET_SECOND)
    worked = idle = 0.0
    while idle < IDLE_SECONDS:
        time.sleep(SAMPLE_SECONDS)
        peaks = list(map(max, peaks, measure_memory(service)))
        before, worked = worked, service.cpu_times().user
        idle = idle + SAMPLE_SECONDS if worked - before < SAMPLE_SECONDS / 10 else 0.0
    seconds, count = time.perf_counter() - begun - idle, len([*data.rglob("*.segment")])
    most = f"{peaks[0]:.2f} GB resident, {peaks[1]:.2f} own"
    print(f"{count} segments after {seconds:.0f} s, at most {most}", flush=True)
    record("merge of segments", seconds, "s")
    record("merge of segments, memory of the service", peaks[0], "GB")
    record("merge of segments, own memory of the service", peaks[1], "GB")


def measure_queries(call: Call, table: pa.Table, when: str) -> None:
    """Print and record the median and 95th percentile of each class of queries."""
    queries = make_queries(table.to_pylist(), QUERIES)
    wanted = f"wanted p95 {WANTED_P95_MS}"
    print(f"{'milliseconds over HTTP':36} {'first':>8} {'p50':>8} {'p95':>8}   {wanted}")
    for name, some in queries.items():
        times = []
        for query in some:
            begun = time.perf_counter()
            call("POST", f"/1/indexes/{INDEX}/query", query)
            times.append((time.perf_counter() - begun) * 1000)
        p50, p95 = percentiles = compute_percentiles(times)
        print(f"  {name:34} {times[0]:8.1f} {p50:8.1f} {p95:8.1f}", flush=True)
        record_percentiles(f"{when}, {name}", percentiles, wanted_p95=WANTED_P95_MS)


def browse(call: Call, when: str, records: int = 100_000) -> None:
    """Print and record the time of the first page of a browse, and the records per second after."""
    begun = time.perf_counter()
    response = call("POST", f"/1/indexes/{INDEX}/browse", {"hitsPerPage": 1000})
    first, count = time.perf_counter(), 0
    while count < records and "cursor" in response:
        response = call("POST", f"/1/indexes/{INDEX}/browse", {"cursor": response["cursor"]})
        count += len(response["hits"])
    rate = count / (time.perf_counter() - first)
    print(f"browse: first page after {first - begun:.1f} s, then {rate:,.0f} records/s", flush=True)
    record(f"{when}, first page of a browse", first - begun, "s")
    record(f"{when}, browse", rate, "records/s")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("millions", nargs="?", type=float, default=10)
    options.add_argument(
        "--folder", type=Path, help="folder of the data; a temporary one if omitted"
    )
    given = options.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp())
    try:
        data = folder / "data"
        if not data.exists():
            measure_load(folder, int(given.millions * MILLION))
        measure_restart(folder)
    finally:
        if not given.folder:
            shutil.rmtree(folder)


def measure_load(folder: Path, records: int) -> None:
    path, data = folder / FILE, folder / "data"
    begun = time.perf_counter()
    folder.mkdir(exist_ok=True)
    write_file(path, records)
    print(f"{records:,} records, a file of {path.stat().st_size / GB:.2f} GB", flush=True)
    print(f"written in {time.perf_counter() - begun:.0f} s", flush=True)
    process, running = start_service(data, *OPTIONS)
    try:
        service = psutil.Process(process.pid)
        open_connection(running)("PUT", f"/1/indexes/{INDEX}/settings", SETTINGS)
        load_file(path, running, service, records)
        disk = sum(sizes(data)) / GB
        print(f"disk: {disk:.2f} GB", flush=True)
        record("load, disk", disk, "GB")
        wait_merged(data, service, records)
        measure_queries(open_connection(running), read_sample(path), AFTER_LOAD)
        browse(open_connection(running), AFTER_LOAD)
        print("after searches: {:.2f} GB resident, {:.2f} own".format(*measure_memory(service)))
    finally:
        begun = time.perf_counter()
        stop_service(process, STOP_SECONDS)
    print(f"stopped in {time.perf_counter() - begun:.1f} s", flush=True)


def read_sample(path: Path) -> pa.Table:
    return parquet.ParquetFile(path).read_row_group(0).slice(0, SAMPLE_RECORDS)


def measure_restart(folder: Path) -> None:
    sample, data = read_sample(folder / FILE), folder / "data"
    begun = time.perf_counter()
    process, running = start_service(data, *OPTIONS)
    try:
        call = open_connection(running)
        found = call("POST", f"/1/indexes/{INDEX}/query", {"query": sample["title"][0].as_py()})
        seconds = time.perf_counter() - begun
        wanted, hits = f"wanted {WANTED_RESTART_SECONDS}", f"{found['nbHits']:,} hits"
        print(f"start to the first response: {seconds:.1f} s   {wanted}   {hits}")
        record("start to the first response", seconds, "s", wanted=WANTED_RESTART_SECONDS)
        service = psutil.Process(process.pid)
        print("then: {:.2f} GB resident, {:.2f} own".format(*measure_memory(service)))
        measure_queries(call, sample, AFTER_RESTART)
        browse(call, AFTER_RESTART)
        print("after searches: {:.2f} GB resident, {:.2f} own".format(*measure_memory(service)))
    finally:
        stop_service(process, STOP_SECONDS)


def sizes(folder: Path) -> Iterator[int]:
    """Yield the sizes of all files of a folder, in bytes."""
    return (file.stat().st_size for file in folder.rglob("*") if file.is_file())


if __name__ == "__main__":
    main()

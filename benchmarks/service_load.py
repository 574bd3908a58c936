"""Load a Parquet file into the local service, beside its engine alone on the same records.

    python benchmarks/service_load.py [--rows 60000]

The rows per second are those of a whole load: sent, stored on the disk, indexed and published. The
processor times of the loader and of the service show which of them is the limit. The engine alone
indexes the same records as Python dicts, in portions of the same size as the service.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]  # it has no types of its own

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
import svc_notebook as svc  # noqa: E402
from benchmarks import frames  # noqa: E402
from benchmarks.figures import record  # noqa: E402
from svc_notebook.service.engine.index.schema import Schema  # noqa: E402
from svc_notebook.service.engine.index.segment import Segment  # noqa: E402
from tests.conftest import start_service, stop_service  # noqa: E402

TRIALS = 3
WANTED = ">= 25,000"  # rows per second
PORTION_RECORDS = 12_000


def load_file(path: Path, rows: int) -> tuple[float, float, float]:
    """Load a file into a new service; return the seconds by the clock, of service and loader."""
    with tempfile.TemporaryDirectory() as folder:
        process, running = start_service(Path(folder))
        try:
            svc.connect(url=running.url, app_id=running.appId, api_key=running.adminKey)
            svc.push([{"objectID": "1"}], "warm", progress=False)
            both = [psutil.Process(process.pid), psutil.Process()]
            before = [sum(one.cpu_times()[:2]) for one in both]
            clock = time.perf_counter()
            assert svc.load(path, "loaded", id="objectID", progress=False).published == rows
            seconds = time.perf_counter() - clock
            used = [sum(one.cpu_times()[:2]) for one in both]
            return seconds, used[0] - before[0], used[1] - before[1]
        finally:
            stop_service(process)


def index_alone(records: Sequence[dict[str, Any]]) -> float:
    """Index records without a service; return the seconds of the processor."""
    begun = time.process_time()
    for start in range(0, len(records), PORTION_RECORDS):
        Segment.of(records[start : start + PORTION_RECORDS], Schema())
    return time.process_time() - begun


def main() -> None:
    import pandas as pd

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, default=60_000)
    rows = parser.parse_args().rows
    records = [frames.make_record(n) for n in range(rows)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.parquet"
        pd.DataFrame(records).to_parquet(path)
        rounds = [(*load_file(path, rows), index_alone(records)) for _ in range(TRIALS)]
    clock, service, loader, engine = map(statistics.median, zip(*rounds, strict=True))
    print(f"{rows:,} rows, median of {TRIALS}")
    print(f"load into the service  {rows / clock:10,.0f} rows/s   wanted {WANTED}")
    print(f"  processor of service {rows / service:10,.0f} rows/s")
    print(f"  processor of loader  {rows / loader:10,.0f} rows/s")
    print(f"engine alone           {rows / engine:10,.0f} rows/s of its processor time")
    record(f"load of {rows:,} rows", rows / clock, "rows/s", wanted=WANTED)
    record("processor time of the service", rows / service, "rows/s")
    record("processor time of the loader", rows / loader, "rows/s")
    record("processor time of the engine alone", rows / engine, "rows/s")


if __name__ == "__main__":
    main()

"""A process that loads Parquet files with the workers of a cluster, and may kill itself."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import pandas as pd
from distributed import Client as Cluster

from svc_notebook.data import loading
from svc_notebook.data.client import Client, ClientConfig, Secret, background_loop


def computed(part: pd.DataFrame, log: str) -> pd.DataFrame:
    """Write down which partition is computed."""
    if len(part):
        with Path(log).open("a") as file:
            file.write(f"{part['sku'].iloc[0]}\n")
    return part


def main() -> None:
    """Load; after `kill_after` partitions this process is killed."""
    given: dict[str, Any] = json.loads(sys.argv[1])
    key = Secret(given["key"])

    def tell(rows: int, _: int) -> None:
        if rows >= given["kill_after"] * given["part_rows"] > 0:
            os.kill(os.getpid(), signal.SIGKILL)

    with (
        Cluster(given["scheduler"]),
        Client(ClientConfig(url=given["url"], app_id=given["app"], api_key=key)) as client,
    ):
        frame = dd.read_parquet(given["files"])
        parts = frame.map_partitions(computed, given["log"], meta=frame._meta)
        work = loading.load(
            client.aio, parts, given["index"], in_flight=1, on_progress=tell, **given["options"]
        )
        result = background_loop.run(work)
    found = [result.sent, result.resumed, result.published, result.rejected_rows]
    print(json.dumps([*found, len(result.rejected), result.complete]))  # noqa: T201


if __name__ == "__main__":
    main()

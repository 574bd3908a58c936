"""Loads from S3, from a table of Iceberg and from datasets of Hugging Face; writes what came.

`python -m tests.data.loading.stores FOLDER URL APP_ID KEY`, in a process of its own: the S3 store
runs inside of it, and needs other releases of packages than the rest of the tests.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3  # type: ignore[import-not-found]  # of the process's own releases, as all below
import datasets  # type: ignore[import-not-found]
import pandas as pd
import pyarrow as pa
from moto.server import ThreadedMotoServer  # type: ignore[import-not-found]
from pyiceberg.catalog.sql import SqlCatalog  # type: ignore[import-not-found]

import svc_notebook as svc
from svc_notebook.errors import SvcError

ROWS = [{"id": "a", "name": "Lamp", "n": 1}, {"id": "b", "name": "Desk", "n": 2}]
BUCKET = "shop"
ACCESS = {
    "AWS_ACCESS_KEY_ID": "canary-access", "AWS_SECRET_ACCESS_KEY": "canary-secret",
    "AWS_DEFAULT_REGION": "us-east-1",
}  # fmt: skip


def load_from_s3(_: Path) -> dict[str, Any]:
    """Load a file, a pattern, a folder of Parquet and a file that is not there."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    os.environ |= {**ACCESS, "AWS_ENDPOINT_URL": f"http://{host}:{port}"}
    store = boto3.client("s3")
    store.create_bucket(Bucket=BUCKET)
    for number, row in enumerate(ROWS):
        text = pd.DataFrame([row]).to_csv(index=False)
        store.put_object(Bucket=BUCKET, Key=f"csv/{number}.csv", Body=text.encode())
        part = pd.DataFrame([row]).to_parquet()
        store.put_object(Bucket=BUCKET, Key=f"parquet/{number}.parquet", Body=part)
    sources = {
        "file": f"s3://{BUCKET}/csv/0.csv", "pattern": f"s3://{BUCKET}/csv/*.csv",
        "folder": f"s3://{BUCKET}/parquet/", "missing": f"s3://{BUCKET}/csv/9.csv",
    }  # fmt: skip
    loaded = {name: read_back(source) for name, source in sources.items()}
    server.stop()
    return loaded


def load_from_iceberg(folder: Path) -> dict[str, Any]:
    """Load a table of which a row was deleted, as its current Arrow table and as the table."""
    catalog = SqlCatalog(
        "local", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}"
    )
    catalog.create_namespace("shop")
    content = pa.Table.from_pylist([*ROWS, {"id": "z", "name": "Gone", "n": 9}])
    table = catalog.create_table("shop.products", schema=content.schema)
    table.append(content)
    table.delete("id = 'z'")
    return {"scan": read_back(table.scan().to_arrow()), "table": read_back(table)}


def load_from_datasets(_: Path) -> dict[str, Any]:
    """Load a dataset, a dataset that streams, and a dict of splits."""
    dataset = datasets.Dataset.from_list(ROWS)
    return {
        "dataset": read_back(dataset), "streaming": read_back(dataset.to_iterable_dataset()),
        "splits": read_back(datasets.DatasetDict({"train": dataset})),
    }  # fmt: skip


def read_back(source: Any) -> Any:
    """Load a source in place of the previous one; return the records, or the error."""
    try:
        svc.load(source, "stored", id="id", if_exists="replace", min_share=0)
    except SvcError as error:
        return f"{type(error).__name__}: {error}"
    frame = svc.read_browse("stored").drop(columns="objectID")
    return sorted(frame.to_dict("records"), key=lambda row: row["id"])


KINDS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "s3": load_from_s3, "iceberg": load_from_iceberg, "datasets": load_from_datasets,
}  # fmt: skip


def main(folder: str, url: str, app_id: str, key: str) -> None:
    """Write what each kind of store gave."""
    svc.connect(url=url, app_id=app_id, api_key=key)
    sys.stdout.write(json.dumps({name: load(Path(folder)) for name, load in KINDS.items()}))


if __name__ == "__main__":
    main(*sys.argv[1:])

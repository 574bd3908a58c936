"""The history of index sizes and pending tasks: measurements of this machine, one line each."""

from __future__ import annotations

import hashlib
from datetime import datetime
from pathlib import Path

import msgspec
from pandas import DataFrame, to_datetime

from svc_notebook.core.files import add_checksum, user_state_folder, verify_checksum
from svc_notebook.data.client import AsyncClient
from svc_notebook.data.frames import TIME
from svc_notebook.errors import BadInput

SIZES = {"at": TIME, "index": "str", "entries": "int64", "dataSize": "int64", "pending": "int64"}
MAX_MEASUREMENTS = 1000


def keep_sizes(client: AsyncClient, at: datetime, indices: DataFrame) -> None:
    """Append a measurement of the indices of an application; the oldest ones are dropped.

    Raises `BadInput` if the file cannot be written.
    """
    rows = [[name, int(entries), int(size), int(pending)]
            for name, entries, size, pending in zip(
                indices["index"], indices["entries"], indices["dataSize"], indices["pending"],
                strict=True)]  # fmt: skip
    path = _path(client)
    line = add_checksum(msgspec.json.encode([at.timestamp(), rows]))
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(line)
        lines = path.read_bytes().splitlines(keepends=True)
        if len(lines) > 2 * MAX_MEASUREMENTS:
            path.write_bytes(b"".join(lines[-MAX_MEASUREMENTS:]))
    except OSError as error:
        raise BadInput(f"the history {path} cannot be written: {error.strerror}") from None


def read_sizes(client: AsyncClient) -> DataFrame:
    """Read the measurements of an application, the oldest first; damaged lines are left out."""
    try:
        lines = _path(client).read_bytes().splitlines()
    except FileNotFoundError:
        lines = []
    except OSError as error:
        raise BadInput(f"the history {_path(client)} cannot be read: {error.strerror}") from None
    whole = [json for json in map(verify_checksum, lines[-MAX_MEASUREMENTS:]) if json]
    rows = [(at, *row) for at, measured in map(msgspec.json.decode, whole) for row in measured]
    frame = DataFrame(rows, columns=list(SIZES))
    frame["at"] = to_datetime(frame["at"], unit="s", utc=True)
    return frame.astype(SIZES)


def _path(client: AsyncClient) -> Path:
    digest = hashlib.sha256("\0".join(client.connection.place).encode()).hexdigest()[:16]
    return user_state_folder("sizes") / f"{digest}.jsonl"

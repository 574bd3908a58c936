"""What tests of loads share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from svc_notebook.data.client import Client, ClientConfig, Secret
from svc_notebook.data.loading.sources import csv_file, python_records
from tests.conftest import Running


@pytest.fixture
def client(service: Running) -> Iterator[Client]:
    """A client of the service that all tests share."""
    key = Secret(service.adminKey)
    with Client(ClientConfig(url=service.url, app_id=service.appId, api_key=key)) as client:
        yield client


@contextmanager
def buffer_of(rows: int) -> Iterator[None]:
    """Write a stream of records to a file whenever so many of them are in memory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(python_records, "MAX_BUFFERED_ROWS", rows)
        yield


@pytest.fixture
def short_pieces() -> Iterator[None]:
    """Streams of records have at most two of them in memory."""
    with buffer_of(2):
        yield


@pytest.fixture
def small_csv_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """A CSV file of 1 MB is read in a dozen pieces: one thread reads 100 kB at once."""
    for name, size in (("USUAL_RECORD_BYTES", 4_000), ("SCAN_BUFFER_BYTES", 100_000)):
        monkeypatch.setattr(csv_file, name, size)

"""Open files as sources: uploads, members of archives, texts and bytes in memory."""

from __future__ import annotations

import gzip
import io
import os
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.data import loading
from svc_notebook.data.client import Client, background_loop
from svc_notebook.errors import BadInput
from tests.data.loading.encoded_records import pack

CSV = "id,n\n1,ä\n2,b\n"
FRAME = pd.DataFrame({"id": [1, 2], "n": ["ä", "b"]})
RECORDS = [{"objectID": "1", "id": 1, "n": "ä"}, {"objectID": "2", "id": 2, "n": "b"}]


def written(write: Callable[[io.BytesIO], Any]) -> io.BytesIO:
    """Return what a function writes, at its beginning."""
    file = io.BytesIO()
    write(file)
    file.seek(0)
    return file


def member(file: io.BytesIO) -> Any:
    """Return the open member of an archive of one file."""
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("months/jan.csv", CSV)
    return zipfile.ZipFile(file).open("months/jan.csv")


def temporary(_: Path) -> Any:
    file = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  # the test closes it
    file.write(CSV)
    file.seek(0)
    return file


OPENED: dict[str, Callable[[Path], Any]] = {
    "text": lambda path: path.open(encoding="utf-8"),
    "bytes": lambda path: path.open("rb"),
    "text in memory": lambda _: io.StringIO(CSV),
    "bytes in memory": lambda _: io.BytesIO(CSV.encode()),
    "compressed": lambda _: io.BytesIO(gzip.compress(CSV.encode())),
    "decompressed": lambda _: gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(CSV.encode()))),
    "UTF-16": lambda _: io.BytesIO(CSV.encode("utf-16")),
    "a member": lambda _: member(io.BytesIO()),
    "a workbook": lambda _: written(lambda file: FRAME.to_excel(file, index=False)),
    "Parquet": lambda _: written(lambda file: FRAME.to_parquet(file, index=False)),
    "temporary": temporary,
}


@pytest.mark.parametrize("kind", OPENED)
def test_an_open_file_is_loaded_after_its_plan(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "jan.csv"
    path.write_text(CSV, encoding="utf-8")

    with OPENED[kind](path) as file:
        plan = svc.plan(file, "films", id="id")
        records = pack(file, id="id").records

    assert records == RECORDS == [*plan.sample]
    assert plan.source.startswith(("jan.csv", "the open file"))


def test_an_open_file_is_read_from_its_position(tmp_path: Path) -> None:
    file = io.StringIO(f"a remark\n{CSV}")
    file.readline()

    assert pack(file, id="id").records == RECORDS
    assert file.read() == CSV


def test_a_file_that_can_be_read_once_is_loaded_and_not_planned(client: Client) -> None:
    readable, writable = os.pipe()
    with os.fdopen(writable, "w", encoding="utf-8") as sink:
        sink.write(CSV)
    with os.fdopen(readable, encoding="utf-8") as file:
        with pytest.raises(BadInput, match="a plan would consume the open file"):
            svc.plan(file, "files")
        for options in ({"accept": "plan"}, {"dry_run": True}):
            with pytest.raises(BadInput, match="a plan would consume the open file"):
                background_loop.run(loading.load(client.aio, file, "files", **options))

        result = background_loop.run(loading.load(client.aio, file, "files", id="id"))

    assert result.published == 2


def test_a_closed_file_is_refused() -> None:
    file = io.StringIO(CSV)
    file.close()

    with pytest.raises(BadInput, match="the open file cannot be read: I/O operation on closed"):
        pack(file)


@pytest.mark.parametrize("content", [CSV, '[{"id": 1}]', ' {"id": 1}', '{"id": 1}\n{"id": 2}'])
def test_the_content_of_a_file_is_no_path(content: str) -> None:
    with pytest.raises(BadInput, match=r"pass io\.StringIO\(text\)"):
        pack(content)
    with pytest.raises(BadInput, match=r"io\.BytesIO\(data\)"):
        pack(content.encode())

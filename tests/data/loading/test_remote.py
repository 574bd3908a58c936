from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from bokeh_sampledata.penguins import data as penguins

import svc_notebook as svc
from svc_notebook.data.client import Client
from svc_notebook.data.loading import plan
from svc_notebook.errors import BadInput
from tests.data.loading.encoded_records import values


@pytest.fixture
def store() -> Iterator[Any]:
    """A store in memory, which fsspec opens as it opens those of clouds."""
    files = fsspec.filesystem("memory")
    half = len(penguins) // 2
    files.pipe("/shop/1.csv", penguins[:half].to_csv(index=False).encode())
    files.pipe("/shop/2.csv", penguins[half:].to_csv(index=False).encode())
    buffer = io.BytesIO()
    penguins.to_parquet(buffer)
    files.pipe("/folder/part.parquet", buffer.getvalue())
    yield files
    files.store.clear()


@pytest.mark.slow
@pytest.mark.usefixtures("store")
def test_files_of_a_store_are_loaded_in_the_order_of_their_names(tmp_path: Path) -> None:
    penguins.to_csv(tmp_path / "all.csv", index=False)

    assert values("memory://shop/*.csv") == values(str(tmp_path / "all.csv"))
    assert values("memory://folder") == values(penguins)


@pytest.mark.usefixtures("store")
def test_files_of_a_store_are_published(client: Client) -> None:
    result = svc.load("memory://shop/*.csv", "penguins", client=client, if_exists="replace")

    assert result.published == len(penguins)


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("memory://shop/3.csv", "there is no file memory://shop/3.csv"),
        ("memory://shop", "is a folder; pass a pattern of its files"),
        ("nowhere://shop/1.csv", "Protocol not known: nowhere"),
        ("s3://shop/1.csv", "pip install s3fs"),
    ],
)
def test_what_cannot_be_opened_is_explained(
    url: str, reason: str, without_package: Callable[..., None]
) -> None:
    without_package("s3fs")

    with pytest.raises(BadInput, match=reason):
        plan(url, "films")


@pytest.mark.parametrize("suffix", ["zip", "tar", "tar.gz"])
def test_an_archive_is_refused_with_advice(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"films.{suffix}"
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("id\n1\n")
    if suffix == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.write(tmp_path / "a.csv", "a.csv")
            archive.write(tmp_path / "b.csv", "b.csv")
    else:
        with tarfile.open(path, "w:gz" if suffix.endswith("gz") else "w") as archive:
            archive.add(tmp_path / "a.csv", "a.csv")
            archive.add(tmp_path / "b.csv", "b.csv")

    with pytest.raises(BadInput, match=r"is an archive of 2 files \(a.csv, b.csv\); extract it"):
        plan(str(path), "films")

"""Functions that are not awaited raise a single error with a short traceback."""

from __future__ import annotations

import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.data.client import Client, ClientConfig, Secret
from svc_notebook.errors import BadInput, SvcError, unchained
from tests.conftest import ROOT, Running

# Frames of a traceback: the caller's own, and those of this package below it.
MAX_FRAMES = 5
FRAME = pd.DataFrame({"id": ["1"], "n": [1]})

Failure = Callable[[Client, Path], Any]
FAILURES: dict[str, Failure] = {
    "load": lambda client, folder: svc.load(folder / "nope.csv", "x", client=client),
    "plan": lambda client, folder: svc.plan(folder / "nope.csv", "x"),
    "plan of SQL": lambda client, folder: svc.plan("SELECT nothing FROM nowhere", "x"),
    "broken file": lambda client, folder: svc.load(broken(folder), "x", client=client),
    "push": lambda client, folder: svc.push(FRAME, "x", timezone="Mars", client=client),
    "replace": lambda client, folder: svc.replace_records("x", folder / "no.csv", client=client),
    "export": lambda client, folder: svc.export("x", folder / "no" / "x.csv", client=client),
    "search": lambda client, folder: svc.search("no-such-index", client=client),
    "unreachable": lambda client, folder: svc.search("x", client=nowhere()),
    "load elsewhere": lambda client, folder: svc.load(FRAME, "x", client=nowhere()),
    "several": lambda client, folder: svc.search_many("no-such-index", ["a"], client=client),
    "browse": lambda client, folder: svc.read_browse("no-such-index", client=client),
    "documents": lambda client, folder: svc.save_synonyms("x", folder / "no.json", client=client),
    "tuning": lambda client, folder: svc.tuning.check_judgments(folder / "no.csv"),
    "snapshot": lambda client, folder: svc.tuning.read_snapshot(folder / "no.zip"),
    "table": lambda client, folder: svc.tuning.write_table(FRAME, folder / "no" / "x.csv"),
    "client": lambda client, folder: client.get_settings("no-such-index"),
    "profile": lambda client, folder: svc.connect("no-such-profile"),
    "accessor": lambda client, folder: FRAME.svc.push("x", timezone="Mars", client=client),
}  # fmt: skip


@pytest.fixture
def client(service: Running) -> Client:
    key = Secret(service.adminKey)
    return Client(ClientConfig(url=service.url, app_id=service.appId, api_key=key))


def nowhere() -> Client:
    return Client(ClientConfig(url="http://127.0.0.1:9", app_id="A", api_key=Secret("k")))


def broken(folder: Path) -> Path:
    (folder / "broken.parquet").write_bytes(b"PAR1 and nothing more")
    return folder / "broken.parquet"


@pytest.mark.parametrize("name", FAILURES)
def test_an_error_comes_alone_and_short(client: Client, tmp_path: Path, name: str) -> None:
    with pytest.raises(SvcError) as caught:
        FAILURES[name](client, tmp_path)

    error = caught.value
    assert (error.__cause__, error.__context__) == (None, None)
    ours = [f for f in traceback.extract_tb(error.__traceback__) if "tests" not in f.filename]
    assert len(ours) <= MAX_FRAMES


def test_what_a_library_raised_can_be_looked_at() -> None:
    with pytest.raises(BadInput) as caught:
        svc.plan("SELECT nothing FROM nowhere", "x")

    assert isinstance(caught.value.original, duckdb.Error)


def test_an_error_that_the_caller_handles_still_shows() -> None:
    def handle() -> None:
        try:
            raise LookupError("mine")
        except LookupError:
            svc.plan("nope.csv", "x")

    with pytest.raises(BadInput) as caught:
        handle()

    assert isinstance(caught.value.__context__, LookupError)
    assert not caught.value.__suppress_context__


def test_other_errors_keep_all_they_have() -> None:
    @unchained
    def fail() -> None:
        try:
            raise LookupError
        except LookupError as error:
            raise ValueError("ours is not this") from error

    with pytest.raises(ValueError, match="ours is not this") as caught:
        fail()

    assert isinstance(caught.value.__cause__, LookupError)


@pytest.mark.slow
def test_python_prints_a_missing_file_in_a_few_lines(tmp_path: Path) -> None:
    (tmp_path / "products.csv").write_text("sku\n1\n")
    code = "import svc_notebook as svc\nsvc.plan('product.csv', 'x')"

    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False,
        timeout=60, env={"PYTHONPATH": str(ROOT)},
    )  # fmt: skip

    lines = ran.stderr.splitlines()
    assert lines[-1].endswith("product.csv; did you mean `products.csv`?")
    assert ran.stderr.count("Traceback") == 1
    assert len(lines) <= 2 + 2 * MAX_FRAMES


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=f"there is no folder {tmp_path / 'no'}"):
        svc.plan(tmp_path / "no" / "products.csv", "x")

"""Exact numbers, messages and progress bars under unusual input."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from svc_notebook.data import loading
from svc_notebook.data.client import Client, ClientConfig, Secret, background_loop
from svc_notebook.data.frames.columns import Columns
from svc_notebook.errors import SvcError
from tests.conftest import ROOT, Running


@pytest.fixture
def client(service: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    key = Secret(service.adminKey)
    with Client(ClientConfig(url=service.url, app_id=service.appId, api_key=key)) as client:
        yield client


def test_a_large_number_is_read_exactly_though_another_record_lacks_it() -> None:
    columns = Columns()

    columns.add([{"n": 2**53 + 1}, {}])

    assert int(columns.frame()["n"][0]) == 2**53 + 1


def test_a_notebook_is_told_what_a_load_that_failed_had_sent() -> None:
    error = SvcError("the service is gone")
    error.add_note("23 of 60 rows were sent to films")

    shown = "\n".join(error._render_traceback_())

    assert "23 of 60 rows" in shown


@pytest.mark.slow
def test_no_bar_is_drawn_but_ours() -> None:
    code = (
        "from svc_notebook.data.loading.database import Database\n"
        "with Database() as db: print(db.rows(\"SELECT current_setting('enable_progress_bar')\"))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )

    assert done.stdout.strip() == "[(False,)]"


@pytest.mark.parametrize("index", [5, None], ids=["a number", "nothing"])
def test_an_index_that_is_no_text_is_an_error_of_ours(client: Client, index: object) -> None:
    frame = pd.DataFrame({"id": [1]})

    with pytest.raises(SvcError):
        background_loop.run(loading.load(client.aio, frame, index))  # type: ignore[arg-type]

"""Resumed loads, after changes of the source, the index or the checkpoint."""

from __future__ import annotations

import http.server
import json
import os
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from svc_notebook.data import loading
from svc_notebook.data.client import Client, ClientConfig, Secret, background_loop
from svc_notebook.data.client.retry import RetryPolicy
from svc_notebook.data.loading.sending.checkpoint import Checkpoint
from svc_notebook.errors import BadInput, CallFailed, Unreachable
from tests.conftest import Running
from tests.data.loading.csv_oracle import expect
from tests.hostile import network
from tests.hostile.network import Fault, Proxy, Request, running

ROWS = 3000
STEADY = RetryPolicy()


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, short_backoff: None) -> Path:
    folder = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return folder


@pytest.fixture
def client(service: Running) -> Iterator[Client]:
    with client_at(service.url, service) as client:
        yield client


@pytest.fixture
def index() -> str:
    return f"resume-{uuid4().hex[:8]}"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return table(tmp_path / "films.csv", ROWS)


def table(path: Path, rows: int, word: str = "film") -> Path:
    path.write_text("id,title\n" + "".join(f"{n:05d},{word} {n}\n" for n in range(rows)))
    return path


def client_at(url: str, service: Running, retry_policy: RetryPolicy = STEADY) -> Client:
    key = Secret(service.adminKey)
    return Client(
        ClientConfig(url=url, app_id=service.appId, api_key=key, retry_policy=retry_policy)
    )


def load(client: Client, *args: Any, **options: Any) -> loading.LoadResult:
    return background_loop.run(
        loading.load(client.aio, *args, **{"batch": 100, "id": "id", **options})
    )


def titles(client: Client, index: str) -> dict[str, str]:
    pages = client.browse_pages(index)
    return {hit["objectID"]: hit["title"] for page in pages for hit in page["hits"]}


def names(client: Client, index: str) -> list[str]:
    """The index and all that was made on its behalf."""
    every = [entry["name"] for entry in client.list_indices()["items"]]
    return [name for name in every if name.startswith(index)]


def break_off(
    service: Running, batches: int, *args: Any, gone: bool = True, **options: Any
) -> None:
    """Load through a network that after so many batches takes no more, or is `gone`."""
    seen = 0

    def choose(proxy: Proxy, request: Request) -> Fault:
        nonlocal seen
        seen += request.path.endswith("/batch")
        refused = seen > batches and (gone or request.path.endswith("/batch"))
        return network.drop if refused else network.pass_on

    with (
        running(Proxy(service.url, choose)) as proxy,
        client_at(proxy.url, service, RetryPolicy(attempts=1)) as client,
        pytest.raises((Unreachable, CallFailed)),
    ):
        load(client, *args, in_flight=1, **options)


@pytest.mark.parametrize("choice", ["append", "replace", "merge"])
def test_a_load_goes_on_where_it_was(
    service: Running, client: Client, index: str, path: Path, choice: str
) -> None:
    load(client, table(path.with_name("old.csv"), 50, "old"), index)
    break_off(service, 7, path, index, if_exists=choice)

    result = load(client, path, index, if_exists=choice, resume=True)

    assert result.resumed == 700
    assert titles(client, index) == {f"{n:05d}": f"film {n}" for n in range(ROWS)}
    assert names(client, index) == [index]


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_load_with_rows_of_every_trouble_goes_on_where_it_was(
    service: Running, client: Client, index: str, tmp_path: Path
) -> None:
    """Missing words, equal ids, bad values, short and long rows: in a file of 6 MB."""
    path = tmp_path / "products.csv"
    lines = [
        f"p{n - (n % 400 == 399)},film {n},{'NA' if n % 7 == 0 else n % 5},{'x' * 300}"
        for n in range(18_000)
    ]
    lines[5000], lines[9000] = "p5000,film 5000,bad,x", "p9000,film 9000"
    lines[12_000] = "p12000,film 12000,1,x,"
    path.write_text("id,title,rating,text\n" + "\n".join(lines) + "\n")
    expected = expect(path, key="id", dtype={"rating": "integer"})
    options: dict[str, Any] = {"dtype": {"rating": "integer"}, "batch": 2000}
    break_off(service, 4, path, index, **options)

    result = load(client, path, index, resume=True, **options)

    pages = client.browse_pages(index)
    found = {hit["objectID"]: hit for page in pages for hit in page["hits"]}
    assert result.resumed > 7000
    assert set(result.rejected["row"]) == expected.rejected
    assert found == {record["objectID"]: record for record in expected.records}


def test_an_index_that_was_deleted_meanwhile_gets_all_rows_again(
    service: Running, client: Client, index: str, path: Path
) -> None:
    break_off(service, 7, path, index)
    client.wait(dict(client.delete_index(index)), index=index)

    result = load(client, path, index, resume=True)

    assert result.resumed == 0
    assert len(titles(client, index)) == ROWS
    assert "all rows were sent" in result.plan.notes[-1]


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("choice", ["append", "replace", "merge"])
@pytest.mark.parametrize("ids", [range(1000), range(90_000, 91_000)], ids=["same", "other"])
def test_an_index_that_was_cleared_and_filled_meanwhile_gets_all_rows_again(
    service: Running, client: Client, index: str, path: Path, choice: str, ids: range
) -> None:
    load(client, table(path.with_name("old.csv"), 50, "old"), index)
    break_off(service, 7, path, index, if_exists=choice)
    for name in names(client, index):
        client.wait(dict(client.clear_objects(name)), index=name)
        others = [{"objectID": f"{n:05d}", "title": "another"} for n in ids]
        steps: Any = [{"action": "addObject", "body": each} for each in others]
        client.wait(dict(client.batch(name, steps)), index=name)

    result = load(client, path, index, if_exists=choice, resume=True)

    found = titles(client, index)
    assert result.resumed == 0
    assert {name: found[name] for name in map("{:05d}".format, range(ROWS))} == {
        f"{n:05d}": f"film {n}" for n in range(ROWS)
    }
    assert "all rows were sent" in result.plan.notes[-1]


@pytest.mark.slow
def test_a_replacement_killed_when_it_was_done_is_made_again(
    client: Client, index: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(Checkpoint, "discard", lambda self: None)
        load(client, path, index, if_exists="replace")

    result = load(client, path, index, if_exists="replace", resume=True)

    assert result.complete
    assert len(titles(client, index)) == ROWS
    assert names(client, index) == [index]


@pytest.mark.parametrize("change", ["source", "options"])
def test_another_state_of_a_load_is_begun_anew_and_leaves_nothing_behind(
    service: Running, client: Client, index: str, path: Path, change: str
) -> None:
    break_off(service, 7, path, index, if_exists="replace")
    scratch = [name for name in names(client, index) if name != index]
    if change == "source":
        table(path, ROWS, "play")
    options = {"batch": 150} if change == "options" else {}

    result = load(client, path, index, if_exists="replace", resume=True, **options)

    assert len(scratch) == 1
    assert result.resumed == 0
    assert set(titles(client, index).values()) == {
        f"{'play' if change == 'source' else 'film'} {n}" for n in range(ROWS)
    }
    assert names(client, index) == [index]


@pytest.mark.slow
def test_a_source_of_the_same_length_and_time_is_known_to_have_changed(
    service: Running, client: Client, index: str, path: Path
) -> None:
    table(path, 30_000)
    then = path.stat().st_mtime_ns
    break_off(service, 3, path, index, batch=1000)
    path.write_text(path.read_text().replace("film 29999", "play 29999"))
    os.utime(path, ns=(then, then))

    result = load(client, path, index, batch=1000, resume=True)

    assert result.resumed == 0


def test_a_replacement_that_ends_before_its_first_batch_leaves_nothing(
    service: Running, client: Client, index: str, path: Path, state: Path
) -> None:
    load(client, path, index, limit=10)

    break_off(service, 0, path, index, if_exists="replace", gone=False)

    assert names(client, index) == [index]
    assert len(titles(client, index)) == 10
    assert [each for each in state.rglob("*") if each.is_file()] == []


@pytest.mark.slow
def test_what_could_not_be_deleted_is_deleted_by_the_next_load(
    service: Running, client: Client, index: str, path: Path
) -> None:
    load(client, path, index, limit=10)
    break_off(service, 0, path, index, if_exists="replace")
    left = names(client, index)

    load(client, path, index)

    assert len(left) == 2
    assert names(client, index) == [index]


def test_increments_written_in_documents_are_not_sent_again(
    service: Running, client: Client, index: str, tmp_path: Path
) -> None:
    path = tmp_path / "stock.ndjson"
    more = {"_operation": "Increment", "value": 1}
    rows = [json.dumps({"id": f"{n:03d}", "stock": more}) for n in range(300)]
    path.write_text("\n".join(rows))
    break_off(service, 1, path, index, action="update")

    with pytest.raises(BadInput, match=r"could change the records twice \(Increment\)"):
        load(client, path, index, action="update", resume=True)

    counts = [hit["stock"] for page in client.browse_pages(index) for hit in page["hits"]]
    assert counts == [1] * 100


def test_a_load_that_is_under_way_is_not_begun_again(
    client: Client, index: str, path: Path
) -> None:
    refused: list[str] = []

    def tell(done: int, total: int) -> None:
        if done and not refused:
            try:
                load_again()
            except BadInput as error:
                refused.append(str(error))

    def load_again() -> None:
        from svc_notebook.data.loading.sending.checkpoint import state_folder

        (lock,) = state_folder().glob("*.lock")
        with Checkpoint(lock.with_suffix(".jsonl"), "").hold():
            pass

    load(client, path, index, if_exists="replace", on_progress=tell)

    assert refused == [
        "another load of the same source into this index is running: wait for its end"
    ]
    assert len(titles(client, index)) == ROWS


def test_a_source_that_is_cut_while_it_is_read_is_no_success(
    client: Client, index: str, tmp_path: Path
) -> None:
    path = table(tmp_path / "films.csv", 200_000)
    load(client, table(tmp_path / "old.csv", 50, "old"), index)

    def cut(done: int, total: int) -> None:
        if done == 0:
            table(path, 1000)

    with pytest.raises(BadInput, match=r"films\.csv (changed while it was|cannot be) read"):
        load(client, path, index, if_exists="replace", batch=5000, on_progress=cut)

    assert len(titles(client, index)) == 50
    assert names(client, index) == [index]


def test_a_disk_that_takes_no_checkpoint_does_not_end_a_load(
    client: Client, index: str, path: Path, state: Path
) -> None:
    state.write_text("in the way")

    result = load(client, path, index)

    assert result.complete


def test_the_tasks_of_an_earlier_run_are_waited_for(
    service: Running, client: Client, index: str, path: Path
) -> None:
    break_off(service, 7, path, index)

    result = load(client, path, index, resume=True)

    assert result.published == ROWS
    assert len(result.tasks) == ROWS // 100


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.mark.slow
def test_a_file_from_the_web_is_gone_on_with(
    service: Running, client: Client, index: str, path: Path
) -> None:
    handler = partial(Quiet, directory=str(path.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/films.csv"
        break_off(service, 7, url, index)

        result = load(client, url, index, resume=True)

        server.shutdown()
        thread.join()
    assert result.resumed == 700
    assert len(titles(client, index)) == ROWS

"""Names for completion."""

from __future__ import annotations

import gc
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.data import session
from svc_notebook.faces.commands import name_completion as naming
from svc_notebook.faces.commands.name_completion import LiveNames
from tests.conftest import Running, set_current
from tests.faces.commands.conftest import Typed


class Slow(ThreadingHTTPServer):
    """A service that lists its indices only when it is told to."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), SlowHandler)
        self.go_on = threading.Event()
        self.asked = 0


class SlowHandler(BaseHTTPRequestHandler):
    server: Slow

    def do_GET(self) -> None:
        self.server.asked += 1
        self.server.go_on.wait(20)
        body = json.dumps({"items": [{"name": "films"}], "nbPages": 1}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def slow() -> Iterator[Slow]:
    with Slow() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        session.connect(url=f"http://127.0.0.1:{server.server_port}", app_id="X", api_key="k")
        yield server
        server.go_on.set()
        server.shutdown()


def test_a_slow_service_answers_the_next_time(slow: Slow) -> None:
    names = LiveNames({})

    at_first = names.indices()
    slow.go_on.set()
    while not (later := names.indices()):
        time.sleep(0.01)

    assert at_first == []
    assert later == ["films"]


def test_an_answer_is_kept_for_a_while(slow: Slow) -> None:
    names = LiveNames({})
    slow.go_on.set()

    while not names.indices():
        time.sleep(0.01)
    asked = slow.asked
    names.indices()

    assert slow.asked == asked


@pytest.mark.timeout(15)  # the service keeps its answers back for longer
def test_while_one_question_waits_others_wait_for_less(
    slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = LiveNames({})
    names.indices()
    monkeypatch.setattr(naming, "CALL_SECONDS", 1000)

    assert names.facets("films") == []


def test_request_that_fails_unawaited_is_not_logged(
    slow: Slow, caplog: pytest.LogCaptureFixture
) -> None:
    names = LiveNames({})
    names.named("key", "")  # the answer is that of another question
    (task,) = names._tasks.values()

    slow.go_on.set()
    while not task.done():
        time.sleep(0.01)
    del names, task
    gc.collect()

    assert caplog.text == ""


def test_a_service_that_is_away_has_no_names() -> None:
    session.connect(url="http://127.0.0.1:9", app_id="X", api_key="k")

    assert LiveNames({}).facets("films") == []


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("synonym", ["pair"]),
        ("rule", ["sale"]),
        ("cluster", ["local-1", "local-2"]),
        ("network", []),
        ("crawler", []),
        ("nothing", []),
    ],
)
def test_what_there_is_of_a_kind_is_named(typed_apart: Typed, kind: str, names: list[str]) -> None:
    svc.save_synonyms("named", {"objectID": "pair", "type": "synonym", "synonyms": ["a", "b"]})
    svc.save_rules("named", {"objectID": "sale", "consequence": {"filterPromotes": True}})
    live = LiveNames({})

    found = live.named(kind, "named")
    for _ in range(200):
        if found == names:
            break
        time.sleep(0.01)
        found = live.named(kind, "named")

    assert found == names


def test_keys_and_languages_are_named(typed_apart: Typed, apart: Running) -> None:
    live = LiveNames({})
    while not (keys := live.named("key", "")) or not (languages := live.named("language", "")):
        time.sleep(0.01)

    assert apart.searchKey[:4] in keys
    assert {"en", "fr"} <= set(languages)
    assert all(len(key) == 4 for key in keys)


def test_without_a_connection_there_are_no_names() -> None:
    set_current(None)

    assert LiveNames({}).indices() == []


def test_variables_are_those_of_the_user() -> None:
    assert LiveNames({"films": 1, "_": 2, "_i1": 3, "df": 4}).variables() == ["df", "films"]


def test_the_local_service_is_always_a_profile(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SVC_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text('[profiles.shop]\nurl = "http://127.0.0.1:9"\n')

    assert LiveNames({}).profiles() == ["local", "shop"]


@pytest.mark.parametrize(
    ("beginning", "found"),
    [("", ["data/", "films.csv"]), ("fi", ["films.csv"]), ("data/", ["data/a.csv"]), ("no/", [])],
)
def test_files_are_named_as_they_are_typed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, beginning: str, found: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    for name in ("films.csv", ".hidden", "data/a.csv"):
        (tmp_path / name).touch()

    assert LiveNames({}).paths(beginning) == found


def test_the_columns_of_a_table_or_a_file_are_named(tmp_path: Path) -> None:
    path = tmp_path / "goods.csv"
    path.write_text('sku,"the name"\n1,lamp\n')
    names = LiveNames({"df": pd.DataFrame({"a": [1], 7: [2]}), "words": ["x"]})

    assert names.columns("df") == ["a", "7"]
    assert names.columns(str(path)) == ["sku", "the name"]
    assert [names.columns(other) for other in ("words", "nowhere.csv", "SELECT 1")] == [[], [], []]


def test_only_variables_that_hold_something_are_named() -> None:
    names = LiveNames({"df": 1, "f": len, "pd": pd, "Out": {}, "_x": 1}, hidden={"Out"})

    assert names.variables() == ["df"]

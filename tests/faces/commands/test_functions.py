"""Functions of verbs, as coroutines and blocking, on a real service."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.data.client import Client
from svc_notebook.data.session import connection as session
from svc_notebook.data.session.config import make_connection
from svc_notebook.data.session.local_service import find_running
from svc_notebook.faces.commands.registry import find_verb
from svc_notebook.faces.functions.connection import connect_with_prompt
from tests.conftest import Running

LAMPS = pd.DataFrame(
    {
        "objectID": ["1", "2", "3"],
        "name": ["blue lamp", "red lamp", "desk"],
        "price": [12, 9, 120],
    }
)
INDEX = "functions"


def client_with(service: Running, key: str) -> Client:
    return Client(make_connection({"url": service.url, "app_id": service.appId, "api_key": key}))


@pytest.fixture(scope="module", autouse=True)
def lamps(service: Running) -> None:
    """An index of lamps."""
    client = client_with(service, service.adminKey)
    svc.push(LAMPS, INDEX, client=client)
    svc.settings(INDEX, attributesForFaceting=["searchable(name)", "price"], client=client)


@pytest.fixture(autouse=True)
def client(service: Running, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Client:
    """The current client of this test."""
    monkeypatch.setenv("SVC_CONFIG", str(tmp_path / "config.toml"))
    return svc.connect(url=service.url, app_id=service.appId, api_key=service.adminKey)


@pytest.fixture
def reader(service: Running) -> Client:
    """A client that is not the current one and may only search."""
    return client_with(service, service.searchKey)


def test_the_current_client_is_used_unless_another_is_given(reader: Client) -> None:
    assert len(svc.search(INDEX, "lamp")) == 2
    assert len(svc.search(INDEX, "lamp", client=reader)) == 2
    assert len(svc.search(INDEX, "lamp", client=reader.aio)) == 2

    with pytest.raises(svc.errors.KeyRefused, match="browse"):
        svc.read_browse(INDEX, client=reader)


def test_index_is_read_as_one_frame_or_in_chunks() -> None:
    whole = svc.read_browse(INDEX, columns=["name"])
    chunks = list(svc.read_browse(INDEX, columns=["name"], chunksize=2))

    assert [len(chunk) for chunk in chunks] == [2, 1]
    pd.testing.assert_frame_equal(pd.concat(chunks, ignore_index=True), whole, check_like=True)


def test_records_come_in_the_order_of_their_ids() -> None:
    found = svc.read_records(INDEX, ["3", "1"], columns=["name"])

    assert list(found["name"]) == ["desk", "blue lamp"]


def test_facets_are_counted_and_searched() -> None:
    counted = svc.read_facets(INDEX, "lamp", facets=["price"])
    values = svc.read_facet_values(INDEX, "name", "des")

    assert dict(zip(counted["value"], counted["count"], strict=True)) == {"12": 1, "9": 1}
    assert list(values["value"]) == ["desk"]


def test_change_of_settings_returns_after_publication() -> None:
    changed = svc.settings(INDEX, hitsPerPage=7, ranking=["typo", "custom"])
    shown = svc.read_settings(INDEX).set_index("setting")["value"]
    reset = svc.settings(INDEX, hitsPerPage=None, ranking=None)

    assert changed.to_numpy().tolist()[0] == ["hitsPerPage", 20, 7]
    assert shown["hitsPerPage"] == 7
    assert list(reset["before"]) == [7, ["typo", "custom"]]
    assert reset["after"][0] == 20


def test_settings_of_a_new_index_had_no_value_before() -> None:
    changed = svc.settings("functions-new", distinct=1)

    assert changed.to_numpy().tolist() == [["distinct", None, 1]]


def test_a_misspelt_parameter_is_refused_with_advice() -> None:
    with pytest.raises(svc.errors.BadInput, match="did you mean `hitsPerPage`"):
        svc.search(INDEX, hitPerPage=3)  # type: ignore[call-arg]


def test_tasks_are_waited_for_in_any_shape(client: Client) -> None:
    answers = [client.put_object(INDEX, "4", {"name": "chair"}), client.delete_object(INDEX, "4")]

    assert svc.wait(answers, index=INDEX) == 2
    assert svc.wait(answers[0]["taskID"], index=INDEX) == 1


def test_dry_run_returns_the_plan(tmp_path: Path) -> None:
    LAMPS.to_csv(tmp_path / "lamps.csv", index=False)

    plan = find_verb("load", "command").call(
        {"source": str(tmp_path / "lamps.csv"), "index": "functions-planned", "dry_run": True}
    )

    assert "3 rows" in repr(plan)
    assert svc.load(LAMPS, "functions-planned", dry_run=True).plan.rows == 3
    with pytest.raises(svc.errors.NotFound):
        svc.search("functions-planned")


@pytest.mark.slow
def test_progress_bar_is_drawn_on_request(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    many = pd.DataFrame({"objectID": [str(n) for n in range(60_000)], "text": "some words"})

    result = svc.push(many, "functions-many", progress=True, batch=500)

    assert result.complete
    assert "functions-many" in capsys.readouterr().err


async def load_and_search(path: Path) -> tuple[int, int, int]:
    loaded = await svc.aio.load(path, "functions-awaited")
    pushed = await svc.aio.push(LAMPS, "functions-awaited")
    chunks = await svc.aio.read_browse("functions-awaited", chunksize=2)
    return loaded.published, pushed.published, sum([len(chunk) async for chunk in chunks])


def test_the_awaited_twins_run_on_the_callers_loop(tmp_path: Path) -> None:
    LAMPS.to_csv(tmp_path / "lamps.csv", index=False)

    assert asyncio.run(load_and_search(tmp_path / "lamps.csv")) == (3, 3, 3)


def test_rights_of_a_key_are_returned(reader: Client, service: Running) -> None:
    told = svc.whoami(client=reader)

    assert (told["application"], told["rights"]) == (service.appId, ["search"])


@pytest.mark.slow
def test_the_local_service_of_a_folder_is_connected_to(tmp_path: Path) -> None:
    client = svc.connect("local", data=tmp_path / "data")

    assert svc.current() is client
    assert session.profile_of(client) == "local"
    assert len(svc.read_indices()) == 0
    with pytest.raises(svc.errors.BadInput, match="omit url="):
        svc.connect(data=tmp_path / "data", url="http://127.0.0.1:9")
    svc.stop(tmp_path / "data")
    with pytest.raises(svc.errors.LocalServiceFailed, match="no local service runs"):
        svc.stop(tmp_path / "data")


@pytest.mark.slow
def test_the_service_that_is_connected_to_is_the_one_to_stop(tmp_path: Path) -> None:
    svc.connect("local", data=tmp_path / "data")

    svc.stop()

    with pytest.raises(svc.errors.LocalServiceFailed, match=f"runs on {tmp_path / 'data'}"):
        svc.stop()


@pytest.mark.slow
def test_a_local_service_that_is_connected_to_by_its_address_is_stopped(tmp_path: Path) -> None:
    running = svc.local(tmp_path / "data")
    svc.connect(url=running.url, app_id=running.app_id, api_key=running.admin_key)  # type: ignore[arg-type]

    svc.stop()

    assert find_running(tmp_path / "data") is None


def test_other_local_services_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "none"))
    running = svc.local(tmp_path / "data")
    svc.connect(url="http://127.0.0.1:9", app_id="A", api_key="k")

    with pytest.raises(
        svc.errors.LocalServiceFailed, match=f"one runs on {tmp_path}/data: pass --data"
    ):
        svc.stop()

    running.stop()


def test_a_folder_belongs_to_the_local_service_only() -> None:
    with pytest.raises(svc.errors.BadOption, match="not to `staging`"):
        svc.connect("staging", data="somewhere")


def test_a_profile_that_is_not_there_asks_for_no_key() -> None:
    with pytest.raises(svc.errors.NotConnected, match="there is no profile `nowhere`"):
        connect_with_prompt("nowhere")


def test_missing_key_without_a_prompt_is_an_error() -> None:
    with pytest.raises(svc.errors.NotConnected, match="no API key"):
        connect_with_prompt(url="http://127.0.0.1:9", app_id="SHOP")


def test_profiles_name_their_files(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[profiles.shop]\nurl = "http://127.0.0.1:9"\n')

    assert svc.profiles() == {"local": "built in", "shop": str(path)}

"""Loads verified by reading records back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.data import loading
from svc_notebook.data.client import AsyncClient, Client, ClientConfig, Secret, background_loop
from svc_notebook.errors import BadInput
from tests.conftest import Running

FILMS = pd.DataFrame(
    {"id": [f"{n:04d}" for n in range(2500)], "n": range(2500), "x": [n / 3 for n in range(2500)]}
)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def connection(service: Running) -> ClientConfig:
    return ClientConfig(url=service.url, app_id=service.appId, api_key=Secret(service.adminKey))


@pytest.fixture
def client(connection: ClientConfig) -> Iterator[Client]:
    with Client(connection) as client:
        yield client


@pytest.fixture
def index() -> str:
    return f"verify-{uuid4().hex[:8]}"


class Meddling(AsyncClient):
    """Changes two records behind a load's back, before the third is read."""

    async def get_objects(self, requests: Any, **params: Any) -> Any:
        if requests[0]["objectID"] == "0000":
            index = requests[0]["indexName"]
            gone = await self.delete_object(index, "0001")
            other: Any = {"n": -1}
            changed = await self.partial_update_object(index, "1500", other)
            await self.wait([dict(gone), dict(changed)], index=index)
        return await super().get_objects(requests, **params)


def load(client: AsyncClient, *args: Any, **options: Any) -> loading.LoadResult:
    return background_loop.run(loading.load(client, *args, **options))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("first", "then"),
    [
        ({}, {"action": "replace"}),
        ({}, {"action": "update", "columns": ["n"]}),
        ({}, {"action": "update_existing"}),
        ({}, {"action": "delete", "columns": []}),
        ({}, {"action": "update", "columns": ["n"], "operations": {"n": "increment"}}),
        ({}, {"if_exists": "replace"}),
        ({}, {"if_exists": "merge"}),
    ],
    ids=str,
)
def test_what_is_stored_as_it_was_sent_is_said_to_be(
    client: Client, index: str, first: dict[str, Any], then: dict[str, Any]
) -> None:
    load(client.aio, FILMS, index, id="id", **first)

    result = load(client.aio, FILMS, index, id="id", verify=True, **then)

    assert result.differences is not None
    assert len(result.differences) == 0
    assert result.complete
    gone = then.get("action") == "delete"
    assert ("verified: all are deleted" if gone else "verified: all are stored as sent") in repr(
        result
    )


def test_what_differs_is_named(connection: ClientConfig, index: str) -> None:
    result = load(Meddling(connection), FILMS, index, id="id", verify=True)

    assert result.differences is not None
    assert result.differences.values.tolist() == [["0001", "is missing"], ["1500", "is different"]]
    assert result.published == 2500
    assert not result.complete
    assert "verified: 2 differ" in repr(result)


def test_what_differs_replaces_nothing(
    client: Client, connection: ClientConfig, index: str
) -> None:
    load(client.aio, FILMS.head(1).assign(n=7), index, id="id")

    with pytest.raises(BadInput, match=r"2 records differ .* '0001', which is missing"):
        load(Meddling(connection), FILMS, index, id="id", verify=True, if_exists="replace")

    assert svc.read_browse(index, client=client)["n"].tolist() == [7]


def test_records_that_should_be_gone_are_told() -> None:
    from svc_notebook.data.loading.sending.comparison import CHECKS

    assert CHECKS["delete"]({"objectID": "1"}, {"objectID": "1"}) == "is still there"
    assert CHECKS["update_existing"]({"objectID": "1"}, None) is None


def test_without_being_asked_nothing_is_read_back(client: Client, index: str) -> None:
    assert load(client.aio, FILMS.head(3), index, id="id").differences is None


def test_increments_that_may_have_been_made_are_not_resumed(
    client: Client, index: str, tmp_path: Path
) -> None:
    FILMS.to_csv(tmp_path / "a.csv", index=False)

    with pytest.raises(BadInput, match="not known whether the last batch was applied"):
        load(
            client.aio, tmp_path / "a.csv", index, id="id", resume=True, action="update",
            operations={"n": "Increment"},
        )  # fmt: skip


def test_an_operation_may_be_written_small(client: Client, index: str) -> None:
    for _ in range(2):
        svc.push(
            FILMS.head(2), index, id="id", action="update", operations={"n": "increment"},
            client=client,
        )  # fmt: skip

    assert svc.read_browse(index, client=client).sort_values("objectID")["n"].tolist() == [0, 2]


@pytest.mark.parametrize("choice", ["fail", "replace", "merge", "append"])
def test_a_frame_is_pushed_onto_what_exists_as_asked(
    client: Client, index: str, choice: Any
) -> None:
    svc.push(FILMS.head(3), index, id="id", client=client)

    try:
        result = svc.push(FILMS.iloc[2:4], index, id="id", if_exists=choice, client=client)
    except BadInput as error:
        result = None
        told = str(error)

    held = sorted(svc.read_browse(index, client=client)["objectID"])
    wanted = {"replace": ["0002", "0003"], "fail": ["0000", "0001", "0002"]}
    assert held == wanted.get(choice, ["0000", "0001", "0002", "0003"])
    assert "exists" in told if result is None else (result.unchanged == (choice == "merge"))

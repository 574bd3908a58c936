from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pandas as pd
import pytest

from svc_notebook import accessors
from svc_notebook.client import Client, Connection, Secret
from svc_notebook.errors import BadInput
from tests.conftest import Running

FILMS = pd.DataFrame({"id": ["1", "2"], "title": ["Jaws", "Alien"]})


@pytest.fixture
def client(service: Running) -> Iterator[Client]:
    key = Secret(service.adminKey)
    with Client(Connection(url=service.url, app_id=service.appId, api_key=key)) as client:
        yield client


@pytest.fixture
def index() -> str:
    return f"accessors-{uuid4().hex[:8]}"


def test_rows_are_pushed_read_back_and_deleted(client: Client, index: str) -> None:
    result = FILMS.svc.push(index, id="id", client=client)
    back = FILMS.svc.records(index, id="id", client=client)
    gone = FILMS.head(1).svc.delete(index, id="id", client=client)

    assert result.published == 2
    assert back["title"].tolist() == ["Jaws", "Alien"]
    assert gone.published == 1
    assert FILMS["id"].svc.records(index, client=client)["title"].isna().tolist() == [True, False]


def test_a_column_of_queries_is_searched(client: Client, index: str) -> None:
    FILMS.svc.push(index, id="id", client=client)

    queries: Any = pd.Series(["jaws", "zzz", "alien"])
    found = queries.svc.search(index, client=client)

    assert found[["query", "objectID"]].to_numpy().tolist() == [["jaws", "1"], ["alien", "2"]]


def test_a_push_can_be_planned(index: str) -> None:
    plan = FILMS.svc.plan(index, id="id")

    assert (plan.rows, plan.index) == (2, index)


def test_the_column_of_the_ids_is_asked_for_with_advice(client: Client, index: str) -> None:
    with pytest.raises(BadInput, match=r"no column `objectID`.*id='…'"):
        FILMS.svc.delete(index, client=client)


def test_registering_again_is_silent() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        importlib.reload(accessors)

    assert type(FILMS.svc).__name__ == "FrameAccessor"


def test_a_client_that_is_none_is_refused(index: str) -> None:
    with pytest.raises(BadInput, match=r"what connect\(\) returns"):
        FILMS.svc.push(index, client="no")

"""Settings that hide attributes from searches hide none from readers of whole records."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

import pandas as pd
import pytest

from svc_notebook.core.api.parameters import Settings
from svc_notebook.data import loading
from svc_notebook.data.client import Client, background_loop

FILMS = pd.DataFrame({"objectID": ["1", "2"], "title": ["Jaws", "Up"], "n": [1, 2], "cost": [5, 6]})


@pytest.fixture
def index(client: Client) -> str:
    name = f"whole-{uuid4().hex[:8]}"
    background_loop.run(loading.push(client.aio, FILMS, name))
    settings: Settings = {
        "attributesToRetrieve": ["title"],
        "unretrievableAttributes": ["cost"],
        "attributesForFaceting": ["n"],
    }
    client.wait(dict(client.set_settings(name, settings)), index=name)
    return name


def test_an_export_has_every_attribute(client: Client, index: str, tmp_path: Path) -> None:
    background_loop.run(loading.export(client.aio, index, tmp_path / "films.ndjson"))

    lines = (tmp_path / "films.ndjson").read_text().splitlines()
    assert [json.loads(line) for line in lines] == FILMS.to_dict("records")


def test_an_export_has_the_attributes_that_are_asked_for(
    client: Client, index: str, tmp_path: Path
) -> None:
    background_loop.run(loading.export(client.aio, index, tmp_path / "films.csv", columns=["n"]))

    assert list(pd.read_csv(tmp_path / "films.csv").columns) == ["objectID", "n"]


def test_a_merge_sees_what_is_stored(client: Client, index: str) -> None:
    result = background_loop.run(loading.push(client.aio, FILMS, index, if_exists="merge"))

    assert (result.sent, result.unchanged) == (0, 2)


def test_a_comparison_sees_what_is_stored(client: Client, index: str) -> None:
    found = background_loop.run(loading.compare(client.aio, FILMS, index))

    assert found["state"].tolist() == ["unchanged", "unchanged"]


def test_what_was_sent_is_verified_whole(client: Client, index: str) -> None:
    result = background_loop.run(loading.push(client.aio, FILMS, index, verify=True))

    assert result.complete


def test_a_dask_frame_has_every_attribute(client: Client, index: str) -> None:
    made = background_loop.run(loading.read_dask(client.aio, index, by="n", npartitions=2))

    read = made.compute(scheduler="synchronous").sort_values("objectID")
    assert set(read.columns) == set(FILMS.columns)
    assert read["cost"].tolist() == [5, 6]

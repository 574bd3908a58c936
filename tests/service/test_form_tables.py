"""Tables of word forms are built beside the service; searches before that say what is missing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import svc_notebook as svc
from svc_notebook.data.client import Client, ClientConfig, Secret
from tests.service.service_process import Outside, outside

SECONDS = 60


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Outside]:
    """A service of a user for whom no table was ever built."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with outside(tmp_path / "data", "--workers", "0") as service:
        records = [{"objectID": "1", "title": "boekenkast"}, {"objectID": "2", "title": "uomo"}]
        requests = [{"action": "addObject", "body": record} for record in records]
        service.done("POST", "/1/indexes/films/batch", {"requests": requests})
        yield service


def search(service: Outside, **params: Any) -> dict[str, Any]:
    answer = service.call("POST", "/1/indexes/films/query", {"typoTolerance": False, **params})
    assert answer.status_code == 200
    return dict(answer.json())


def search_when_ready(service: Outside, **params: Any) -> dict[str, Any]:
    end = time.monotonic() + SECONDS
    while "message" in (answer := search(service, **params)):
        assert time.monotonic() < end, answer["message"]
        time.sleep(0.05)
    return answer


@pytest.mark.slow
def test_a_search_goes_without_a_table_and_says_so_until_it_is_built(fresh: Outside) -> None:
    plural = {"query": "uomini", "ignorePlurals": ["it"]}

    before = search(fresh, **plural)
    after = search_when_ready(fresh, **plural)

    assert before["nbHits"] == 0
    assert before["message"] == (
        "word forms of `it` are being prepared; until then only regular endings count"
    )
    assert [hit["objectID"] for hit in after["hits"]] == ["2"]
    assert "message" not in search(fresh, query="uomini", ignorePlurals=["en"])


@pytest.mark.slow
def test_frames_warn_and_say_that_word_forms_are_not_ready(fresh: Outside) -> None:
    running = fresh.running
    key = Secret(running.adminKey)
    connection = ClientConfig(url=running.url, app_id=running.appId, api_key=key)

    with (
        Client(connection) as client,
        pytest.warns(UserWarning, match="word forms of `it` are being prepared"),
    ):
        frame = svc.search("films", "uomini", ignorePlurals=["it"], client=client)

    assert "are being prepared" in frame.attrs["svc"]["message"]


@pytest.mark.slow
def test_a_setting_that_names_a_language_is_enough(fresh: Outside, tmp_path: Path) -> None:
    fresh.done("PUT", "/1/indexes/films/settings", {"decompoundedAttributes": {"nl": ["title"]}})
    end = time.monotonic() + SECONDS
    while not list((tmp_path / "cache").rglob("forms-nl-*.npz")):
        assert time.monotonic() < end, "no table was built"
        time.sleep(0.05)

    found = search(fresh, query="kast")

    assert "message" not in found
    assert [hit["objectID"] for hit in found["hits"]] == ["1"]


@pytest.mark.slow
def test_compounds_count_once_their_table_is_built(fresh: Outside) -> None:
    fresh.done("PUT", "/1/indexes/films/settings", {"decompoundedAttributes": {"nl": ["title"]}})

    found = search_when_ready(fresh, query="kast")

    assert [hit["objectID"] for hit in found["hits"]] == ["1"]

"""How many logged requests are read, in each way to ask for them."""

from __future__ import annotations

import json

import httpx
import pytest

from svc_notebook import read_logs, search
from svc_notebook.data.client import Client
from svc_notebook.faces import cli
from tests.conftest import Running, credentials
from tests.data.frames.conftest import INDEX

DEFAULT_ENTRIES = 100


@pytest.fixture
def logged(products: Client, service: Running) -> Client:
    """A client of a service that has more requests in its log than are read by default."""
    headers = credentials(service.appId, service.adminKey)
    with httpx.Client(base_url=service.url, headers=headers) as client:
        for _ in range(DEFAULT_ENTRIES + 5):
            client.post(f"/1/indexes/{INDEX}/query", json={})
    return products


def test_a_hundred_requests_are_read_by_default(logged: Client) -> None:
    hits = search(INDEX, client=logged)

    assert len(read_logs(client=logged)) == DEFAULT_ENTRIES
    assert len(hits.svc.logs(client=logged)) == DEFAULT_ENTRIES


def test_the_number_of_requests_comes_first(logged: Client) -> None:
    hits = search(INDEX, client=logged)

    assert len(read_logs(3, client=logged)) == 3
    assert len(read_logs(limit=4, client=logged)) == 4
    assert len(hits.svc.logs(2, client=logged)) == 2


@pytest.mark.parametrize("words", [["logs", "3"], ["logs", "--limit", "3"], ["logs", "--limit=3"]])
def test_the_command_takes_the_number_with_and_without_its_name(
    logged: Client,
    service: Running,
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("SVC_URL", service.url)
    monkeypatch.setenv("SVC_APP_ID", service.appId)
    monkeypatch.setenv("SVC_API_KEY", service.adminKey)

    assert cli.main([*words, "--format", "json"]) == 0

    assert len(json.loads(capsys.readouterr().out)) == 3


def test_a_number_that_is_given_twice_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["logs", "3", "--limit", "4"]) != 0

    assert "`--limit` is given twice" in capsys.readouterr().err

"""The vendor's library for events of web pages, unchanged, reports to the service."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Running, start_service, stop_service
from tests.peers.javascript import install
from tests.peers.test_official_events import event

PACKAGES = ("search-insights@2",)
# Its own way to send takes no port; whether the service took the events is all that it says.
SCRIPT = """
const { createInsightsClient } = require("search-insights");
const send = (url, data) =>
  fetch(url, { method: "POST", body: JSON.stringify(data) }).then(({ status }) => status === 200);
const report = createInsightsClient(send);
const [host, appId, apiKey, events] = process.argv.slice(1);
report("init", { appId, apiKey, host, userToken: "visitor" });
report("sendEvents", JSON.parse(events)).then((taken) => console.log(JSON.stringify(taken)));
"""
FILTERS = ["brand:Acme", "brand:Écru & co", "size:10%25", "price>=10", "lvl0:a > b", "a:b:c"]


@pytest.fixture(scope="module")
def vendor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service that reads the names of headers as the vendor's libraries write them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SVC_VENDOR", "Algolia")
        process, running = start_service(tmp_path_factory.mktemp("insights"))
    yield running
    stop_service(process)


@pytest.fixture(scope="module")
def packages(pytestconfig: pytest.Config) -> Path:
    return install(pytestconfig.cache.mkdir("peers-insights"), PACKAGES)


def report(service: Running, packages: Path, *events: dict[str, Any]) -> bool:
    command = ["node", "-e", SCRIPT, service.url, service.appId, service.searchKey]
    done = subprocess.run(
        [*command, json.dumps(events)], cwd=packages, capture_output=True, text=True, check=True
    )
    return bool(json.loads(done.stdout))


def reported(service: Running, index: str) -> list[dict[str, Any]]:
    headers = {"X-Algolia-Application-Id": service.appId, "X-Algolia-API-Key": service.adminKey}
    with service.client() as client:
        answer = client.get("/local/1/events", params={"index": index}, headers=headers)
    found: list[dict[str, Any]] = answer.json()["events"]
    return found


@pytest.mark.slow
def test_filters_are_taken_as_the_library_encodes_them(vendor: Running, packages: Path) -> None:
    one = event(index="taken", eventType="view", filters=FILTERS)

    assert report(vendor, packages, event(index="taken", objectIDs=["1"]), one)

    [_, stored] = reported(vendor, "taken")
    assert stored["filters"][0] == "brand%3AAcme"
    assert len(stored["filters"]) == len(FILTERS)


@pytest.mark.slow
def test_one_wrong_event_keeps_the_batch_out(vendor: Running, packages: Path) -> None:
    wrong = event(index="refused", eventType="view", filters=["brand:Acme", "no value"])

    assert not report(vendor, packages, event(index="refused", objectIDs=["1"]), wrong)

    assert reported(vendor, "refused") == []

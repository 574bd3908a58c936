"""Every call needs a key with the declared right: over the socket of a real service."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from svc_notebook.service.app import App
from svc_notebook.service.keyring import matches
from svc_notebook.service.service import Service
from tests.conftest import Inside, credentials
from tests.service.service_process import Outside, outside


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    with outside(tmp_path_factory.mktemp("access")) as caller:
        yield caller


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Service-API-Key": "wrong"},
        {"X-Service-API-Key": ""},
        {"X-Service-Application-Id": "OTHER"},
        {"X-Service-Application-Id": ""},
    ],
)
def test_wrong_credentials_are_refused(inside: Inside, headers: dict[str, str]) -> None:
    answer = inside.call("GET", "/1/indexes", headers=headers)

    assert answer.status_code == 403
    assert answer.json() == {"message": "Invalid Application-ID or API key", "status": 403}


def test_events_answer_401_to_wrong_credentials(inside: Inside) -> None:
    assert inside.call("POST", "/1/events", {"events": []}, key="wrong").status_code == 401


@pytest.mark.parametrize("spelling", [str.lower, str.upper, str.title])
def test_header_names_are_read_in_any_case(inside: Inside, spelling: Any) -> None:
    own = credentials(inside.facts["appId"], inside.facts["adminKey"])
    headers = {spelling(name): value for name, value in own.items()}

    assert inside.call("GET", "/1/indexes", headers=headers).status_code == 200


def test_credentials_may_come_in_the_query_string(inside: Inside) -> None:
    facts = inside.facts
    app, key = facts["appId"], facts["searchKey"]
    query = f"x-service-application-id={app}&X-Service-API-Key={key}&x-service-agent=shop"
    nothing = {"X-Service-Application-Id": "", "X-Service-API-Key": ""}
    inside.fill("films", {"objectID": "1"})

    got = inside.call("GET", f"/1/indexes/films?{query}", headers=nothing)
    posted = inside.call("POST", f"/1/indexes/films/query?{query}", {}, headers=nothing)

    assert got.json()["nbHits"] == posted.json()["nbHits"] == 1


def test_the_vendors_name_may_be_another(tmp_path: Path) -> None:
    service = Service(tmp_path)
    app = App(service, vendor="Acme")
    facts = service.keyring.facts
    headers = {"X-Acme-Application-Id": facts["appId"], "X-ACME-api-key": facts["adminKey"]}
    inside = Inside(app)

    answer = inside.call("GET", "/1/indexes", headers=headers)

    assert answer.status_code == 200
    assert inside.call("GET", "/1/indexes").status_code == 403
    app.close()
    service.stop()


@pytest.mark.parametrize(
    ("action", "right"),
    [
        ("addObject", "addObject"),
        ("updateObject", "addObject"),
        ("partialUpdateObject", "addObject"),
        ("partialUpdateObjectNoCreate", "addObject"),
        ("deleteObject", "deleteObject"),
        ("delete", "deleteIndex"),
        ("clear", "deleteIndex"),
    ],
)
@pytest.mark.parametrize("path", ["/1/indexes/films/batch", "/1/indexes/*/batch"])
def test_each_batched_action_needs_its_right(
    inside: Inside, path: str, action: str, right: str
) -> None:
    request = {"action": action, "body": {"objectID": "1"}}
    if "*" in path:
        request["indexName"] = "films"

    answer = inside.call("POST", path, {"requests": [request]}, key=inside.facts["searchKey"])

    assert answer.status_code == 403
    assert right in answer.json()["message"]


def test_the_crawler_has_its_own_credentials(inside: Inside) -> None:
    facts = inside.facts
    right = f"{facts['crawlerUserId']}:{facts['crawlerApiKey']}".encode()

    def call(word: bytes) -> int:
        headers = {"authorization": f"Basic {base64.b64encode(word).decode()}"}
        return inside.call("GET", "/api/1/crawlers", headers=headers).status_code

    assert call(b"a:b") == 401
    assert inside.call("GET", "/api/1/crawlers").status_code == 401
    assert inside.call("GET", "/api/1/crawlers", headers={"authorization": "Basic %"}).is_error
    assert call(right) == 200


def test_the_same_facts_hold_after_a_restart(tmp_path: Path) -> None:
    first = Service(tmp_path, {"appId": "MINE", "adminKey": None})
    facts = first.keyring.facts
    first.stop()

    second = Service(tmp_path)
    second.stop()

    assert second.keyring.facts == facts
    assert facts["appId"] == "MINE"


@pytest.mark.parametrize(
    ("pattern", "fitting", "other"),
    [
        ("dev", "dev", "dev_a"),
        ("dev_*", "dev_a", "a_dev_"),
        ("*_dev", "a_dev", "_dev_a"),
        ("*dev*", "a_dev_b", "de"),
        ("*", "anything", None),
        ("a*b", "a*b", "axb"),
        ("[ab]", "[ab]", "a"),
    ],
)
def test_a_pattern_may_begin_and_end_with_a_star(
    pattern: str, fitting: str, other: str | None
) -> None:
    assert matches(fitting, pattern)
    assert other is None or not matches(other, pattern)

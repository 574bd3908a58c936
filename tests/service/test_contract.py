"""Every declared endpoint is routed, checks keys, and survives any input."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from svc_notebook.core.api import ENDPOINTS, Endpoint
from svc_notebook.service.app import App
from svc_notebook.service.handlers import HANDLERS
from svc_notebook.service.service import Service
from tests.conftest import Inside
from tests.looping import loop_over

SEARCH_ROWS = [row for row in ENDPOINTS if row.acl not in ("any", "crawler")]
WRITING_ROWS = [row for row in HANDLERS if row.verb in ("POST", "PUT", "PATCH")]
BODIES = [b"{", b"[]", b"3", b'"x"', b"null", b'{"a": 1e999}', b"\xff\xfe", b"[" * 3000, b""]
ODD = "a/b c%é😀"


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inside]:
    """One service for all rows: no test here depends on what is stored."""
    service = Service(tmp_path_factory.mktemp("contract"))
    service.start()
    app = App(service)
    yield Inside(app)
    app.close()
    service.stop()


def path_of(row: Endpoint, part: str = "x") -> str:
    names = [name for name, place in row.places.items() if place == "path"]
    return row.path.format_map({name: quote(part, safe="") for name in names})


def headers_of(inside: Inside, row: Endpoint) -> dict[str, str]:
    word = f"{inside.facts['crawlerUserId']}:{inside.facts['crawlerApiKey']}".encode()
    crawler = {"authorization": f"Basic {base64.b64encode(word).decode()}"}
    return crawler if row.interface == "crawler" else {}


@loop_over("row", ENDPOINTS)
def test_without_a_key_nothing_is_served(inside: Inside, row: Endpoint) -> None:
    answer = inside.call(row.verb, path_of(row), headers={"X-Service-API-Key": ""})

    assert answer.status_code == (
        403 if row.interface in ("search", "analytics", "suggestions") else 401
    )
    assert answer.json()["message"]


@loop_over("row", SEARCH_ROWS)
def test_the_search_key_is_refused_where_it_lacks_the_right(inside: Inside, row: Endpoint) -> None:
    answer = inside.call(row.verb, path_of(row), key=inside.facts["searchKey"])

    refused = 401 if row.interface == "events" else 403
    assert (answer.status_code == refused) == (row.acl != "search")
    if answer.status_code == refused:
        right = "addObject" if row.acl == "actions" else row.acl
        assert right in answer.json()["message"]


@loop_over("row", ENDPOINTS)
def test_every_endpoint_is_served(inside: Inside, row: Endpoint) -> None:
    answer = inside.call(row.verb, path_of(row), headers=headers_of(inside, row))

    assert answer.status_code < 500
    assert answer.is_success or answer.json()["message"]


@pytest.mark.slow
@loop_over("row", WRITING_ROWS)
def test_a_malformed_body_is_the_callers_fault(inside: Inside, row: Endpoint) -> None:
    for content in BODIES:
        answer = inside.call(
            row.verb, path_of(row, ODD), content=content, headers=headers_of(inside, row)
        )

        assert answer.status_code < 500, content
        assert answer.is_success or answer.json()["status"] == answer.status_code


@loop_over("row", ENDPOINTS)
def test_a_verb_the_path_does_not_have_is_refused_with_those_it_has(
    inside: Inside, row: Endpoint
) -> None:
    answer = inside.call("TRACE", path_of(row))

    assert answer.status_code == 405
    assert row.verb in answer.headers["allow"].split(", ")
    assert answer.json()["status"] == 405


@pytest.mark.parametrize(
    ("verb", "path"),
    [("GET", "/"), ("GET", "/1/nothing"), ("POST", "/1/indexes/a/b/c/d/e"), ("GET", "/2/indexes")],
)
def test_an_unknown_path_is_not_found(inside: Inside, verb: str, path: str) -> None:
    answer = inside.call(verb, path)

    assert answer.status_code == 404
    assert answer.json()["status"] == 404


@pytest.mark.parametrize("name", ["", "%00", "x" * 256, "%2A"])
@pytest.mark.parametrize(
    ("verb", "rest", "body"),
    [("PUT", "/settings", {}), ("POST", "/batch", {"requests": []}), ("POST", "/query", {})],
)
def test_an_invalid_index_name_is_refused(
    inside: Inside, name: str, verb: str, rest: str, body: Any
) -> None:
    answer = inside.call(verb, f"/1/indexes/{name}{rest}", body)

    assert answer.status_code == 400
    assert json.loads(answer.content)["message"]

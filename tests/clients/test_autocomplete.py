"""The autocomplete library and its plugin of query suggestions, unchanged, in a real browser."""

from __future__ import annotations

import time
from urllib.parse import urlencode

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.conftest import Running

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(180)]
INDEX, SUGGESTIONS = "completed", "completed_suggestions"
FILMS = [
    {"objectID": f"{number}", "title": title, "brand": brand}
    for number, (title, brand) in enumerate(
        [("desk lamp", "Lumo"), ("desk lamp", "Nord"), ("desk", "Nord"), ("garden chair", "Acme")]
    )
]


def build(api: httpx.Client) -> None:
    """Fill an index, search it and wait for the suggestions."""
    requests = [{"action": "addObject", "body": film} for film in FILMS]
    for verb, path, body in (
        ("PUT", "settings", {"attributesForFaceting": ["brand"]}),
        ("POST", "batch", {"requests": requests}),
    ):
        answer = api.request(verb, f"/1/indexes/{INDEX}/{path}", json=body).raise_for_status()
        while api.get(f"/1/task/{answer.json()['taskID']}").json()["status"] != "published":
            time.sleep(0.01)
    for user, query in enumerate(["desk lamp", "desk lamp", "desk", "garden chair"]):
        search = {"query": query, "userToken": f"user-{user}"}
        api.post(f"/1/indexes/{INDEX}/query", json=search).raise_for_status()
    source = {"indexName": INDEX, "minHits": 1, "facets": [{"attribute": "brand"}]}
    config = {"indexName": SUGGESTIONS, "sourceIndices": [source]}
    api.post("/1/configs", json=config).raise_for_status()
    while api.get(f"/1/indexes/{SUGGESTIONS}").json().get("nbHits") != 3:
        time.sleep(0.05)


def test_a_box_completes_what_others_searched(
    empty: Page, api: httpx.Client, service: Running, origin: str
) -> None:
    build(api)
    failures: list[str] = []
    empty.on("pageerror", lambda error: failures.append(str(error)))
    empty.on("console", lambda said: failures.append(said.text))
    empty.on("requestfailed", lambda request: failures.append(request.url))
    facts = {"app": service.appId, "key": service.searchKey, "url": service.url}
    names = {"index": SUGGESTIONS, "source": INDEX}
    empty.goto(f"{origin}/autocomplete.html?{urlencode({**facts, **names})}")
    box, items = empty.locator(".aa-Input"), empty.locator(".aa-Item")

    box.click()
    expect(items).to_have_count(3)
    assert items.all_inner_texts() == ["desk lamp", "desk", "garden chair"]
    box.fill("gar")
    expect(items).to_have_count(2)
    assert items.all_inner_texts() == ["garden chair", "in Acme"]
    items.first.click()

    expect(box).to_have_value("garden chair")
    assert failures == []

"""The vendor's Python client for events sends, reads and deletes events."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from algoliasearch.http.exceptions import RequestException
from algoliasearch.insights.client import InsightsClientSync
from algoliasearch.insights.config import InsightsConfig
from algoliasearch.search.client import SearchClientSync

from tests.conftest import Running
from tests.peers.official import Translating, fill, own_warnings, point_at

pytestmark = own_warnings

Making = Callable[[str], InsightsClientSync]


@pytest.fixture
def reporter(service: Running) -> Iterator[Making]:
    """Makes clients that report events with a key."""
    made: list[InsightsClientSync] = []

    def make(key: str) -> InsightsClientSync:
        config = InsightsConfig(service.appId, key, "us")
        config.hosts = point_at(service).hosts
        made.append(InsightsClientSync.create_with_config(config, Translating(config)))
        return made[-1]

    yield make
    for client in made:
        client.close()


def reported(service: Running, **choice: str) -> list[dict[str, Any]]:
    with service.client() as client:
        events: list[dict[str, Any]] = client.get("/local/1/events", params=choice).json()["events"]
    return events


def event(**members: Any) -> dict[str, Any]:
    return {
        "eventType": "click", "eventName": "Opened", "index": "peers", "userToken": "me", **members,
    }  # fmt: skip


def test_a_search_and_all_that_follows_from_it_is_reported(
    service: Running, client: SearchClientSync, reporter: Making, index: str
) -> None:
    fill(client, index, {"objectID": "1", "title": "fox"}, {"objectID": "2", "title": "fox"})
    found = client.search_single_index(index, {"query": "fox", "clickAnalytics": True})
    shared = {"index": index, "userToken": f"user-{secrets.token_hex(4)}"}
    bought = [{"queryID": found.query_id, "price": 9.99, "quantity": 2, "discount": "1.5"}]
    events = [
        event(**shared, queryID=found.query_id, objectIDs=["2"], positions=[2]),
        event(**shared, eventType="view", filters=["kind:a%20b"]),
        event(
            **shared, eventType="conversion", eventSubtype="addToCart", objectIDs=["2"],
            queryID=found.query_id, objectData=[{"price": 9.99, "quantity": 1}], currency="EUR",
        ),
        event(
            **shared, eventType="conversion", eventSubtype="purchase", objectIDs=["2"],
            objectData=bought, currency="EUR", value=18.48, timestamp=int(time.time() * 1000),
        ),
    ]  # fmt: skip

    answer = reporter(service.searchKey).push_events({"events": events})

    assert (answer.status, answer.message) == (200, "OK")
    told = reported(service, index=index)
    assert [{**one, "timestamp": None} for one in told] == [
        {**one, "timestamp": None} for one in events
    ]


def test_what_is_wrong_is_said_in_the_clients_own_error(reporter: Making, service: Running) -> None:
    with pytest.raises(RequestException) as caught:
        reporter(service.searchKey).push_events(
            {"events": [event(objectIDs=["1"]), event(objectIDs=["1"], positions=[1])]}
        )

    assert caught.value.status_code == 422
    assert "`events[1].positions` needs a queryID" in str(caught.value)


@pytest.mark.parametrize("key", ["wrong", "searchKey"])
def test_a_key_without_the_right_forgets_nobody(
    reporter: Making, service: Running, key: str
) -> None:
    with pytest.raises(RequestException) as caught:
        reporter(getattr(service, key, key)).delete_user_token("me")

    assert caught.value.status_code == 401


def test_a_user_is_forgotten(reporter: Making, service: Running) -> None:
    user = f"user-{secrets.token_hex(4)}/+="
    admin = reporter(service.adminKey)
    admin.push_events({"events": [event(userToken=user, objectIDs=["1"])]})

    answer = admin.delete_user_token_with_http_info(user)

    assert answer.status_code == 204
    assert int((answer.headers or {})["x-ratelimit-limit"]) > 0
    while reported(service, userToken=user):
        time.sleep(0.02)

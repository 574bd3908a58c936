"""The vendor's JavaScript client for events, with its credentials in headers and in the URL."""

from __future__ import annotations

import secrets
import time
from typing import Any

import pytest

from tests.conftest import Running
from tests.peers.javascript import Failed, Script
from tests.peers.test_official_events import event, reported


@pytest.mark.parametrize("client", ["events", "beacon"])
def test_events_are_reported(script: Script, service: Running, client: str) -> None:
    user = f"user-{secrets.token_hex(4)}"
    one: dict[str, Any] = event(userToken=user, objectIDs=["1"], timestamp=int(time.time() * 1000))

    answer = script.call("pushEvents", {"events": [one]}, client=client, key=service.searchKey)

    assert answer == {"status": 200, "message": "OK"}
    assert reported(service, userToken=user) == [one]


@pytest.mark.parametrize("client", ["events", "beacon"])
def test_a_bad_event_rejects_with_its_place(script: Script, client: str) -> None:
    with pytest.raises(Failed, match=r"`events\[0\]` needs objectIDs or filters") as caught:
        script.call("pushEvents", {"events": [event()]}, client=client)

    assert caught.value.status == 422


def test_a_user_is_forgotten(script: Script, service: Running) -> None:
    user = f"user-{secrets.token_hex(4)}"
    script.call("pushEvents", {"events": [event(userToken=user, objectIDs=["1"])]}, client="events")

    script.call("deleteUserToken", {"userToken": user}, client="events")

    while reported(service, userToken=user):
        time.sleep(0.02)

"""The current client."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from svc_notebook.data.client import Client
from svc_notebook.data.session import client_of, connect, current, use
from svc_notebook.errors import BadInput, BadOption, NotConnected
from tests.data.client.stub import serving

PROFILES = """
[profiles.shop]
url = "https://shop.example"
app_id = "SHOP"
api_key = "shop-key"

[profiles.other]
url = "https://other.example"
app_id = "OTHER"
api_key = "other-key"
"""


def test_without_a_client_the_error_says_how_to_connect() -> None:
    with pytest.raises(NotConnected, match=r'connect\("local"\)'):
        current()


def test_connecting_makes_the_current_client() -> None:
    client = connect(url="https://a.example", app_id="APP", api_key="the-key")

    assert current() is client
    assert repr(client) == "Client(app_id='APP', address='https://a.example')"


def test_connecting_sends_nothing() -> None:
    with serving() as server:
        connect(url=server.url, app_id="APP", api_key="k")

    assert not server.requests
    assert not server.connections


def test_one_may_use_another_profile(user_file: Path) -> None:
    user_file.write_text(PROFILES)
    connect("shop")

    use("other")

    assert current().connection.app_id == "OTHER"


def test_a_client_of_a_profile_leaves_the_current_one(user_file: Path) -> None:
    user_file.write_text(PROFILES)
    shop = connect("shop")

    other = client_of("other")

    assert other.connection.app_id == "OTHER"
    assert current() is shop


def test_a_failed_connect_leaves_the_current_client(user_file: Path) -> None:
    user_file.write_text(PROFILES)
    shop = connect("shop")

    with pytest.raises(BadInput):
        connect("other", url="no address at all")

    assert current() is shop


def test_every_thread_and_task_sees_the_current_client() -> None:
    client = connect(url="https://a.example", app_id="A", api_key="k")
    seen: list[Client] = []
    thread = threading.Thread(target=lambda: seen.append(current()))
    thread.start()
    thread.join()

    async def look() -> Client:
        return current()

    assert [*seen, asyncio.run(look())] == [client, client]


@pytest.mark.parametrize(
    ("profile", "values", "match"),
    [
        (5, {}, "must be the name of a profile"),
        (None, {"url": "notaurl"}, "not an address such as"),
        ("local", {"url": "https://a.example"}, "omit url="),
    ],
)
def test_arguments_that_name_no_service_are_refused(
    profile: Any, values: dict[str, Any], match: str
) -> None:
    with pytest.raises(BadInput, match=match):
        connect(profile, **values)


@pytest.mark.parametrize(
    "place",
    [
        {"url": "https://a.example"},
        {"hosts": ["https://a.example"]},
        {"hosts": {"read": "https://a.example"}},
    ],
)
def test_a_key_without_its_application_is_refused_at_once(place: dict[str, Any]) -> None:
    with pytest.raises(NotConnected, match=r"app_id=\.\.\.\).*SVC_APP_ID"):
        connect(**place, api_key="k")


def test_a_profile_without_its_application_is_named(user_file: Path) -> None:
    user_file.write_text('[profiles.shop]\nurl = "https://a.example"\napi_key = "k"\n')

    with pytest.raises(NotConnected, match="put app_id into the profile `shop`"):
        connect("shop")


def test_the_application_may_come_from_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SVC_APP_ID", "A")

    assert connect(url="https://a.example", api_key="k").connection.app_id == "A"


def test_a_crawler_needs_no_application() -> None:
    client = connect(url="https://a.example", crawler_user_id="me", crawler_api_key="k")

    assert client.connection.app_id == ""


def test_time_outs_are_arguments_and_come_from_profiles(user_file: Path) -> None:
    user_file.write_text(
        '[profiles.slow]\nurl = "https://a.example"\napp_id = "A"\napi_key = "k"\n'
        "read_timeout = 20\nwrite_timeout = 2.5\n"
    )

    told = connect("slow", connect_timeout=1, write_timeout=90).connection.retry_policy

    assert (told.connect, told.read, told.write) == (1, 20, 90)
    assert connect("slow").connection.retry_policy.write == 2.5


def test_time_outs_are_as_usual_unless_they_are_given() -> None:
    told = connect(url="https://a.example", app_id="A", api_key="k").connection.retry_policy

    assert (told.connect, told.read, told.write) == (2, 5, 30)


@pytest.mark.parametrize("seconds", [0, -3, "5", True])
def test_an_invalid_timeout_is_refused(seconds: Any, user_file: Path) -> None:
    with pytest.raises(BadInput, match="read_timeout"):
        connect(url="https://a.example", app_id="A", api_key="k", read_timeout=seconds)
    user_file.write_text(f"[profiles.slow]\nread_timeout = {json.dumps(seconds)}\n")

    with pytest.raises(BadOption, match="profile slow: `read_timeout`"):
        connect("slow")


def test_a_profile_has_a_region(user_file: Path) -> None:
    user_file.write_text(
        '[profiles.shop]\ndomain = "a.example"\napp_id = "A"\napi_key = "k"\nregion = "de"\n'
    )

    for client, region in ((connect("shop"), "de"), (connect("shop", region="us"), "us")):
        hosts = client.connection.open_hosts()
        assert hosts.order("events") == [f"https://insights.{region}.a.example"]


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:8108", "127.0.0.1:8108", "https://search.example"]
)
def test_an_address_in_the_place_of_a_profile_is_taken_as_the_address(address: str) -> None:
    keys: Any = {"app_id": "SHOP", "api_key": "key"}

    assert connect(address, **keys).connection == connect(url=address, **keys).connection


def test_a_name_with_a_dot_is_a_profile() -> None:
    with pytest.raises(NotConnected, match=r"there is no profile `search\.example`"):
        connect("search.example", app_id="SHOP", api_key="key")

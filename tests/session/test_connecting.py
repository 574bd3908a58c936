"""The current client."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from svc_notebook.client import Client
from svc_notebook.errors import BadInput, NotConnected
from svc_notebook.session import client_of, connect, current, use
from tests.client.stub import serving

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


def test_without_a_client_it_says_what_to_type() -> None:
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
    client = connect(url="https://a.example", api_key="k")
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
        (5, {}, "named by text"),
        (None, {"url": "notaurl"}, "not an address such as"),
        ("local", {"url": "https://a.example"}, "leave out url="),
    ],
)
def test_what_names_no_service_is_refused(profile: Any, values: dict[str, Any], match: str) -> None:
    with pytest.raises(BadInput, match=match):
        connect(profile, **values)

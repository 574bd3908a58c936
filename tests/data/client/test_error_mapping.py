"""Every status and every transport exception is mapped to an error of this package."""

from __future__ import annotations

import asyncio
import datetime
import email.utils
import json
from collections.abc import Iterator
from typing import Any

import httpx
import msgspec
import pytest

from svc_notebook.core.api import ENDPOINTS
from svc_notebook.data.client import AsyncClient, ClientConfig, Secret
from svc_notebook.data.client.retry import FailedAttempt, RateLimited, ReceivedReply
from svc_notebook.data.client.transport.error_mapping import read_answer, read_wait
from svc_notebook.data.client.transport.sender import HttpSender
from svc_notebook.errors import (
    BadInput,
    KeyRefused,
    NotFound,
    Refused,
    ServiceBroken,
    SvcError,
    TimedOut,
    TooMany,
    Unreachable,
)
from tests.data.client.clock import Clock

ROWS = {row.name: row for row in ENDPOINTS}


def kinds_of(base: type[Exception]) -> Iterator[type[Exception]]:
    yield base
    for kind in base.__subclasses__():
        yield from kinds_of(kind)


NETWORK = [kind for kind in kinds_of(httpx.RequestError) if kind.__module__.startswith("httpx")]
EXPECTED: dict[str, type[SvcError]] = {
    "UnsupportedProtocol": BadInput,
    "LocalProtocolError": BadInput,
    "TimeoutException": TimedOut,
    "ConnectTimeout": TimedOut,
    "ReadTimeout": TimedOut,
    "WriteTimeout": TimedOut,
    "PoolTimeout": TimedOut,
}
# Raised only by what we never do: following redirects, streams, reading cookies one by one,
# `raise_for_status`. InvalidURL is raised before sending; see test_sender.
NEVER_RAISED = {"HTTPError", "HTTPStatusError", "CookieConflict", "InvalidURL", "StreamError"}


class Raising(httpx.AsyncBaseTransport):
    """A network on which one thing goes wrong, always."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        raise self.error


def test_no_exception_of_httpx_is_forgotten() -> None:
    public = {
        name
        for name, kind in vars(httpx).items()
        if isinstance(kind, type) and issubclass(kind, Exception)
    }

    streams = {kind.__name__ for kind in kinds_of(httpx.StreamError)}
    assert public == {kind.__name__ for kind in NETWORK} | NEVER_RAISED | streams


@pytest.mark.parametrize("kind", NETWORK, ids=lambda kind: kind.__name__)
def test_whatever_the_network_raises_becomes_ours(kind: type[httpx.RequestError]) -> None:
    clock = Clock()
    connection = ClientConfig(url="http://127.0.0.1:1", api_key=Secret("k"))
    transport = Raising(kind("it went wrong"))
    sender = HttpSender(connection, sleep=clock.sleep, transport=transport)

    with pytest.raises(SvcError, match="it went wrong") as caught:
        asyncio.run(AsyncClient(connection, sender).search("products"))

    assert type(caught.value) is EXPECTED.get(kind.__name__, Unreachable)
    assert caught.value.__cause__ is transport.error


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, Refused),
        (401, KeyRefused),
        (403, KeyRefused),
        (404, NotFound),
        (405, Refused),
        (413, Refused),
        (422, Refused),
        (302, ServiceBroken),
        (501, ServiceBroken),
    ],
)
def test_a_status_means_one_of_our_errors(status: int, kind: type[Refused]) -> None:
    outcome = read_answer(ROWS["search"], status, {}, b'{"message": "because"}')

    assert isinstance(outcome, ReceivedReply)
    assert type(outcome.refusal) is kind
    assert outcome.refusal.message.startswith("because")
    assert (outcome.refusal.status, outcome.refusal.endpoint) == (status, "search")


@pytest.mark.parametrize("status", [500, 502, 503, 504, 599])
def test_a_fault_of_the_service_is_worth_another_try(status: int) -> None:
    outcome = read_answer(ROWS["search"], status, {}, b'{"message": "oops"}')

    assert isinstance(outcome, FailedAttempt)
    assert outcome.arrived
    assert outcome.reason == f"answered {status}: oops"


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("search", "needs the right `search`"),
        ("set_settings", "needs the right `editSettings`"),
        ("list_keys", "needs the admin key"),
        ("run_crawler", "needs the crawler user id and key"),
    ],
)
def test_a_refused_key_is_told_which_right_it_lacks(name: str, right: str) -> None:
    outcome = read_answer(ROWS[name], 403, {}, b'{"message": "no"}')

    assert isinstance(outcome, ReceivedReply)
    assert right in str(outcome.refusal)


@pytest.mark.parametrize(
    ("name", "message", "advice"),
    [
        ("search", "Invalid Application-ID or API key", "; check that the application id and"),
        (
            "search",
            "this key does not reach the index x",
            "; svc.whoami() shows the rights of this key",
        ),
        (
            "batch",
            "this key lacks the right `addObject`",
            "; svc.whoami() shows the rights of this key",
        ),
        ("search", "Method not allowed with this API key", "; search: the key needs the right"),
        ("run_crawler", "Invalid crawler user id", "; run_crawler: needs the crawler user id"),
    ],
)
def test_a_refused_key_is_told_once_and_what_to_do(name: str, message: str, advice: str) -> None:
    outcome = read_answer(ROWS[name], 403, {}, json.dumps({"message": message}).encode())

    assert isinstance(outcome, ReceivedReply)
    assert str(outcome.refusal).startswith(message + advice)
    assert str(outcome.refusal).count("right `") <= 1


def test_a_crawlers_message_may_lie_deeper() -> None:
    body = json.dumps({"error": {"code": "x", "message": "no such crawler"}}).encode()

    outcome = read_answer(ROWS["get_crawler"], 400, {}, body)

    assert isinstance(outcome, ReceivedReply)
    assert str(outcome.refusal) == "no such crawler"


@pytest.mark.parametrize(
    "content", [b"<html>404</html>", b"", b"[]", b'"text"', b'{"message": 5}', b"\xff\xfe"]
)
def test_a_refusal_without_a_message_asks_whether_this_is_the_service(content: bytes) -> None:
    outcome = read_answer(ROWS["search"], 404, {}, content)

    assert isinstance(outcome, ReceivedReply)
    assert isinstance(outcome.refusal, NotFound)
    assert "404 Not Found" in str(outcome.refusal)
    assert "address of a search service" in str(outcome.refusal)


@pytest.mark.parametrize(
    "content",
    [b"<html>welcome</html>", b"", b"{", b'"text"', b"7", b'{"a":"\xff"}', b"[" * 100_000],
    ids=["html", "empty", "half", "text", "number", "not-utf8", "deep"],
)
def test_good_news_that_is_not_json_is_a_fault(content: bytes) -> None:
    outcome = read_answer(ROWS["search"], 200, {}, content)

    assert isinstance(outcome, FailedAttempt)
    assert isinstance(outcome.cause, ServiceBroken)


@pytest.mark.parametrize(
    ("name", "status", "content", "value"),
    [
        ("search", 200, b'{"hits": []}', {"hits": []}),
        ("list_sources", 200, b"[]", []),
        ("delete_user_token", 204, b"", None),
        ("cancel_crawler_task", 200, b"", {}),
        ("get_object", 200, b'{"n": 18446744073709551615}', {"n": 2**64 - 1}),
    ],
)
def test_an_answer_is_its_json(name: str, status: int, content: bytes, value: Any) -> None:
    assert read_answer(ROWS[name], status, {}, content) == ReceivedReply(value)


def test_asked_to_slow_down_it_says_for_how_long() -> None:
    outcome = read_answer(ROWS["search"], 429, {"retry-after": "12"}, b'{"message": "easy"}')

    assert isinstance(outcome, RateLimited)
    assert type(outcome.refusal) is TooMany
    assert (outcome.refusal.wait, str(outcome.refusal)) == (12, "easy")


@pytest.mark.parametrize(
    ("text", "seconds"), [("5", 5), ("0", 0), ("", 1), ("soon", 1), ("-3", 1), ("1e9", 1)]
)
def test_a_wait_is_read_in_seconds(text: str, seconds: float) -> None:
    assert read_wait(text) == seconds


def test_a_wait_may_be_a_date() -> None:
    soon = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=90)

    assert 80 < read_wait(email.utils.format_datetime(soon, usegmt=True)) <= 90
    assert read_wait("Wed, 21 Oct 2015 07:28:00 GMT") == 0


def test_msgspec_raises_nothing_else() -> None:
    """`read_answer` and `encode_json` are tested against these; a new kind would be untested."""
    kinds = {kind.__name__ for kind in kinds_of(msgspec.MsgspecError)}

    assert kinds == {"MsgspecError", "EncodeError", "DecodeError", "ValidationError"}

"""Requests over real sockets, to hosts with and without faults."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import gc
import gzip
import json
import socket
import time
import warnings
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from svc_notebook.core.api import RequestSpec
from svc_notebook.core.api.families.records import ObjectEndpoints
from svc_notebook.core.api.shapes import SearchAnswer
from svc_notebook.data.client import (
    AsyncClient,
    Client,
    ClientConfig,
    RetryPolicy,
    Secret,
    background_loop,
)
from svc_notebook.data.client.transport.pool import CLOSE_SECONDS
from svc_notebook.data.client.transport.sender import HttpSender
from svc_notebook.errors import (
    BadInput,
    KeyRefused,
    NotFound,
    ServiceBroken,
    TimedOut,
    TooMany,
    Unreachable,
)
from tests.data.client import stub
from tests.data.client.clock import Clock
from tests.data.client.stub import serving

CALM = RetryPolicy(attempts=3)
HASTY = RetryPolicy(connect=2, read=0.2, write=0.2, attempts=2)
COUNTING = {"stock": {"_operation": "Increment", "value": 1}}


def client_of(*urls: str, sleep: Any = None, **more: Any) -> Client:
    facts: dict[str, Any] = {"app_id": "APP", "api_key": Secret("k3y"), "retry_policy": CALM}
    connection = ClientConfig(**{**facts, "hosts": urls, **more})
    return Client(connection, HttpSender(connection, sleep=sleep or asyncio.sleep))


def test_a_call_carries_who_calls_and_json() -> None:
    with serving() as server:
        client_of(server.url).search("a/b c", "desk lämp", hitsPerPage=3)

    request = server.requests[0]
    assert (request.verb, request.target) == ("POST", "/1/indexes/a%2Fb%20c/query")
    assert request.json == {"query": "desk lämp", "hitsPerPage": 3}
    assert request.headers["x-service-application-id"] == "APP"
    assert request.headers["x-service-api-key"] == "k3y"
    assert request.headers["content-type"] == "application/json; charset=UTF-8"
    assert request.headers["user-agent"].startswith("svc-notebook/")


def test_the_vendor_is_part_of_the_header_names() -> None:
    with serving() as server:
        client_of(server.url, vendor="Acme").assign_user("ada", "c1")

    headers = server.requests[0].headers
    assert headers["x-acme-application-id"] == "APP"
    assert headers["x-acme-api-key"] == "k3y"
    assert headers["x-acme-user-id"] == "ada"
    assert not [name for name in headers if "service" in name]


def test_the_id_of_a_user_travels_as_it_is() -> None:
    with serving() as server:
        client_of(server.url).assign_user("ann lee*50%/a+b", "c1")

    assert server.requests[0].headers["x-service-user-id"] == "ann lee*50%/a+b"


def test_a_query_string_is_percent_encoded() -> None:
    with serving() as server:
        client_of(server.url).get_object("i", "7", attributesToRetrieve=["a&b", "c+d"])

    assert server.requests[0].target == (
        "/1/indexes/i/7?attributesToRetrieve=%5B%22a%26b%22%2C%22c%2Bd%22%5D"
    )


@pytest.mark.parametrize(("index", "part"), [(".", "%2E"), ("..", "%2E%2E"), ("...", "...")])
def test_a_name_of_dots_is_encoded(index: str, part: str) -> None:
    with serving() as server:
        client_of(server.url).search(index)

    assert server.requests[0].target == f"/1/indexes/{part}/query"


def test_the_crawler_has_its_own_user_and_key() -> None:
    with serving(stub.answer({"items": []})) as server:
        client_of(
            server.url,
            url=server.url,
            crawler_user_id="me",
            crawler_api_key=Secret("crawl"),
        ).list_crawlers()

    headers = server.requests[0].headers
    assert headers["authorization"] == f"Basic {base64.b64encode(b'me:crawl').decode()}"
    assert "x-service-api-key" not in headers


def test_large_bodies_are_compressed_on_request() -> None:
    record = {"objectID": "7", "text": "lamp " * 1000}
    with serving(stub.answer({"taskID": 1})) as server:
        client_of(server.url, compress=True).put_object("i", "7", record)
        client_of(server.url, compress=True).put_object("i", "8", {"a": 1})

    large, small = server.requests
    assert json.loads(gzip.decompress(large.body)) == record
    assert large.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in small.headers


class Noting(httpx.AsyncBaseTransport):
    """Answers at once, and keeps how an answer may be packed."""

    def __init__(self) -> None:
        self.packing = ""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.packing = request.headers["accept-encoding"]
        return httpx.Response(200, json={})


@pytest.mark.parametrize(
    ("url", "packed"), [("http://localhost:1", False), ("https://search.example", True)]
)
def test_only_remote_services_compress_their_answers(url: str, packed: bool) -> None:
    connection, noting = ClientConfig("APP", Secret("k3y"), url=url), Noting()

    Client(connection, HttpSender(connection, transport=noting)).get_settings("i")

    assert ("gzip" in noting.packing) is packed


def test_compressed_answers_are_understood() -> None:
    content = gzip.compress(b'{"nbHits": 1}')
    with serving(stub.raw(content, headers={"content-encoding": "gzip"})) as server:
        assert client_of(server.url).search("i")["nbHits"] == 1


def test_bodies_that_are_bytes_go_as_they_are() -> None:
    row, content = ObjectEndpoints.batch.endpoint, b'{"requests"  :[]}'
    with serving(stub.answer({"taskID": 1})) as server:
        client_of(server.url).perform(row, RequestSpec("POST", "/1/indexes/i/batch", {}, content))

    assert server.requests[0].body == content


FAULTS = {
    "dropped": (stub.drop, Unreachable),
    "reset": (stub.reset, Unreachable),
    "truncated": (stub.raw(b'{"hits"', length=100), Unreachable),
    "not HTTP": (stub.babble, Unreachable),
    "wrongly compressed": (
        stub.raw(b"not gzip", headers={"content-encoding": "gzip"}),
        Unreachable,
    ),
    "not JSON": (stub.raw(b"<html>hello</html>"), ServiceBroken),
    "broken": (stub.answer({"message": "oops"}, 500), ServiceBroken),
    "unavailable": (stub.raw(b"try later", 503), ServiceBroken),
    "silent": (stub.hang, TimedOut),
    "endless": (stub.trickle, TimedOut),
}


def policy_with(fault: str) -> RetryPolicy:
    return HASTY if FAULTS[fault][1] is TimedOut else CALM


@pytest.mark.parametrize("fault", FAULTS)
def test_after_a_failure_the_next_host_is_tried(fault: str) -> None:
    act, _ = FAULTS[fault]
    with serving(act) as bad, serving() as good:
        client = client_of(bad.url, good.url, retry_policy=policy_with(fault))

        assert client.search("i") == {"hits": [], "nbHits": 0}

    assert (len(bad.requests), len(good.requests)) == (1, 1)


@pytest.mark.parametrize("fault", FAULTS)
def test_if_every_host_fails_the_error_lists_each_failure(fault: str) -> None:
    act, kind = FAULTS[fault]
    hasty = RetryPolicy(read=0.05, attempts=2)
    with (
        serving(act) as server,
        serving(act) as other,
        pytest.raises(kind, match=r"^search") as caught,
    ):
        client_of(server.url, other.url, retry_policy=hasty).search("i")

    assert (len(server.requests), len(other.requests)) == (1, 1)
    assert server.url in str(caught.value)
    assert other.url in str(caught.value)
    assert len(getattr(caught.value, "tried", "ab")) == 2


@pytest.mark.parametrize("fault", FAULTS)
def test_a_write_that_is_not_idempotent_is_not_repeated_if_it_may_have_arrived(fault: str) -> None:
    act, kind = FAULTS[fault]
    with (
        serving(act) as bad,
        serving() as good,
        pytest.raises(kind, match="may have been applied"),
    ):
        client_of(bad.url, good.url, retry_policy=policy_with(fault)).partial_update_object(
            "i", "7", COUNTING
        )

    assert (len(bad.requests), len(good.requests)) == (1, 0)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_write_that_may_be_repeated_is(fault: str) -> None:
    act, _ = FAULTS[fault]
    with serving(act) as bad, serving(stub.answer({"taskID": 7})) as good:
        client = client_of(bad.url, good.url, retry_policy=policy_with(fault))
        added = client.add_object("i", {"a": 1})

    assert added["taskID"] == 7
    assert good.requests[0].body == bad.requests[0].body


def test_a_write_that_is_not_idempotent_is_repeated_after_a_refused_connection() -> None:
    with serving(stub.answer({"taskID": 7})) as good:
        answer = client_of(stub.closed_port(), good.url).partial_update_object("i", "7", COUNTING)

    assert answer["taskID"] == 7


def test_a_refused_connection_on_this_machine_gives_advice() -> None:
    with pytest.raises(Unreachable, match=r'connect\("local"\) starts one') as caught:
        client_of(stub.closed_port()).search("i")

    assert caught.value.endpoint == "search"
    assert len(caught.value.tried) == 3


def test_a_failed_host_is_not_tried_first_by_the_next_call() -> None:
    with serving(stub.drop) as bad, serving() as good:
        client = client_of(bad.url, good.url)
        client.search("i")
        client.search("i")

    assert (len(bad.requests), len(good.requests)) == (1, 2)


@pytest.mark.parametrize(
    ("status", "kind"), [(400, Exception), (403, KeyRefused), (404, NotFound), (501, ServiceBroken)]
)
def test_a_refusal_is_final(status: int, kind: type[Exception]) -> None:
    with (
        serving(stub.answer({"message": "no"}, status)) as first,
        serving() as other,
        pytest.raises(kind, match="no"),
    ):
        client_of(first.url, other.url).search("i")

    assert (len(first.requests), len(other.requests)) == (1, 0)


def test_a_rate_limit_is_waited_for() -> None:
    clock = Clock()
    busy = stub.answer({"message": "easy"}, 429, {"retry-after": "9"})
    with serving(busy, busy, stub.answer({"taskID": 7})) as server, serving() as other:
        client_of(server.url, other.url, sleep=clock.sleep).partial_update_object(
            "i", "7", COUNTING
        )

    assert clock.slept == [9, 9]
    assert (len(server.requests), len(other.requests)) == (3, 0)


def test_a_long_rate_limit_is_not_waited_for() -> None:
    clock = Clock()
    busy = stub.answer({"message": "easy"}, 429, {"retry-after": "9"})
    with serving(busy) as server, pytest.raises(TooMany, match="easy") as caught:
        client_of(server.url, sleep=clock.sleep).search("i")

    assert clock.slept == [9, 9, 9]
    assert caught.value.wait == 9


@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.search("i" * 100_000),
        lambda client: client.search("i", hitsPerPge=3),
        lambda client: client.add_object("i", {"a": float("nan")}),
        lambda client: client.add_object("i", {"a": "\ud800"}),
        lambda client: client.add_object("i", {"a": 2**70}),
    ],
    ids=["too long", "misspelt", "nan", "surrogate", "huge"],
)
def test_an_invalid_call_is_refused_before_it_is_sent(call: Callable[[Client], Any]) -> None:
    with serving() as server, pytest.raises(BadInput):
        call(client_of(server.url))

    assert not server.requests


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"vendor": "Ac me"}, "vendor"),
        ({"app_id": "a\nb"}, "app_id"),
        ({"api_key": Secret("a\nb")}, "api_key"),
        ({"api_key": Secret("schlüssel")}, "api_key"),
    ],
)
def test_a_connection_that_cannot_work_is_refused_at_once(
    given: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInput, match=message) as caught:
        ClientConfig(url="http://localhost", **given)

    assert "schl" not in str(caught.value)


def test_connections_are_kept_open_between_calls() -> None:
    with serving() as server:
        client = client_of(server.url)
        for _ in range(5):
            client.search("i")

    assert (len(server.requests), server.connections) == (5, 1)


def test_a_closed_client_opens_new_connections() -> None:
    with serving() as server:
        with client_of(server.url) as client:
            client.search("i")
        client.search("i")
        client.close()
        client.close()

    assert server.connections == 2


def test_each_loop_has_its_own_connections_and_closes_them_when_it_ends() -> None:
    with serving() as server, warnings.catch_warnings():
        warnings.simplefilter("error")
        client = client_of(server.url)
        for _ in range(3):
            asyncio.run(client.aio.search("i"))
        client.search("i")
        gc.collect()

    assert server.connections == 4


def test_a_client_that_is_dropped_closes_its_connections() -> None:
    async def use_and_drop(url: str) -> None:
        await client_of(url).aio.search("i")
        gc.collect()
        await asyncio.sleep(2 * CLOSE_SECONDS)

    with serving() as server:
        background_loop.run(use_and_drop(server.url))

        assert [writer.is_closing() for writer in server.writers] == [True]


def test_many_calls_at_once_share_one_client() -> None:
    async def search_many(client: AsyncClient) -> list[SearchAnswer]:
        calls = (client.search("i", str(n)) for n in range(50))
        return list(await asyncio.gather(*calls))

    with serving() as server:
        answers = asyncio.run(search_many(client_of(server.url).aio))

    assert len(answers) == 50
    assert sorted(int(r.json["query"]) for r in server.requests) == list(range(50))


def test_a_cancelled_call_leaves_nothing_running() -> None:
    async def cancel(client: AsyncClient) -> set[asyncio.Task[Any]]:
        call = asyncio.create_task(client.search("i"))
        await asyncio.sleep(0.05)
        call.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await call
        await client.close()
        return asyncio.all_tasks() - {asyncio.current_task()}

    with serving(stub.hang) as server:
        assert asyncio.run(cancel(client_of(server.url, retry_policy=RetryPolicy()).aio)) == set()


@pytest.mark.parametrize("call", ["read", "write"])
def test_a_hanging_socket_is_tried_once_until_its_timeout(call: str) -> None:
    """A read waits less than a write; compared by themselves, for the machine may be slow."""
    retry_policy = RetryPolicy(read=0.3, write=1.2)
    with serving(stub.hang) as server, client_of(server.url, retry_policy=retry_policy) as client:
        began = time.monotonic()
        with pytest.raises(TimedOut, match="timed out") as caught:
            client.search("i") if call == "read" else client.clear_objects("i")
        took = time.monotonic() - began

    assert len(server.requests) == 1
    assert len(caught.value.tried) == 1
    assert took >= retry_policy.answer("read" if call == "read" else "write")


def test_a_host_that_does_not_answer_is_tried_once() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as deaf:
        address = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        with (
            client_of(address, retry_policy=RetryPolicy(read=0.3)) as client,
            pytest.raises(TimedOut) as caught,
        ):
            client.search("i")

    assert len(caught.value.tried) == 1


@pytest.mark.parametrize("option", ["read_timeout", "write_timeout"])
def test_one_call_may_wait_longer_or_shorter(option: str) -> None:
    retry_policy = RetryPolicy(read=50, write=50)
    with serving(stub.hang) as server, client_of(server.url, retry_policy=retry_policy) as client:
        hasty = client.with_options(**{option: 0.2})  # type: ignore[arg-type]
        with pytest.raises(TimedOut):
            hasty.search("i") if option == "read_timeout" else hasty.clear_objects("i")

    assert len(server.requests) == 1
    assert client.connection.retry_policy is retry_policy

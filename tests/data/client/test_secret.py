"""A key is masked in every representation."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import pickle
import traceback
from collections.abc import Callable
from typing import Any

import httpx
import msgspec
import pytest

from svc_notebook.data.client import Client, ClientConfig, RetryPolicy, Secret
from svc_notebook.data.client.secret import discreet
from svc_notebook.data.client.transport.sender import HttpSender
from svc_notebook.errors import BadInput, CallFailed
from tests.data.client import stub

KEY = "0123456789abcdef-the-key"


@pytest.mark.parametrize(
    "show",
    [
        repr,
        str,
        lambda secret: f"{secret} {secret!r} {secret:>40}",
        lambda secret: "%s %r" % (secret, secret),  # noqa: UP031 - one more way to show it
        lambda secret: repr({"key": [secret]}),
        lambda secret: repr(ClientConfig(api_key=secret, url="http://localhost")),
        lambda secret: repr(Client(ClientConfig(api_key=secret, url="http://localhost"))),
        lambda secret: str(vars(Client(ClientConfig(api_key=secret, url="http://localhost")))),
    ],
    ids=["repr", "str", "f-string", "percent", "nested", "connection", "client", "vars"],
)
def test_a_key_is_never_shown(show: Callable[[Secret], str]) -> None:
    assert KEY not in show(Secret(KEY))


@pytest.mark.parametrize("write", [json.dumps, msgspec.json.encode, msgspec.msgpack.encode])
def test_a_key_is_never_written_as_json(write: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError):
        write({"key": Secret(KEY)})


def test_a_key_is_never_pickled() -> None:
    with pytest.raises(BadInput, match="cannot be pickled"):
        pickle.dumps(Secret(KEY))


def test_a_key_is_copied_by_reference() -> None:
    secret = Secret(KEY)

    assert copy.copy(secret) is secret
    assert copy.deepcopy([secret])[0] is secret


def test_reveal_returns_the_key() -> None:
    assert Secret(KEY).reveal() == KEY


def test_keys_compare_by_their_text() -> None:
    assert Secret(KEY) == Secret(KEY)
    assert Secret(KEY) != Secret(KEY + "x")
    assert Secret(KEY) != KEY
    assert len({Secret(KEY), Secret(KEY)}) == 1


def test_an_empty_key_is_none() -> None:
    assert not Secret("")
    assert Secret(KEY)


@pytest.mark.parametrize("act", [stub.answer({"message": "no"}, 403), stub.drop, stub.babble])
def test_no_traceback_holds_the_key_even_with_the_values_of_its_frames(act: stub.Act) -> None:
    with stub.serving(act) as server, pytest.raises(CallFailed) as caught:
        Client(
            ClientConfig("APP", Secret(KEY), url=server.url, retry_policy=RetryPolicy(attempts=1))
        ).search("products")

    below = caught.value.with_traceback(caught.tb.tb_next)  # not this test's own frame
    told = traceback.TracebackException.from_exception(below, capture_locals=True)
    shown = "".join(told.format())
    assert "spec" in shown
    assert KEY not in shown
    assert server.requests[0].headers["x-service-api-key"] == KEY


@pytest.mark.parametrize("call", ["get_key", "delete_key", "restore_key"])
def test_the_log_of_calls_masks_a_key_that_stands_in_a_path(
    call: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "httpx")

    with stub.serving() as server:
        connection = ClientConfig("APP", Secret(KEY), url=server.url)
        sender = HttpSender(connection, transport=httpx.AsyncHTTPTransport())
        getattr(Client(connection, sender), call)(KEY)

    assert "/1/keys/***" in caplog.text
    assert KEY not in caplog.text
    assert KEY in server.requests[0].target


async def fail_with(key: str) -> None:
    text = key
    raise ZeroDivisionError(len(text))


def test_a_function_that_handles_keys_forgets_its_values_when_it_fails() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        asyncio.run(discreet(fail_with)(KEY))

    told = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    below = next(frame for frame in told.stack if frame.name == "fail_with")
    assert not below.locals
    assert below.line == "raise ZeroDivisionError(len(text))"

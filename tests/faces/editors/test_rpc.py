"""Calls from views are answered in order."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from typing import Any

import pytest

from svc_notebook.errors import BadInput, BadOption, KeyRefused
from svc_notebook.faces.editors import event_loop
from svc_notebook.faces.editors.rpc import CallDispatcher, call, report_progress, wait_for


class Counter:
    """Something with calls, and everything it sent."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.log: list[Any] = []
        self.dispatcher = CallDispatcher(self, self.sent.append)

    def send(self, *messages: Any) -> list[dict[str, Any]]:
        """Send messages, wait for the response of each, and return all responses."""
        for message in messages:
            self.dispatcher.accept(message)
        dicts = [message for message in messages if isinstance(message, dict)]
        wanted = {message["id"] for message in dicts if "id" in message}
        until = time.monotonic() + 10
        while wanted - {m["id"] for m in self.sent if m.keys() & {"value", "error", "cancelled"}}:
            assert time.monotonic() < until, self.sent
            time.sleep(0.005)
        return self.sent

    @call
    def add(self, one: int, other: int) -> int:
        return one + other

    @call
    async def note(self, what: str, wait: float) -> str:
        await asyncio.sleep(wait)
        self.log.append(what)
        return what

    @call(latest=True)
    async def look(self, what: str, wait: float) -> str:
        return await self.note(what, wait)

    @call
    async def fail(self, kind: str) -> None:
        raise {"input": BadInput("no"), "key": KeyRefused("no", status=403)}.get(
            kind, ZeroDivisionError("oh")
        )

    @call
    async def work(self) -> None:
        report_progress(1, 2, "half")

    @call
    def where(self) -> str:
        return threading.current_thread().name

    def secret(self) -> str:
        return "not for views"


def ask(number: int, name: str, **args: Any) -> dict[str, Any]:
    return {"id": number, "call": name, "args": args}


@pytest.fixture
def counter() -> Counter:
    return Counter()


def test_a_call_is_answered_with_its_number(counter: Counter) -> None:
    assert counter.send(ask(7, "add", one=1, other=2)) == [{"id": 7, "value": 3}]


def test_calls_of_one_name_run_in_turn(counter: Counter) -> None:
    counter.send(ask(1, "note", what="slow", wait=0.05), ask(2, "note", what="quick", wait=0))

    assert counter.log == ["slow", "quick"]
    assert [answer["id"] for answer in counter.sent] == [1, 2]


def test_calls_of_other_names_do_not_wait(counter: Counter) -> None:
    counter.send(ask(1, "note", what="slow", wait=0.2), ask(2, "add", one=1, other=1))

    assert [answer["id"] for answer in counter.sent] == [2, 1]


def test_the_last_call_wins_with_latest(counter: Counter) -> None:
    asked = [ask(number, "look", what=str(number), wait=0.5) for number in range(5)]

    counter.send(*asked)

    assert counter.log == ["4"]
    assert [answer for answer in counter.sent if "value" in answer] == [{"id": 4, "value": "4"}]
    assert {a["id"] for a in counter.sent if "cancelled" in a} == {0, 1, 2, 3}


def test_a_call_is_cancelled_on_request(counter: Counter) -> None:
    counter.dispatcher.accept(ask(1, "note", what="never", wait=30))

    counter.send(ask(2, "add", one=1, other=1), {"cancel": 1})
    counter.send(ask(3, "add", one=1, other=1))

    assert {"id": 1, "cancelled": True} in counter.sent
    assert counter.log == []


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("input", {"type": "BadInput", "message": "no", "advice": ""}),
        ("key", {"type": "KeyRefused", "message": "no"}),
    ],
    ids=["input", "key"],
)
def test_an_error_travels_with_advice(counter: Counter, kind: str, told: dict[str, str]) -> None:
    [answer] = counter.send(ask(1, "fail", kind=kind))

    assert answer["error"].items() >= told.items()


def test_an_unexpected_error_is_logged(counter: Counter, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        [answer] = counter.send(ask(1, "fail", kind="other"))

    assert "error of the editor" in answer["error"]["advice"]
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize("name", ["secret", "nothing", "__init__", "dispatcher"])
def test_a_view_can_call_only_marked_methods(counter: Counter, name: str) -> None:
    [answer] = counter.send(ask(1, name))

    assert "has no call" in answer["error"]["message"]


@pytest.mark.parametrize("message", [{"other": 1}, "text", None, [1]])
def test_unknown_messages_are_ignored(counter: Counter, message: Any) -> None:
    assert counter.send(message) == []


def test_progress_has_the_number_of_its_call(counter: Counter) -> None:
    counter.send(ask(5, "work"))

    assert counter.sent[0] == {"id": 5, "progress": {"done": 1, "total": 2, "text": "half"}}


def test_calls_run_on_the_editors_loop(counter: Counter) -> None:
    [answer] = counter.send(ask(1, "where"))

    assert answer["value"] != threading.current_thread().name


def test_waiting_on_the_editors_loop_for_itself_is_refused() -> None:
    async def wait() -> None:
        wait_for(asyncio.sleep(0))

    with pytest.raises(BadOption, match="use the coroutine"):
        event_loop.run(wait())

"""A write is confirmed by its task, else by its effect, as far as the key has rights."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from svc_notebook.data.client import operations
from svc_notebook.data.client.operations import WriteOutcome, write_and_wait
from svc_notebook.errors import KeyRefused, NotFound, Refused, TaskFailed, TooMany, Unreachable

ANSWER = {"taskID": 7, "updatedAt": "2026-01-01T00:00:00Z"}


class Service:
    """Answers a wait with an error, if there is one, and counts looks at an effect."""

    def __init__(self, error: Exception | None = None, *looks: Any) -> None:
        self.error = error
        self.looks = list(looks)
        self.looked = 0
        self.waited: list[Any] = []

    async def wait(self, tasks: Any, *, index: str | None, on_progress: Any) -> int:
        self.waited.append((tasks, index))
        if self.error:
            raise self.error
        return 1

    async def confirm(self) -> bool:
        self.looked += 1
        found = self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]
        if isinstance(found, Exception):
            raise found
        return bool(found)


def closed(*looks: Any) -> Service:
    return Service(KeyRefused("lacks `addObject`", status=403), *looks)


def follow(service: Service, write: Any = None, **options: Any) -> WriteOutcome:
    confirm: Callable[[], Awaitable[bool]] | None = service.confirm if service.looks else None
    write = ANSWER if write is None else write
    client: Any = service
    return asyncio.run(write_and_wait(client, write, index="i", confirm=confirm, **options))


def test_a_readable_task_is_waited_for_without_checking_the_effect() -> None:
    service = Service(None, False)

    outcome = follow(service)

    assert (outcome.state, outcome.facts()) == ("published", {})
    assert service.looked == 0
    assert service.waited == [(ANSWER, "i")]


def test_a_call_that_is_not_sent_yet_is_sent() -> None:
    async def send() -> dict[str, Any]:
        return ANSWER

    service = Service()

    follow(service, send())

    assert service.waited == [(ANSWER, "i")]


def test_several_answers_are_waited_for_together() -> None:
    service = Service()

    follow(service, [ANSWER, {"taskID": 8}])

    assert service.waited == [([ANSWER, {"taskID": 8}], "i")]


def test_a_write_that_is_refused_raises_that() -> None:
    async def send() -> dict[str, Any]:
        raise KeyRefused("lacks `editSettings`", status=403)

    service = closed(True)

    with pytest.raises(KeyRefused, match="editSettings"):
        follow(service, send())

    assert not service.waited
    assert not service.looked


def test_an_effect_is_checked_until_it_is_visible() -> None:
    service = closed(False, NotFound("no index yet", status=404), False, True)

    outcome = follow(service)

    assert outcome.state == "confirmed"
    assert outcome.facts()["status"].startswith("confirmed; this key may not read tasks")
    assert service.looked == 4


@pytest.mark.parametrize(
    "error",
    [
        KeyRefused("lacks `search`", status=403),
        TooMany("slow down"),
        Refused("not in this plan", status=402),
    ],
)
def test_a_write_with_an_unreadable_effect_is_accepted_with_a_warning(error: Refused) -> None:
    with pytest.warns(UserWarning, match="write to i was accepted; .* not known whether"):
        outcome = follow(closed(error))

    assert outcome.facts()["status"].startswith("accepted; this key may not read tasks")


def test_a_write_without_a_check_is_accepted_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="accepted"):
        assert follow(closed()).state == "accepted"


def test_an_effect_that_does_not_show_is_reported_with_its_tasks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(operations, "CONFIRM_SECONDS", 0.2)
    service = closed(False)

    with pytest.raises(
        TaskFailed, match=r"accepted, but its effect is not visible after 0\.2 s"
    ) as caught:
        follow(service)

    assert caught.value.tasks == (7,)
    assert service.looked > 1


@pytest.mark.parametrize(
    "error", [TaskFailed("not published", tasks=[7]), Unreachable("no host answered")]
)
def test_other_errors_of_waiting_are_raised(error: Exception) -> None:
    with pytest.raises(type(error)):
        follow(Service(error, True))

"""Valid events are accepted; an event with one error is refused with its position."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc_notebook.core.api.event_checks import check_event
from svc_notebook.errors import BadInput
from svc_notebook.service.app import App
from svc_notebook.service.service import Service
from tests.conftest import Inside, examples
from tests.core.api.event_strategies import SPOILINGS, Event, events


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inside]:
    """One service for all examples."""
    service = Service(tmp_path_factory.mktemp("events"))
    app = App(service)
    yield Inside(app)
    app.close()
    service.stop()


def count(inside: Inside) -> int:
    return int(inside.app.service.store.read("SELECT count(*) FROM events")[0][0])


@settings(max_examples=examples(100), deadline=None)
@given(batch=st.lists(events(), min_size=1, max_size=4), data=st.data())
def test_a_batch_is_accepted_whole_or_its_first_error_is_reported(
    inside: Inside, batch: list[Event], data: Any
) -> None:
    before = count(inside)
    name = data.draw(st.none() | st.sampled_from(sorted(SPOILINGS)))
    named = None
    if name:
        place, event = data.draw(st.integers(0, len(batch))), data.draw(events(SPOILINGS[name]))
        batch.insert(place, SPOILINGS[name].apply(event))
        named = f"events[{place}]{SPOILINGS[name].place}"

    answer = inside.call("POST", "/1/events", {"events": batch})

    assert answer.status_code == answer.json()["status"] == (422 if named else 200), answer.text
    assert count(inside) == before + (0 if named else len(batch))
    if named:
        assert answer.json()["message"].startswith(f"`{named}`")


@pytest.mark.parametrize("name", SPOILINGS)
@settings(max_examples=examples(10), deadline=None)
@given(data=st.data())
def test_each_invalid_event_is_refused_before_it_is_sent(name: str, data: Any) -> None:
    spoiling = SPOILINGS[name]
    event = data.draw(events(spoiling))
    check_event(event, "event")

    with pytest.raises(BadInput) as refused:
        check_event(spoiling.apply(event), "event")

    assert str(refused.value).startswith(f"`event{spoiling.place}`"), refused.value

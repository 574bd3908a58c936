"""Schedules as text, compared with the times of Later.js."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.errors import BadInput
from svc_notebook.service.crawl.schedule import MIN_INTERVAL, read_schedule

PEER: list[tuple[str, list[str]]] = json.loads(Path(__file__).with_name("later.json").read_text())
NOW = datetime(2026, 2, 10, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(("text", "times"), PEER, ids=[text for text, _ in PEER])
def test_a_schedule_has_the_times_of_later_js(text: str, times: list[str]) -> None:
    schedule = read_schedule(text)

    moment: datetime | None = NOW
    for expected in times:
        assert moment
        moment = schedule.after(moment)
        assert moment == datetime.fromisoformat(expected)


WRONG = {
    "": "contains no time",
    "every": "is incomplete",
    "daily": "did you mean `day`?",
    "on Mondy": "`mondy` is not understood in `on Mondy`; did you mean `monday`?",
    "every 1 minute": "occurs more than once in 24 hours",
    "also on Monday " * 60: "is too long; the limit is 100 words",
    "every 12 hours": "occurs more than once in 24 hours",
    "at 10:00 am and 3:00 pm": "occurs more than once in 24 hours",
    "every weekday at 3:00 pm also on Monday at 9:00 am": "occurs more than once in 24 hours",
    "on the 32nd day of the month": "day 32 does not exist; use 1 to 31",
    "on the 30th day of the month of February": "never occurs",
    "at 25:00": "`25:00` is not a time of day",
    "at 13:00 pm": "the hours of pm are 1 to 12",
    "at 3": "write it as 3:00 pm or 15:00",
    "every 0 days": "every 0 is never",
    "every 1 day except on Monday also": "contains no time",
    "every 1 day @ 3": "`@` is not understood",
}


@pytest.mark.parametrize(("text", "why"), WRONG.items())
def test_an_invalid_schedule_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(BadInput, match=re.escape(why)) as refusal:
        read_schedule(text, "actions[0].schedule")

    assert str(refusal.value).startswith("`actions[0].schedule`")


moments = st.datetimes(datetime(2024, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC))
SOME = [read_schedule(text) for text, _ in PEER]


@given(moments, st.sampled_from(SOME))
def test_the_next_time_is_the_first_later_time(moment: datetime, schedule: object) -> None:
    assert hasattr(schedule, "after")

    then = schedule.after(moment)

    assert then > moment
    assert schedule.after(then - timedelta(seconds=1)) == then
    assert schedule.after(moment + (then - moment) / 2) == then
    assert schedule.after(then) - then >= MIN_INTERVAL


@given(st.times().map(lambda t: t.replace(second=0, microsecond=0)), moments)
def test_a_time_of_day_occurs_every_day(at: time, moment: datetime) -> None:
    then = read_schedule(f"at {at:%H:%M}").after(moment)

    assert then
    assert then.time() == at
    assert then - moment <= timedelta(days=1)


@given(st.text("every on at the 1st 2 day 3:00 pm Monday of month and also except", max_size=40))
def test_any_words_are_parsed_or_refused(text: str) -> None:
    try:
        schedule = read_schedule(text)
    except BadInput:
        return

    assert schedule.after(NOW)


def test_a_time_in_another_zone_is_the_same_moment() -> None:
    schedule = read_schedule("at 3:00 pm")

    assert schedule.after(datetime.fromisoformat("2026-02-10T17:30:00+02:00")) == datetime(
        2026, 2, 11, 15, tzinfo=UTC
    )

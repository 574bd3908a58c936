"""The schedule of a crawler: parse its text, and compute the next run after a given time.

The syntax is that of Later.js text ("at 3:00 pm on Monday", "every 2 weeks", "on the 1st and 15th
day of the month", "also", "except"). Times are UTC. Two crawls are at least a day apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise

from svc_notebook.errors import BadInput
from svc_notebook.service.crawl.schedule_parser import SchedulePart, read_parts

MIN_INTERVAL = timedelta(days=1)
# A leap day recurs within this time; a schedule without a time in it never runs.
HORIZON_DAYS = 366 * 8 + 2
# The interval between runs is checked over this many days.
INTERVAL_CHECK_DAYS = 800
FIRST_CHECKED_DAY = date(2024, 1, 1)


@dataclass(frozen=True)
class Schedule:
    """A parsed schedule in UTC: the times in any of `parts` and in none of `exceptions`."""

    text: str
    parts: tuple[SchedulePart, ...]
    exceptions: tuple[SchedulePart, ...] = ()

    def after(self, moment: datetime) -> datetime | None:
        """Return the first time later than `moment`, None if there is none."""
        moment = moment.astimezone(UTC)
        return next((time for time in self._from(moment.date()) if time > moment), None)

    def _from(self, day: date, days: int = HORIZON_DAYS) -> Iterator[datetime]:
        for ahead in range(days):
            if day.toordinal() + ahead > date.max.toordinal():
                return
            yield from self._within(day + timedelta(days=ahead))

    def _within(self, day: date) -> list[datetime]:
        """Return the times of one day."""
        moments = {moment for part in self.parts if part.starts_on(day) for moment in part.times()}
        return [
            datetime.combine(day, moment, UTC)
            for moment in sorted(moments)
            if not any(part.covers(day, moment) for part in self.exceptions)
        ]

    def is_sparse(self) -> bool:
        """Return whether all times of about two years are at least a day apart."""
        return all(
            then - now >= MIN_INTERVAL
            for now, then in pairwise(self._from(FIRST_CHECKED_DAY, INTERVAL_CHECK_DAYS))
        )


def read_schedule(text: str, name: str = "schedule") -> Schedule:
    """Parse the text of a schedule; raises `BadInput` with the first unknown word."""
    parts, exceptions = read_parts(text, name)
    schedule = Schedule(text, tuple(parts), tuple(exceptions))
    if schedule.after(datetime.combine(FIRST_CHECKED_DAY, time(), UTC)) is None:
        raise BadInput(f"`{name}`: `{text}` never occurs")
    if not schedule.is_sparse():
        raise BadInput(f"`{name}`: `{text}` occurs more than once in 24 hours; use fewer times")
    return schedule

"""One part of a schedule: the days and the times of a day on which it falls."""

from __future__ import annotations

import calendar
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, time, timedelta

FIELDS: dict[str, Callable[[date], tuple[int, bool]]] = {
    "weekday": lambda day: (day.isoweekday() % 7 + 1, False),
    "day": lambda day: (day.day, day.day == _days_of_month(day)),
    "instance": lambda day: ((day.day - 1) // 7 + 1, day.day + 7 > _days_of_month(day)),
    "yearday": lambda day: (day.timetuple().tm_yday, (day + timedelta(1)).year != day.year),
    "week": lambda day: (day.isocalendar().week, (day + timedelta(7)).isocalendar().week == 1),
    "monthweek": lambda day: (_week_of_month(day), _week_of_month(day) == _weeks_of_month(day)),
    "month": lambda day: (day.month, day.month == 12),
    "year": lambda day: (day.year, False),
}


@dataclass
class Part:
    """What has to hold at once: for each field named, one of its numbers."""

    fields: dict[str, set[int]] = field(default_factory=dict)
    clock: set[time] = field(default_factory=set)

    def begins(self, day: date) -> bool:
        """Say whether a time of this part falls on a day: on the first of a month, where only
        months are named, on a Monday for weeks.
        """
        return self.holds(day) and (self._is_daily() or self._opens(day))

    def holds(self, day: date) -> bool:
        """Say whether a day is among those that are named."""
        return all(
            number in self.fields[name] or (last and 0 in self.fields[name])
            for name, (number, last) in (
                (name, FIELDS[name](day)) for name in self.fields if name in FIELDS
            )
        )

    def times(self) -> set[time]:
        """Return the times of a day: midnight, where none is named."""
        hours = self.fields.get("hour")
        minutes = self.fields.get("minute")
        if self.clock or (hours is None and minutes is None):
            return self.clock or {time()}
        every = hours if hours is not None else set(range(24))
        return {time(hour, minute) for hour in every for minute in minutes or {0}}

    def covers(self, day: date, moment: time) -> bool:
        """Say whether a moment lies within this part, as an exception asks."""
        return (
            self.holds(day)
            and (not self.clock or moment in self.clock)
            and moment.hour in self.fields.get("hour", {moment.hour})
            and moment.minute in self.fields.get("minute", {moment.minute})
        )

    def _is_daily(self) -> bool:
        finer = {"weekday", "day", "instance", "yearday", "hour", "minute"}
        return bool(self.clock or finer & self.fields.keys()) or not self.fields

    def _opens(self, day: date) -> bool:
        if {"week", "monthweek"} & self.fields.keys():
            return day.isoweekday() == 1 or ("monthweek" in self.fields and day.day == 1)
        return day.day == 1 and ("month" in self.fields or day.month == 1)


def _days_of_month(day: date) -> int:
    return calendar.monthrange(day.year, day.month)[1]


def _week_of_month(day: date) -> int:
    """Count the weeks of a month, from Monday; the first may be short."""
    return (day.day + day.replace(day=1).isoweekday() - 2) // 7 + 1


def _weeks_of_month(day: date) -> int:
    return _week_of_month(day.replace(day=_days_of_month(day)))

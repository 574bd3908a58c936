"""The schedule of a crawler: parse its text, and compute the next run after a given time.

The syntax is that of Later.js text ("at 3:00 pm on Monday", "every 2 weeks", "on the 1st and 15th
day of the month", "also", "except"). Times are UTC. Two crawls are at least a day apart.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise

from svc_notebook.errors import BadInput, did_you_mean

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


@dataclass
class SchedulePart:
    """Constraints that apply together: one of the listed numbers for each field."""

    fields: dict[str, set[int]] = field(default_factory=dict)
    clock: set[time] = field(default_factory=set)

    def starts_on(self, day: date) -> bool:
        """Return whether a time of this part falls on a day.

        With months only, that is the first day of a month, with weeks a Monday.
        """
        return self.matches_day(day) and (self._is_daily() or self._opens(day))

    def matches_day(self, day: date) -> bool:
        """Return whether a day satisfies the constraints."""
        return all(
            number in self.fields[name] or (last and 0 in self.fields[name])
            for name, (number, last) in (
                (name, FIELDS[name](day)) for name in self.fields if name in FIELDS
            )
        )

    def times(self) -> set[time]:
        """Return the times of a day, midnight by default."""
        hours = self.fields.get("hour")
        minutes = self.fields.get("minute")
        if self.clock or (hours is None and minutes is None):
            return self.clock or {time()}
        every = hours if hours is not None else set(range(24))
        return {time(hour, minute) for hour in every for minute in minutes or {0}}

    def covers(self, day: date, moment: time) -> bool:
        """Return whether a moment is within this part when it is an exception."""
        return (
            self.matches_day(day)
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
    """Return the week of the month; weeks begin on Monday, the first may be short."""
    return (day.day + day.replace(day=1).isoweekday() - 2) // 7 + 1


def _weeks_of_month(day: date) -> int:
    return _week_of_month(day.replace(day=_days_of_month(day)))


WEEKDAYS = {
    name: number
    for number, names in enumerate(
        ("sunday sun", "monday mon", "tuesday tue tues", "wednesday wed", "thursday thu thur thurs",
         "friday fri", "saturday sat"), 1)
    for name in names.split()
}  # fmt: skip
MONTHS = {
    name: number
    for number in range(1, 13)
    for name in (calendar.month_name[number].lower(), calendar.month_abbr[number].lower())
} | {"sept": 9}
GROUPS = {"weekday": {2, 3, 4, 5, 6}, "weekend": {1, 7}}
NUMBERS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "last": 0}
# The name of a unit, its field and its valid numbers; `last` is 0.
UNITS = {
    "minute": ("minute", range(60)),
    "hour": ("hour", range(24)),
    "day": ("day", range(1, 32)),
    "day instance": ("instance", range(1, 6)),
    "day of week": ("weekday", range(1, 8)),
    "day of year": ("yearday", range(1, 367)),
    "week": ("week", range(1, 54)),
    "week of month": ("monthweek", range(1, 7)),
    "month": ("month", range(1, 13)),
    "year": ("year", range(1970, 2100)),
}
MAX_SCHEDULE_WORDS = 100

_TOKEN = re.compile(
    r"\s*(?:(\d{1,2}:\d\d(?::\d\d)?(?:\s*[ap]m\b)?|\d{1,2}\s*[ap]m\b)|(\d+)(?:st|nd|rd|th)?\b"
    r"|([a-z]+)|([,-]))\s*"
)
_FILLERS = {"the"}


def read_parts(text: str, name: str) -> tuple[list[SchedulePart], list[SchedulePart]]:
    """Parse the text of a schedule into its parts and its exceptions."""
    return _ScheduleReader(text, name).read()


class _ScheduleReader:
    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text, name
        self.tokens = self.split()
        self.at = 0

    def split(self) -> list[str]:
        tokens, at, text = [], 0, self.text.lower().strip()
        while at < len(text):
            match = _TOKEN.match(text, at)
            if not match:
                raise self.refusal(text[at:].split()[0])
            tokens.append(next(filter(None, match.groups())))
            at = match.end()
        return [token for token in tokens if token not in _FILLERS]

    def read(self) -> tuple[list[SchedulePart], list[SchedulePart]]:
        if len(self.tokens) > MAX_SCHEDULE_WORDS:
            raise BadInput(f"`{self.name}` is too long; the limit is {MAX_SCHEDULE_WORDS} words")
        kept: list[list[SchedulePart]] = [[SchedulePart()], []]
        goal = kept[0]
        while self.at < len(self.tokens):
            word = self.take()
            if word in ("also", "except"):
                goal = kept[word == "except"]
                goal.append(SchedulePart())
            elif (clause := _CLAUSES.get(word)) is not None:
                clause(self, goal[-1])
            else:
                raise self.refusal(word)
        if any(not part.fields and not part.clock for part in [*kept[0], *kept[1]]):
            raise BadInput(
                f"`{self.name}`: `{self.text}` contains no time; write `every 1 day at 3:00 am`"
            )
        return kept[0], kept[1]

    def times(self, part: SchedulePart) -> None:
        for token in self.items():
            part.clock.add(self.clock(token))

    def days(self, part: SchedulePart) -> None:
        """Parse `on Monday and Friday`, `on the 1st day of the month`, `of January`."""
        numbers: set[int] = set()
        field_name = ""
        while True:
            item = self.item()
            field_name = field_name or item[0]
            if item[0] != field_name:
                raise self.refusal(self.tokens[self.at - 1])
            numbers |= item[1]
            if not self.skip("and", ","):
                break
        if field_name == "number":
            field_name = self.unit(numbers)
        part.fields.setdefault(field_name, set()).update(numbers)

    def every(self, part: SchedulePart) -> None:
        if self.peek() in ("weekday", "weekend", *WEEKDAYS, *MONTHS):
            self.days(part)
            return
        step = int(self.take()) if self.peek().isdigit() else 1
        listed = {step}
        while self.skip("and", ","):
            listed.add(self.number(self.take()))
        if len(listed) > 1:
            part.fields.setdefault(self.unit(listed), set()).update(listed)
            return
        name, numbers = UNITS[self.unit_word()]
        first, last = numbers[0], numbers[-1]
        if self.skip("starting"):
            self.skip("on", "at")
            first = self.bounded(numbers)
        elif self.skip("between"):
            first = self.bounded(numbers)
            self.skip("and")
            last = self.bounded(numbers)
        if step < 1:
            raise BadInput(f"`{self.name}`: every 0 is never; give a number from 1")
        part.fields.setdefault(name, set()).update(range(first, last + 1, step))

    def after(self, part: SchedulePart) -> None:
        numbers = {self.number(self.take())}
        unit = UNITS[self.unit_word()]
        part.fields.setdefault(unit[0], set()).update(n for n in unit[1] if n > min(numbers))

    def before(self, part: SchedulePart) -> None:
        numbers = {self.number(self.take())}
        unit = UNITS[self.unit_word()]
        part.fields.setdefault(unit[0], set()).update(n for n in unit[1] if n < min(numbers))

    def bounded(self, numbers: range) -> int:
        number = self.number(self.take())
        if self.peek().removesuffix("s") in UNITS:
            self.unit_word()
        if number not in numbers:
            raise self.refusal(str(number))
        return number

    def item(self) -> tuple[str, set[int]]:
        """Parse one name or number, or a range `a through b`."""
        kind, numbers = self.single(self.take())
        if len(numbers) == 1 and self.skip("through", "-"):
            other, ends = self.single(self.take())
            if other != kind:
                raise self.refusal(self.tokens[self.at - 1])
            (start,), (end,) = numbers, ends
            span = 7 if kind == "weekday" else 12 if kind == "month" else 366
            numbers = {(start - 1 + n) % span + 1 for n in range((end - start) % span + 1)}
        return kind, numbers

    def single(self, word: str) -> tuple[str, set[int]]:
        plain = word.removesuffix("s") if word not in WEEKDAYS else word
        for kind, names in (("weekday", WEEKDAYS), ("month", MONTHS)):
            if plain in names:
                return kind, {names[plain]}
        if plain in GROUPS:
            return "weekday", set(GROUPS[plain])
        return "number", {self.number(word)}

    def unit(self, numbers: set[int]) -> str:
        """Parse the unit of numbers, by default the day of the month."""
        if self.peek().removesuffix("s") not in UNITS:
            return self.within(numbers, "day")
        return self.within(numbers, self.unit_word())

    def within(self, numbers: set[int], word: str) -> str:
        name, valid = UNITS[word]
        for number in numbers:
            if number not in valid and number != 0:
                raise BadInput(
                    f"`{self.name}`: {word} {number} does not exist; use {valid[0]} to {valid[-1]}"
                )
        return name

    def unit_word(self) -> str:
        word = self.take().removesuffix("s")
        if word not in UNITS:
            raise self.refusal(word)
        if word == "day" and self.skip("instance", "instances"):
            return "day instance"
        if self.peek() == "of" and self.peek(1) in ("week", "month", "year"):
            longer = f"{word} of {self.peek(1)}"
            self.at += 2
            return longer if longer in UNITS else word
        return word

    def items(self) -> list[str]:
        items = [self.take()]
        while self.skip("and", ","):
            items.append(self.take())
        return items

    def clock(self, token: str) -> time:
        match = re.fullmatch(r"(\d{1,2})(?::(\d\d))?(?::(\d\d))?\s*([ap]m)?", token)
        if not match or not (match[2] or match[4]):
            raise BadInput(f"`{self.name}`: `{token}` is not a time; write it as 3:00 pm or 15:00")
        hour, half = int(match[1]), match[4]
        if half and not 1 <= hour <= 12:
            raise BadInput(
                f"`{self.name}`: `{token}` is not a time; the hours of {half} are 1 to 12"
            )
        hour = hour % 12 + (12 if half == "pm" else 0) if half else hour
        try:
            return time(hour, int(match[2] or 0), int(match[3] or 0))
        except ValueError:
            raise BadInput(f"`{self.name}`: `{token}` is not a time of day") from None

    def number(self, word: str) -> int:
        if word in NUMBERS:
            return NUMBERS[word]
        if not word.isdigit() or len(word) > 4:
            raise self.refusal(word)
        return int(word)

    def take(self) -> str:
        if self.at >= len(self.tokens):
            raise BadInput(f"`{self.name}`: `{self.text}` is incomplete")
        self.at += 1
        return self.tokens[self.at - 1]

    def peek(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else ""

    def skip(self, *words: str) -> bool:
        matches = self.peek() in words
        self.at += matches
        return matches

    def refusal(self, word: str) -> BadInput:
        allowed = [*_CLAUSES, *UNITS, *WEEKDAYS, *MONTHS, *NUMBERS, *GROUPS, "also", "except"]
        return BadInput(
            f"`{self.name}`: `{word}` is not understood in `{self.text}`"
            f"{did_you_mean(word, allowed) or '; write `every 1 day at 3:00 am` or `on Monday`'}"
        )


_CLAUSES: dict[str, Callable[[_ScheduleReader, SchedulePart], None]] = {
    "at": _ScheduleReader.times,
    "on": _ScheduleReader.days,
    "of": _ScheduleReader.days,
    "in": _ScheduleReader.days,
    "every": _ScheduleReader.every,
    "after": _ScheduleReader.after,
    "before": _ScheduleReader.before,
}

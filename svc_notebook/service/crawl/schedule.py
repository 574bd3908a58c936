"""When a crawler runs by itself: a schedule in words, and the next time after a given one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Schedule:
    """A schedule as it was written, in UTC."""

    text: str

    def after(self, moment: datetime) -> datetime | None:
        """Return the first time later than `moment`, if there is one."""
        raise NotImplementedError


def read_schedule(text: str, name: str = "schedule") -> Schedule:
    """Read a schedule in words; raises `BadInput` at a word that is not understood."""
    raise NotImplementedError

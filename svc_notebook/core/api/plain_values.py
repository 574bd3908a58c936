"""Values in the short form that people type: `24h`, `price=number,stock=integer`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from svc_notebook.errors import BadInput

SECONDS = {"s": 1, "min": 60, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"(\d+)\s*(s|min|m|h|d|w)?")


def read_seconds(value: object, name: str) -> object:
    """Return the seconds of a duration such as `24h` or `7d`; other values as they are."""
    if not isinstance(value, str):
        return value
    match = _DURATION.fullmatch(value.strip().lower())
    if not match:
        raise BadInput(f"`{name}` must be seconds, or a duration such as 30min, 24h or 7d: {value}")
    return int(match[1]) * SECONDS[match[2] or "s"]


def expiry_of(seconds_left: int) -> str | None:
    """Return the time at which a validity ends, to the second; None if it does not end."""
    if not seconds_left:
        return None
    try:
        end = datetime.now(UTC) + timedelta(seconds=seconds_left)
    except OverflowError:  # after the year 9999
        return None
    return end.isoformat(timespec="seconds")


def read_pairs(text: str) -> dict[str, str]:
    """Return the members of `price=number,stock=integer`; none for other texts, such as JSON."""
    if text.lstrip().startswith("{"):
        return {}
    parts = text.split(",") if all("=" in part for part in text.split(",")) else [text]
    pairs = [part.rpartition("=") for part in parts]
    return {name: value for name, equals, value in pairs if equals and name and value}

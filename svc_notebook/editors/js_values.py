"""Conversion of values to those that JavaScript represents safely."""

from __future__ import annotations

import math
from typing import Any

MAX_JS_INTEGER = 2**53  # JavaScript rounds larger integers


def plain(value: Any) -> Any:
    """Return a JSON-serializable copy; integers that JavaScript would round become text."""
    match value:
        case None | bool() | str():
            return value
        case int():
            return value if -MAX_JS_INTEGER <= value <= MAX_JS_INTEGER else str(value)
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {str(key): plain(member) for key, member in value.items()}
        case list() | tuple() | set() | frozenset():
            return [plain(item) for item in value]
        case _:
            return str(value)

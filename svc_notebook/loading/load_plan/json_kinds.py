"""The kinds of values in a column of JSON, recognized by the first character of each value."""

from __future__ import annotations

from collections.abc import Iterable

JSON = "JSON"
TEXT, LIST, OBJECT, BOOLEAN, INTEGER, NUMBER = (1 << bit for bit in range(6))
NAMES = {
    TEXT: "text", BOOLEAN: "boolean", INTEGER: "integer", NUMBER: "number", LIST: "list",
    OBJECT: "object",
}  # fmt: skip
STARTS = {'"': TEXT, "[": LIST, "{": OBJECT, "t": BOOLEAN, "f": BOOLEAN}


def kinds_sql(json: str) -> str:
    """Write the aggregate that finds the kinds of all values, a bit for each."""
    cases = " ".join(f"WHEN {_quoted(start)} THEN {kind}" for start, kind in STARTS.items())
    number = f"CASE WHEN regexp_matches({json}, '[.eE]') THEN {NUMBER} ELSE {INTEGER} END"
    return f"bit_or(CASE left({json}, 1) {cases} ELSE {number} END) FILTER ({json} IS NOT NULL)"


def find_kinds(texts: Iterable[str | None]) -> int:
    """Find the kinds of all values, a bit for each."""
    found = 0
    for text in texts:
        if text is not None:
            number = NUMBER if any(mark in text for mark in ".eE") else INTEGER
            found |= STARTS.get(text[0], number)
    return found


def name_kinds(found: int | None) -> str:
    """Name the kinds found, `text or integer`; `JSON` where there is no value."""
    if found and found & NUMBER:
        found &= ~INTEGER
    return " or ".join(name for kind, name in NAMES.items() if (found or 0) & kind) or JSON


def may_hold_objects(sends: str) -> bool:
    """Whether a value that is sent as this kind may be an object, or hold one."""
    return not {JSON, NAMES[LIST], NAMES[OBJECT]}.isdisjoint(sends.split(" or "))


def _quoted(text: str) -> str:
    return f"'{text}'"

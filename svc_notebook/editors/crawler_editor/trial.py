"""The trial result of one page as a crawler editor shows it, limited in size."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pandas import DataFrame

# So much is shown, and saved with a notebook; all of it is in Python.
MAX_RECORDS = 20
MAX_LINES = 200
MAX_RECORD_CHARACTERS = 4_000  # characters of one record


def draw_trial(url: str, told: Mapping[str, Any]) -> dict[str, Any]:
    """Cut what a test told to what is shown of it."""
    links, lines = told.get("links") or [], _lines(told.get("logs"))
    return {
        "url": url,
        "seconds": _seconds(told),
        "error": _error(told.get("error")),
        "actions": [_action(one) for one in told.get("records") or []],
        "links": [str(link) for link in links[:MAX_LINES]],
        "linkCount": len(links),
        "lines": lines[:MAX_LINES],
        "lineCount": len(lines),
        "external": _shown(told["externalData"]) if told.get("externalData") else "",
    }


def to_frame(told: Mapping[str, Any]) -> DataFrame:
    """Make the records of a test a DataFrame, `index` first, then `objectID`."""
    rows = [
        {"index": one.get("indexName", ""), **record}
        for one in told.get("records") or []
        for record in one.get("records") or []
    ]
    return DataFrame(rows, columns=None if rows else ["index", "objectID"])


def _action(one: Mapping[str, Any]) -> dict[str, Any]:
    records: Sequence[Any] = one.get("records") or []
    return {
        "index": str(one.get("indexName", "")),
        "count": len(records),
        "records": [_record(record) for record in records[:MAX_RECORDS]],
    }


def _record(record: Any) -> dict[str, str]:
    held = record if isinstance(record, Mapping) else {}
    return {"id": str(held.get("objectID", "")), "text": _shown(record)}


def _shown(value: Any) -> str:
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return (
        text
        if len(text) <= MAX_RECORD_CHARACTERS
        else f"{text[:MAX_RECORD_CHARACTERS]}\n… {len(text):,} characters in all"
    )


def _error(error: Any) -> dict[str, str] | None:
    if not error:
        return None
    held = error if isinstance(error, Mapping) else {"message": error}
    return {"code": str(held.get("code", "")), "message": str(held.get("message", ""))}


def _lines(logs: Any) -> list[str]:
    """Read what was logged: lines, or lists of the parts of each."""
    return [
        " ".join(map(str, line)) if isinstance(line, list) else str(line) for line in logs or []
    ]


def _seconds(told: Mapping[str, Any]) -> float | None:
    try:
        began, ended = (
            datetime.fromisoformat(str(told[name])) for name in ("startDate", "endDate")
        )
    except (KeyError, ValueError):
        return None
    return round((ended - began).total_seconds(), 3)

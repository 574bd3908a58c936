"""Answers that integrations match are those that docs/differences.md lists with their sources."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

import pytest

from tests.conftest import ROOT, Inside


class Row(NamedTuple):
    """One row of the page's table."""

    request: str
    status: int
    answer: Any
    source: str


def read_rows() -> list[Row]:
    """Read the table of the page."""
    page = (ROOT / "docs" / "differences.md").read_text()
    section = page.partition("## Answers that other programs match")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines()]
    return [
        Row(request, int(status), json.loads(answer.strip("`")), source)
        for request, status, answer, source in (row for row in rows if len(row) == 4)
        if status.isdigit()
    ]


ROWS = read_rows()
# Bodies of the requests that have one, by what the row says of them.
BODIES: dict[str, Any] = {
    "with a record of 100,049 bytes": {
        "requests": [
            {"action": "addObject", "body": {"objectID": "small"}},
            {"action": "addObject", "body": {"objectID": "big", "text": "x" * 100_021}},
        ]
    },
    "with `stopIfEnoughMatches`": {
        "requests": [{"indexName": "films"}],
        "strategy": "stopIfEnoughMatches",
    },
}


def contains(answer: Any, part: Any) -> bool:
    """Whether an answer has all that a row lists; a text that ends in … is a beginning."""
    if isinstance(part, dict):
        return all(name in answer and contains(answer[name], part[name]) for name in part)
    if isinstance(part, list):
        return len(answer) == len(part) and all(map(contains, answer, part))
    if isinstance(part, str) and part.endswith("…"):
        return str(answer).startswith(part[:-1])
    return bool(answer == part)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.request)
def test_the_service_answers_as_the_page_says(inside: Inside, row: Row) -> None:
    inside.fill("films", {"objectID": "1"})
    found = re.fullmatch(r"`(\w+) (\S+)` ?(.*)", row.request)
    assert found
    verb, path, more = found.groups()

    answer = inside.call(verb, path, BODIES.get(more), key="wrong" if "key" in more else None)

    assert answer.status_code == row.status
    assert contains(answer.json(), row.answer), answer.text


def test_every_row_has_a_source() -> None:
    assert len(ROWS) == 10
    assert all(row.source for row in ROWS)


def test_a_record_without_an_id_of_its_own_is_named_by_its_place(inside: Inside) -> None:
    answer = inside.call("POST", "/1/indexes/films", {"text": "x" * 100_000}).json()

    assert answer["message"].startswith("Record at the position 0 is too big size=")
    assert answer["position"] == 0
    assert "objectID" not in answer

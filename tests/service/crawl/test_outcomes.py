"""Every reason of an outcome is documented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from svc_notebook.service import crawl
from svc_notebook.service.crawl import visits
from svc_notebook.service.crawl.visits import REASONS, describe_reason, refuse_status

PACKAGE = Path(crawl.__file__).parent
PAGE = (PACKAGE.parents[2] / "docs" / "crawlers.md").read_text(encoding="utf-8")
TOLD = set(re.findall(r"`(\w+)`", PAGE.partition("## How URLs end")[2]))
RAISED = re.compile(r'Failure\(\s*"(\w+)"|reason="(\w+)"')
FAILURES = {
    first or second
    for path in PACKAGE.rglob("*.py")
    for first, second in RAISED.findall(path.read_text(encoding="utf-8"))
}


def test_every_reason_is_documented() -> None:
    assert len(FAILURES) > 15
    assert FAILURES | set(REASONS) <= TOLD


def test_no_unknown_reason_is_documented() -> None:
    known = FAILURES | set(REASONS) | {"http_404", "internal_error", "selectorsToMatch"}

    assert known >= TOLD


def test_every_failure_has_its_own_message() -> None:
    assert set(visits.FAILURES) == (FAILURES - set(REASONS)) | {"internal_error"}
    assert describe_reason("http_404") == "The server answers 404 (Not Found)"
    assert describe_reason("canonical") == REASONS["canonical"][2]
    assert describe_reason("what_came_later") == "what came later"


@pytest.mark.parametrize(("status", "readable"), [(404, "404 (Not Found)"), (799, "799 (unknown)")])
def test_a_status_is_named(status: int, readable: str) -> None:
    failure = refuse_status(status)

    assert failure.reason == f"http_{status}"
    assert readable in failure.readable

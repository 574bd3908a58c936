"""The declared endpoints are those of the API, each with its method, path and right."""

from __future__ import annotations

import re
from pathlib import Path

from svc_notebook.core.api import ENDPOINTS, Endpoint
from tests.looping import loop_over

ROWS = [line.split() for line in Path(__file__).with_name("rows.txt").read_text().splitlines()]
# What clients of this API call besides (api-notes.md, section 14).
EXTRA = {("GET", "/1/task/{}")}
# What the local service alone answers: below a path that the API has nothing at.
OWN = {
    ("DELETE", "/local/1/crawlers/{}"),
    ("GET", "/local/1/crawlers/{}/urls"),
    ("GET", "/local/1/events"),
    ("GET", "/local/1/searches"),
    ("GET", "/local/1/status"),
}
READING = re.compile(r"/(query|queries|browse|objects|search|estimate)$")


def form(path: str) -> str:
    return re.sub(r"{\w+}", "{}", path)


def test_every_row_of_the_api_is_declared() -> None:
    wanted = {(verb, form(path)) for verb, path, _ in ROWS}

    assert {(row.verb, form(row.path)) for row in ENDPOINTS} == wanted | EXTRA | OWN


@loop_over("verb, path, right", ROWS)
def test_a_row_names_its_right(verb: str, path: str, right: str) -> None:
    row = next(r for r in ENDPOINTS if (r.verb, form(r.path)) == (verb, form(path)))

    assert row.acl == right


@loop_over("row", ENDPOINTS)
def test_a_call_that_reads_goes_to_the_read_hosts(row: Endpoint) -> None:
    posts_to_read = row.verb == "POST" and bool(READING.search(row.path))

    assert row.reads == (row.verb == "GET" or posts_to_read)


@loop_over("row", ENDPOINTS)
def test_every_endpoint_says_what_it_does_in_one_sentence(row: Endpoint) -> None:
    assert re.match(r"[A-Z].*\.$", row.doc.splitlines()[0])


def test_names_are_unique() -> None:
    assert len({row.name for row in ENDPOINTS}) == len(ENDPOINTS)


def test_what_makes_something_new_is_not_sent_twice() -> None:
    once = {row.name for row in ENDPOINTS if not row.repeatable}

    assert once == {
        "add_object",
        "add_ab_tests",
        "add_key",
        "add_index_key",
        "create_crawler",
        "create_suggestions_config",
        "push_events",
    }

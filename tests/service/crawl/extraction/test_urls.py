"""URLs against a browser's engine: `data/urls.json` has the results of Node's `URL`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from svc_notebook.service.crawl.extraction import Extractors
from tests.looping import loop_over
from tests.service.crawl.extraction.conftest import Read, Run

CASES: list[tuple[str, str | None, list[str] | None]] = json.loads(
    (Path(__file__).parent / "data" / "urls.json").read_text(encoding="utf-8")
)
ALL = """({ dataSources }) => [{ said: dataSources.cases.map(([address, base]) => {
  if (!URL.canParse(address, base ?? undefined)) return null;
  const url = base === null ? new URL(address) : new URL(address, base);
  return [url.href, url.origin, url.protocol, url.username, url.password, url.host, url.hostname,
    url.port, url.pathname, url.search, url.hash, url.searchParams.toString()];
}) }]"""


@pytest.fixture(scope="module")
def said(extractors: Extractors, read: Read) -> list[Any]:
    cases = [[address, base] for address, base, _ in CASES]
    extraction = extractors.extract(read(""), ALL, sources={"cases": cases})
    assert extraction.error is None
    values: list[Any] = extraction.records[0]["said"]
    return values


@loop_over("at", range(len(CASES)))
def test_an_address_is_read_as_a_browser_does(said: list[Any], at: int) -> None:
    assert said[at] == CASES[at][2]


CHANGES = [
    ("u.search = 'a=1 2'", "https://a.test:8080/x?a=1%202#h"),
    ("u.search = ''", "https://a.test:8080/x#h"),
    ("u.hash = ''", "https://a.test:8080/x?q=1"),
    ("u.hash = '#ü'", "https://a.test:8080/x?q=1#%C3%BC"),
    ("u.pathname = 'a b/../c'", "https://a.test:8080/c?q=1#h"),
    ("u.port = ''", "https://a.test/x?q=1#h"),
    ("u.port = '443'", "https://a.test/x?q=1#h"),
    ("u.hostname = 'B.test'", "https://b.test:8080/x?q=1#h"),
    ("u.host = 'b.test:1'", "https://b.test:1/x?q=1#h"),
    ("u.hostname = 'a b'", "https://a.test:8080/x?q=1#h"),
    ("u.protocol = 'http'", "http://a.test:8080/x?q=1#h"),
    ("u.username = 'me@'", "https://me%40@a.test:8080/x?q=1#h"),
    ("u.href = 'http://c.test'", "http://c.test/"),
    ("u.searchParams.append('r', 'ä&b')", "https://a.test:8080/x?q=1&r=%C3%A4%26b#h"),
    ("u.searchParams.set('q', 2)", "https://a.test:8080/x?q=2#h"),
    ("u.searchParams.delete('q')", "https://a.test:8080/x#h"),
    ("(u.search = '?b=2&a=1', u.searchParams.sort())", "https://a.test:8080/x?a=1&b=2#h"),
]


@pytest.mark.parametrize(("change", "href"), CHANGES)
def test_parts_of_an_address_can_be_set(run: Run, change: str, href: str) -> None:
    url = "new URL('https://a.test:8080/x?q=1#h')"

    assert run(f"(() => {{ const u = {url}; {change}; return u.href; }})()") == href


def test_the_page_s_own_address_has_all_its_parts(run: Run) -> None:
    value = run(
        "{ href: url.href, path: url.pathname, page: url.searchParams.get('page'), hash: url.hash,"
        " host: url.host, json: { url }, text: `${url}`, is: url instanceof URL }"
    )

    assert value == {
        "href": "https://shop.test/lamps/desk?page=2#top",
        "path": "/lamps/desk",
        "page": "2",
        "hash": "#top",
        "host": "shop.test",
        "json": {"url": "https://shop.test/lamps/desk?page=2#top"},
        "text": "https://shop.test/lamps/desk?page=2#top",
        "is": True,
    }


def test_parameters_are_a_list_of_pairs(run: Run) -> None:
    value = run(
        "(() => { const p = new URLSearchParams('?a=1&b=2+3&a=%C3%A4&c'); return { all: [...p],"
        " a: p.getAll('a'), has: p.has('c'), no: p.get('x'), size: p.size, text: p.toString(),"
        " from: new URLSearchParams({ x: 1, y: 'z z' }).toString(), keys: [...p.keys()] }; })()"
    )

    assert value == {
        "all": [["a", "1"], ["b", "2 3"], ["a", "ä"], ["c", ""]],
        "a": ["1", "ä"],
        "has": True,
        "no": None,
        "size": 4,
        "text": "a=1&b=2+3&a=%C3%A4&c=",
        "from": "x=1&y=z+z",
        "keys": ["a", "b", "a", "c"],
    }

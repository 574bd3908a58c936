"""References against browsers: a list by WHATWG URL, and the `URL` of extractors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from svc_notebook.service.crawl.extraction import Extractors, FetchedPage
from svc_notebook.service.crawl.urls import normalize, resolve
from tests.conftest import examples
from tests.looping import loop_over

BASE = "https://shop.test/lamps/desk;v=1?page=2#top"

# What a browser makes of a reference on the page `BASE`, as WHATWG's URL parser has it.
REFERENCES = {
    "": "https://shop.test/lamps/desk;v=1?page=2",
    "#end": "https://shop.test/lamps/desk;v=1?page=2",
    "?": "https://shop.test/lamps/desk;v=1",
    "?q": "https://shop.test/lamps/desk;v=1?q",
    "wall": "https://shop.test/lamps/wall",
    "wall;": "https://shop.test/lamps/wall;",
    "wall;color=red": "https://shop.test/lamps/wall;color=red",
    ";": "https://shop.test/lamps/;",
    ";x/..;/y": "https://shop.test/lamps/;x/..;/y",
    "a;b/../c;": "https://shop.test/lamps/c;",
    "/": "https://shop.test/",
    "/a;/b;jsessionid=1?x;y": "https://shop.test/a;/b;jsessionid=1?x;y",
    "./.": "https://shop.test/lamps/",
    "..": "https://shop.test/",
    "../../..": "https://shop.test/",
    ".%2E/%2e%2E/x": "https://shop.test/x",
    "\\private\\x": "https://shop.test/private/x",
    "/private\\x": "https://shop.test/private/x",
    "..\\private/x": "https://shop.test/private/x",
    "a/..\\..\\private": "https://shop.test/private",
    "a?b\\c": "https://shop.test/lamps/a?b\\c",
    "a#b\\c?d": "https://shop.test/lamps/a",
    "//other.test": "https://other.test/",
    "\\\\other.test\\a": "https://other.test/a",
    "/\\other.test/a": "https://other.test/a",
    "\\/other.test/a": "https://other.test/a",
    "///other.test/a": "https://other.test/a",
    "/////other.test//a": "https://other.test//a",
    "https:a": "https://shop.test/lamps/a",
    "https:/a": "https://shop.test/a",
    "https:\\a": "https://shop.test/a",
    "https:?a": "https://shop.test/lamps/desk;v=1?a",
    "https:": "https://shop.test/lamps/desk;v=1?page=2",
    "https://other.test\\a": "https://other.test/a",
    "https:\\\\other.test\\a": "https://other.test/a",
    "https:////other.test/a": "https://other.test/a",
    "http:other.test/a": "http://other.test/a",
    "http:/other.test/a": "http://other.test/a",
    "HTTP:\\other.test": "http://other.test/",
    "http://other.test?a/b": "http://other.test/?a/b",
    "http://other.test#a/b": "http://other.test/",
    "http://shop.test\\@other.test/": "http://shop.test/@other.test/",
    "http://shop.test@other.test/": "http://other.test/",
    "http://a@b:c@other.test/x": "http://other.test/x",
    "//user@other.test:8080/x": "https://other.test:8080/x",
    "\t /a\n/b\r ": "https://shop.test/a/b",
    "ht\ntps://other.test/": "https://other.test/",
    "\x00\x1f/a": "https://shop.test/a",
    "/\t/other.test": "https://other.test/",
    "a:b": None,
    "./a:b": "https://shop.test/lamps/a:b",
    "1:b": "https://shop.test/lamps/1:b",
    "//other.test:": "https://other.test/",
    "//other.test:80x/": None,
    "//other.test:65536/": None,
    "https://": None,
    "https:///": None,
    "http://[::1": None,
    "javascript:void(0)": None,
    "java\nscript:x": None,
    "mailto:a@shop.test": None,
    "data:text/html,x": None,
    "ftp://shop.test/": None,
    "file:///etc/passwd": None,
    "http://127.1/": "http://127.0.0.1/",
    "http://2130706433/": "http://127.0.0.1/",
    "http://0x7f.0.0.1/": "http://127.0.0.1/",
    "http://0177.0.0.0x1./": "http://127.0.0.1/",
    "http://0X7F000001/": "http://127.0.0.1/",
    "http://127.0.0.256/": None,
    "http://1.2.3.4.5/": None,
    "http://shop.1/": None,
    "http://shop.0x/": None,
    "http://09.1/": None,
    "http://%31%32%37.1/": "http://127.0.0.1/",
    "http://ex%61mple.test/": "http://example.test/",
    "http://\uff11\uff12\uff17.1/": "http://127.0.0.1/",
    "http://shop%2ftest/": None,
    "http://shop test/": None,
    "http://shop<test/": None,
}  # fmt: skip


@loop_over("reference, expected", REFERENCES.items())
def test_a_reference_resolves_as_in_browsers(reference: str, expected: str | None) -> None:
    # The right side is spelled as well, for escapes: `normalize` is held to its own list elsewhere.
    assert normalize(reference, BASE) == (expected and normalize(expected))


def test_resolving_changes_nothing_else() -> None:
    assert resolve("/A%7e\u00e9;?\u00fc=%41", BASE) == "https://shop.test/A%7e\u00e9;?\u00fc=%41"


NODE = json.loads((Path(__file__).parent / "extraction/data/urls.json").read_text(encoding="utf-8"))


@loop_over("reference, base, said", NODE)
def test_references_resolve_as_in_node(
    reference: str, base: str | None, said: list[str] | None
) -> None:
    expected = said[0] if said and said[2] in ("http:", "https:") else None

    assert normalize(reference, base) == (expected and normalize(expected))


PIECES = [
    "/", "\\", "//", "a", "b;", ";", ".", "..", "?", "#", "@", ":", "http:", "https:", "%2e",
    "%5c", "other.test", "shop.test", "127.1", "0x7f", "8080", "\t", "\n", " ", "q=1",
]  # fmt: skip
JOINED = """({ dataSources }) => [{ said: dataSources.references.map((reference) => (
  URL.canParse(reference, dataSources.base) ? new URL(reference, dataSources.base).href : null
)) }]"""


@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), min_size=60))
def test_references_resolve_as_in_an_extractor(engine: Extractors, references: list[str]) -> None:
    page = engine.read(FetchedPage(BASE, b"", "text/html"))
    sources: dict[str, Any] = {"base": BASE, "references": references}

    (record,) = engine.extract(page, JOINED, sources=sources).records

    for reference, said in zip(references, record["said"], strict=True):
        expected = normalize(said) if said and said.startswith("http") else None
        assert normalize(reference, BASE) == expected, (reference, said)

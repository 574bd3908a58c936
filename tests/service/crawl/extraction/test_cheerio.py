"""`$` against Cheerio itself, run by Node on the same pages: record extractors and selectors."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from svc_notebook.service.crawl.extraction import Extractors
from tests.peers.javascript import install
from tests.service.crawl.extraction.conftest import Read

PACKAGE = "cheerio@1.2.0"
SCRIPT = Path(__file__).with_name("cheerio") / "records.mjs"
URL = "https://shop.test/lamps/brass-desk?page=2"
MIN_EXTRACTORS, SELECTORS = 60, 200
# The known differences; `docs/differences.md` lists them.
KNOWN = {
    ("shop", 12): "the content of `noscript` is elements, not a text",
    ("blog", 10): "the content of `template` is its children",
}

SIMPLE = (
    "*", "a", "p", "li", "h2", "h3", "td", "ul", "div", "span", "option", "small", ".hit", ".tag",
    ".job", ".pay", "#hits", "#content", "[href]", "[class]", "[data-id]", "[href^='/']",
    "[href$='s']", "[class~=odd]", "[class*=e]", "[rel=next]", "[title]", "[lang|=en]",
)  # fmt: skip
PSEUDO = (
    ":first-child", ":last-child", ":only-child", ":empty", ":first-of-type", ":last-of-type",
    ":nth-child(2)", ":nth-child(odd)", ":nth-child(3n+1)", ":nth-last-child(2)",
    ":nth-of-type(2)", ":not(.odd)", ":not(:first-child)", ":not(a, p)", ":has(a)",
    ":has(> small)", ":contains('e')", ":is(h2, li)", ":parent", ":header", ":checked", ":selected",
    ":disabled",
)  # fmt: skip
# Pseudo-classes of jQuery that count what the selector before them matches.
POSITIONS = (":first", ":last", ":eq(1)", ":gt(1)", ":lt(2)", ":even", ":odd", ":eq(-2)")
COMBINATORS = (" ", " > ", " + ", " ~ ", ", ")


def make_selectors() -> list[str]:
    """Return selectors of up to three parts."""
    chance = random.Random(0)
    made = []
    for _ in range(SELECTORS):
        parts = [
            chance.choice(SIMPLE) + (chance.choice(PSEUDO) if chance.random() < 0.5 else "")
            for _ in range(chance.randint(1, 3))
        ]
        text = parts[0]
        for part in parts[1:]:
            text += chance.choice(COMBINATORS) + part
        if "," not in text and chance.random() < 0.2:
            text += chance.choice(POSITIONS)
        made.append(text)
    return made


@pytest.fixture(scope="module")
def cheerio(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What Cheerio finds: of the pages, the extractors and the selectors."""
    folder = install(tmp_path_factory.getbasetemp() / "cheerio", [PACKAGE])
    done = subprocess.run(
        ["node", str(SCRIPT), str(folder), URL, json.dumps(make_selectors())],
        capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_extractors_return_the_records_of_cheerio(
    cheerio: dict[str, Any], extractors: Extractors, read: Read
) -> None:
    differences = {}
    for case in cheerio["cases"]:
        document = read(cheerio["pages"][case["page"]], url=URL)
        extraction = extractors.extract(document, case["source"])
        found = extraction.error or json.loads(json.dumps(list(extraction.records)))
        if found != case["records"]:
            differences[case["page"], case["number"]] = (case["source"], found, case["records"])

    assert len(cheerio["cases"]) >= MIN_EXTRACTORS
    assert not {key: found for key, found in differences.items() if key not in KNOWN}
    assert differences.keys() == KNOWN.keys(), "a known difference is none any more"


MATCHES = """({ $, dataSources }) => {
  const all = $("*");
  return dataSources.selectors.map((selector) => ({
    places: $(selector).map((i, e) => all.index(e)).get(),
  }));
}"""


@pytest.mark.slow
def test_selectors_match_the_elements_that_cheerio_matches(
    cheerio: dict[str, Any], extractors: Extractors, read: Read
) -> None:
    differences = []
    for page in cheerio["pages"]:
        wanted = [match for match in cheerio["matches"] if match["page"] == page]
        selectors = [match["selector"] for match in wanted]
        document = read(wanted[0]["html"])
        extraction = extractors.extract(document, MATCHES, sources={"selectors": selectors})
        assert extraction.error is None
        for match, record in zip(wanted, extraction.records, strict=True):
            if record["places"] != match["places"]:
                differences.append((page, match["selector"], record["places"], match["places"]))

    assert not differences, "\n".join(map(str, differences))
    assert sum(bool(match["places"]) for match in cheerio["matches"]) > SELECTORS

"""The page on extractors names what exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from svc_notebook.service.crawl.extraction import Extractors
from svc_notebook.service.crawl.extraction.page import BY_MEDIA_TYPE
from tests.service.crawl.extraction.conftest import Read, Run

PAGE = (Path(__file__).parents[4] / "docs" / "extractors.md").read_text(encoding="utf-8")
CODE = re.findall(r"^```js\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("source", CODE, ids=range(len(CODE)))
def test_code_of_the_documentation_runs(extractors: Extractors, read: Read, source: str) -> None:
    document = read("<title>T</title><p class=price>3 €</p><main><h1>H</h1></main>")

    extractors.check(source)
    if "defaultExtractor" in source:
        assert extractors.links(document, source) == ["https://shop.test/sitemap"]
    else:
        extraction = extractors.extract(document, source)
        assert extraction.error is None
        assert len(extraction.records) == 1


def test_every_helper_is_documented(run: Run) -> None:
    assert set(re.findall(r"`helpers\.(\w+)\(", PAGE)) == set(run("Object.keys(helpers)"))


def test_every_argument_of_an_extractor_is_documented(extractors: Extractors, read: Read) -> None:
    source = "(given) => [{ names: Object.keys(given) }]"

    names = extractors.extract(read(""), source).records[0]["names"]

    assert set(re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE)) == set(names)


def test_every_file_type_is_documented() -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith("| `fileType`"))

    assert set(re.findall(r"`(\w+)`", row)) - {"fileType"} == set(BY_MEDIA_TYPE.values())

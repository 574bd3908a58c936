"""External data: tables by URL."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from svc_notebook.errors import BadInput
from svc_notebook.service.crawl.external_data import rows_of
from tests.service.crawl.conftest import Crawler
from tests.service.crawl.site import Site

TABLES = {
    "a.csv": "url,price\nhttp://shop.test/a,12\n",
    "semicolons.csv": 'name;url;price\n"A; B";HTTP://shop.test:80/a#x;12\n',
    "tabs.csv": "\ufeffurl\tprice\nhttp://shop.test/a\t12\nno address\t13\n",
    "list.json": '[{"url": "http://shop.test/a", "price": "12"}]',
    "object.json": '{"http://shop.test/a": {"price": "12"}}',
    "lines.jsonl": '{"url": "http://shop.test/b"}\n{"url": "http://shop.test/a", "price": "12"}\n',
    "line.json": '{"url": "http://shop.test/a", "price": "12"}',
    "capitals.csv": "Price,URL,price\n1,http://shop.test/a,12\n",
    "two.csv": "URL,url,price\nx,http://shop.test/a,12\n",
    "table": "url;price\nhttp://shop.test/a;12\n",
    "rows": '[{"url": "http://shop.test/a", "price": "12"}]',
}


@pytest.mark.parametrize(("name", "text"), TABLES.items())
def test_a_row_is_found_by_the_url_of_the_page(
    site: Site, crawler: Crawler, name: str, text: str
) -> None:
    site.html("/", "Home")
    site.page(f"/{name}", text.replace("http://shop.test/a", f"{site.url}/").replace(
        "HTTP://shop.test:80/a", f"{site.url}/"))  # fmt: skip

    outcome = crawler.visit(site.config(externalData=[f"{site.url}/{name}"]), f"{site.url}/")

    assert outcome.external[name.partition(".")[0]]["price"] == "12"


@pytest.mark.parametrize(
    ("name", "encoding", "kind", "price"),
    [
        ("a.csv", "utf-16", "text/csv", "zwölf"),
        ("b.csv", "latin-1", "text/csv", "zwölf"),
        ("c.csv", "koi8-r", "text/csv; charset=koi8-r", "два"),
        ("d.csv.gz", "gzip", "application/gzip", "zwölf"),
        ("e", "utf-8", "application/vnd.api+json", "zwölf"),
    ],
)
def test_a_table_is_read_in_its_format(
    site: Site, crawler: Crawler, name: str, encoding: str, kind: str, price: str
) -> None:
    site.html("/", "Home")
    row = {"url": f"{site.url}/", "price": price}
    text = json.dumps([row]) if "json" in kind else f"url,price\n{site.url}/,{price}\n"
    body = gzip.compress(text.encode()) if encoding == "gzip" else text.encode(encoding)
    site.page(f"/{name}", body, headers={"Content-Type": kind})

    outcome = crawler.visit(site.config(externalData=[f"{site.url}/{name}"]), f"{site.url}/")

    assert outcome.external[name.partition(".")[0]]["price"] == price


def test_a_page_without_a_row_gets_an_empty_row() -> None:
    assert rows_of({"prices": {"http://a/": {"price": 1}}}, "http://b/") == {"prices": {}}


WRONG: dict[str, tuple[str, str]] = {
    "a.csv": ("page,price\nx,1\n", "has no column `url`"),
    "empty.csv": ("", "has no column `url`"),
    "broken.json": ("[", "is not valid JSON"),
    "deep.json": ("[" * 100_000, "is not valid JSON"),
    "broken.jsonl": ('{"url": "a"}\n{', "is not valid JSON"),
    "packed.csv.gz": ("\x1f\udc8bno", "cannot be decompressed"),
    "numbers.json": ("[1, 2]", "give a list of objects that have `url`"),
    "binary.json": ("\udcff", "is not valid JSON"),
}


@pytest.mark.parametrize(("name", "wrong"), WRONG.items(), ids=WRONG)
def test_an_unreadable_table_is_refused_with_the_reason(
    site: Site, crawler: Crawler, name: str, wrong: tuple[str, str]
) -> None:
    site.page(f"/{name}", wrong[0].encode("utf-8", "surrogateescape"))
    config: dict[str, Any] = site.config(externalData=[f"{site.url}/{name}"])

    with pytest.raises(BadInput, match=wrong[1]):
        crawler.visit(config, f"{site.url}/")

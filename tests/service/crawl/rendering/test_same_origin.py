"""The same-origin policy in rendered pages: what other hosts receive, and what pages can read."""

from __future__ import annotations

import asyncio
from typing import Any

import httpcore
import pytest

from svc_notebook.service.crawl.configuration import read_configuration
from svc_notebook.service.crawl.extraction import Extractors
from svc_notebook.service.crawl.page_processor import visit
from svc_notebook.service.crawl.rendering.page_requests import allows_request, unsafe_headers
from svc_notebook.service.crawl.transport.fetcher import Fetcher
from svc_notebook.service.crawl.transport.ssrf_guard import AddressGuard, GuardedStream
from svc_notebook.service.crawl.visits import PendingUrl
from tests.service.crawl.conftest import Crawler
from tests.service.crawl.site import Site

JSON = {"Content-Type": "application/json"}
# Each request of the page by the path that it is for; the title of the page tells what it read.
CODE = """
const json = {method: "POST", headers: {"Content-Type": "application/json"}, body: "{}"};
const calls = {
    "/open": {}, "/closed": {}, "/plain-post": {method: "POST", body: "x"},
    "/json": json, "/silent-json": json, "/allowed-json": json,
    "/own-header": {headers: {"X-App": "1"}}, "/named-header": {headers: {"X-App": "1"}},
};
(async () => {
    const read = [];
    for (const [path, how] of Object.entries(calls))
        await fetch("OTHER" + path, how).then(r => r.text()).then(() => read.push(path), () => 0);
    await fetch("/leads-away", json).then(() => read.push("/leads-away"), () => 0);
    await fetch("OTHER/blind", {mode: "no-cors"}).then(() => read.push("/blind"), () => 0);
    await fetch("/own", json).then(() => read.push("/own"), () => 0);
    document.title = read.join(" ");
})()
"""


@pytest.mark.slow
def test_other_origins_decide_what_a_page_sends_and_reads(site: Site, crawler: Crawler) -> None:
    with Site() as other:
        allows = {**JSON, "Access-Control-Allow-Origin": site.url}
        for path in ("/open", "/own-header", "/json"):
            other.page(path, "[]", headers=allows)
        other.page("/closed", "[]", headers=JSON)
        other.page("/silent-json", "[]", headers=JSON)
        for path, name in (("/allowed-json", "content-type"), ("/named-header", "X-App, x-b")):
            headers = {**allows, "Access-Control-Allow-Headers": name}
            other.page(path, "[]", headers=headers)
        site.redirect("/leads-away", f"{other.url}/target", 307)
        site.page("/own", "[]", headers=JSON)
        site.page("/", f"<title>Home</title><script>{CODE.replace('OTHER', other.url)}</script>")

        outcome = crawler.visit(site.config(renderJavaScript=True), f"{site.url}/")

    [record] = outcome.records["pages"]
    assert record["title"] == "/open /allowed-json /named-header /blind /own"
    assert [(one.method, one.path) for one in other.asked] == [
        ("GET", "/open"),
        ("GET", "/closed"),
        ("POST", "/plain-post"),  # allowed without asking, as in every browser
        ("OPTIONS", "/json"),
        ("OPTIONS", "/silent-json"),
        ("OPTIONS", "/allowed-json"),
        ("POST", "/allowed-json"),
        ("OPTIONS", "/own-header"),
        ("OPTIONS", "/named-header"),
        ("GET", "/named-header"),
        ("OPTIONS", "/target"),
        ("GET", "/blind"),
    ]
    preflight = other.asked[3].headers
    assert preflight["origin"] == site.url
    assert preflight["access-control-request-method"] == "POST"
    assert preflight["access-control-request-headers"] == "content-type"


class PublicNameGuard(AddressGuard):
    """A guard for which `shop.example` is the test's site at a public address."""

    def __init__(self, site: Site, guard: AddressGuard) -> None:
        super().__init__(allow_private=guard._allow_private, from_public_page=True)
        self._port = int(site.url.rpartition(":")[2])

    async def connect_tcp(
        self, host: str, port: int, timeout: float | None = None,  # noqa: ASYNC109
        local_address: str | None = None, socket_options: Any = None,
    ) -> httpcore.AsyncNetworkStream:  # fmt: skip
        if host != "shop.example":
            return await super().connect_tcp(host, port, timeout, local_address, socket_options)
        stream = await self._network.connect_tcp("127.0.0.1", self._port)
        return GuardedStream(stream, True)


@pytest.mark.slow
def test_a_page_of_a_public_host_reaches_no_private_address(site: Site, engine: Extractors) -> None:
    with Site() as other:
        headers = {"Access-Control-Allow-Origin": "*", "Content-Type": "text/javascript"}
        other.page("/page", "<title>Intranet</title><script src=/shared.js></script>")
        for path in ("/shared.js", "/data", "/redirected"):
            other.page(path, "document.title += ' private'", headers=headers)
        site.redirect("/leads-in", f"{other.url}/redirected")
        named = other.url.replace("127.0.0.1", "localhost")
        calls = "".join(f"fetch('{at}/data', {{mode: 'no-cors'}});" for at in (other.url, named))
        code = f"{calls} fetch('/leads-in').catch(() => 0); fetch('/data').catch(() => 0)"
        tags = f"<script src={other.url}/shared.js></script><script>{code}</script>"
        site.page("/", f"<title>Shop</title>{tags}")
        site.page("/data", "[]", headers=JSON)
        config = site.config(renderJavaScript=True)
        config["actions"][0]["pathsToMatch"] = ["**"]

        private, public = asyncio.run(
            _visit(site, engine, config, f"{other.url}/page", "http://shop.example/")
        )

    assert [one["title"] for one in private.records["pages"]] == ["Intranet private"]
    assert [one["title"] for one in public.records["pages"]] == ["Shop"]
    assert other.paths() == ["/page", "/shared.js"]
    assert sorted(site.paths()) == ["/", "/data", "/leads-in"]
    assert any("which no page of a public host may reach" in line for line in public.logs)


async def _visit(site: Site, engine: Extractors, config: Any, *urls: str) -> list[Any]:
    configuration = read_configuration(config)
    fetcher = Fetcher(configuration, allow_private=True, backoff=0.01)
    fetcher._ssrf_guard = PublicNameGuard(site, fetcher._ssrf_guard)
    fetcher._public_guard = PublicNameGuard(site, fetcher._public_guard)
    async with fetcher:
        return [
            await visit(configuration, PendingUrl(url), fetcher=fetcher, extractors=engine)
            for url in urls
        ]


def test_headers_that_need_a_preflight_are_those_of_the_standard() -> None:
    cases: list[tuple[dict[str, str], tuple[str, ...]]] = [
        ({"Accept": "*/*", "Origin": "http://a", "Sec-Fetch-Mode": "cors", "DNT": "1"}, ()),
        ({"content-type": "Text/Plain; charset=utf-8", "range": "bytes=0-9"}, ()),
        ({"content-type": "application/json"}, ("content-type",)),
        ({"X-App": "1", "Authorization": "x"}, ("Authorization", "X-App")),
        ({"accept": "x" * 129}, ("accept",)),
        ({"cache-control": "no-cache", "pragma": "no-cache"}, ()),
        ({"cache-control": "private"}, ("cache-control",)),
    ]
    assert [(given, unsafe_headers(given)) for given, _ in cases] == cases


def test_only_a_preflight_that_names_the_page_and_its_headers_allows_a_request() -> None:
    page = "http://a.test/x"
    cases = [
        (204, "http://a.test", "X-A", True),
        (200, "*", "*", True),
        (200, "*", "", False),
        (200, "", "x-a", False),
        (200, "http://b.test", "x-a", False),
        (302, "*", "x-a", False),
        (404, "*", "x-a", False),
    ]

    told = [
        (status, who, what, allows_request(status, _allowing(who, what), page, ["x-a"]))
        for status, who, what, _ in cases
    ]

    assert told == cases
    assert not allows_request(200, _allowing("*", "*"), page, ["Authorization"])


def _allowing(who: str, headers: str) -> dict[str, str]:
    return {"access-control-allow-origin": who, "access-control-allow-headers": headers}

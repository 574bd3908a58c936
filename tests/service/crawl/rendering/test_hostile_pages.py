"""Hostile pages in the browser: none reaches a private address, and none outlives its visit."""

from __future__ import annotations

import asyncio
import socket
import time
from urllib.parse import quote

import pytest
from playwright.async_api import Error

from svc_notebook.service.crawl.extraction import Extractors
from svc_notebook.service.crawl.rendering.browser import CrawlBrowser
from svc_notebook.service.crawl.visits import VisitOutcome
from tests.service.crawl.rendering.hostile import PAGES, PrivateListener
from tests.service.crawl.rendering.shop import SHOP, crawl_shop, wait_for_browsers
from tests.service.crawl.site import Reply, Site

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
# What the visit of a page ends with. Other pages are read, if the machine is fast enough.
READ = {"success", "rendering_timed_out"}
MEMORY = {"too_large", "rendering_failed", "rendering_timed_out"}
ENDS = {
    "endless alerts": {"rendering_timed_out"},
    "strings in memory": MEMORY,
    "buffers in memory": MEMORY,
    "nodes in memory": MEMORY | {"page_too_big", "success"},
    "navigation to private": {"http_redirect"},
    "download": {"http_redirect"},
    "form to private": {"rendering_failed"},
    "endless reload": {"too_many_redirects", "rendering_failed", "rendering_timed_out"},
    "meta refresh": {"http_redirect"},
    "document.write": MEMORY | {"page_too_big", "success"},
    "infinite loop": {"rendering_timed_out"},
    "loop in a promise": {"rendering_timed_out"},
    "huge document": MEMORY | {"page_too_big"},
}


class Crawled:
    """What a crawl of all hostile pages did."""

    def __init__(self, engine: Extractors) -> None:
        with Site() as site, PrivateListener() as listener:
            _fill(site, f"127.0.0.1:{listener.port}", str(listener.port))
            config = site.config(
                startUrls=[f"{SHOP}/", *map(address_of, PAGES), f"{SHOP}/last"],
                renderJavaScript={"enabled": True, "waitTime": {"min": 300, "max": 1500}},
                rateLimit=100,
                requestOptions={"timeout": 3000, "retries": 0},
            )
            config["actions"][0]["pathsToMatch"] = [f"{SHOP}/**"]
            ledger = crawl_shop(site, engine, config)
            self.outcomes = ledger.outcomes
            self.paths = site.paths()
        self.arrived = listener.arrived
        self.left = wait_for_browsers()

    def outcome(self, name: str) -> VisitOutcome:
        return self.outcomes[address_of(name)]


def address_of(name: str) -> str:
    return f"{SHOP}/hostile/{quote(name)}"


def _fill(site: Site, private: str, port: str) -> None:
    site.html("/", "Home")
    site.html("/last", "Last")
    for name, body in PAGES.items():
        text = body.replace("PRIVATE", private).replace("PORT", port)
        site.page(f"/hostile/{quote(name)}", f"<!doctype html><title>{name}</title><body>{text}")
    code = {"Content-Type": "text/javascript", "Access-Control-Allow-Origin": "*"}
    site.page("/worker.js", f"fetch('http://{private}/worker')", headers=code)
    site.redirect("/redirect/private", f"http://{private}/redirect")
    site.redirect("/redirect/circle", "/redirect/circle")
    site.answer("/slow", lambda _: Reply(b"x", headers=code, seconds=0.2))
    site.page("/drip.js", b" " * 64 * 1000, headers=code, drip=0.05)


def test_hostile_pages_reach_nothing_and_stop_no_crawl(engine: Extractors) -> None:
    """One crawl of all pages shows it: it takes minutes, so no second test begins another."""
    crawled = Crawled(engine)
    # Any page may take too long on a busy machine.
    late = {"rendering_timed_out", "rendering_failed"}
    outcomes = {name: crawled.outcome(name) for name in PAGES}

    assert crawled.arrived == []  # at a private address
    assert crawled.left == []  # processes after the crawl
    assert not {
        name: outcome.readable
        for name, outcome in outcomes.items()
        if outcome.reason not in {*ENDS.get(name, READ), *late}
        or "private address" in str(outcome.records)
    }
    assert [crawled.outcomes[f"{SHOP}{path}"].reason for path in ("/", "/last")] == ["success"] * 2
    # The document is read where scripts of the page cannot change what reads it.
    [action] = outcomes["changed globals"].yielded
    assert action.records[0]["title"] == "changed globals"


def test_the_listener_records_what_arrives() -> None:
    with PrivateListener() as listener:
        with socket.create_connection(("127.0.0.1", listener.port)) as tcp:
            tcp.sendall(b"hello")
        with socket.socket(type=socket.SOCK_DGRAM) as udp:
            udp.sendto(b"hello", ("127.0.0.1", listener.port))
        until = time.monotonic() + 10
        while len(listener.arrived) < 2 and time.monotonic() < until:
            time.sleep(0.01)

    assert sorted(listener.arrived) == ["TCP: b'hello'", "UDP: b'hello'"]


def test_the_browser_has_no_network_even_without_interception() -> None:
    """A request that the interception does not see finds no way out."""
    with PrivateListener() as listener:
        asyncio.run(_attack(f"127.0.0.1:{listener.port}"))

    assert listener.arrived == []


async def _attack(private: str) -> None:
    browser = CrawlBrowser(None)
    try:
        context = await browser.open_context("test")
        page = await context.new_page()
        for url in (f"http://{private}/", f"http://localhost:{private.partition(':')[2]}/"):
            with pytest.raises(Error, match="ERR_PROXY_CONNECTION_FAILED"):
                await page.goto(url)
        names = ("WebRTC to private", "web socket to private", "resources of private")
        for name in names:
            page = await context.new_page()  # the last one may still open its error page
            await page.set_content(PAGES[name].replace("PRIVATE", private), wait_until="commit")
            await page.wait_for_timeout(1500)
    finally:
        await browser.close()

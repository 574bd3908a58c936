"""Pages that scripts build: what the browser loads, with which headers, and what is read."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from svc_notebook.errors import BadInput
from svc_notebook.service.crawl.configuration import read_configuration
from svc_notebook.service.crawl.rendering import browser
from svc_notebook.service.crawl.rendering.browser import CrawlBrowser
from svc_notebook.service.crawl.rendering.renderer import Renderer
from svc_notebook.service.crawl.transport.fetcher import Fetcher, FetchResponse
from svc_notebook.service.crawl.visits import Remembered
from tests.service.crawl.conftest import Crawler
from tests.service.crawl.rendering.shop import browsers_of, wait_for_browsers
from tests.service.crawl.site import Asked, Reply, Site

pytestmark = pytest.mark.slow
SHELL = "<!doctype html><title>Shop</title><div id=app></div><script src=/app.js></script>"
APP = """
const draw = list => {
    document.title = "Products";
    app.innerHTML = list.map(one => `<a href="/products/${one.id}">${one.name}</a>
        <img src="/pictures/${one.id}.png" onerror="this.src='/none.png'">`).join("");
};
fetch("/api/products", {headers: {"X-App": "shop"}}).then(reply => reply.json()).then(draw);
"""
EXTRACTOR = """({ url, $ }) => [{
    title: $("title").text(),
    names: $("a").toArray().map(one => $(one).text()),
    pictures: $("img").toArray().map(one => $(one).attr("src")),
}]"""
CODE = {"Content-Type": "text/javascript"}
JSON = {"Content-Type": "application/json"}


def open_shop(site: Site, **changes: Any) -> dict[str, Any]:
    """Put a shop there whose pages a script builds; returns the configuration."""
    site.page("/", SHELL)
    site.page("/app.js", APP, headers=CODE)
    site.page("/api/products", '[{"id": 1, "name": "Lamp"}, {"id": 2, "name": "Sofa"}]')
    for number in (1, 2):
        site.page(f"/products/{number}", SHELL)
    config = site.config(renderJavaScript=True, **changes)
    config["actions"][0]["recordExtractor"]["source"] = EXTRACTOR
    return config


def test_a_page_built_by_scripts_is_indexed(site: Site, crawler: Crawler) -> None:
    ledger = crawler.crawl(open_shop(site))

    outcomes = ledger.outcomes
    assert {url: one.reason for url, one in outcomes.items()} == {
        f"{site.url}{path}": "success" for path in ("/", "/products/1", "/products/2")
    }
    [record] = outcomes[f"{site.url}/"].records["pages"]
    assert record["title"] == "Products"
    assert record["names"] == ["Lamp", "Sofa"]
    assert record["pictures"] == ["/pictures/1.png", "/pictures/2.png"]
    assert sorted(set(site.paths())) == [
        "/", "/api/products", "/app.js", "/products/1", "/products/2"
    ]  # fmt: skip
    assert site.paths().count("/") == 1
    assert wait_for_browsers() == []


RENDERED: list[tuple[Any, bool]] = [
    (True, True),
    (False, False),
    (["**/products/*"], False),
    (["http://**/"], True),
    ({"enabled": True}, True),
    ({"enabled": True, "patterns": ["**/products/*"]}, False),
    ({"enabled": False, "patterns": ["**"]}, False),
]


@pytest.mark.parametrize(("given", "rendered"), RENDERED)
def test_the_configured_pages_are_rendered(
    site: Site, crawler: Crawler, given: Any, rendered: bool
) -> None:
    outcome = crawler.visit({**open_shop(site), "renderJavaScript": given}, f"{site.url}/")

    assert outcome.page is not None
    assert outcome.page.is_rendered is rendered
    assert [one["title"] for one in outcome.records["pages"]] == [
        "Products" if rendered else "Shop"
    ]
    assert any("set `renderJavaScript`" in line for line in outcome.logs) is not rendered


def test_requests_of_the_page_are_the_crawlers_own(site: Site, crawler: Crawler) -> None:
    headers = {"Authorization": "Bearer s3cret", "Cookie": "pass=s3cret", "User-Agent": "ours"}
    with Site() as other:
        other.page("/api", "[]", headers={**JSON, "Access-Control-Allow-Origin": "*"})
        config = open_shop(site, requestOptions={"headers": headers})
        site.answer(
            "/",
            lambda _: Reply(
                f"{SHELL}<script>fetch('{other.url}/api')</script>".encode(),
                headers={"Content-Type": "text/html", "Set-Cookie": "seen=1"},
            ),
        )

        outcome = crawler.visit(config, f"{site.url}/")

    assert outcome.reason == "success"
    [own] = [one for one in site.asked if one.path == "/api/products"]
    assert own.headers["authorization"] == "Bearer s3cret"
    assert {"seen=1", "pass=s3cret"} <= {*own.headers["cookie"].split("; ")}
    assert own.headers["x-app"] == "shop"
    assert own.headers["user-agent"] == "ours"
    [foreign] = other.asked
    assert not {"authorization", "cookie"} & foreign.headers.keys()
    assert foreign.headers["origin"] == site.url


def test_a_page_may_not_read_another_origin_through_a_redirect(
    site: Site, crawler: Crawler
) -> None:
    with Site() as other:
        other.page("/secret", "secret")
        site.redirect("/leads-away", f"{other.url}/secret")
        code = "fetch('/leads-away').then(r => r.text()).then(text => document.title = text)"
        site.page("/", f"<title>Home</title><script>{code}</script>")

        outcome = crawler.visit(site.config(renderJavaScript=True), f"{site.url}/")

    assert [one["title"] for one in outcome.records["pages"]] == ["Home"]


def test_a_rendered_page_is_read_again_although_its_etag_is_the_same(
    site: Site, crawler: Crawler
) -> None:
    config = open_shop(site)
    site.page("/", SHELL, headers={"Content-Type": "text/html", "ETag": '"1"'})

    outcome = crawler.visit(config, f"{site.url}/")

    assert outcome.reason == "success"
    assert outcome.remember is None
    fingerprint = read_configuration(config).fingerprint
    again = crawler.visit(config, f"{site.url}/", Remembered('"1"', None, fingerprint))
    assert again.records == outcome.records


def test_a_navigation_of_the_page_is_a_redirect(site: Site, crawler: Crawler) -> None:
    site.page("/", "<title>Old</title><script>location.replace('/new#top')</script>")
    site.html("/new", "New")

    outcomes = crawler.crawl(site.config(renderJavaScript=True)).outcomes

    assert outcomes[f"{site.url}/"].reason == "http_redirect"
    assert outcomes[f"{site.url}/new"].reason == "success"


@pytest.mark.parametrize("change", ["history.pushState({}, '', '?' + n)", "location.hash = n"])
def test_a_page_that_changes_its_address_for_ever_is_read(
    site: Site, crawler: Crawler, change: str
) -> None:
    """The browser limits these changes: it would be occupied for longer than a page may take."""
    script = f"setInterval(() => {{ for (let n = 0; n < 100; n++) {change}; history.back() }}, 1)"
    site.page("/", f"<title>Home</title><script>{script}</script>")
    config = site.config(renderJavaScript={"enabled": True, "waitTime": {"min": 1000, "max": 1500}})

    outcome = crawler.visit(config, f"{site.url}/")

    assert [one["title"] for one in outcome.records["pages"]] == ["Home"]


def test_a_page_that_leaves_by_a_form_is_not_read_in_part(site: Site, crawler: Crawler) -> None:
    form = "<title>Home</title><form id=f method=post action=/next></form><script>f.submit()"
    site.page("/", f"{form}</script><p>text</p>")

    outcome = crawler.visit(site.config(renderJavaScript=True), f"{site.url}/")

    assert (outcome.status, outcome.reason) == ("FAILED", "rendering_failed")
    assert f"sends a form to {site.url}/next" in outcome.readable
    assert site.paths() == ["/"]


def test_a_cookie_check_that_reloads_the_page_is_passed(site: Site, crawler: Crawler) -> None:
    def answer(asked: Asked) -> Reply:
        known = "human=1" in asked.headers.get("cookie", "")
        check = "<script>document.cookie = 'human=1'; location.reload()</script>"
        return Reply(b"<title>Home</title>" if known else check.encode())

    site.answer("/", answer)

    outcome = crawler.visit(site.config(renderJavaScript=True), f"{site.url}/")

    assert [one["title"] for one in outcome.records["pages"]] == ["Home"]


def test_trackers_fonts_and_media_are_not_loaded(site: Site, crawler: Crawler) -> None:
    site.page(
        "/",
        "<title>Home</title><img src=/a.png><video src=/b.mp4></video><style>@font-face {"
        "font-family: x; src: url(/c.woff)} p {font-family: x}</style><p>text</p>"
        "<script src=https://www.googletagmanager.com/gtm.js></script>",
    )

    outcome = crawler.visit(site.config(renderJavaScript=True), f"{site.url}/")

    assert outcome.reason == "success"
    assert site.paths() == ["/"]
    assert not any("googletagmanager" in line for line in outcome.logs)


@pytest.mark.parametrize(("shortest", "title"), [(0, "Home"), (1500, "Later")])
def test_the_shortest_wait_leaves_time_for_timers(
    site: Site, crawler: Crawler, shortest: int, title: str
) -> None:
    site.page(
        "/",
        "<title>Home</title><script>addEventListener('load', () => setTimeout(() => "
        "document.title = 'Later', SECONDS))</script>".replace(
            "SECONDS", "1" if shortest else "60000"
        ),
    )
    config = site.config(renderJavaScript={"enabled": True, "waitTime": {"min": shortest}})

    outcome = crawler.visit(config, f"{site.url}/")

    assert [one["title"] for one in outcome.records["pages"]] == [title]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seconds", [0.3, 0, 0.01, 0.02, 0.04, 0.06, 0.1])
def test_a_browser_that_was_killed_is_started_again(site: Site, seconds: float) -> None:
    """All pages of the browser end with it, and each is rendered again."""
    config = open_shop(site)

    async def render() -> list[bytes]:
        configuration = read_configuration(config)
        assert configuration.rendering
        async with Fetcher(configuration, allow_private=True) as fetcher:
            renderer = Renderer(configuration.rendering, fetcher)
            page = FetchResponse(f"{site.url}/", 200, {"content-type": "text/html"}, SHELL.encode())
            try:
                bodies = [(await renderer.render(page.url, page)).response.body]
                visit = asyncio.create_task(renderer.render(page.url, page))
                await asyncio.sleep(seconds)
                for pid in browsers_of():
                    os.kill(pid, signal.SIGKILL)
                return [*bodies, (await visit).response.body]
            finally:
                await renderer.close()

    bodies = asyncio.run(render())

    assert all(b"Lamp" in body for body in bodies)
    assert wait_for_browsers() == []


def test_a_browser_that_ends_after_the_process_of_a_page_is_started_again(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, read = open_shop(site), Renderer._read
    config["renderJavaScript"] = {"enabled": True, "waitTime": {"min": 2000}}
    ended = []

    async def read_and_end(
        self: Renderer, page: Any, session: Any, requests: Any, crashed: asyncio.Event
    ) -> str:
        html = await read(self, page, session, requests, crashed)
        if crashed.is_set():
            for pid in browsers_of():
                os.kill(pid, signal.SIGKILL)
            ended.append(page)
        return html

    async def render() -> bytes:
        configuration = read_configuration(config)
        assert configuration.rendering
        async with Fetcher(configuration, allow_private=True) as fetcher:
            renderer = Renderer(configuration.rendering, fetcher)
            page = FetchResponse(f"{site.url}/", 200, {"content-type": "text/html"}, SHELL.encode())
            try:
                visit = asyncio.create_task(renderer.render(page.url, page))
                while "/app.js" not in site.paths():  # noqa: ASYNC110 - the site is a thread
                    await asyncio.sleep(0.01)
                for pid in filter(is_page, browsers_of()):
                    os.kill(pid, signal.SIGKILL)
                return (await visit).response.body
            finally:
                await renderer.close()

    monkeypatch.setattr(Renderer, "_read", read_and_end)

    assert b"Lamp" in asyncio.run(render())
    assert len(ended) == 1
    assert wait_for_browsers() == []


def is_page(pid: int) -> bool:
    return b"--type=renderer" in Path(f"/proc/{pid}/cmdline").read_bytes()


HOLD = """
import asyncio, sys
from svc_notebook.service.crawl.rendering.browser import CrawlBrowser
async def hold():
    context = await CrawlBrowser(None).open_context("test")
    page = await context.new_page()
    asyncio.ensure_future(page.evaluate("while (true) {}"))
    await asyncio.sleep(0.5)
    print("open", flush=True)
    await asyncio.sleep(600)
asyncio.run(hold())
"""


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A folder for temporary files; the path of `tmp_path` is too long for a socket."""
    with tempfile.TemporaryDirectory(prefix="b-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def test_a_browser_leaves_no_temporary_files(
    temporary: Path, temporary_files_in: Callable[[Path], None]
) -> None:
    temporary_files_in(temporary)
    sockets: list[Path] = []

    async def open_and_close() -> None:
        browser = CrawlBrowser(None)
        await browser.open_context("test")
        sockets.extend(await asyncio.to_thread(lambda: [*temporary.glob("*/org.chromium*")]))
        await browser.close()

    asyncio.run(open_and_close())

    assert sockets
    assert [*temporary.iterdir()] == []


def test_no_browser_outlives_a_service_that_is_killed(temporary: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(
        [sys.executable, "-c", HOLD], stdout=subprocess.PIPE, env=environment
    ) as service:
        assert service.stdout
        assert service.stdout.readline() == b"open\n"
        pids = browsers_of(service.pid)
        assert pids
        service.kill()

    until = time.monotonic() + 40
    while (left := [pid for pid in pids if is_running(pid)]) and time.monotonic() < until:
        time.sleep(0.1)
    assert left == []


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(
    any(Path(path).exists() for path in browser.PLACES), reason="this machine has a browser there"
)
def test_a_missing_browser_is_reported_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, without_package: Callable[..., None]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(browser.BROWSER_VARIABLE, raising=False)

    with pytest.raises(BadInput, match=r"install the\s+package chromium.*svc serve --browser PATH"):
        browser.find_browser(None)
    with pytest.raises(BadInput, match="nowhere, which --browser names, is not a program"):
        browser.find_browser("nowhere")
    without_package("playwright")
    with pytest.raises(BadInput, match=r'pip install "svc-notebook\[crawl,render\]"'):
        browser.find_browser(None)


def test_a_named_browser_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    named = tmp_path / "own-browser"
    named.write_text("#!/bin/sh\nexit 1\n")
    named.chmod(named.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv(browser.BROWSER_VARIABLE, str(named))

    assert browser.find_browser(None) == str(named)


def test_a_browser_that_does_not_start_blocks_the_crawl_with_a_reason(
    site: Site, crawler: Crawler, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    named = tmp_path / "own-browser"
    named.write_text("#!/bin/sh\nexit 1\n")
    named.chmod(named.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv(browser.BROWSER_VARIABLE, str(named))

    with pytest.raises(BadInput, match="own-browser does not start"):
        crawler.visit(open_shop(site), f"{site.url}/")


def test_a_page_whose_data_did_not_come_is_incomplete(site: Site, crawler: Crawler) -> None:
    config = open_shop(site)
    with Site() as gone:
        closed = gone.url
    cases = {
        "/api/products": ({"status": 503}, "FAILED", f"status 503 {site.url}/api/products"),
        "/app.js": ({"status": 500}, "FAILED", f"status 500 {site.url}/app.js"),
        "/closed": ({}, "FAILED", f"connection_refused {closed}/data"),
        "/none": ({}, "DONE", f"{site.url}/none answers with status 404"),
    }
    told = {}
    for path, (reply, status, text) in cases.items():
        before = dict(site.pages)
        if reply:
            site.page(path, "", **reply)
        wanted = {"/closed": f"{closed}/data", "/none": "/none"}.get(path)
        code = f"fetch('{wanted}').catch(() => 0)" if wanted else ""
        site.page("/", f"{SHELL}<script>{code}</script>")

        outcome = crawler.visit(config, f"{site.url}/")

        site.pages = before
        seen = outcome.readable if status == "FAILED" else " ".join(outcome.logs)
        told[path] = (reply, outcome.status, text if text in seen else seen)
        assert (outcome.reason == "rendered_incomplete") is (status == "FAILED")
    assert told == cases


SHADOWS = """<!doctype html><title>Parts</title><x-card><b slot=name>Lamp</b><i>loose</i></x-card>
<x-shut></x-shut><script>
const open = (name, mode, html) => customElements.define(name, class extends HTMLElement {
    constructor() { super(); this.attachShadow({mode}).innerHTML = html; } });
open("x-price", "open", "<p>12 EUR</p>");
open("x-card", "open", "<h2><slot name=name>none</slot></h2><x-price></x-price>");
open("x-shut", "closed", "<p>shut</p>");
</script>"""


def test_open_shadow_roots_are_read_with_their_slots(site: Site, crawler: Crawler) -> None:
    site.page("/", SHADOWS)
    config = site.config(renderJavaScript=True)
    config["actions"][0]["recordExtractor"]["source"] = (
        "({ $ }) => [{ title: $('x-card h2 b').text(), price: $('x-card x-price p').text(),"
        " text: $('body').text() }]"
    )

    outcome = crawler.visit(config, f"{site.url}/")

    [record] = outcome.records["pages"]
    assert (record["title"], record["price"]) == ("Lamp", "12 EUR")
    assert record["text"].count("Lamp") == 1
    assert "loose" in record["text"]
    assert "shut" not in record["text"].partition("const open")[0]


FEED = """<!doctype html><title>Feed</title><ul id=list></ul><div id=end>.</div><script>
let n = 0;
new IntersectionObserver(async seen => {
    if (!seen.some(one => one.isIntersecting) || n >= 5) return;
    n += 1;
    const item = await (await fetch("/items/" + n)).text();
    list.insertAdjacentHTML("beforeend", `<li style="height: 3000px">${item}</li>`);
}).observe(end);
</script>"""


def test_a_page_is_scrolled_to_its_end_on_request(site: Site, crawler: Crawler) -> None:
    site.page("/", FEED)
    for number in range(1, 6):
        site.page(f"/items/{number}", f"item {number}")
    config = site.config()
    config["actions"][0]["recordExtractor"]["source"] = "({ $ }) => [{ n: $('li').length }]"

    counts = [
        crawler.visit({**config, "renderJavaScript": given}, f"{site.url}/").records["pages"][0][
            "n"
        ]
        for given in ({"enabled": True}, {"enabled": True, "scrollToEnd": True})
    ]

    assert counts == [1, 5]

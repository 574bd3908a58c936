"""Render a page: let its scripts build it in a browser, and return the document as HTML."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from svc_notebook.service.crawl.rendering.browser import (
    MAX_PROCESS_BYTES,
    BrowserEnded,
    CrawlBrowser,
    find_browser,
    wait_for_browser,
)
from svc_notebook.service.crawl.rendering.page_requests import PageRequests, ScriptCache
from svc_notebook.service.crawl.transport.fetcher import (
    MAX_PAGE_BYTES,
    Fetcher,
    FetchResponse,
)
from svc_notebook.service.crawl.visits import FetchFailure

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Page

    from svc_notebook.service.crawl.request_options import Rendering

# Pages in the browser at once: each has a process of its own.
MAX_PARALLEL_PAGES = max(2, min(8, os.cpu_count() or 2))
# A page is complete when its document was parsed, no request was in progress for this long, and the
# next frames began none.
QUIET_SECONDS = 0.5
POLL_SECONDS = 0.05
# How long the finished document may take to be read; scripts that never end prevent it.
READ_SECONDS = 5.0
# Reloads that may interrupt the reading of a page.
MAX_READS = 3
# A page is rendered again if the browser ended, maybe because of another page.
MAX_ATTEMPTS = 2
# Dialogs and windows stop a page until somebody answers; connections of other kinds than HTTP have
# no server. The interception and the flags of the browser do not depend on this script.
PREPARE = """(() => {
    for (const name of ["alert", "confirm", "prompt", "print", "open"]) {
        Object.defineProperty(window, name, {value: () => null});
    }
    for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"]) {
        delete window[name];
    }
})()"""
# Scripts that observe what is visible begin requests after the first frame, late on a busy machine.
DRAW = """new Promise(
    done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))
)"""
# Open shadow roots are read as browsers show them: their content stands in the element, with its
# children in the slots. Copies belong to a document without scripts, so that none run. A document
# that is nested too deeply for that is read without them.
READ = """(() => {
    if (!/^https?:/.test(location.href)) return null;
    const root = document.documentElement;
    const inert = document.implementation.createHTMLDocument("");
    const fill = (made, nodes) => {
        for (const node of nodes) made.append(copy(node));
        return made;
    };
    const copy = node => {
        const isWhole = node.nodeType !== 1 || node.localName === "template";
        if (isWhole) return inert.importNode(node, true);
        const assigned = node.localName === "slot" ? node.assignedNodes() : [];
        if (assigned.length) return fill(inert.createDocumentFragment(), assigned);
        const made = inert.importNode(node, false);
        if (!node.shadowRoot) return fill(made, node.childNodes);
        fill(made, [...node.childNodes].filter(child => !child.assignedSlot));
        return fill(made, node.shadowRoot.childNodes);
    };
    const write = () => {
        try {
            const all = [...document.querySelectorAll("*")];
            return (all.some(one => one.shadowRoot) ? copy(root) : root).outerHTML;
        } catch (error) {
            if (error instanceof RangeError) return root.outerHTML;
            throw error;
        }
    };
    const html = root ? write() : "";
    const kind = document.doctype ? "<!DOCTYPE html>" : "";
    return html.length > LIMIT ? html.length : kind + html;
})()"""
# Scrolls to the end, and returns the height of the document.
SCROLL = """(() => {
    const height = document.documentElement.scrollHeight;
    window.scrollTo(0, height);
    return height;
})()"""
MAX_SCROLLS = 100
# Headers that describe the document as the server sent it. Its ETag says nothing about the data
# from which scripts build the page.
_OBSOLETE = ("content-encoding", "content-length", "content-type", "etag", "last-modified")


@dataclass(frozen=True)
class RenderedPage:
    """A rendered page; `target` is the URL to which it navigates instead.

    `missing` lists its requests for data and scripts that failed, each with a status or a reason.
    """

    response: FetchResponse
    target: str | None = None
    logs: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


class Renderer:
    """Renders the pages of one crawl in one browser, until `close`."""

    def __init__(self, rendering: Rendering, fetcher: Fetcher, browser: str | None = None) -> None:
        self._rendering = rendering
        self._fetcher = fetcher
        self._named = browser
        self._browser = CrawlBrowser(browser)
        self._cache = ScriptCache()
        self._slots = asyncio.Semaphore(MAX_PARALLEL_PAGES)

    def check(self) -> None:
        """Raise `BadInput` if there is no browser."""
        find_browser(self._named)

    async def close(self) -> None:
        """End the browser."""
        await self._browser.close()

    async def render(self, url: str, response: FetchResponse) -> RenderedPage:
        """Render a page from its response.

        Raises `FetchFailure` if the page cannot be rendered, `BadInput` if the browser is missing.
        """
        async with self._slots:
            for attempt in range(MAX_ATTEMPTS):
                try:
                    return await self._render(url, response)
                except BrowserEnded as error:
                    if attempt + 1 == MAX_ATTEMPTS:
                        raise FetchFailure(
                            "rendering_failed",
                            f"the browser ended on this page: {first_line(error)}",
                        ) from error
        raise AssertionError("the last attempt returns or raises")

    async def _render(self, url: str, response: FetchResponse) -> RenderedPage:
        context = await self._browser.open_context(self._fetcher.user_agent)
        requests: PageRequests | None = None
        session: CDPSession | None = None
        try:
            opened = await wait_for_browser(context.browser, open_page(context))
            page, session = opened
            tools = self._fetcher, self._cache
            requests = PageRequests(page, response, url, tools, self._rendering)
            killed = self._browser.killed
            crashed = asyncio.Event()
            page.on("crash", lambda _: crashed.set())
            page.on("close", lambda _: crashed.set())
            context.on("page", lambda popup: dismiss(popup))
            await wait_for_browser(context.browser, context.route("**/*", requests.answer))
            html = await self._read(page, session, requests, crashed)
            if html:
                session = None  # its scripts left time to read it: it closes by itself
            if crashed.is_set() and not requests.is_over:
                # The process of a page may end shortly before the browser does.
                await wait_for_browser(context.browser, context.cookies())
                raise self._explain_crash(killed)
            if requests.failure:
                raise requests.failure
            logs = tuple(requests.logs)
            if requests.target:
                return RenderedPage(response, requests.target, logs)
            return RenderedPage(_rendered(response, html), None, logs, tuple(requests.missing))
        finally:
            if requests:
                requests.close()
            await self._browser.end(context, session)

    async def _read(
        self, page: Page, session: CDPSession, requests: PageRequests, crashed: asyncio.Event
    ) -> str:
        """Navigate, wait until the page is complete, and return its document."""
        from playwright.async_api import Error

        try:
            parsed = asyncio.Event()
            page.on("domcontentloaded", lambda _: parsed.set())
            visit = asyncio.create_task(_navigate(page, requests.url))
            try:
                for _ in range(MAX_READS):
                    await self._wait(session, requests, crashed, parsed)
                    if crashed.is_set() or requests.is_over:
                        return ""
                    documents = requests.documents
                    try:
                        await self._scroll(session, requests, crashed, parsed)
                        async with asyncio.timeout(READ_SECONDS):
                            return await _read_document(session)
                    except Error:
                        # The document that was read is gone if the page reloads meanwhile.
                        await asyncio.sleep(QUIET_SECONDS)
                        if documents == requests.documents or not self._browser.is_running:
                            raise
                raise FetchFailure("rendering_failed", "the page reloads again and again")
            finally:
                visit.cancel()
                await asyncio.gather(visit, return_exceptions=True)
        except TimeoutError:
            if crashed.is_set():
                return ""
            await wait_for_browser(page.context.browser, page.context.cookies())
            raise FetchFailure(
                "rendering_timed_out",
                "the scripts of the page did not end within"
                f" {self._rendering.max_wait_seconds + READ_SECONDS:g} seconds",
            ) from None
        except Error as error:
            if crashed.is_set():
                return ""
            if page.context.browser is None or not page.context.browser.is_connected():
                raise BrowserEnded(str(error)) from error
            raise FetchFailure("rendering_failed", first_line(error)) from error

    async def _wait(
        self,
        session: CDPSession,
        requests: PageRequests,
        crashed: asyncio.Event,
        parsed: asyncio.Event,
    ) -> None:
        """Wait until the page is complete, at least and at most as long as configured."""
        began = monotonic()
        while (passed := monotonic() - began) < self._rendering.max_wait_seconds:
            if crashed.is_set() or requests.is_over:
                return
            is_quiet = parsed.is_set() and requests.quiet_seconds >= QUIET_SECONDS
            if is_quiet and passed >= self._rendering.min_wait_seconds:
                is_drawn = await _draw(session, self._rendering.max_wait_seconds - passed)
                if is_drawn and requests.quiet_seconds >= QUIET_SECONDS:
                    return
            await asyncio.sleep(POLL_SECONDS)

    async def _scroll(
        self,
        session: CDPSession,
        requests: PageRequests,
        crashed: asyncio.Event,
        parsed: asyncio.Event,
    ) -> None:
        """Scroll to the end, until the page grows no more or the time is over."""
        if not self._rendering.scrolls_to_end:
            return
        until, heights = monotonic() + self._rendering.max_wait_seconds, [0]
        for _ in range(MAX_SCROLLS):
            async with asyncio.timeout(READ_SECONDS):
                heights.append(await _evaluate(session, SCROLL) or 0)
            if heights[-1] == heights[-2] or monotonic() > until:
                return
            await asyncio.sleep(QUIET_SECONDS)  # scripts notice the position in the next frames
            await self._wait(session, requests, crashed, parsed)
            if crashed.is_set() or requests.is_over:
                return

    def _explain_crash(self, killed: int) -> FetchFailure:
        if self._browser.killed > killed:
            return FetchFailure(
                "too_large",
                f"the page used more than {MAX_PROCESS_BYTES >> 20} MB of memory in the browser",
            )
        return FetchFailure("rendering_failed", "the process of the page ended in the browser")


async def open_page(context: BrowserContext) -> tuple[Page, CDPSession]:
    """Open a page that no dialog stops, and a session for commands to its process."""
    await context.add_init_script(PREPARE)
    page = await context.new_page()
    return page, await context.new_cdp_session(page)


async def _navigate(page: Page, url: str) -> None:
    """Open a URL; failures show in the requests of the page and in what is read."""
    from playwright.async_api import Error

    try:
        await page.goto(url, wait_until="commit", timeout=0)
    except Error:
        return


async def _draw(session: CDPSession, timeout_seconds: float) -> bool:
    """Wait for the next frames of the page; return whether they were drawn in time."""
    from playwright.async_api import Error

    try:
        async with asyncio.timeout(timeout_seconds):
            await _evaluate(session, DRAW)
    except (Error, TimeoutError):  # the page reloaded or its process ended, or a script never ends
        return False
    return True


async def _evaluate(session: CDPSession, expression: str) -> Any:
    """Return a value, or that of a promise, from a world that scripts of the page cannot change."""
    tree = await session.send("Page.getFrameTree")
    world = await session.send(
        "Page.createIsolatedWorld", {"frameId": tree["frameTree"]["frame"]["id"]}
    )
    answer = await session.send(
        "Runtime.evaluate",
        {
            "expression": expression,
            "contextId": world["executionContextId"],
            "returnByValue": True,
            "awaitPromise": True,
        },
    )
    return answer["result"].get("value")


async def _read_document(session: CDPSession) -> str:
    """Return the document as HTML."""
    html = await _evaluate(session, READ.replace("LIMIT", str(MAX_PAGE_BYTES)))
    if html is None:  # no document yet, or an error page of the browser
        raise FetchFailure("rendering_failed", "the browser did not open the page in time")
    if isinstance(html, int | float) or len(html.encode("utf-8", "replace")) > MAX_PAGE_BYTES:
        raise FetchFailure(
            "page_too_big", f"the rendered page has more than {MAX_PAGE_BYTES:,} bytes"
        )
    return str(html)


def _rendered(response: FetchResponse, html: str) -> FetchResponse:
    """Return the response with the rendered document as its body."""
    headers = {name: value for name, value in response.headers.items() if name not in _OBSOLETE}
    headers["content-type"] = "text/html; charset=utf-8"
    return replace(response, headers=headers, body=html.encode("utf-8", "replace"))


def dismiss(popup: Page) -> None:
    """Close a window that the page opened."""
    task = asyncio.ensure_future(popup.close())
    task.add_done_callback(lambda done: done.cancelled() or done.exception())


def first_line(error: Exception) -> str:
    """Return the first line of an error's message."""
    return (str(error).strip().splitlines() or ["it does not respond"])[0]

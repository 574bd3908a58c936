"""Log in with a browser: fill in the form of a page, send it, and keep the cookies."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING

from svc_notebook.errors import BadInput
from svc_notebook.service.crawl.rendering.browser import (
    BrowserEnded,
    CrawlBrowser,
    find_browser,
    wait_for_browser,
)
from svc_notebook.service.crawl.rendering.page_requests import (
    PageRequests,
    ScriptCache,
    is_main,
)
from svc_notebook.service.crawl.rendering.renderer import (
    POLL_SECONDS,
    QUIET_SECONDS,
    dismiss,
    first_line,
    open_page,
)
from svc_notebook.service.crawl.request_options import BrowserLogin, Rendering
from svc_notebook.service.crawl.transport.fetcher import (
    Fetcher,
    FetchResponse,
    PageRequest,
    too_many_redirects,
)
from svc_notebook.service.crawl.visits import FetchFailure

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page, Request

MEMBER = "login.browserRequest"
# Documents that a login may open: its page, those between two services, and the last one.
MAX_DOCUMENTS = 20
# How long a field or button may take to be ready.
FIELD_SECONDS = 5.0
# A login waits for its page, for a second step, and for the answer.
MAX_WAITS = 3
PASSWORD_FIELDS = 'input[type="password"]'
NAME_FIELDS = (
    'input[autocomplete~="username"]',
    'input[type="email"], input[type="text"], input[type="tel"], input:not([type])',
)
BUTTONS = 'button[type="submit"], input[type="submit"], input[type="image"], button:not([type])'


async def log_in(login: BrowserLogin, fetcher: Fetcher, browser: str | None) -> None:
    """Log in, and keep the cookies in the fetcher; raises `BadInput` if it fails."""
    find_browser(browser, MEMBER)
    from playwright.async_api import Error

    running = CrawlBrowser(browser, MEMBER)
    try:
        await _log_in(login, fetcher, running)
    except FetchFailure as failure:
        raise BadInput(f"`{MEMBER}`: {failure.readable}") from failure
    except TimeoutError:
        raise BadInput(
            f"`{MEMBER}`: the scripts of {login.url} did not end in time; a longer `waitTime.max`"
            " may help"
        ) from None
    except (BrowserEnded, Error) as error:
        raise BadInput(f"`{MEMBER}`: {login.url}: {first_line(error)}") from error
    finally:
        await running.close()


async def _log_in(login: BrowserLogin, fetcher: Fetcher, running: CrawlBrowser) -> None:
    context = await running.open_context(fetcher.user_agent)
    page, _ = await wait_for_browser(context.browser, open_page(context))
    page.set_default_timeout(FIELD_SECONDS * 1000)
    context.on("page", dismiss)
    requests = _LoginRequests(page, login, fetcher)
    try:
        await wait_for_browser(context.browser, context.route("**/*", requests.answer))
        form = _LoginForm(page, login, requests)
        async with asyncio.timeout(MAX_WAITS * (login.max_wait_seconds + 2 * FIELD_SECONDS)):
            await form.open()
            await form.send()
            cookies = [dict(item) for item in await context.cookies()]
    finally:
        requests.close()
    for cookie in cookies:
        url, line = _write_cookie(cookie)
        fetcher.keep_login_cookies(url, [line])
    if not (cookies or requests.has_cookies):
        raise BadInput(
            f"`{MEMBER}`: {login.url} set no cookie after its form was sent; a login that keeps its"
            " token in another place needs `requestOptions.headers` or `login.oauthRequest`"
        )


class _LoginForm:
    """The form of a login page."""

    def __init__(self, page: Page, login: BrowserLogin, requests: _LoginRequests) -> None:
        self._page, self._login, self._requests = page, login, requests

    async def open(self) -> None:
        """Open the page, and wait for its scripts; raises `FetchFailure` of the document."""
        from playwright.async_api import Error

        visit = asyncio.create_task(self._page.goto(self._login.url, wait_until="commit"))
        try:
            await self._settle()
            await visit
        except Error:
            # The request can fail after the wait, on a busy machine; it knows why.
            if self._requests.failure:
                raise self._requests.failure from None
            raise
        finally:
            visit.cancel()
            await asyncio.gather(visit, return_exceptions=True)

    async def send(self) -> None:
        """Fill in the form, in one or two steps, and send it."""
        if not await _count(self._visible(PASSWORD_FIELDS)):
            await self._send_name()
        password = self._visible(PASSWORD_FIELDS).first
        if not await _count(password):
            raise BadInput(f"`{MEMBER}`: {self._login.url} has no form with a field for a password")
        around = await self._find_form(password)
        if name := await self._find_name(around):
            await name.fill(self._login.username)
        await password.fill(self._login.password)
        await self._submit(password, around)
        if self._requests.status >= 400:
            raise BadInput(
                f"`{MEMBER}`: {self._login.url} refuses the login with status"
                f" {self._requests.status}"
            )
        if await _count(self._visible(PASSWORD_FIELDS)):
            raise BadInput(
                f"`{MEMBER}`: the form of {self._login.url} is still there after it was sent; check"
                " `username` and `password`"
            )

    async def _send_name(self) -> None:
        """Send the user name alone, as the first of two steps."""
        body = self._page.locator("body")
        if name := await self._find_name(body):
            await name.fill(self._login.username)
            await self._submit(name, await self._find_form(name))

    async def _submit(self, field: Locator, around: Locator) -> None:
        button = around.locator(BUTTONS).locator("visible=true").first
        if await _count(button):
            await button.click(no_wait_after=True)
        else:
            await field.press("Enter", no_wait_after=True)
        await self._settle()

    async def _find_form(self, field: Locator) -> Locator:
        form = field.locator("xpath=ancestor::form[1]")
        return form if await _count(form) else self._page.locator("body")

    async def _find_name(self, around: Locator) -> Locator | None:
        for fields in NAME_FIELDS:
            name_field = around.locator(fields).locator("visible=true").first
            if await _count(name_field):
                return name_field
        return None

    def _visible(self, fields: str) -> Locator:
        return self._page.locator(fields).locator("visible=true")

    async def _settle(self) -> None:
        """Wait until no request is in progress; raises `FetchFailure` of a document."""
        began = monotonic()
        while (passed := monotonic() - began) < self._login.max_wait_seconds:
            if self._requests.failure:
                break
            is_quiet = min(passed, self._requests.quiet_seconds) >= QUIET_SECONDS
            if is_quiet and passed >= self._login.min_wait_seconds:
                break
            await asyncio.sleep(POLL_SECONDS)
        if self._requests.failure:
            raise self._requests.failure


class _LoginRequests(PageRequests):
    """The requests of a login: it may open other pages, and the cookies of all are kept."""

    def __init__(self, page: Page, login: BrowserLogin, fetcher: Fetcher) -> None:
        super().__init__(page, None, login.url, (fetcher, ScriptCache()), Rendering())
        self.status = 0  # of the last document
        self.has_cookies = False

    async def _navigate(self, request: Request) -> FetchResponse | None:
        self.documents += 1
        try:
            if self.documents > MAX_DOCUMENTS:
                raise too_many_redirects()
            response = await self._load(request)
        except FetchFailure as failure:
            self.failure = failure
            raise
        self.status = response.status if response else 0
        return response

    def _page_of(self, request: Request) -> str:
        return request.url if is_main(self._page, request) else request.frame.url

    def _receive(self, response: FetchResponse) -> None:
        """Keep the cookies, which the next request of a chain of redirects needs."""
        self._fetcher.keep_login_cookies(response.url, response.cookies)
        self.has_cookies = self.has_cookies or bool(response.cookies)

    def _redirect(self, request: PageRequest, response: FetchResponse) -> PageRequest:
        opens = request.page == request.url
        led = super()._redirect(request, response)
        return replace(led, page=led.url) if opens else led


async def _count(fields: Locator) -> int:
    """Count fields; raises `TimeoutError` if scripts leave no time for that."""
    async with asyncio.timeout(FIELD_SECONDS):
        return await fields.count()


def _write_cookie(cookie: Mapping[str, object]) -> tuple[str, str]:
    """Return a cookie of the browser as a URL and the `Set-Cookie` of a response to it."""
    domain, path = str(cookie["domain"]), cookie.get("path", "/")
    host = domain.removeprefix(".")
    parts = [f"{cookie['name']}={cookie['value']}", f"Path={path}"]
    parts += [f"Domain={host}"] if domain.startswith(".") else []
    parts += ["Secure"] if cookie.get("secure") else []
    scheme = "https" if cookie.get("secure") else "http"
    return f"{scheme}://{host}{path}", "; ".join(parts)

"""Process one URL: fetch it, parse it, extract records and collect its links."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar
from urllib.parse import unquote, urlsplit

from svc_notebook.errors import BadInput
from svc_notebook.service.crawl.configuration import Action, Configuration
from svc_notebook.service.crawl.external_data import Row, read_sources, rows_of
from svc_notebook.service.crawl.extraction import (
    FetchedPage,
    Unreadable,
    file_type,
    sniff_media_type,
)
from svc_notebook.service.crawl.link_policy import LinkPolicy, Scope
from svc_notebook.service.crawl.page_results import (
    Revalidation,
    conditional_headers,
    find_duplicates,
    name_records,
)
from svc_notebook.service.crawl.request_options import BrowserLogin
from svc_notebook.service.crawl.site_files import (
    MAX_INDEX_DEPTH,
    MAX_SITEMAP_BYTES,
    MAX_SITEMAP_URLS,
    Robots,
    read_sitemap,
)
from svc_notebook.service.crawl.transport.fetcher import (
    MAX_REDIRECTS,
    Fetcher,
    FetchResponse,
    too_many_redirects,
)
from svc_notebook.service.crawl.transport.host_state import HostCookies
from svc_notebook.service.crawl.urls import origin
from svc_notebook.service.crawl.visits import (
    REASONS,
    ActionResult,
    Category,
    FetchFailure,
    PendingUrl,
    ReadPage,
    Remembered,
    VisitOutcome,
    refuse_status,
)

if TYPE_CHECKING:
    from svc_notebook.service.crawl.extraction import Document, Extractors
    from svc_notebook.service.crawl.rendering.renderer import Renderer

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
# Receives the name of each step of a visit.
OnStep = Callable[[str], None]

# Pages parsed at once: the number of worker processes.
PARALLEL_READERS = 2
# A page with scripts and less text than this is probably built by them.
MIN_TEXT_CHARACTERS = 200
MAX_MISSING = 3  # failed requests of a page that its message names


async def visit(
    configuration: Configuration,
    pending: PendingUrl,
    *,
    fetcher: Fetcher,
    extractors: Extractors,
    remembered: Remembered | None = None,
    on_step: OnStep = lambda _: None,
    browser: str | None = None,
) -> VisitOutcome:
    """Visit a single URL; raises `BadInput` if the login, external data or the browser fail."""
    processor = PageProcessor(configuration, fetcher, extractors, on_step=on_step, browser=browser)
    try:
        await processor.prepare()
        return await processor.visit(pending, remembered)
    finally:
        await processor.close()


@dataclass(frozen=True)
class _ParsedPage:
    """A fetched and parsed page with the actions that apply to it."""

    pending: PendingUrl
    response: FetchResponse
    document: Document
    actions: list[tuple[int, Action]]
    external: dict[str, Row]
    logs: tuple[str, ...] = ()
    is_rendered: bool = False


@dataclass(frozen=True)
class _FetchedPage:
    """A response, as the browser returned it if it was rendered."""

    response: FetchResponse
    logs: tuple[str, ...] = ()
    is_rendered: bool = False


class PageProcessor:
    """Visits URLs, and keeps the state of a crawl: robots.txt rules and external data."""

    def __init__(
        self,
        configuration: Configuration,
        fetcher: Fetcher,
        extractors: Extractors,
        *,
        on_step: OnStep = lambda _: None,
        browser: str | None = None,
    ) -> None:
        self._configuration = configuration
        self._on_stage = on_step
        self._fetcher = fetcher
        self._extractors = extractors
        self._scope = Scope(configuration)
        self._link_policy = LinkPolicy(configuration, self._scope)
        self._revalidation = Revalidation(configuration, self._scope)
        self._robots = Robots(fetcher)
        self._tables: dict[str, dict[str, Row]] = {}
        self._browser = browser
        self._renderer = _make_renderer(configuration, fetcher, browser)
        # Parsing blocks a thread; the default pool resolves host names and must not wait for it.
        self._readers = ThreadPoolExecutor(PARALLEL_READERS, "svc-pages")

    async def prepare(self) -> None:
        """Log in and fetch external data; raises `BadInput` if that fails or a browser misses."""
        if self._renderer:
            self._renderer.check()
        self._on_stage("logging in")
        await self._log_in()
        self._on_stage("fetching external data")
        self._tables = await read_sources(self._fetcher)

    async def _log_in(self) -> None:
        login = self._configuration.login
        if not isinstance(login, BrowserLogin):
            await self._fetcher.log_in()
            return
        from svc_notebook.service.crawl.rendering.browser_login import log_in

        await log_in(login, self._fetcher, self._browser)

    async def close(self) -> None:
        """Cancel pending work, end the browser and release the threads."""
        await self._robots.close()
        if self._renderer:
            await self._renderer.close()
        self._readers.shutdown(wait=False, cancel_futures=True)

    async def visit(
        self, pending: PendingUrl, remembered: Remembered | None = None
    ) -> VisitOutcome:
        """Visit one URL; all fetch and extraction errors are part of the outcome."""
        stage: Category = "fetch"
        try:
            if pending.kind == "sitemap":
                return await self._visit_sitemap(pending)
            fetched = await self._fetch_page(pending, remembered)
            if isinstance(fetched, VisitOutcome):
                return fetched
            rendered = await self._render(pending, fetched)
            if isinstance(rendered, VisitOutcome):
                return rendered
            stage = "extraction"
            page = await self._read(pending, rendered)
            return page if isinstance(page, VisitOutcome) else await self._extract(page)
        except FetchFailure as failure:
            return _failed(pending, stage, failure)

    async def _visit_sitemap(self, pending: PendingUrl) -> VisitOutcome:
        response = await self._fetcher.follow(pending.url, limit=MAX_SITEMAP_BYTES)
        if response.status != 200:
            raise refuse_status(response.status)
        sitemap = await self._in_thread(read_sitemap, response.body)
        urls = await self._in_thread(
            self._link_policy.within_crawl,
            sitemap.pages,
            response.url,
            seed=pending.seed,
            max_links=MAX_SITEMAP_URLS,
        )
        deeper = sitemap.sitemaps if pending.depth < MAX_INDEX_DEPTH else []
        inner = dict.fromkeys(self._link_policy.normalize(url, response.url) for url in deeper)
        return _outcome(
            pending,
            "sitemap",
            found=urls,
            sitemaps=tuple(url for url in inner if url),
            logs=tuple(sitemap.log),
        )

    async def _fetch_page(
        self, pending: PendingUrl, remembered: Remembered | None
    ) -> FetchResponse | VisitOutcome:
        """Fetch a page; an outcome is returned if the visit ends here."""
        if self._scope.excludes(pending.url):
            return _outcome(pending, "excluded")
        self._on_stage("fetching robots.txt")
        if not await self._is_allowed(pending.url):
            return _outcome(pending, "forbidden_by_robotstxt")
        rows = rows_of(self._tables, pending.url)
        self._on_stage("fetching the page")
        usable = self._revalidation.usable(pending.url, remembered, rows)
        response = await self._fetcher.fetch(pending.url, headers=conditional_headers(usable))
        if response.target and response.cookies:
            response = await self._pass_cookie_check(pending.url, response)
        if response.status == 304 and usable:
            return _outcome(
                pending,
                "not_modified",
                found=usable.found,
                sitemaps=await self._named_sitemaps(pending),
                yielded=usable.yielded,
                remember=usable,
            )
        if response.target:
            return self._skip_for(pending, "http_redirect", response.target)
        if response.status != 200:
            raise refuse_status(response.status)
        return response

    async def _pass_cookie_check(self, url: str, first: FetchResponse) -> FetchResponse:
        """Return the page if a redirect only sets a cookie and leads back to it.

        The redirects may pass other URLs of the host. A redirect that does not lead back is
        returned unchanged as `first`.
        """
        response, cookies = first, HostCookies()
        for _ in range(MAX_REDIRECTS):
            target = (
                self._link_policy.normalize(response.target, response.url)
                if response.target
                else None
            )
            if target is None or not _leads_back(target, url) or not await self._is_allowed(target):
                return first
            cookies.keep(response.url, response.cookies)
            response = await self._fetcher.fetch(target, cookies=cookies)
            if response.target is None and target == url:
                self._fetcher.cookies.add(cookies)
                return response
        raise too_many_redirects()

    def _skip_for(self, pending: PendingUrl, reason: str, target: str) -> VisitOutcome:
        """Skip a URL in favour of another, which is visited if it is within the crawl."""
        targets = self._link_policy.within_crawl([target], pending.url, seed=pending.seed)
        if targets and pending.hops >= MAX_REDIRECTS:
            raise too_many_redirects()
        outside = "" if targets or target == pending.url else ", which is not within the crawl"
        readable = f"{REASONS[reason][2]}: {target}{outside}"
        return _outcome(pending, reason, readable=readable, found=targets)

    async def _is_allowed(self, url: str) -> bool:
        if self._configuration.ignores_robots:
            return True
        return (await self._robots.rules(url)).allows(url)

    async def _render(
        self, pending: PendingUrl, response: FetchResponse
    ) -> _FetchedPage | VisitOutcome:
        """Let the browser build a page of HTML; an outcome is returned if it leads elsewhere."""
        rendering = self._configuration.rendering
        kind = file_type(response.headers.get("content-type", ""), pending.url, response.body)
        if not (self._renderer and rendering and kind == "html" and rendering.applies(pending.url)):
            return _FetchedPage(response)
        self._on_stage("rendering the page")
        page = await self._renderer.render(pending.url, response)
        if page.target:
            return self._skip_for(pending, "http_redirect", page.target)
        if page.missing:
            failure = FetchFailure("rendered_incomplete", _describe_missing(page.missing))
            return _failed(pending, "fetch", failure, logs=page.logs)
        return _FetchedPage(page.response, page.logs, is_rendered=True)

    async def _read(self, pending: PendingUrl, fetched: _FetchedPage) -> _ParsedPage | VisitOutcome:
        """Parse a page; an outcome is returned if its type or its canonical URL ends the visit."""
        response = fetched.response
        kind = file_type(response.headers.get("content-type", ""), pending.url, response.body)
        actions = [(n, a) for n, a in self._scope.actions(pending.url) if kind in a.file_types]
        if kind is None or (kind != "html" and not actions):
            sniffed = sniff_media_type(response.body) or "nothing"
            given = (
                response.headers.get("content-type")
                or f"no declared type ({sniffed} by their content)"
            )
            return _outcome(
                pending, "unsupported_file_type", readable=f"No action processes files of {given}"
            )
        page = FetchedPage(
            pending.url, response.body, response.headers.get("content-type", ""), response.headers
        )
        self._on_stage("reading the page")
        document = await self._in_thread(self._extractors.read, page)
        if other := self._link_policy.canonical(document):
            return self._skip_for(pending, "canonical", other)
        return _ParsedPage(
            pending,
            response,
            document,
            actions,
            rows_of(self._tables, pending.url),
            (*fetched.logs, *_suspect_scripts(document, fetched)),
            fetched.is_rendered,
        )

    async def _extract(self, page: _ParsedPage) -> VisitOutcome:
        """Extract the records and links of a page."""
        self._on_stage("gathering links")
        links = await self._in_thread(self._link_policy.links_of, page.document, self._extractors)
        sitemaps = await self._named_sitemaps(page.pending)
        document, pending = page.document, page.pending
        read = ReadPage(len(page.response.body), document.text_characters, page.is_rendered)
        common: dict[str, Any] = {
            "found": links,
            "sitemaps": sitemaps,
            "external": page.external,
            "logs": page.logs,
            "page": read,
        }
        if "noindex" in document.robots and not self._configuration.ignores_noindex:
            return _outcome(pending, "noindex", **common)
        if not page.actions:
            return _outcome(pending, "no_action_matched", **common)
        actions = [
            (number, action)
            for number, action in page.actions
            if not action.selectors
            or await self._in_thread(self._extractors.matches, document, action.selectors)
        ]
        if not actions:
            return _outcome(pending, "selectors_not_matched", **common)
        return self._make_outcome(page, tuple(await self._run_all(page, actions)), common)

    def _make_outcome(
        self, page: _ParsedPage, yielded: tuple[ActionResult, ...], common: dict[str, Any]
    ) -> VisitOutcome:
        """Return the outcome of a page after its extractors ran; one error discards all records."""
        common["logs"] = (*page.logs, *(line for result in yielded for line in result.logs))
        if wrong := next((result for result in yielded if result.error), None):
            failure = FetchFailure("extractor_error", f"actions[{wrong.action}]: {wrong.error}")
            return _failed(page.pending, "extraction", failure, yielded=yielded, **common)
        try:
            named = name_records(yielded, self._configuration.actions, page.pending.url)
        except FetchFailure as failure:
            return _failed(page.pending, "indexing", failure, yielded=yielded, **common)
        reason = "success" if any(result.records for result in named) else "no_records"
        if lost := find_duplicates(named):
            common |= {"readable": lost, "logs": (*common["logs"], lost)}
            reason = "duplicate_object_id"
        remember = self._revalidation.keep(page.response, page.external, named, common["found"])
        return _outcome(page.pending, reason, yielded=named, remember=remember, **common)

    async def _run_all(
        self, page: _ParsedPage, actions: Iterable[tuple[int, Action]]
    ) -> list[ActionResult]:
        """Run extractors in turn until one exceeds its time, which fails the page."""
        yielded = []
        for number, action in actions:
            self._on_stage(f"running actions[{number}].recordExtractor")
            result = await self._in_thread(
                self._extractors.extract, page.document, action.extractor, sources=page.external
            )
            records = result.records if result.error is None else []
            yielded.append(
                ActionResult(number, action.index, records, tuple(result.logs), result.error)
            )
            if result.overran:
                break
        return yielded

    async def _named_sitemaps(self, pending: PendingUrl) -> tuple[str, ...]:
        """Return the sitemaps in the robots.txt of a start URL's host."""
        if pending.depth or self._configuration.ignores_robots:
            return ()
        return (await self._robots.rules(pending.url)).sitemaps

    async def _in_thread(
        self, work: Callable[Arguments, Result], *args: Arguments.args, **options: Arguments.kwargs
    ) -> Result:
        """Run blocking work in a reader thread; errors of the page become a `FetchFailure`."""
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._readers, lambda: work(*args, **options))
        except Unreadable as error:
            raise FetchFailure(error.reason, str(error)) from error
        except BadInput as error:
            raise FetchFailure("extractor_error", str(error)) from error


def _make_renderer(
    configuration: Configuration, fetcher: Fetcher, browser: str | None
) -> Renderer | None:
    """Return the renderer of a crawl; None if its configuration renders no page."""
    if configuration.rendering is None:
        return None
    from svc_notebook.service.crawl.rendering.renderer import Renderer

    return Renderer(configuration.rendering, fetcher, browser)


def _suspect_scripts(document: Document, fetched: _FetchedPage) -> tuple[str, ...]:
    """Return a line about a page that has scripts and nearly no text."""
    if not document.has_scripts or document.text_characters >= MIN_TEXT_CHARACTERS:
        return ()
    observation = f"the page has scripts and {document.text_characters} characters of text"
    if fetched.is_rendered:
        return (f"{observation} after the browser rendered it; a longer `waitTime.min` may help",)
    return (f"{observation}: if scripts build it, set `renderJavaScript`",)


def _describe_missing(missing: Sequence[str]) -> str:
    """Return a text with the requests that a page lacks."""
    more = f" and {len(missing) - MAX_MISSING} more" if len(missing) > MAX_MISSING else ""
    named = ", ".join(missing[:MAX_MISSING])
    return f"Requests of the rendered page failed: {named}{more}; its earlier records are kept"


def _leads_back(target: str, url: str) -> bool:
    """Return whether a redirect from `url` leads back: it is that URL or contains it."""
    if origin(target) != origin(url):
        return False
    named, path = unquote(urlsplit(target).query), urlsplit(url).path
    return target == url or url in named or (len(path) > 1 and path in named)


def _outcome(pending: PendingUrl, reason: str, *, readable: str = "", **more: Any) -> VisitOutcome:
    status, category, sentence = REASONS[reason]
    return VisitOutcome(
        pending.url, pending.depth, status, category, reason, readable or sentence, **more
    )


def _failed(
    pending: PendingUrl, category: Category, failure: FetchFailure, **more: Any
) -> VisitOutcome:
    return VisitOutcome(
        pending.url, pending.depth, "FAILED", category, failure.reason, failure.readable, **more
    )

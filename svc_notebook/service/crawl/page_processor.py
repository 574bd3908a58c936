"""Process one URL: fetch it, parse it, extract records and collect its links."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar
from urllib.parse import unquote, urlsplit

from svc_notebook.errors import BadInput
from svc_notebook.service.crawl.configuration import Action, Configuration
from svc_notebook.service.crawl.external_data import Row, read_sources, rows_of
from svc_notebook.service.crawl.extracted_records import find_duplicates, name_records
from svc_notebook.service.crawl.extraction import (
    FetchedPage,
    Unreadable,
    file_type,
    sniff_media_type,
)
from svc_notebook.service.crawl.ledger import PendingUrl
from svc_notebook.service.crawl.link_policy import LinkPolicy, Scope
from svc_notebook.service.crawl.outcomes import (
    REASONS,
    ActionResult,
    Category,
    FetchFailure,
    Remembered,
    VisitOutcome,
    refuse_status,
)
from svc_notebook.service.crawl.revalidation import Revalidation, conditions
from svc_notebook.service.crawl.robots import Robots
from svc_notebook.service.crawl.sitemaps import (
    MAX_INDEX_DEPTH,
    MAX_SITEMAP_BYTES,
    MAX_SITEMAP_URLS,
    read_sitemap,
)
from svc_notebook.service.crawl.transport.cookies import HostCookies
from svc_notebook.service.crawl.transport.fetcher import (
    MAX_REDIRECTS,
    Fetcher,
    FetchResponse,
    too_many_hops,
)
from svc_notebook.service.crawl.urls import origin

if TYPE_CHECKING:
    from svc_notebook.service.crawl.extraction import Document, Extractors

Given = ParamSpec("Given")
Made = TypeVar("Made")
# Receives the name of each step of a visit.
OnStage = Callable[[str], None]

# Pages parsed at once: the number of worker processes.
PARALLEL_READERS = 2


async def visit(
    configuration: Configuration,
    waiting: PendingUrl,
    *,
    fetcher: Fetcher,
    extractors: Extractors,
    remembered: Remembered | None = None,
    on_stage: OnStage = lambda _: None,
) -> VisitOutcome:
    """Visit a single URL; raises `BadInput` if the login or external data fail."""
    visitor = Visitor(configuration, fetcher, extractors, on_stage=on_stage)
    try:
        await visitor.prepare()
        return await visitor.visit(waiting, remembered)
    finally:
        await visitor.close()


@dataclass(frozen=True)
class _Look:
    """A fetched and parsed page with the actions that apply to it."""

    waiting: PendingUrl
    answer: FetchResponse
    document: Document
    actions: list[tuple[int, Action]]
    external: dict[str, Row]


class Visitor:
    """Visits URLs, and keeps the state of a crawl: robots.txt rules and external data."""

    def __init__(
        self,
        configuration: Configuration,
        fetcher: Fetcher,
        extractors: Extractors,
        *,
        on_stage: OnStage = lambda _: None,
    ) -> None:
        self._configuration = configuration
        self._on_stage = on_stage
        self._fetcher = fetcher
        self._extractors = extractors
        self._scope = Scope(configuration)
        self._leads = LinkPolicy(configuration, self._scope)
        self._memory = Revalidation(configuration, self._scope)
        self._robots = Robots(fetcher)
        self._tables: dict[str, dict[str, Row]] = {}
        # Parsing blocks a thread; the default pool resolves host names and must not wait for it.
        self._readers = ThreadPoolExecutor(PARALLEL_READERS, thread_name_prefix="crawl-reader")

    async def prepare(self) -> None:
        """Log in and fetch external data; raises `BadInput` if that fails."""
        self._on_stage("logging in")
        await self._fetcher.log_in()
        self._on_stage("fetching external data")
        self._tables = await read_sources(self._fetcher)

    async def close(self) -> None:
        """Cancel pending work and release the threads."""
        await self._robots.close()
        self._readers.shutdown(wait=False, cancel_futures=True)

    async def visit(
        self, waiting: PendingUrl, remembered: Remembered | None = None
    ) -> VisitOutcome:
        """Visit one URL; all fetch and extraction errors are part of the outcome."""
        stage: Category = "fetch"
        try:
            if waiting.kind == "sitemap":
                return await self._visit_sitemap(waiting)
            got = await self._fetch_page(waiting, remembered)
            if isinstance(got, VisitOutcome):
                return got
            stage = "extraction"
            look = await self._read(waiting, got)
            return look if isinstance(look, VisitOutcome) else await self._extract(look)
        except FetchFailure as failure:
            return _failed(waiting, stage, failure)

    async def _visit_sitemap(self, waiting: PendingUrl) -> VisitOutcome:
        answer = await self._fetcher.follow(waiting.url, limit=MAX_SITEMAP_BYTES)
        if answer.status != 200:
            raise refuse_status(answer.status)
        sitemap = await self._in_thread(read_sitemap, answer.body)
        found = await self._in_thread(
            self._leads.within, sitemap.pages, answer.url, seed=waiting.seed, most=MAX_SITEMAP_URLS
        )
        deeper = sitemap.sitemaps if waiting.depth < MAX_INDEX_DEPTH else []
        inner = dict.fromkeys(self._leads.spell(url, answer.url) for url in deeper)
        return _ended(
            waiting,
            "sitemap",
            found=found,
            sitemaps=tuple(url for url in inner if url),
            logs=tuple(sitemap.log),
        )

    async def _fetch_page(
        self, waiting: PendingUrl, remembered: Remembered | None
    ) -> FetchResponse | VisitOutcome:
        """Fetch a page; an outcome is returned if the visit ends here."""
        if self._scope.excludes(waiting.url):
            return _ended(waiting, "excluded")
        self._on_stage("fetching robots.txt")
        if not await self._ask_robots(waiting.url):
            return _ended(waiting, "forbidden_by_robotstxt")
        rows = rows_of(self._tables, waiting.url)
        self._on_stage("fetching the page")
        known = self._memory.usable(waiting.url, remembered, rows)
        answer = await self._fetcher.fetch(waiting.url, headers=conditions(known))
        if answer.target and answer.cookies:
            answer = await self._pass_cookie_check(waiting.url, answer)
        if answer.status == 304 and known:
            return _ended(
                waiting,
                "not_modified",
                found=known.found,
                sitemaps=await self._named_sitemaps(waiting),
                yielded=known.yielded,
                remember=known,
            )
        if answer.target:
            return self._hand_on(waiting, "http_redirect", answer.target)
        if answer.status != 200:
            raise refuse_status(answer.status)
        return answer

    async def _pass_cookie_check(self, url: str, first: FetchResponse) -> FetchResponse:
        """Return the page if a redirect only sets a cookie and leads back to it.

        The redirects may pass other URLs of the host. A redirect that does not lead back is
        returned unchanged as `first`.
        """
        answer, cookies = first, HostCookies()
        for _ in range(MAX_REDIRECTS):
            target = self._leads.spell(answer.target, answer.url) if answer.target else None
            if target is None or not _leads_back(target, url) or not await self._ask_robots(target):
                return first
            cookies.keep(answer.url, answer.cookies)
            answer = await self._fetcher.fetch(target, cookies=cookies)
            if answer.target is None and target == url:
                self._fetcher.cookies.add(cookies)
                return answer
        raise too_many_hops()

    def _hand_on(self, waiting: PendingUrl, reason: str, target: str) -> VisitOutcome:
        """Skip a URL in favour of another, which is visited if it is within the crawl."""
        found = self._leads.within([target], waiting.url, seed=waiting.seed)
        if found and waiting.hops >= MAX_REDIRECTS:
            raise too_many_hops()
        outside = "" if found or target == waiting.url else ", which is not within the crawl"
        readable = f"{REASONS[reason][2]}: {target}{outside}"
        return _ended(waiting, reason, readable=readable, found=found)

    async def _ask_robots(self, url: str) -> bool:
        if self._configuration.ignores_robots:
            return True
        return (await self._robots.rules(url)).allows(url)

    async def _read(self, waiting: PendingUrl, answer: FetchResponse) -> _Look | VisitOutcome:
        """Parse a page; an outcome is returned if its type or its canonical URL ends the visit."""
        kind = file_type(answer.headers.get("content-type", ""), waiting.url, answer.body)
        actions = [(n, a) for n, a in self._scope.actions(waiting.url) if kind in a.file_types]
        if kind is None or (kind != "html" and not actions):
            sniffed = sniff_media_type(answer.body) or "nothing"
            given = answer.headers.get("content-type") or f"no type, which hold {sniffed}"
            return _ended(
                waiting, "unsupported_file_type", readable=f"No action reads files of {given}"
            )
        page = FetchedPage(
            waiting.url, answer.body, answer.headers.get("content-type", ""), answer.headers
        )
        self._on_stage("reading the page")
        document = await self._in_thread(self._extractors.read, page)
        if other := self._leads.canonical(document):
            return self._hand_on(waiting, "canonical", other)
        return _Look(waiting, answer, document, actions, rows_of(self._tables, waiting.url))

    async def _extract(self, look: _Look) -> VisitOutcome:
        """Extract the records and links of a page."""
        self._on_stage("gathering links")
        found = await self._in_thread(self._leads.of, look.document, self._extractors)
        sitemaps = await self._named_sitemaps(look.waiting)
        document, waiting = look.document, look.waiting
        common: dict[str, Any] = {"found": found, "sitemaps": sitemaps, "external": look.external}
        if "noindex" in document.robots and not self._configuration.ignores_noindex:
            return _ended(waiting, "noindex", **common)
        if not look.actions:
            return _ended(waiting, "no_action_matched", **common)
        actions = [
            (place, action)
            for place, action in look.actions
            if not action.selectors
            or await self._in_thread(self._extractors.matches, document, action.selectors)
        ]
        if not actions:
            return _ended(waiting, "selectors_not_matched", **common)
        return self._judge(look, tuple(await self._run_all(look, actions)), common)

    def _judge(
        self, look: _Look, yielded: tuple[ActionResult, ...], common: dict[str, Any]
    ) -> VisitOutcome:
        """Return the outcome of a page after its extractors ran; one error discards all records."""
        common["logs"] = tuple(line for one in yielded for line in one.logs)
        if wrong := next((one for one in yielded if one.error), None):
            failure = FetchFailure("extractor_error", f"actions[{wrong.action}]: {wrong.error}")
            return _failed(look.waiting, "extraction", failure, yielded=yielded, **common)
        try:
            named = name_records(yielded, self._configuration.actions, look.waiting.url)
        except FetchFailure as failure:
            return _failed(look.waiting, "indexing", failure, yielded=yielded, **common)
        reason = "success" if any(one.records for one in named) else "no_records"
        if lost := find_duplicates(named):
            common |= {"readable": lost, "logs": (*common["logs"], lost)}
            reason = "duplicate_object_id"
        remember = self._memory.keep(look.answer, look.external, named, common["found"])
        return _ended(look.waiting, reason, yielded=named, remember=remember, **common)

    async def _run_all(
        self, look: _Look, actions: Iterable[tuple[int, Action]]
    ) -> list[ActionResult]:
        """Run extractors in turn until one exceeds its time, which fails the page."""
        yielded = []
        for place, action in actions:
            self._on_stage(f"running actions[{place}].recordExtractor")
            made = await self._in_thread(
                self._extractors.extract, look.document, action.extractor, sources=look.external
            )
            records = made.records if made.error is None else []
            yielded.append(ActionResult(place, action.index, records, tuple(made.logs), made.error))
            if made.overran:
                break
        return yielded

    async def _named_sitemaps(self, waiting: PendingUrl) -> tuple[str, ...]:
        """Return the sitemaps in the robots.txt of a start URL's host."""
        if waiting.depth or self._configuration.ignores_robots:
            return ()
        return (await self._robots.rules(waiting.url)).sitemaps

    async def _in_thread(
        self, work: Callable[Given, Made], *args: Given.args, **options: Given.kwargs
    ) -> Made:
        """Run blocking work in a reader thread; errors of the page become a `FetchFailure`."""
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._readers, lambda: work(*args, **options))
        except Unreadable as error:
            raise FetchFailure(error.reason, str(error)) from error
        except BadInput as error:
            raise FetchFailure("extractor_error", str(error)) from error


def _leads_back(target: str, url: str) -> bool:
    """Return whether a redirect from `url` leads back: it is that URL or contains it."""
    if origin(target) != origin(url):
        return False
    named, path = unquote(urlsplit(target).query), urlsplit(url).path
    return target == url or url in named or (len(path) > 1 and path in named)


def _ended(waiting: PendingUrl, reason: str, *, readable: str = "", **more: Any) -> VisitOutcome:
    status, category, sentence = REASONS[reason]
    return VisitOutcome(
        waiting.url, waiting.depth, status, category, reason, readable or sentence, **more
    )


def _failed(
    waiting: PendingUrl, category: Category, failure: FetchFailure, **more: Any
) -> VisitOutcome:
    return VisitOutcome(
        waiting.url, waiting.depth, "FAILED", category, failure.reason, failure.readable, **more
    )

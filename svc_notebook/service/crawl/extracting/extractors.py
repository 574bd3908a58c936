"""Extractor functions, run in processes of their own that may fail without harm."""

from __future__ import annotations

import queue
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, TypeVar

import msgspec

from svc_notebook.errors import BadInput, SvcError
from svc_notebook.service.crawl.extracting.document import Document
from svc_notebook.service.crawl.extracting.page import Page, Unreadable
from svc_notebook.service.crawl.extracting.worker import Broken, Overrun, Worker

ENGINE = "svc_notebook.service.crawl.extracting.engine"
NEEDED = ("py_mini_racer", "selectolax", "pypdf")
BROKEN = "the engine broke down over it, most likely for want of memory"


class Outcome(msgspec.Struct):
    """What a run came to, as the engine's script writes it."""

    value: list[Any] | None = None
    logs: list[str] = []
    error: str | None = None


Kind = TypeVar("Kind", bound=Outcome)


class Records(Outcome):
    """What a `recordExtractor` came to."""

    value: list[dict[str, Any]] | None = None


class Links(Outcome):
    """What a `linkExtractor` came to."""

    value: list[str] | None = None


class Found(Outcome):
    """Which selectors found something."""

    value: list[bool] | None = None


@dataclass(frozen=True)
class Extraction:
    """What an extractor made of a page; `error` is why there is nothing."""

    records: list[dict[str, Any]] = field(default_factory=list)
    logs: list[str] = field(default_factory=list)
    error: str | None = None


class Extractors:
    """A few isolated engines, reused over pages, each replaced when it takes too much.

    Calls block, and may come from several threads at once. Each has `seconds`, starting an engine
    aside; an extractor has `memory` in bytes.
    """

    def __init__(self, *, seconds: float = 30, memory: int = 256 << 20, processes: int = 2) -> None:
        check_installed()
        self.seconds = seconds
        self._workers = [Worker(ENGINE, str(memory)) for _ in range(processes)]
        # The one used last is taken first: the others are not even started without need.
        self._idle: queue.LifoQueue[Worker] = queue.LifoQueue()
        for worker in self._workers:
            self._idle.put(worker)
        self._closed = False

    def __enter__(self) -> Extractors:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, page: Page) -> Document:
        """Read a page of any kind that is known; raises Unreadable."""
        request = ("read", page.url, page.body, page.content_type, dict(page.headers))
        try:
            answer = self._ask(*request)
        except Overrun as error:
            text = f"reading it took more than {self.seconds:g} seconds"
            raise Unreadable(text, reason="reading_timed_out") from error
        except Broken as error:
            raise Unreadable("reading it took too much memory", reason="too_large") from error
        if "value" in answer:
            return msgspec.convert(answer["value"], Document)
        reason = answer.get("reason", "too_large")
        raise Unreadable(answer.get("unreadable") or answer["error"], reason=reason)

    def check(self, source: str) -> None:
        """Refuse a source that is no function, with the line and column; raises BadInput."""
        if error := self._answer("check", source).get("error"):
            raise BadInput(error)

    def check_selectors(self, selectors: Sequence[str]) -> None:
        """Refuse selectors that cannot be read, a leading `!` aside; raises BadInput."""
        self._found("<p></p>", selectors)

    def matches(self, document: Document, selectors: Sequence[str]) -> bool:
        """Tell whether any selector finds something and none with a leading `!` does."""
        found = self._found(document.html, selectors) if selectors else []
        pairs = list(zip(selectors, found, strict=True))
        wanted = [has for selector, has in pairs if not selector.startswith("!")]
        unwanted = any(has for selector, has in pairs if selector.startswith("!"))
        return not unwanted and (not wanted or any(wanted))

    def _found(self, html: str, selectors: Sequence[str]) -> list[bool]:
        plain = [selector.removeprefix("!") for selector in selectors]
        outcome = self._read(self._answer("matches", html, as_json(plain)), Found)
        if outcome.error is not None or outcome.value is None:
            raise BadInput(f"selectors: {outcome.error}")
        return outcome.value

    def extract(
        self, document: Document, source: str, *, sources: Mapping[str, Any] | None = None
    ) -> Extraction:
        """Run a `recordExtractor` over a document; what goes wrong there is `error`."""
        outcome = self._run("extract", Records, document, source, sources)
        return Extraction(outcome.value or [], outcome.logs, outcome.error)

    def links(self, document: Document, source: str) -> list[str]:
        """Run a `linkExtractor` over a document; raises BadInput with what goes wrong there."""
        outcome = self._run("links", Links, document, source, None)
        if outcome.error is not None:
            raise BadInput(f"linkExtractor: {outcome.error}")
        return outcome.value or []

    def close(self) -> None:
        """End the engines; whoever waits for one is told so."""
        self._closed = True
        for worker in self._workers:
            worker.close()

    def _run(
        self,
        name: str,
        kind: type[Kind],
        document: Document,
        source: str,
        sources: Mapping[str, Any] | None,
    ) -> Kind:
        """Have an extractor run."""
        facts = as_json(facts_of(document, sources))
        return self._read(self._answer(name, source, document.html, facts), kind)

    def _read(self, answer: dict[str, Any], kind: type[Kind]) -> Kind:
        """Read what a run came to, which an extractor may have had its hands in."""
        if "error" in answer:
            return kind(error=answer["error"])
        try:
            return msgspec.json.decode(answer["value"], type=kind)
        except (msgspec.MsgspecError, RecursionError, TypeError, ValueError) as error:
            return kind(error=f"what it returned cannot be read: {error}")

    def _answer(self, *request: Any) -> dict[str, Any]:
        """Ask; running over is an error like any other."""
        try:
            return self._ask(*request)
        except Overrun:
            return {"error": f"it took more than {self.seconds:g} seconds"}
        except Broken:
            return {"error": BROKEN}

    def _ask(self, *request: Any) -> dict[str, Any]:
        with self._worker() as worker:
            answer: dict[str, Any] = worker.ask(request, self.seconds)
            if answer.get("spent"):
                worker.close()
            return answer

    @contextmanager
    def _worker(self) -> Iterator[Worker]:
        worker = self._idle.get()
        try:
            if self._closed:
                raise SvcError("the extractors are closed")
            yield worker
        finally:
            self._idle.put(worker)


def facts_of(document: Document, sources: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what an extractor is told of a page besides its tree."""
    return {
        "url": document.url,
        "fileType": document.file_type,
        "contentLength": document.content_length,
        "sources": dict(sources or {}),
        "links": [link.url for link in document.links],
    }


def as_json(value: Any) -> str:
    """Return a value as the script takes it."""
    return msgspec.json.encode(value).decode()


def check_installed() -> None:
    """Refuse to go on without what the crawler needs; raises BadInput."""
    if missing := [name for name in NEEDED if not installed(name)]:
        raise BadInput(
            f"the crawler needs more than is installed ({', '.join(missing)}):"
            ' pip install "svc-notebook[crawl]"'
        )


def installed(name: str) -> bool:
    """Tell whether a package could be imported, without doing so."""
    try:
        return find_spec(name) is not None
    except ValueError:  # it is there and says nothing of itself
        return False

"""Run extractor functions in worker processes that may crash without harm."""

from __future__ import annotations

import queue
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, TypeVar

import msgspec

from svc_notebook.errors import BadInput, SvcError
from svc_notebook.service.crawl.extraction.document import Document
from svc_notebook.service.crawl.extraction.page import FetchedPage, Unreadable
from svc_notebook.service.crawl.extraction.worker import TimeLimitExceeded, Worker, WorkerBroken

ENGINE_MODULE = "svc_notebook.service.crawl.extraction.engine"
REQUIRED_PACKAGES = ("py_mini_racer", "selectolax", "pypdf")
# JSON nested more deeply cannot be read by other parsers.
MAX_JSON_DEPTH = 200
BROKEN_MESSAGE = "the engine crashed, most likely for lack of memory"


class ExtractionResult(msgspec.Struct):
    """The result of a run, as written by the engine's script."""

    value: list[Any] | None = None
    logs: list[str] = []
    error: str | None = None
    overran: bool = False


Kind = TypeVar("Kind", bound=ExtractionResult)


class ExtractedRecords(ExtractionResult):
    """The result of a `recordExtractor`."""

    value: list[dict[str, Any]] | None = None


class Links(ExtractionResult):
    """The result of a `linkExtractor`."""

    value: list[str] | None = None


class MatchedSelectors(ExtractionResult):
    """Whether each selector matches."""

    value: list[bool] | None = None


# Created at import: two threads that decode a new type at the same time may crash msgspec.
RECORDS = msgspec.json.Decoder(ExtractedRecords)
LINKS = msgspec.json.Decoder(Links)
FOUND = msgspec.json.Decoder(MatchedSelectors)
DOCUMENT = msgspec.msgpack.Decoder(Document)


@dataclass(frozen=True)
class Extraction:
    """The records that an extractor returned for a page; `error` is set if it failed."""

    records: list[dict[str, Any]] = field(default_factory=list)
    logs: list[str] = field(default_factory=list)
    error: str | None = None
    overran: bool = False  # whether it exceeded its time limit


class Extractors:
    """A pool of isolated engines, reused across pages and replaced when they exceed limits.

    Calls block and are thread-safe. An extractor has `seconds` to run, not counting the start of an
    engine, and `memory` in bytes; parsing a page may take `reading` seconds.
    """

    def __init__(
        self,
        *,
        seconds: float = 10,
        reading: float = 15,
        memory: int = 256 << 20,
        processes: int = 2,
    ) -> None:
        check_installed()
        self.seconds = seconds
        self.reading = reading
        self._workers = [Worker(ENGINE_MODULE, str(memory)) for _ in range(processes)]
        # Last in, first out: further workers start only when needed.
        self._idle: queue.LifoQueue[Worker] = queue.LifoQueue()
        for worker in self._workers:
            self._idle.put(worker)
        self._closed = False

    def __enter__(self) -> Extractors:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, page: FetchedPage) -> Document:
        """Parse a page of any supported type; raises `Unreadable`."""
        request = ("read", page.url, page.body, page.content_type, dict(page.headers))
        try:
            answer = self._ask(*request, seconds=self.reading)
        except TimeLimitExceeded as error:
            text = f"parsing it took more than {self.reading:g} seconds"
            raise Unreadable(text, reason="reading_timed_out") from error
        except WorkerBroken as error:
            raise Unreadable("parsing it took too much memory", reason="too_large") from error
        if "value" in answer:
            return DOCUMENT.decode(answer["value"])
        reason = answer.get("reason", "too_large")
        raise Unreadable(answer.get("unreadable") or answer["error"], reason=reason)

    def check(self, source: str) -> None:
        """Raise `BadInput` with line and column if a source is not a function."""
        if error := self._answer("check", source).get("error"):
            raise BadInput(error)

    def read_configuration(self, *texts: str) -> dict[str, Any]:
        """Evaluate the script of a configuration, with the limits of an extractor.

        Of several spellings of the script, the first that can be parsed is evaluated. Returns the
        configuration, in which functions are tagged with their source; raises `BadInput`.
        """
        answer: dict[str, Any] = {}
        for text in texts:
            answer = self._answer("configuration", text)
            if not answer.get("syntax"):
                break
        if "error" in answer:
            raise BadInput(answer["error"])
        config: dict[str, Any] = msgspec.json.decode(answer["value"])
        return config

    def check_selectors(self, selectors: Sequence[str]) -> None:
        """Raise `BadInput` for invalid selectors; a leading `!` is allowed."""
        self._found("<p></p>", selectors)

    def matches(self, document: Document, selectors: Sequence[str]) -> bool:
        """Return whether any selector matches and none with a leading `!` does."""
        present = self._found(document.html, selectors) if selectors else []
        pairs = list(zip(selectors, present, strict=True))
        required = [has for selector, has in pairs if not selector.startswith("!")]
        unwanted = any(has for selector, has in pairs if selector.startswith("!"))
        return not unwanted and (not required or any(required))

    def _found(self, html: str, selectors: Sequence[str]) -> list[bool]:
        plain = [selector.removeprefix("!") for selector in selectors]
        outcome = self._read(self._answer("matches", html, encode_json(plain)), FOUND)
        if outcome.error is not None or outcome.value is None:
            raise BadInput(f"`selectorsToMatch`: {outcome.error}")
        return outcome.value

    def extract(
        self, document: Document, source: str, *, sources: Mapping[str, Any] | None = None
    ) -> Extraction:
        """Run a `recordExtractor` on a document; its failures are returned as `error`."""
        outcome = self._run("extract", RECORDS, document, source, sources)
        if nests_deeply(outcome.value):
            return Extraction(
                [], outcome.logs, f"its records are nested more than {MAX_JSON_DEPTH} levels deep"
            )
        return Extraction(outcome.value or [], outcome.logs, outcome.error, outcome.overran)

    def links(self, document: Document, source: str) -> list[str]:
        """Run a `linkExtractor` on a document; raises `BadInput` if it fails."""
        outcome = self._run("links", LINKS, document, source, None)
        if outcome.error is not None:
            raise BadInput(f"linkExtractor: {outcome.error}")
        return outcome.value or []

    def close(self) -> None:
        """Stop the engines; pending requests fail."""
        self._closed = True
        for worker in self._workers:
            worker.close()

    def _run(
        self,
        name: str,
        decoder: msgspec.json.Decoder[Kind],
        document: Document,
        source: str,
        sources: Mapping[str, Any] | None,
    ) -> Kind:
        """Run an extractor."""
        facts = encode_json(page_facts(document, sources))
        return self._read(self._answer(name, source, document.html, facts), decoder)

    def _read(self, answer: dict[str, Any], decoder: msgspec.json.Decoder[Kind]) -> Kind:
        """Decode the result of a run, which an extractor may have manipulated."""
        if "error" in answer:
            return failed_result(decoder, answer["error"], overran=answer.get("overran", False))
        try:
            return decoder.decode(answer["value"])
        except (msgspec.MsgspecError, RecursionError, TypeError, ValueError) as error:
            return failed_result(decoder, f"the returned value cannot be read: {error}")

    def _answer(self, *request: Any) -> dict[str, Any]:
        """Send a request; a timeout is returned as an error."""
        try:
            return self._ask(*request, seconds=self.seconds)
        except TimeLimitExceeded:
            return {"error": f"it took more than {self.seconds:g} seconds", "overran": True}
        except WorkerBroken:
            return {"error": BROKEN_MESSAGE}

    def _ask(self, *request: Any, seconds: float) -> dict[str, Any]:
        with self._worker() as worker:
            answer: dict[str, Any] = worker.ask(request, seconds)
            if answer.get("exhausted"):
                worker.close()
            if answer.get("reason") == "internal_error":
                raise Unreadable(answer["error"], reason="internal_error")
            return answer

    @contextmanager
    def _worker(self) -> Iterator[Worker]:
        worker = self._idle.get()
        try:
            if self._closed:
                raise SvcError("the extractors are closed")
            yield worker
        finally:
            if self._closed:
                worker.close()
            self._idle.put(worker)


def failed_result(
    decoder: msgspec.json.Decoder[Kind], error: str, *, overran: bool = False
) -> Kind:
    """Return the result of a failed run."""
    outcome: Kind = decoder.type(error=error, overran=overran)
    return outcome


def page_facts(document: Document, sources: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what an extractor receives of a page besides its tree."""
    return {
        "url": document.url,
        "fileType": document.file_type,
        "contentLength": document.content_length,
        "sources": dict(sources or {}),
        "links": [link.url for link in document.links],
    }


def nests_deeply(value: object) -> bool:
    """Return whether lists and objects are nested more than `MAX_JSON_DEPTH` levels deep."""
    level: list[Any] = [value]
    for _ in range(MAX_JSON_DEPTH):
        level = [inner for outer in level for inner in members(outer)]
        if not level:
            return False
    return True


def members(value: object) -> Iterable[Any]:
    """Return the items of a list or the values of an object."""
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def encode_json(value: Any) -> str:
    """Return a value as JSON for the script."""
    return msgspec.json.encode(value).decode()


def check_installed() -> None:
    """Raise `BadInput` if packages that the crawler needs are missing."""
    if missing := [name for name in REQUIRED_PACKAGES if not installed(name)]:
        raise BadInput(
            f"the crawler needs packages that are not installed ({', '.join(missing)}):"
            ' pip install "svc-notebook[crawl]"'
        )


def installed(name: str) -> bool:
    """Return whether a package can be imported, without importing it."""
    try:
        return find_spec(name) is not None
    except ValueError:  # it is loaded without a spec
        return False

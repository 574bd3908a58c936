"""The worker process that parses pages and runs extractors; a crash there is harmless.

It reads requests from its input and writes responses to its output. Each extractor runs in its own
JavaScript context. The context is reused for the next page only if its state is unchanged, so that
no page and no extractor can leave data behind for another. The process ends when its parent ends,
however that happens.
"""

from __future__ import annotations

import asyncio
import os
import queue
import re
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any, NoReturn

import msgspec
from py_mini_racer import JSEvalException, JSFunction, JSMappedObject, JSOOMException, MiniRacer

from svc_notebook.service.crawl.extraction.document import read_document
from svc_notebook.service.crawl.extraction.page import FetchedPage, Unreadable, own_place
from svc_notebook.service.crawl.extraction.script import read_script
from svc_notebook.service.crawl.extraction.worker import receive, send

# The source of a function that was defined as a method in the configuration.
METHOD = re.compile(r"\s*(?:async\s+)?(recordExtractor|linkExtractor)\s*\(")
NAME = "recordExtractor"
COMPLAINT = re.compile(r"(?:<anonymous>|recordExtractor):(\d+): (.*)\n(.*)\n( *)\^")


def wrap(source: str) -> str:
    """Turn the source of a function into an expression with the same line numbers."""
    source = source.rstrip().removesuffix(";")
    method = METHOD.match(source)
    before, after = ("({", f"\n}}).{method[1]}") if method else ("(", "\n)")
    return f"{before}{source}{after}\n//# sourceURL={NAME}"


def locate(complaint: str) -> str:
    """Return an error message of V8 with the line and column in the source."""
    found = COMPLAINT.match(complaint)
    if found is None:
        return complaint.strip().splitlines()[0].removeprefix(f"{NAME}:")
    line, said, code, space = found.groups()
    if code.startswith((")", "})", "//# sourceURL")):
        return f"{said} (at its end)"
    ours = 1 if line == "1" else 0
    return f"{said} (line {line}, column {len(space) + 1 - ours})"


# The memory of Python, V8 and the page parser, in addition to that of an extractor.
BASE_MEMORY_BYTES = 1 << 30
# Maximum size of the records of a page; a page itself is not larger.
MAX_RECORDS_BYTES = 32 << 20
# Contexts kept for the next page of their extractors; each takes a few megabytes.
MAX_IDLE_CONTEXTS = 8
# Sources for which the engine remembers whether their contexts can be reused.
MAX_KNOWN_SOURCES = 1000
OPEN = "its promise is never settled: there are no timers and no network here"


class ScriptContext:
    """A JavaScript context with our script, for consecutive runs of one extractor."""

    def __init__(self, memory: int) -> None:
        self.racer = MiniRacer()
        self.racer.set_hard_memory_limit(memory)
        # Above this limit, garbage of one run could exhaust the memory of the next.
        self.racer.set_soft_memory_limit(memory // 4)
        script = self.racer.eval(read_script())
        assert isinstance(script, JSMappedObject)
        self.watched = False
        self._functions = {str(name): script[name] for name in script}

    def function(self, source: str) -> JSFunction:
        """Evaluate a source; raises `JSEvalException` or `NotAFunction`."""
        found = self.racer.eval(wrap(source))
        if not isinstance(found, JSFunction):
            raise NotAFunction(
                "an extractor is a function: write `({ url, $ }) => { return [...]; }`"
            )
        return found

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a function of the script."""
        function = self._functions[name]
        assert isinstance(function, JSFunction)
        return function(*arguments)

    def watch(self) -> None:
        """Record the global state, so that changes can be detected after a run."""
        self.call("watch")
        self.watched = True

    def is_fit(self) -> bool:
        """Return whether the next run finds the recorded state; clears the last result."""
        return (
            self.watched
            and self.call("tidy") is True
            and not self.racer.was_soft_memory_limit_reached()
        )

    def close(self) -> None:
        """Release the context's memory."""
        self.racer.close()


class NotAFunction(Exception):
    """The source is not a function."""


class RunAborted(Exception):
    """V8 aborted a run; `answer` contains the reason."""

    def __init__(self, answer: dict[str, Any]) -> None:
        super().__init__(answer["error"])
        self.answer = answer


class Engine:
    """The requests that the process handles, such as `("extract", source, html, facts)`."""

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.next: ScriptContext | None = None
        # By source, least recently used first.
        self.worlds: dict[str, ScriptContext] = {}
        # Whether a known source leaves the state of its contexts unchanged, as far as known.
        self.tidy: dict[str, bool] = {}

    def prepare(self) -> None:
        """Create the next context while no request is waiting."""
        self.next = self.next or ScriptContext(self.memory)

    def read(self, *page: Any) -> dict[str, Any]:
        """Parse a page into a document."""
        return {"value": msgspec.msgpack.encode(read_document(FetchedPage(*page)))}

    def check(self, source: str) -> dict[str, Any]:
        """Check whether a source is a function."""
        return self._in_world(source, lambda world: {"value": world.function(source) is not None})

    def extract(self, source: str, html: str, facts: str) -> dict[str, Any]:
        """Run a `recordExtractor`; the result is JSON."""
        return self._run(source, "runExtractor", html, facts)

    def links(self, source: str, html: str, facts: str) -> dict[str, Any]:
        """Run a `linkExtractor`; the result is JSON."""
        return self._run(source, "runLinks", html, facts)

    def matches(self, html: str, selectors: str) -> dict[str, Any]:
        """Check which selectors match; the result is JSON."""
        return self._in_world("", lambda world: _finish(world, "testSelectors", html, selectors))

    def _run(self, source: str, name: str, *arguments: str) -> dict[str, Any]:
        return self._in_world(
            source, lambda world: _finish(world, name, world.function(source), *arguments)
        )

    def _in_world(
        self, source: str, work: Callable[[ScriptContext], dict[str, Any]]
    ) -> dict[str, Any]:
        """Run work in the source's context; if it is aborted there, again in a new context."""
        if world := self.worlds.pop(source, None):
            with suppress(RunAborted):
                return self._work(source, world, work)
        try:
            return self._work(source, self._take(source), work)
        except RunAborted as error:
            return error.answer

    def _take(self, source: str) -> ScriptContext:
        """Take a new context; it is watched, which is slow, only for a repeated source."""
        self.prepare()
        world, self.next = self.next, None
        assert world is not None
        if self.tidy.get(source):
            world.watch()
        elif len(self.tidy) >= MAX_KNOWN_SOURCES:
            self.tidy.clear()
        return world

    def _work(
        self, source: str, world: ScriptContext, work: Callable[[ScriptContext], dict[str, Any]]
    ) -> dict[str, Any]:
        """Run work in a context, and keep the context if its state is unchanged."""
        fit = False
        try:
            answer = work(world)
            fit = world.is_fit()
            return answer
        except JSEvalException as error:
            # V8 does not always report that a run was aborted for lack of memory.
            spent = isinstance(error, JSOOMException) or world.racer.was_hard_memory_limit_reached()
            much = f"it took more than {self.memory >> 20} MB of memory"
            raise RunAborted(
                {"error": much if spent else locate(str(error)), "spent": spent}
            ) from error
        except NotAFunction as error:
            return {"error": str(error)}
        finally:
            if fit:
                self._keep(source, world)
            else:
                self.tidy[source] = not world.watched
                world.close()

    def _keep(self, source: str, world: ScriptContext) -> None:
        self.worlds[source] = world
        if len(self.worlds) > MAX_IDLE_CONTEXTS:
            self.worlds.pop(next(iter(self.worlds))).close()


def _finish(world: ScriptContext, name: str, *arguments: Any) -> dict[str, Any]:
    """Call a function of the script that runs code, and return its result."""
    world.call(name, *arguments)
    outcome = world.call("readOutcome")
    if outcome is None:
        return {"error": OPEN}
    if not isinstance(outcome, str) or len(outcome) > MAX_RECORDS_BYTES:
        return {
            "error": "what it returned is no JSON of up to "
            f"{MAX_RECORDS_BYTES >> 20} million letters"
        }
    return {"value": outcome}


def main(memory: int) -> None:
    """Handle requests until the input ends."""
    limit_memory(memory + BASE_MEMORY_BYTES)
    # Redirect other output, so that only responses reach the parent process.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=take_in, args=(sys.stdin.buffer, requests), daemon=True).start()
    asyncio.run(answer_all(Engine(memory), requests, answers))


async def answer_all(
    engine: Engine, requests: queue.SimpleQueue[Any], answers: IO[bytes]
) -> NoReturn:
    """Handle requests one after another.

    It is a coroutine because V8 is called directly from a running event loop; otherwise each
    context would have its own thread and loop, through which each call passes.
    """
    engine.prepare()
    send(answers, "ready")
    while True:
        send(answers, reply(engine, requests.get()))
        engine.prepare()


def take_in(pipe: IO[bytes], requests: queue.SimpleQueue[Any]) -> None:
    """Receive requests, and exit the process as soon as the input ends, even during work."""
    with suppress(EOFError, OSError):
        while True:
            requests.put(receive(pipe))
    os._exit(0)


def reply(engine: Engine, request: tuple[str, Any]) -> dict[str, Any]:
    """Handle a request; failures are returned as errors in the response."""
    name, *arguments = request
    try:
        answer: dict[str, Any] = getattr(engine, name)(*arguments)
    except Unreadable as error:
        return {"unreadable": str(error), "reason": error.reason}
    except (MemoryError, RecursionError) as error:
        return {"error": f"it is too large or too deep ({type(error).__name__})", "spent": True}
    except Exception as error:  # files may be broken in unforeseen ways
        said = f"{type(error).__name__}: {error}"
        place = own_place(error)
        if place or name != "read":
            error_text = f"the crawler itself failed: {said}{place}"
            return {"error": error_text, "reason": "internal_error"}
        return {"error": said, "reason": "broken_file"}
    return answer


def limit_memory(size: int) -> None:
    """Limit the memory of the process, where the system supports it."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (size, size))
    except (ImportError, OSError, ValueError):  # not on Windows: only V8's limit applies
        pass


if __name__ == "__main__":
    main(int(sys.argv[1]))

"""The worker process that parses pages and runs extractors; a crash there is harmless.

It reads requests from its input and writes responses to its output. Each extractor runs in its own
JavaScript context. The context is reused for the next page only if its state is unchanged, so that
no page and no extractor can leave data behind for another. The process ends when its parent ends,
however that happens.
"""

from __future__ import annotations

import asyncio
import html.entities
import json
import os
import queue
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, NoReturn

import msgspec
from py_mini_racer import (
    JSEvalException,
    JSFunction,
    JSMappedObject,
    JSOOMException,
    JSParseException,
    MiniRacer,
)

from svc_notebook.service.crawl.extraction.document import read_document
from svc_notebook.service.crawl.extraction.page import FetchedPage, Unreadable, own_code_location
from svc_notebook.service.crawl.extraction.worker import receive, send

FOLDER = Path(__file__).parent / "script"
ENTRY = "runner.js"
IMPORT = re.compile(r'^import (?:\{[^}]*\} from )?"\./([^"]+)";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:function|class|const) (\w+))", re.MULTILINE)
COMMENT = re.compile(r"^ *(?:/\*\*(?:(?!\*/)[\s\S])*\*/|//[^\n]*)\n", re.MULTILINE)
ENTITIES = 'const ENTITIES = "{}";'
# The source of a function that was defined as a method in the configuration.
METHOD = re.compile(r"\s*(?:async\s+)?(recordExtractor|linkExtractor)\s*\(")
SOURCE_NAME = "recordExtractor"
# The place and the kind of an error before its text, and a place in its stack.
SCRIPT_MESSAGE = re.compile(r"^\S+:\d+: (?:(?:Type|Syntax|Reference)?Error: )?")
SCRIPT_PLACE = re.compile(rf"\b{SOURCE_NAME}:(\d+):(\d+)")
V8_MESSAGE = re.compile(r"(?:<anonymous>|recordExtractor):(\d+): (.*)\n(.*)\n( *)\^")


def wrap(source: str) -> str:
    """Turn the source of a function into an expression with the same line numbers."""
    source = source.rstrip().removesuffix(";")
    method = METHOD.match(source)
    before, after = ("({", f"\n}}).{method[1]}") if method else ("(", "\n)")
    return f"{before}{source}{after}\n//# sourceURL={SOURCE_NAME}"


def locate(message: str) -> str:
    """Return an error message of V8 with the line and column in the source."""
    match = V8_MESSAGE.match(message)
    if match is None:
        return message.strip().splitlines()[0].removeprefix(f"{SOURCE_NAME}:")
    line, text, code, space = match.groups()
    if code.startswith((")", "})", "//# sourceURL")):
        return f"{text} (at its end)"
    shift = 1 if line == "1" else 0
    return f"{text} (line {line}, column {len(space) + 1 - shift})"


def locate_in_script(error: JSEvalException) -> str:
    """Return an error of a configuration's script with the line and column where it occurred."""
    message = str(error)
    first, *rest = message.strip().splitlines()
    text = SCRIPT_MESSAGE.sub("", first)
    if location := SCRIPT_PLACE.search("\n".join(rest)):
        return f"{text} (line {location[1]}, column {location[2]})"
    parsed = V8_MESSAGE.match(message) if isinstance(error, JSParseException) else None
    if parsed is None:
        return text
    line, _, code, space = parsed.groups()
    at_end = code.startswith("//# sourceURL")
    return f"{text} (at its end)" if at_end else f"{text} (line {line}, column {len(space) + 1})"


# The memory of Python, V8 and the page parser, in addition to that of an extractor.
BASE_MEMORY_BYTES = 1 << 30
# Maximum size of the records of a page; a page itself is not larger.
MAX_RECORDS_BYTES = 32 << 20
# Contexts kept for the next page of their extractors; each takes a few megabytes.
MAX_IDLE_CONTEXTS = 8
# Sources for which the engine remembers whether their contexts can be reused.
MAX_KNOWN_SOURCES = 1000
UNSETTLED_PROMISE = "its promise is never settled: extractors have neither timers nor network"


class ScriptContext:
    """A JavaScript context with our script, for consecutive runs of one extractor."""

    def __init__(self, memory: int) -> None:
        self.racer = MiniRacer()
        self.racer.set_hard_memory_limit(memory)
        # Above this limit, garbage of one run could exhaust the memory of the next.
        self.racer.set_soft_memory_limit(memory // 4)
        script = self.racer.eval(read_script())
        assert isinstance(script, JSMappedObject)
        self.is_watched = False
        self._functions = {str(name): script[name] for name in script}

    def function(self, source: str) -> JSFunction:
        """Evaluate a source; raises `JSEvalException` or `NotAFunction`."""
        value = self.racer.eval(wrap(source))
        if not isinstance(value, JSFunction):
            raise NotAFunction(
                "an extractor is a function: write `({ url, $ }) => { return [...]; }`"
            )
        return value

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a function of the script."""
        function = self._functions[name]
        assert isinstance(function, JSFunction)
        return function(*arguments)

    def watch(self) -> None:
        """Record the global state, so that changes can be detected after a run."""
        self.call("recordState")
        self.is_watched = True

    def is_reusable(self) -> bool:
        """Return whether the next run finds the recorded state; clears the last result."""
        return (
            self.is_watched
            and self.call("prepareNextRun") is True
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
        self.contexts: dict[str, ScriptContext] = {}
        # Whether a known source leaves the state of its contexts unchanged, as far as known.
        self.is_clean: dict[str, bool] = {}

    def prepare(self) -> None:
        """Create the next context while no request is waiting."""
        self.next = self.next or ScriptContext(self.memory)

    def read(self, *page: Any) -> dict[str, Any]:
        """Parse a page into a document."""
        return {"value": msgspec.msgpack.encode(read_document(FetchedPage(*page)))}

    def check(self, source: str) -> dict[str, Any]:
        """Check whether a source is a function."""
        return self._in_context(
            source, lambda context: {"value": context.function(source) is not None}
        )

    def extract(self, source: str, html: str, facts: str) -> dict[str, Any]:
        """Run a `recordExtractor`; the result is JSON."""
        return self._run(source, "runExtractor", html, facts)

    def links(self, source: str, html: str, facts: str) -> dict[str, Any]:
        """Run a `linkExtractor`; the result is JSON."""
        return self._run(source, "runLinks", html, facts)

    def matches(self, html: str, selectors: str) -> dict[str, Any]:
        """Check which selectors match; the result is JSON."""
        return self._in_context(
            "", lambda context: _call_script(context, "testSelectors", html, selectors)
        )

    def configuration(self, text: str) -> dict[str, Any]:
        """Evaluate the script of a configuration; the result is JSON.

        `syntax` is true if the text cannot be parsed; nothing of it was run then.
        """
        self.prepare()
        context, self.next = self.next, None
        assert context is not None
        try:
            context.call("prepareConfiguration")
            value = context.racer.eval(f"{text}\n//# sourceURL={SOURCE_NAME}")
            return {"value": context.call("readConfiguration", value)}
        except JSEvalException as error:
            message = self._memory_error(context, error) or locate_in_script(error)
            return {"error": message, "syntax": isinstance(error, JSParseException)}
        finally:
            context.close()

    def _run(self, source: str, name: str, *arguments: str) -> dict[str, Any]:
        return self._in_context(
            source,
            lambda context: _call_script(context, name, context.function(source), *arguments),
        )

    def _in_context(
        self, source: str, work: Callable[[ScriptContext], dict[str, Any]]
    ) -> dict[str, Any]:
        """Run work in the source's context; if it is aborted there, again in a new context."""
        if context := self.contexts.pop(source, None):
            with suppress(RunAborted):
                return self._run_in(source, context, work)
        try:
            return self._run_in(source, self._take_context(source), work)
        except RunAborted as error:
            return error.answer

    def _take_context(self, source: str) -> ScriptContext:
        """Take a new context; it is watched, which is slow, only for a repeated source."""
        self.prepare()
        context, self.next = self.next, None
        assert context is not None
        if self.is_clean.get(source):
            context.watch()
        elif len(self.is_clean) >= MAX_KNOWN_SOURCES:
            self.is_clean.clear()
        return context

    def _run_in(
        self, source: str, context: ScriptContext, work: Callable[[ScriptContext], dict[str, Any]]
    ) -> dict[str, Any]:
        """Run work in a context, and keep the context if its state is unchanged."""
        reusable = False
        try:
            answer = work(context)
            reusable = context.is_reusable()
            return answer
        except JSEvalException as error:
            limit = self._memory_error(context, error)
            raise RunAborted(
                {"error": limit or locate(str(error)), "exhausted": bool(limit)}
            ) from error
        except NotAFunction as error:
            return {"error": str(error)}
        finally:
            if reusable:
                self._keep_context(source, context)
            else:
                self.is_clean[source] = not context.is_watched
                context.close()

    def _memory_error(self, context: ScriptContext, error: JSEvalException) -> str:
        """Return the memory limit as an error, if it aborted a run."""
        # V8 does not always report that a run was aborted for lack of memory.
        if isinstance(error, JSOOMException) or context.racer.was_hard_memory_limit_reached():
            return f"it took more than {self.memory >> 20} MB of memory"
        return ""

    def _keep_context(self, source: str, context: ScriptContext) -> None:
        self.contexts[source] = context
        if len(self.contexts) > MAX_IDLE_CONTEXTS:
            self.contexts.pop(next(iter(self.contexts))).close()


def _call_script(context: ScriptContext, name: str, *arguments: Any) -> dict[str, Any]:
    """Call a function of the script that runs code, and return its result."""
    context.call(name, *arguments)
    outcome = context.call("readOutcome")
    if outcome is None:
        return {"error": UNSETTLED_PROMISE}
    if not isinstance(outcome, str) or len(outcome) > MAX_RECORDS_BYTES:
        return {
            "error": "what it returned is not JSON of up to "
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
    arguments = (sys.stdin.buffer, requests)
    threading.Thread(
        target=receive_requests, args=arguments, name="svc-requests", daemon=True
    ).start()
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
        send(answers, handle(engine, requests.get()))
        engine.prepare()


def receive_requests(pipe: IO[bytes], requests: queue.SimpleQueue[Any]) -> None:
    """Receive requests, and exit the process as soon as the input ends, even during work."""
    with suppress(EOFError, OSError):
        while True:
            requests.put(receive(pipe))
    os._exit(0)


def handle(engine: Engine, request: tuple[str, Any]) -> dict[str, Any]:
    """Handle a request; failures are returned as errors in the response."""
    name, *arguments = request
    try:
        answer: dict[str, Any] = getattr(engine, name)(*arguments)
    except Unreadable as error:
        return {"unreadable": str(error), "reason": error.reason}
    except (MemoryError, RecursionError) as error:
        return {"error": f"it is too large or too deep ({type(error).__name__})", "exhausted": True}
    except Exception as error:  # files may be broken in unforeseen ways
        text = f"{type(error).__name__}: {error}"
        location = own_code_location(error)
        if location or name != "read":
            error_text = f"internal error of the crawler: {text}{location}"
            return {"error": error_text, "reason": "internal_error"}
        return {"error": text, "reason": "broken_file"}
    return answer


def limit_memory(size: int) -> None:
    """Limit the memory of the process, where the system supports it."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (size, size))
    except (ImportError, OSError, ValueError):  # not on Windows: only V8's limit applies
        pass


@cache
def read_script() -> str:
    """Return the script; it evaluates to the entry's exports and defines no globals."""
    order = dict.fromkeys(walk_imports(ENTRY))
    texts = {name: COMMENT.sub("", (FOLDER / name).read_text(encoding="utf-8")) for name in order}
    texts["entities.js"] = texts["entities.js"].replace(ENTITIES, _encode_entities())
    scopes = [
        f"const {_exported_names(text)} = (() => {{{_module_body(text)}}})();"
        for text in texts.values()
    ]
    return "\n".join(
        ['(() => {"use strict";', *scopes, f"return {_exported_names(texts[ENTRY])};}})()"]
    )


def walk_imports(name: str) -> Iterator[str]:
    """Yield the modules that a module imports, then the module itself."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    for match in IMPORT.finditer(text):
        yield from walk_imports(match[1])
    yield name


def _exported_names(text: str) -> str:
    """Return the exported names in braces, valid both as a pattern and as an object."""
    return "{" + ", ".join(EXPORT.findall(text)) + "}"


def _module_body(text: str) -> str:
    """Return a module without imports that returns its exports; outer scopes hold the imports."""
    return f"{EXPORT.sub('', IMPORT.sub('', text))}\nreturn {_exported_names(text)};"


def _encode_entities() -> str:
    """Return the HTML entity names as a JSON constant, parsed only by pages that need it."""
    return f"const ENTITIES = {json.dumps(json.dumps(html.entities.html5))};"


if __name__ == "__main__":
    main(int(sys.argv[1]))

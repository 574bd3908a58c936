"""The process in which pages are read and extractors run: what it does may fail without harm.

It reads requests from its input and answers on its output. Every extractor gets a JavaScript
world of its own, made before it is asked for, so that no page and no extractor can leave anything
behind for another. When its parent goes away, however that happens, so does the process.
"""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import IO, Any

import msgspec
from py_mini_racer import JSEvalException, JSFunction, JSMappedObject, JSOOMException, MiniRacer

from svc_notebook.service.crawl.extracting.document import read_document
from svc_notebook.service.crawl.extracting.page import Page, Unreadable
from svc_notebook.service.crawl.extracting.script import read_script
from svc_notebook.service.crawl.extracting.source import locate, wrap
from svc_notebook.service.crawl.extracting.worker import receive, send

# What Python, V8 and a page's parser need besides what an extractor may take.
BESIDES = 1 << 30
# The records of a page; a page itself is no larger.
MOST_JSON = 32 << 20
OPEN = "its promise is never settled: there are no timers and no network here"


class World:
    """One JavaScript engine with our script in it, used for one extractor."""

    def __init__(self, memory: int) -> None:
        self.racer = MiniRacer()
        self.racer.set_hard_memory_limit(memory)
        script = self.racer.eval(read_script())
        assert isinstance(script, JSMappedObject)
        self.script = script

    def function(self, source: str) -> JSFunction:
        """Return what a source says; raises JSEvalException, and Unfit where it is no function."""
        found = self.racer.eval(wrap(source))
        if not isinstance(found, JSFunction):
            raise Unfit("an extractor is a function: write `({ url, $ }) => { return [...]; }`")
        return found

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a function of the script."""
        function = self.script[name]
        assert isinstance(function, JSFunction)
        return function(*arguments)

    def close(self) -> None:
        """Give back what the engine took."""
        self.racer.close()


class Unfit(Exception):
    """What was given is not what it should be."""


class Engine:
    """What the process does, request by request: `("extract", source, html, facts)`."""

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.next: World | None = None

    def prepare(self) -> None:
        """Make the next world, while nobody waits."""
        self.next = self.next or World(self.memory)

    def read(self, *page: Any) -> dict[str, Any]:
        """Read a page into a document."""
        return {"value": msgspec.msgpack.encode(read_document(Page(*page)))}

    def check(self, source: str) -> dict[str, Any]:
        """Find out whether a source is a function."""
        return self._in_world(lambda world: {"value": world.function(source) is not None})

    def extract(self, source: str, html: str, facts: str) -> dict[str, Any]:
        """Run a `recordExtractor`; its outcome is JSON."""
        return self._in_world(lambda world: self._run(world, "runExtractor", source, html, facts))

    def links(self, source: str, html: str, facts: str) -> dict[str, Any]:
        """Run a `linkExtractor`; its outcome is JSON."""
        return self._in_world(lambda world: self._run(world, "runLinks", source, html, facts))

    def matches(self, html: str, selectors: str) -> dict[str, Any]:
        """Find out which selectors find something; the outcome is JSON."""
        return self._in_world(lambda world: self._finish(world, "testSelectors", html, selectors))

    def _run(self, world: World, name: str, source: str, *arguments: str) -> dict[str, Any]:
        return self._finish(world, name, world.function(source), *arguments)

    def _finish(self, world: World, name: str, *arguments: Any) -> dict[str, Any]:
        world.call(name, *arguments)
        outcome = world.call("readOutcome")
        if outcome is None:
            return {"error": OPEN}
        if not isinstance(outcome, str) or len(outcome) > MOST_JSON:
            return {
                "error": f"what it returned is no JSON of up to {MOST_JSON >> 20} million letters"
            }
        return {"value": outcome}

    def _in_world(self, work: Callable[[World], dict[str, Any]]) -> dict[str, Any]:
        self.prepare()
        world, self.next = self.next, None
        assert world is not None
        try:
            return work(world)
        except JSEvalException as error:
            # Where an extractor is ended for want of memory, V8 does not always say so.
            spent = isinstance(error, JSOOMException) or world.racer.was_hard_memory_limit_reached()
            much = f"it took more than {self.memory >> 20} MB of memory"
            return {"error": much if spent else locate(str(error)), "spent": spent}
        except Unfit as error:
            return {"error": str(error)}
        finally:
            world.close()


def main(memory: int) -> None:
    """Answer requests until there are no more."""
    limit_memory(memory + BESIDES)
    # Whatever writes to the standard output meant people, not our parent.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=take_in, args=(sys.stdin.buffer, requests), daemon=True).start()
    engine = Engine(memory)
    engine.prepare()
    send(answers, "ready")
    while True:
        send(answers, reply(engine, requests.get()))
        engine.prepare()


def take_in(pipe: IO[bytes], requests: queue.SimpleQueue[Any]) -> None:
    """Take in requests, and end the process when there can be no more, whatever it is at."""
    with contextlib.suppress(EOFError, OSError):
        while True:
            requests.put(receive(pipe))
    os._exit(0)


def reply(engine: Engine, request: tuple[str, Any]) -> dict[str, Any]:
    """Do what is asked; what cannot be is an error in the answer."""
    name, *arguments = request
    try:
        answer: dict[str, Any] = getattr(engine, name)(*arguments)
    except Unreadable as error:
        return {"unreadable": str(error), "reason": error.reason}
    except (MemoryError, RecursionError) as error:
        return {"error": f"it is too large or too deep ({type(error).__name__})", "spent": True}
    except Exception as error:  # a file may be broken in ways that nobody has thought of
        return {"error": f"{type(error).__name__}: {error}", "reason": "broken_file"}
    return answer


def limit_memory(size: int) -> None:
    """Let the system refuse more memory than that, where it can."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (size, size))
    except (ImportError, OSError, ValueError):  # Windows has none; V8's own limit holds there
        pass


if __name__ == "__main__":
    main(int(sys.argv[1]))

"""A subprocess for unsafe work that is killed and replaced when it exceeds its limits."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import msgspec

LENGTH_PREFIX_BYTES = 4
# Starting takes a second at most, unless the machine has no time for it.
START_SECONDS = 60
# An answer is a page or its records: more than this is nobody's.
MAX_MESSAGE_BYTES = 128 << 20


class Overrun(Exception):
    """The work took longer than it may."""


class Broken(Exception):
    """The process went away in the middle of the work."""


class Worker:
    """One process at most, started when first asked; a request is a tuple, an answer any value."""

    def __init__(self, module: str, *arguments: str) -> None:
        self._command = (sys.executable, "-m", module, *arguments)
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def ask(self, request: tuple[Any, ...], seconds: float) -> Any:
        """Have one request answered; raises Overrun or Broken, and the next has a new process."""
        with self._lock:
            process = self._running()
            return self._exchange(process, request, seconds)

    def close(self) -> None:
        """Kill the process; whoever waits for an answer is told that it is broken."""
        process, self._process = self._process, None
        if process is not None:
            end(process)

    def _running(self) -> subprocess.Popen[bytes]:
        """Return the process, which says that it is ready before the first request is its."""
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            self._exchange(self._process, None, START_SECONDS)
        return self._process

    def _exchange(
        self, process: subprocess.Popen[bytes], request: tuple[Any, ...] | None, seconds: float
    ) -> Any:
        assert process.stdin
        assert process.stdout
        with killing(process, seconds) as overrun:
            try:
                if request is not None:
                    send(process.stdin, request)
                return receive(process.stdout)
            except (EOFError, OSError, ValueError) as error:
                self.close()
                raise (Overrun if overrun.is_set() else Broken) from error


@contextmanager
def killing(process: subprocess.Popen[bytes], seconds: float) -> Iterator[threading.Event]:
    """Kill a process when the block takes longer; the event tells whether that was so."""
    overrun = threading.Event()

    def stop() -> None:
        overrun.set()
        process.kill()

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield overrun
    finally:
        timer.cancel()


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and let go of its pipes."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        try:
            assert pipe
            pipe.close()
        except OSError:  # what was to be sent has nobody to go to
            pass


def send(pipe: IO[bytes], value: object) -> None:
    """Write one value, its length before it."""
    body = msgspec.msgpack.encode(value)
    pipe.write(len(body).to_bytes(LENGTH_PREFIX_BYTES, "big") + body)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Any:
    """Read one value; raises EOFError where there is none."""
    length = int.from_bytes(read_exactly(pipe, LENGTH_PREFIX_BYTES), "big")
    if length > MAX_MESSAGE_BYTES:
        raise EOFError(f"{length} bytes are no answer")
    return msgspec.msgpack.decode(read_exactly(pipe, length))


def read_exactly(pipe: IO[bytes], length: int) -> bytes:
    """Read so many bytes, or raise EOFError."""
    body = pipe.read(length)
    if len(body) < length:
        raise EOFError
    return body

"""A subprocess for unsafe work that is killed and replaced when it exceeds its limits."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import msgspec

from svc_notebook.core.child_process import python_command, start_process

LENGTH_PREFIX_BYTES = 4
# Starting takes at most a second, unless the machine is overloaded.
START_SECONDS = 60
# A response is a page or its records, which are never larger than this.
MAX_MESSAGE_BYTES = 128 << 20


class TimeLimitExceeded(Exception):
    """The work exceeded its time limit."""


class WorkerBroken(Exception):
    """The process ended during the work."""


class Worker:
    """At most one process, started on the first request.

    A request is a tuple, a response any value.
    """

    def __init__(self, module: str, *arguments: str) -> None:
        self._command = python_command(module, *arguments)
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def ask(self, request: tuple[Any, ...], seconds: float) -> Any:
        """Send a request and return its response; raises `TimeLimitExceeded` or `WorkerBroken`.

        After either, the next request starts a new process.
        """
        with self._lock:
            process = self._running()
            return self._exchange(process, request, seconds)

    def close(self) -> None:
        """Kill the process; pending requests raise `WorkerBroken`."""
        process, self._process = self._process, None
        if process is not None:
            kill(process)

    def _running(self) -> subprocess.Popen[bytes]:
        """Return the process, started and ready for requests."""
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None:
            self._process = start_process(
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
        with kill_after(process, seconds) as overrun:
            try:
                if request is not None:
                    send(process.stdin, request)
                return receive(process.stdout)
            except (EOFError, OSError, ValueError) as error:
                self.close()
                raise (TimeLimitExceeded if overrun.is_set() else WorkerBroken) from error


@contextmanager
def kill_after(process: subprocess.Popen[bytes], seconds: float) -> Iterator[threading.Event]:
    """Kill a process if the block exceeds the time limit; the event is then set."""
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


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and close its pipes."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        try:
            assert pipe
            pipe.close()
        except OSError:  # unsent data has no receiver
            pass


def send(pipe: IO[bytes], value: object) -> None:
    """Write one value with its length as prefix."""
    body = msgspec.msgpack.encode(value)
    pipe.write(len(body).to_bytes(LENGTH_PREFIX_BYTES, "big") + body)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Any:
    """Read one value; raises `EOFError` at the end of the pipe."""
    length = int.from_bytes(read_exactly(pipe, LENGTH_PREFIX_BYTES), "big")
    if length > MAX_MESSAGE_BYTES:
        raise EOFError(f"a response of {length} bytes exceeds the limit")
    return msgspec.msgpack.decode(read_exactly(pipe, length))


def read_exactly(pipe: IO[bytes], length: int) -> bytes:
    """Read `length` bytes; raises `EOFError` if there are fewer."""
    body = pipe.read(length)
    if len(body) < length:
        raise EOFError
    return body

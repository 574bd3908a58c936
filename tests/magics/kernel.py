"""A real kernel, driven as a notebook drives one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager

PATIENCE = 30


@dataclass
class Cell:
    """What came of one cell."""

    status: str
    error: str = ""
    traceback: str = ""
    printed: str = ""
    warned: str = ""
    result: str = ""
    html: str = ""
    seconds: float = 0


@dataclass
class Kernel:
    """A kernel and the connection to it."""

    manager: KernelManager
    client: BlockingKernelClient
    started: dict[str, float] = field(default_factory=dict)

    def run(self, code: str) -> Cell:
        """Run a cell and wait for all it says."""
        return self.finish(self.start(code))

    def start(self, code: str) -> str:
        """Send a cell off."""
        request = self.client.execute(code, allow_stdin=False)
        self.started[request] = time.monotonic()
        return request

    def finish(self, request: str) -> Cell:
        """Gather what came of a cell that was sent off."""
        cell = Cell("")
        while not (message := self._message(request))["idle"]:
            _note(cell, message)
        reply = self._reply(request)
        cell.status = reply["status"]
        cell.seconds = time.monotonic() - self.started[request]
        return cell

    def good(self, code: str) -> Cell:
        """Run a cell that must not fail."""
        cell = self.run(code)
        assert cell.status == "ok", f"{code}\n{cell.error}\n{cell.traceback}"
        return cell

    def complete(self, code: str) -> tuple[str, list[str]]:
        """Ask what could come next at the end of `code`: the text replaced, the matches."""
        request = self.client.complete(code)
        content = self._reply(request)
        return code[content["cursor_start"] : content["cursor_end"]], content["matches"]

    def interrupt(self) -> None:
        """Press Stop."""
        self.manager.interrupt_kernel()

    def _message(self, request: str) -> dict[str, Any]:
        while True:
            message = self.client.get_iopub_msg(timeout=PATIENCE)
            if message["parent_header"].get("msg_id") == request:
                content = message["content"]
                idle = content.get("execution_state") == "idle"
                return {"type": message["msg_type"], "idle": idle, **content}

    def _reply(self, request: str) -> dict[str, Any]:
        while True:
            message = self.client.get_shell_msg(timeout=PATIENCE)
            if message["parent_header"].get("msg_id") == request:
                content: dict[str, Any] = message["content"]
                return content


def _note(cell: Cell, message: dict[str, Any]) -> None:
    if message["type"] == "stream":
        name = "printed" if message["name"] == "stdout" else "warned"
        setattr(cell, name, getattr(cell, name) + message["text"])
    elif message["type"] == "error":
        cell.error = f"{message['ename']}: {message['evalue']}"
        cell.traceback = "\n".join(message["traceback"])
    elif message["type"] in ("execute_result", "display_data"):
        cell.result = message["data"].get("text/plain", "")
        cell.html = message["data"].get("text/html", "")


@contextmanager
def running_kernel(**environment: str) -> Iterator[Kernel]:
    """Start a kernel, and end it."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(env=environment)
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=PATIENCE)
        yield Kernel(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)

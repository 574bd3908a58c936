"""A real kernel, driven as a notebook drives one."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from jupyter_client.manager import KernelManager

PATIENCE = 30


@dataclass
class Cell:
    """What came of one cell."""

    status: str = ""
    error: str = ""
    traceback: str = ""
    printed: str = ""
    warned: str = ""
    result: str = ""
    html: str = ""


@dataclass
class Kernel:
    """A kernel and the connection to it."""

    manager: Any
    client: Any
    answers: list[str] = field(default_factory=list)
    heard: list[Any] = field(default_factory=list)  # every message, as a front end hears them

    def run(self, code: str, answer: str | None = None) -> Cell:
        """Run a cell to its end; `answer` is typed where it asks for something."""
        return self.finish(self.start(code, answer))

    def start(self, code: str, answer: str | None = None) -> str:
        """Send a cell off."""
        request: str = self.client.execute(code, allow_stdin=answer is not None)
        if answer is not None:
            asked = self.client.get_stdin_msg(timeout=PATIENCE)
            self.answers.append(asked["content"]["prompt"])
            self.client.input(answer)
        return request

    def finish(self, request: str) -> Cell:
        """Gather what came of a cell that was sent off."""
        cell = Cell()
        while (message := self._message(request))["content"].get("execution_state") != "idle":
            _note(cell, message["msg_type"], message["content"])
        cell.status = self._reply(request)["status"]
        return cell

    def good(self, code: str) -> Cell:
        """Run a cell that must not fail."""
        cell = self.run(code)
        assert cell.status == "ok", f"{code}\n{cell.error}\n{cell.traceback}\n{cell.warned}"
        return cell

    def await_true(self, condition: str) -> None:
        """Run cells until an expression holds that a message of a front end makes true."""
        deadline = time.monotonic() + PATIENCE
        while self.good(f"bool({condition})").result != "True":
            assert time.monotonic() < deadline, condition
            time.sleep(0.05)

    def await_busy(self) -> None:
        """Wait until the kernel handles a message of a front end."""
        while True:
            message = self.client.get_iopub_msg(timeout=PATIENCE)
            self.heard.append(message)
            kind = message["parent_header"].get("msg_type")
            if kind == "comm_msg" and message["content"].get("execution_state") == "busy":
                return

    def complete(self, code: str) -> tuple[str, list[str]]:
        """Ask what could come next at the end of `code`: the text replaced, the matches."""
        content = self._reply(self.client.complete(code))
        return code[content["cursor_start"] : content["cursor_end"]], content["matches"]

    @property
    def features(self) -> list[str]:
        """What the kernel says it can do beyond the common."""
        content = self._reply(self.client.kernel_info())
        found: list[str] = content.get("supported_features", [])
        return found

    def stop(self) -> None:
        """Press Stop."""
        self.manager.interrupt_kernel()

    def _message(self, request: str) -> Any:
        while True:
            message = self.client.get_iopub_msg(timeout=PATIENCE)
            self.heard.append(message)
            if message["parent_header"].get("msg_id") == request:
                return message

    def _reply(self, request: str) -> Any:
        while True:
            message = self.client.get_shell_msg(timeout=PATIENCE)
            self.heard.append(message)
            if message["parent_header"].get("msg_id") == request:
                return message["content"]


def _note(cell: Cell, kind: str, content: Mapping[str, Any]) -> None:
    if kind == "stream":
        name = "printed" if content["name"] == "stdout" else "warned"
        setattr(cell, name, getattr(cell, name) + content["text"])
    elif kind == "error":
        cell.error = f"{content['ename']}: {content['evalue']}"
        cell.traceback = "\n".join(content["traceback"])
    elif kind in ("execute_result", "display_data"):
        cell.result = content["data"].get("text/plain", "")
        cell.html = content["data"].get("text/html", "")


@contextmanager
def running_kernel(environment: Mapping[str, str]) -> Iterator[Kernel]:
    """Start a kernel, and end it as closing a notebook does."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(env=dict(environment))
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=PATIENCE)
        yield Kernel(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel()

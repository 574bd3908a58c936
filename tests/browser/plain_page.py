"""Editors of this process, shown on a plain page: no JupyterLab and no kernel.

The page runs the views as a front end does, and the editor in Python answers: messages between them
go over HTTP, in threads of their own, as with a kernel that answers while a cell runs.
"""

from __future__ import annotations

import ast
import itertools
import json
import queue
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from comm.base_comm import BaseComm
from playwright.sync_api import Locator, Page

from tests.browser.notebook import Notebook

PAGE = Path(__file__).with_name("plain_page.html")
THEMES = Path(sys.prefix) / "share" / "jupyter" / "lab" / "themes" / "@jupyterlab"
# A line without content, which shows whether the page still listens.
HEARTBEAT_SECONDS = 1


class PageComm(BaseComm):
    """The Python side of a model on the page."""

    opened: dict[str, PageComm]
    outbox: queue.Queue[dict[str, Any]]

    def publish_msg(
        self, msg_type: str, data: Any = None, metadata: Any = None, buffers: Any = None, **_: Any
    ) -> None:
        """Send a message to the page."""
        if msg_type == "comm_open":
            self.opened[self.comm_id] = self
        self.outbox.put({"id": self.comm_id, "type": msg_type, "data": data})


class PageServer:
    """Serves the page, and carries the messages of its models."""

    def __init__(self) -> None:
        self.opened: dict[str, PageComm] = {}
        self.outbox: queue.Queue[dict[str, Any]] = queue.Queue()
        facts = {"opened": self.opened, "outbox": self.outbox}
        self.comm_class = type("PageCommHere", (PageComm,), facts)
        self._closing = False
        handler = type("PageHandler", (_Handler,), {"page_server": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/"

    def create_comm(self, *args: Any, **options: Any) -> PageComm:
        """Return a comm to the page, in place of one to a kernel's front end."""
        made: PageComm = self.comm_class(*args, **options)
        return made

    def receive(self, message: Mapping[str, Any]) -> None:
        """Give a message of the page to its model."""
        model = self.opened[message["id"]]
        model.handle_msg(
            {"content": {"comm_id": message["id"], "data": message["data"]}, "buffers": []}
        )

    def messages(self) -> Iterator[dict[str, Any] | None]:
        """Messages to the page; None after a while without any."""
        while not self._closing:
            try:
                yield self.outbox.get(timeout=HEARTBEAT_SECONDS)
            except queue.Empty:
                yield None

    def close(self) -> None:
        """End the server."""
        self._closing = True
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    page_server: PageServer

    def log_message(self, *_: Any) -> None:
        """Print no requests."""

    def do_GET(self) -> None:
        """Send the page, or messages as they come."""
        streams = self.path == "/messages"
        self.send_response(200 if self.path in ("/", "/messages") else 404)
        self.send_header("Content-Type", f"text/{'event-stream' if streams else 'html'}")
        self.end_headers()
        if not streams:
            self.wfile.write(PAGE.read_bytes() if self.path == "/" else b"")
            return
        for message in self.page_server.messages():
            line = ":\n\n" if message is None else f"data: {json.dumps(message)}\n\n"
            try:
                self.wfile.write(line.encode())
                self.wfile.flush()
            except OSError:
                return

    def do_POST(self) -> None:
        """Take a message of the page."""
        content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.page_server.receive(content)
        self.send_response(204)
        self.end_headers()


class EditorPage(Notebook):
    """A plain page with editors of this process, driven as a notebook is."""

    def __init__(self, page: Page, server: PageServer) -> None:
        self.page = page
        self.complaints = []
        self._names: dict[str, Any] = {}
        self._views = itertools.count(1)
        self._listen()
        page.goto(server.url)
        page.wait_for_function("() => window.connected")

    def run(self, code: str, *, cell: int = 0) -> None:
        """Run code as a cell does, which then shows nothing; an error in it fails the test."""
        self._settle()
        self.page.evaluate("cell => window.clear(cell)", cell)
        self._execute(code)

    def begin(self, code: str, *, cell: int = 0) -> None:
        """Refuse: no cell runs while the page is looked at; mark the test with `in_lab`."""
        raise NotImplementedError("only a kernel runs a cell without waiting for it")

    def save(self) -> Any:
        """Refuse: there is no file; mark the test with `in_lab`."""
        raise NotImplementedError("only a notebook is saved")

    def open(self, code: str, *, cell: int = 0) -> Locator:
        """Run code that ends with an editor, and show this in the place of the cell."""
        self._settle()
        editor = self._execute(code)
        number = next(self._views)
        self.page.evaluate("facts => window.show(...facts)", [editor.model_id, number, cell])
        shown = self.page.locator(f"#view-{number} .svc-editor").last
        shown.wait_for(timeout=20_000)
        return shown

    def ask(self, code: str) -> Any:
        """The value of a Python expression, after what the page has sent so far."""
        self._settle()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return json.loads(json.dumps(eval(code, self._names)))

    def change_theme(self, name: str) -> None:
        """Give the page the colours of a theme, "JupyterLab Dark" for instance."""
        kind = name.rpartition(" ")[2].lower()
        colours = THEMES / f"theme-{kind}-extension" / "index.css"
        self.page.evaluate(
            "([kind, css]) => window.changeTheme(kind, css)",
            [kind, colours.read_text(encoding="utf-8")],
        )

    def _settle(self) -> None:
        """Wait until Python has received what the page has sent."""
        self.page.evaluate("() => window.settle()")

    def _execute(self, code: str) -> Any:
        """Run statements, and return the value of the last one if it is an expression."""
        tree = ast.parse(code)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(tree, "<cell>", "exec"), self._names)
            if isinstance(last, ast.Expr):
                return eval(compile(ast.Expression(last.value), "<cell>", "eval"), self._names)
        return None


@contextmanager
def open_editor_page(page: Page) -> Iterator[EditorPage]:
    """Show editors of this process on a page; connections that are made here end with it."""
    server = PageServer()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ipywidgets.comm.create_comm", server.create_comm)
        patch.setattr("svc_notebook.data.session.connection._current", None)
        yield EditorPage(page, server)
    server.close()

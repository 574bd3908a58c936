"""A notebook in JupyterLab or Notebook 7, driven by a test."""

from __future__ import annotations

import ast
import json
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page

from tests.browser.lab import Lab

PYTHON = {"name": "python3", "display_name": "Python 3", "language": "python"}
OPEN = """async name => {
    const app = window.jupyterapp;
    await app.restored;
    const panel = await app.commands.execute("docmanager:open", {path: name});
    await panel.context.ready;
    await panel.sessionContext.ready;
}"""
# Notebook 7 has one notebook to a page, and opens it by itself.
READY = """async () => {
    const panel = window.jupyterapp.shell.currentWidget;
    await panel.context.ready;
    await panel.sessionContext.ready;
}"""
BEGIN = """([place, code]) => {
    const {content} = window.jupyterapp.shell.currentWidget;
    content.model.sharedModel.getCell(place).setSource(code);
    content.activeCellIndex = place;
    window.ran = window.jupyterapp.commands.execute("notebook:run-cell");
}"""
ERRORS = """place => {
    const {outputs} = window.jupyterapp.shell.currentWidget.content.widgets[place].model;
    const errors = outputs.toJSON().filter(output => output.output_type === "error");
    return errors.map(output => output.traceback.join("\\n"));
}"""
ASK = """async code => {
    const {sessionContext} = window.jupyterapp.shell.currentWidget;
    const future = sessionContext.session.kernel.requestExecute(
        {code: "import json", user_expressions: {told: `json.dumps(${code})`},
         store_history: false});
    const reply = await future.done;
    const {told} = reply.content.user_expressions ?? {};
    return told?.data?.["text/plain"] ?? JSON.stringify(reply.content);
}"""
CHANGE_THEME = "name => window.jupyterapp.commands.execute('apputils:change-theme', {theme: name})"
# JupyterLab loads a theme after the command has returned, behind a splash screen.
THEME_IS_SHOWN = """name => document.body.dataset.jpThemeName === name
    && !document.getElementById("jupyterlab-splash")"""
# What others say on the console of any page here.
KNOWN = ("favicon", "ResizeObserver loop", "Could not load", "ERR_CONNECTION")


# Moves of the mouse in a drag; a busy browser may not see a drop after a single one.
DRAG_MOVES = 10
DRAG_STARTS_SECONDS = 20


def drag(source: Locator, target: Locator) -> None:
    """Drag an element whose page follows the mouse."""
    source.drag_to(target, steps=DRAG_MOVES)


def drag_and_drop(source: Locator, target: Locator) -> None:
    """Drag a `draggable` element to another one.

    `drag_to` does not intercept a drag that a busy browser starts late: the browser then drags for
    real, without end, and takes every later click. Here all drags are intercepted, and one that
    starts late is waited for.
    """
    page = source.page
    session = page.context.new_cdp_session(page)
    started: list[Any] = []
    session.on("Input.dragIntercepted", lambda event: started.append(event["data"]))
    session.send("Input.setInterceptDrags", {"enabled": True})
    source.hover()  # scrolls to it, and waits for a list that is drawn again
    start, end = _center(source), _center(target)

    def press(kind: str, point: dict[str, float]) -> None:
        facts = {"button": "left", "buttons": 1, "clickCount": 1}
        session.send("Input.dispatchMouseEvent", {"type": kind, **point, **facts})

    press("mousePressed", start)
    last = time.monotonic() + DRAG_STARTS_SECONDS
    step = 0
    while not started:
        assert time.monotonic() < last, "the browser started no drag"
        step += 1
        press("mouseMoved", {"x": start["x"] + step % DRAG_MOVES, "y": start["y"] + step % 2})
        page.wait_for_timeout(20)
    for kind in ("dragEnter", "dragOver", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, **end, "data": started[0]})
    press("mouseReleased", end)
    session.detach()


def _center(element: Locator) -> dict[str, float]:
    box = element.bounding_box()
    assert box is not None, "the element is not shown"
    return {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}


class Notebook:
    """One open notebook of two cells, and everything the page complained of."""

    def __init__(
        self, page: Page, lab: Lab, name: str, *, classic: bool = False, is_loaded: bool = False
    ) -> None:
        self.page = page
        self.path = lab.folder / name
        self.complaints: list[str] = []
        self._listen()
        if not self.path.exists():
            write_notebook(self.path)
        if not is_loaded:
            page.goto(f"{lab.url}/notebooks/{name}" if classic else f"{lab.url}/lab?reset")
        there = "window.jupyterapp?.shell.currentWidget" if classic else "window.jupyterapp"
        page.wait_for_function(f"Boolean({there})", timeout=60_000)
        page.evaluate(READY if classic else OPEN, name)

    def _listen(self) -> None:
        """Note what the page complains of."""
        page = self.page
        page.on("console", lambda said: self._note(said.type, said.text, said.location["url"]))
        page.on("pageerror", lambda error: self._note("error", str(error)))

    def _note(self, kind: str, text: str, address: str = "") -> None:
        if kind == "error" and not any(known in text for known in KNOWN):
            self.complaints.append(f"{text} ({address})")

    def run(self, code: str, *, cell: int = 0) -> None:
        """Run a cell to its end; an error in it fails the test."""
        self.begin(code, cell=cell)
        self.page.evaluate("() => window.ran")
        errors = self.page.evaluate(ERRORS, cell)
        assert not errors, errors[0]

    def begin(self, code: str, *, cell: int = 0) -> None:
        """Run a cell and do not wait for it."""
        self.page.evaluate(BEGIN, [cell, code])

    def open(self, code: str, *, cell: int = 0) -> Locator:
        """Run a cell that shows an editor, and return the editor."""
        self.run(code, cell=cell)
        editor = self.page.locator(".svc-editor").last
        editor.wait_for(timeout=20_000)
        return editor

    def ask(self, code: str) -> Any:
        """The value of a Python expression."""
        told = str(self.page.evaluate(ASK, code))
        return json.loads(ast.literal_eval(told) if told[:1] in "'\"" else told)

    def await_value(self, code: str, value: Any, *, seconds: float = 15) -> None:
        """Wait until Python has a value that follows from what the page was told."""
        for _ in range(round(10 * seconds)):
            if self.ask(code) == value:
                break
            self.page.wait_for_timeout(100)
        assert self.ask(code) == value

    def change_theme(self, name: str) -> None:
        """Change JupyterLab's theme, and wait until the page shows it."""
        self.page.evaluate(CHANGE_THEME, name)
        self.page.wait_for_function(THEME_IS_SHOWN, arg=name)

    def save(self) -> Any:
        """Save, and return what is in the file."""
        self.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
        return json.loads(self.path.read_text(encoding="utf-8"))


def write_notebook(path: Path) -> None:
    """Write a notebook of two empty cells."""
    cell: dict[str, Any] = {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
    }
    cells = [{**cell, "id": f"cell-{number}", "source": ""} for number in range(2)]
    made = {"cells": cells, "metadata": {"kernelspec": PYTHON}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(made), encoding="utf-8")

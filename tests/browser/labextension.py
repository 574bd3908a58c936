"""The JupyterLab extension of this checkout, as `make lab` shows it, and a page with it."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.lab import Lab
from tests.browser.looks import CONTRAST
from tests.browser.notebook import OPEN, Notebook
from tests.conftest import ROOT

LINKED = (
    *("widgets/lab/package.json", "widgets/lab/install.json", "widgets/lab/schemas", "widgets/lab"),
    *("widgets/kit", "notebooks"),
)
COUNT = itertools.count(1)
SET_SOURCE = """([place, code]) => window.jupyterapp.shell.currentWidget.content.model.sharedModel
    .getCell(place).setSource(code)"""
SOURCE_IS = """code => window.jupyterapp.shell.currentWidget.content.activeCell.model.sharedModel
    .getSource() === code"""
SAVE_PREFERENCES = """async text => window.jupyterapp.serviceManager.settings
    .save("svc-notebook:plugin", text)"""
# All but the current notebook is closed without questions, and other kernels end.
CLOSE_OTHERS = """async () => {
    const {shell, serviceManager: {sessions}} = window.jupyterapp;
    const current = shell.currentWidget;
    for (const widget of [...shell.widgets("main")]) if (widget !== current) widget.dispose();
    const kept = current.sessionContext.session.id;
    const ended = [...sessions.running()].filter(session => session.id !== kept);
    await Promise.all(ended.map(session => sessions.shutdown(session.id)));
}"""
# What the file holds: two empty cells. The kernel goes on.
REVERT = "() => window.jupyterapp.shell.currentWidget.context.revert()"
SHOW = "() => window.jupyterapp.commands.execute('svc:show-explorer')"


def link_extension(folder: Path) -> Path:
    """Link the extension into a folder for `JUPYTER_PATH`."""
    linked = folder / "labextensions" / "svc-notebook"
    linked.mkdir(parents=True)
    for name in LINKED:
        (linked / Path(name).name).symlink_to(ROOT / name)
    return folder


class LabPage(Notebook):
    """A notebook beside the explorer."""

    def __init__(
        self, page: Page, lab: Lab, name: str, *, classic: bool = False, is_loaded: bool = False
    ) -> None:
        super().__init__(page, lab, name, classic=classic, is_loaded=is_loaded)
        if not classic:
            page.evaluate(SHOW)

    @property
    def explorer(self) -> Locator:
        return self.page.locator(".svc-explorer")

    @property
    def tree(self) -> Locator:
        return self.page.get_by_role("tree", name="Indices and crawlers")

    def row(self, label: str) -> Locator:
        """The row with exactly this label."""
        found = self.page.locator(".svc-row-label").get_by_text(label, exact=True)
        return self.page.locator(".svc-explorer-row").filter(has=found).first

    def expand(self, label: str) -> None:
        """Show what is under a row, if it does not show yet."""
        row = self.row(label)
        row.wait_for()
        if row.get_attribute("aria-expanded") != "true":
            row.click()
        expect(row).to_have_attribute("aria-expanded", "true")

    def open_menu(self, label: str) -> Locator:
        """Open the menu of a row with the mouse."""
        self.row(label).click(button="right")
        menu = self.page.locator(".lm-Menu")
        menu.wait_for()
        return menu

    def execute(self, command: str, **args: object) -> None:
        """Begin a command of the application."""
        self.page.evaluate(
            "([command, args]) => void window.jupyterapp.commands.execute(command, args)",
            [command, args],
        )

    def await_source(self, code: str) -> None:
        """Wait until the active cell holds this code."""
        self.page.wait_for_function(SOURCE_IS, arg=code)

    def save_preferences(self, **values: object) -> None:
        """Save settings of the extension; a page that is opened later follows them."""
        self.page.evaluate(SAVE_PREFERENCES, json.dumps(values))

    def set_source(self, code: str, *, cell: int = 0) -> None:
        """Write a cell without running it."""
        self.page.evaluate(SET_SOURCE, [cell, code])

    def show(self, name: str) -> None:
        """Open another notebook of the folder, or go back to it."""
        self.page.evaluate(OPEN, name)

    def faint_texts(self) -> Any:
        """Texts of the extension that are too faint on what is behind them."""
        return self.page.evaluate(CONTRAST.replace(".svc-editor *", ".svc-explorer *"))

    def await_connected(self) -> None:
        expect(self.tree).to_be_visible()


def fresh(page: Page, lab: Lab, stem: str = "notebook", *, is_loaded: bool = False) -> LabPage:
    """A new notebook, whose kernel has not run anything, in a page that may show JupyterLab."""
    return LabPage(page, lab, f"{stem}-{next(COUNT)}.ipynb", is_loaded=is_loaded)


class LoadedLab:
    """A page of JupyterLab for the tests of a module: a new one after a test that failed.

    To load JupyterLab and to start a kernel takes longer than most of these tests.
    """

    def __init__(self, chromium: Browser, lab: Lab, **context: Any) -> None:
        self._chromium, self._lab, self._context = chromium, lab, context
        self._page: Page | None = None
        self._shared: LabPage | None = None

    def open_notebook(self) -> LabPage:
        """Open a new notebook with a new kernel, and close what earlier tests opened."""
        self._shared = None
        if self._page is None:
            self._page = self._chromium.new_context(**self._context).new_page()
            return fresh(self._page, self._lab)
        self._close_dialogs(self._page)
        opened = fresh(self._page, self._lab, is_loaded=True)
        self._page.evaluate(CLOSE_OTHERS)
        return opened

    def share_notebook(self) -> LabPage:
        """Return the notebook of the module with its cells empty, and close what tests opened."""
        if self._page is None or self._shared is None:
            opened = self.open_notebook()
        else:
            self._close_dialogs(self._page)
            name = self._shared.path.name
            opened = LabPage(self._page, self._lab, name, is_loaded=True)
            self._page.evaluate(CLOSE_OTHERS)
            self._page.evaluate(REVERT)
        self._shared = opened
        return opened

    def close(self) -> None:
        """Close the page; the next notebook has a new one, and a new kernel."""
        if self._page is not None:
            self._page.context.close()
        self._page = self._shared = None

    @staticmethod
    def _close_dialogs(page: Page) -> None:
        for _ in range(page.locator(".jp-Dialog, .lm-Menu, dialog[open]").count()):
            page.keyboard.press("Escape")

"""A real JupyterLab, which serves Notebook 7 as well, in a real Chromium."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.lab import CHROMIUM, FLAGS, Lab, open_lab
from tests.browser.labextension import LabPage, LoadedLab, link_extension
from tests.browser.notebook import Notebook
from tests.browser.plain_page import EditorPage, open_editor_page
from tests.browser.shop import connect
from tests.conftest import Running

# A machine that others keep busy may take longer than the five seconds waited by default.
expect.set_options(timeout=15_000)
VIEWPORT: Any = {"width": 1180, "height": 1000}
LAB_VIEWPORT: Any = {"width": 1200, "height": 900}
# Whether a phase of a test failed.
FAILED = pytest.StashKey[bool]()
NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


@pytest.fixture(autouse=True)
def _connection_of_this_test() -> None:
    """Keep what a test connects to: the next editor on its page uses it, too."""


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab on a copy of the tutorials, with a home of its own."""
    folder = tmp_path_factory.mktemp("lab")
    for path in [*NOTEBOOKS.glob("*.py"), *NOTEBOOKS.glob("*.ipynb")]:
        shutil.copy(path, folder)
    with open_lab(tmp_path_factory.mktemp("home"), folder) as running:
        yield running


@pytest.fixture(scope="session")
def extended_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab with the extension, on a folder of its own."""
    linked = link_extension(tmp_path_factory.mktemp("jupyter"))
    folder = tmp_path_factory.mktemp("lab")
    home = tmp_path_factory.mktemp("home")
    with open_lab(home, folder, JUPYTER_PATH=str(linked)) as running:
        yield running


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """A browser without a window, closed with its last test: it keeps an event loop running."""
    if CHROMIUM is None:
        pytest.fail("these tests need Chromium; on Debian: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def connection(service: Running) -> str:
    """The code that connects the notebook of a module, as `client`."""
    return connect(service)


@pytest.fixture(scope="package")
def lab_page(lab: Lab, chromium: Browser) -> Iterator[Notebook]:
    """One notebook in JupyterLab for all tests of editors that need a real one."""
    context = chromium.new_context(viewport=VIEWPORT)
    notebook = Notebook(context.new_page(), lab, "editors.ipynb")
    notebook.page.evaluate("jupyterapp.commands.execute('application:toggle-left-area')")
    yield notebook
    context.close()


class EditorPages:
    """The plain page for the tests of a module: a new one after a test that failed.

    What a failed test leaves, a drag without end for instance, would fail all tests after it.
    """

    def __init__(self, chromium: Browser, connection: str, **context: Any) -> None:
        self._chromium, self._connection, self._context = chromium, connection, context
        self._page: EditorPage | None = None
        self._closing = ExitStack()

    def current(self) -> EditorPage:
        """Return the page, opened if there is none."""
        if self._page is None:
            context = self._chromium.new_context(**self._context)
            self._closing.callback(context.close)
            self._page = self._closing.enter_context(open_editor_page(context.new_page()))
            self._page.run(self._connection)
        return self._page

    def close(self) -> None:
        """Close the page."""
        self._closing.close()
        self._page = None


@pytest.fixture(scope="module")
def editor_pages(
    request: pytest.FixtureRequest, chromium: Browser, connection: str
) -> Iterator[EditorPages]:
    """Plain pages for the tests of a module, in a context with what its `CONTEXT` says."""
    context = {"viewport": VIEWPORT, **getattr(request.module, "CONTEXT", {})}
    pages = EditorPages(chromium, connection, **context)
    yield pages
    pages.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture
def notebook(request: pytest.FixtureRequest, connection: str) -> Iterator[Notebook]:
    """Where editors are opened: a plain page, or JupyterLab for tests that are marked `in_lab`."""
    in_lab = request.node.get_closest_marker("in_lab")
    pages: EditorPages | None = None if in_lab else request.getfixturevalue("editor_pages")
    opened: Notebook = pages.current() if pages else request.getfixturevalue("lab_page")
    if in_lab:
        opened.run(connection)
    opened.complaints.clear()
    yield opened
    if pages and request.node.stash.get(FAILED, False):
        pages.close()


@pytest.fixture(scope="module")
def loaded_lab(chromium: Browser, extended_lab: Lab) -> Iterator[LoadedLab]:
    """The page of JupyterLab for the tests of a module that take one as they find it."""
    loaded = LoadedLab(chromium, extended_lab, viewport=LAB_VIEWPORT)
    yield loaded
    loaded.close()


@pytest.fixture
def lab_notebook(request: pytest.FixtureRequest, loaded_lab: LoadedLab) -> Iterator[LabPage]:
    """A new notebook with a kernel of its own, in the page of the module."""
    yield loaded_lab.open_notebook()
    if request.node.stash.get(FAILED, False):
        loaded_lab.close()


@pytest.fixture
def shared_notebook(request: pytest.FixtureRequest, loaded_lab: LoadedLab) -> Iterator[LabPage]:
    """The notebook and the kernel of the module, for tests that take both as they find them."""
    yield loaded_lab.share_notebook()
    if request.node.stash.get(FAILED, False):
        loaded_lab.close()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A fresh page, as one that was never here before opens it."""
    context = chromium.new_context(viewport=LAB_VIEWPORT)
    yield context.new_page()
    context.close()

"""A real JupyterLab, which serves Notebook 7 as well, in a real Chromium."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.lab import CHROMIUM, FLAGS, Lab, open_lab
from tests.browser.labextension import link_extension
from tests.browser.notebook import Notebook
from tests.browser.plain_page import EditorPage, open_editor_page
from tests.browser.shop import connect
from tests.conftest import Running

# A machine that others keep busy may take longer than the five seconds waited by default.
expect.set_options(timeout=15_000)
VIEWPORT: Any = {"width": 1180, "height": 1000}
# Whether a phase of a test failed.
FAILED = pytest.StashKey[bool]()
NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


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


@pytest.fixture(scope="module")
def editor_page(
    request: pytest.FixtureRequest, chromium: Browser, connection: str
) -> Iterator[EditorPage]:
    """A plain page for the tests of a module, in a context with what its `CONTEXT` says."""
    context = chromium.new_context(
        **{"viewport": VIEWPORT, **getattr(request.module, "CONTEXT", {})}
    )
    with open_editor_page(context.new_page()) as opened:
        opened.run(connection)
        yield opened
    context.close()


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
    opened: Notebook = request.getfixturevalue("lab_page" if in_lab else "editor_page")
    if in_lab:
        opened.run(connection)
    opened.complaints.clear()
    yield opened
    if request.node.stash.get(FAILED, False):
        # A drag that did not end would take every click of the tests that follow.
        opened.page.mouse.up()
        opened.page.keyboard.press("Escape")


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A fresh page, as one that was never here before opens it."""
    context = chromium.new_context(viewport={"width": 1200, "height": 900})
    yield context.new_page()
    context.close()

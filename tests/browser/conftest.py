"""A real JupyterLab, which serves Notebook 7 as well, in a real Chromium."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.lab import CHROMIUM, FLAGS, Lab, open_lab
from tests.browser.labextension import link_extension

# A machine that others keep busy may take longer than the five seconds waited by default.
expect.set_options(timeout=15_000)
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


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A fresh page, as one that was never here before opens it."""
    context = chromium.new_context(viewport={"width": 1200, "height": 900})
    yield context.new_page()
    context.close()

"""A real JupyterLab, which serves Notebook 7 as well, in a real Chromium."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# Chromium as root and without a network it may reach.
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
]  # fmt: skip


class Lab(NamedTuple):
    """A running JupyterLab and the folder it serves."""

    url: str
    folder: Path


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab on a copy of the tutorials, with a home of its own."""
    home = tmp_path_factory.mktemp("home")
    folder = tmp_path_factory.mktemp("lab")
    for path in [*NOTEBOOKS.glob("*.py"), *NOTEBOOKS.glob("*.ipynb")]:
        shutil.copy(path, folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = home / "settings"
    _switch_off_news(settings)
    process = subprocess.Popen(
        [
            sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}",
            "--ServerApp.port_retries=0", "--IdentityProvider.token=", "--expose-app-in-browser",
            "--JupyterNotebookApp.expose_app_in_browser=True",
            f"--ServerApp.root_dir={folder}", f"--LabApp.user_settings_dir={settings}",
        ],
        env={
            **os.environ, "HOME": str(home), "JUPYTER_CONFIG_DIR": str(home / "config"),
            "XDG_DATA_HOME": str(home / "data"), "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_until_up(url, process)
        yield Lab(url, folder)
    finally:
        process.terminate()
        process.wait(20)


def _switch_off_news(settings: Path) -> None:
    """Without an answer JupyterLab asks whether it may fetch news, over the page."""
    folder = settings / "@jupyterlab" / "apputils-extension"
    folder.mkdir(parents=True)
    news = {"fetchNews": "false", "checkForUpdates": False}
    (folder / "notification.jupyterlab-settings").write_text(json.dumps(news))


def _wait_until_up(url: str, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if process.poll() is not None:
            pytest.fail(f"JupyterLab ended with status {process.returncode}")
        try:
            with urllib.request.urlopen(f"{url}/api/status", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail("JupyterLab does not answer")


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

"""A marimo process that shows a notebook as an application, and exports of notebooks."""

from __future__ import annotations

import mimetypes
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import distribution
from pathlib import Path

from playwright.sync_api import Page, Route

from tests.browser.lab import find_free_port
from tests.first_minutes.processes import user_environment

ASSETS = Path(str(distribution("marimo").locate_file("marimo/_static/assets")))
START_SECONDS = 60


@contextmanager
def open_marimo(notebook: Path, home: Path) -> Iterator[str]:
    """Run a notebook as an application, with a home of its own; yield its address."""
    port = find_free_port()
    command = [sys.executable, "-m", "marimo", "run", "--headless", "--no-token", "--port"]
    process = subprocess.Popen(
        [*command, str(port), str(notebook)],
        cwd=home, env=user_environment(home), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        _wait_until_up(f"http://127.0.0.1:{port}", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


def export_html(notebook: Path, target: Path, home: Path) -> None:
    """Run a notebook and write it as a page, as `marimo export html` does."""
    command = [sys.executable, "-m", "marimo", "export", "html", str(notebook), "-o", str(target)]
    done = subprocess.run(
        command, cwd=home, env=user_environment(home), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def serve_assets(page: Page) -> None:
    """Answer the requests of an exported page for marimo's modules from the installed package."""

    def answer(route: Route) -> None:
        path = ASSETS / route.request.url.rpartition("/assets/")[2]
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        headers = {"Access-Control-Allow-Origin": "*", "Content-Type": kind}
        route.fulfill(body=path.read_bytes(), headers=headers)

    page.route("**/@marimo-team/frontend*/dist/assets/**", answer)


def _wait_until_up(url: str, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        if process.poll() is not None:
            raise RuntimeError(f"marimo ended with status {process.returncode}")
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError("marimo does not answer")

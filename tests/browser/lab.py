"""A JupyterLab process, which serves Notebook 7 too, and the browser that opens it."""

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
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

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


@contextmanager
def open_lab(
    home: Path, folder: Path, *, python: str = sys.executable, **variables: str
) -> Iterator[Lab]:
    """Run JupyterLab on a folder, with a home and settings of its own."""
    port = find_free_port()
    process = _start(home, folder, port, python, variables)
    try:
        _wait_until_up(f"http://127.0.0.1:{port}", process)
        yield Lab(f"http://127.0.0.1:{port}", folder)
    finally:
        process.terminate()
        process.wait(20)


def find_free_port() -> int:
    """Return a port on which nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _start(
    home: Path, folder: Path, port: int, python: str, variables: dict[str, str]
) -> subprocess.Popen[bytes]:
    settings = home / "settings"
    _write_settings(settings)
    return subprocess.Popen(
        [
            python, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}",
            "--ServerApp.port_retries=0", "--IdentityProvider.token=", "--expose-app-in-browser",
            "--JupyterNotebookApp.expose_app_in_browser=True",
            f"--ServerApp.root_dir={folder}", f"--LabApp.user_settings_dir={settings}",
        ],
        env={
            **os.environ, "HOME": str(home), "JUPYTER_CONFIG_DIR": str(home / "config"),
            "XDG_DATA_HOME": str(home / "data"), "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
            **variables,
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip


def _write_settings(settings: Path) -> None:
    """Prevent dialogs over the page: one about news, one about a file that was saved twice."""
    values: dict[str, dict[str, Any]] = {
        "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
        "docmanager-extension/plugin": {"autosave": False, "lastModifiedCheckMargin": 600_000},
    }
    for name, members in values.items():
        path = settings / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(members))


def _wait_until_up(url: str, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if process.poll() is not None:
            raise RuntimeError(f"JupyterLab ended with status {process.returncode}")
        try:
            with urllib.request.urlopen(f"{url}/api/status", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError("JupyterLab does not answer")

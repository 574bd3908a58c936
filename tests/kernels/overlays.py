"""Other versions of a package, put before the installed ones on the path of a Python."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import NoReturn

import pytest

NO_NETWORK = ("Temporary failure in name resolution", "Network is unreachable", "NewConnection")


def put_before(cache: pytest.Cache, package: str, release: str, *beside: str) -> list[str]:
    """Return folders to put before the path, so that `package` is of a release such as `6`.

    None if what is installed is of that release. `beside` are packages it needs that others,
    installed here, may not.
    """
    if version(package).startswith(f"{release}."):
        return []
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    folder = cache.mkdir("overlays") / f"{package}-{release}-{python}"
    if not folder.exists():
        _install(folder, f"{package}=={release}.*", *beside)
    return [str(folder)]


def _install(folder: Path, *packages: str) -> None:
    beside = folder.with_name(f"{folder.name}-{os.getpid()}")
    options = ["--quiet", "--no-deps", "--disable-pip-version-check", f"--target={beside}"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, *packages],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and any(words in done.stderr for words in NO_NETWORK):
        shutil.rmtree(beside, ignore_errors=True)
        _give_up("the package index cannot be reached")
    assert done.returncode == 0, done.stderr
    beside.rename(folder)


def _give_up(reason: str) -> NoReturn:
    """Skip where somebody works without it; what CI lacks is a failure."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)

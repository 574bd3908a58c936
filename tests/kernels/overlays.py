"""Other versions of a package, placed before the installed ones on Python's path."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.installation import give_up, install_once

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
    packages = (f"{package}=={release}.*", *beside)
    return [str(install_once(folder, partial(install_alone, packages)))]


def install_alone(packages: Sequence[str], folder: Path) -> None:
    """Install packages, without those that they need, into a folder."""
    run_pip("install", f"--target={folder}", *packages)


def run_pip(action: str, *arguments: str) -> None:
    """Run pip on packages alone; skips where the index cannot be reached, but fails in CI."""
    options = ["--quiet", "--no-deps", "--disable-pip-version-check"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", action, *options, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and any(words in done.stderr for words in NO_NETWORK):
        give_up("the package index cannot be reached")
    assert done.returncode == 0, done.stderr

"""Packages that tests install from registries: cached as a whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest


def install_once(folder: Path, install: Callable[[Path], None]) -> Path:
    """Let `install` fill a folder that is not there yet; of two at once one is kept."""
    beside = folder.with_name(f"{folder.name}-{os.getpid()}")
    try:
        if not folder.exists():
            install(beside)
            _keep(beside, folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return folder


def _keep(beside: Path, folder: Path) -> None:
    try:
        beside.rename(folder)
    except OSError:
        if not folder.exists():
            raise


def give_up(reason: str) -> NoReturn:
    """Skip where somebody works without it; what CI lacks is a failure."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)

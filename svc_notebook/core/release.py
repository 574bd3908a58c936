"""Release of this package as its installation states it."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version

UNKNOWN_VERSION = "0+unknown"


@cache
def read_version() -> str:
    """Return the installed version of this package, or `0+unknown` without an installation."""
    try:
        return version("svc-notebook")
    except PackageNotFoundError:
        return UNKNOWN_VERSION

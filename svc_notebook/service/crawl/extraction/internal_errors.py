"""Distinguish errors in this package's code from errors caused by broken files."""

from __future__ import annotations

import traceback
from pathlib import Path

PACKAGE = Path(__file__).parents[3]


def own_place(error: BaseException) -> str:
    """Return the location of an error raised in this package, empty if a library raised it.

    Libraries raise many kinds of errors for broken files. An unexpected error from this package's
    code is a bug and must not be reported as a fault of the page.
    """
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or not Path(frames[-1].filename).is_relative_to(PACKAGE):
        return ""
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})"

"""Distinguish errors in this package's code from errors caused by broken files."""

from __future__ import annotations

import traceback
from pathlib import Path

PACKAGE = Path(__file__).parents[3]


def own_place(error: BaseException) -> str:
    """Return where in our own code an error was raised; empty, where a library raised it.

    Libraries fail in many ways over a broken file; what our own code raises unawares is a fault of
    ours, and must not be told of the page.
    """
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or not Path(frames[-1].filename).is_relative_to(PACKAGE):
        return ""
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})"

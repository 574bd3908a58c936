"""The source of an extractor, as the engine takes it, and places in it as people count them."""

from __future__ import annotations

import re

# How a function reads that was a method of the configuration.
METHOD = re.compile(r"\s*(?:async\s+)?(recordExtractor|linkExtractor)\s*\(")
NAME = "recordExtractor"
COMPLAINT = re.compile(r"(?:<anonymous>|recordExtractor):(\d+): (.*)\n(.*)\n( *)\^")


def wrap(source: str) -> str:
    """Make an expression of a function's source that stands in the same lines."""
    source = source.rstrip().removesuffix(";")
    method = METHOD.match(source)
    before, after = ("({", f"\n}}).{method[1]}") if method else ("(", "\n)")
    return f"{before}{source}{after}\n//# sourceURL={NAME}"


def locate(complaint: str) -> str:
    """Say what the engine says, with the line and column of the source."""
    found = COMPLAINT.match(complaint)
    if found is None:
        return complaint.strip().splitlines()[0].removeprefix(f"{NAME}:")
    line, said, code, space = found.groups()
    if code.startswith((")", "})", "//# sourceURL")):
        return f"{said} (at its end)"
    ours = 1 if line == "1" else 0
    return f"{said} (line {line}, column {len(space) + 1 - ours})"

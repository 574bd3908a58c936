"""The modules of the package and their syntax trees, for tests that read code."""

from __future__ import annotations

import ast
import gc
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "svc_notebook"
MODULES = sorted(PACKAGE.rglob("*.py"))


@cache
def parse(path: Path) -> ast.Module:
    """Return the syntax tree of a file.

    The garbage collector would traverse the trees that are there again and again, which takes four
    times as long as parsing.
    """
    gc.disable()
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    finally:
        gc.enable()

"""Expressions in braces: names with attributes, indices and calls, and calculations with them."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

MAX_EXPRESSION_CHARACTERS = 200
EXPRESSION_START = re.compile(r"\{(?=[^\W\d])")
_ALLOWED = (
    ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.UnaryOp, ast.Constant,
    ast.Slice, ast.Tuple, ast.List, ast.keyword, ast.operator, ast.unaryop, ast.expr_context,
    ast.Compare, ast.cmpop,
)  # fmt: skip
_TOP = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp)


class EmbeddedExpression(NamedTuple):
    """An expression in a text, with its position; a literal one has only its braces removed."""

    start: int
    end: int
    code: str
    is_literal: bool = False


def expression_at(text: str, start: int) -> EmbeddedExpression | None:
    """Return the shortest expression in braces that begins here; None for other braces."""
    end = start
    while 0 <= (end := text.find("}", end + 1)) <= start + MAX_EXPRESSION_CHARACTERS:
        code = text[start + 1 : end]
        if "\n" in code:
            return None
        if _is_expression(code):
            if text[start - 1 : start] == "{" and text[end + 1 : end + 2] == "}":
                return EmbeddedExpression(start - 1, end + 2, f"{{{code}}}", is_literal=True)
            return EmbeddedExpression(start, end + 1, code)
    return None


def _is_expression(code: str) -> bool:
    try:
        body = ast.parse(code, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return isinstance(body, _TOP) and all(isinstance(node, _ALLOWED) for node in ast.walk(body))

"""The tokenizer of a `%svc` line: quotes group words, JSON stays whole, nothing is expanded."""

from __future__ import annotations

import ast
import json
import re
from typing import NamedTuple

from svc_notebook.errors import BadOption

_BLANKS = re.compile(r"\s*")
_BARE = re.compile(r"\S+")
_NAMED = re.compile(r"--[\w-]+=")
_CLOSED = {
    '"': re.compile(r'"((?:[^"\\]|\\.)*)"(?=\s|$)', re.S),
    "'": re.compile(r"'([^']*)'(?=\s|$)"),
}
_CLOSING = {"[": "]", "{": "}"}
_ESCAPE = re.compile(r'\\(["\\])')
_JSON = json.JSONDecoder()

MAX_EXPRESSION_CHARACTERS = 200
EXPRESSION_START = re.compile(r"\{(?=[^\W\d])")
_ALLOWED = (
    ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.UnaryOp, ast.Constant,
    ast.Slice, ast.Tuple, ast.List, ast.keyword, ast.operator, ast.unaryop, ast.expr_context,
    ast.Compare, ast.cmpop,
)  # fmt: skip
_TOP = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp)


class Word(NamedTuple):
    """One word, and its position in the line."""

    text: str
    start: int
    end: int


def split_line(line: str) -> list[Word]:
    """Split a line into words.

    A quote opens at the start of a word or after `--name=`, so that `men's` is one word. A word
    that starts with `{` or `[` extends to the end of its JSON.
    """
    words = []
    at = _skip(line, 0)
    while at < len(line):
        word = _next_word(line, at)
        words.append(word)
        at = _skip(line, word.end)
    return words


def split_typed(line: str) -> tuple[list[Word], Word]:
    """Split an incomplete line: the words before, and the last one, which can be empty."""
    words: list[Word] = []
    at = _skip(line, 0)
    while at < len(line):
        try:
            words.append(_next_word(line, at))
        except BadOption:
            return words, Word(line[at:], at, len(line))
        if _is_open_json(line, words[-1]):
            return words[:-1], Word(line[at:], at, len(line))
        at = _skip(line, words[-1].end)
    if words and words[-1].end == len(line):
        last = words.pop()
        return words, last._replace(text=line[last.start :])
    return words, Word("", len(line), len(line))


def quote_word(text: str) -> str:
    """Quote a word so that `split_line` reads it back."""
    if text and _BARE.fullmatch(text) and text[0] not in "\"'[{":
        return text
    if "'" not in text:
        return f"'{text}'"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _skip(line: str, at: int) -> int:
    blanks = _BLANKS.match(line, at)
    return blanks.end() if blanks else at


def _next_word(line: str, start: int) -> Word:
    named = _NAMED.match(line, start)
    at = named.end() if named else start
    text, end = _read_value(line, at)
    return Word((named[0] if named else "") + text, start, end)


def _read_value(line: str, at: int) -> tuple[str, int]:
    opening = line[at : at + 1]
    if opening in _CLOSED:
        return _read_quoted(line, at, opening)
    if opening in _CLOSING and (end := _end_of_json(line, at)):
        return line[at:end], end
    end = _end_of_bare(line, at)
    return line[at:end], end


def _end_of_bare(line: str, at: int) -> int:
    """Return the end of a bare word; blanks inside of an expression in braces belong to it."""
    while at < len(line) and not line[at].isspace():
        expression = expression_at(line, at) if line[at] == "{" else None
        at = expression.end if expression else at + 1
    return at


def _read_quoted(line: str, at: int, opening: str) -> tuple[str, int]:
    quoted = _CLOSED[opening].match(line, at)
    if not quoted:
        raise BadOption(f"the quote opened at column {at + 1} is not closed: {line[at : at + 30]}")
    text = _ESCAPE.sub(r"\1", quoted[1]) if opening == '"' else quoted[1]
    return text, quoted.end()


def _is_open_json(line: str, word: Word) -> bool:
    value = _NAMED.sub("", word.text, count=1)
    rest = line[word.start :]
    opening = value[:1]
    return opening in _CLOSING and rest.count(opening) > rest.count(_CLOSING[opening])


def _end_of_json(line: str, at: int) -> int | None:
    try:
        _, end = _JSON.raw_decode(line, at)
    except (ValueError, RecursionError):
        return None
    return end if end == len(line) or line[end].isspace() else None


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

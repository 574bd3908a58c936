"""Filters as SQL, pandas and other search tools write them, in the syntax of the API.

The text is read as an expression with SQL's precedence, and written as groups of alternatives that
must all match, because in the API `OR` binds tighter than `AND`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

MAX_TERMS = 100
_TOKEN = re.compile(
    r"""\s*(?:
    (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.|'')*')
    |(?P<call>\.(?:isin|between|eq|ne|gt|ge|lt|le|str\.contains|str\.startswith)(?=\s*\())
    |(?P<op>:(?:<=|>=|=|<|>)|[!=]=+|<>|<=|>=|:|=|<|>|~)
    |(?P<mark>&&|\|\||[&|!()\[\],{}`])
    |(?P<word>[$€£]\d[\d,]*(?:\.\d+)?
        |[^\s()\[\],{}`:=<>!&|~"']+?(?=\.(?:isin|between|eq|ne|gt|ge|lt|le|str\.\w+)\s*\()
        |[^\s()\[\],{}`:=<>!&|~"']+)
    )""",
    re.X,
)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_MONEY = re.compile(r"[$€£¥]?\s*([+-]?\d[\d,]*(?:\.\d+)?)\s*(?:[$€£¥%]|eur|usd|gbp)?", re.I)
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?)?")
_SPAN = re.compile(r"([+-]?[\d.]*\d)\s*\.\.\.?\s*([+-]?\d[\d.]*)")
_FRAME = re.compile(
    r"""\b(?:df|frame|row|hits?|doc|record|self)(?:\.(?=\w)|\[\s*(["'])(.+?)\1\s*\])"""
)
_BARE = re.compile(r"[\w.+/%@#$€-]*[\w.+/%@#$€]")
_KEYWORDS = ("AND", "OR", "NOT", "TO")
_AND, _OR, _NOT = ("AND", "&&", "&"), ("OR", "||", "|"), ("NOT", "!")
_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}
_OPPOSITE = {"<": ">=", ">": "<=", "<=": ">", ">=": "<"}
_OPERATORS = {"==": "=", "===": "=", "<>": "!=", "!==": "!=", ":=": "=", "~": ":"}
_CALLS = {".eq": "=", ".ne": "!=", ".gt": ">", ".ge": ">=", ".lt": "<", ".le": "<="}


@dataclass(frozen=True)
class _Term:
    """A condition on one attribute; `high` is the end of a range."""

    name: str
    op: str
    value: str
    negated: bool = False
    high: str = ""


# Groups that must all match; of each, one term.
_Groups = list[list[_Term]]


class _Unreadable(Exception):
    """The text cannot be parsed as conditions."""


def suggest_filter(filters: Any) -> str:
    """Return a filter in the syntax of the API that means the same; empty if none is known."""
    try:
        groups = _read(filters)
    except _Unreadable:
        return ""
    if not groups or sum(map(len, groups)) > MAX_TERMS or any(map(_is_mixed, groups)):
        return ""
    written = " AND ".join(map(_write_group, groups))
    return "" if written == filters else written


def _is_mixed(group: list[_Term]) -> bool:
    """Return whether alternatives are filters of facets and of numbers, which `OR` cannot join."""
    return len({term.op == ":" and not term.high for term in group}) > 1


def explain_ineffective(filters: Any) -> Iterator[tuple[str, str]]:
    """Yield attributes with the reason why a valid filter does not mean what it looks like."""
    if not isinstance(filters, str):
        return
    if filters.strip().casefold() in ("true", "false", "1=1", "*"):
        yield (
            filters.strip(),
            (
                f"`{filters.strip()}` alone is a tag: it matches records with it in `_tags`; "
                "omit the filter to match all records"
            ),
        )
    for term in re.finditer(r"(?<!\S)-([A-Za-z_][\w.]*):(\S+)", filters):
        yield f"-{term[1]}", f"`{term[0]}` excludes nothing; write NOT {term[1]}:{term[2]}"
    for term in re.finditer(r"(?<![\w.])([A-Za-z_][\w.]*):(\*|\S*\*)(?=[\s)]|$)", filters):
        yield (
            term[1],
            (
                f"`{term[0]}` matches the value {term[2]!r} alone, as `*` is no wildcard; "
                "a filter matches whole values"
            ),
        )


def _read(filters: Any) -> _Groups:
    if isinstance(filters, Mapping):
        return [_read_member(str(name), value) for name, value in filters.items()]
    if isinstance(filters, (list, tuple)):
        parts = [" OR ".join(map(str, p)) if isinstance(p, list) else str(p) for p in filters]
        return [group for part in parts for group in _Reader(part).read()]
    if not isinstance(filters, str):
        raise _Unreadable
    return _read_text(filters.strip())


def _read_text(text: str) -> _Groups:
    if text[:1] == "[" and text[-1:] == "]":
        try:
            return _read(json.loads(text.replace("'", '"')))
        except ValueError:
            raise _Unreadable from None
    return _Reader(text).read()


def _read_member(name: str, value: Any) -> list[_Term]:
    return [_equal(name, item) for item in (value if isinstance(value, list) else [value])]


def _equal(name: str, value: Any) -> _Term:
    is_flag = isinstance(value, bool)
    is_number = isinstance(value, (int, float)) and not is_flag
    text = str(value).lower() if is_flag else str(value)
    return _Term(name, "=" if is_number else ":", text)


class _Reader:
    """A recursive descent parser of conditions."""

    def __init__(self, text: str) -> None:
        text = _FRAME.sub(lambda match: match[2] or "", text)
        self._tokens = [*_tokens(re.sub(r"^\s*where\s+", "", text, flags=re.I))]
        self._at = 0

    def read(self) -> _Groups:
        groups = self._any()
        if self._at < len(self._tokens):
            raise _Unreadable
        return groups

    def _any(self) -> _Groups:
        groups = self._all()
        while self._take(*_OR):
            groups = _either(groups, self._all())
        return groups

    def _all(self) -> _Groups:
        groups = self._one()
        while self._take(*_AND) or self._take(",") or self._begins():
            groups = [*groups, *self._one()]
        return groups

    def _begins(self) -> bool:
        """Return whether another condition follows without a word between."""
        return self._peek() not in ("", ")", "]", ",") and not self._is(*_OR)

    def _one(self) -> _Groups:
        if self._take(*_NOT):
            return _negate(self._one())
        if self._peek() == "(" and not self._is_list():
            self._take("(")
            groups = self._any()
            self._expect(")")
            return groups
        return self._condition()

    def _is_list(self) -> bool:
        return self._at > 0 and self._tokens[self._at - 1][0] == "call"

    def _condition(self) -> _Groups:
        kind, name = self._attribute()
        if kind == "word" and name[:1] == "-" and not _NUMBER.fullmatch(name):
            self._tokens[self._at - 1] = (kind, name[1:])
            self._at -= 1
            return _negate(self._condition())
        if _NUMBER.fullmatch(name) and self._kind() == "op":
            return self._reversed(name)
        if self._take("NOT"):
            return _negate(self._comparison(name))
        if self._take("IS"):
            return self._identity(name)
        return self._comparison(name)

    def _attribute(self) -> tuple[str, str]:
        """Read the name of an attribute, which can be between backticks."""
        kind, name = self._next()
        if (kind, name) == ("mark", "`"):
            kind, name = self._next()
            self._expect("`")
        if kind not in ("word", "text"):
            raise _Unreadable
        return kind, name

    def _identity(self, name: str) -> _Groups:
        """Read what follows `IS`: a value, or `NOT` and a value."""
        negated = self._take("NOT")
        if self._take("NULL", "NONE", "EMPTY"):
            raise _Unreadable
        return [[replace(_equality(name, "=", self._value()), negated=negated)]]

    def _reversed(self, low: str) -> _Groups:
        """Read `10 < price` and `10 <= price <= 20`."""
        first = self._operator()
        name = self._next()[1]
        if self._kind() != "op":
            return [[_Term(name, _FLIPPED.get(first, first), low)]]
        second, high = self._operator(), self._value()
        if (first, second) == ("<=", "<="):
            return [[_Term(name, ":", low, high=high)]]
        return [[_Term(name, _FLIPPED.get(first, first), low)], [_Term(name, second, high)]]

    def _comparison(self, name: str) -> _Groups:
        kind, word = self._kind(), self._peek().upper()
        if kind == "call":
            return self._call(name)
        if kind == "op":
            return self._operation(name)
        if word == "IN":
            self._next()
            return [[_equality(name, "=", value) for value in self._list()]]
        if word == "BETWEEN":
            self._next()
            return self._range(name)
        if word in ("LIKE", "ILIKE", "CONTAINS", "STARTSWITH", "MATCHES"):
            self._next()
            return [[_Term(name, ":", self._value().strip("%*"))]]
        if _NUMBER.fullmatch(word) and self._peek(1).upper() == "TO":
            return self._range(name)
        raise _Unreadable

    def _operation(self, name: str) -> _Groups:
        """Read an operator and its value, values or range."""
        op = self._operator()
        if self._peek() in ("[", "{") or (self._peek() == "(" and op in (":", "=", "!=")):
            return self._values(name, op)
        value = self._value()
        if self._is("TO"):
            self._at -= 1
            return self._range(name)
        if span := _SPAN.fullmatch(value):
            return [[_Term(name, ":", span[1], high=span[2])]]
        return [[_equality(name, op, value)]]

    def _values(self, name: str, op: str) -> _Groups:
        """Read what follows an operator in brackets: a list, or a range."""
        start = self._at
        self._next()
        if self._peek(1).upper() == "TO" or self._peek(1) == ",":
            first = self._value()
            if self._take("TO"):
                high = self._value()
                self._next()
                return [[_Term(name, ":", _number(first), high=_number(high))]]
        if span := _SPAN.fullmatch(self._peek()):
            self._next()
            self._next()
            return [[_Term(name, ":", span[1], high=span[2])]]
        self._at = start
        groups = [[_equality(name, "=" if op == "!=" else op, v) for v in self._list()]]
        return _negate(groups) if op == "!=" else groups

    def _call(self, name: str) -> _Groups:
        called = self._next()[1]
        values = self._list()
        if called == ".between" and len(values) > 1:
            return [[_Term(name, ":", _number(values[0]), high=_number(values[1]))]]
        if called in _CALLS:
            return [[_equality(name, _CALLS[called], values[0])]]
        return [[_equality(name, "=", value) for value in values]]

    def _range(self, name: str) -> _Groups:
        low = self._value()
        if not (self._take("AND") or self._take("TO") or self._take(",")):
            raise _Unreadable
        return [[_Term(name, ":", _number(low), high=_number(self._value()))]]

    def _list(self) -> list[str]:
        """Read the values in brackets, separated by commas or OR; brackets can be doubled."""
        opened = 0
        while self._peek() in ("(", "[", "{"):
            self._next()
            opened += 1
        values = [self._value()] if opened else []
        while self._take(",") or self._take(*_OR):
            values.append(self._value())
        for _ in range(opened):
            if self._next()[1] not in (")", "]", "}"):
                raise _Unreadable
        if not values:
            raise _Unreadable
        return values

    def _value(self) -> str:
        """Read a value; bare words that no condition can begin with belong to it."""
        kind, value = self._next()
        if kind == "text":
            return value
        if kind != "word":
            raise _Unreadable
        while self._kind() == "word" and not self._is(*_AND, *_OR, *_NOT, "TO", "IN", "BETWEEN"):
            following = self._tokens[self._at + 1 : self._at + 2]
            if following and (following[0][0] in ("op", "call") or following[0][1] == "("):
                break
            if following and following[0][1].upper() in ("IN", "BETWEEN", "LIKE", "IS"):
                break
            value = f"{value} {self._next()[1]}"
        return value

    def _operator(self) -> str:
        kind, op = self._next()
        if kind != "op":
            raise _Unreadable
        op = op.removeprefix(":") or ":"
        return _OPERATORS.get(op, op)

    def _kind(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._tokens[at][1] if at < len(self._tokens) else ""

    def _is(self, *words: str) -> bool:
        return self._kind() in ("word", "mark") and self._peek().upper() in words

    def _take(self, *words: str) -> bool:
        if self._is(*words):
            self._at += 1
            return True
        return False

    def _expect(self, mark: str) -> None:
        if not self._take(mark):
            raise _Unreadable

    def _next(self) -> tuple[str, str]:
        if self._at == len(self._tokens):
            raise _Unreadable
        self._at += 1
        return self._tokens[self._at - 1]


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if not match:
            raise _Unreadable
        at = match.end()
        kind = match.lastgroup or ""
        value = match[kind]
        if kind == "text":
            quote = value[0]
            value = re.sub(r"\\(.)", r"\1", value[1:-1].replace(quote * 2, quote))
        yield kind, value


def _number(text: str) -> str:
    """Return the number in a text such as `50€` or `$1,200`, else the text."""
    match = _MONEY.fullmatch(text.strip())
    return match[1].replace(",", "") if match else text


def _equality(name: str, op: str, value: str) -> _Term:
    """Return a comparison of numbers, or the filter by a value that is meant by `=`."""
    number = _number(value)
    is_number = bool(_NUMBER.fullmatch(number))
    if op in ("<", ">", "<=", ">="):
        return _Term(name, op, number)
    if op in ("=", "!=") and is_number:
        return _Term(name, op, number)
    flag = value.lower() if value.casefold() in ("true", "false") else value
    return _Term(name, ":", flag, negated=op == "!=")


def _negate(groups: _Groups) -> _Groups:
    """Return the opposite: of each group, all terms are false, for one of the groups."""
    opposite: _Groups = []
    for group in groups:
        terms = [[_opposite(term)] for term in group]
        opposite = terms if not opposite else _either(opposite, terms)
    return opposite


def _opposite(term: _Term) -> _Term:
    if term.op in _OPPOSITE:
        return replace(term, op=_OPPOSITE[term.op])
    if term.op in ("=", "!="):
        return replace(term, op="!=" if term.op == "=" else "=")
    return replace(term, negated=not term.negated)


def _either(first: _Groups, second: _Groups) -> _Groups:
    if len(first) * len(second) > MAX_TERMS:
        raise _Unreadable
    return [[*left, *other] for left in first for other in second]


def _write_group(group: list[_Term]) -> str:
    terms = list(dict.fromkeys(map(_write_term, group)))
    return terms[0] if len(terms) == 1 else f"({' OR '.join(terms)})"


def _write_term(term: _Term) -> str:
    name, negation = _quoted(term.name), "NOT " if term.negated else ""
    if term.high:
        return f"{negation}{name}:{_seconds(term.value)} TO {_seconds(term.high)}"
    if term.op == ":":
        return f"{negation}{name}:{_quoted(term.value)}"
    return f"{negation}{name} {term.op} {_seconds(term.value)}"


def _seconds(value: str) -> str:
    """Return a number, or the Unix time of a date."""
    if not _DATE.fullmatch(value):
        return value
    try:
        at = datetime.fromisoformat(value.replace("Z", "+00:00"))
    except ValueError:
        return value
    return f"{(at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp():.0f}"


def _quoted(text: str) -> str:
    if _BARE.fullmatch(text) and text.upper() not in _KEYWORDS:
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

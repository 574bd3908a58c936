"""The parser of the `filters` parameter: text to terms, with errors that show the position.

```
filter := group (AND group)*
group  := member (OR member)*
member := term | '(' group ')'
term   := [NOT] atom
atom   := name ':' value ['<score=' integer '>']
        | name ':' number TO number
        | name ('<' | '<=' | '=' | '!=' | '>' | '>=') number
        | value ['<score=' integer '>']                       a tag
```

Names and values are bare or in single or double quotes; inside quotes a backslash escapes the next
character. OR binds tighter than AND.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple, NoReturn

from svc_notebook.errors import BadInput

# Maximum terms of all filters of one search together.
MAX_FILTER_TERMS = 10_000
# Maximum terms of the optional filters of one search.
MAX_OPTIONAL_TERMS = 1_000
KEYWORDS = frozenset({"AND", "OR", "NOT"})
TAGS = "_tags"
_PLAIN = re.compile(r"\w[\w.-]*")


class Facet(NamedTuple):
    """An attribute has this value; `true`, `false` and numbers match by their text."""

    attribute: str
    value: str
    negated: bool = False
    score: int = 1


class Numeric(NamedTuple):
    """A numeric attribute compares with a number; `operator` is < <= = != > or >=."""

    attribute: str
    operator: str
    number: float
    negated: bool = False


class Between(NamedTuple):
    """A number of an attribute is in the range, both ends included."""

    attribute: str
    low: float
    high: float
    negated: bool = False


class Tag(NamedTuple):
    """The `_tags` of a record contain this value."""

    value: str
    negated: bool = False
    score: int = 1


Term = Facet | Numeric | Between | Tag
Group = tuple[Term, ...]
Filter = tuple[Group, ...]
KINDS: dict[type[Term], str] = {
    Facet: "facet",
    Numeric: "numeric",
    Between: "numeric",
    Tag: "tag",
}
MAX_NESTING = 20
MAX_SCORE = 65535
QUOTED = re.compile(r""""([^"\\]*(?:\\.[^"\\]*)*)"|'([^'\\]*(?:\\.[^'\\]*)*)'""", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_END = r"(?=[\s()]|$)"
_SPACE = re.compile(r"\s*")
_NAME = re.compile(r"""[^\s():<>=!"'](?:[^\s():<>=!]|!(?!=))*""")
_VALUE = re.compile(r"""(?!["'])[^\s()]+?(?=<score=|[\s()]|$)""")
_OPERATOR = re.compile(r"\s*([<>]=?|!?=)\s*(?!score=)")
_COLON = re.compile(r"\s*:\s*")
_COMPARED = re.compile(f"({_NUMBER}){_END}")
_RANGE = re.compile(rf"({_NUMBER})\s+TO\s+({_NUMBER}){_END}")
_SCORE = re.compile(r"\s*<score=\s*([0-9]+)\s*>")
_SCORE_BEGUN = re.compile(r"\s*<score=")
_KEYWORD = re.compile(r"""\s*(AND|OR|NOT|TO)(?=[\s()"']|$)\s*""")
_WORD = re.compile(r"[^\s()]+")
_ADVICE = {"and": "AND", "&&": "AND", "or": "OR", "||": "OR", "not": "NOT"}
_STRAY = {
    "(": "expected AND or OR (or quotes around parentheses)",
    ")": "this parenthesis was never opened",
}


def parse_text(text: str, where: str) -> Filter:
    """Parse a whole filter; `where` names the parameter in errors."""
    return _FilterReader(text, where).read_filter()


def parse_number(text: str, where: str) -> Numeric | Between:
    """Parse one comparison or range in the form of an item of `numericFilters`."""
    reader = _FilterReader(text, where)
    comparison = reader.read_comparison()
    reader.skip_space()
    if reader.at < len(text):
        reader.refuse("expected one comparison (use a list for several)")
    return comparison


def unquote(quoted: re.Match[str]) -> str:
    """Return the text inside a match of `QUOTED`."""
    inner = quoted[1] if quoted[1] is not None else quoted[2]
    return _ESCAPE.sub(r"\1", inner) if "\\" in inner else inner


def refuse(where: str, problem: str, text: str, at: int) -> NoReturn:
    """Raise `BadInput` about `text`, with `^` at the invalid character."""
    near = f"{text[max(0, at - 20) : at]}^{text[at : at + 12]}"
    raise BadInput(f'{where}: {problem} at character {at + 1}, near "{near}"')


class _FilterReader:
    """A recursive descent parser with its position in the text."""

    def __init__(self, text: str, where: str) -> None:
        self.text = text
        self.where = where
        self.at = 0
        self.count = 0
        self.bare_word = ""
        self.skip_space()

    def read_filter(self) -> Filter:
        if self.at == len(self.text):
            return ()
        groups = [self.read_group(0)]
        while self.take_keyword("AND"):
            groups.append(self.read_group(0))
        self.skip_space()
        if self.at < len(self.text):
            self.refuse_rest()
        return tuple(groups)

    def read_group(self, depth: int) -> Group:
        terms = [*self.read_member(depth)]
        while self.take_keyword("OR"):
            start = self.at
            terms += self.read_member(depth)
            self.check_kinds(terms[0], terms[-1], start)
        return tuple(terms)

    def read_member(self, depth: int) -> Group:
        if not self.text.startswith("(", self.at):
            return (self.read_term(),)
        opened = self.at
        if depth == MAX_NESTING:
            self.refuse("parentheses are nested too deep")
        self.at += 1
        self.skip_space()
        group = self.read_group(depth + 1)
        self.close(opened)
        return group

    def close(self, opened: int) -> None:
        self.skip_space()
        if self.text.startswith(")", self.at):
            self.at += 1
        elif self.at == len(self.text):
            self.refuse("this parenthesis is never closed", opened)
        elif self.take_keyword("AND"):
            self.refuse("AND is not allowed inside parentheses, only alternatives are,", opened)
        else:
            self.refuse_rest()

    def check_kinds(self, first: Term, last: Term, position: int) -> None:
        first_kind, other = KINDS[type(first)], KINDS[type(last)]
        if first_kind != other:
            self.refuse(f"OR cannot join a {first_kind} filter and a {other} filter", position)

    def read_term(self) -> Term:
        self.count += 1
        check_term_count(self.count, MAX_FILTER_TERMS, self.where)
        negated = self.take_keyword("NOT")
        if negated and self.text.startswith("(", self.at):
            self.refuse("NOT is not allowed before a parenthesis: negate each filter inside it,")
        start = self.at
        name = self.read_name()
        if self.take(_COLON):
            return self.read_facet(name, negated)
        if operator := self.take(_OPERATOR):
            return Numeric(name, operator[1], self.read_number(operator[1]), negated)
        self.bare_word = self.text[start : self.at]
        return Tag(name, negated, self.read_score())

    def read_name(self) -> str:
        if (quoted := self.read_quoted()) is not None:
            return quoted
        keyword = _KEYWORD.match(self.text, self.at)
        if keyword and keyword[1] != "TO":
            self.refuse(f"expected a filter before {keyword[1]}")
        name = self.take(_NAME)
        if not name:
            stray = self.text.startswith("!", self.at)
            self.refuse("expected NOT in place of '!'" if stray else "expected a filter")
        return name[0]

    def read_facet(self, name: str, negated: bool) -> Facet | Between | Tag:
        if span := self.take(_RANGE):
            return Between(name, self.to_number(span, 1), self.to_number(span, 2), negated)
        value = self.read_value()
        score = self.read_score()
        if keyword := self.peek_keyword("TO"):
            self.refuse("expected a number on each side of TO", keyword.start(1))
        return Tag(value, negated, score) if name == TAGS else Facet(name, value, negated, score)

    def read_value(self) -> str:
        if (quoted := self.read_quoted()) is not None:
            return quoted
        keyword = _KEYWORD.match(self.text, self.at)
        if keyword and keyword[1] != "TO":
            self.refuse(f"expected a value after ':' (in quotes, if it is {keyword[1]})")
        value = self.take(_VALUE)
        if not value:
            self.refuse("expected a value after ':'")
        return value[0].removeprefix("\\") if value[0].startswith("\\-") else value[0]

    def read_quoted(self) -> str | None:
        if self.text[self.at : self.at + 1] not in ("'", '"'):
            return None
        quoted = self.take(QUOTED)
        if not quoted:
            self.refuse("this quote is never closed")
        return unquote(quoted)

    def read_score(self) -> int:
        begun = _SCORE_BEGUN.match(self.text, self.at)
        if not begun:
            return 1
        score = self.take(_SCORE)
        if not score or len(score[1]) > 9 or int(score[1]) > MAX_SCORE:
            self.refuse(f"expected <score=N>, N from 0 to {MAX_SCORE},", begun.start())
        return int(score[1])

    def read_number(self, operator: str) -> float:
        number = self.take(_COMPARED)
        if not number:
            self.refuse(f"expected a number after '{operator}'")
        return self.to_number(number, 1)

    def read_comparison(self) -> Numeric | Between:
        if self.peek_keyword("NOT"):
            self.refuse("NOT is not allowed here; use the opposite comparison")
        name = self.read_name()
        if operator := self.take(_OPERATOR):
            return Numeric(name, operator[1], self.read_number(operator[1]))
        if not self.take(_COLON):
            self.refuse("expected one of < <= = != > >= :")
        span = self.take(_RANGE)
        if not span:
            self.refuse("expected a range, low TO high, after ':'")
        return Between(name, self.to_number(span, 1), self.to_number(span, 2))

    def to_number(self, match: re.Match[str], group: int) -> float:
        number = float(match[group])
        if not math.isfinite(number):
            self.refuse("this number is too large", match.start(group))
        return number

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        if match := pattern.match(self.text, self.at):
            self.at = match.end()
        return match

    def peek_keyword(self, keyword: str) -> re.Match[str] | None:
        match = _KEYWORD.match(self.text, self.at)
        return match if match and match[1] == keyword else None

    def take_keyword(self, keyword: str) -> bool:
        if match := self.peek_keyword(keyword):
            self.at = match.end()
        return match is not None

    def skip_space(self) -> None:
        self.take(_SPACE)

    def refuse_rest(self) -> NoReturn:
        word = _WORD.match(self.text, self.at)
        if advice := _ADVICE.get(self.bare_word.casefold()):
            self.refuse(f"expected {advice} for '{self.bare_word}' before this")
        if word and (advice := _ADVICE.get(word[0].casefold())) and word[0] != advice:
            self.refuse(f"expected {advice} in place of '{word[0]}'")
        self.refuse(_STRAY.get(self.text[self.at], "expected AND or OR (or quotes around spaces)"))

    def refuse(self, problem: str, at: int | None = None) -> NoReturn:
        refuse(self.where, problem, self.text, self.at if at is None else at)


def check_term_count(count: int, max_terms: int, where: str) -> None:
    """Raise for more terms than a search accepts; `where` names the parameter."""
    if count > max_terms:
        raise BadInput(
            f"{where}: more than {max_terms:,} filter terms in one search; split the search, or "
            "give the records an attribute that groups many of these values"
        )


def render(filter_: Filter) -> str:
    """Write a filter as canonical text of the parameter `filters`."""
    return " AND ".join(map(_render_group, filter_))


def _render_group(group: Group) -> str:
    joined = " OR ".join(map(_render_term, group))
    return f"({joined})" if len(group) > 1 else joined


def _render_term(term: Term) -> str:
    return ("NOT " if term.negated else "") + _render_atom(term)


def _render_atom(term: Term) -> str:
    match term:
        case Facet(attribute, value, _, score):
            return f"{_word(attribute)}:{_word(value)}{_score(score)}"
        case Tag(value, _, score):
            return f"{TAGS}:{_word(value)}{_score(score)}"
        case Numeric(attribute, operator, number):
            return f"{_word(attribute)} {operator} {_number(number)}"
        case Between(attribute, low, high):
            return f"{_word(attribute)}:{_number(low)} TO {_number(high)}"


def _word(text: str) -> str:
    if _PLAIN.fullmatch(text) and text not in KEYWORDS:
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _score(score: int) -> str:
    return "" if score == 1 else f"<score={score}>"


def _number(number: float) -> str:
    return repr(number).removesuffix(".0")

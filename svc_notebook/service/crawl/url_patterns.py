r"""URL patterns with the glob syntax of micromatch, matched against whole URLs.

`*` matches within a segment, `**` as a whole segment matches any number of segments, `?` matches
one character, `{a,b}` and `{1..3}` are alternatives, `@( ) +( ) *( ) ?( ) !( )` are groups, `[ ]`
is a character class, `\` escapes the next character, and a leading `!` excludes URLs. Only a
pattern with an explicit dot matches segments that begin with a dot. No other library implements
these rules: the glob implementations tried differ in every second test case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

import regex

from svc_notebook.errors import BadInput

MAX_PATTERN_CHARACTERS = 2000
# Seconds for a pattern and a URL that cause catastrophic backtracking; others take microseconds.
MATCH_SECONDS = 0.25
# The largest range that `{1..n}` may expand to.
MAX_RANGE_NUMBERS = 1000
# Maximum wildcards per segment that backtrack against each other.
MAX_SEGMENT_WILDCARDS = 2

_STAR = "[^/]*?"
_SPAN = r"(?:(?:(?!(?:^|/)\.).)*?)"
_NO_DOT = r"(?!\.)"
_QUANTIFIERS = {"@": "", "+": "+", "*": "*", "?": "?"}
_RANGE = re.compile(r"(-?\d+|[a-zA-Z])\.\.(-?\d+|[a-zA-Z])(?:\.\.(\d+))?")
_CLASSES = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z",
    "xdigit": "A-Fa-f0-9", "word": "A-Za-z0-9_", "punct": r"\-!\"#$%&'()*+,./:;<=>?@[\]^_`{|}~",
}  # fmt: skip


@dataclass(frozen=True)
class Patterns:
    """Patterns in order: the last one that matches a URL decides.

    If all patterns are negated, they match every URL except those they exclude. A pattern that
    times out on a URL does not match it.
    """

    written: tuple[str, ...]
    rows: tuple[tuple[bool, regex.Pattern[str]], ...]

    def match(self, url: str) -> bool:
        """Return whether the patterns together match a URL."""
        last = next(
            (negated for negated, row in reversed(self.rows) if matches_url(row, url)), None
        )
        if last is None:
            return bool(self.rows) and all(negated for negated, _ in self.rows)
        return not last


def matches_url(pattern: regex.Pattern[str], url: str) -> bool:
    """Return whether a pattern matches a URL, without blocking other threads."""
    try:
        return bool(pattern.fullmatch(url, concurrent=True, timeout=MATCH_SECONDS))
    except TimeoutError:
        return False


def read_patterns(written: Iterable[str], name: str) -> Patterns:
    """Parse patterns; raises `BadInput` with the invalid one."""
    written = tuple(written)
    return Patterns(
        written, tuple(read_pattern(text, f"{name}[{at}]") for at, text in enumerate(written))
    )


def read_pattern(text: str, name: str) -> tuple[bool, regex.Pattern[str]]:
    """Parse one pattern: whether it is negated, and its regular expression."""
    if not text.strip():
        raise BadInput(f"`{name}` is empty; use a pattern such as https://shop.test/**")
    if len(text) > MAX_PATTERN_CHARACTERS:
        raise BadInput(f"`{name}` is too long; the limit is {MAX_PATTERN_CHARACTERS} characters")
    bare = re.sub(r"^(?:!(?!\())+", "", text)
    negated = (len(text) - len(bare)) % 2 == 1
    spelled = quote(bare, safe="".join(map(chr, range(33, 127))))
    try:
        source = _Translation(spelled).whole()
        return negated, regex.compile(f"{source}|{re.escape(spelled)}")
    except (regex.error, ValueError, RecursionError, OverflowError) as error:
        raise BadInput(f"`{name}`: `{text[:80]}` cannot be read: {error}") from None


class _Translation:
    """Translates one pattern into a regular expression."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.parts: list[str] = []
        # Index of the last star if only single characters follow; count of other wildcards.
        self.star: int | None = None
        self.wildcards = 0

    def whole(self) -> str:
        self.sequence("")
        return "".join(self.parts)

    def sequence(self, stops: str) -> None:
        """Translate up to one of `stops`, or to the end."""
        while self.at < len(self.text) and self.text[self.at] not in stops:
            self.piece(self.text[self.at], stops)

    def piece(self, sign: str, stops: str) -> None:
        if sign in "@+*?!" and self.text[self.at + 1 : self.at + 2] == "(":
            self.extended(sign)
            self.star = None
            self.count_wildcard(sign in "+*!")
        elif sign in _PIECES:
            _PIECES[sign](self, stops)
            if sign not in _FIXED:
                self.star = None
        else:
            self.literal(sign)

    def literal(self, sign: str) -> None:
        if sign == "/":
            self.star, self.wildcards = None, 0
        self.parts.append(re.escape(sign))
        self.at += 1

    def escaped(self, stops: str) -> None:
        self.at += 1
        self.literal(self.text[self.at : self.at + 1] or "\\")

    def question(self, stops: str) -> None:
        self.parts.append(r"[^./]" if self.opens_segment() else "[^/]")
        self.at += 1

    def stars(self, stops: str) -> None:
        run = re.compile(r"\*+").match(self.text, self.at)
        assert run
        opens, end = self.opens_segment(), run.end()
        after = self.text[end : end + 1]
        starts = opens or self.text[self.at - 1] in "({,|"
        if run[0] == "**" and starts and (not after or after == "/" or after in stops):
            self.span(end)
            return
        self.at = end
        self.make_star_atomic()
        guard = (_NO_DOT + ("(?=.)" if len(run[0]) == 1 else "")) if opens else ""
        self.parts.append(guard + _STAR + ("" if after else "/?"))

    def make_star_atomic(self) -> None:
        """Make the previous star atomic at its first match; later ones are never better.

        Otherwise a hostile URL makes `*-*-*-x` try every way to split it.
        """
        if self.star is not None:
            self.parts[self.star :] = [f"(?>{''.join(self.parts[self.star :])})"]
        else:
            self.count_wildcard(True)
        self.star = len(self.parts)

    def count_wildcard(self, is_single: bool) -> None:
        self.wildcards += is_single
        if self.wildcards > MAX_SEGMENT_WILDCARDS:
            raise ValueError("too many wildcards and groups between two slashes")

    def span(self, end: int) -> None:
        """Translate `**` as a whole segment: any number of segments, including none."""
        self.star = None
        after_slash = self.text[self.at - 1 : self.at] == "/"
        while self.text.startswith("/**", end) and self.text[end + 3 : end + 4] in ("", "/"):
            end += 3
        followed = self.text[end : end + 1] == "/"
        self.at = end + followed
        ended = self.at == len(self.text)
        if after_slash and (followed or ended):
            self.parts.pop()
            tail = "/|/" if followed else ""
            self.parts.append(f"(?:/{_NO_DOT}{_SPAN}{tail}{'' if followed and ended else '|$'})")
        elif followed:
            self.parts.append(f"(?:^|/|{_SPAN}/)" if end == 2 else f"(?:{_SPAN}/|)")
        else:
            self.parts.append(f"{_NO_DOT}{_SPAN}/?" if ended and end == 2 else _SPAN)

    def extended(self, sign: str) -> None:
        """Translate a group with a prefix: `+(a|b)`."""
        self.at += 1
        before, body = self.wildcards, self.group()
        if sign in "+*" and re.search(r"[^\\][*+]", body):
            raise ValueError(f"a repetition within {sign}( ) can take forever; write ** instead")
        if sign != "!":
            self.parts.append(f"(?:{body}){_QUANTIFIERS[sign]}")
            return
        self.wildcards = before
        rest = self.text[self.at :]
        ended = not rest.strip(")")
        wide = _SPAN if "/" in body.replace("[^/]", "") else _STAR
        tail = "$" if ended else re.escape(rest) if re.fullmatch(r"\.[^\\/.*?{(\[]+", rest) else ""
        self.parts.append(f"(?:(?!(?:{body}){tail}){wide})")

    def group(self) -> str:
        """Translate from `(` to its `)`; returns the regular expression in between."""
        start, outer = self.at, self.parts
        self.at += 1
        self.parts, before, most = [], self.wildcards, self.wildcards
        while True:
            self.star, self.wildcards = None, before
            self.sequence("|)")
            most = max(most, self.wildcards)
            if self.at >= len(self.text):
                raise ValueError(f"the ( at {start + 1} is not closed; write \\( for itself")
            self.at += 1
            if self.text[self.at - 1] == ")":
                break
            self.parts.append("|")
        inner, self.parts, self.wildcards = "".join(self.parts), outer, most
        return inner

    def parenthesis(self, stops: str) -> None:
        look = re.compile(r"\(\?(?:[!=:]|<[!=])").match(self.text, self.at)
        if look:
            self.at = look.end() - 1
        self.parts.append(f"{look[0] if look else '(?:'}{self.group()})")

    def brackets(self, stops: str) -> None:
        match = re.compile(r"\[(\^?)(\]?(?:\[:\w+:\]|\\.|[^\]\\])*)\]").match(self.text, self.at)
        if not match:
            self.literal("[")
            return
        inner = re.sub(r"\[:(\w+):\]", lambda m: _CLASSES.get(m[1], m[0]), match[2])
        inner = re.sub(r"^\]", r"\\]", inner).replace("[", "\\[").replace("\\\\[", "\\[")
        self.at = match.end()
        ended = "/?" if self.at == len(self.text) else ""
        self.parts.append(f"[^{inner}/]{ended}" if match[1] else f"[{inner}]{ended}")

    def braces(self, stops: str) -> None:
        end = _closing(self.text, self.at)
        inner = self.text[self.at + 1 : end]
        if spelled := _spell_range(inner):
            self.at = end + 1
            self.parts.append(f"(?:{'|'.join(map(re.escape, spelled))})")
        elif _has_comma(inner):
            self.alternatives()
        else:
            start = self.at
            self.literal("{")
            self.sequence("}")
            self.check_closed(start)
            self.literal("}")

    def alternatives(self) -> None:
        outer, self.parts = self.parts, []
        before = most = self.wildcards
        start = self.at
        while self.text[self.at] != "}" or not self.parts:
            self.parts.append("|" if self.parts else "(?:")
            self.at += 1
            self.star, self.wildcards = None, before
            self.sequence(",}")
            self.check_closed(start)
            most = max(most, self.wildcards)
        self.at, self.wildcards = self.at + 1, most
        self.parts = [*outer, "".join([*self.parts, ")"])]

    def check_closed(self, start: int) -> None:
        """Refuse a brace whose closing brace is inside parentheses, as in `{a,(b})`."""
        if self.at >= len(self.text):
            raise ValueError(_unclosed(start))

    def opens_segment(self) -> bool:
        return self.at == 0 or self.text[self.at - 1] == "/"


# Pieces of fixed length: the star before them can be made atomic.
_FIXED = "*?[\\"
_PIECES = {
    "\\": _Translation.escaped,
    "*": _Translation.stars,
    "?": _Translation.question,
    "(": _Translation.parenthesis,
    "[": _Translation.brackets,
    "{": _Translation.braces,
}


def _closing(text: str, start: int) -> int:
    """Return the index of the brace that closes the one at `start`."""
    depth = 0
    for match in re.compile(r"\\.|[{}]").finditer(text, start):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.start()
    raise ValueError(_unclosed(start))


def _unclosed(start: int) -> str:
    return f"the {{ at {start + 1} is not closed; write \\{{ for itself"


def _has_comma(inner: str) -> bool:
    """Return whether there is a top-level comma between braces."""
    depth = 0
    for match in re.finditer(r"\\.|[{}(),]", inner):
        depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(match[0], 0)
        if match[0] == "," and depth == 0:
            return True
    return False


def _spell_range(inner: str) -> list[str]:
    """Expand `1..3`, `01..12`, `a..e` or `0..10..5`; empty if it is not a range."""
    match = _RANGE.fullmatch(inner)
    if not match or match[1].isalpha() != match[2].isalpha():
        return []
    ends = [ord(end) if end.isalpha() else int(end) for end in (match[1], match[2])]
    step = max(int(match[3] or 1), 1)
    if abs(ends[1] - ends[0]) // step >= MAX_RANGE_NUMBERS:
        raise ValueError(f"{{{inner}}} spells out more than {MAX_RANGE_NUMBERS} values")
    numbers = range(min(ends), max(ends) + 1, step)
    if match[1].isalpha():
        return [chr(number) for number in numbers]
    padded = any(re.match(r"-?0\d", end) for end in (match[1], match[2]))
    width = max(len(match[1]), len(match[2])) if padded else 0
    return [f"{number:0{width}d}" for number in numbers]

"""Variables in lines and bodies: `{expression}` and `$name` are values, never syntax.

An expression is a name with attributes, indices and calls, or a calculation. A word or a value that
is one expression has the type of its value. Inside other text, a value is text; in filters, it is
quoted by its type. `{{name}}` and `$$name` are literal. The error of a line that contains the name
of a variable says how to pass the variable.
"""

from __future__ import annotations

import ast
import builtins
import json
import math
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from svc_notebook.core.api.validation import check_value
from svc_notebook.errors import BadInput, BadOption, NotFound, SvcError, did_you_mean
from svc_notebook.faces.commands.name_completion import is_tool
from svc_notebook.faces.commands.tokenizer import (
    EXPRESSION_START,
    EmbeddedExpression,
    expression_at,
)
from svc_notebook.faces.commands.verb import PARAMS, Option, Verb
from svc_notebook.faces.functions.text_values import is_valid

# The environment variable that switches it off, and the values that do.
SETTING, OFF = "SVC_MAGIC_VARIABLES", ("0", "false", "no", "off")
# Members whose texts are filter expressions, in which values are quoted.
FILTERS = ("filters", "facetFilters", "optionalFilters", "numericFilters", "tagFilters")
_NAME = re.compile(r"(?<![\w$])(\$\$?)([^\W\d]\w*)")
_RANGE = re.compile(r"\s*TO\b")
_JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.S)
# The beginning of a line whose rest is one value.
_BEFORE_VALUE = re.compile(r"\s*(?:-\s+)*(?:[\w.]+\s*:\s+)?", re.S)
# A name alone, and in the syntax of a shell or IPython: $name, {name}, ${name}.
_VARIABLE = re.compile(r"\$?\{?(\w+)\}?")
# What accepts a variable in place of verbs that accept none.
ALTERNATIVES = {
    "load": "use `%svc push INDEX --from {}`",
    "restore": "use svc.tuning.restore",
    "diff": "use svc.tuning.diff",
    **{
        f"{family} import": f"use `%svc {family} save ... --from {{}}`"
        for family in ("synonyms", "rules", "dictionaries")
    },
}
Variables = Mapping[str, object]
Place = tuple[Option | None, str]


@dataclass
class Interpolation:
    """The expressions of one line and its body, evaluated with a user's variables.

    Without `evaluates`, names are checked, and nothing is evaluated.
    """

    variables: Mapping[str, object]
    evaluates: bool = True
    is_used: bool = False
    _mark: str = field(default_factory=lambda: f"svc{secrets.token_hex(8)}")
    _values: list[Any] = field(default_factory=list)

    def finds(self, text: str) -> bool:
        """Return whether a text contains expressions; raise `BadOption` for unknown names."""
        expressions = [*self._find(text)]
        for placeholder in expressions:
            if not placeholder.is_literal:
                self._check_names(placeholder.code)
        return bool(expressions)

    def is_whole(self, text: str) -> bool:
        """Return whether a text is one expression."""
        expressions = [*self._find(text)]
        return (
            len(expressions) == 1
            and expressions[0][:2] == (0, len(text))
            and not expressions[0].is_literal
        )

    def read_object(self, text: str) -> Any:
        """Return the value of a word that is one expression, as it is."""
        return self._evaluate(next(self._find(text)).code)

    def read_word(self, text: str, expected: Any, name: str, read: Any) -> Any:
        """Return the value of a word: of one expression, or of a text that contains some."""
        if self.is_whole(text):
            return _fit(self._value(next(self._find(text)).code), expected, name)
        marked = self._mark_json(text) if text[:1] in ("[", "{") else self._mark_text(text)
        return self.fill(read(marked, expected, name), name.lstrip("-"))

    def mark_body(self, body: str) -> str:
        """Replace the expressions of a body by JSON values, or by marks inside of texts."""
        if body.lstrip()[:1] in ("[", "{"):
            return self._mark_json(body)
        return "\n".join(map(self._mark_line, body.split("\n")))

    def fill(self, value: Any, member: str = "") -> Any:
        """Replace the marks in the texts of a value by the values of their expressions."""
        if isinstance(value, str):
            return self._fill_text(value, member)
        if isinstance(value, list):
            return [self.fill(item, member) for item in value]
        if isinstance(value, dict):
            return {
                self._fill_text(name, ""): self.fill(item, member if member in FILTERS else name)
                for name, item in value.items()
            }
        return value

    def _find(self, text: str) -> Iterator[EmbeddedExpression]:
        at = 0
        while at < len(text):
            braced, named = EXPRESSION_START.search(text, at), _NAME.search(text, at)
            if braced and (not named or braced.start() < named.start()):
                expression = expression_at(text, braced.start())
                at = braced.end()
            elif named:
                expression = self._name_at(named)
                at = named.end()
            else:
                return
            if expression:
                yield expression
                at = expression.end

    def _name_at(self, match: re.Match[str]) -> EmbeddedExpression | None:
        """Return `$name` if there is a variable of this name that has a value."""
        name = match[2]
        if name not in self.variables or is_tool(self.variables[name]):
            return None
        is_literal = match[1] == "$$"
        code = f"${name}" if is_literal else name
        return EmbeddedExpression(match.start(), match.end(), code, is_literal)

    def _mark_line(self, line: str) -> str:
        expressions = [*self._find(line)]
        before = _BEFORE_VALUE.match(line)
        is_value = (
            len(expressions) == 1
            and before
            and expressions[0][:2] == (before.end(), len(line.rstrip()))
        )
        if is_value and before and not expressions[0].is_literal:
            return line[: before.end()] + self._write_json(expressions[0].code)
        return self._mark_text(line)

    def _mark_json(self, text: str) -> str:
        """Replace expressions: by JSON outside of strings, by marks inside of them."""
        strings = [part.span() for part in _JSON_STRING.finditer(text)]
        parts, at = list[str](), 0
        for part in self._find(text):
            inside = any(start < part.start < end for start, end in strings)
            parts.append(text[at : part.start])
            at = part.end
            if inside or part.is_literal:
                parts.append(self._mark_of(part))
            else:
                parts.append(self._write_json(part.code))
        return "".join([*parts, text[at:]])

    def _mark_text(self, text: str) -> str:
        parts, at = list[str](), 0
        for expression in self._find(text):
            parts += [text[at : expression.start], self._mark_of(expression)]
            at = expression.end
        return "".join([*parts, text[at:]])

    def _mark_of(self, expression: EmbeddedExpression) -> str:
        if expression.is_literal:
            return expression.code
        self._values.append(self._value(expression.code))
        return f"{self._mark}x{len(self._values) - 1}x"

    def _write_json(self, code: str) -> str:
        return json.dumps(self._value(code), ensure_ascii=False)

    def _fill_text(self, text: str, member: str) -> str:
        if self._mark not in text:
            return text
        parts, quote = list[str](), ""
        pieces = [*re.split(rf"{self._mark}x(\d+)x", text)]
        for number, piece in enumerate(pieces):
            if number % 2 == 0:
                quote = _open_quote(piece, quote)
                parts.append(piece)
            elif member in FILTERS:
                negates = "".join(parts).rstrip().endswith(":") and not _RANGE.match(
                    pieces[number + 1]
                )
                parts.append(_quote(self._values[int(piece)], quote, negates=negates))
            else:
                parts.append(_as_text(self._values[int(piece)]))
        return "".join(parts)

    def _value(self, code: str) -> Any:
        """Return the value of an expression as plain JSON."""
        return _plain(self._evaluate(code), code)

    def _evaluate(self, code: str) -> Any:
        self._check_names(code)
        self.is_used = True
        if not self.evaluates:
            return None
        namespace = self.variables if isinstance(self.variables, dict) else {**self.variables}
        try:
            return eval(code, namespace)
        except Exception as error:  # the user's expression can raise any error
            raise BadOption(f"`{code}` fails: {type(error).__name__}: {error}") from None

    def _check_names(self, code: str) -> None:
        nodes = ast.walk(ast.parse(code, mode="eval"))
        for name in (node.id for node in nodes if isinstance(node, ast.Name)):
            if name not in self.variables and not hasattr(builtins, name):
                names = [variable for variable in self.variables if not variable.startswith("_")]
                raise BadOption(
                    f"`{{{code}}}`: there is no variable `{name}`{did_you_mean(name, names)}; "
                    f"literal braces are doubled: `{{{{{code}}}}}`"
                )


def is_enabled() -> bool:
    """Return whether expressions are evaluated; `SVC_MAGIC_VARIABLES=off` switches it off."""
    return os.environ.get(SETTING, "").strip().casefold() not in OFF


def _plain(value: Any, code: str) -> Any:
    """Convert a value to JSON's types; raise `BadOption` for one that has no such form."""
    if hasattr(value, "tolist") and not hasattr(value, "columns"):  # NumPy and pandas
        value = value.tolist()
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (list, tuple, set)):
        return [_plain(item, code) for item in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(item, code) for name, item in value.items()}
    shown = value if isinstance(value, float) else f"a {type(value).__name__}"
    raise BadOption(
        f"`{code}` is {shown}; in a line or a body, values are text, numbers, true or false, "
        "dates, and lists and dicts of these"
    )


def _fit(value: Any, expected: Any, name: str) -> Any:
    """Return a value in the type of an option: a number may be text, one item may be a list."""
    texts = [_as_text(item) for item in value] if isinstance(value, list) else _as_text(value)
    for fitting in (value, [value], texts, [texts]):
        if (not isinstance(value, dict) or fitting is value) and is_valid(fitting, expected):
            return fitting
    try:
        return check_value(value, expected, name)
    except BadInput as error:
        raise BadOption(str(error).replace(" | null", "")) from None


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _open_quote(text: str, quote: str) -> str:
    """Return the quote that is open after a part of a filter expression."""
    escaped = False
    for letter in text:
        if escaped:
            escaped = False
        elif quote and letter == "\\":
            escaped = True
        elif letter in "\"'":
            quote = "" if letter == quote else quote or letter
    return quote


def _quote(value: Any, quote: str, *, negates: bool) -> str:
    """Write a value in a filter expression: text in quotes, other values as they are.

    `negates`: whether a minus at its start would negate the condition, so that it is quoted.
    """
    if isinstance(value, (list, dict)) or value is None:
        raise BadOption("a part of a filter must be text, a number, a truth value or a date")
    text = _as_text(value)
    if not isinstance(value, str) and not quote and not (negates and text.startswith("-")):
        return text
    escaped = text.replace("\\", "\\\\").replace(quote or '"', f"\\{quote or chr(34)}")
    return escaped if quote else f'"{escaped}"'


def variable_meant(verb: Verb, words: Sequence[str], variables: Variables, error: SvcError) -> str:
    """Advise how to pass a variable whose name a failed line contains."""
    if not isinstance(error, (BadInput, NotFound)):
        return ""
    for operand, word in _placed(verb, words):
        name = _name_of(word)
        if name in variables and not is_tool(variables[name]) and not _accepts_any_word(operand):
            advice = _advice(verb, words, operand, name, variables[name])
            if advice.startswith("did you mean `-") or word in f"{error}":
                return advice
    return ""


def _advice(
    verb: Verb, words: Sequence[str], operand: Option | None, name: str, value: object
) -> str:
    of_index = operand is not None and operand.completes == "index"
    option = _variable_option(verb, words)
    parameter = operand.parameter if operand else ""
    if option and (option.required or not of_index or option.parameter == parameter):
        return f"did you mean `--{option.name} {name}`?"
    if operand is None and PARAMS in verb.options:
        return f"did you mean `--{PARAMS.name} {name}`?"
    if isinstance(value, str):
        # Its value is not shown: it can be a key.
        return f"`{name}` is a variable, but words of a line are literal; write its value"
    advice = ALTERNATIVES.get(verb.name, "words of a line are literal").format(name)
    return f"`{name}` is a variable; {advice}"


def literal_variable(verb: Verb, words: Sequence[str], variables: Variables) -> str:
    """Warn that a word is taken literally, though a variable of that name could be passed."""
    option = _variable_option(verb, words)
    placed = list(_placed(verb, words)) if option else []
    if not option or not placed:
        return ""
    operand, word = placed[-1]
    alone = sum(candidate is operand for candidate, _ in placed) == 1
    value = variables.get(word)
    many = isinstance(value, Iterable) and not isinstance(value, str) and not is_tool(value)
    if not (alone and many and _accepts_any_word(operand)):
        return ""
    return f"`{word}` is literal text here; for the variable, pass `--{option.name} {word}`"


def _variable_option(verb: Verb, words: Sequence[str]) -> Option | None:
    """Return the option by which a verb takes a variable, unless the line has it."""
    options = [o for o in verb.options if o.completes == "variable" and o is not PARAMS]
    option = options[0] if options else None
    is_given = option and any(word.partition("=")[0] == f"--{option.name}" for word in words)
    return None if is_given else option


def _placed(verb: Verb, words: Sequence[str]) -> Iterator[Place]:
    """Return the positional words, each with its operand."""
    operands = verb.placed("magic")
    last = operands[-1] if operands and operands[-1].rest else None
    for position, word in enumerate(verb.split_words(words, "magic")[0]):
        yield operands[position] if position < len(operands) else last, word


def _accepts_any_word(operand: Option | None) -> bool:
    """Return whether an operand accepts any word, including the name of a variable."""
    return operand is not None and operand.rest and operand.type in (str, list[str])


def _name_of(word: str) -> str:
    match = _VARIABLE.fullmatch(word)
    return match[1] if match else ""

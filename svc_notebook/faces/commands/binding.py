"""Binding of words to a verb: the arguments of a function from the tokens of a command line."""

from __future__ import annotations

import keyword
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args, get_origin

from svc_notebook.core.api.validation import check_members
from svc_notebook.core.api.values import read_pairs, read_seconds
from svc_notebook.core.display import format_count
from svc_notebook.core.foreign_names import same_name, suggest_argument
from svc_notebook.core.terminal import warn_user
from svc_notebook.data.declarations import BodyDocument
from svc_notebook.errors import BadInput, BadOption, did_you_mean
from svc_notebook.faces.commands.cell_body import read_body, read_documents
from svc_notebook.faces.commands.interpolation import Interpolation, is_enabled
from svc_notebook.faces.commands.name_completion import is_tool
from svc_notebook.faces.commands.verb import (
    FORMAT,
    PROFILE,
    VARIABLE_ALTERNATIVE,
    YES,
    Face,
    Option,
    Verb,
)
from svc_notebook.faces.functions.crawler_scripts import is_script
from svc_notebook.faces.functions.text_values import read_word


@dataclass(frozen=True)
class BoundCall:
    """A verb and the arguments to call its function with."""

    verb: Verb
    arguments: dict[str, Any]
    output: str | None = None
    format: str = "table"
    profile: str | None = None
    yes: bool = False
    wants_help: bool = False
    # Whether some arguments are values of expressions.
    is_interpolated: bool = False


# Options that are seconds, which `24h` writes, too.
DURATIONS = ("validity",)
# Verbs whose bodies contain code, in which braces are syntax.
CODE_FAMILIES = ("crawlers",)
# Options of one letter that other commands have, with the names of options here.
_SHORT_OPTION = re.compile(r"-[A-Za-z]")
_SHORT_OPTIONS = {"n": "limit", "f": "format", "p": "profile", "y": "yes", "q": "query"}


def bind_words(
    verb: Verb,
    words: Sequence[str],
    face: Face,
    variables: Mapping[str, object] | None = None,
    body: str | None = None,
    *,
    evaluates: bool = True,
) -> BoundCall:
    """Bind the words that follow a verb; raise `BadOption` for an invalid one.

    The line takes precedence over the cell's body, and the body over `--params`. Without
    `evaluates`, the names in expressions are checked only, and the call cannot be performed.
    """
    values = variables or {}
    expressions = Interpolation(values, evaluates) if face == "magic" and is_enabled() else None
    return _Binding(verb, face, values, expressions).bind(words, body)


@dataclass
class _Binding:
    verb: Verb
    face: Face
    variables: Mapping[str, object]
    expressions: Interpolation | None = None
    given: dict[str, Any] = field(default_factory=dict)
    placed: list[str] = field(default_factory=list)
    common: dict[str, Any] = field(default_factory=dict)

    def bind(self, words: Sequence[str], body: str | None) -> BoundCall:
        left = deque(words)
        while left:
            word = left.popleft()
            if word == "--":
                self.placed += left
                break
            if word in ("-h", "--help"):
                return BoundCall(self.verb, {}, wants_help=True)
            if word == "-o" and self.face == "magic":
                self.common["output"] = self._identifier(left.popleft() if left else "")
            elif word.startswith("--"):
                self._take_named(word[2:], left)
            elif _SHORT_OPTION.fullmatch(word):
                raise BadOption(self._explain_short(word))
            else:
                self.placed.append(word)
        self._take_placed()
        self._take_params(body)
        self._check_required()
        used = self.expressions is not None and self.expressions.is_used
        return BoundCall(self.verb, self.given, is_interpolated=used, **self.common)

    def _take_named(self, word: str, left: deque[str]) -> None:
        name, equals, value = word.partition("=")
        option = self._find_option(name)
        if not equals:
            value = self._value_of(option, left)
        self._store(option, self._read(option, value, f"--{name}"))

    def _explain_short(self, word: str) -> str:
        """Return the message for an option of one letter, of which `-h` and `-o` alone exist."""
        meant = _SHORT_OPTIONS.get(word[1:], "")
        options = self.verb.named(self.face)
        advice = (
            f"; use `--{meant}`" if meant in options else suggest_argument(meant, options, "--")
        )
        words = "" if advice else "; words that begin with `-` follow `--`"
        return f"`{self.verb.name}` has no option `{word}`{advice}{words}"

    def _find_option(self, name: str) -> Option:
        placed = self.verb.placed(self.face)
        # An operand that may be left out can be given by its name, too.
        options = {o.name: o for o in placed if not (o.required or o.rest)}
        options |= self.verb.named(self.face)
        if present := dict(self.verb.former).get(name):
            warn_user(f"`--{name}` is renamed to `--{present}`")
            name = present
        spelled = name if name in options else same_name(name, options)
        if spelled is None:
            advice = suggest_argument(name, options, "--", self.verb.does.rpartition(".")[2])
            raise BadOption(f"`{self.verb.name}` has no option `--{name}`{advice}")
        return options[spelled]

    def _value_of(self, option: Option, left: deque[str]) -> str:
        following = left[0] if left and not left[0].startswith("--") else None
        if option.may_be_bare and (following is None or not option.may_take(following)):
            return "true"
        if following is None:
            raise BadOption(f"`--{option.name}` requires a value: {option.help}")
        return left.popleft()

    def _read(self, option: Option, text: str, name: str) -> Any:
        expressions = self.expressions if self._has_expressions(text) else None
        if option.completes == "variable":
            if expressions is not None and expressions.is_whole(text):
                return expressions.read_object(text)
            return self._variable(text, name)
        if expressions is None:
            return _read_word(text, option.type, name)
        if not expressions.evaluates:
            return None
        return expressions.read_word(text, option.type, name, _read_word)

    def _has_expressions(self, text: str) -> bool:
        return self.expressions is not None and self.expressions.finds(text)

    def _variable(self, name: str, option: str) -> object:
        if name not in self.variables:
            variables = self.variables.items()
            names = [
                variable
                for variable, value in variables
                if not (variable.startswith("_") or is_tool(value))
            ]
            advice = (
                did_you_mean(name, names)
                if name.isidentifier()
                else "; assign it to a variable first"
            )
            raise BadOption(
                f"`{option}` requires the name of a variable; `{name}` is not one{advice}"
            )
        return self.variables[name]

    def _store(self, option: Option, value: Any) -> None:
        into = self.common if option in (PROFILE, FORMAT, YES) else self.given
        earlier = into.get(option.parameter)
        if (
            get_origin(option.type) is dict
            and isinstance(earlier, dict)
            and isinstance(value, dict)
        ):
            value = earlier | value
        elif isinstance(earlier, list) and isinstance(value, list):
            value = earlier + value
        elif option.parameter in into:
            raise BadOption(f"`--{option.name}` is given twice")
        into[option.parameter] = value

    def _take_placed(self) -> None:
        operands = self.verb.placed(self.face)
        kinds = {(operand.completes, operand.rest) for operand in operands}
        takes_file = kinds == {("index", False), ("path", False)} and len(operands) == len(kinds)
        if self.face == "command" and takes_file:
            self._refuse_expanded()
        for operand in operands:
            if operand.rest:
                taken, self.placed = self.placed, []
                if taken:
                    self._store(operand, self._read_rest(operand, taken))
            elif self.placed:
                word = self.placed.pop(0)
                self._store(operand, self._read(operand, word, operand.name.upper()))
        if self.placed:
            word = self.placed[0]
            advice = self._option_meant(word) or f"; usage: {usage(self.verb, self.face)}"
            raise BadOption(f"unexpected argument `{word}`{advice}")

    def _refuse_expanded(self) -> None:
        """Refuse several files of one suffix in place of one file: a shell expanded a pattern."""
        suffixes = [Path(word).suffix for word in self.placed if Path(word).is_file()]
        if suffix := next((s for s in suffixes if s and suffixes.count(s) > 1), ""):
            raise BadOption(
                f"{format_count(suffixes.count(suffix), 'file')} are given, and one path is "
                f"expected: quote a pattern, which the shell then leaves as it is: '*{suffix}'; "
                f"usage: {usage(self.verb, self.face)}"
            )

    def _option_meant(self, word: str) -> str:
        """Suggest `--name value` for `name=value`."""
        name, equals, value = word.partition("=")
        options = self.verb.named(self.face)
        return f"; did you mean `--{name} {value}`?" if equals and name in options else ""

    def _read_rest(self, operand: Option, words: list[str]) -> Any:
        if operand.type is str:
            return " ".join(self._read_words(operand, words))
        name = operand.name.upper()
        item = replace(operand, type=get_args(operand.type)[0])
        items: list[Any] = []
        for word in words:
            # A value can be a list of several items.
            whole = self.expressions is not None and self.expressions.is_whole(word)
            value = self._read(operand if whole else item, word, name)
            items += value if whole and isinstance(value, list) else [value]
        return items

    def _read_words(self, operand: Option, words: list[str]) -> Iterator[str]:
        for word in words:
            if self._has_expressions(word):
                word = self._read(operand, word, operand.name.upper()) or ""
            yield word

    def _take_params(self, body: str | None) -> None:
        if body is not None and not self.verb.body:
            raise BadOption(f"`%%svc {self.verb.name}` has no body; use `%svc {self.verb.name}`")
        expressions = self._expressions_of(body)
        if body is not None and expressions:
            body = expressions.mark_body(body) if expressions.evaluates else None
        if body is not None and self.verb.document:
            self._take_document(body, self.verb.document)
            body = None
        params = self.given.pop("params", {})
        if not isinstance(params, dict):
            raise BadOption(f"`--params` must be a dict, not {type(params).__name__}")
        if params:
            params = check_members(params, self.verb.spread, "")
        members = read_body(body, self.verb.spread) if body is not None else {}
        if expressions:
            members = expressions.fill(members)
            self._fill_document(expressions)
        self.given = params | members | self.given

    def _fill_document(self, expressions: Interpolation) -> None:
        document = self.verb.document
        if document and document.argument in self.given:
            self.given[document.argument] = expressions.fill(self.given[document.argument])

    def _expressions_of(self, body: str | None) -> Interpolation | None:
        """Return what evaluates the expressions of a body, if it has some and is not code."""
        is_code = self.verb.family in CODE_FAMILIES
        return self.expressions if body and not is_code and self._has_expressions(body) else None

    def _take_document(self, body: str, document: BodyDocument) -> None:
        if document.argument in self.given:
            raise BadOption(f"the {self.verb.body} are given twice: in the line and in the body")
        if document.script and is_script(body):
            self.given[document.argument] = body
            return
        objects = read_documents(body, document.shape)
        if not document.many and len(objects) != 1:
            raise BadOption(f"the body must contain one object, not {len(objects)}")
        self.given[document.argument] = objects if document.many else objects[0]

    def _check_required(self) -> None:
        options = (*self.verb.placed(self.face), *self.verb.named(self.face).values())
        for option in options:
            if option.required and option.parameter not in self.given:
                raise BadOption(
                    f"{written(option)} is missing; usage: {usage(self.verb, self.face)}"
                    f"{_alternative(option, self.face)}"
                )

    def _identifier(self, name: str) -> str:
        if not name.isidentifier() or keyword.iskeyword(name):
            raise BadOption(f"`-o` requires the name of a variable, not `{name}`")
        return name


def _read_word(text: str, expected: Any, name: str) -> Any:
    if get_origin(expected) is dict and (pairs := read_pairs(text)):
        return pairs
    if expected is int and name.removeprefix("--") in DURATIONS:
        text = str(read_seconds(text, name))
    if expected == list[str] and text.startswith("{"):
        return [text]  # a template; no list begins so
    try:
        return read_word(text, expected, name)
    except BadInput as error:
        raise BadOption(str(error).replace(" | null", "")) from None


def _alternative(option: Option, face: Face) -> str:
    """Return what a notebook can use in place of an operand: a variable, a body."""
    _, separator, body = option.help.partition(VARIABLE_ALTERNATIVE)
    return f"{separator}{body}" if face == "magic" else ""


def usage(verb: Verb, face: Face) -> str:
    """Return the usage line of a verb."""
    prefix = "%svc" if face == "magic" else "svc"
    required = [o for o in verb.named(face).values() if o.required]
    parts = [prefix, verb.name, *map(written, (*verb.placed(face), *required))]
    return " ".join([*parts, "[options]"] if len(verb.named(face)) > len(required) else parts)


def written(option: Option) -> str:
    """Format an operand as `INDEX` or `[QUERY...]`, a named option as `--from NAME`."""
    if option.positional:
        text = f"{option.name.upper()}{'...' if option.rest else ''}"
        return text if option.required else f"[{text}]"
    return f"--{option.name}" if option.is_flag else f"--{option.name} {option.metavar}"

"""Binding of words to a verb: the arguments of a function from the tokens of a command line."""

from __future__ import annotations

import keyword
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from svc_notebook.api.validation import check_members
from svc_notebook.api.warning import warn_user
from svc_notebook.commands.cell_body import read_body, read_documents
from svc_notebook.commands.name_completion import is_tool
from svc_notebook.commands.verb import FORMAT, PROFILE, YES, Face, Option, Verb
from svc_notebook.declarations.declaration import BodyDocument
from svc_notebook.errors import BadInput, BadOption, did_you_mean
from svc_notebook.functions.text_values import read_word


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


def bind_words(
    verb: Verb,
    words: Sequence[str],
    face: Face,
    variables: Mapping[str, object] | None = None,
    body: str | None = None,
) -> BoundCall:
    """Bind the words that follow a verb; raise `BadOption` for an invalid one.

    The line takes precedence over the cell's body, and the body over `--params`.
    """
    return _Binding(verb, face, variables or {}).bind(words, body)


@dataclass
class _Binding:
    verb: Verb
    face: Face
    variables: Mapping[str, object]
    given: dict[str, Any] = field(default_factory=dict)
    placed: list[str] = field(default_factory=list)
    apart: dict[str, Any] = field(default_factory=dict)

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
                self.apart["output"] = self._identifier(left.popleft() if left else "")
            elif word.startswith("--"):
                self._take_named(word[2:], left)
            else:
                self.placed.append(word)
        self._take_placed()
        self._take_params(body)
        self._refuse_missing()
        return BoundCall(self.verb, self.given, **self.apart)

    def _take_named(self, word: str, left: deque[str]) -> None:
        name, equals, value = word.partition("=")
        option = self._known(name)
        if not equals:
            value = self._value_of(option, left)
        self._keep(option, self._read(option, value, f"--{name}"))

    def _known(self, name: str) -> Option:
        known = self.verb.named(self.face)
        if present := dict(self.verb.former).get(name):
            warn_user(f"`--{name}` is now called `--{present}`")
            name = present
        if name not in known:
            advice = did_you_mean(f"--{name}", [f"--{other}" for other in known])
            raise BadOption(f"`{self.verb.name}` does not take `--{name}`{advice}")
        return known[name]

    def _value_of(self, option: Option, left: deque[str]) -> str:
        following = left[0] if left and not left[0].startswith("--") else None
        if option.may_be_bare and (following is None or not option.may_take(following)):
            return "true"
        if following is None:
            raise BadOption(f"`--{option.name}` wants a value: {option.help}")
        return left.popleft()

    def _read(self, option: Option, text: str, name: str) -> Any:
        if option.completes == "variable":
            return self._variable(text, name)
        try:
            return read_word(text, option.type, name)
        except BadInput as error:
            raise BadOption(str(error).replace(" | null", "")) from None

    def _variable(self, name: str, option: str) -> object:
        if name not in self.variables:
            found = self.variables.items()
            names = [one for one, value in found if not (one.startswith("_") or is_tool(value))]
            advice = did_you_mean(name, names) if name.isidentifier() else "; name it first"
            raise BadOption(
                f"`{option}` wants the name of a variable; there is no `{name}`{advice}"
            )
        return self.variables[name]

    def _keep(self, option: Option, value: Any) -> None:
        into = self.apart if option in (PROFILE, FORMAT, YES) else self.given
        if option.parameter in into:
            raise BadOption(f"`--{option.name}` is given twice")
        into[option.parameter] = value

    def _take_placed(self) -> None:
        operands = self.verb.placed(self.face)
        for operand in operands:
            if operand.rest:
                taken, self.placed = self.placed, []
                if taken:
                    self._keep(operand, self._read_rest(operand, taken))
            elif self.placed:
                word = self.placed.pop(0)
                self._keep(operand, self._read(operand, word, operand.name.upper()))
        if self.placed:
            raise BadOption(f"`{self.placed[0]}` is too much: {usage(self.verb, self.face)}")

    def _read_rest(self, operand: Option, words: list[str]) -> Any:
        if operand.type is str:
            return " ".join(words)
        item = replace(operand, type=get_args(operand.type)[0])
        return [self._read(item, word, operand.name.upper()) for word in words]

    def _take_params(self, body: str | None) -> None:
        if body is not None and not self.verb.body:
            raise BadOption(f"`%%svc {self.verb.name}` takes no body; use `%svc {self.verb.name}`")
        if body is not None and self.verb.document:
            self._take_document(body, self.verb.document)
            body = None
        under = self.given.pop("params", {})
        if not isinstance(under, dict):
            raise BadOption(f"`--params` wants a dict, not {type(under).__name__}")
        if under:
            under = check_members(under, self.verb.spread, "")
        within = read_body(body, self.verb.spread) if body is not None else {}
        self.given = under | within | self.given

    def _take_document(self, body: str, document: BodyDocument) -> None:
        if document.argument in self.given:
            raise BadOption(f"the {self.verb.body} are given twice: in the line and in the body")
        found = read_documents(body, document.shape)
        if not document.many and len(found) != 1:
            raise BadOption(f"the body should hold one object, not {len(found)}")
        self.given[document.argument] = found if document.many else found[0]

    def _refuse_missing(self) -> None:
        known = (*self.verb.placed(self.face), *self.verb.named(self.face).values())
        for option in known:
            if option.required and option.parameter not in self.given:
                raise BadOption(
                    f"{written(option)} is missing: {usage(self.verb, self.face)}"
                    f"{_instead(option, self.face)}"
                )

    def _identifier(self, name: str) -> str:
        if not name.isidentifier() or keyword.iskeyword(name):
            raise BadOption(f"`-o` wants the name of a variable, not `{name}`")
        return name


def _instead(option: Option, face: Face) -> str:
    """Return an alternative that the notebook's help also mentions: variables and bodies."""
    _, says, instead = option.help.partition("; or say")
    return f"; or say{instead}" if says and face == "magic" else ""


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

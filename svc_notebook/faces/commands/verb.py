"""A verb as a table row: its name, its parameters and the function that it calls."""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from svc_notebook.core.api.validation import check_value, hints, literals
from svc_notebook.data.declarations import BOTH, BodyDocument, Settles, Spares, describe_member
from svc_notebook.data.declarations import Face as Face
from svc_notebook.errors import BadInput

if TYPE_CHECKING:
    from svc_notebook.data.client import Client

Source = Literal[
    "index", "attribute", "facet", "profile", "path", "variable", "verb", "synonym", "rule", "key",
    "cluster", "crawler", "network", "endpoint", "language", "right", "setting", "criterion",
    "column",
]  # fmt: skip
Settled = tuple[str, dict[str, Any]]
METAVARS: dict[Any, str] = {
    int: "n", float: "number", list[str]: "name,name",
}  # fmt: skip


@dataclass(frozen=True)
class Option:
    """A parameter of a verb: positional, or named by `--`."""

    name: str
    help: str
    type: Any = str
    completes: Source | None = None
    argument: str = ""
    faces: tuple[Face, ...] = BOTH
    required: bool = False
    positional: bool = False
    rest: bool = False
    default: str = ""

    @property
    def described(self) -> str:
        """Its help with its default."""
        stated = not self.default or "default" in self.help
        return self.help if stated else f"{self.help} (default {self.default})"

    @property
    def parameter(self) -> str:
        """The parameter of the function that receives the value."""
        return self.argument or self.name.replace("-", "_")

    @property
    def is_flag(self) -> bool:
        """Whether it never takes a value."""
        return self.type is bool

    @cached_property
    def may_be_bare(self) -> bool:
        """Whether its name alone means `true`."""
        return self.type is not Any and self.takes(True)

    def may_take(self, word: str) -> bool:
        """Return whether a bare option takes the next word as its value."""
        return not self.is_flag and (not self.is_switch or word in ("true", "false"))

    @cached_property
    def is_switch(self) -> bool:
        """Whether its only values are `true` and `false`."""
        return self.takes(True) and not any(map(self.takes, ("x", 2, []))) and not self.choices

    @cached_property
    def choices(self) -> list[str]:
        """Its valid words."""
        return literals(self.type)

    @property
    def metavar(self) -> str:
        """The placeholder of its value in a help text."""
        if self.choices:
            return "|".join(self.choices)
        if self.is_switch:
            return "true|false"
        source = "filters" if self.name == "filters" else self.completes
        word = (source or METAVARS.get(self.type, "value")).upper()
        if self.type in (dict[str, Any], dict[str, str]):
            return "JSON"
        return f"{word},{word}" if self.completes and self.type == list[str] else word

    def takes(self, value: object) -> bool:
        """Return whether a value has a valid type."""
        try:
            check_value(value, self.type, self.name)
        except BadInput:
            return False
        return True


PROFILE = Option("profile", "use this profile for this call only", completes="profile")
FORMAT = Option("format", "output format", Literal["table", "csv", "json"], faces=("command",))
PARAMS = Option(
    "params", "variable with a dict of further options", completes="variable",
    faces=("magic",),
)  # fmt: skip
# What a notebook offers in place of an operand; only the help of `%svc` shows it.
VARIABLE_ALTERNATIVE = "; or pass --from VARIABLE"
OUTPUT = Option("-o", "variable for the result", completes="variable")
YES = Option("yes", "skip the confirmation", bool)


@dataclass(frozen=True)
class Verb:
    """One row of the table; a name of two words is a verb of the family that its first word names.

    `does`, `spares` and `settles` are paths of functions. `destructive` describes what is
    deleted; `{index}` in it is replaced by the argument. It requires confirmation, unless `spares`
    returns that these arguments delete nothing. `settles` returns the part of the description that
    only the client knows, and arguments that bind the call to it. `writes_to` is the argument with
    the profile that is written to, if it is not the client's. `former` maps former names of
    options to the present ones.
    """

    name: str
    summary: str
    does: str
    operands: tuple[Option, ...] = ()
    options: tuple[Option, ...] = ()
    spread: Any = None
    body: str = ""
    document: BodyDocument | None = None
    faces: tuple[Face, ...] = BOTH
    examples: tuple[str, ...] = ()
    common: tuple[Option, ...] = (PROFILE, FORMAT)
    destructive: str = ""
    spares: str = ""
    checks: str = ""
    settles: str = ""
    writes_to: str = ""
    lists: bool = False
    fixed: tuple[tuple[str, Any], ...] = ()
    result: str = ""
    former: tuple[tuple[str, str], ...] = ()

    @property
    def family(self) -> str:
        """The first word of its name."""
        return self.name.partition(" ")[0]

    def members(self) -> dict[str, Option]:
        """The members of its body."""
        return spread_options(self.document.shape if self.document else self.spread)

    def needs_confirmation(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether confirmation is required with these arguments."""
        if not self.destructive or not self.spares:
            return bool(self.destructive)
        spares: Spares = import_path(self.spares)
        return not spares(arguments)

    def gives_verdict(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether the exit status of the command says how a check ended."""
        if not self.checks:
            return False
        checks: Spares = import_path(self.checks)
        return checks(arguments)

    def settle(self, arguments: Mapping[str, Any], client: Client) -> Settled | None:
        """Return the description that needs the client, and arguments that bind the call to it."""
        if not self.settles:
            return None
        settles: Settles = import_path(self.settles)
        return settles(arguments, client)

    @property
    def function(self) -> Callable[..., Any]:
        """The function that it calls, imported on first use; coroutine functions block."""
        from svc_notebook.data.declarations import blocking_variant

        return blocking_variant(import_path(self.does))

    def call(self, arguments: Mapping[str, Any]) -> Any:
        """Call the function and return the result of the verb."""
        result = self.function(**{**dict(self.fixed), **arguments})
        return import_path(self.result)(result) if self.result else result

    def named(self, face: Face) -> dict[str, Option]:
        """Return all `--name` options in that interface, the verb's own first."""
        confirmation = (YES,) if self.destructive else ()
        options = {
            o.name: o for o in (*self.options, *confirmation, *self.common) if face in o.faces
        }
        return options | spread_options(self.spread) | options

    def placed(self, face: Face) -> list[Option]:
        """Return all positional parameters in that interface."""
        return [operand for operand in self.operands if face in operand.faces]

    def split_words(self, words: Sequence[str], face: Face) -> tuple[list[str], Option | None]:
        """Return the positional words of a line, and the option whose value comes next, if any."""
        options = self.named(face)
        positional: list[str] = []
        pending: Option | None = None
        for word in words:
            if pending and pending.may_take(word) and not word.startswith("--"):
                pending = None
            elif word.startswith("--"):
                option = None if "=" in word else options.get(word[2:])
                pending = None if option is None or option.is_flag else option
            elif word == OUTPUT.name:
                pending = OUTPUT
            else:
                positional.append(word)
        return positional, pending


def import_path(path: str) -> Any:
    """Import an object by its path."""
    module, name = path.rsplit(".", 1)
    return getattr(import_module(module), name)


def operand(
    name: str,
    help: str,  # noqa: A002
    type: Any = str,  # noqa: A002
    *,
    completes: Source | None = None,
    argument: str = "",
    required: bool = True,
    rest: bool = False,
) -> Option:
    """Return a positional parameter."""
    return Option(
        name, help, type, completes, argument, required=required, positional=True, rest=rest
    )


def spread_options(shape: Any) -> dict[str, Option]:
    """Return one option for each key of a TypedDict; none for other shapes."""
    if not typing.is_typeddict(shape):
        return {}
    return {name: _spread_option(name, kind) for name, kind in hints(shape).items()}


def _spread_option(name: str, kind: Any) -> Option:
    plain = typing.get_args(kind)[0] if typing.get_origin(kind) is typing.Annotated else kind
    return Option(name, describe_member(name), plain, SPREAD_SOURCES.get(name), name)


# The kind of names in the values of a search parameter or setting.
SPREAD_SOURCES: dict[str, Source] = {
    **dict.fromkeys(["facets", "filters", "facetFilters", "optionalFilters"], "facet"),
    **dict.fromkeys(
        [
            "attributesToRetrieve", "attributesToHighlight", "attributesToSnippet",
            "restrictSearchableAttributes", "disableTypoToleranceOnAttributes",
            "disableExactOnAttributes", "searchableAttributes", "attributesForFaceting",
            "unretrievableAttributes", "customRanking", "camelCaseAttributes",
            "attributeForDistinct", "numericAttributesForFiltering",
            "disablePrefixOnAttributes", "numericFilters",
        ],
        "attribute",
    ),
    "ranking": "criterion",
    "replicas": "index",
    "indexes": "index",
    "restrictIndices": "index",
    "acl": "right",
    "language": "language",
}  # fmt: skip

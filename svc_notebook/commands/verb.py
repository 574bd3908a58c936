"""A verb as a table row: its name, its parameters and the function that it calls."""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from svc_notebook.api.parameters import PARAMETERS
from svc_notebook.api.validation import check_value, hints, literals
from svc_notebook.errors import BadInput

if TYPE_CHECKING:
    from svc_notebook.client import Client

Face = Literal["magic", "command"]
Source = Literal[
    "index", "attribute", "facet", "profile", "path", "variable", "verb", "synonym", "rule", "key",
    "cluster", "crawler", "network", "endpoint", "language", "right", "setting", "criterion",
    "column",
]  # fmt: skip
BOTH: tuple[Face, ...] = ("magic", "command")
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
        switch = not any(map(self.takes, ("x", 2, []))) and not self.choices
        return not self.is_flag and (not switch or word in ("true", "false"))

    @cached_property
    def choices(self) -> list[str]:
        """Its valid words."""
        return literals(self.type)

    @property
    def metavar(self) -> str:
        """The placeholder of its value in a help text."""
        if self.choices:
            return "|".join(self.choices)
        word = (self.completes or METAVARS.get(self.type, "value")).upper()
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


PROFILE = Option(
    "profile", "use this profile in place of the current client, this once", completes="profile"
)
FORMAT = Option(
    "format", "how the result is printed", Literal["table", "csv", "json"], faces=("command",)
)
YES = Option("yes", "do it without being asked", bool)


@dataclass(frozen=True)
class BodyDocument:
    """The content of a body other than options: objects of a shape, for one argument."""

    argument: str
    shape: Any
    many: bool = True


@dataclass(frozen=True)
class Verb:
    """One row of the table; a name of two words is a verb of the family that its first word names.

    `destructive` describes what is deleted, with `{index}` for a name: confirmation is required,
    unless `spares` returns that these arguments delete nothing. `settles` describes what only the
    client knows, and returns arguments that bind the call to that.
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
    spares: Callable[[Mapping[str, Any]], bool] | None = None
    settles: Callable[[Mapping[str, Any], Client], tuple[str, dict[str, Any]]] | None = None

    @property
    def family(self) -> str:
        """The first word of its name."""
        return self.name.partition(" ")[0]

    def members(self) -> dict[str, Option]:
        """The members of its body."""
        return spread_options(self.document.shape if self.document else self.spread)

    def asks(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether confirmation is required with these arguments."""
        return bool(self.destructive) and not (self.spares and self.spares(arguments))

    @property
    def function(self) -> Callable[..., Any]:
        """The function behind it, imported on first use."""
        module, name = self.does.rsplit(".", 1)
        found: Callable[..., Any] = getattr(import_module(module), name)
        return found

    def named(self, face: Face) -> dict[str, Option]:
        """Return all `--name` options in that interface, the verb's own first."""
        asked = (YES,) if self.destructive else ()
        own = {o.name: o for o in (*self.options, *asked, *self.common) if face in o.faces}
        return own | spread_options(self.spread) | own

    def placed(self, face: Face) -> list[Option]:
        """Return all positional parameters in that interface."""
        return [operand for operand in self.operands if face in operand.faces]


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
    meaning = PARAMETERS[name].meaning if name in PARAMETERS else MEANINGS.get(name, "")
    plain = typing.get_args(kind)[0] if typing.get_origin(kind) is typing.Annotated else kind
    return Option(name, meaning, plain, SPREAD_SOURCES.get(name), name)


MEANINGS = {
    "acl": "what the key may do",
    "description": "what it is for",
    "indexes": "only these indices; `*` at an end stands for anything",
    "maxHitsPerQuery": "hits of one query at the most",
    "maxQueriesPerIPPerHour": "queries of one address in an hour at the most",
    "queryParameters": "search parameters forced on every query, URL-encoded",
    "referers": "only from these pages; `*` at an end stands for anything",
    "validity": "seconds until the key ends",
    "validUntil": "Unix time at which the key ends",
    "restrictIndices": "only these indices",
    "restrictSources": "only from this network",
}


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

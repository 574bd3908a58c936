"""A verb as a row: what it is called, what it takes and the function that does it."""

from __future__ import annotations

import typing
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, Literal

from svc_notebook.api.checking import check_value, hints, literals
from svc_notebook.api.parameters import PARAMETERS
from svc_notebook.errors import BadInput

Face = Literal["magic", "command"]
Source = Literal["index", "attribute", "facet", "profile", "path", "variable", "verb"]
BOTH: tuple[Face, ...] = ("magic", "command")
METAVARS: dict[Any, str] = {
    int: "n", float: "seconds", list[str]: "name,name", dict[str, Any]: "json",
    dict[str, str]: "json",
}  # fmt: skip


@dataclass(frozen=True)
class Option:
    """Something a verb takes: by its place, or by its name after `--`."""

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
        """The parameter of the function that gets the value."""
        return self.argument or self.name.replace("-", "_")

    @property
    def is_flag(self) -> bool:
        """Whether it is only ever said by its name alone."""
        return self.type is bool

    @cached_property
    def may_be_bare(self) -> bool:
        """Whether its name alone means `true`."""
        return self.type is not Any and self.takes(True)

    def may_take(self, word: str) -> bool:
        """Whether a bare option takes the word after it for its value."""
        switch = not any(map(self.takes, ("x", 2, []))) and not self.choices
        return not self.is_flag and (not switch or word in ("true", "false"))

    @cached_property
    def choices(self) -> list[str]:
        """The words it may be."""
        return literals(self.type)

    @property
    def metavar(self) -> str:
        """What stands for its value in a help text."""
        if self.choices:
            return "|".join(self.choices)
        return (self.completes or METAVARS.get(self.type, "value")).upper()

    def takes(self, value: object) -> bool:
        """Whether a value fits its type."""
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
class Verb:
    """One row of the table.

    `destructive` says what is taken away, with `{index}` where a name belongs: the user is asked.
    """

    name: str
    summary: str
    does: str
    operands: tuple[Option, ...] = ()
    options: tuple[Option, ...] = ()
    spread: Any = None
    body: str = ""
    faces: tuple[Face, ...] = BOTH
    examples: tuple[str, ...] = ()
    common: tuple[Option, ...] = (PROFILE, FORMAT)
    destructive: str = ""

    @property
    def function(self) -> Callable[..., Any]:
        """The function behind it, imported when first asked for."""
        module, name = self.does.rsplit(".", 1)
        found: Callable[..., Any] = getattr(import_module(module), name)
        return found

    def named(self, face: Face) -> dict[str, Option]:
        """Everything said by `--name` in that face, the verb's own first."""
        asked = (YES,) if self.destructive else ()
        own = {o.name: o for o in (*self.options, *asked, *self.common) if face in o.faces}
        return own | spread_options(self.spread) | own

    def placed(self, face: Face) -> list[Option]:
        """Everything said by its place in that face."""
        return [operand for operand in self.operands if face in operand.faces]


def operand(
    name: str,
    help: str,  # noqa: A002
    type: Any = str,  # noqa: A002
    *,
    completes: Source | None = None,
    required: bool = True,
    rest: bool = False,
) -> Option:
    """Make something that is said by its place."""
    return Option(
        name, help, type, completes=completes, required=required, positional=True, rest=rest
    )


def spread_options(shape: Any) -> dict[str, Option]:
    """One option for each key of a TypedDict of search parameters or settings."""
    if shape is None:
        return {}
    return {name: _spread_option(name, kind) for name, kind in hints(shape).items()}


def _spread_option(name: str, kind: Any) -> Option:
    about = PARAMETERS[name]
    return Option(name, about.meaning, typing.get_args(kind)[0], SPREAD_SOURCES.get(name), name)


# What the values of a search parameter or setting are names of.
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
    "replicas": "index",
}  # fmt: skip

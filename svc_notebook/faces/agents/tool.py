"""A tool as a declared function: its parameters as a JSON schema, checked arguments, the call."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import Parameter
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec

from svc_notebook.core.api.validation import check_value
from svc_notebook.data.declarations import read_entries
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.faces.commands.verb import Option

Rows = list[dict[str, Any]]
# Tables of the agent are rows: a tool reads no file of the machine.
TYPES: dict[str, Any] = {
    "judgments": Rows,
    "queries": list[str],
    "change": dict[str, Any],
    "metrics": list[str],
    "params": dict[str, Any],
    "ids": list[str],
    "columns": list[str],
    "crawlers": list[str],
    "since": str,
    "until": str,
}
HELP = {
    "judgments": "Rows with the members `query`, `objectID` and `rating`; if omitted, those of "
    "the file that the server was started with",
    "queries": "Texts of queries",
    "params": "Search parameters, such as {'filters': 'brand:Acme', 'hitsPerPage': 5}; the "
    "resource svc://parameters lists them",
    "metrics": "Metrics, such as ndcg@10",
}
PARAMS = "params"


@dataclass(frozen=True)
class Tool:
    """A function that an agent can call, with those of its parameters that are offered.

    `spread` says that `params` holds what the function takes as further keywords; `filled` are
    parameters that the server fills if the agent omits them, and `fixed` those of every call.
    `perform` is called in place of the function whose parameters it takes; `required` are those
    that it needs and the function does not.
    """

    name: str
    function: Callable[..., Any]
    parameters: tuple[str, ...] = ()
    spread: bool = False
    required: tuple[str, ...] = ()
    summary: str = ""
    is_read: bool = True
    filled: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    perform: Callable[..., Any] | None = None
    described: tuple[Option, ...] = ()

    @cached_property
    def options(self) -> dict[str, Option]:
        """The parameters by name, with types and descriptions of the function's declaration."""
        if self.described:
            return {option.parameter: option for option in self.described}
        if not self.spread:
            return self._read_declaration(self.parameters)
        options = self._read_declaration(name for name in self.parameters if name != PARAMS)
        return {**options, PARAMS: Option(PARAMS, HELP[PARAMS], dict[str, Any])}

    def _read_declaration(self, names: Iterable[str]) -> dict[str, Option]:
        entries = read_entries(inspect.getdoc(self.function) or "")
        signature = inspect.signature(self.function).parameters
        kinds = get_type_hints(inspect.unwrap(self.function), include_extras=True)
        return {
            name: Option(
                name,
                HELP.get(name) or entries[name].text,
                TYPES.get(name) or plain_type(kinds[name]),
                required=name in self.required or signature[name].default is Parameter.empty,
            )
            for name in names
        }

    @property
    def description(self) -> str:
        """The first paragraph of the function's docstring, unless the tool has its own."""
        doc = inspect.getdoc(self.function) or ""
        return self.summary or " ".join(doc.partition("\n\nParameters\n")[0].split())

    @property
    def input_schema(self) -> dict[str, Any]:
        """The parameters as a JSON schema."""
        members = {
            name: {**msgspec.json.schema(option.type), "description": option.help}
            for name, option in self.options.items()
        }
        required = [
            name
            for name, option in self.options.items()
            if option.required and name not in self.filled
        ]
        return {
            "type": "object", "properties": members, "required": required,
            "additionalProperties": False,
        }  # fmt: skip

    def check(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of the function; raise `BadInput` for wrong ones."""
        given = {name: value for name, value in arguments.items() if value is not None}
        for name in given:
            if name not in self.options:
                raise BadInput(
                    f"`{self.name}` has no argument `{name}`{_advise(name, list(self.options))}"
                )
            check_value(given[name], self.options[name].type, name)
        given = {**self.filled, **given}
        for name, option in self.options.items():
            if option.required and name not in given:
                raise BadInput(f"`{self.name}` needs `{name}`: {option.help}")
        params = given.pop(PARAMS, {}) if self.spread else {}
        if clash := params.keys() & (given.keys() | {"client", *self.fixed}):
            raise BadInput(f"`params` cannot contain `{min(clash)}`; it is no search parameter")
        return {**params, **given, **self.fixed}

    async def call(self, arguments: Mapping[str, Any], **context: Any) -> Any:
        """Call the function with checked arguments, and with what it takes of the context.

        A coroutine ends with its task; another function runs in a thread.
        """
        called = self.perform or self.function
        taken = inspect.signature(called).parameters
        context = {name: value for name, value in context.items() if name in taken}
        if inspect.iscoroutinefunction(called):
            return await called(**arguments, **context)
        return await asyncio.to_thread(called, **arguments, **context)


def plain_type(kind: Any) -> Any:
    """Return the type of a parameter as values of JSON have it: without None, and one of several.

    A table and a path have no such type; `TYPES` has those of the parameters that are tables.
    """
    if get_origin(kind) is Annotated:
        return plain_type(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return plain_type(next(member for member in get_args(kind) if member is not type(None)))
    return kind


def _advise(name: str, names: Sequence[str]) -> str:
    return did_you_mean(name, names) or f"; it takes {', '.join(names) or 'none'}"

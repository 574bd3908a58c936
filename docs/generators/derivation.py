"""Verbs, derived from the declarations of functions: types, descriptions, operands and options."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from inspect import Parameter
from os import PathLike
from types import UnionType
from typing import Annotated, Any, Literal, get_args, get_origin

from svc_notebook.core.api.parameters import SearchOptions, SearchParams
from svc_notebook.core.api.validation import hints
from svc_notebook.data.declarations.declaration import Declaration, VerbDeclaration
from svc_notebook.data.declarations.signatures import (
    ParameterEntry,
    describe_default,
    describe_member,
    read_entries,
    shape_of,
    summary,
)
from svc_notebook.faces.commands.verb import (
    FORMAT,
    PARAMS,
    PROFILE,
    VARIABLE_ALTERNATIVE,
    Option,
    Source,
    Verb,
)

# Parameters of functions that are not options of verbs.
OMITTED = {"client", "on_progress", "extra", "dtype_backend"}
# What completes a parameter, by its name; columns of rows are those of the file or table.
COMPLETES: dict[str, Source] = {
    "index": "index", "indexName": "index", "destination": "index", "columns": "attribute",
    "path": "path", "file": "path", "source": "path", "data": "path", "crawler": "crawler",
    "crawlers": "crawler", "cluster": "cluster", "key": "key", "filters": "facet",
    "facet": "facet", "profile": "profile", "language": "language",
}  # fmt: skip
ROW_COLUMNS = ("id", "columns", "dtype", "operations")
API = "svc_notebook.core.api."
# Defaults that say nothing: the option is left out.
WITHOUT_DEFAULT = ("", "None", "False", '""', "()", "{}", "none", "the current client")
_OF_NONE = re.compile(r"; None [^;]*$")


@dataclass(frozen=True)
class _Argument:
    """A parameter of a function, or a member of the shape that it takes as keywords."""

    name: str
    kind: Any
    text: str
    is_positional: bool = False
    is_required: bool = False
    of_rows: bool = False
    default: str = ""


def derive_verb(declared: Declaration, spec: VerbDeclaration) -> Verb:
    """Return the verb that a function declares."""
    return _Derivation(declared, spec).verb()


class _Derivation:
    def __init__(self, declared: Declaration, spec: VerbDeclaration) -> None:
        self._declared, self._spec = declared, spec
        self._described = _described(declared)
        self._doc = inspect.getdoc(self._described) or ""
        self._signature = (
            inspect.signature(self._described) if declared.described_by else declared.signature
        )
        self._shape = _shape_of(declared)
        self._spread = spec.spread or (self._shape if _is_of_api(self._shape) else None)
        self._arguments = {each.name: each for each in self._all_arguments()}

    def verb(self) -> Verb:
        spec, function = self._spec, self._declared.function
        operands = self._operand_names()
        return Verb(
            spec.name,
            spec.summary or summary(self._doc),
            f"{function.__module__}.{function.__name__}",
            operands=tuple(self._operand(name, name == operands[-1]) for name in operands),
            options=tuple(self._options(operands)),
            spread=self._spread,
            body=spec.body or self._body(),
            document=spec.document,
            faces=spec.faces,
            examples=spec.examples,
            common=(*((PROFILE,) if spec.profile else ()), *((FORMAT,) if spec.format else ())),
            destructive=spec.destructive,
            spares=_path_of(spec.spares),
            checks=_path_of(spec.checks),
            settles=_path_of(spec.settles),
            writes_to=spec.writes_to,
            lists=spec.lists,
            fixed=tuple(spec.fixed.items()),
            result=_path_of(spec.result),
            former=tuple((_word(old), _word(new)) for old, new in self._declared.renamed.items()),
        )

    def _body(self) -> str:
        """Return what a body contains."""
        if self._spec.document:
            return self._spec.document.argument
        of_search = self._spread in (SearchOptions, SearchParams)
        return "search parameters" if of_search else ""

    def _all_arguments(self) -> Iterator[_Argument]:
        entries = read_entries(self._doc)
        kinds = typing.get_type_hints(inspect.unwrap(self._described), include_extras=True)
        for name, parameter in self._signature.parameters.items():
            if parameter.kind is Parameter.VAR_KEYWORD:
                continue
            text = entries[name].text if name in entries else ""
            yield _Argument(
                name, kinds.get(name, str), text, parameter.kind is not Parameter.KEYWORD_ONLY,
                parameter.default is parameter.empty, default=_default_of(entries.get(name)),
            )  # fmt: skip
        if self._shape:
            spread = hints(self._spread) if self._spread else {}
            own = self._signature.parameters
            of_rows = self._shape.__name__ == "RowOptions"
            for name, kind in hints(self._shape).items():
                if name not in spread and name not in own:
                    text = describe_member(name, self._shape)
                    default = describe_default(self._shape, name)
                    yield _Argument(name, kind, text, of_rows=of_rows, default=_shown(default))

    def _operand_names(self) -> list[str]:
        if self._spec.operands is not None:
            return [*self._spec.operands]
        names = (each.name for each in self._arguments.values() if each.is_positional)
        return [name for name in names if name not in self._spec.without]

    def _operand(self, name: str, is_last: bool) -> Option:
        argument = self._arguments[name]
        kind = self._kind(argument)
        is_list = get_origin(kind) is list
        rest = (
            self._spec.rest == name if self._spec.rest else is_last and (is_list or name == "query")
        )
        return self._option(
            argument, kind, positional=True, rest=rest,
            required=argument.is_required or name in self._spec.required,
            help=f"{self._help(argument)}{self._alternatives(name)}",
        )  # fmt: skip

    def _alternatives(self, name: str) -> str:
        """Return what a notebook can use in place of an operand: a variable, a body."""
        if self._spec.variable != name:
            return ""
        has_body = self._spec.document is not None and self._spec.document.argument == name
        return VARIABLE_ALTERNATIVE + (", or a cell body" if has_body else "")

    def _options(self, operands: Iterable[str]) -> Iterator[Option]:
        if self._spec.variable:
            yield self._variable(self._arguments[self._spec.variable], operands)
        excluded = {
            *OMITTED,
            *self._spec.fixed,
            *self._spec.without,
            *operands,
            self._spec.variable,
        }
        names = self._spec.options
        if names is None:
            names = tuple(a.name for a in self._arguments.values() if not a.is_positional)
        for name in names:
            if name not in excluded or self._spec.options is not None:
                argument = self._arguments[name]
                required = argument.is_required or name in self._spec.required
                yield self._option(argument, self._kind(argument), required=required)
        if self._spread:
            yield PARAMS

    def _variable(self, argument: _Argument, operands: Iterable[str]) -> Option:
        text = self._spec.help.get("from") or f"variable with {self._help(argument)}"
        required = argument.is_required and argument.name not in operands
        return Option(
            "from", text, completes="variable", argument=argument.name, faces=("magic",),
            required=required,
        )  # fmt: skip

    def _option(self, argument: _Argument, kind: Any, help: str = "", **facts: Any) -> Option:  # noqa: A002
        name = argument.name
        word = self._spec.names.get(name) or ("file" if self._is_file(name) else _word(name))
        return Option(
            word,
            help or self._help(argument),
            kind,
            self._completes(argument),
            default=argument.default,
            argument="" if word.replace("-", "_") == name else name,
            **facts,
        )

    def _is_file(self, name: str) -> bool:
        """Return whether a line names a file for an argument, whose content can be a body."""
        document = self._spec.document
        return (
            document is not None
            and name == document.argument
            and (self._arguments[name].is_positional)
        )

    def _kind(self, argument: _Argument) -> Any:
        return self._spec.types.get(argument.name) or word_type(argument.kind)

    def _help(self, argument: _Argument) -> str:
        return self._spec.help.get(argument.name) or _phrase(argument.text)

    def _completes(self, argument: _Argument) -> Source | None:
        name = argument.name
        if name in self._spec.completes:
            return typing.cast(Source | None, self._spec.completes[name])
        if argument.of_rows:
            return "column" if name in ROW_COLUMNS else None
        return "path" if self._is_file(name) else COMPLETES.get(name)


def _default_of(entry: ParameterEntry | None) -> str:
    """Return the default that a docstring states, if a line does not have it anyway."""
    return _shown(entry.type.partition(", default ")[2]) if entry else ""


def _shown(default: str) -> str:
    return "" if default in WITHOUT_DEFAULT else default.strip("'")


def _described(declared: Declaration) -> Callable[..., Any]:
    """Return the function whose signature and docstring describe the verb."""
    if not declared.described_by:
        return declared.function
    module, name = declared.described_by.rsplit(".", 1)
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found


def _word(name: str) -> str:
    return name.replace("_", "-")


def _phrase(sentence: str) -> str:
    """Return a description as the help of an option, without what None means to a function."""
    text = _OF_NONE.sub("", sentence.removesuffix("."))
    return text if text[1:2].isupper() or text[:1] == "`" else text[:1].lower() + text[1:]


def _shape_of(declared: Declaration) -> Any:
    parameters = declared.signature.parameters.values()
    spread = [p for p in parameters if p.kind is Parameter.VAR_KEYWORD]
    return shape_of(declared.function, spread[0]) if spread else None


def _is_of_api(shape: Any) -> bool:
    return shape is not None and shape.__module__.startswith(API)


def _path_of(function: Callable[..., Any] | None) -> str:
    return f"{function.__module__}.{function.__name__}" if function else ""


def word_type(kind: Any) -> Any:
    """Return the type by which a word of a line is read, from the type of a parameter."""
    if get_origin(kind) is Annotated:
        return word_type(get_args(kind)[0])
    if get_origin(kind) in (typing.Union, UnionType):
        return _type_of_union([each for each in get_args(kind) if each is not type(None)], kind)
    origin = get_origin(kind)
    if origin is not None and origin is not Literal:
        return _type_of_container(origin, get_args(kind))
    return kind if kind in (str, int, float, bool) or origin is Literal else str


def _type_of_union(kinds: list[Any], kind: Any) -> Any:
    if kinds == [bool]:
        return kind
    literal = [each for each in kinds if get_origin(each) is Literal]
    if len(kinds) == 1 or literal:
        return word_type((literal or kinds)[0])
    lists = any(map(_is_list, kinds)) and str in kinds and not any(map(_is_path, kinds))
    return list[str] if lists else str


def _is_path(kind: Any) -> bool:
    found = get_origin(kind) or kind
    return inspect.isclass(found) and issubclass(found, PathLike)


def _is_list(kind: Any) -> bool:
    origin = get_origin(kind)
    return inspect.isclass(origin) and issubclass(origin, Iterable) and not _is_mapping(origin)


def _is_mapping(origin: Any) -> bool:
    return inspect.isclass(origin) and issubclass(origin, Mapping)


def _type_of_container(origin: Any, arguments: tuple[Any, ...]) -> Any:
    if _is_mapping(origin):
        return dict[str, str] if arguments[1:] == (str,) else dict[str, Any]
    if _is_list(origin[arguments] if arguments else origin):
        item = word_type(arguments[0]) if arguments else str
        return list[item]  # type: ignore[valid-type]
    return str

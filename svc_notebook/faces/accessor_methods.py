"""Methods of accessors, made from the functions that they call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from inspect import Parameter, Signature, signature
from typing import Any

from svc_notebook.data.declarations import (
    ABOVE_BLOCKING,
    SELF,
    AccessorMethod,
    blocking_variant,
    declaration_of,
    describe_misfit,
    present_names,
    replace_entry,
)
from svc_notebook.data.frames import check_origin, hits_of
from svc_notebook.data.session import asynchronous
from svc_notebook.errors import BadArgument, BadInput, unchained
from svc_notebook.faces.functions.records import check_column

# The parameter for the column of the data, for methods that have one.
COLUMN = "id"


@cache
def make_method(path: str, home: str) -> Callable[..., Any]:
    """Return the method of an accessor that calls a function with the accessor's data."""
    module, _, attribute = home.rpartition(".")
    declaration = declaration_of(getattr(import_module(module), attribute))
    assert declaration is not None
    method = next(method for method in declaration.accessors if method.path == path)
    call = blocking_variant(getattr(import_module(module), attribute))
    accepted = _signature(method, signature(call))
    name = path.rpartition(".")[2]

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        kwargs = present_names(kwargs, declaration.renamed, ABOVE_BLOCKING)
        try:
            bound = accepted.bind(self, *args, **kwargs)
        except TypeError:
            problem = describe_misfit(accepted, (self, *args), kwargs)
            raise BadArgument(f"{name}: {problem}") from None
        given = {**dict(zip(accepted.parameters, bound.args, strict=False)), **bound.kwargs}
        del given[SELF]
        data = self._data_for(method.data)
        return self._finish(call(**_arguments(method, data, given)))

    run.__name__, run.__qualname__ = name, path
    run.__module__ = module
    run.__signature__ = accepted  # type: ignore[attr-defined]
    run.__doc__ = _describe(method, call.__doc__ or "")
    return unchained(run)


def _arguments(method: AccessorMethod, data: Any, given: dict[str, Any]) -> Mapping[str, Any]:
    """Return the arguments of the function: those given, and what the data supplies."""
    if method.index and given.get(method.index) is None:
        given[method.index] = attached_index(data, given.get("client"))
    if method.column:
        data = hits_of(data)[check_column(data, given.pop(COLUMN, method.column))]
    if method.data:
        given[method.data] = method.convert(data) if method.convert else data
    return given


def _signature(method: AccessorMethod, accepted: Signature) -> Signature:
    """Return the parameters of a method: those of the function that the data does not supply."""
    names = {p.name: p for p in accepted.parameters.values() if p.name != method.data}
    if method.index:
        names[method.index] = names[method.index].replace(default=None, annotation="str | None")
    parameters = [Parameter(SELF, Parameter.POSITIONAL_OR_KEYWORD), *names.values()]
    if method.column:
        column = Parameter(COLUMN, Parameter.KEYWORD_ONLY, default=method.column, annotation="str")
        first = [p.kind for p in parameters].index(Parameter.KEYWORD_ONLY)
        parameters.insert(first, column)
    return accepted.replace(parameters=parameters)


def _describe(method: AccessorMethod, doc: str) -> str:
    """Return the docstring of a method, made from the one of its function."""
    if method.data:
        doc = replace_entry(doc, method.data, "")
    if method.index:
        entry = f"{method.index} : str, default that of the data\n    Name of the index."
        doc = replace_entry(doc, method.index, entry)
    if method.column:
        entry = f"{COLUMN} : str, default {method.column!r}\n    Column of the {method.data}."
        doc = replace_entry(doc, COLUMN, entry)
    return doc


def attached_index(data: Any, client: Any) -> str:
    """Return the index that is attached to data.

    Raises `BadInput` if there is none, or if the data is from another service.
    """
    origin = data.attrs.get("svc", {})
    index = origin.get("index")
    if not isinstance(index, str):
        raise BadInput("this data has no index attached; pass `index=`")
    check_origin(origin, asynchronous(client))
    return index

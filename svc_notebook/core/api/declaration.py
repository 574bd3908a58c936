"""Declare a REST endpoint once: HTTP method, path, required access right and Python signature.

The declaration of an argument decides where the request carries it:

    named in the path             path
    keyword-only                  query string
    ``Body[T]``                   whole body
    ``Annotated[T, Header(n)]``   header ``X-Service-n``
    any other                     member of the body (of a GET's query string)
    ``**params: Unpack[Shape]``   one such member for each key of the shape
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Coroutine
from functools import update_wrapper
from inspect import Parameter
from typing import Any, ClassVar, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, overload

from svc_notebook.core.api.endpoint import (
    Access,
    Endpoint,
    Header,
    Interface,
    Normaliser,
    RequestSpec,
    Verb,
    describe_access,
)

P = ParamSpec("P")
R = TypeVar("R")


class Sender(Protocol):
    """An object that sends a request to a service and returns its response."""

    async def send(self, endpoint: Endpoint, request: RequestSpec) -> Any:
        """Return the decoded response, or raise `CallFailed`."""
        ...


class Api:
    """A group of endpoints on one interface."""

    interface: ClassVar[Interface] = "search"
    endpoints: ClassVar[dict[str, Endpoint]] = {}

    def __init_subclass__(cls, interface: Interface | None = None) -> None:
        if interface:
            cls.interface = interface
        inherited = [vars(base).get("endpoints", {}) for base in reversed(cls.__mro__[1:])]
        endpoints = [
            m.declare(cls.interface) for m in vars(cls).values() if isinstance(m, Operation)
        ]
        cls.endpoints = {name: row for rows in inherited for name, row in rows.items()}
        cls.endpoints |= {row.name: row for row in endpoints}


class Asynchronous:
    """The base of a client whose methods are coroutine functions."""

    def perform(self, endpoint: Endpoint, spec: RequestSpec) -> Coroutine[Any, Any, Any]:
        """Send one request."""
        raise NotImplementedError


class Blocking:
    """The base of a client whose methods block until the response has arrived."""

    def perform(self, endpoint: Endpoint, spec: RequestSpec) -> Any:
        """Send one request."""
        raise NotImplementedError


class Operation(Generic[P, R]):
    """A declared endpoint method: blocking on a `Blocking` client, else a coroutine function."""

    endpoint: Endpoint

    def __init__(self, method: Callable[..., Any], **facts: Any) -> None:
        self._method = method
        self._facts = facts

    def declare(self, interface: Interface) -> Endpoint:
        """Create the endpoint from the method's signature."""
        method = self._method
        signature = inspect.signature(method)
        types = typing.get_type_hints(method, include_extras=True)
        bound = signature.replace(parameters=list(signature.parameters.values())[1:])
        headings = {
            name: mark.name
            for name, kind in types.items()
            for mark in getattr(kind, "__metadata__", ())
            if isinstance(mark, Header)
        }
        doc = inspect.getdoc(method) or ""
        self.endpoint = Endpoint(
            name=method.__name__, interface=interface, doc=doc, signature=bound, types=types,
            headings=headings, **self._facts,
        )  # fmt: skip
        self._signature = expand_signature(bound, self.endpoint)
        return self.endpoint

    @overload
    def __get__(self, api: None, owner: type) -> Self: ...
    @overload
    def __get__(self, api: Blocking, owner: type) -> Callable[P, R]: ...
    @overload
    def __get__(self, api: Asynchronous, owner: type) -> Callable[P, Coroutine[Any, Any, R]]: ...
    def __get__(self, api: Any, owner: type) -> Any:
        """Bind the endpoint to a client."""
        if api is None:
            return self
        row = self.endpoint

        def call(*args: Any, **kwargs: Any) -> Any:
            return api.perform(row, row.encode(*args, **kwargs))

        update_wrapper(call, self._method)
        call.__doc__ = f"{row.doc}\n\n{row.verb} {row.path}; {describe_access(row.acl)}."
        call.__signature__ = self._signature  # type: ignore[attr-defined]
        return call


def endpoint(
    verb: Verb,
    path: str,
    *,
    acl: Access,
    reads: bool | None = None,
    status: int = 200,
    repeatable: bool = True,
    accepts: tuple[Normaliser, ...] = (),
    former_paths: tuple[str, ...] = (),
) -> Callable[[Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]], Operation[P, R]]:
    """Declare a method as an endpoint; the method's body is never executed.

    - `verb`, `path`: the HTTP method and the path, with arguments in braces.
    - `acl`: the right that a key needs.
    - `reads`: whether the hosts and timeouts of reads serve it; default: a GET reads.
    - `status`: the HTTP status of a success.
    - `repeatable`: whether sending the request twice has the same effect as sending it once.
    - `accepts`: functions that normalize body forms that this package's client does not send.
    - `former_paths`: paths that older clients request; what a path does not name is in headers.
    """
    facts: dict[str, Any] = {
        "verb": verb, "path": path, "acl": acl, "status": status, "accepts": accepts,
        "former_paths": former_paths,
        "reads": verb == "GET" if reads is None else reads, "repeatable": repeatable,
    }  # fmt: skip

    def declare(method: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]) -> Operation[P, R]:
        return Operation(method, **facts)

    return declare


def expand_signature(signature: inspect.Signature, row: Endpoint) -> inspect.Signature:
    """List each key of ``**params: Unpack[Shape]`` as a parameter, for completion in notebooks."""
    parameters = [p for p in signature.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
    taken = {p.name for p in parameters}
    if row.shape:
        parameters += [
            Parameter(key, Parameter.KEYWORD_ONLY, default=None, annotation=kind)
            for key, kind in row.members.items()
            if key not in taken and key.isidentifier()
        ]
    return signature.replace(parameters=parameters)

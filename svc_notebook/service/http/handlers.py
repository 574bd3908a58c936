"""The registry that maps each endpoint to its handler, and the context of a request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Concatenate, ParamSpec, TypeVar

from svc_notebook.api import Endpoint
from svc_notebook.api.endpoint import Operation
from svc_notebook.service.http.auth import Caller
from svc_notebook.service.service import Service

P = ParamSpec("P")
R = TypeVar("R")

HANDLERS: dict[Endpoint, Callable[..., Any]] = {}


@dataclass(frozen=True)
class RequestContext:
    """The context of one request: its caller, its start time and the headers of its response.

    `redirects` are the indices that rules redirected its searches to.
    """

    service: Service
    caller: Caller
    started: float = field(default_factory=perf_counter)
    headers: dict[str, str] = field(default_factory=dict)
    redirects: set[str] = field(default_factory=set)

    @property
    def elapsed(self) -> int:
        """Whole milliseconds since the start of the request."""
        return int((perf_counter() - self.started) * 1000)


def serves(
    operation: Operation[P, R],
) -> Callable[
    [Callable[Concatenate[RequestContext, P], R]], Callable[Concatenate[RequestContext, P], R]
]:
    """Register the handler of an endpoint; the type checker compares their signatures."""

    def register(
        handler: Callable[Concatenate[RequestContext, P], R],
    ) -> Callable[Concatenate[RequestContext, P], R]:
        HANDLERS[operation.endpoint] = handler
        return handler

    return register

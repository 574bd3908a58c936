"""The registry that maps each endpoint to its handler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from svc_notebook.core.api import Endpoint
from svc_notebook.core.api.declaration import Operation
from svc_notebook.service.call_context import CallContext
from svc_notebook.service.service import RequestContext

P = ParamSpec("P")
R = TypeVar("R")
# A handler that only searches can be called by search workers, too.
C = TypeVar("C", CallContext, RequestContext)

HANDLERS: dict[Endpoint, Callable[..., Any]] = {}


def serves(
    operation: Operation[P, R],
) -> Callable[[Callable[Concatenate[C, P], R]], Callable[Concatenate[C, P], R]]:
    """Register the handler of an endpoint; the type checker compares their signatures."""

    def register(
        handler: Callable[Concatenate[C, P], R],
    ) -> Callable[Concatenate[C, P], R]:
        HANDLERS[operation.endpoint] = handler
        return handler

    return register

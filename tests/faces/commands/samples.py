"""Values of declared types, as a service could answer them."""

from __future__ import annotations

import types
import typing
from typing import Any, Literal, get_args, get_origin

from svc_notebook.core.api.validation import hints


def sample_of(kind: Any) -> Any:
    """Make a value of a declared type, with every member that it may have."""
    while get_origin(kind) in (typing.Annotated, typing.Required, typing.NotRequired):
        kind = get_args(kind)[0]
    if typing.is_typeddict(kind):
        return {name: sample_of(member) for name, member in hints(kind).items()}
    if get_origin(kind) in (typing.Union, types.UnionType):
        return sample_of(next(member for member in get_args(kind) if member is not type(None)))
    if get_origin(kind) is list:
        return [sample_of(get_args(kind)[0])]
    if get_origin(kind) is dict:
        return {"a": sample_of(get_args(kind)[1])}
    if get_origin(kind) is Literal:
        return get_args(kind)[0]
    return {str: "1", int: 1, float: 1.0, bool: True, Any: "1", type(None): None}[kind]

"""Validation of responses against the shapes that the API declares.

A member of the wrong type raises `UnexpectedAnswer` at once. A missing member raises when it is
read, because a service omits what `responseFields` excludes. Unknown members are kept unchanged.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NoReturn, Union, get_args, get_origin

import msgspec

from svc_notebook.core.api import Endpoint, RequestSpec, shapes
from svc_notebook.core.api.parameters import ReadSettings
from svc_notebook.core.api.validation import hints, place, required
from svc_notebook.errors import MissingMember, UnexpectedAnswer

Check = Callable[[Any, str, str], Any]
# User-written documents: all their members are passed on, known or unknown.
DOCUMENTS = (shapes.Synonym, shapes.Rule, shapes.DictionaryEntry, ReadSettings)
# Endpoints whose results are in the order of the requests.
ONE_EACH = ("search_many", "get_objects")
_WORDS = {
    str: "text", int: "a whole number", float: "a number", bool: "true or false",
    dict: "an object", list: "a list",
}  # fmt: skip


class Members(dict[str, Any]):
    """An object of a response; reading a missing member raises an error that names the endpoint."""

    endpoint = ""
    path = ""

    def __missing__(self, name: str) -> NoReturn:
        at = f" at `{self.path}`" if self.path else ""
        raise MissingMember(
            f"{self.endpoint}: the response has no `{name}`{at}, which is required here; check "
            "whether responseFields excludes it, and whether the address is a service of this API",
            endpoint=self.endpoint,
        )


def members_of(value: Mapping[str, Any], endpoint: str, at: str = "") -> Members:
    """Convert an object of a response to `Members`."""
    made = Members(value)
    made.endpoint, made.path = endpoint, at
    return made


def check_answer(endpoint: Endpoint, answer: Any, spec: RequestSpec) -> Any:
    """Return a response that has the shape its endpoint declares; raises `UnexpectedAnswer`."""
    expected = endpoint.types.get("return", Any)
    if answer is None or expected in (Any, None, type(None)):
        return answer
    try:
        checked = _check_of(expected)(answer, endpoint.name, "")
        if endpoint.name in ONE_EACH:
            _check_count(endpoint.name, checked, spec)
        return checked
    except UnexpectedAnswer as error:
        if not endpoint.reads:
            error.add_note("the call itself was accepted; check before you repeat it")
        raise


def _check_count(endpoint: str, answer: Members, spec: RequestSpec) -> None:
    """Check that there is one result per request, because results are matched by position."""
    requests = spec.body.get("requests") if isinstance(spec.body, dict) else None
    if isinstance(requests, list) and len(answer["results"]) != len(requests):
        raise UnexpectedAnswer(
            f"{endpoint}: {len(requests)} requests have {len(answer['results'])} results; is this "
            "the address of a search service of this API?",
            endpoint=endpoint,
        )


def _refuse(declared: str, value: Any, endpoint: str, at: str) -> NoReturn:
    subject = f"`{at.lstrip('.')}` of the response" if at else "the response"
    actual = "null" if value is None else _WORDS.get(type(value), type(value).__name__)
    raise UnexpectedAnswer(
        f"{endpoint}: {subject} must be {declared}, not {actual}; is this the address of a search "
        "service of this API?",
        endpoint=endpoint,
    )


@lru_cache(maxsize=1024)
def _check_of(declared: Any) -> Check:
    """Return the function that checks values of a type."""
    kinds = _alternatives(declared)
    if Any in kinds or object in kinds:
        return _anything
    if type(None) in kinds:
        return _check_of_optional(kinds)
    if len(kinds) > 1:
        return _check_of_several(kinds)
    (kind,) = kinds
    if typing.is_typeddict(kind):
        return _check_document if kind in DOCUMENTS else _check_of_shape(kind)
    if get_origin(kind) is list:
        return _check_of_list(get_args(kind)[0])
    if get_origin(kind) is dict:
        return _check_of_mapping(get_args(kind)[1])
    if get_origin(kind) is Literal:
        return _check_of_scalar(type(get_args(kind)[0]))  # a service may add new values
    return _check_of_scalar(kind)


def _check_of_optional(kinds: Iterable[Any]) -> Check:
    inner = _check_of(_union(kind for kind in kinds if kind is not type(None)))
    return lambda value, endpoint, at: value if value is None else inner(value, endpoint, at)


def _anything(value: Any, endpoint: str, at: str) -> Any:
    return value


def _check_document(value: Any, endpoint: str, at: str) -> Any:
    if not isinstance(value, dict):
        _refuse("an object", value, endpoint, at)
    return members_of(value, endpoint, at)


def _check_of_scalar(kind: type) -> Check:
    types = _types_of(kind)

    def check(value: Any, endpoint: str, at: str) -> Any:
        if type(value) not in types:
            _refuse(_WORDS.get(kind, kind.__name__), value, endpoint, at)
        return value

    return check


def _types_of(kind: Any) -> frozenset[type]:
    """Return the types of values that need no check of their own; empty for other kinds."""
    if get_origin(kind) is Literal:
        kind = type(get_args(kind)[0])
    if kind not in _WORDS or kind in (dict, list):
        return frozenset()
    return frozenset((int, float) if kind is float else (kind,))


def _check_of_list(item: Any) -> Check:
    inner, types = _check_of(item), _types_of(item)
    records = get_origin(item) is dict and get_args(item)[1] is Any

    def check(value: Any, endpoint: str, at: str) -> Any:
        if not isinstance(value, list):
            _refuse("a list", value, endpoint, at)
        if records:  # unchanged, because there may be many
            if not all(issubclass(kind, (dict, msgspec.Struct)) for kind in set(map(type, value))):
                _refuse_row(value, endpoint, at)
            return value
        if inner is _anything or types.issuperset(map(type, value)):
            return value
        return [inner(item, endpoint, f"{at}[{n}]") for n, item in enumerate(value)]

    return check


def _refuse_row(rows: list[Any], endpoint: str, at: str) -> NoReturn:
    """Refuse the first row that is neither a dict nor a struct that a decoder makes of records."""
    number, row = next(
        (number, row)
        for number, row in enumerate(rows)
        if not isinstance(row, (dict, msgspec.Struct))
    )
    _refuse("an object", row, endpoint, f"{at}[{number}]")


def _check_of_mapping(item: Any) -> Check:
    inner, types = _check_of(item), _types_of(item)

    def check(value: Any, endpoint: str, at: str) -> Any:
        if not isinstance(value, dict):
            _refuse("an object", value, endpoint, at)
        if inner is _anything:
            return value if at else members_of(value, endpoint)
        if not types.issuperset(map(type, value.values())):
            value = {name: inner(item, endpoint, place(at, name)) for name, item in value.items()}
        return members_of(value, endpoint, at)

    return check


def _check_of_shape(shape: Any) -> Check:
    needed = required(shape)
    checks = {
        name: (_check_of(kind), name not in needed and type(None) not in _alternatives(kind))
        for name, kind in hints(shape).items()
    }

    def check(value: Any, endpoint: str, at: str) -> Any:
        if not isinstance(value, dict):
            _refuse("an object", value, endpoint, at)
        made = members_of(value, endpoint, at)
        for name in value.keys() & checks.keys():
            inner, may_be_null = checks[name]
            if value[name] is None and may_be_null:
                del made[name]  # null is the same as absent
            else:
                made[name] = inner(value[name], endpoint, place(at, name))
        if shape is shapes.SearchAnswer:
            _check_ids(made.get("hits", ()), endpoint, place(at, "hits"))
        return made

    return check


def _check_ids(hits: Sequence[Any], endpoint: str, at: str) -> None:
    """Check that each hit has an objectID, which a service never omits."""
    if dict not in set(map(type, hits)):
        return
    for number, hit in enumerate(hits):
        if type(hit) is dict and type(hit.get("objectID")) is not str:
            _refuse("text", hit.get("objectID"), endpoint, f"{at}[{number}].objectID")


def _check_of_several(kinds: tuple[Any, ...]) -> Check:
    """Choose the check by the value: among several shapes the one with most members in common."""
    shaped = [kind for kind in kinds if typing.is_typeddict(kind)]
    others = [(_container(kind), _check_of(kind)) for kind in kinds if kind not in shaped]
    names = dict.fromkeys(_WORDS.get(container, container.__name__) for container, _ in others)
    expected = " or ".join(names) or "an object"

    def check(value: Any, endpoint: str, at: str) -> Any:
        if shaped and isinstance(value, dict):
            nearest = max(shaped, key=lambda shape: len(hints(shape).keys() & value.keys()))
            return _check_of(nearest)(value, endpoint, at)
        for container, inner in others:
            if type(value) is container or (container is float and type(value) is int):
                return inner(value, endpoint, at)
        _refuse(expected, value, endpoint, at)

    return check


def _container(kind: Any) -> type:
    if get_origin(kind) is Literal:
        return type(get_args(kind)[0])
    container: type = get_origin(kind) or kind
    return container


def _alternatives(declared: Any) -> tuple[Any, ...]:
    while get_origin(declared) in (typing.Annotated, typing.Required, typing.NotRequired):
        declared = get_args(declared)[0]
    if get_origin(declared) not in (Union, types.UnionType):
        return (declared,)
    return tuple(kind for member in get_args(declared) for kind in _alternatives(member))


def _union(kinds: typing.Iterable[Any]) -> Any:
    return Union[tuple(kinds)]  # noqa: UP007 - members are known only at run time

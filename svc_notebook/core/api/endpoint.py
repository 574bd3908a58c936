"""One REST endpoint: its facts, and how a call becomes a request and a request becomes a call."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from inspect import Parameter
from string import Formatter
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args
from urllib.parse import quote

import msgspec

from svc_notebook.core.api.validation import (
    LONE_SURROGATE,
    Text,
    UnknownName,
    advise_extra,
    check_members,
    check_value,
    mark_list_text,
    read_text,
    required,
    write_query,
)
from svc_notebook.core.foreign_names import suggest_argument
from svc_notebook.errors import BadInput, did_you_mean

T = TypeVar("T")
_HEADER_VALUE = re.compile(r"[!-~]([ -~]*[!-~])?")

Verb = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Interface = Literal["search", "crawler", "events", "analytics", "suggestions"]
Place = Literal["path", "query", "header", "body", "member", "spread"]
Right = Literal[
    "search", "browse", "addObject", "deleteObject", "deleteIndex", "settings", "editSettings",
    "analytics", "recommendation", "listIndexes", "logs", "seeUnretrievableAttributes",
]  # fmt: skip
# Besides the rights of a key: the admin key (`admin`), any valid key (`any`), the right of each
# batched action (`actions`), and the crawler's own user id and key (`crawler`).
Access = Right | Literal["admin", "any", "actions", "crawler"]
Normaliser = Callable[[Any], Any]
Decode = Callable[[bytes], Any]


@dataclass(frozen=True)
class Header:
    """Mark an argument that the request carries in the header ``X-Service-<name>``."""

    name: str


class _BodyMark:
    """Mark an argument that is the whole body."""


Body = Annotated[T, _BodyMark()]


class RequestSpec(NamedTuple):
    """A request before it is sent; `read` decodes the body of the response."""

    verb: Verb
    path: str
    query: dict[str, str]
    body: Any = None
    headers: Mapping[str, str] = {}
    read: Decode = msgspec.json.decode


@dataclass(frozen=True, eq=False)
class Endpoint:
    """One endpoint of the API, with all facts that client, service, keys and docs need."""

    name: str
    verb: Verb
    path: str
    acl: Access
    interface: Interface
    reads: bool
    status: int
    repeatable: bool
    doc: str
    signature: inspect.Signature
    types: Mapping[str, Any]
    accepts: tuple[Normaliser, ...] = ()
    former_paths: tuple[str, ...] = ()
    headings: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def places(self) -> dict[str, Place]:
        """Return where the request carries each argument."""
        in_path = {name for _, name, _, _ in Formatter().parse(self.path) if name}
        return {p.name: self._place(p, in_path) for p in self.signature.parameters.values()}

    def _place(self, p: Parameter, in_path: set[str]) -> Place:
        marks = getattr(self.types[p.name], "__metadata__", ())
        if p.name in in_path:
            return "path"
        if p.kind is Parameter.VAR_KEYWORD:
            return "spread"
        if any(isinstance(mark, Header) for mark in marks):
            return "header"
        if any(isinstance(mark, _BodyMark) for mark in marks):
            return "body"
        return "query" if p.kind is Parameter.KEYWORD_ONLY else "member"

    @cached_property
    def shape(self) -> Any:
        """Return the TypedDict of ``**params``, or None."""
        spread = [name for name, location in self.places.items() if location == "spread"]
        return get_args(self.types[spread[0]])[0] if spread else None

    @cached_property
    def members(self) -> dict[str, Any]:
        """Return the members of the body (of a GET: of the query string) and their types."""
        types = {n: self.types[n] for n, location in self.places.items() if location == "member"}
        return types | (
            typing.get_type_hints(self.shape, include_extras=True) if self.shape else {}
        )

    def encode(self, *args: Any, **kwargs: Any) -> RequestSpec:
        """Build the request for the arguments of a call; raises `BadInput` for an invalid one."""
        try:
            return self._encoded(args, kwargs)
        except UnknownName as error:
            raise advise_extra(error) from None

    def _encoded(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> RequestSpec:
        by_place: dict[Place, dict[str, Any]] = {location: {} for location in get_args(Place)}
        for name, value in self._identified(self._bound(args, kwargs)).items():
            location = self.places[name]
            if value is None and self.signature.parameters[name].default is None:
                continue
            by_place[location][name] = self._checked(name, value)
        members = by_place["member"] | next(iter(by_place["spread"].values()), {})
        parts = {name: _quoted(name, str(part)) for name, part in by_place["path"].items()}
        headers = {
            self.headings[name]: _check_header(name, value)
            for name, value in by_place["header"].items()
        }
        query = by_place["query"]
        if self.verb == "GET":
            query, members = query | members, {}
        body = next(iter(by_place["body"].values()), members or None)
        texts = write_query(query) if query else {}
        return RequestSpec(self.verb, self.path.format_map(parts), texts, body, headers)

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        names = [*self.members, *(n for n, location in self.places.items() if location != "spread")]
        for name in kwargs.keys() - names:
            raise UnknownName(f"{self.name} does not take `{name}`{suggest_argument(name, names)}")
        try:
            return self.signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise BadInput(f"{self.name}: {error}") from None

    def _identified(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Add the objectID of the path to a body that requires an objectID and has none."""
        name, given = self._identifiable, arguments.get(self._identifiable)
        if isinstance(given, Mapping) and "objectID" not in given:
            named = {"objectID": arguments["object_id"], **given}
            return {**arguments, name: named}
        return arguments

    @cached_property
    def _identifiable(self) -> str:
        """Return the argument whose body repeats the objectID of the path, or an empty string."""
        body = next((name for name, location in self.places.items() if location == "body"), "")
        shape = get_args(self.types[body])[0] if body else None
        named = self.places.get("object_id") == "path" and typing.is_typeddict(shape)
        return body if named and "objectID" in required(shape) else ""

    def decode(
        self,
        path: Mapping[str, str],
        query: Mapping[str, str],
        body: Any,
        headers: Mapping[str, str] = {},
    ) -> dict[str, Any]:
        """Decode a request into the arguments of the call; raises `BadInput`.

        `headers` are named as in `headings`. Values that arrive as text are read by their declared
        type.
        """
        texts: dict[str, Any] = {name: Text(value) for name, value in query.items()}
        if self.verb == "GET":
            texts, body = self._query_members_in(body) | texts, texts
        for normalise in self.accepts:
            body = normalise(body)
        sources: dict[Place, Mapping[str, Any]] = {
            "path": {name: Text(value) for name, value in path.items()},
            "query": texts,
            "header": {name: headers.get(self.headings[name]) for name in self.headings},
            "member": self._members_of(body),
        }
        given: dict[str, Any] = {}
        for name, location in self.places.items():
            if location == "body":
                given[name] = self._checked(name, body)
            elif location == "spread":
                given |= self._checked(name, self._spread(sources["member"]))
            elif sources[location].get(name) is not None:
                given[name] = self._checked(name, sources[location][name])
            elif (default := self.signature.parameters[name].default) is Parameter.empty:
                raise BadInput(f"`{name}` is missing")
            else:
                given[name] = default
        if not self.shape:
            self._refuse_unknown(sources["member"], self._arguments)
        return given

    def _query_members_in(self, body: Any) -> dict[str, Any]:
        """Read arguments of a GET from its body; api.md has an example with `getClusters`."""
        names = [name for name, location in self.places.items() if location == "query"]
        return {n: body[n] for n in names if n in body} if isinstance(body, dict) else {}

    def _members_of(self, body: Any) -> Mapping[str, Any]:
        if body is None or "body" in self.places.values():
            return {}
        if not isinstance(body, dict):
            raise BadInput(f"the body must be a JSON object, not {type(body).__name__}")
        return body

    def _spread(self, members: Mapping[str, Any]) -> dict[str, Any]:
        """Return the members of ``**params``; null is the same as not given."""
        self._refuse_unknown(members, [*self.members, *self._arguments])
        named = {name for name, location in self.places.items() if location != "spread"}
        spread = {n: value for n, value in members.items() if n not in named and value is not None}
        return mark_list_text(spread, self.shape) if self.reads else spread

    @property
    def _arguments(self) -> list[str]:
        return [name for name, location in self.places.items() if location != "path"]

    def _refuse_unknown(self, members: Mapping[str, Any], names: Iterable[str]) -> None:
        for name in members.keys() - set(names):
            raise BadInput(f"`{name}` is not known{did_you_mean(name, names)}")

    def _checked(self, name: str, value: Any) -> Any:
        if self.places[name] == "spread":
            return check_members(value, self.shape, "")
        if self.places[name] == "path" and value == "":
            raise BadInput(f"`{name}` is empty; give a name")
        if isinstance(value, Text):
            return read_text(value, self.types[name], name)
        at = "" if self.places[name] == "body" else name
        return check_value(value, self.types[name], at)


def _check_header(name: str, text: str) -> str:
    """Return the value of a header; raises `BadInput` for text that a header cannot contain.

    A header has no declared encoding, and recipients strip spaces at its ends.
    """
    if not _HEADER_VALUE.fullmatch(text):
        raise BadInput(
            f"`{name}` is sent as a header: use 1 or more printable ASCII characters "
            f"without spaces at the ends, not {text[:80]!r}"
        )
    return text


def _quoted(name: str, text: str) -> str:
    """Percent-encode a string; raises `BadInput` if UTF-8 cannot encode it."""
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        raise BadInput(f"`{name}` {LONE_SURROGATE}") from None


def describe_access(acl: Access) -> str:
    """Return in words which key or right an endpoint needs."""
    words = {
        "admin": "needs the admin key",
        "any": "any valid key",
        "actions": "the key needs the right of each batched action",
        "crawler": "needs the crawler user id and key",
    }
    return words.get(acl, f"the key needs the right `{acl}`")

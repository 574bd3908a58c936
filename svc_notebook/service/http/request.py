"""The state of one request: its head, endpoint, path parts, body and log entry.

Older clients send a key in the body, which moves to the query here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from time import perf_counter
from typing import Any
from urllib.parse import parse_qsl, quote

import msgspec

from svc_notebook.core.api import Endpoint
from svc_notebook.core.api.families.administration import KeyEndpoints
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.service import limits
from svc_notebook.service.http.messages import (
    Accounts,
    BodyMemory,
    MalformedBody,
    Message,
    Receive,
    ServiceResponse,
    read_body,
    read_json,
)
from svc_notebook.service.indices.replica_setting import read_links
from svc_notebook.service.logs import (
    SECRET_NAMES,
    InnerQuery,
    Logged,
    content_of,
    hide_in_path,
    hide_in_text,
    hide_keys,
    hide_known,
    mask,
    shorten,
)

STARS = "****"

# The account of callers whose key is not known yet.
ANONYMOUS = "anonymous"
# A log entry that names more indices is readable only by keys of all indices.
MAX_NAMED_INDICES = 100
NO_INDEX = ""


def may_have_body_key(endpoint: Endpoint, state: RequestState, prefix: str) -> bool:
    """Return whether a request may have its key in its body, as nowhere else."""
    size = state.headers.get("content-length", "")
    return (
        endpoint.reads
        and endpoint.interface == "search"
        and not state.header("api-key", prefix)
        and size.isdecimal()
        and 0 < int(size) <= limits.MAX_ANONYMOUS_BODY_BYTES
    )


async def read_body_key(
    state: RequestState, receive: Receive, memory: BodyMemory, prefix: str
) -> None:
    """Read a body that may contain the key (`apiKey`), and move the key to the URL.

    The JavaScript client up to release 3 and the Python client of release 1 send keys of more than
    500 characters in the body.
    """
    account, held = ((ANONYMOUS, state.address),), 0

    def reserve(size: int) -> None:
        nonlocal held
        memory.reserve(account, size)
        held += size

    try:
        state.body = await read_body(
            receive, state.headers, reserve, limits.MAX_ANONYMOUS_BODY_BYTES
        )
        body = read_json(state.body)
    except MalformedBody:  # the missing key is refused first
        state.body = b""
        return
    finally:
        memory.release(account, held)
    if isinstance(body, dict) and isinstance(body.get("apiKey"), str):
        state.query[f"{prefix}api-key"] = body.pop("apiKey")
        state.body = msgspec.json.encode(body)


def refuse_security_tags(state: RequestState, prefix: str) -> None:
    """Raise `BadInput` for a filter in a header; without it, callers would see too much."""
    if state.header("TagFilters", prefix):
        raise BadInput(
            f"the header {prefix}tagfilters has no effect here, so that the request is refused; "
            "embed `tagFilters` in a secured key"
        )


# Endpoints whose response is a stored record, which may have any members.
RECORD_ENDPOINTS = ("get_object",)
# Maximum number of URL parameters.
MAX_URL_PARAMETERS = 1000
REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass
class RequestState:
    """The state of a request; after an early refusal the later fields are empty."""

    verb: str
    path: str
    headers: dict[str, str]
    address: str
    query_text: str
    query: dict[str, str] = field(default_factory=dict)
    endpoint: Endpoint | None = None
    path_parts: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    given: dict[str, Any] | None = None  # the arguments of the call, once decoded
    accounts: Accounts = ()
    held_bytes: int = 0
    hits: int | None = None
    params: str = ""
    inner: list[InnerQuery] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    shows_hidden: bool = True
    started: float = field(default_factory=perf_counter)
    response_headers: dict[str, str] = field(default_factory=dict)
    masked_response: bytes | None = None  # the response with secrets masked

    @property
    def request_id(self) -> str:
        """The caller's id of the request, if it may be copied to a response header."""
        given = self.headers.get("request-id", "")
        return given if REQUEST_ID.fullmatch(given) else ""

    @property
    def closes_connection(self) -> bool:
        """Whether the request has a body and the header `Connection: close`."""
        has_body = self.headers.keys() & {"content-length", "transfer-encoding"}
        waits = self.headers.get("expect", "").lower() == "100-continue"
        closes = "close" in self.headers.get("connection", "").lower()
        return closes and bool(has_body) and not waits

    def read_query(self) -> None:
        """Parse the query string; raises `BadInput`."""
        try:
            pairs = parse_qsl(
                self.query_text,
                keep_blank_values=True,
                errors="strict",
                max_num_fields=MAX_URL_PARAMETERS,
            )
        except ValueError as error:
            raise BadInput(f"the query string is not URL-encoded UTF-8: {error}") from None
        self.query = dict(pairs)

    def own_query(self, endpoint: Endpoint, prefix: str) -> dict[str, str]:
        """Return the parameters without credentials; raises `BadInput` for unknown ones."""
        arguments = {n: v for n, v in self.query.items() if not n.lower().startswith(prefix)}
        names = [name for name, location in endpoint.places.items() if location == "query"]
        for name in arguments if endpoint.verb != "GET" else ():
            if name not in names:
                raise BadInput(f"`{name}` is not known in this URL{did_you_mean(name, names)}")
        return arguments

    def record_response(self, given: Mapping[str, Any], answer: Any) -> None:
        """Store the parts of a response that the logs show."""
        if not isinstance(answer, dict) or (
            self.endpoint and self.endpoint.name in RECORD_ENDPOINTS
        ):
            return
        if self.endpoint and self.endpoint.interface == "crawler":
            self.masked_response = msgspec.json.encode(hide_secrets(answer))[
                : limits.MAX_LOGGED_BYTES
            ]
        self.hits, self.params = answer.get("nbHits"), answer.get("params", "")
        if self.endpoint and self.endpoint.name == "search_many":
            pairs = zip(given["requests"], answer["results"], strict=True)
            self.inner = [_inner_query(request, result) for request, result in pairs]

    def header(self, name: str, prefix: str) -> str | None:
        """Return a header of the service; a client may send it as a parameter of the URL."""
        in_url = {name.lower(): value for name, value in self.query.items()}
        full = prefix + name.lower()
        return self.headers.get(full, in_url.get(full))

    def header_arguments(self, endpoint: Endpoint, prefix: str) -> dict[str, str]:
        """Return the headers that an endpoint takes as arguments, by their declared names."""
        values = {name: self.header(name, prefix) for name in endpoint.headings.values()}
        return {name: value for name, value in values.items() if value is not None}

    def read_path_headers(self, endpoint: Endpoint, prefix: str) -> None:
        """Add the arguments of the path that a former path does not name, from their headers."""
        for name, where in endpoint.places.items():
            if where == "path" and name not in self.path_parts:
                value = self.header(name.replace("_", "-"), prefix)
                if value is not None:
                    self.path_parts[name] = value

    def to_log_entry(self, response: ServiceResponse, secrets: Iterable[str]) -> Logged:
        """Return the log entry; `secrets` and the request's own secrets are masked."""
        sent = (*self.headers.items(), *self.query.items())
        own_secrets = (value for name, value in sent if name.lower().endswith(SECRET_NAMES))
        secrets = {*secrets, *own_secrets} - {""}
        path, body, answer = self.path, self.body[: limits.MAX_LOGGED_BYTES], response.excerpt
        if self.endpoint and self.endpoint.name in KeyEndpoints.endpoints:
            path_keys = {self.path_parts.get("key", "")} - {""}
            body, answer = hide_keys(body, *path_keys), hide_keys(answer, *path_keys)
            shown = {n: shorten(v) if n == "key" else quote(v) for n, v in self.path_parts.items()}
            path = self.endpoint.path.format_map(shown)
        if self.endpoint and self.endpoint.interface == "crawler":
            body = hide_in_body(self.body)[: limits.MAX_LOGGED_BYTES]
            answer = answer if self.masked_response is None else self.masked_response
        hide = partial(hide_in_text, secrets=secrets)
        path = hide_in_path(path, secrets, declared=self.endpoint is not None)
        return Logged(
            verb=self.verb,
            path=path[: limits.MAX_LOGGED_BYTES],
            query=_truncate(self.query, secrets),
            headers=_truncate(self.headers, secrets),
            address=self.address,
            body=hide_known(body, secrets),
            status=response.status,
            answer=hide_known(answer, secrets),
            milliseconds=int((perf_counter() - self.started) * 1000),
            hits=self.hits,
            kind=_log_kind(self.endpoint),
            index=hide(self.path_parts.get("index", ""))[: limits.MAX_INDEX_NAME_CHARACTERS],
            inner=self.inner,
            params=hide(self.params)[: limits.MAX_LOGGED_BYTES],
            others=self.others,
            content=content_of(self.endpoint) if self.endpoint else "",
            hidden=self.hidden,
            shows_hidden=self.shows_hidden,
        )


def read_head(scope: Message) -> RequestState:
    """Parse the parts of a request's head that cannot be invalid."""
    headers = {n.decode("latin-1").lower(): v.decode("latin-1") for n, v in scope["headers"]}
    return RequestState(
        verb=scope["method"],
        path=scope["raw_path"].split(b"?", 1)[0].decode("latin-1"),
        headers=headers,
        address=scope["client"][0] if scope.get("client") else "",
        query_text=scope["query_string"].decode("latin-1"),
    )


def _truncate(texts: Mapping[str, str], secrets: Collection[str]) -> dict[str, str]:
    """Return texts up to the size limit of the logs, with secrets masked."""
    kept: dict[str, str] = {}
    left = limits.MAX_LOGGED_BYTES
    for name, value in texts.items():
        if left <= 0:
            break
        kept[name] = hide_in_text(mask(name, value)[:left], secrets)
        left -= len(name) + len(value)
    return kept


def _inner_query(request: Mapping[str, Any], result: Mapping[str, Any]) -> InnerQuery:
    inner: InnerQuery = {"index_name": request["indexName"]}
    if token := request.get("userToken"):
        inner["user_token"] = token
    if query := result.get("queryID"):
        inner["query_id"] = query
    return inner


@cache
def _log_kind(endpoint: Endpoint | None) -> str:
    if endpoint is None:
        return ""
    if endpoint.acl in ("search", "browse"):
        return "query"
    return "" if endpoint.reads else "build"


@cache
def may_name_others(endpoint: Endpoint) -> bool:
    """Return whether a request may name more indices than the one of its path."""
    return "*" in endpoint.path or endpoint.name in (
        "operate_index",
        "set_settings",
        "get_settings",
    )


def named_indices(endpoint: Endpoint, given: Mapping[str, Any], answer: Any) -> list[str]:
    """Return the indices that a request and its response name besides the one of the path."""
    names = _names_in_requests(given.get("requests") or ()) if "*" in endpoint.path else set()
    answer = answer if isinstance(answer, dict) else {}
    for settings in (given.get("settings") or {}, answer):
        names |= _names_of_replicas(settings)
    names |= {
        members[name]
        for members, name in ((answer, "primary"), (given, "destination"))
        if name in members
    }
    return sorted(names) if len(names) <= MAX_NAMED_INDICES else [NO_INDEX]


def _names_of_replicas(settings: Mapping[str, Any]) -> set[str]:
    return {link.name for link in read_links(settings.get("replicas") or ())}


def _names_in_requests(requests: Iterable[Mapping[str, Any]]) -> set[str]:
    return {
        request.get("indexName") or request.get("index_name") or NO_INDEX for request in requests
    }


def hide_secrets(value: Any) -> Any:
    """Return JSON with the secrets masked at any depth."""
    if isinstance(value, Mapping):
        return {name: HIDDEN.get(name, hide_secrets)(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [hide_secrets(item) for item in value]
    return value


def hide_in_body(body: bytes) -> bytes:
    """Return a request body with the secrets masked; empty if it cannot be parsed."""
    try:
        return msgspec.json.encode(hide_secrets(msgspec.json.decode(body))) if body else b""
    except (msgspec.MsgspecError, RecursionError, ValueError):  # ValueError: not UTF-8
        return b""


def _hide_key(value: Any) -> str:
    return shorten(value) if isinstance(value, str) else STARS


def _hide(value: Any) -> str:
    return STARS


HIDDEN: Mapping[str, Callable[[Any], Any]] = {
    "apiKey": _hide_key,
    "headers": _hide,
    "login": _hide,
    "proxy": _hide,
}

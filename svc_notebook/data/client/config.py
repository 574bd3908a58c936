"""The configuration of a client, and the options of single calls.

A configuration has addresses, keys and timeouts; options are headers, query parameters, timeouts
and extra body members.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, Self, TypedDict, TypeVar, Unpack

import msgspec

from svc_notebook.core.api.validation import write_query
from svc_notebook.data.client.hosts import HostChoice, Hosts, build_hosts, is_loopback
from svc_notebook.data.client.retry import RetryPolicy, check_seconds
from svc_notebook.data.client.secret import NO_SECRET, Secret
from svc_notebook.errors import BadInput, did_you_mean

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# The connection and the body determine these headers.
_RESERVED = (
    "accept-encoding", "authorization", "connection", "content-encoding", "content-length",
    "content-type", "host", "transfer-encoding",
)  # fmt: skip
_KEY_HEADERS = re.compile(r"x-[a-z0-9-]+-(api-key|application-id)", re.IGNORECASE)
MAX_ANSWER_BYTES = 256 * 2**20
# The name of each timeout as an option (also in `connect` and profiles), and in `RetryPolicy`.
TIMEOUTS = {"connect_timeout": "connect", "read_timeout": "read", "write_timeout": "write"}
_TOKEN = re.compile(r"[A-Za-z0-9-]+")
# A local service's id is random and stored with its data; its port changes at each start.
_LOCAL_ID, _LOCAL_PORT = "LOCAL", re.compile(r"^(http://127\.0\.0\.1):\d+$")


@dataclass(frozen=True)
class ClientConfig:
    """The address of a service and the keys for it; invalid values raise at once, before a call.

    - `url`: one address for all interfaces.
    - `domain`: the vendor's domain, from which `app_id` derives the hosts; `fallback_domain` is
      that of the fallback hosts, default `domain`; `region` selects the domain's hosts of events
      and analytics.
    - `hosts`: a list of addresses, or lists by role: read, write, crawler, events, analytics,
      suggestions.
    - `vendor`: the word in the names of the headers; default `Service`.
    - `crawler_user_id`, `crawler_api_key`: the credentials of the crawler interface.
    - `retry_policy`: timeouts and number of attempts.
    - `allow_http`: whether keys may be sent without encryption to another computer.
    - `compress`: whether large request bodies are compressed; default False.

    Raises `BadInput` or `NotConnected` for invalid values.
    """

    app_id: str = ""
    api_key: Secret = NO_SECRET
    url: str | None = None
    domain: str | None = None
    fallback_domain: str | None = None
    hosts: HostChoice | None = None
    region: str | None = None
    vendor: str = "Service"
    crawler_user_id: str = ""
    crawler_api_key: Secret = NO_SECRET
    retry_policy: RetryPolicy = field(default_factory=RetryPolicy, repr=False)
    compress: bool = False
    allow_http: bool = False

    def __post_init__(self) -> None:
        self._check_token("vendor", self.vendor)
        if self.app_id:
            self._check_token("app_id", self.app_id)
        for name, key in (("api_key", self.api_key), ("crawler_api_key", self.crawler_api_key)):
            if not _is_header(key.reveal()):
                raise BadInput(f"{name} contains a space or a character that is not allowed in it")
        self._check_encryption()

    def _check_encryption(self) -> None:
        """Reject addresses to which a key would be sent in plain text over a network."""
        listed = [address for role in self.open_hosts().addresses.values() for address in role]
        plain = [a for a in listed if a.lower().startswith("http://") and not is_loopback(a)]
        if plain and (self.api_key or self.crawler_api_key) and not self.allow_http:
            raise BadInput(
                f"{plain[0]} is not encrypted, so others on the network can read the API key; use "
                "https, or permit it by allow_http=True (in a profile: allow_http = true; in the "
                "environment: SVC_ALLOW_HTTP=1)"
            )

    def _check_token(self, name: str, text: str) -> None:
        if not _TOKEN.fullmatch(text):
            raise BadInput(f"{name} `{text}` must be letters, digits and hyphens")

    def open_hosts(self) -> Hosts:
        """Build the host lists of this configuration; fallback hosts are shuffled each time."""
        return build_hosts(
            url=self.url,
            app_id=self.app_id,
            domain=self.domain,
            fallback_domain=self.fallback_domain,
            hosts=self.hosts,
            region=self.region,
        )

    @property
    def address(self) -> str:
        """The address to show to the user."""
        if self.url or self.domain:
            return self.url or f"{self.app_id}.{self.domain}"
        return ", ".join(self.open_hosts().order("write"))

    @property
    def place(self) -> tuple[str, str]:
        """The stable identity of this service and application."""
        return _place_of(self.app_id, self.address)

    @property
    def is_local(self) -> bool:
        """Whether this is a local service: by its id, or by addresses that are all local."""
        if self.app_id.startswith(_LOCAL_ID):
            return True
        return all(is_loopback(host) for host in self.open_hosts().order("read"))

    def is_of(self, app_id: str, address: str) -> bool:
        """Return whether this configuration leads to the given application and service."""
        return self.place == _place_of(app_id, address)


def _place_of(app_id: str, address: str) -> tuple[str, str]:
    """Return the parts of an application id and address that do not change between starts."""
    lasting = _LOCAL_PORT.sub(r"\1", address) if app_id.startswith(_LOCAL_ID) else address
    return app_id, lasting


def _is_header(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


class Response(NamedTuple):
    """A raw response: its status, headers with lower-case names, and decompressed body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Decode the body; raises `BadInput` if it is not JSON."""
        try:
            return msgspec.json.decode(self.body)
        except (msgspec.DecodeError, RecursionError) as error:
            raise BadInput(f"the body is not JSON: {error}; see .body and .headers") from None


class Options(TypedDict, total=False):
    """The options of `with_options`."""

    headers: Mapping[str, str]
    query: Mapping[str, Any]
    connect_timeout: float
    read_timeout: float
    write_timeout: float
    user_id: str
    forwarded_for: str
    forwarded_api_key: str | Secret
    extra: Mapping[str, Any]
    max_answer_bytes: int
    on_response: Callable[[Response], None]


@dataclass(frozen=True)
class RequestOptions:
    """Options that a sender applies to each call; invalid values raise `BadInput` at once."""

    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    connect_timeout: float | None = None
    read_timeout: float | None = None
    write_timeout: float | None = None
    user_id: str | None = None
    forwarded_for: str | None = None
    forwarded_api_key: str | Secret | None = field(default=None, repr=False)
    extra: Mapping[str, Any] = field(default_factory=dict)
    max_answer_bytes: int = MAX_ANSWER_BYTES
    on_response: Callable[[Response], None] | None = None
    raw: bool = False

    def __post_init__(self) -> None:
        for name in ("headers", "query", "extra"):
            if not isinstance(getattr(self, name), Mapping):
                raise BadInput(f"`{name}` must be a dict of names and values: {name}={{...}}")
        for name, value in self.headers.items():
            _check_header(name, value)
        checks: Any = {"user_id": _check_text, "forwarded_for": _check_text}
        for name, check in (checks | dict.fromkeys(TIMEOUTS, check_seconds)).items():
            if (value := getattr(self, name)) is not None:
                check(name, value)
        if type(self.max_answer_bytes) is not int or self.max_answer_bytes < 1:
            raise BadInput("`max_answer_bytes` must be a number of bytes, 1 or more")
        if isinstance(self.forwarded_api_key, str):
            _check_text("forwarded_api_key", self.forwarded_api_key, shown=False)
            object.__setattr__(self, "forwarded_api_key", Secret(self.forwarded_api_key))

    @property
    def forwarded_key(self) -> Secret:
        """The key of the caller on whose behalf a call is made; empty if there is none."""
        given = self.forwarded_api_key
        return given if isinstance(given, Secret) else NO_SECRET

    def changed(self, **options: Unpack[Options]) -> Self:
        """Return a copy with some options changed; headers, query and extra are merged."""
        members = Options.__annotations__
        for name in options.keys() - members.keys():
            raise BadInput(f"`{name}` is not an option of a call{did_you_mean(name, members)}")
        merged: Any = dict(options)
        for name in ("headers", "query", "extra"):
            if isinstance(merged.get(name), Mapping):
                merged[name] = {**getattr(self, name), **merged[name]}
        return replace(self, **merged)

    def apply_timeouts(self, usual: RetryPolicy) -> RetryPolicy:
        """Return the retry policy `usual` with the timeouts of these options."""
        return usual.changed(**{option: getattr(self, name) for name, option in TIMEOUTS.items()})

    @property
    def request_id(self) -> str:
        """The request id from the option `headers`, or an empty string."""
        return next((v for name, v in self.headers.items() if name.lower() == "request-id"), "")

    def add_headers(self, headers: Mapping[str, str], vendor: str) -> dict[str, str]:
        """Merge the headers of the options into the given ones, which they override."""
        headers_added = dict(self.headers)
        if self.user_id is not None:
            headers_added[f"X-{vendor}-User-ID"] = self.user_id
        if self.forwarded_for is not None:
            headers_added["X-Forwarded-For"] = self.forwarded_for
        named = {name.lower() for name in headers_added}
        return {
            name: text for name, text in headers.items() if name.lower() not in named
        } | headers_added

    def add_query(self, query: Mapping[str, str]) -> dict[str, str]:
        """Merge the query parameters of the options into the given ones, which they override."""
        return {**query, **write_query(self.query)} if self.query else {**query}


def _check_header(name: object, value: object) -> None:
    if not isinstance(name, str) or not _HEADER_NAME.fullmatch(name):
        raise BadInput(f"{name!r} is not a valid name of a header")
    if name.lower() in _RESERVED or _KEY_HEADERS.fullmatch(name):
        raise BadInput(
            f"the connection sets the header {name}; pass application and key to svc.connect(...)"
        )
    _check_text(name, value)


def _check_text(name: str, value: object, *, shown: bool = True) -> None:
    if not isinstance(value, str) or not (value.isascii() and value.isprintable()):
        actual = f", not {value!r}" if shown else ""
        raise BadInput(f"`{name}` is sent as a header, so it must be printable ASCII text{actual}")


class WithOptions(Protocol):
    """A client with the method `with_options`."""

    def with_options(self, **options: Unpack[Options]) -> Self:
        """Return a client with these options."""
        ...


C = TypeVar("C", bound=WithOptions)


def with_extra(client: C, extra: Mapping[str, Any] | None) -> C:
    """Return a client that adds extra members to its bodies; the same client if there are none."""
    if extra is not None and not isinstance(extra, Mapping):
        raise BadInput("`extra` must be a dict of names and values: extra={'newParameter': 1}")
    return client.with_options(extra=extra) if extra else client


def merge_extra(endpoint: str, body: Any, extra: Mapping[str, Any]) -> Any:
    """Add extra members to a body: to the object, or to each object of a list.

    Objects are merged at every depth; raises `BadInput` for a member that is given twice.
    """
    if isinstance(body, Mapping) and endpoint == "search_many":
        merged = [_merged(document, extra, "") for document in body["requests"]]
        return {**body, "requests": merged}
    if isinstance(body, list):
        return [_merged(document, extra, "") for document in body]
    if body is None or isinstance(body, Mapping):
        return _merged(body or {}, extra, "")
    raise BadInput(f"{endpoint}: `extra` cannot be added to a body that is already encoded")


def _merged(members: Mapping[str, Any], extra: Mapping[str, Any], path: str) -> dict[str, Any]:
    merged = dict(members)
    for name, value in extra.items():
        present = merged.get(name)
        if isinstance(present, Mapping) and isinstance(value, Mapping):
            merged[name] = _merged(present, value, f"{path}{name}.")
        elif present is not None:
            raise BadInput(f"`{path}{name}` is given twice, once in `extra`")
        else:
            merged[name] = value
    return merged


NO_OPTIONS = RequestOptions()

"""The configuration of a client: addresses, keys and timeouts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from svc_notebook.data.client.hosts import HostChoice, Hosts, build_hosts, is_loopback
from svc_notebook.data.client.retry import RetryPolicy
from svc_notebook.data.client.secret import NO_SECRET, Secret
from svc_notebook.errors import BadInput

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

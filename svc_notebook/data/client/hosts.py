"""The hosts of each interface, and which of them are temporarily marked as down."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args
from urllib.parse import urlsplit

from svc_notebook.core.api import Endpoint
from svc_notebook.core.redaction import show_address
from svc_notebook.errors import BadInput, NotConnected, did_you_mean

Role = Literal["read", "write", "crawler", "events", "analytics", "suggestions"]
ROLES: tuple[Role, ...] = get_args(Role)
HostChoice = Sequence[str] | Mapping[str, str | Sequence[str]]
_REGION = re.compile(r"[A-Za-z0-9-]+")
_LOOPBACK = re.compile(r"127(\.\d{1,3}){3}")  # and not 127.shop.example
HOST_DOWN_SECONDS = 300.0  # as in other clients of this API


def role_of(endpoint: Endpoint) -> Role:
    """Return the role of the hosts that serve an endpoint."""
    if endpoint.interface != "search":
        return endpoint.interface
    return "read" if endpoint.reads else "write"


@dataclass(frozen=True)
class Hosts:
    """The addresses of each role in the order of attempts, with those that failed recently."""

    addresses: Mapping[Role, tuple[str, ...]]
    down_seconds: float = HOST_DOWN_SECONDS
    clock: Callable[[], float] = time.monotonic
    _down_since: dict[str, float] = field(default_factory=dict)

    def order(self, role: Role) -> list[str]:
        """List the hosts to try; hosts marked as down come last, the earliest marked first."""
        addresses = self.addresses.get(role, ())
        if not addresses:
            raise NotConnected(
                f"no address for the {role} hosts is known; "
                f'connect with hosts={{"{role}": "https://..."}} besides the others'
            )
        now = self.clock()
        remaining = {
            host: max(at + self.down_seconds - now, 0) for host, at in self._down_since.items()
        }
        return sorted(addresses, key=lambda host: remaining.get(host, 0))

    def mark_down(self, host: str) -> None:
        """Mark a host as down, so that it is tried last for a while."""
        self._down_since[host] = self.clock()

    def restore(self, host: str) -> None:
        """Unmark a host that has responded."""
        self._down_since.pop(host, None)


def build_hosts(
    *,
    url: str | None = None,
    app_id: str = "",
    domain: str | None = None,
    fallback_domain: str | None = None,
    hosts: HostChoice | None = None,
    region: str | None = None,
    shuffle: Callable[[list[str]], None] = random.shuffle,
) -> Hosts:
    """Build the host lists from one address, a domain, or lists; lists override the others.

    A `region` selects the domain's hosts of events and of analytics, `insights.us.search.example`
    and `analytics.us.search.example`, and replaces `{region}` in listed addresses; without a
    region, that part of an address is removed, and the domain has no host of events.
    """
    if not (url or domain or hosts):
        raise NotConnected(
            "no address to connect to; pass url= or domain=, set SVC_URL, "
            'or start the local service by svc.connect("local")'
        )
    addresses: dict[Role, tuple[str, ...]] = {}
    if url:
        addresses = dict.fromkeys(ROLES, (read_address(url),))
    elif domain:
        addresses = _in_domain(app_id, domain, fallback_domain or domain, shuffle)
        addresses["analytics"] = _addresses(f"https://analytics.{{region}}.{domain}", region)
        addresses["suggestions"] = _addresses(
            f"https://query-suggestions.{{region}}.{domain}", region
        )
        if region:
            addresses["events"] = _addresses(f"https://insights.{{region}}.{domain}", region)
    return Hosts(addresses | _listed(hosts or (), region))


def _region(text: str) -> str:
    if not isinstance(text, str) or not _REGION.fullmatch(text):
        raise BadInput(f"`{text}` is not a region such as us or de")
    return text


def _in_domain(
    app_id: str, domain: str, fallback_domain: str, shuffle: Callable[[list[str]], None]
) -> dict[Role, tuple[str, ...]]:
    if not app_id:
        raise NotConnected("an app_id is needed to find the hosts in a domain; set SVC_APP_ID")
    fallbacks = [f"https://{app_id}-{number}.{fallback_domain}" for number in (1, 2, 3)]
    shuffle(fallbacks)
    first: dict[Role, str] = {
        "read": f"https://{app_id}-dsn.{domain}",
        "write": f"https://{app_id}.{domain}",
    }
    return {
        role: tuple(read_address(address) for address in (addresses, *fallbacks))
        for role, addresses in first.items()
    }


def _listed(hosts: HostChoice, region: str | None) -> dict[Role, tuple[str, ...]]:
    if not isinstance(hosts, Mapping):
        hosts = {"read": hosts, "write": hosts} if hosts else {}
    return {_role(name): _addresses(given, region) for name, given in hosts.items()}


def _role(name: str) -> Role:
    for role in ROLES:
        if role == name:
            return role
    raise BadInput(
        f"`{name}` is not a role of hosts; the roles are {', '.join(ROLES)}"
        f"{did_you_mean(name, ROLES)}"
    )


def _addresses(given: str | Sequence[str], region: str | None) -> tuple[str, ...]:
    listed = (given,) if isinstance(given, str) else given
    return tuple(dict.fromkeys(read_address(_in_region(address, region)) for address in listed))


def _in_region(address: str, region: str | None) -> str:
    if region:
        return address.replace("{region}", _region(region))
    return address.replace(".{region}", "").replace("{region}.", "")


def _scheme(host: str) -> str:
    """Return `http` for a host on this computer, as its services have no certificates."""
    name = host.partition("/")[0].rpartition(":")[0] or host
    return "http" if name in ("localhost", "127.0.0.1", "[::1]") else "https"


def read_address(text: str) -> str:
    """Validate an address and normalize it, without a trailing slash; `host:port` is enough."""
    address = text.strip() if "://" in text else f"{_scheme(text.strip())}://{text.strip()}"
    try:
        parts = urlsplit(address)
        wrong = parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0
    except ValueError:
        wrong = True
    if wrong or not address.isascii() or any(c.isspace() for c in address):
        raise BadInput(f"`{show_address(text)}` is not an address such as https://search.example")
    if any((parts.username, parts.password, parts.query, parts.fragment)):
        raise BadInput("an address has no user, key or query; pass the key as api_key=")
    return address.rstrip("/")


def is_loopback(address: str) -> bool:
    """Return whether an address is on this machine."""
    name = urlsplit(address).hostname or ""
    return name in ("localhost", "::1") or _LOOPBACK.fullmatch(name) is not None

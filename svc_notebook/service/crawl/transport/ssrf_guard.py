"""SSRF guard: connect to public addresses only, so that no page can reach the internal network.

The guard resolves the host name, checks the address and connects to that same address, so that a
name that resolves to another address a moment later (DNS rebinding) has no effect.
"""

from __future__ import annotations

import asyncio
import ipaddress
import selectors
import socket
import ssl
from collections.abc import Iterable
from typing import Any

import httpcore

from svc_notebook.service.crawl.visits import FetchFailure

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Addresses that are not public or only reach a relay (IANA, registries of special-purpose
# addresses). The tables of `ipaddress` differ by Python release, so they are only used in addition.
_SPECIAL_IPV4 = (
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
    "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
)  # fmt: skip
# The only allocated global unicast block (RFC 4291); no IPv6 address outside it is public.
_GLOBAL_IPV6 = "2000::/3"
_SPECIAL_IPV6 = ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
NOT_PUBLIC = tuple(map(ipaddress.ip_network, (*_SPECIAL_IPV4, *_SPECIAL_IPV6)))
GLOBAL_IPV6 = ipaddress.IPv6Network(_GLOBAL_IPV6)
# Prefixes of IPv6 addresses that embed an IPv4 address.
MAPPED = ipaddress.IPv6Network("::ffff:0:0/96")
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
CONNECT_SECONDS = 10.0
# `poll`, where available, checks one socket with one system call; the default selector takes four.
_Selector = getattr(selectors, "PollSelector", selectors.DefaultSelector)


def is_public(address: Address) -> bool:
    """Return whether an address is public and does not embed a private one."""
    if isinstance(address, ipaddress.IPv6Address):
        if address in MAPPED or address in NAT64:
            return is_public(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
        if address not in GLOBAL_IPV6:
            return False
    special = any(address in network for network in NOT_PUBLIC)
    return not special and address.is_global and not address.is_multicast


def is_public_text(address: str) -> bool:
    """Return whether an address, maybe with a zone, is public."""
    return is_public(ipaddress.ip_address(address.partition("%")[0]))


class AddressGuard(httpcore.AsyncNetworkBackend):
    """A network backend that refuses private addresses unless they are allowed."""

    def __init__(self, *, allow_private: bool, from_public_page: bool = False) -> None:
        self._allow_private = allow_private
        self._from_public_page = from_public_page
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 # the name is the library's
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to the first allowed address of a host that accepts the connection."""
        addresses = self._check_addresses(
            host, await _resolve(host, port, timeout or CONNECT_SECONDS)
        )
        for address in addresses[:-1]:
            try:
                return await self._connect(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._connect(addresses[-1], port, timeout, local_address, socket_options)

    async def connect_unix_socket(self, *args: Any, **options: Any) -> httpcore.AsyncNetworkStream:
        """Raise `FetchFailure`: crawlers connect over TCP only."""
        raise FetchFailure("private_address", "a crawler connects over TCP only")

    async def sleep(self, seconds: float) -> None:
        """Sleep for `seconds`."""
        await asyncio.sleep(seconds)

    async def _connect(
        self,
        address: str,
        port: int,
        timeout_seconds: float | None,
        local: str | None,
        options: Any,
    ) -> httpcore.AsyncNetworkStream:
        stream = await self._network.connect_tcp(
            address, port, timeout=timeout_seconds, local_address=local, socket_options=options
        )
        return GuardedStream(stream, is_public_text(address))

    def _check_addresses(self, host: str, addresses: list[str]) -> list[str]:
        if self._allow_private:
            return addresses
        public = [text for text in addresses if is_public_text(text)]
        if public:
            return public
        shown = "" if host == addresses[0] else f"{addresses[0]}, "
        rule = (
            ", which no page of a public host may reach"
            if self._from_public_page
            else "; start the service with --allow-private-crawl to crawl it"
        )
        raise FetchFailure("private_address", f"{host} is {shown}a private address{rule}")


class GuardedStream(httpcore.AsyncNetworkStream):
    """A connection with a fast check for whether the peer has closed it.

    Each request checks every idle connection, and the library's own check collects all information
    about both endpoints first. `is_public` says whether the peer has a public address.
    """

    def __init__(self, stream: httpcore.AsyncNetworkStream, is_public: bool) -> None:
        self._stream = stream
        self._is_public = is_public
        self._socket: socket.socket = stream.get_extra_info("socket")

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        """Read the available bytes."""
        return await self._stream.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Write the whole buffer."""
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> httpcore.AsyncNetworkStream:
        """Upgrade the connection to TLS."""
        stream = await self._stream.start_tls(ssl_context, server_hostname, timeout)
        return GuardedStream(stream, self._is_public)

    def get_extra_info(self, info: str) -> Any:
        """Return information about the connection."""
        if info == "is_public":
            return self._is_public
        return self._is_readable() if info == "is_readable" else self._stream.get_extra_info(info)

    def _is_readable(self) -> bool:
        if self._socket.fileno() < 0:
            return True
        with _Selector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            return bool(selector.select(0))


async def _resolve(host: str, port: int, timeout_seconds: float) -> list[str]:
    """Return the distinct addresses of a host in the system's order of preference."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(timeout_seconds):
            entries = await loop.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    except TimeoutError:
        raise FetchFailure("dns_error", f"the name {host} was not resolved in time") from None
    except (OSError, UnicodeError):
        raise FetchFailure("dns_error", f"the name {host} is not known") from None
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))

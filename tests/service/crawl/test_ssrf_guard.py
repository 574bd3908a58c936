"""Which addresses are public: by IANA's registries, whatever Python's release knows of them."""

from __future__ import annotations

import ipaddress
import random
from ipaddress import ip_address, ip_network

import pytest

from svc_notebook.service.crawl.transport import ssrf_guard
from svc_notebook.service.crawl.transport.ssrf_guard import is_public
from tests.looping import loop_over

# "Globally reachable" is not true (IANA), deprecated or a translator's own; multicast and reserved.
NOT_PUBLIC = (
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/29", "192.0.0.8/32", "192.0.0.170/31", "192.0.0.0/24", "192.0.2.0/24",
    "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
    "224.0.0.0/4", "240.0.0.0/4", "255.255.255.255/32",
    "::/128", "::1/128", "::/96", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "200::/7",
    "400::/6", "1000::/4", "2001::/32", "2001:2::/48", "2001:10::/28", "2001:db8::/32",
    "2002::/16", "3fff::/20", "4000::/3", "5f00::/16", "8000::/1", "e000::/4", "fc00::/7",
    "fe80::/10", "fec0::/10", "ff00::/8",
)  # fmt: skip
PUBLIC = (
    "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
    "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "192.169.0.0",
    "198.17.255.255", "198.20.0.0", "223.255.255.255", "2001:200::1", "2001:4860:4860::8888",
    "2003::1", "2606:4700::1111", "2a00:1450:4001::1", "3ffe::1", "3fff:1000::1",
)  # fmt: skip


def some_of(network: str) -> list[str]:
    """Return the ends of a network and some addresses between, always the same."""
    found = ip_network(network)
    chosen = random.Random(network)
    inside = [int(found[0]) + chosen.randrange(found.num_addresses) for _ in range(20)]
    kind = ipaddress.IPv4Address if found.version == 4 else ipaddress.IPv6Address
    return [str(one) for one in (found[0], found[-1], *map(kind, inside))]


@loop_over("network", NOT_PUBLIC)
def test_an_address_of_a_special_network_is_not_public(network: str) -> None:
    assert [one for one in some_of(network) if is_public(ip_address(one))] == []


@pytest.mark.parametrize("address", PUBLIC)
def test_an_address_next_to_a_special_network_is_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize("prefix", ["::ffff:", "64:ff9b::"])
def test_an_ipv4_address_behind_a_translator_is_what_it_is_itself(prefix: str) -> None:
    for network in NOT_PUBLIC[:19]:
        assert not any(is_public(ip_address(f"{prefix}{one}")) for one in some_of(network))
    for address in PUBLIC[:14]:
        assert is_public(ip_address(f"{prefix}{address}"))


@pytest.mark.parametrize("address", ["2002:7f00:1::", "2002:808:808::1", "2001:0:7f00:1::1"])
def test_an_address_behind_a_tunnel_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


def test_outdated_tables_of_python_allow_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for version in (ipaddress.IPv4Address, ipaddress.IPv6Address):
        monkeypatch.setattr(version, "is_global", True)

    for network in NOT_PUBLIC:
        assert [one for one in some_of(network) if ssrf_guard.is_public(ip_address(one))] == []

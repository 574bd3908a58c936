"""The hosts that are tried, and their order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from svc_notebook.core.api import ENDPOINTS
from svc_notebook.data.client.config import ClientConfig
from svc_notebook.data.client.hosts import ROLES, Hosts, Role, build_hosts, is_loopback, role_of
from svc_notebook.errors import BadInput, NotConnected
from tests.data.client.clock import Clock

ROWS = {row.name: row for row in ENDPOINTS}
ABC: Mapping[Role, tuple[str, ...]] = {"read": ("a", "b", "c")}


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("search", "read"),
        ("browse", "read"),
        ("get_objects", "read"),
        ("get_task", "read"),
        ("batch", "write"),
        ("delete_index", "write"),
        ("run_crawler", "crawler"),
        ("list_domains", "crawler"),
        ("push_events", "events"),
    ],
)
def test_an_endpoint_has_its_hosts(name: str, role: Role) -> None:
    assert role_of(ROWS[name]) == role


@pytest.mark.parametrize("role", ROLES)
def test_one_address_serves_everything(role: Role) -> None:
    assert build_hosts(url="http://127.0.0.1:8108/").order(role) == ["http://127.0.0.1:8108"]


def test_a_domain_has_a_read_host_a_write_host_and_three_fallbacks() -> None:
    hosts = build_hosts(app_id="APP", domain="search.example", fallback_domain="other.example")

    read, write = hosts.order("read"), hosts.order("write")

    assert read[0] == "https://APP-dsn.search.example"
    assert write[0] == "https://APP.search.example"
    assert read[1:] == write[1:]
    assert sorted(read[1:]) == [f"https://APP-{n}.other.example" for n in (1, 2, 3)]


def test_fallbacks_are_shuffled_once_for_each_client() -> None:
    given: dict[str, Any] = {"app_id": "APP", "domain": "search.example"}

    backwards = build_hosts(**given, shuffle=list.reverse)
    orders = {tuple(build_hosts(**given).order("read")) for _ in range(60)}

    assert [host[12] for host in backwards.order("read")[1:]] == ["3", "2", "1"]
    assert backwards.order("read") == backwards.order("read")
    assert len(orders) == 6


def test_listed_hosts_keep_their_order() -> None:
    hosts = build_hosts(hosts=["b.example", "http://a.example", "b.example"])

    assert hosts.order("read") == ["https://b.example", "http://a.example"]


def test_hosts_by_role_win_over_those_of_a_domain() -> None:
    hosts = build_hosts(
        app_id="APP",
        domain="search.example",
        hosts={"crawler": "https://crawler.example", "read": ["https://near.example"]},
    )

    assert hosts.order("read") == ["https://near.example"]
    assert hosts.order("write")[0] == "https://APP.search.example"
    assert hosts.order("crawler") == ["https://crawler.example"]


def test_a_role_without_a_host_says_what_to_give() -> None:
    hosts = build_hosts(app_id="APP", domain="search.example")

    with pytest.raises(NotConnected, match=r'hosts=\{"events": "https'):
        hosts.order("events")


def test_an_unknown_role_is_refused() -> None:
    with pytest.raises(BadInput, match="did you mean `crawler`"):
        build_hosts(hosts={"crawlers": "https://crawler.example"})


@pytest.mark.parametrize(
    "given", [{}, {"app_id": "APP"}, {"domain": "search.example"}], ids=["nothing", "app", "domain"]
)
def test_without_an_address_the_advice_is_what_to_type(given: dict[str, Any]) -> None:
    with pytest.raises(NotConnected, match="SVC_"):
        build_hosts(**given)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ftp://a.example",
        "http://",
        "http://a b",
        "http://a:x",
        "http://ä.example",
        "http://a:0",
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="is not an address"):
        build_hosts(hosts=[text])


@pytest.mark.parametrize("text", ["http://me:secret@a.example", "http://a.example?key=secret"])
def test_an_address_with_a_key_in_it_is_refused_without_showing_it(text: str) -> None:
    with pytest.raises(BadInput, match="api_key=") as caught:
        build_hosts(url=text)

    assert "secret" not in str(caught.value)


def test_a_host_that_failed_comes_last_for_a_while() -> None:
    clock = Clock()
    hosts = Hosts(ABC, down_seconds=300, clock=clock)

    hosts.mark_down("a")

    assert hosts.order("read") == ["b", "c", "a"]
    clock.now += 299
    assert hosts.order("read") == ["b", "c", "a"]
    clock.now += 1
    assert hosts.order("read") == ["a", "b", "c"]


def test_when_all_have_failed_the_one_that_rested_longest_is_first() -> None:
    clock = Clock()
    hosts = Hosts(ABC, down_seconds=300, clock=clock)

    for host in ("b", "c", "a"):
        hosts.mark_down(host)
        clock.now += 1

    assert hosts.order("read") == ["b", "c", "a"]


def test_a_host_that_answers_is_taken_back() -> None:
    hosts = Hosts(ABC, clock=Clock())
    hosts.mark_down("a")

    hosts.restore("a")

    assert hosts.order("read") == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("http://127.0.0.1:80", True),
        ("http://127.9.9.9", True),
        ("http://localhost:1", True),
        ("http://[::1]:80", True),
        ("https://a.example", False),
        ("https://127.example", False),
        ("http://127.0.0.1.shop.example", False),
        ("http://localhost.shop.example", False),
    ],
)
def test_an_address_on_this_machine_is_known(address: str, here: bool) -> None:
    assert is_loopback(address) is here


@pytest.mark.parametrize(
    ("app_id", "address", "same"),
    [
        ("LOCALA1B2", "http://127.0.0.1:5002", True),
        ("LOCALA1B3", "http://127.0.0.1:5001", False),
        ("LOCALA1B2", "http://10.0.0.1:5001", False),
    ],
    ids=["another port", "another service", "another machine"],
)
def test_a_local_service_is_known_by_its_id_for_its_port_changes(
    app_id: str, address: str, same: bool
) -> None:
    connection = ClientConfig("LOCALA1B2", url="http://127.0.0.1:5001")

    assert connection.is_of(app_id, address) == same


def test_any_other_service_is_known_by_its_address() -> None:
    connection = ClientConfig("SHOP", url="http://127.0.0.1:5001")

    assert connection.is_of("SHOP", "http://127.0.0.1:5001")
    assert not connection.is_of("SHOP", "http://127.0.0.1:5002")


@pytest.mark.parametrize(
    ("region", "expected"),
    [("us", "https://insights.us.a.example"), ("de", "https://insights.de.a.example")],
)
def test_a_region_chooses_the_host_for_events(region: str, expected: str) -> None:
    hosts = build_hosts(app_id="APP", domain="a.example", region=region)

    assert hosts.order("events") == [expected]
    assert not any("insights" in host for host in hosts.order("read"))


@pytest.mark.parametrize(
    ("region", "expected"),
    [("us", "https://insights.us.b.example"), (None, "https://insights.b.example")],
)
def test_a_listed_address_may_leave_the_region_open(region: str | None, expected: str) -> None:
    listed = {"events": "https://insights.{region}.b.example"}

    hosts = build_hosts(app_id="APP", domain="a.example", hosts=listed, region=region)

    assert hosts.order("events") == [expected]


@pytest.mark.parametrize("region", ["u s", "us.evil.example/", "u\n", 7])
def test_what_is_no_region_is_refused(region: Any) -> None:
    with pytest.raises(BadInput, match="not a region"):
        build_hosts(app_id="APP", domain="a.example", region=region)

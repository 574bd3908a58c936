"""The address of a caller: that of the connection, or the one that the admin key forwards."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from svc_notebook.core.api.secured_keys import make_secured_key
from tests.service.service_process import ELSEWHERE, HERE, Outside, outside

SOURCES = "/1/security/sources"
INVENTED = "203.0.113.9"


def claims(address: str) -> list[dict[str, str]]:
    """Ways in which a caller may say that it comes from elsewhere."""
    return [
        {"X-Forwarded-For": address},
        {"X-Forwarded-For": f"{address}, {HERE}"},
        {"x-forwarded-for": address, "X-Forwarded-Proto": "https", "X-Forwarded-Host": "other"},
        {"Forwarded": f"for={address};proto=https;by={HERE}"},
        {"X-Real-IP": address, "True-Client-IP": address, "CF-Connecting-IP": address},
        {"X-Client-IP": address, "X-Cluster-Client-IP": address, "Client-IP": address},
        {"X-Forwarded-For": address, "Host": address},
    ]


CLAIMS = range(len(claims("")))


# As an operator may have set it for another server: it must count for nothing here.
@pytest.fixture(scope="module", params=["", "*"], ids=["plain", "trusting-environment"])
def caller(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Outside]:
    with pytest.MonkeyPatch.context() as patch:
        if request.param:
            patch.setenv("FORWARDED_ALLOW_IPS", request.param)
        with outside(tmp_path_factory.mktemp("addresses")) as caller:
            caller.fill("shop", {"objectID": "1"})
            yield caller


def make_key(caller: Outside, **fields: Any) -> str:
    return str(caller.call("POST", "/1/keys", {"acl": ["search"], **fields}).json()["key"])


def search(caller: Outside, key: str, **more: Any) -> int:
    return caller.call("POST", "/1/indexes/shop/query", {}, key=key, **more).status_code


@pytest.mark.parametrize("number", CLAIMS)
def test_the_hourly_limit_counts_the_address_of_the_connection(
    caller: Outside, number: int
) -> None:
    key = make_key(caller, maxQueriesPerIPPerHour=2)

    codes = [
        search(caller, key, headers=claims(f"203.0.113.{n}")[number], source=source)
        for source in (HERE, ELSEWHERE)
        for n in range(4)
    ]

    assert codes == [200, 200, 429, 429] * 2


@pytest.mark.parametrize("number", CLAIMS)
@pytest.mark.parametrize("kind", ["secured", "queryParameters"])
def test_restricted_sources_are_those_of_the_connection(
    caller: Outside, kind: str, number: int
) -> None:
    allowed = f"{ELSEWHERE}/32"
    if kind == "secured":
        key = make_secured_key(caller.facts["searchKey"], restrictSources=allowed)
    else:
        key = make_key(caller, queryParameters=f"restrictSources={allowed}")

    assert search(caller, key, source=ELSEWHERE) == 200
    assert search(caller, key, headers=claims(ELSEWHERE)[number], source=HERE) == 403


@pytest.mark.parametrize("number", CLAIMS)
@pytest.mark.parametrize("right", ["admin", "search", "crawler"])
def test_the_allowlist_checks_the_address_of_the_connection(
    caller: Outside, right: str, number: int
) -> None:
    key = caller.facts["adminKey" if right == "admin" else "searchKey"]
    path = "/api/1/crawlers" if right == "crawler" else "/1/indexes/shop"
    caller.call("PUT", SOURCES, [{"source": f"{ELSEWHERE}/32"}], source=ELSEWHERE)

    try:
        listed = caller.call("GET", path, key=key, source=ELSEWHERE)
        claimed = caller.call("GET", path, key=key, headers=claims(ELSEWHERE)[number])
    finally:
        assert caller.call("PUT", SOURCES, [], source=ELSEWHERE).status_code == 200

    assert listed.status_code == (401 if right == "crawler" else 200)
    assert claimed.status_code == 403
    assert f"{HERE} is not an allowed source" in claimed.json()["message"]


@pytest.mark.parametrize("number", CLAIMS)
@pytest.mark.parametrize("name", ["searchKey", "adminKey"])
def test_logs_tell_the_address_of_the_connection(caller: Outside, name: str, number: int) -> None:
    for source in (HERE, ELSEWHERE):
        search(caller, caller.facts[name], headers=claims(INVENTED)[number], source=source)

    told = caller.call("GET", "/1/logs?length=2").json()["logs"]

    assert [entry["ip"] for entry in told] == [ELSEWHERE, HERE]


def test_a_server_with_the_admin_key_vouches_for_its_callers(caller: Outside) -> None:
    limited = make_key(caller, maxQueriesPerIPPerHour=1)
    placed = make_secured_key(caller.facts["searchKey"], restrictSources="203.0.113.0/24")

    def ask(key: str, address: str) -> int:
        headers = {"X-Forwarded-For": address, "X-Forwarded-API-Key": key}
        return search(caller, caller.facts["adminKey"], headers=headers)

    assert [ask(limited, f"198.51.100.{n}") for n in (1, 1, 2)] == [200, 429, 200]
    assert [ask(placed, address) for address in (INVENTED, "198.51.100.1")] == [200, 403]


def test_only_the_admin_key_may_act_for_another_key(caller: Outside) -> None:
    weak, strong = make_key(caller), make_key(caller, acl=["search", "listIndexes"])
    headers = {"X-Forwarded-API-Key": strong, "X-Forwarded-For": INVENTED}

    for key in (weak, make_secured_key(weak, userToken="me")):
        assert caller.call("GET", "/1/indexes", key=key, headers=headers).status_code == 403


def test_an_address_before_the_request_is_not_http(caller: Outside) -> None:
    url = httpx.URL(caller.running.url)
    with socket.create_connection((url.host, url.port), timeout=10) as plug:
        plug.sendall(
            f"PROXY TCP4 {INVENTED} {HERE} 4000 80\r\nGET /1/indexes HTTP/1.1\r\n".encode()
        )

        assert plug.recv(4096).startswith(b"HTTP/1.1 400 ")


@pytest.mark.slow
def test_the_first_of_pipelined_requests_lends_its_key_to_none(caller: Outside) -> None:
    url = httpx.URL(caller.running.url)
    own = f"X-Service-Application-Id: {caller.facts['appId']}\r\nX-Service-API-Key: "
    first = f"GET /1/indexes HTTP/1.1\r\nhost: x\r\n{own}{caller.facts['adminKey']}\r\n\r\n"
    second = "GET /1/indexes HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"

    with socket.create_connection((url.host, url.port), timeout=10) as plug:
        plug.sendall((first + second).encode())
        heard = b"".join(iter(lambda: plug.recv(65536), b""))

    assert [part[:3] for part in heard.split(b"HTTP/1.1 ")[1:]] == [b"200", b"403"]

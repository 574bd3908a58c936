"""Fetching: retries, cookies, limits, and private addresses."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qs

import pytest

from svc_notebook.errors import BadInput
from svc_notebook.service.crawl.configuration import read_configuration
from svc_notebook.service.crawl.transport.decompression import Body
from svc_notebook.service.crawl.transport.fetcher import Fetcher, FetchResponse
from svc_notebook.service.crawl.transport.host_state import Throttle
from svc_notebook.service.crawl.visits import FetchFailure
from tests.service.crawl.site import Asked, Reply, Site


def fetch(config: dict[str, Any], *urls: str, allow_private: bool = True) -> list[FetchResponse]:
    async def work(fetcher: Fetcher) -> list[FetchResponse]:
        return [await fetcher.fetch(url) for url in urls]

    answers: list[FetchResponse] = run(config, work, allow_private=allow_private)
    return answers


def run(
    config: dict[str, Any],
    work: Callable[[Fetcher], Awaitable[Any]],
    *,
    allow_private: bool = True,
) -> Any:
    async def inside() -> Any:
        configuration = read_configuration(config)
        async with Fetcher(configuration, allow_private=allow_private, backoff=0.01) as fetcher:
            return await work(fetcher)

    return asyncio.run(inside())


def failing(*replies: Reply) -> Callable[[Asked], Reply]:
    """Answer with each reply once, then well."""
    left = list(replies)
    return lambda asked: left.pop(0) if left else Reply(b"well")


@pytest.mark.parametrize(
    "reply",
    [Reply(status=503), Reply(status=429), Reply(status=500), Reply(b"cut", promised=100)],
    ids=["503", "429", "500", "cut"],
)
def test_temporary_failures_are_retried(site: Site, reply: Reply) -> None:
    site.answer("/", failing(reply, reply))

    (answer,) = fetch(site.config(), f"{site.url}/")

    assert answer.body == b"well"
    assert len(site.asked) == 3


def test_retries_are_limited(site: Site) -> None:
    site.page("/", status=503)

    (answer,) = fetch(site.config(requestOptions={"retries": 1}), f"{site.url}/")

    assert answer.status == 503
    assert len(site.asked) == 2


def test_a_permanent_failure_is_not_retried(site: Site) -> None:
    (answer,) = fetch(site.config(), f"{site.url}/missing")

    assert answer.status == 404
    assert len(site.asked) == 1


async def comes_to_rest(fetcher: Fetcher, site: Site, looks: int) -> bool:
    """Ask for a page, and look so often whether its host is left alone."""
    asking = asyncio.create_task(fetcher.fetch(f"{site.url}/"))
    try:
        for _ in range(looks):
            await asyncio.sleep(0.01)
            if fetcher.throttle.is_slow(site.url.removeprefix("http://")):
                return True
        return False
    finally:
        asking.cancel()


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_a_host_is_paused_for_its_retry_after(site: Site, form: str) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=9)
    wait = "9" if form == "seconds" else format_datetime(soon, usegmt=True)
    site.answer("/", failing(Reply(status=429, headers={"Retry-After": wait})))

    async def work(fetcher: Fetcher) -> bool:
        return await comes_to_rest(fetcher, site, 1000)

    assert run(site.config(), work)
    assert len(site.asked) == 1


@pytest.mark.parametrize(
    ("status", "rests"), [(500, False), (502, False), (429, True), (503, True)]
)
def test_a_broken_page_does_not_hold_up_its_host(site: Site, status: int, rests: bool) -> None:
    site.page("/", status=status)

    async def work(fetcher: Fetcher) -> bool:
        fetcher._backoff = 60
        return await comes_to_rest(fetcher, site, 1000 if rests else 30)

    assert run(site.config(), work) is rests


def test_a_slow_page_times_out(site: Site) -> None:
    site.page("/", "late", seconds=5)
    config = site.config(requestOptions={"timeout": 50, "retries": 0})

    with pytest.raises(FetchFailure, match=r"no complete response within 0\.05 seconds") as failure:
        fetch(config, f"{site.url}/")

    assert failure.value.reason == "timeout"


def test_a_page_sent_in_small_pieces_times_out(site: Site) -> None:
    site.page("/", b"x" * 64_000, drip=0.02)
    config = site.config(requestOptions={"timeout": 200, "retries": 0})

    with pytest.raises(FetchFailure) as failure:
        fetch(config, f"{site.url}/")

    assert failure.value.reason == "timeout"


def test_a_cookie_that_cannot_be_sent_back_is_dropped(site: Site) -> None:
    site.page("/login", headers={"Set-Cookie": "name=caf\u00e9"})
    site.page("/")

    fetch(site.config(login={"fetchRequest": {"url": f"{site.url}/login"}}), f"{site.url}/")

    assert "cookie" not in site.asked[1].headers


REFUSED = {
    "http://127.0.0.1:{port}/": "private_address",
    "http://localhost:{port}/": "private_address",
    "http://127.1:{port}/": "private_address",
    "http://[::1]:{port}/": "private_address",
    "http://0.0.0.0:{port}/": "private_address",
    "http://169.254.169.254/": "private_address",
    "http://[::ffff:127.0.0.1]:{port}/": "private_address",
    "http://no-such-host.invalid/": "dns_error",
}


@pytest.mark.parametrize(("url", "reason"), REFUSED.items())
def test_private_addresses_are_never_connected_to(site: Site, url: str, reason: str) -> None:
    site.page("/", "secret")
    port = site.url.rpartition(":")[2]

    with pytest.raises(FetchFailure) as failure:
        fetch(site.config(), url.format(port=port), allow_private=False)

    assert failure.value.reason == reason
    assert not site.asked


def test_a_proxy_at_a_private_address_is_refused(site: Site) -> None:
    config = site.config(requestOptions={"proxy": site.url})

    with pytest.raises(FetchFailure) as failure:
        fetch(config, "http://elsewhere.invalid/", allow_private=False)

    assert failure.value.reason == "private_address"


def test_a_connection_that_is_refused_says_so() -> None:
    with Site() as gone:
        config = gone.config(requestOptions={"retries": 0})

    with pytest.raises(FetchFailure) as failure:
        fetch(config, f"{gone.url}/")

    assert failure.value.reason == "connection_refused"


def test_a_valid_certificate_is_required(site: Site) -> None:
    with pytest.raises(FetchFailure) as failure:
        fetch(site.config(requestOptions={"retries": 0}), site.url.replace("http:", "https:"))

    assert failure.value.reason == "tls_error"


def test_secret_headers_are_sent_to_the_site_only(site: Site) -> None:
    with Site() as other:
        site.page("/")
        other.page("/")
        headers = {"Authorization": "Basic c2VjcmV0", "Cookie": "a=1", "Accept-Language": "fr"}
        config = site.config(requestOptions={"headers": headers})

        fetch(config, f"{site.url}/", f"{other.url}/")

    ours, theirs = site.asked[0].headers, other.asked[0].headers
    assert ours["authorization"] == "Basic c2VjcmV0"
    assert ours["cookie"] == "a=1"
    assert theirs["accept-language"] == ours["accept-language"] == "fr"
    assert "authorization" not in theirs
    assert "cookie" not in theirs
    assert ours["user-agent"].startswith("SvcNotebookCrawler/")


def test_a_login_form_sets_a_cookie_for_every_page(site: Site) -> None:
    def login(asked: Asked) -> Reply:
        good = parse_qs(asked.body.decode()) == {"id": ["me"], "password": ["s3cr3t"]}
        headers = {"Set-Cookie": "session=42; Path=/; HttpOnly", "Location": "/"}
        return Reply(status=302, headers=headers) if good else Reply(status=403)

    site.answer("/login", login)
    site.page("/")
    options = {"method": "POST", "body": "id=me&password=s3cr3t"}
    request = {"url": f"{site.url}/login", "requestOptions": options}

    fetch(site.config(login={"fetchRequest": request}), f"{site.url}/a", f"{site.url}/b")

    assert site.paths() == ["/login", "/", "/a", "/b"]
    assert all(asked.headers["cookie"] == "session=42" for asked in site.asked[1:])


def test_a_login_that_is_refused_says_so(site: Site) -> None:
    config = site.config(login={"fetchRequest": {"url": f"{site.url}/login"}})

    with pytest.raises(BadInput, match=r"`login`: .*/login answers with status 404"):
        fetch(config, f"{site.url}/")

    assert site.paths() == ["/login"]


def test_a_token_is_requested_and_sent(site: Site) -> None:
    site.page("/token", '{"access_token": "abc", "token_type": "Bearer"}')
    site.page("/")
    request = {"url": f"{site.url}/token", "grantType": "client_credentials", "clientId": "me",
               "clientSecret": "s3cr3t", "extraParameters": {"resource": "api"}}  # fmt: skip

    fetch(site.config(login={"oauthRequest": {"accessTokenRequest": request}}), f"{site.url}/")

    assert parse_qs(site.asked[0].body.decode()) == {
        "grant_type": ["client_credentials"], "client_id": ["me"], "client_secret": ["s3cr3t"],
        "resource": ["api"],
    }  # fmt: skip
    assert site.asked[1].headers["authorization"] == "Bearer abc"


def test_a_missing_token_is_reported(site: Site) -> None:
    site.page("/token", "[]")
    request = {"url": f"{site.url}/token", "grantType": "client_credentials", "clientId": "me",
               "clientSecret": "s3cr3t"}  # fmt: skip

    with pytest.raises(BadInput, match="the response has no `access_token`"):
        fetch(site.config(login={"oauthRequest": {"accessTokenRequest": request}}), f"{site.url}/")


def unpack(encoding: str, raw: bytes, limit: int = 1000, step: int = 7) -> bytes:
    body = Body(encoding, limit)
    for start in range(0, len(raw), step):
        body.add(raw[start : start + step])
    return body.read()


TEXT = b"shop " * 50
ENCODED = {
    "": TEXT,
    "identity": TEXT,
    "gzip": gzip.compress(TEXT),
    "GZip": gzip.compress(TEXT[:100]) + gzip.compress(TEXT[100:]),
    "deflate": zlib.compress(TEXT),
    " deflate": zlib.compress(TEXT)[2:-4],
}


@pytest.mark.parametrize(("encoding", "raw"), ENCODED.items(), ids=ENCODED)
def test_a_body_is_decompressed(encoding: str, raw: bytes) -> None:
    for step in (1, 7, 10_000):
        assert unpack(encoding, raw, step=step) == TEXT


BROKEN = {
    "gzip": (gzip.compress(bytes(10_000_000)), "page_too_big"),
    "x-gzip": (gzip.compress(TEXT)[:20], "truncated_body"),
    "deflate": (b"not packed at all", "invalid_body"),
    "br": (b"", "unsupported_encoding"),
    "gzip, gzip": (b"", "unsupported_encoding"),
    "": (bytes(2000), "page_too_big"),
}


@pytest.mark.parametrize(
    ("encoding", "raw", "reason"), [(k, *v) for k, v in BROKEN.items()], ids=BROKEN
)
def test_an_invalid_compressed_body_is_refused(encoding: str, raw: bytes, reason: str) -> None:
    with pytest.raises(FetchFailure) as failure:
        unpack(encoding, raw)

    assert failure.value.reason == reason


def test_requests_per_second_are_limited() -> None:
    async def work() -> list[float]:
        pace, starts = Throttle(5), []
        loop = asyncio.get_running_loop()

        async def one() -> None:
            async with pace.turn("shop.test"):
                starts.append(loop.time())

        await asyncio.gather(*(one() for _ in range(12)))
        return starts

    starts = asyncio.run(work())

    assert all(later - earlier > 0.99 for earlier, later in zip(starts, starts[5:], strict=False))


def test_a_host_gets_its_requested_delay() -> None:
    async def work() -> list[float]:
        pace, starts = Throttle(50), []
        pace.delay("slow.test", 0.2)
        loop = asyncio.get_running_loop()

        async def one(host: str) -> None:
            async with pace.turn(host):
                starts.append(loop.time() if host == "slow.test" else 0.0)

        await asyncio.gather(*(one("slow.test") for _ in range(3)), one("fast.test"))
        return starts

    starts = asyncio.run(work())

    assert starts[1] == 0.0
    slow = [start for start in starts if start]
    assert all(later - earlier > 0.19 for earlier, later in pairwise(slow))


def test_a_proxy_is_used_with_its_credentials(site: Site) -> None:
    site.page("http://shop.invalid/", "through")
    proxy = site.url.replace("http://", "http://me:s3cr%40t@")

    (answer,) = fetch(site.config(requestOptions={"proxy": proxy}), "http://shop.invalid/")

    assert answer.body == b"through"
    assert site.asked[0].headers["proxy-authorization"] == "Basic bWU6czNjckB0"

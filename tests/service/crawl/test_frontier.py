"""Crawls of a real small site, from its first page to its last."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import pytest

from svc_notebook.errors import BadInput
from svc_notebook.service.crawl.frontier import LEDGER_READ_URLS
from svc_notebook.service.crawl.visits import PendingUrl
from tests.service.crawl.conftest import Crawler
from tests.service.crawl.extraction.test_files import PDF
from tests.service.crawl.memory_ledger import MemoryLedger
from tests.service.crawl.site import Asked, Reply, Site, fill_shop, fill_traps, html


def test_every_page_is_visited_once(site: Site, crawler: Crawler) -> None:
    pages = fill_shop(site)

    ledger = crawler.crawl(site.config())

    assert sorted(ledger.outcomes) == sorted(pages)
    assert {outcome.reason for outcome in ledger.outcomes.values()} == {"success"}
    assert max(Counter(site.paths()).values()) == 1


def test_pages_near_the_start_come_first(site: Site, crawler: Crawler) -> None:
    fill_shop(site, products=20)

    ledger = crawler.crawl(site.config())

    depths = [outcome.depth for outcome in ledger.outcomes.values()]
    assert depths == sorted(depths)
    assert max(depths) == 2


def test_every_crawler_trap_ends_with_its_reason(site: Site, crawler: Crawler) -> None:
    fill_traps(site)

    ledger = crawler.crawl(site.config(startUrls=[f"{site.url}/traps"]))

    assert ledger.reasons(site.url) == {
        "/traps": "success",
        "/circle": "http_redirect",
        "/circle/2": "http_redirect",
        "/itself": "http_redirect",
        "/out": "http_redirect",
        "/nowhere": "http_302",
        "/truncated": "truncated_body",
        "/huge": "page_too_big",
        "/bomb": "page_too_big",
        "/garbled": "invalid_body",
        "/charset": "success",
        "/gone": "http_410",
        "/broken": "http_500",
        "/missing": "http_404",
        "/picture.png": "unsupported_file_type",
        "/noindex": "noindex",
        "/from-noindex": "success",
        "/nofollow": "success",
        "/copy": "canonical",
        "/original": "success",
        "/private/secret": "forbidden_by_robotstxt",
    }
    assert "/private/secret" not in site.paths()


def test_an_endless_calendar_ends_at_the_most_urls(site: Site, crawler: Crawler) -> None:
    fill_traps(site)

    ledger = crawler.crawl(site.config(startUrls=[f"{site.url}/calendar"], maxUrls=12))

    assert len(ledger.outcomes) == len(ledger.known) == 12


def test_what_is_not_followed_does_not_count_for_the_most_urls(
    site: Site, crawler: Crawler
) -> None:
    files = "".join(f'<a rel="nofollow" href="/file{n}.pdf">{n}</a>' for n in range(20))
    site.page("/", f'{files}<a href="/closed">closed</a><a href="/last">last</a>')
    closed = [f"/closed{n}.pdf" for n in range(20)]
    site.html("/closed", "Closed", closed, head='<meta name="robots" content="nofollow">')
    site.html("/last", "Last")

    ledger = crawler.crawl(site.config(maxUrls=3))

    assert ledger.reasons(site.url) == {"/": "success", "/closed": "success", "/last": "success"}
    assert len(ledger.known) == 3


def test_deep_paths_are_omitted_except_start_urls(site: Site, crawler: Crawler) -> None:
    site.html("/a/b/c", "Start", ["/a", "/a/b", "/a/b/", "/a/b/c/d"])
    for path in ("/a", "/a/b", "/a/b/", "/a/b/c/d"):
        site.html(path, path)

    ledger = crawler.crawl(site.config(startUrls=[f"{site.url}/a/b/c"], maxDepth=2))

    assert sorted(ledger.reasons(site.url)) == ["/a", "/a/b", "/a/b/c"]


def test_discovered_pages_yield_links_but_no_records(site: Site, crawler: Crawler) -> None:
    fill_shop(site)
    config = site.config(discoveryPatterns=[f"{site.url}/products"])
    config["actions"][0]["pathsToMatch"] = [f"{site.url}/products/*"]

    ledger = crawler.crawl(config)

    reasons = ledger.reasons(site.url)
    assert reasons["/"] == reasons["/products"] == "no_action_matched"
    assert reasons["/products/3"] == "success"
    assert "/about" not in reasons


def test_excluded_urls_are_never_requested(site: Site, crawler: Crawler) -> None:
    fill_shop(site)
    config = site.config(
        startUrls=[f"{site.url}/", f"{site.url}/products/1"],
        exclusionPatterns=[f"{site.url}/products/*", f"!{site.url}/products/4"],
    )

    ledger = crawler.crawl(config)

    reasons = ledger.reasons(site.url)
    assert reasons["/products/1"] == "excluded"
    assert reasons["/products/4"] == "success"
    assert "/products/2" not in reasons
    assert "/products/1" not in site.paths()


def test_sitemaps_add_pages_without_links_to_them(site: Site, crawler: Crawler) -> None:
    site.html("/deep/er/lamp", "Lamp")
    site.html("/", "Home")
    site.page("/index.xml", f"<sitemapindex><sitemap><loc>{site.url}/map.xml</loc></sitemap>"
              "</sitemapindex>")  # fmt: skip
    site.page("/map.xml", f"<urlset><url><loc>{site.url}/deep/er/lamp</loc></url>"
              "<url><loc>http://elsewhere.invalid/</loc></url></urlset>")  # fmt: skip

    ledger = crawler.crawl(site.config(sitemaps=[f"{site.url}/index.xml"], maxDepth=1))

    assert ledger.reasons(site.url) == {
        "/": "success",
        "/index.xml": "sitemap",
        "/map.xml": "sitemap",
        "/deep/er/lamp": "success",
    }


def test_sitemaps_that_robots_txt_names_are_read_as_well(site: Site, crawler: Crawler) -> None:
    site.html("/", "Home")
    site.html("/alone", "Alone")
    site.page("/robots.txt", f"Sitemap: {site.url}/map.txt\n")
    site.page("/map.txt", f"{site.url}/alone\n", headers={"Content-Type": "text/plain"})

    ledger = crawler.crawl(site.config())

    assert ledger.reasons(site.url) == {"/": "success", "/map.txt": "sitemap", "/alone": "success"}


def test_an_invalid_sitemap_fails_and_the_crawl_continues(site: Site, crawler: Crawler) -> None:
    fill_shop(site)

    ledger = crawler.crawl(site.config(sitemaps=[f"{site.url}/about", f"{site.url}/no.xml"]))

    assert ledger.reasons(site.url)["/no.xml"] == "http_404"
    assert ledger.outcomes[f"{site.url}/about"].reason == "invalid_sitemap"
    assert ledger.reasons(site.url)["/products/4"] == "success"


@pytest.mark.slow
def test_a_stopped_crawl_resumes(site: Site, crawler: Crawler) -> None:
    pages = fill_shop(site, products=20)
    ledger = MemoryLedger()

    for settled in range(4, 28, 4):
        crawler.crawl(site.config(rateLimit=4), ledger, settled=settled)

    assert sorted(ledger.outcomes) == sorted(pages)
    assert len(ledger.known) == len(pages)


def test_a_crawl_that_is_killed_loses_nothing(site: Site, crawler: Crawler) -> None:
    pages = fill_shop(site, products=8)
    states: list[MemoryLedger] = []
    crawler.crawl(
        site.config(rateLimit=3), MemoryLedger(after=lambda now: states.append(now.copy()))
    )

    for state in (states[0], states[len(states) // 2], states[-1]):
        crawler.crawl(site.config(), state)

        assert sorted(state.outcomes) == sorted(pages)


def test_a_crawl_stops_immediately_with_pages_in_progress(site: Site, crawler: Crawler) -> None:
    site.html("/", "Home", ["/slow"])
    site.page("/slow", "slow", seconds=20)
    began = time.monotonic()

    ledger = crawler.crawl(site.config(), settled=1)

    assert time.monotonic() - began < 20
    assert ledger.waiting(10) == [PendingUrl(f"{site.url}/slow", depth=1, referrer=f"{site.url}/")]


def test_given_urls_alone_are_crawled_without_their_links(site: Site, crawler: Crawler) -> None:
    fill_shop(site)
    site.redirect("/old", "/products/1")
    ledger = MemoryLedger()
    ledger.add(
        [PendingUrl(f"{site.url}/about", seed=True), PendingUrl(f"{site.url}/old", seed=True)]
    )

    crawler.crawl(site.config(), ledger, whole=False)

    assert ledger.reasons(site.url) == {
        "/about": "success",
        "/old": "http_redirect",
        "/products/1": "success",
    }


@pytest.mark.slow
def test_a_large_crawl_keeps_its_urls_in_the_ledger(site: Site, crawler: Crawler) -> None:
    site.html("/", "Home", [f"/page/{number}" for number in range(3000)])

    ledger = crawler.crawl(site.config(), settled=100)

    assert len(ledger.known) == 3001
    assert ledger.most_taken <= LEDGER_READ_URLS + 300


@pytest.mark.slow
def test_outcomes_are_settled_together(site: Site, crawler: Crawler) -> None:
    site.html("/", "Home", [f"/missing/{number}" for number in range(200)])

    ledger = crawler.crawl(site.config())

    assert sum(ledger.batches) == 201
    assert len(ledger.batches) < 100


def test_a_delayed_host_does_not_delay_others(site: Site, crawler: Crawler) -> None:
    with Site() as other:
        fill_shop(other, products=10)
        site.html("/", "Home", ["/1", "/2", "/3"])
        for path in ("/1", "/2", "/3"):
            site.html(path, path)
        site.page("/robots.txt", "User-agent: *\nCrawl-delay: 20\n")
        config = site.config(startUrls=[f"{site.url}/", f"{other.url}/"], rateLimit=5)
        config["actions"][0]["pathsToMatch"].append(f"{other.url}/**")

        ledger = crawler.crawl(config, settled=14)

    assert sum(url.startswith(other.url) for url in ledger.outcomes) == 13
    assert sum(url.startswith(site.url) for url in ledger.outcomes) == 1


def test_a_crawl_waits_for_external_data(site: Site, crawler: Crawler) -> None:
    fill_shop(site)
    config = site.config(externalData=[f"{site.url}/prices.csv"])

    with pytest.raises(BadInput, match=r"externalData `prices`: .* answers with status 404"):
        crawler.crawl(config)

    assert site.paths() == ["/prices.csv"]


def test_a_ledger_that_fails_ends_the_crawl(site: Site, crawler: Crawler) -> None:
    class Full(MemoryLedger):
        def settle(self, *args: Any, **options: Any) -> None:
            raise OSError("the disk is full")

    fill_shop(site)

    with pytest.raises(OSError, match="the disk is full"):
        crawler.crawl(site.config(), Full())


def test_concurrent_pages_are_limited(site: Site, crawler: Crawler) -> None:
    now: list[int] = []
    most = 0

    def answer(asked: Asked) -> Reply:
        nonlocal most
        now.append(1)
        most = max(most, len(now))
        time.sleep(0.05)
        now.pop()
        return Reply(status=404)

    site.html("/", "Home", [f"/missing/{number}" for number in range(20)])
    for number in range(20):
        site.answer(f"/missing/{number}", answer)

    crawler.crawl(site.config(rateLimit=7))

    assert 1 < most <= 7


def test_the_target_of_a_redirected_start_url_is_a_seed(site: Site, crawler: Crawler) -> None:
    site.redirect("/", "/a/b/c")
    site.html("/a/b/c", "Home")
    site.html("/x", "X")
    site.page("/robots.txt", f"Sitemap: {site.url}/map.txt\n")
    site.page("/map.txt", f"{site.url}/x\n", headers={"Content-Type": "text/plain"})

    ledger = crawler.crawl(site.config(maxDepth=1))

    assert ledger.reasons(site.url) == {
        "/": "http_redirect",
        "/a/b/c": "success",
        "/map.txt": "sitemap",
        "/x": "success",
    }


@pytest.mark.parametrize("kind", ["redirect", "canonical"])
def test_an_endless_redirect_chain_fails(site: Site, crawler: Crawler, kind: str) -> None:
    for n in range(12):
        if kind == "redirect":
            site.redirect(f"/{n}", f"/{n + 1}")
        else:
            site.page(f"/{n}", f'<link rel="canonical" href="/{n + 1}">')

    ledger = crawler.crawl(site.config(startUrls=[f"{site.url}/0"]))

    reasons = ledger.reasons(site.url)
    assert [reasons[f"/{n}"] for n in range(5)] == [
        "http_redirect" if kind == "redirect" else "canonical"
    ] * 5
    assert reasons["/5"] == "too_many_redirects"
    assert "/6" not in reasons


def needing_cookie(name: str, then: str | None = None, *, title: str = "Read") -> Any:
    """Answer with a page to whoever sends a cookie; lead others back, or to where it is set."""

    def answer(asked: Asked) -> Reply:
        if f"{name}=1" in asked.headers.get("cookie", ""):
            return Reply(html(title).encode())
        headers = {"Location": then or asked.path, "Set-Cookie": f"{name}=1; Path=/; HttpOnly"}
        return Reply(status=302, headers=headers)

    return answer


@pytest.mark.slow
def test_a_redirect_to_itself_that_sets_a_cookie_is_read(site: Site, crawler: Crawler) -> None:
    site.html("/", "Home", ["/a", "/b", "/c"])
    for path in ("/a", "/b", "/c"):
        site.answer(path, needing_cookie("seen"))

    ledger = crawler.crawl(site.config(rateLimit=1))

    assert set(ledger.reasons(site.url).values()) == {"success"}
    # The cookie is kept for the host: it is set once.
    assert Counter(site.paths()) == {"/": 1, "/a": 2, "/b": 1, "/c": 1}


def test_a_cookie_may_be_set_by_a_url_that_redirects_back(site: Site, crawler: Crawler) -> None:
    site.html("/", "Home", ["/page"])
    site.answer("/page", needing_cookie("checked", "/check?back=%2Fpage"))
    site.redirect("/check", "/page")

    ledger = crawler.crawl(site.config())

    assert ledger.reasons(site.url) == {"/": "success", "/page": "success"}


def test_a_page_that_never_accepts_its_cookie_fails(site: Site, crawler: Crawler) -> None:
    loop = {"Location": "/", "Set-Cookie": "a=1"}
    site.page("/", status=302, headers=loop)

    ledger = crawler.crawl(site.config())

    assert ledger.reasons(site.url) == {"/": "too_many_redirects"}
    assert len(site.paths()) < 10


def test_cookies_of_other_responses_are_not_kept(site: Site, crawler: Crawler) -> None:
    headers = {"Content-Type": "text/html", "Set-Cookie": "lang=de"}
    site.page("/", html("Home", ["/a", "/away"]), headers=headers)
    site.html("/a", "A")
    site.page("/away", status=302, headers={"Location": "/b", "Set-Cookie": "lang=fr"})
    site.html("/b", "B")

    ledger = crawler.crawl(site.config(rateLimit=1))

    assert ledger.reasons(site.url)["/away"] == "http_redirect"
    assert not any("cookie" in asked.headers for asked in site.asked)
    assert Counter(site.paths()) == {"/": 1, "/a": 1, "/away": 1, "/b": 1}


NO_TYPE = {
    "/html": (b"\n<!-- a --><!DOCTYPE html><title>x</title>", "success"),
    "/fragment": (b"<div><p>x</div>", "success"),
    "/utf-16": ("\ufeff<html><title>x</title>".encode("utf-16-le"), "success"),
    "/xhtml": (b'<?xml version="1.0"?><!DOCTYPE html><html><title>x</title></html>', "success"),
    "/pdf": (PDF, "success"),
    "/feed": (b'<?xml version="1.0"?><rss><channel/></rss>', "unsupported_file_type"),
    "/text": (b"Only text <b>", "unsupported_file_type"),
    "/text.html": (b"Only text", "success"),
    "/binary": (bytes(range(200)), "unsupported_file_type"),
    "/empty": (b"", "unsupported_file_type"),
}


def test_a_page_without_a_type_is_known_by_its_bytes(site: Site, crawler: Crawler) -> None:
    for path, (body, _) in NO_TYPE.items():
        site.page(path, body, headers={})
    config = site.config(startUrls=[site.url + path for path in NO_TYPE])
    config["actions"][0]["fileTypesToMatch"] = ["html", "pdf"]

    ledger = crawler.crawl(config)

    assert ledger.reasons(site.url) == {path: reason for path, (_, reason) in NO_TYPE.items()}
    assert "text/xml" in ledger.outcomes[f"{site.url}/feed"].readable

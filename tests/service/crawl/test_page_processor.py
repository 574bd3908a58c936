"""Processing of one page: its records, and why it may be skipped."""

from __future__ import annotations

from typing import Any

import pytest

from svc_notebook.service import limits
from svc_notebook.service.crawl.extraction import Extractors
from svc_notebook.service.crawl.page_results import MAX_RECORD_BYTES
from tests.service.crawl.conftest import Crawler
from tests.service.crawl.memory_ledger import MemoryLedger
from tests.service.crawl.site import Asked, Reply, Site, html


def function(source: str) -> dict[str, str]:
    return {"__type": "function", "source": source}


def with_extractor(site: Site, source: str, **action: Any) -> dict[str, Any]:
    config = site.config()
    config["actions"][0].update(recordExtractor=function(source), **action)
    return config


def test_a_page_that_matches_several_actions_yields_records_of_each(
    site: Site, crawler: Crawler
) -> None:
    site.html("/", "Home")
    config = site.config(indexPrefix="shop_")
    config["actions"] = [
        {**config["actions"][0], "recordExtractor": function("() => [{n: 1}, {n: 2}]")},
        {**config["actions"][0], "recordExtractor": function("() => [{n: 3}]")},
        {"indexName": "other", "recordExtractor": function("() => [{n: 4, objectID: 7}]")},
    ]

    outcome = crawler.visit(config, f"{site.url}/")

    url = f"{site.url}/"
    assert outcome.records == {
        "shop_pages": [
            {"n": 1, "objectID": f"0-{url}"},
            {"n": 2, "objectID": f"1-{url}"},
            {"n": 3, "objectID": f"2-{url}"},
        ],
        "shop_other": [{"n": 4, "objectID": "7"}],
    }
    assert [one.action for one in outcome.yielded] == [0, 1, 2]


EXTRACTORS = {
    "() => []": ("SKIPPED", "extraction", "no_records", "no record"),
    "() => { throw new Error('no price') }": (
        "FAILED",
        "extraction",
        "extractor_error",
        "no price",
    ),
    "() => [{objectID: true}]": ("FAILED", "indexing", "invalid_object_id", "record 0"),
    "() => [{a: 'x'.repeat(200000)}]": ("FAILED", "indexing", "record_too_big", "100,000"),
}


@pytest.mark.parametrize(("source", "end"), EXTRACTORS.items())
def test_errors_of_an_extractor_are_reported(
    site: Site, crawler: Crawler, source: str, end: tuple[str, str, str, str]
) -> None:
    site.html("/", "Home", ["/next"])

    outcome = crawler.visit(with_extractor(site, source), f"{site.url}/")

    assert (outcome.status, outcome.category, outcome.reason) == end[:3]
    assert end[3] in outcome.readable
    assert outcome.found == (f"{site.url}/next",)
    assert outcome.records == {}


def test_a_missing_object_id_fails_without_generated_ids(site: Site, crawler: Crawler) -> None:
    site.html("/", "Home")
    config = with_extractor(site, "() => [{a: 1}]", autoGenerateObjectIDs=False)

    assert crawler.visit(config, f"{site.url}/").reason == "missing_object_id"


def test_a_record_may_have_the_maximum_size() -> None:
    assert MAX_RECORD_BYTES == limits.MAX_RECORD_BYTES


def test_selectors_select_pages(site: Site, crawler: Crawler) -> None:
    site.page("/", html("Home", text='<b class="price">3</b>'))
    wanted = with_extractor(site, "() => [{a: 1}]", selectorsToMatch=[".price"])
    unwanted = with_extractor(site, "() => [{a: 1}]", selectorsToMatch=["!.price"])

    assert crawler.visit(wanted, f"{site.url}/").reason == "success"
    assert crawler.visit(unwanted, f"{site.url}/").reason == "selectors_not_matched"


def test_logs_of_an_extractor_are_kept(site: Site, crawler: Crawler) -> None:
    site.html("/", "Home")
    config = with_extractor(site, "() => { console.log('seen'); return [{a: 1}] }")

    assert any("seen" in line for line in crawler.visit(config, f"{site.url}/").logs)


def test_nofollow_links_are_omitted(site: Site, crawler: Crawler) -> None:
    site.page("/", '<link rel="next" href="/2"><a href="/a">a</a><a rel="nofollow" href="/b">b</a>')
    url = f"{site.url}/"

    assert crawler.visit(site.config(), url).found == (f"{site.url}/a",)
    both = crawler.visit(site.config(ignoreNoFollowTo=True), url)
    assert both.found == (f"{site.url}/a", f"{site.url}/b")
    paged = crawler.visit(site.config(ignorePaginationAttributes=False), url)
    assert set(paged.found) == {f"{site.url}/a", f"{site.url}/2"}


def test_a_function_may_choose_the_links(site: Site, crawler: Crawler) -> None:
    site.html("/", "Home", ["/a", "/b"])
    source = "({ defaultExtractor }) => [...defaultExtractor().slice(0, 1), '/c', 'mailto:x']"

    outcome = crawler.visit(site.config(linkExtractor=function(source)), f"{site.url}/")

    assert outcome.found == (f"{site.url}/a", f"{site.url}/c")


def test_a_function_that_fails_to_choose_links_fails_the_page_alone(
    site: Site, crawler: Crawler
) -> None:
    site.html("/", "Home")
    config = site.config(linkExtractor=function("() => { throw new Error('oh') }"))

    outcome = crawler.visit(config, f"{site.url}/")

    assert (outcome.status, outcome.reason) == ("FAILED", "extractor_error")
    assert "oh" in outcome.readable


def test_noindex_applies_unless_it_is_ignored(site: Site, crawler: Crawler) -> None:
    headers = {"Content-Type": "text/html", "X-Robots-Tag": "noindex"}
    site.page("/", html("Home", ["/a"]), headers=headers)

    assert crawler.visit(site.config(), f"{site.url}/").reason == "noindex"
    assert crawler.visit(site.config(ignoreNoIndex=True), f"{site.url}/").reason == "success"


CANONICAL: dict[str, Any] = {
    "heeded": (False, "canonical"),
    "ignored": (True, "success"),
    "ignored here": (["**/original"], "success"),
    "ignored elsewhere": (["**/other"], "canonical"),
}


@pytest.mark.parametrize(("ignored", "reason"), CANONICAL.values(), ids=CANONICAL)
def test_a_canonical_url_takes_the_place_of_a_page(
    site: Site, crawler: Crawler, ignored: Any, reason: str
) -> None:
    site.html("/", "Copy", head='<link rel="canonical" href="/original">')

    outcome = crawler.visit(site.config(ignoreCanonicalTo=ignored), f"{site.url}/")

    assert outcome.reason == reason
    assert f"{site.url}/original" in outcome.found


def test_aliases_and_ignored_parameters_change_what_is_found(site: Site, crawler: Crawler) -> None:
    site.html("/", "Home", ["http://dev.shop.test/old/1?utm_source=x&page=2"])
    place = site.url.removeprefix("http://")
    config = site.config(
        ignoreQueryParams=["utm_*"],
        hostnameAliases={"dev.shop.test": place},
        pathAliases={place: {"/old": "/new"}},
    )

    outcome = crawler.visit(config, f"{site.url}/")

    assert outcome.found == (f"{site.url}/new/1?page=2",)


def test_external_data_is_passed_to_its_page(site: Site, crawler: Crawler) -> None:
    site.html("/", "Home")
    site.page("/prices.csv", f"url,price\n{site.url}/,12\n{site.url}/other,13\n")
    site.page("/stock.json", f'[{{"url": "{site.url}/", "left": [1, 2]}}]')
    config = with_extractor(site, "({ dataSources }) => [dataSources]")
    config["externalData"] = [f"{site.url}/prices.csv",
                              {"dataSourceId": "stock", "type": "json",
                               "url": f"{site.url}/stock.json"}]  # fmt: skip

    outcome = crawler.visit(config, f"{site.url}/")

    external = {"prices": {"price": "12"}, "stock": {"left": [1, 2]}}
    assert outcome.external == external
    assert outcome.records["pages"] == [{**external, "objectID": f"0-{site.url}/"}]


def test_a_page_that_did_not_change_keeps_its_records(site: Site, crawler: Crawler) -> None:
    def answer(asked: Asked) -> Reply:
        headers = {"Content-Type": "text/html", "ETag": '"1"'}
        if asked.headers.get("if-none-match") == '"1"':
            return Reply(status=304, headers=headers)
        return Reply(html("Home", ["/a"]).encode(), headers=headers)

    site.answer("/", answer)
    site.html("/a", "A")
    first = crawler.crawl(site.config())

    second = crawler.crawl(site.config(), MemoryLedger(first))

    url = f"{site.url}/"
    assert second.reasons(site.url) == {"/": "not_modified", "/a": "success"}
    assert second.outcomes[url].records == first.outcomes[url].records
    assert second.outcomes[url].remember == first.outcomes[url].remember

    third = crawler.crawl(site.config(ignoreNoIndex=True), MemoryLedger(second))
    assert third.reasons(site.url)["/"] == "success"
    config = site.config(cache={"enabled": False})
    assert crawler.crawl(config, MemoryLedger(second)).reasons(site.url)["/"] == "success"


def test_a_file_is_read_only_by_an_action_for_its_type(site: Site, crawler: Crawler) -> None:
    site.page("/", "%PDF-1.4", headers={"Content-Type": "application/pdf"})

    outcome = crawler.visit(site.config(), f"{site.url}/")

    assert (outcome.reason, outcome.category) == ("unsupported_file_type", "fetch")
    config = site.config()
    config["actions"][0]["fileTypesToMatch"] = ["pdf"]
    assert crawler.visit(config, f"{site.url}/").category == "extraction"


def test_an_etag_that_cannot_be_sent_is_not_kept(site: Site, crawler: Crawler) -> None:
    headers = {"Content-Type": "text/html", "ETag": '"caf\u00e9"'}
    site.page("/", html("Home"), headers=headers)

    outcome = crawler.visit(site.config(), f"{site.url}/")

    assert (outcome.reason, outcome.remember) == ("success", None)


def test_a_redirect_out_of_the_crawl_is_reported(site: Site, crawler: Crawler) -> None:
    site.redirect("/", "https://elsewhere.invalid/")

    outcome = crawler.visit(site.config(), f"{site.url}/")

    assert outcome.found == ()
    assert outcome.readable == (
        "The URL redirects to another one: https://elsewhere.invalid/, "
        "which is not within the crawl"
    )


def test_one_failed_extractor_discards_all_records_of_a_page(site: Site, crawler: Crawler) -> None:
    site.html("/", "Home")
    config = with_extractor(site, "() => [{a: 1}]")
    config["actions"].append({**config["actions"][0], "recordExtractor": function("() => oh()")})

    outcome = crawler.visit(config, f"{site.url}/")

    assert outcome.reason == "extractor_error"
    assert outcome.readable.startswith("actions[1]: ")
    assert outcome.records == {}
    assert outcome.yielded[0].records == [{"a": 1}]


@pytest.mark.slow
def test_an_extractor_timeout_is_reported_and_skips_the_next_extractors(
    site: Site,
) -> None:
    site.html("/", "Home")
    config = site.config()
    [action] = config["actions"]
    sources = ["() => [{ a: 1 }]", "() => { for (;;); }", "() => { for (;;); }"]
    config["actions"] = [{**action, "recordExtractor": function(one)} for one in sources]

    with Extractors(seconds=0.3, processes=1) as extractors:
        outcome = Crawler(extractors).visit(config, f"{site.url}/")

    assert (outcome.status, outcome.reason) == ("FAILED", "extractor_error")
    assert outcome.readable == "actions[1]: it took more than 0.3 seconds"
    assert [one.action for one in outcome.yielded] == [0, 1]


SHARED = "() => [{objectID: 'a', n: 1}, {objectID: 'b', n: 2}, {objectID: 'a', n: 3}]"


def test_records_that_share_an_object_id_are_reported(site: Site, crawler: Crawler) -> None:
    site.html("/", "Home", ["/next"])

    outcome = crawler.visit(with_extractor(site, SHARED), f"{site.url}/")

    assert (outcome.status, outcome.reason) == ("DONE", "duplicate_object_id")
    assert "1 of 3 records" in outcome.readable
    assert "`a`" in outcome.readable
    assert outcome.readable in outcome.logs
    assert outcome.found == (f"{site.url}/next",)


def test_equal_records_of_one_object_id_are_one(site: Site, crawler: Crawler) -> None:
    site.html("/", "Home")
    config = with_extractor(site, "() => [{objectID: 'a', n: 1}]")
    config["actions"] = [*config["actions"], config["actions"][0]]
    other = {**config["actions"][0], "indexName": "other"}
    other["recordExtractor"] = function("() => [{objectID: 'a', n: 2}]")
    config["actions"].append(other)

    assert crawler.visit(config, f"{site.url}/").reason == "success"

"""InstantSearch and the vendor's browser client, unchanged, search the service from a page."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import Shop
from tests.page.shop import PRODUCTS

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def type_query(page: Page, text: str) -> None:
    page.locator("#box input").fill(text)


def count(page: Page, number: int) -> None:
    """Wait until the page says that so many were found."""
    expect(page.locator("#stats .ais-Stats-text")).to_contain_text(f"{number:,} result")


def shown(page: Page) -> list[str]:
    cards = page.locator("#hits article").all()
    return [card.get_attribute("data-id") or "" for card in cards]


def values(page: Page, facet: str) -> dict[str, int]:
    labels = page.locator(f"#{facet} .ais-RefinementList-labelText").all_inner_texts()
    counts = page.locator(f"#{facet} .ais-RefinementList-count").all_inner_texts()
    return dict(zip(labels, map(int, counts), strict=True))


def choose(page: Page, facet: str, value: str) -> None:
    page.locator(f"#{facet} label", has_text=value).click()


def test_all_products_are_there_at_first(page: Page) -> None:
    count(page, 40)

    assert shown(page) == [str(n) for n in range(8)]
    assert values(page, "brand") == dict.fromkeys(["Acme", "Borg", "Cyan", "Delta", "Écru"], 8)


def test_typing_searches_as_it_goes_and_marks_what_was_found(page: Page) -> None:
    for letters in ("l", "la", "lam", "lamp"):
        type_query(page, letters)
    count(page, 20)

    marks = page.locator("#hits article b mark")
    expect(marks).to_have_text(["Lamp"] * 8)
    assert page.locator("#hits article b").first.inner_text() == "Lamp 1 <b>&co</b>"


def test_a_typo_is_forgiven_and_a_snippet_surrounds_the_match(page: Page) -> None:
    type_query(page, "lmap")
    count(page, 20)

    snippet = page.locator("#hits article i").first
    expect(snippet.locator("mark")).to_have_text("lamp")
    assert "…" in snippet.inner_text()


def test_nothing_found_says_so(page: Page) -> None:
    type_query(page, "zeppelin")

    expect(page.locator("#hits .ais-Hits--empty")).to_be_visible()


def test_alternatives_of_one_facet_add_up_and_keep_their_counts(page: Page) -> None:
    choose(page, "brand", "Acme")
    count(page, 8)
    assert values(page, "brand") == dict.fromkeys(["Acme", "Borg", "Cyan", "Delta", "Écru"], 8)

    choose(page, "brand", "Borg")
    count(page, 16)

    expected = [p["objectID"] for p in PRODUCTS if p["brand"] in ("Acme", "Borg")]
    assert shown(page) == expected[:8]


def test_values_that_must_all_be_there_narrow_down(page: Page) -> None:
    both = [p["objectID"] for p in PRODUCTS if {"red", "small"} <= set(p["tags"])]

    choose(page, "tags", "red")
    count(page, 20)
    choose(page, "tags", "small")
    count(page, len(both))

    assert shown(page) == both[:8]
    assert values(page, "tags")["red"] == values(page, "tags")["small"] == len(both)


def test_a_facet_is_searched_without_its_accents(page: Page) -> None:
    page.locator("#brand .ais-SearchBox-input").fill("ecr")

    expect(page.locator("#brand .ais-RefinementList-item")).to_have_count(1)
    choose(page, "brand", "Écru")
    count(page, 8)


def test_a_range_keeps_what_lies_in_it(page: Page) -> None:
    inside = [p["objectID"] for p in PRODUCTS if 20 <= p["price"] <= 50]

    page.locator("#price .ais-RangeInput-input--min").fill("20")
    page.locator("#price .ais-RangeInput-input--max").fill("50")
    page.locator("#price .ais-RangeInput-submit").click()
    count(page, len(inside))

    assert shown(page) == inside[:8]


def test_a_replica_sorts_otherwise(page: Page) -> None:
    cheapest = sorted(PRODUCTS, key=lambda p: p["price"])[:8]

    page.locator("#sort select").select_option(label="Cheapest")
    second = page.locator("#hits article").nth(1)
    expect(second).to_have_attribute("data-id", cheapest[1]["objectID"])

    assert shown(page) == [p["objectID"] for p in cheapest]


def test_pages_lead_on_and_filters_lead_back_to_the_first(page: Page) -> None:
    page.locator("#pages a", has_text="3").click()
    expect(page.locator("#hits article").first).to_have_attribute("data-id", "16")
    assert shown(page) == [str(n) for n in range(16, 24)]

    choose(page, "brand", "Cyan")
    count(page, 8)

    expect(page.locator("#pages .ais-Pagination-item--selected")).to_have_text("1")


def test_clearing_brings_everything_back(page: Page) -> None:
    choose(page, "brand", "Cyan")
    choose(page, "tags", "red")
    count(page, 4)

    page.locator("#clear button").click()

    count(page, 40)


def test_a_key_that_may_not_is_told_so_on_the_page(empty: Page, shop: Shop) -> None:
    empty.goto(shop.address(key="wrong"))

    expect(empty.locator("#error")).to_have_text("Invalid Application-ID or API key")


FETCH = """async ([url, verb, headers, body]) => {
    const answer = await fetch(url, {method: verb, headers, body});
    return [answer.status, await answer.text()];
}"""


@pytest.mark.parametrize(
    ("verb", "path", "body", "status"),
    [
        ("POST", "/1/indexes/cors", {"objectID": "1"}, 201),
        ("PUT", "/1/indexes/cors/1", {"a": 1}, 201),
        ("POST", "/1/indexes/shop/query", {}, 200),
        ("GET", "/1/indexes", None, 200),
        ("DELETE", "/1/indexes/cors/1", None, 200),
        ("PUT", "/1/indexes/cors/settings", {}, 200),
        ("PATCH", "/api/1/crawlers/x", {}, 401),
        ("GET", "/nowhere", None, 404),
    ],
)
def test_every_verb_may_be_used_from_another_origin_with_the_vendors_headers(
    empty: Page, shop: Shop, verb: str, path: str, body: object, status: int
) -> None:
    empty.goto(f"{shop.origin}/blank.html")
    headers = {
        "x-algolia-application-id": shop.service.appId,
        "x-algolia-api-key": shop.service.adminKey,
        "x-algolia-agent": "a shop",
        "x-algolia-usertoken": "me",
        "content-type": "application/json",
        "authorization": "Basic eDp5",
    }
    text = None if body is None else json.dumps(body)

    answered, said = empty.evaluate(FETCH, [shop.service.url + path, verb, headers, text])

    assert answered == status
    assert status < 400 or json.loads(said)["status"] == status

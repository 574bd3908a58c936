"""InstantSearch with 23 widgets and its library for events, unchanged, in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from playwright.sync_api import Page, Request, Response, expect

from tests.conftest import Running

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(180)]
INDEX = "widgets"
BRANDS, COLORS, SIZES = ["Acme", "Borg", "Cyan"], ["red", "blue"], ["S", "M", "L", "XL"]
FACETS = ["searchable(brand)", "color", "size", "levels.lvl0", "levels.lvl1", "stock", "price",
          "weight", "rating", "free"]  # fmt: skip
PRODUCTS: list[dict[str, Any]] = [
    {
        "objectID": f"{n:02}",
        "name": f"{'Lamp' if n % 2 else 'Table'} {n}",
        "brand": BRANDS[n % 3],
        "color": COLORS[n % 2],
        "size": SIZES[n % 4],
        "levels": {"lvl0": "Home", "lvl1": f"Home > {'Light' if n % 2 else 'Wood'}"},
        "stock": n,
        "price": 10 + n,
        "weight": n % 10,
        "rating": 1 + n % 5,
        "free": n % 4 == 0,
    }
    for n in range(40)
]
SETTINGS = {
    "searchableAttributes": ["name"],
    "attributesForFaceting": FACETS,
    "customRanking": ["asc(stock)"],
    "replicas": [f"{INDEX}_cheapest"],
    "renderingContent": {"facetOrdering": {"facets": {"order": ["size", "color"]}}},
}
RULE = {
    "objectID": "banner",
    "conditions": [{"pattern": "lamp", "anchoring": "contains"}],
    "consequence": {"userData": {"banner": "Let there be light"}},
}


@pytest.fixture
def page(empty: Page, api: httpx.Client, service: Running, origin: str) -> Iterator[Page]:
    """The page with all widgets; nothing may have gone wrong on it by the end."""
    path = f"/1/indexes/{INDEX}"
    requests = [{"action": "addObject", "body": product} for product in PRODUCTS]
    for verb, below, body in (
        ("PUT", f"{path}/settings", SETTINGS),
        ("PUT", f"{path}_cheapest/settings", {"ranking": ["desc(price)"]}),
        ("PUT", f"{path}/rules/banner", RULE),
        ("POST", f"{path}/batch", {"requests": requests}),
    ):
        answer = api.request(verb, below, json=body)
        assert answer.is_success, answer.text
        while api.get(f"{path}/task/{answer.json()['taskID']}").json()["status"] != "published":
            pass
    troubles: list[str] = []
    empty.on("pageerror", lambda error: troubles.append(str(error)))
    empty.on("console", lambda said: troubles.append(said.text) if said.type == "error" else None)
    empty.on("requestfailed", lambda request: troubles.append(request.url))
    empty.on("response", lambda answer: troubles.extend(refusal(answer)))
    facts = {"app": service.appId, "key": service.searchKey, "index": INDEX, "url": service.url}
    empty.goto(f"{origin}/widgets.html?{urlencode(facts)}")
    empty.wait_for_selector("#hits .ais-Hits-item")
    yield empty
    assert not troubles
    assert empty.locator("#error").inner_text() == ""


def refusal(answer: Response) -> list[str]:
    """What the service said no to; a page loaded again may have its scripts already (304)."""
    return [] if answer.ok or answer.status == 304 else [f"{answer.status} {answer.url}"]


def count(page: Page, number: int) -> None:
    """Wait until the page says that so many were found."""
    expect(page.locator("#stats .ais-Stats-text")).to_contain_text(f"{number} result")


def open_levels(page: Page) -> None:
    page.locator("#hierarchicalMenu a", has_text="Home").click()
    page.locator("#hierarchicalMenu a", has_text="Light").click()


def enter_range(page: Page) -> None:
    page.locator("#rangeInput .ais-RangeInput-input--min").fill("30")
    page.locator("#rangeInput .ais-RangeInput-submit").click()


def choose_size(page: Page) -> None:
    page.locator("#menuSelect select").select_option(value="XL")


def move_slider(page: Page) -> None:
    handle = page.locator("#rangeSlider .rheostat-handle-lower")
    handle.focus()
    handle.press("ArrowRight")


# How each widget that narrows the search is used, and what is then found.
USES: dict[str, tuple[Callable[[Page], None], Callable[[dict[str, Any]], bool]]] = {
    "refinementList": (
        lambda page: page.locator("#refinementList label", has_text="Borg").click(),
        lambda product: bool(product["brand"] == "Borg"),
    ),
    "menu": (
        lambda page: page.locator("#menu a", has_text="red").click(),
        lambda product: bool(product["color"] == "red"),
    ),
    "menuSelect": (choose_size, lambda product: bool(product["size"] == "XL")),
    "hierarchicalMenu": (
        open_levels,
        lambda product: bool(product["levels"]["lvl1"] == "Home > Light"),
    ),
    "numericMenu": (
        lambda page: page.locator("#numericMenu label", has_text="10 to").click(),
        lambda product: bool(product["stock"] >= 10),
    ),
    "rangeInput": (enter_range, lambda product: bool(product["price"] >= 30)),
    "rangeSlider": (move_slider, lambda product: bool(product["weight"] >= 1)),
    "ratingMenu": (
        lambda page: page.locator("#ratingMenu a").first.click(),
        lambda product: bool(product["rating"] >= 4),
    ),
    "toggleRefinement": (
        lambda page: page.locator("#toggleRefinement label").click(),
        lambda product: bool(product["free"]),
    ),
    "searchBox": (
        lambda page: page.locator("#searchBox input").fill("lamp"),
        lambda product: str(product["name"]).startswith("Lamp"),
    ),
}


def test_each_widget_shows_and_does_what_it_is_for(page: Page) -> None:
    count(page, len(PRODUCTS))
    shown = page.locator("main > div").all()
    ids = [f"{widget.get_attribute('id')}" for widget in shown]
    # The two without a place on the page are `configure` and `queryRuleContext`.
    assert len(ids) + 2 == 23
    for widget in shown:
        assert widget.inner_html(), widget.get_attribute("id")
    expect(page.locator("#dynamicWidgets .ais-Panel")).to_have_count(2)

    for name, (use, passes) in USES.items():
        use(page)
        count(page, sum(map(passes, PRODUCTS)))
        if name == "hierarchicalMenu":
            expect(page.locator("#breadcrumb .ais-Breadcrumb-item--selected")).to_have_text(
                ">Light"
            )
        if name == "searchBox":
            expect(page.locator("#queryRuleCustomData b")).to_have_text("Let there be light")
            page.locator("#searchBox input").fill("")
        else:
            expect(page.locator("#currentRefinements .ais-CurrentRefinements-item")).to_have_count(
                1
            )
            page.locator("#clearRefinements button").click()
        count(page, len(PRODUCTS))

    page.locator("#hitsPerPage select").select_option(value="16")
    expect(page.locator("#hits article")).to_have_count(16)
    page.locator("#pagination a", has_text="2").click()
    expect(page.locator("#hits article").first).to_have_attribute("data-id", "16")
    page.locator("#sortBy select").select_option(label="Cheapest")
    expect(page.locator("#hits article").first).to_have_attribute("data-id", "39")
    page.locator("#infiniteHits .ais-InfiniteHits-loadMore").click()
    expect(page.locator("#infiniteHits article")).to_have_count(32)


def reports_usage(request: Request) -> bool:
    return "/1/events" in request.url and '"instantsearch"' in (request.post_data or "")


def test_events_of_a_page_arrive_and_its_own_are_dropped(page: Page, api: httpx.Client) -> None:
    requests: list[Request] = []
    page.on("request", lambda request: requests.append(request))
    page.reload()
    count(page, len(PRODUCTS))

    page.locator("#hits article").first.click()
    page.locator("#menu a", has_text="red").click()
    count(page, 20)

    def reported() -> set[tuple[str, str]]:
        events = api.get("/local/1/events", params={"index": INDEX}).json()["events"]
        return {(event["eventType"], event["eventName"]) for event in events}

    wanted = {("click", "Chosen"), ("click", "Filter Applied"), ("view", "Hits Viewed")}
    while not wanted <= reported() or not any(map(reports_usage, requests)):
        page.wait_for_timeout(50)
    assert {kind for kind, _ in reported()} == {"click", "view"}

"""The analytics of an index on a page, used as a person uses them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.looks import CONTRAST, draw, find_violations
from tests.browser.notebook import Notebook
from tests.browser.shop import fill, products
from tests.conftest import Running

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(180)]
CONTEXT = {"viewport": {"width": 1280, "height": 1000}}
HOSTILE = "<img src=x onerror='window.struck=1'>"
QUERIES = {"lamp": 9, "red lamp": 5, "oak table": 4, "sofa": 6, "settee": 2, HOSTILE: 1, "": 3}


@pytest.fixture(scope="module")
def searched(service: Running) -> str:
    """An index with searches of many users; each second search of a lamp has a click."""
    fill(service, "searched", products())
    with service.client() as client:
        number = 0
        for query, count in QUERIES.items():
            for _ in range(count):
                number += 1
                user = f"user-{number}"
                body = {"query": query, "clickAnalytics": True, "userToken": user}
                answer = client.post("/1/indexes/searched/query", json=body).json()
                if "lamp" in query and number % 2:
                    hit = answer["hits"][0]["objectID"]
                    click = {
                        "eventType": "click", "eventName": "Opened", "index": "searched",
                        "userToken": user, "queryID": answer["queryID"], "objectIDs": [hit],
                        "positions": [1],
                    }  # fmt: skip
                    client.post("/1/events", json={"events": [click]}).raise_for_status()
    return "searched"


@pytest.fixture
def panel(notebook: Notebook, searched: str) -> Iterator[Locator]:
    shown = notebook.open("p = svc.edit.analytics('searched', height=None)\np")
    yield shown
    assert not notebook.complaints
    notebook.run("p.close()")


def row_of(shown: Locator, title: str, query: str) -> Locator:
    rows = shown.get_by_role("region", name=title).locator("tbody tr")
    return rows.filter(has=shown.page.get_by_role("rowheader", name=query, exact=True))


def test_the_figures_are_readable_and_texts_stay_texts(notebook: Notebook, panel: Locator) -> None:
    expect(panel.locator(".svc-analytics-tiles")).to_contain_text("30")
    expect(row_of(panel, "Top searches", "lamp").locator("td").first).to_have_text("9")
    expect(row_of(panel, "Searches without results", "sofa")).to_have_count(1)
    expect(panel.get_by_role("img", name="Searches by day")).to_be_visible()
    assert notebook.page.evaluate("window.struck") is None
    assert find_violations(notebook.page) == []
    for theme, picture in (("Dark", "analytics-dark.png"), ("Light", "analytics.png")):
        notebook.change_theme(f"JupyterLab {theme}")
        assert notebook.page.evaluate(CONTRAST) == []
        draw(panel, picture)


def test_the_period_is_changed_and_undone(notebook: Notebook, panel: Locator) -> None:
    panel.get_by_label("Period").select_option("7d")
    expect(panel.locator(".svc-analytics-day")).to_have_count(16)
    assert notebook.ask("p.value['since']") == "7d"

    panel.get_by_label("Analytics tags").fill("nobody")
    panel.get_by_label("Analytics tags").press("Enter")
    expect(panel).to_contain_text("No searches in this period.")
    panel.get_by_label("Undo").click()

    expect(row_of(panel, "Top searches", "lamp")).to_have_count(1)


def test_an_invalid_selection_is_explained(panel: Locator) -> None:
    panel.get_by_label("Analytics tags").fill("a AND")
    panel.get_by_label("Analytics tags").press("Enter")

    expect(panel.get_by_role("alert")).to_contain_text("tags")


def test_next_steps_show_code_where_no_notebook_takes_it(panel: Locator) -> None:
    row_of(panel, "Searches without results", "sofa").get_by_role("button", name="Synonym").click()
    dialog = panel.get_by_role("dialog")
    dialog.get_by_label("Words with the same meaning").fill("settee, couch")
    dialog.get_by_role("button", name="Add to the draft").click()

    expect(panel.get_by_role("dialog")).to_contain_text("['sofa', 'settee', 'couch']")
    panel.get_by_role("dialog").get_by_role("button", name="Close").click()


def test_next_steps_in_the_workbench_open_its_editors(notebook: Notebook, searched: str) -> None:
    notebook.open("b = svc.edit('searched')\nb", cell=1)
    bench = notebook.page.locator(".svc-editor.svc-bench").last
    side = bench.locator(".svc-bench-side > .svc-tabs > .svc-tab-bar")
    side.get_by_role("tab", name="Analytics").click()
    panel = bench.locator(".svc-pane-analytics > .svc-editor")
    row_of(panel, "Top searches", "red lamp").get_by_role("button", name="Open").click()
    expect(bench.locator(".svc-pane-query input").first).to_have_value("red lamp")
    draw(bench, "workbench-analytics.png")

    row_of(panel, "Searches without results", "sofa").get_by_role("button", name="Synonym").click()
    panel.get_by_role("dialog").get_by_label("Words with the same meaning").fill("table")
    panel.get_by_role("dialog").get_by_role("button", name="Add to the draft").click()
    expect(side.get_by_role("tab", name="Synonyms")).to_have_attribute("aria-selected", "true")
    assert notebook.ask("b.value['synonyms']['synonym-sofa']['synonyms']") == ["sofa", "table"]

    side.get_by_role("tab", name="Analytics").click()
    row_of(panel, "Searches without results", "settee").get_by_role("button", name="Judge").click()
    expect(side.get_by_role("tab", name="Judgments")).to_have_attribute("aria-selected", "true")
    assert notebook.ask("b.judgments.sheet['query']") == "settee"
    assert not notebook.complaints
    notebook.run("b.close()", cell=1)

"""The workbench in JupyterLab, used as a person uses it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.lab import Lab
from tests.browser.looks import CONTRAST, PICTURES, find_violations
from tests.browser.notebook import Notebook
from tests.browser.shop import HOSTILE, connect, fill, products
from tests.conftest import Running

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(180)]
CONTEXT = {"viewport": {"width": 1280, "height": 1000}}

OPEN = """import pandas as pd
graded = pd.DataFrame([{'query': query, 'objectID': f'sku-{number:03}', 'rating': number % 4}
                       for query in ('lamp', 'table') for number in range(70)])
b = svc.edit('bench', 'lamp', judgments=graded)
b"""
LIFT = "b.settings.value = {'customRanking': ['asc(price)']}"
MANY_RULES_AND_SYNONYMS = """words = [f'word{number:04}' for number in range(2000)]
svc.save_synonyms('bench', [{'objectID': word, 'type': 'synonym', 'synonyms': [word, f'{word}s']}
                            for word in words])
svc.save_rules('bench', [{'objectID': word, 'conditions': [{'pattern': word, 'anchoring': 'is'}],
                          'consequence': {'params': {'query': 'lamp'}}} for word in words])
None"""
NARROW_PIXELS = (800, 420)
PARTS = ("Synonyms", "Rules", "Judgments", "History", "Settings")


@pytest.fixture
def bench(notebook: Notebook, service: Running) -> Iterator[Locator]:
    """A new workbench of a new index; nothing may have complained at the end."""
    with service.client() as client:
        client.delete("/1/indexes/bench")
    fill(service, "bench", products())
    yield open_bench(notebook, OPEN)
    assert not notebook.complaints
    notebook.run("b.close()", cell=1)


def open_bench(notebook: Notebook, code: str) -> Locator:
    notebook.open(code)
    shown = notebook.page.locator(".svc-editor.svc-bench").last
    shown.wait_for(timeout=20_000)
    expect(shown.locator(".svc-pane-query .svc-hit").first).to_be_visible()
    expect(shown.locator(".svc-pane-settings .svc-group").first).to_be_visible()
    return shown


def open_tab(bench: Locator, name: str) -> None:
    bench.locator(".svc-bench-side > .svc-tabs > .svc-tab-bar").get_by_role(
        "tab", name=name
    ).click()


def rules_of(service: Running) -> list[dict[str, Any]]:
    with service.client() as client:
        found = client.post("/1/indexes/bench/rules/search", json={}).raise_for_status().json()
    hits: list[dict[str, Any]] = found["hits"]
    return hits


def settings_of(service: Running) -> dict[str, Any]:
    with service.client() as client:
        found: dict[str, Any] = client.get("/1/indexes/bench/settings").raise_for_status().json()
    return found


@pytest.mark.in_lab
def test_a_draft_is_searched_scored_applied_and_undone(
    notebook: Notebook, bench: Locator, service: Running
) -> None:
    trial = bench.locator(".svc-draft-trial")
    expect(trial).to_be_hidden()

    notebook.run(LIFT, cell=1)

    expect(trial).to_contain_text("Hits with the draft by search parameters")
    expect(trial).to_contain_text("judged queries")
    expect(bench.locator(".svc-pane-query .svc-move").first).to_be_visible()
    expect(bench.get_by_role("tab", name="Settings, 1 changed")).to_be_visible()

    bench.locator(".svc-pane-query .svc-hit").first.focus()
    notebook.page.keyboard.press("h")
    expect(bench.get_by_role("tab", name="Rules, 1 changed")).to_have_attribute(
        "aria-selected", "true"
    )
    expect(bench.locator(".svc-pane-rules .svc-rule-summary")).to_contain_text("hide")
    expect(trial).to_contain_text("on a temporary copy")
    assert settings_of(service)["customRanking"] == ["desc(rating)"]
    assert rules_of(service) == []

    bench.locator(".svc-pane-query").get_by_role("searchbox", name="Query").focus()
    notebook.page.keyboard.press("Control+S")
    dialog = bench.get_by_role("dialog")
    expect(dialog).to_contain_text("Apply 2 changes to bench?")
    expect(dialog).to_contain_text("customRanking")
    dialog.get_by_role("button", name="Apply").click()

    expect(bench.locator(".svc-bench > .svc-head, .svc-place").first).to_contain_text("Saved")
    expect(trial).to_be_hidden()
    assert settings_of(service)["customRanking"] == ["asc(price)"]
    assert len(rules_of(service)) == 1

    open_tab(bench, "History")
    bench.get_by_role("button", name="Undo…").first.click()
    bench.get_by_role("dialog").get_by_role("button", name="Undo the change").click()
    expect(bench.locator(".svc-undone")).to_have_count(1)
    assert settings_of(service)["customRanking"] == ["desc(rating)"]
    assert rules_of(service) == []


@pytest.mark.in_lab
def test_every_part_is_read_by_all_at_every_width(notebook: Notebook, bench: Locator) -> None:
    notebook.run(LIFT, cell=1)
    expect(bench.locator(".svc-trial-score")).to_be_visible()
    if os.environ.get("SVC_PICTURES"):
        bench.screenshot(path=PICTURES / "workbench.png", animations="disabled")
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        notebook.change_theme(theme)
        for name in PARTS:
            open_tab(bench, name)
            expect(bench.get_by_text("Loading…")).to_have_count(0)
            assert find_violations(notebook.page, ".svc-bench") == []
            assert notebook.page.evaluate(CONTRAST) == []
    notebook.change_theme("JupyterLab Light")
    for width in NARROW_PIXELS:
        notebook.page.set_viewport_size({"width": width, "height": 1000})
        for name in PARTS:
            open_tab(bench, name)
            assert bench.evaluate("el => el.scrollWidth <= el.clientWidth"), (width, name)
    notebook.page.set_viewport_size({"width": 1280, "height": 1000})


def test_hostile_records_and_rules_are_text(
    notebook: Notebook, bench: Locator, service: Running
) -> None:
    fill(service, "bench", HOSTILE)
    name = "<img src=x onerror='window.struck=1'>"
    notebook.run(
        f"b.rules.put({{'objectID': {name!r}, 'consequence': {{'params': {{'query': 'x'}}}}}})",
        cell=1,
    )
    notebook.run("b.reload()", cell=1)

    expect(bench.locator(".svc-pane-query .svc-hits")).to_contain_text("<img src=x")
    notebook.page.keyboard.press("Escape")
    bench.get_by_role("button", name="Apply…").click()
    expect(bench.get_by_role("dialog")).to_contain_text(name)
    bench.get_by_role("dialog").get_by_role("button", name="Apply").click()
    open_tab(bench, "History")
    expect(bench.locator(".svc-applied-parts").first).to_contain_text("<img")

    assert notebook.page.evaluate("() => window.struck") is None


def test_thousands_of_rules_and_synonyms_are_listed_found_and_drafted(
    notebook: Notebook, service: Running
) -> None:
    with service.client() as client:
        client.delete("/1/indexes/bench")
    fill(service, "bench", products())
    notebook.run(MANY_RULES_AND_SYNONYMS, cell=1)
    bench = open_bench(notebook, OPEN)

    for name in ("Synonyms", "Rules"):
        open_tab(bench, name)
        pane = bench.locator(f".svc-pane-{name.lower()}")
        expect(pane.locator("[role=row][aria-rowindex]").first).to_be_visible()
        assert pane.locator("[role=row][aria-rowindex]").count() < 100
        pane.get_by_role("searchbox").first.fill("word1234")
        expect(pane.locator("[role=row][aria-rowindex]", has_text="word1234")).to_be_visible()
        expect(pane.locator("[role=row][aria-rowindex]", has_text="word1235")).to_have_count(0)
    first = bench.locator(".svc-pane-query .svc-hit").first.inner_text()
    bench.locator(".svc-pane-query .svc-hit").first.focus()
    notebook.page.keyboard.press("h")
    expect(bench.get_by_role("tab", name="Rules, 1 changed")).to_be_visible()
    expect(bench.locator(".svc-draft-trial")).to_contain_text(
        "on a temporary copy: ", timeout=60_000
    )
    assert bench.locator(".svc-pane-query .svc-hit").first.inner_text() != first
    assert not notebook.complaints
    notebook.run("b.close()", cell=1)


def test_ctrl_s_applies_from_an_editor_inside_in_notebook_7(
    lab: Lab, page: Page, service: Running
) -> None:
    with service.client() as client:
        client.delete("/1/indexes/bench")
    fill(service, "bench", products())
    notebook = Notebook(page, lab, "workbench-7.ipynb", classic=True)
    notebook.run(connect(service))
    bench = open_bench(notebook, OPEN)

    bench.locator(".svc-pane-query .svc-hit").first.focus()
    page.keyboard.press("h")
    expect(bench.locator(".svc-draft-trial")).to_contain_text("on a temporary copy: ")
    expect(bench.locator(".svc-pane-query .svc-hit").first).to_be_focused()
    page.keyboard.press("Control+S")

    expect(bench.get_by_role("dialog")).to_contain_text("Apply 1 change to bench?")

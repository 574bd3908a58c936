"""Editors in marimo: their decisions run cells again, and the workbench contains its editors."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.looks import draw
from tests.browser.marimo_page import export_html, open_marimo, serve_assets
from tests.browser.shop import connect, fill, products
from tests.conftest import ROOT, Running

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(240)]
TUTORIAL = ROOT / "notebooks" / "06-search-in-marimo.py"
EDITORS = {
    "query": "svc.edit.query('in-marimo', 'lamp')",
    "bench": "svc.edit('in-marimo', 'lamp', judgments=GRADED)",
    "judging": "svc.edit.judgments('in-marimo', ['lamp'])",
    "settings": "svc.edit.settings('in-marimo')",
    "synonyms": "svc.edit.synonyms('in-marimo')",
}
GRADED = "GRADED = [{'query': 'lamp', 'objectID': 'sku-007', 'rating': 3, 'rater': 'ada'}]"
CELL = "\n\n@app.cell\ndef _({reads}):\n    {code}\n    return ({defines},)\n"


def write_notebook(path: Path, connection: str) -> Path:
    """A notebook with each editor, and a cell for each that writes the value of the editor."""
    imports = f"import marimo as mo\n{connection}{GRADED}"
    cells = [("", imports.strip().replace("\n", "\n    "), "GRADED, mo, svc")]
    for name, code in EDITORS.items():
        shown = f"{name} = mo.ui.anywidget({code})\n    {name}"
        cells.append(("GRADED, mo, svc", shown, name))
        value = f"mo.Html(f'<pre id=value-{name}>{{{name}.value}}</pre>')"
        cells.append((f"{name}, mo", value, ""))
    cells += [
        ("svc", "svc.show_search('in-marimo', 'lamp')", ""),
        ("svc", "svc.edit.query('in-marimo', 'lamp').snapshot()", ""),
        ("svc", "svc.diff_settings('in-marimo', 'in-marimo')", ""),
        ("svc", "svc.overview()", ""),
    ]
    text = "".join(
        CELL.format(reads=reads, code=code, defines=defines).replace("(,)", "()")
        for reads, code, defines in cells
    )
    path.write_text(f"import marimo\n\napp = marimo.App(width='full')\n{text}", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def shown(service: Running, chromium: Browser, tmp_path_factory: Any) -> Iterator[Page]:
    """The notebook as an application."""
    fill(service, "in-marimo", products())
    folder = tmp_path_factory.mktemp("marimo")
    notebook = write_notebook(folder / "editors.py", connect(service))
    with open_marimo(notebook, folder) as url:
        page = chromium.new_context(viewport={"width": 1280, "height": 1000}).new_page()
        page.goto(url)
        page.locator("#value-synonyms").wait_for(timeout=60_000)
        yield page
        page.context.close()


def copy_tutorial(folder: Path) -> Path:
    """Copy the tutorial: marimo writes what it keeps beside a notebook."""
    return Path(shutil.copy(TUTORIAL, folder))


def value_of(page: Page, name: str) -> Any:
    return ast.literal_eval(page.locator(f"#value-{name}").inner_text())


def editor_of(page: Page, kind: str) -> Locator:
    """An editor that is not part of the workbench."""
    editor = page.locator(f".svc-editor.svc-{kind}:not(.svc-pane *)").first
    editor.scroll_into_view_if_needed()
    return editor


def test_values_have_the_decisions_and_nothing_else(shown: Page) -> None:
    values = {name: set(value_of(shown, name)) for name in EDITORS}

    assert values == {
        "query": {"query", "parameters", "selected", "drafts"},
        "bench": {"search", "selected", "judged", "draft"},
        "judging": {"judged"},
        "settings": {"draft"},
        "synonyms": {"draft"},
    }


def test_the_value_follows_a_search(shown: Page) -> None:
    editor = editor_of(shown, "query")

    editor.get_by_role("searchbox").first.fill("desk")
    expect(shown.locator("#value-query")).to_contain_text("'query': 'desk'")
    editor.locator(".svc-hit").first.click()
    expect(shown.locator("#value-query")).to_contain_text("'selected': 'sku-0")

    value = value_of(shown, "query")
    assert (value["parameters"], value["drafts"]) == ({}, [])


def test_the_value_follows_judgments(shown: Page) -> None:
    editor = editor_of(shown, "judgments")

    editor.locator(".svc-judged-hit").first.click()
    shown.keyboard.press("3")
    shown.keyboard.press("1")
    expect(shown.locator("#value-judging")).to_contain_text("'rating': 1")

    ratings = [row["rating"] for row in value_of(shown, "judging")["judged"]]
    assert ratings == [3, 1]


def test_the_value_follows_a_draft(shown: Page) -> None:
    editor = editor_of(shown, "settings")

    editor.get_by_placeholder("Find a setting").fill("customRanking")
    editor.get_by_role("button", name="Reset").first.click()
    expect(shown.locator("#value-settings")).to_contain_text("customRanking")

    assert value_of(shown, "settings") == {"draft": {"customRanking": None}}


def test_the_workbench_shows_its_editors_and_applies_their_drafts(shown: Page) -> None:
    bench = shown.locator(".svc-editor.svc-bench").first
    bench.scroll_into_view_if_needed()
    expect(bench.locator(".svc-pane-query .svc-hit").first).to_be_visible()
    side = bench.locator(".svc-bench-side")

    bench.get_by_role("searchbox").first.fill("mirror")
    expect(shown.locator("#value-bench")).to_contain_text("'query': 'mirror'")
    for name, pane in [("Synonyms", "synonyms"), ("Rules", "rules"), ("Judgments", "judgments")]:
        side.get_by_role("tab", name=name).first.click()
        expect(side.locator(f".svc-pane-{pane} .svc-editor")).to_be_visible()
    bench.locator(".svc-pane-query .svc-hit").first.click()
    shown.keyboard.press("Escape")
    shown.keyboard.press("p")
    expect(shown.locator("#value-bench")).to_contain_text("'promote'")

    value = value_of(shown, "bench")
    assert value["search"] == {"query": "mirror"}
    assert [*value["draft"]] == ["rules"]
    assert not bench.get_by_role("alert").filter(has_text="Cannot").count()


def test_results_are_shown_as_tables(shown: Page) -> None:
    text = shown.locator("body").inner_text()

    assert "IPython.core" not in text
    assert "<table" not in text
    assert "hits for" in text


def test_the_tutorial_follows_its_editors(chromium: Browser, tmp_path: Path) -> None:
    with open_marimo(copy_tutorial(tmp_path), tmp_path) as url:
        page = chromium.new_context(viewport={"width": 1100, "height": 1000}).new_page()
        page.goto(url)
        expect(page.get_by_text("The hits of “desk lamp” cost")).to_be_visible(timeout=60_000)
        draw(page, "marimo.png")

        editor_of(page, "query").get_by_role("searchbox").first.fill("mug")
        expect(page.get_by_text("The hits of “mug” cost")).to_be_visible()
        judging = editor_of(page, "judgments")
        judging.locator(".svc-judged-hit").first.click()
        page.keyboard.press("3")
        expect(page.get_by_text("Judge a hit above")).to_have_count(0)
        settings = editor_of(page, "settings")
        settings.get_by_placeholder("Find a setting").fill("customRanking")
        settings.get_by_placeholder("attribute").first.fill("reviews")
        page.keyboard.press("Enter")
        expect(page.get_by_text("1 change tried by parameters")).to_be_visible()
        page.context.close()


def test_an_export_shows_editors_without_a_kernel(chromium: Browser, tmp_path: Path) -> None:
    export_html(copy_tutorial(tmp_path), tmp_path / "tutorial.html", tmp_path)

    page = chromium.new_context().new_page()
    serve_assets(page)
    page.goto((tmp_path / "tutorial.html").as_uri())
    expect(page.locator(".svc-editor.svc-query .svc-hit").first).to_be_visible(timeout=60_000)
    expect(page.get_by_text("The hits of “desk lamp” cost")).to_be_visible()
    page.context.close()

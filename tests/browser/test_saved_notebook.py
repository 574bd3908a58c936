"""A saved notebook, opened with a kernel that knows none of its editors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.lab import Lab
from tests.browser.notebook import Notebook
from tests.browser.shop import connect, fill, products
from tests.conftest import Running

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(120)]

SHOW = """
from IPython.display import display
svc.save_synonyms("kept", [{"objectID": "lights", "type": "synonym", "synonyms": ["a", "b"]}])
rule = {"objectID": "cheap", "consequence": {"params": {"filters": "price<9"}}}
svc.save_rules("kept", [{**rule, "conditions": [{"pattern": "sale", "anchoring": "is"}]}])
settings = svc.edit.settings("kept", value={"customRanking": ["asc(price)"]})
judgments = svc.edit.judgments("kept", ["steel desk"], rater="ada")
queries = svc.edit.query("kept", "brass chair")
svc.create_crawler("kept", "http://pages.invalid/")
crawler = svc.edit.crawler("kept")
synonyms, rules = svc.edit.synonyms("kept"), svc.edit.rules("kept")
for editor in (queries, settings, judgments, synonyms, rules, crawler):
    display(editor)
display(svc.edit("kept", "blue mirror", value={"settings": {"hitsPerPage": 4}}))
"""
# A text of each editor's last state.
KEPT = {
    "Query editor": "1 hit for “brass chair”",
    "Settings editor": '["asc(price)"]',
    "Judgment editor": "1 judgment",
    "Synonym editor": "lights",
    "Rule editor": "price<9",
    "Crawler editor": "http://pages.invalid/",
    "Workbench": "blue mirror",
}
HEIGHT = "element => element.offsetHeight"
VIEWPORT: Any = {"width": 1180, "height": 1000}
OPEN_BESIDE = """async name => {
    const {commands} = window.jupyterapp;
    const panel = await commands.execute("docmanager:open", {path: name});
    await panel.context.ready;
    await panel.sessionContext.ready;
}"""


@pytest.fixture(scope="module")
def kept(lab: Lab, chromium: Browser, service: Running) -> Path:
    """A saved notebook of all editors; its kernel still has them."""
    fill(service, "kept", products())
    context = chromium.new_context(viewport=VIEWPORT)
    notebook = Notebook(context.new_page(), lab, "kept.ipynb")
    notebook.run(connect(service, crawls=True))
    notebook.open(SHOW)
    notebook.page.locator(".svc-judged-hit").first.press("3")
    for title, words in KEPT.items():
        table = table_of(notebook.page, title)
        expect(table).to_contain_text(words, timeout=10_000)
        expect(table).to_be_hidden()
    notebook.save()
    context.close()
    return notebook.path


@pytest.fixture
def later(kept: Path, lab: Lab, chromium: Browser) -> Iterator[Notebook]:
    """A copy of the notebook, opened with a kernel that has none of its editors."""
    copy = kept.with_name("later.ipynb")
    copy.write_bytes(kept.read_bytes())
    context = chromium.new_context(viewport=VIEWPORT)
    yield Notebook(context.new_page(), lab, copy.name)
    context.close()


def table_of(shown: Page | Locator, title: str) -> Locator:
    return shown.locator(".svc-fallback", has_text=f"{title}: kept")


def test_every_editor_shows_its_last_state_without_a_kernel(
    later: Notebook, service: Running
) -> None:
    tables = {title: table_of(later.page, title) for title in KEPT}
    for title, words in KEPT.items():
        expect(tables[title]).to_be_visible()
        expect(tables[title]).to_contain_text(words)
    expect(later.page.get_by_text("model not found")).to_be_hidden()

    heights = {title: table.evaluate(HEIGHT) for title, table in tables.items()}
    later.run(connect(service), cell=1)
    later.open("display(svc.edit.query('kept', 'oak desk'))", cell=1)
    expect(later.page.locator(".svc-fallback", has_text="oak desk")).to_be_hidden()
    for title, table in tables.items():
        table = table.filter(has_not_text="oak desk")
        assert table.evaluate(HEIGHT) == heights[title] > 0, title


def test_a_notebook_does_not_hide_the_tables_of_its_copy_in_the_same_page(
    later: Notebook, kept: Path
) -> None:
    panels = later.page.locator(".jp-NotebookPanel")
    copied = {title: table_of(panels.first, title) for title in KEPT}
    expect(copied["Workbench"]).to_be_visible()
    heights = {title: table.evaluate(HEIGHT) for title, table in copied.items()}

    later.page.evaluate(OPEN_BESIDE, kept.name)

    for title in KEPT:
        live = panels.last.locator(".svc-editor", has_text=title).first
        expect(live).to_be_visible()
        expect(table_of(panels.last, title)).to_be_hidden()
    later.page.evaluate(OPEN_BESIDE, "later.ipynb")
    for title, table in copied.items():
        assert table.evaluate(HEIGHT) == heights[title] > 0, title

"""A saved notebook, opened with a kernel that knows none of its editors."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

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
for editor in (queries, settings, judgments, svc.edit.synonyms("kept"), svc.edit.rules("kept")):
    display(editor)
display(svc.edit("kept", "blue mirror", value={"settings": {"hitsPerPage": 4}}))
"""
# What each editor's last state tells.
KEPT = {
    "Query editor": "brass chair",
    "Settings editor": '["asc(price)"]',
    "Judgment editor": "1 judgments",
    "Synonym editor": "lights",
    "Rule editor": "price<9",
    "Workbench": "blue mirror",
}
HEIGHT = "element => element.offsetHeight"


def test_every_editor_shows_its_last_state_without_a_kernel(
    lab: Lab, chromium: Browser, service: Running
) -> None:
    fill(service, "kept", products())
    context = chromium.new_context(viewport={"width": 1180, "height": 1000})
    notebook = Notebook(context.new_page(), lab, "kept.ipynb")
    notebook.run(connect(service))
    notebook.open(SHOW)
    notebook.page.locator(".svc-judged-hit").first.press("3")
    for title, words in KEPT.items():
        kept = notebook.page.locator(".svc-fallback", has_text=title)
        expect(kept).to_contain_text(words, timeout=10_000)
        expect(kept).to_be_hidden()
    notebook.save()
    context.close()

    notebook.path.rename(notebook.path.with_name("later.ipynb"))
    context = chromium.new_context(viewport={"width": 1180, "height": 1000})
    later = Notebook(context.new_page(), lab, "later.ipynb")

    tables = {title: later.page.locator(".svc-fallback", has_text=title) for title in KEPT}
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
    context.close()

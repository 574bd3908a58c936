"""Highlighting of `%svc` in the cells of JupyterLab and Notebook 7."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.lab import Lab
from tests.browser.labextension import LabPage
from tests.browser.shop import connect, fill, products
from tests.conftest import Running

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(180)]
# What a page of Notebook 7.6 says without the extension, too.
OF_NOTEBOOK_7 = "Cannot read properties of undefined (reading 'schema')"
LINES = """%%svc search coloured lamp --hitsPerPage 5 --highlight
filters: brand:Acme AND price < 20
attributesToRetrieve: name, "price"
getRankingInfo: true"""
JSON = """%%svc synonyms save coloured
{"objectID": "s1", "type": "synonym", "synonyms": ["a", "b"]}"""


@pytest.fixture
def lab_page(shared_notebook: LabPage) -> LabPage:
    return shared_notebook


def coloured(lab_page: LabPage, kind: str) -> list[str]:
    """The texts of one kind, each in one piece."""
    found = lab_page.page.locator(f".jp-Notebook .svc-code-{kind}")
    return ["".join(text.split()) for text in found.all_inner_texts()]


def colour_of(lab_page: LabPage, kind: str) -> str:
    piece = lab_page.page.locator(f".jp-Notebook .svc-code-{kind}").first
    return str(piece.evaluate("el => getComputedStyle(el).color"))


@pytest.mark.parametrize("classic", [False, True], ids=["lab", "notebook-7"])
def test_a_cell_is_coloured_by_what_it_is(page: Page, extended_lab: Lab, *, classic: bool) -> None:
    name = f"coloured-{'classic' if classic else 'lab'}.ipynb"
    lab_page = LabPage(page, extended_lab, name, classic=classic)

    lab_page.set_source(LINES)
    lab_page.set_source(JSON, cell=1)

    expect(lab_page.page.locator(".svc-code-verb")).to_have_count(3)
    assert coloured(lab_page, "verb") == ["search", "synonyms", "save"]
    assert coloured(lab_page, "magic") == ["%%svc", "%%svc"]
    assert coloured(lab_page, "option") == ["--hitsPerPage", "--highlight"]
    assert {"filters", "getRankingInfo", '"objectID"'} <= set(coloured(lab_page, "key"))
    assert {'"price"', '"s1"'} <= set(coloured(lab_page, "text"))
    assert colour_of(lab_page, "key") != colour_of(lab_page, "text")
    assert not [each for each in lab_page.complaints if OF_NOTEBOOK_7 not in each]


def test_a_parameter_is_explained_under_the_pointer(lab_page: LabPage) -> None:
    lab_page.set_source(LINES)
    help_text = lab_page.page.locator(".svc-code-help")

    lab_page.page.get_by_text("getRankingInfo").hover()
    expect(help_text).to_contain_text("default: false")

    lab_page.page.mouse.move(5, 5)
    lab_page.page.get_by_text("--hitsPerPage").hover()
    expect(help_text).to_contain_text("default: 20")


def test_errors_are_underlined_as_they_are_typed(lab_page: LabPage, service: Running) -> None:
    fill(service, "coloured", products()[:3])
    lab_page.run(connect(service))
    lab_page.await_connected()
    lab_page.set_source("%%svc search coloured\nquery: lamp", cell=1)

    lab_page.page.locator(".jp-Notebook .cm-content").nth(1).click()
    lab_page.page.keyboard.press("Control+End")
    lab_page.page.keyboard.type("\nhitsPerPages: 3")

    error = lab_page.page.locator(".svc-code-error")
    expect(error).to_have_text("hitsPerPages: 3")
    assert "hitsPerPage" in str(error.first.get_attribute("title"))

    lab_page.set_source("%%svc search coloured\nquery: lamp\nhitsPerPage: 3", cell=1)
    expect(error).to_have_count(0)
    assert not lab_page.complaints


def test_other_cells_stay_as_they_are(lab_page: LabPage) -> None:
    lab_page.set_source("text = '%svc'\nprint(text)  # %svc")

    lab_page.page.wait_for_timeout(1500)

    assert lab_page.page.locator(".svc-code-magic, .svc-code-error").count() == 0

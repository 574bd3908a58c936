"""The explorer of the JupyterLab extension."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.lab import Lab
from tests.browser.labextension import LabPage
from tests.browser.shop import connect, fill, products
from tests.conftest import Running

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(120)]


@pytest.fixture(scope="module", autouse=True)
def _filled(service: Running) -> None:
    fill(service, "explored", products())


@pytest.fixture
def lab_page(page: Page, extended_lab: Lab, request: pytest.FixtureRequest) -> Iterator[LabPage]:
    name = f"{request.node.name.partition('[')[0]}.ipynb"
    opened = LabPage(page, extended_lab, name)
    yield opened
    assert not opened.complaints


def test_a_connected_kernel_shows_its_indices_and_their_content(
    lab_page: LabPage, service: Running
) -> None:
    expect(lab_page.explorer).to_contain_text("The package is not loaded in this kernel.")

    lab_page.run(connect(service))

    expect(lab_page.explorer).to_contain_text(service.appId)
    expect(lab_page.row("explored")).to_contain_text("70")
    lab_page.row("explored").click()
    lab_page.row("Attributes").click()
    expect(lab_page.row("price")).to_contain_text("number")
    lab_page.page.screenshot(path="/tmp/x/a.png")

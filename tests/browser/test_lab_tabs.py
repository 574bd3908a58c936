"""Editors in tabs of their own, opened from the explorer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.lab import Lab
from tests.browser.labextension import LabPage, fresh
from tests.browser.looks import PICTURES
from tests.browser.shop import connect, fill, products
from tests.conftest import Running

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(240)]
RESTART = """async () => {
    const panel = [...window.jupyterapp.shell.widgets("main")].find(w => w.sessionContext);
    await panel.sessionContext.session.kernel.restart();
}"""


@pytest.fixture
def lab_page(page: Page, extended_lab: Lab, service: Running) -> Iterator[LabPage]:
    page.set_viewport_size({"width": 1400, "height": 900})
    fill(service, "tabbed", products())
    opened = fresh(page, extended_lab)
    opened.run(connect(service))
    opened.await_connected()
    yield opened
    # A kernel outlives its page, and so does a copy on which it tries drafts.
    with service.client() as client:
        for name in copies(service):
            client.delete(f"/1/indexes/{name}").raise_for_status()


def open_tab(lab_page: LabPage, label: str) -> None:
    lab_page.open_menu("tabbed").get_by_text("Open in a tab").hover()
    lab_page.page.locator(".lm-Menu").last.get_by_text(label, exact=True).click()


def tab(lab_page: LabPage, title: str) -> Locator:
    return lab_page.page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab").filter(has_text=title)


def close(lab_page: LabPage, title: str) -> None:
    tab(lab_page, title).locator(".lm-TabBar-tabCloseIcon").click()


def copies(service: Running) -> list[str]:
    with service.client() as client:
        items: list[dict[str, Any]] = client.get("/1/indexes").json()["items"]
    return [item["name"] for item in items if item["name"].startswith("tabbed_")]


def test_the_workbench_lives_in_a_tab(lab_page: LabPage, service: Running) -> None:
    open_tab(lab_page, "Workbench")
    bench = lab_page.page.locator(".svc-editor-tab .svc-editor.svc-bench")
    expect(bench.locator(".svc-pane-query .svc-hit").first).to_be_visible(timeout=30_000)
    expect(tab(lab_page, "Workbench: tabbed")).to_have_count(1)
    assert lab_page.ask("get_ipython().execution_count") <= 3
    if os.environ.get("SVC_PICTURES"):
        lab_page.page.screenshot(path=PICTURES / "workbench-tab.png")
    assert bench.evaluate("el => el.getBoundingClientRect().bottom <= innerHeight")

    open_tab(lab_page, "Workbench")
    expect(tab(lab_page, "Workbench: tabbed")).to_have_count(1)

    bench.locator(".svc-pane-query .svc-hit").first.focus()
    lab_page.page.keyboard.press("h")
    expect(bench.locator(".svc-draft-trial")).to_contain_text("on a temporary copy")
    assert len(copies(service)) == 1

    close(lab_page, "Workbench: tabbed")
    dialog = lab_page.page.locator(".jp-Dialog")
    expect(dialog).to_contain_text("not saved")
    dialog.get_by_role("button", name="Cancel").click()
    expect(bench).to_be_visible()
    close(lab_page, "Workbench: tabbed")
    dialog.get_by_role("button", name="Discard and close").click()
    expect(tab(lab_page, "Workbench: tabbed")).to_have_count(0)
    for _ in range(50):
        if not copies(service):
            break
        lab_page.page.wait_for_timeout(100)
    assert copies(service) == []
    assert not lab_page.complaints


def test_drafts_are_there_when_the_page_is_loaded_again(
    lab_page: LabPage, extended_lab: Lab
) -> None:
    open_tab(lab_page, "Workbench")
    bench = lab_page.page.locator(".svc-editor-tab .svc-editor.svc-bench")
    expect(bench.locator(".svc-pane-query .svc-hit").first).to_be_visible(timeout=30_000)
    bench.locator(".svc-pane-query .svc-hit").first.focus()
    lab_page.page.keyboard.press("p")
    expect(bench.get_by_role("tab", name="Rules, 1 changed")).to_be_visible()

    again = LabPage(lab_page.page, extended_lab, lab_page.path.name)
    again.await_connected()
    open_tab(again, "Workbench")

    expect(bench.get_by_role("tab", name="Rules, 1 changed")).to_be_visible(timeout=30_000)
    expect(bench.locator(".svc-pane-query .svc-move").first).to_be_hidden()
    expect(bench.locator(".svc-draft-trial")).to_contain_text("on a temporary copy")


def test_an_editor_in_a_cell_says_at_once_that_its_kernel_was_restarted(
    lab_page: LabPage, service: Running
) -> None:
    lab_page.run("import svc_notebook as svc\nsvc.edit.settings('tabbed')", cell=1)
    editor = lab_page.page.locator(".jp-OutputArea .svc-editor")
    expect(editor.locator(".svc-group").first).to_be_visible(timeout=30_000)

    lab_page.page.evaluate(RESTART)

    expect(editor.get_by_role("alert").first).to_contain_text(
        "The kernel of this editor has ended or was restarted"
    )
    expect(editor.locator(".svc-body").first).to_have_js_property("inert", True)


def test_a_restarted_kernel_is_named_and_the_editor_opened_again(
    lab_page: LabPage, service: Running
) -> None:
    open_tab(lab_page, "Settings editor")
    panel = lab_page.page.locator(".svc-editor-tab")
    expect(panel.locator(".svc-editor .svc-group").first).to_be_visible(timeout=30_000)

    lab_page.page.evaluate(RESTART)

    expect(panel).to_contain_text("The kernel of this editor has ended")
    panel.get_by_role("button", name="Open again").click()
    expect(panel).to_contain_text("cannot be opened")
    tab(lab_page, lab_page.path.name).click()
    lab_page.run(connect(service))
    lab_page.await_connected()
    panel.get_by_role("button", name="Try again").click()
    expect(panel.locator(".svc-editor .svc-group").first).to_be_visible(timeout=30_000)
    close(lab_page, "Settings editor: tabbed")
    expect(panel).to_have_count(0)

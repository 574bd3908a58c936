"""Editors in pages as other front ends build them: one webview for all outputs, frames for each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Frame, expect

import svc_notebook as svc
from svc_notebook.data.client import Client, ClientConfig, Secret
from tests.browser.notebook import Notebook
from tests.browser.plain_page import PageServer
from tests.browser.shop import fill, products
from tests.conftest import Running

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(180)]
INDEX = "other-homes"
EDITORS = ("query", "synonyms", "rules", "settings", "judgments", "workbench")
# A webview of VS Code names its theme, and has no colours of JupyterLab.
WEBVIEW = """() => {
    document.body.className = "vscode-dark";
    document.body.dataset.vscodeThemeKind = "vscode-dark";
    document.body.style.setProperty("--vscode-editor-background", "#1e1e1e");
    document.body.style.setProperty("--vscode-editor-foreground", "#d4d4d4");
}"""
SANDBOX = "allow-scripts allow-same-origin allow-forms allow-downloads"


@pytest.fixture
def client(service: Running) -> Iterator[Client]:
    fill(service, INDEX, products())
    client = Client(
        ClientConfig(url=service.url, app_id=service.appId, api_key=Secret(service.adminKey))
    )
    yield client
    client.close()


def test_one_webview_shows_all_outputs(notebook: Notebook, service: Running) -> None:
    fill(service, INDEX, products())
    notebook.page.evaluate(WEBVIEW)

    for cell, name in enumerate(EDITORS):
        argument = ", ['lamp']" if name == "judgments" else ""
        code = f"{name} = svc.edit.{name}({INDEX!r}{argument}, client=client)\n{name}"
        notebook.open(code, cell=cell)

    shown = notebook.page.locator(".svc-editor:not(.svc-pane *)")
    expect(shown).to_have_count(len(EDITORS))
    query = notebook.page.locator(".svc-editor.svc-query:not(.svc-pane *)")
    query.get_by_role("searchbox").first.fill("mirror")
    expect(query.locator(".svc-hit mark, .svc-hit b").first).to_be_visible()
    expect(notebook.page.locator(".svc-bench .svc-pane-query .svc-hit").first).to_be_visible()
    heights = shown.evaluate_all("editors => editors.map(editor => editor.offsetHeight)")
    assert min(heights) > 200
    assert not notebook.complaints


def test_each_output_in_a_frame_of_its_own(
    chromium: Browser, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = [PageServer(), PageServer()]
    editors: list[Any] = []
    for server, name in zip(servers, ("query", "synonyms"), strict=True):
        monkeypatch.setattr("ipywidgets.comm.create_comm", server.create_comm)
        editors.append(getattr(svc.edit, name)(INDEX, client=client))
    page = chromium.new_context(viewport={"width": 1000, "height": 1300}).new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))

    page.set_content(
        "".join(
            f"<iframe name=f{n} src={server.url} sandbox='{SANDBOX}' width=960 height=620></iframe>"
            for n, server in enumerate(servers)
        )
    )
    frames = [_show(page.frame(f"f{n}"), editor) for n, editor in enumerate(editors)]

    frames[0].get_by_role("searchbox").first.fill("mirror")
    expect(frames[0].locator(".svc-hit").first).to_contain_text("mirror")
    assert editors[0].query == "mirror"
    frames[1].get_by_role("button", name="New synonym").first.click()
    dialog = frames[1].get_by_role("dialog")
    expect(dialog).to_be_visible()
    box = dialog.bounding_box()
    assert box
    assert box["y"] > 620  # inside the second frame
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    editors[1].put({"type": "synonym", "synonyms": ["sofa", "couch"]})
    expect(frames[1].get_by_role("button", name="Apply")).to_be_enabled()
    assert not complaints
    page.context.close()
    for server in servers:
        server.close()


def _show(frame: Frame | None, editor: Any) -> Any:
    assert frame
    frame.wait_for_function("() => window.connected")
    frame.evaluate("id => window.show(id, 1, 0)", editor.model_id)
    shown = frame.locator("#view-1 .svc-editor")
    shown.wait_for(timeout=20_000)
    return shown

"""Editors in pages as other front ends build them: one webview for all outputs, frames for each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Frame, Locator, Page, expect

import svc_notebook as svc
from svc_notebook.data.client import Client, ClientConfig, Secret
from tests.browser.notebook import Notebook
from tests.browser.plain_page import PageServer
from tests.browser.shop import connect, fill, products
from tests.conftest import Running

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(180)]
INDEX = "other-homes"
# The arguments of all editors, as code.
EDITORS = {
    "query": repr(INDEX), "synonyms": repr(INDEX), "rules": repr(INDEX), "settings": repr(INDEX),
    "judgments": f"{INDEX!r}, ['lamp']", "analytics": repr(INDEX), "workbench": repr(INDEX),
    "crawler": "'other', value='https://shop.example'",
}  # fmt: skip
# A webview of VS Code names its theme, and has no colours of JupyterLab.
WEBVIEW = """() => {
    document.body.className = "vscode-dark";
    document.body.dataset.vscodeThemeKind = "vscode-dark";
    document.body.style.setProperty("--vscode-editor-background", "#1e1e1e");
    document.body.style.setProperty("--vscode-editor-foreground", "#d4d4d4");
}"""
SANDBOX = "allow-scripts allow-same-origin allow-forms allow-downloads"


@pytest.fixture(scope="module")
def connection(service: Running) -> str:
    return connect(service, crawls=True)


@pytest.fixture
def client(service: Running) -> Iterator[Client]:
    fill(service, INDEX, products())
    client = Client(
        ClientConfig(
            url=service.url,
            app_id=service.appId,
            api_key=Secret(service.adminKey),
            crawler_user_id=service.crawlerUserId,
            crawler_api_key=Secret(service.crawlerApiKey),
        )
    )
    yield client
    client.close()


def test_one_webview_shows_all_outputs(notebook: Notebook, service: Running) -> None:
    fill(service, INDEX, products())
    notebook.page.evaluate(WEBVIEW)

    for cell, (name, arguments) in enumerate(EDITORS.items()):
        notebook.open(f"{name} = svc.edit.{name}({arguments}, client=client)\n{name}", cell=cell)

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
    servers = {name: PageServer() for name in EDITORS}
    editors: dict[str, Any] = {}
    for name, server in servers.items():
        monkeypatch.setattr("ipywidgets.comm.create_comm", server.create_comm)
        code = f"svc.edit.{name}({EDITORS[name]}, client=client)"
        editors[name] = eval(code, {"svc": svc, "client": client})
    page = chromium.new_context(viewport={"width": 1000, "height": 1300}).new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))

    page.set_content(
        "".join(
            f"<iframe name={name} src={server.url} sandbox='{SANDBOX}' width=960 height=760>"
            "</iframe>"
            for name, server in servers.items()
        )
    )
    frames = {name: _show(page.frame(name), editor) for name, editor in editors.items()}

    _use_query(frames["query"], editors["query"])
    _use_synonyms(page, frames["synonyms"], editors["synonyms"])
    _use_rules(frames["rules"], editors["rules"])
    _use_settings(frames["settings"], editors["settings"])
    frames["judgments"].locator(".svc-judged-hit").first.focus()
    page.keyboard.press("3")
    expect(frames["judgments"]).to_contain_text("1 of")
    expect(frames["analytics"]).to_contain_text("No searches in this period")
    expect(frames["workbench"].locator(".svc-pane-query .svc-hit").first).to_be_visible()
    expect(frames["crawler"].get_by_label("Record extractor")).to_be_visible()
    heights = {name: frame.evaluate("el => el.offsetHeight") for name, frame in frames.items()}
    assert min(heights.values()) > 200, heights
    assert not complaints
    page.context.close()
    for server in servers.values():
        server.close()


def _use_query(frame: Locator, editor: Any) -> None:
    frame.get_by_role("searchbox").first.fill("mirror")
    expect(frame.locator(".svc-hit").first).to_contain_text("mirror")
    assert editor.query == "mirror"


def _use_synonyms(page: Page, frame: Locator, editor: Any) -> None:
    """Open a dialog, which covers its frame and not the page, and close it."""
    frame.get_by_role("button", name="New synonym").first.click()
    dialog = frame.get_by_role("dialog")
    expect(dialog).to_be_visible()
    box, around = dialog.bounding_box(), frame.bounding_box()
    assert box
    assert around
    assert around["y"] <= box["y"] <= around["y"] + around["height"]
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    editor.put({"type": "synonym", "synonyms": ["sofa", "couch"]})
    expect(frame.get_by_role("button", name="Apply")).to_be_enabled()


def _use_rules(frame: Locator, editor: Any) -> None:
    editor.pin("lamp", "sku-001", 0)
    expect(frame.locator(".svc-rule-line")).to_have_count(1)
    expect(frame.get_by_role("button", name="Apply")).to_be_enabled()


def _use_settings(frame: Locator, editor: Any) -> None:
    editor.put("hitsPerPage", "7")
    expect(frame.get_by_role("button", name="Apply")).to_be_enabled()


def _show(frame: Frame | None, editor: Any) -> Any:
    assert frame
    frame.wait_for_function("() => window.connected")
    frame.evaluate("id => window.show(id, 1, 0)", editor.model_id)
    shown = frame.locator("#view-1 .svc-editor").first
    shown.wait_for(timeout=20_000)
    return shown

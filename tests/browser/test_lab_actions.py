"""Actions of the JupyterLab extension on an index, by mouse and by keyboard."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.lab import Lab
from tests.browser.labextension import LabPage, fresh
from tests.browser.notebook import drag
from tests.browser.shop import connect, fill, products
from tests.conftest import ROOT, Running

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(180)]
EDITORS = {
    "Open the query editor": "query",
    "Open the settings editor": "settings",
    "Open the synonym editor": "synonyms",
    "Open the rule editor": "rules",
    "Open the judgment editor": "judgments",
}
CODES = {
    "Insert code: search": 'svc.search("acted-on", "")',
    "Insert code: browse": 'svc.read_browse("acted-on")',
    "Insert code: load": 'svc.load("FILE", "acted-on")',
}


@pytest.fixture
def lab_page(shared_notebook: LabPage, service: Running) -> LabPage:
    fill(service, "acted-on", products())
    return connected(shared_notebook, service)


def connected(opened: LabPage, service: Running) -> LabPage:
    """Connect the kernel of a notebook once, and forget what the page said of earlier ones."""
    if not opened.ask("'client' in globals()"):
        opened.run(connect(service))
    opened.await_connected()
    opened.complaints.clear()
    return opened


def dialog(lab_page: LabPage) -> Locator:
    return lab_page.page.locator(".jp-Dialog")


def records(service: Running, index: str) -> int | None:
    with service.client() as client:
        items: list[dict[str, Any]] = client.get("/1/indexes").json()["items"]
    return next((item["entries"] for item in items if item["name"] == index), None)


def test_each_editor_opens_in_a_new_cell_below(lab_page: LabPage) -> None:
    for label, name in EDITORS.items():
        lab_page.open_menu("acted-on").get_by_text(label).click()
        expect(lab_page.page.locator(f".svc-editor.svc-{name}")).to_have_count(1, timeout=40_000)
    assert not lab_page.complaints


def test_code_is_inserted_and_not_run(lab_page: LabPage) -> None:
    count = lab_page.ask("get_ipython().execution_count")

    for label, code in CODES.items():
        lab_page.open_menu("acted-on").get_by_text(label).click()
        lab_page.await_source(code)

    assert lab_page.ask("get_ipython().execution_count") == count


def test_the_code_of_an_editor_is_inserted_as_cells(lab_page: LabPage) -> None:
    lab_page.run("s = svc.edit.synonyms('acted-on')\ns", cell=0)
    lab_page.run("s.put({'type': 'synonym', 'synonyms': ['sofa', 'couch']})", cell=1)
    editor = lab_page.page.locator(".svc-editor.svc-synonyms")
    editor.get_by_role("button", name="Code").click()
    dialog = editor.get_by_role("dialog")
    expect(dialog).to_contain_text("The API key is not in the code")
    expect(dialog.get_by_role("button", name="Insert as cell")).to_have_count(2)

    dialog.get_by_role("button", name="Insert as cell").first.click()

    source = "jupyterapp.shell.currentWidget.content.activeCell.model.sharedModel.source"
    lab_page.page.wait_for_function(f"() => {source}.includes('svc.save_synonyms(')")


def test_code_may_be_magics(page: Page, extended_lab: Lab, service: Running) -> None:
    fill(service, "acted-on", products())
    before = connected(fresh(page, extended_lab), service)
    before.save_preferences(codeStyle="magic")
    again = LabPage(page, extended_lab, before.path.name)

    again.open_menu("acted-on").get_by_text("Insert code: search").click()

    again.await_source("%load_ext svc_notebook\n%svc search acted-on")
    again.save_preferences()


def test_the_palette_asks_which_index_is_meant(lab_page: LabPage) -> None:
    lab_page.page.keyboard.press("Control+Shift+C")
    lab_page.page.locator(".lm-CommandPalette-input").fill("Insert code: browse")
    lab_page.page.keyboard.press("Enter")
    chosen = dialog(lab_page).locator("select, input").first
    expect(chosen).to_be_visible()
    chosen.select_option("acted-on")
    dialog(lab_page).locator(".jp-mod-accept").click()

    lab_page.await_source(CODES["Insert code: browse"])


def test_a_name_is_copied(lab_page: LabPage) -> None:
    lab_page.page.context.grant_permissions(["clipboard-read", "clipboard-write"])

    lab_page.open_menu("acted-on").get_by_text("Copy name").click()

    assert lab_page.page.evaluate("() => navigator.clipboard.readText()") == "acted-on"


def test_names_are_dragged_into_a_cell(lab_page: LabPage) -> None:
    cell = lab_page.page.locator(".jp-Notebook .cm-content").nth(1)
    lab_page.expand("acted-on")
    lab_page.expand("Attributes")

    drag(lab_page.row("price"), cell)

    expect(cell).to_contain_text("price")


def test_an_index_is_copied_moved_cleared_and_dropped(lab_page: LabPage, service: Running) -> None:
    for label, target in (("Copy to…", "copied-to"), ("Move to…", "moved-to")):
        source = "acted-on" if label.startswith("Copy") else "copied-to"
        lab_page.open_menu(source).get_by_text(label).click()
        dialog(lab_page).locator("input").fill(target)
        lab_page.page.keyboard.press("Enter")
        expect(dialog(lab_page)).to_contain_text(f"{source} has 70 records")
        expect(dialog(lab_page)).to_contain_text(service.appId)
        dialog(lab_page).get_by_role("button", name=label[:4]).click()
        expect(lab_page.row(target)).to_contain_text("70")
    assert records(service, "copied-to") is None

    lab_page.open_menu("moved-to").get_by_text("Clear…").click()
    expect(dialog(lab_page)).to_contain_text("Delete all records of moved-to")
    dialog(lab_page).get_by_role("button", name="Clear").click()
    expect(lab_page.row("moved-to")).not_to_contain_text("70")
    assert records(service, "moved-to") == 0

    lab_page.open_menu("moved-to").get_by_text("Drop…").click()
    dialog(lab_page).get_by_role("button", name="Drop").click()
    expect(lab_page.row("moved-to")).to_have_count(0)
    assert records(service, "moved-to") is None
    assert not lab_page.complaints


def test_enter_on_a_question_changes_nothing(lab_page: LabPage, service: Running) -> None:
    lab_page.row("acted-on").click()
    lab_page.page.keyboard.press("Shift+F10")
    lab_page.page.get_by_role("menuitem", name="Drop…").wait_for()
    lab_page.page.keyboard.press("ArrowUp")
    lab_page.page.keyboard.press("Enter")
    expect(dialog(lab_page)).to_contain_text("Delete the whole index acted-on")

    lab_page.page.keyboard.press("Enter")

    expect(dialog(lab_page)).to_have_count(0)
    assert records(service, "acted-on") == 70


def test_a_change_that_the_key_forbids_is_told(lab_page: LabPage, service: Running) -> None:
    with service.client() as client:
        made = client.post("/1/keys", json={"acl": ["search", "listIndexes"]}).json()["key"]
    lab_page.page.wait_for_timeout(500)  # until the key is known
    lab_page.run(connect(service).replace(service.adminKey, made))
    expect(lab_page.explorer).to_contain_text("rights: search, listIndexes")

    lab_page.open_menu("acted-on").get_by_text("Clear…").click()
    dialog(lab_page).get_by_role("button", name="Clear").click()

    expect(dialog(lab_page)).to_contain_text("Clear failed")
    expect(dialog(lab_page)).to_contain_text("deleteIndex")
    assert records(service, "acted-on") == 70
    dialog(lab_page).locator(".jp-mod-accept").click()
    lab_page.run(connect(service))


def test_both_templates_are_in_the_launcher(lab_page: LabPage) -> None:
    lab_page.execute("launcher:create")
    cards = lab_page.page.locator(".jp-LauncherCard")

    expect(cards.filter(has_text="Tuning notebook")).to_be_visible()
    icons = cards.filter(has_text=re.compile("Tuning notebook|Load notebook|Tutorials"))
    shapes = icons.locator("svg path").evaluate_all(
        "all => all.map(path => path.getAttribute('d'))"
    )
    assert len(set(shapes)) == 3
    cards.filter(has_text="Load notebook").click()

    title = lab_page.page.locator(".jp-Notebook h1").filter(has_text="Load")
    expect(title).to_be_visible(timeout=30_000)


def test_the_launcher_copies_the_tutorials_and_opens_the_first(lab_page: LabPage) -> None:
    folder = lab_page.path.parent / "svc-tutorials"
    folder.mkdir()
    (folder / "films.py").write_text("mine")
    lab_page.execute("launcher:create")
    lab_page.page.locator(".jp-LauncherCard").filter(has_text="Tutorials").click()

    title = lab_page.page.locator(".jp-Notebook h1").filter(has_text="From a CSV to search")
    expect(title).to_be_visible(timeout=30_000)
    assert (folder / "films.py").read_text() == "mine"
    source = json.loads((ROOT / "notebooks/03-operate.ipynb").read_text(encoding="utf-8"))
    copied = json.loads((folder / "03-operate.ipynb").read_text(encoding="utf-8"))
    assert [cell["source"] for cell in copied["cells"]] == [
        cell["source"] for cell in source["cells"]
    ]


def test_the_settings_have_a_form(lab_page: LabPage) -> None:
    lab_page.execute("settingeditor:open", query="Search service")

    box = lab_page.page.get_by_role("checkbox", name="Underline errors in magics")
    expect(box).to_be_checked(timeout=30_000)
    expect(lab_page.page.get_by_text("Whether actions write Python or magics.")).to_be_visible()

"""The synonym editor in JupyterLab."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.lab import Lab
from tests.browser.looks import CONTRAST, draw, find_violations
from tests.browser.notebook import Notebook
from tests.browser.reopened_notebook import reopened
from tests.browser.shop import INDICES, connect, fill, products
from tests.conftest import Running, start_service, stop_service

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(120)]
CONTEXT = {"viewport": {"width": 1180, "height": 900}, "accept_downloads": True}

INDEX = "words"
SYNONYMS: list[dict[str, Any]] = [
    {"objectID": "lights", "type": "synonym", "synonyms": ["lamp", "lantern", "light"]},
    {"objectID": "seats", "type": "onewaysynonym", "input": "seat", "synonyms": ["chair"]},
    {"objectID": "desks", "type": "onewaysynonym", "input": "desk", "synonyms": ["table"]},
    {"objectID": "tables", "type": "onewaysynonym", "input": "table", "synonyms": ["desk"]},
    {"objectID": "miror", "type": "altcorrection1", "word": "miror", "corrections": ["mirror"]},
    {"objectID": "shelve", "type": "altcorrection2", "word": "shelve", "corrections": ["shelf"]},
    {"objectID": "size", "type": "placeholder", "placeholder": "<size>",
     "replacements": ["small", "large"]},
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def indices(service: Running) -> None:
    """The indices that these tests search."""
    fill(service, INDEX, products())


def show(notebook: Notebook, code: str = "e = svc.edit.synonyms('words')\ne") -> Locator:
    """Open an editor on the synonyms above."""
    notebook.run(
        f"client.wait(client.save_synonyms('words', {SYNONYMS!r}, replaceExistingSynonyms=True), "
        "index='words')"
    )
    editor = notebook.open(code)
    expect(editor.get_by_role("row")).to_have_count(1 + len(SYNONYMS))
    return editor


@pytest.fixture
def editor(notebook: Notebook) -> Iterator[Locator]:
    """A new editor; nothing may have complained at the end."""
    yield show(notebook)
    assert not notebook.complaints


def saved(notebook: Notebook, name: str) -> Any:
    """One synonym as the service has it, or nothing."""
    return notebook.ask(
        f"next(({{**s}} for s in client.search_synonyms('words', {name!r})['hits'] "
        f"if s['objectID'] == {name!r}), None)"
    )


@pytest.mark.in_lab
def test_a_synonym_is_added_by_the_keyboard_and_applied(
    editor: Locator, notebook: Notebook
) -> None:
    keyboard = notebook.page.keyboard
    editor.get_by_role("button", name="New synonym…").press("Enter")
    keyboard.type("shelf, table")
    dialog = editor.get_by_role("dialog")
    dialog.get_by_label("Type").select_option("onewaysynonym")
    expect(dialog).to_contain_text("The first word also finds")
    dialog.get_by_role("button", name="Add synonym").press("Enter")
    expect(dialog.get_by_role("alert")).to_have_text("Enter the word that the synonym is for.")
    expect(dialog.get_by_label("For the word")).to_be_focused()
    keyboard.type("board")
    keyboard.press("Enter")
    expect(editor).to_contain_text("1 added")
    name = notebook.ask("e.value[0]['objectID']")
    assert saved(notebook, name) is None

    keyboard.press("Control+s")
    dialog = editor.get_by_role("dialog")
    expect(dialog).to_contain_text("→ one-way: board → shelf, table")
    keyboard.press("Enter")
    expect(editor).to_contain_text("Applied and published.")

    assert saved(notebook, name)["synonyms"] == ["shelf", "table"]
    assert notebook.ask("client.search('words', 'board')['nbHits']") > 0
    notebook.await_value("e.dirty", False)


def test_a_pasted_list_is_added_in_one_step(editor: Locator, notebook: Notebook) -> None:
    editor.get_by_role("button", name="Paste a list…").click()
    dialog = editor.get_by_role("dialog")
    lines = dialog.get_by_label("Synonyms, one per line")
    lines.fill("sofa, couch\nalone\ntv, telly => television")
    expect(dialog).to_contain_text("1 two-way, 2 one-way")
    expect(dialog).to_contain_text("Line 2 has fewer than two words.")
    draw(notebook.page, "synonym-editor-paste.png")
    dialog.get_by_role("button", name="Add to the draft").click()
    lines.fill("sofa, couch\ntv, telly => television")
    dialog.get_by_role("button", name="Add to the draft").click()

    expect(editor).to_contain_text("3 added")
    editor.get_by_role("button", name="Undo").click()
    expect(editor).to_contain_text("Saved")
    notebook.await_value("e.dirty", False)


def test_cells_are_edited_by_mouse_and_changes_undone(editor: Locator, notebook: Notebook) -> None:
    row = editor.get_by_role("row", name="seats")
    row.get_by_role("gridcell").nth(1).dblclick()
    editor.get_by_label("The word that is replaced").fill("stool")
    notebook.page.keyboard.press("Enter")
    expect(editor).to_contain_text("1 changed")
    notebook.await_value("e.get('seats')['input']", "stool")

    editor.get_by_role("row", name="lights").get_by_role("button", name="Delete").click()
    expect(editor).to_contain_text("1 changed, 1 removed")
    editor.get_by_role("button", name="Undo").click()
    editor.get_by_role("button", name="Undo").click()

    expect(editor).to_contain_text("Saved")
    notebook.await_value("e.get('seats')['input']", "seat")


def test_a_type_is_changed_and_the_words_stay(editor: Locator, notebook: Notebook) -> None:
    editor.get_by_role("row", name="lights").get_by_role("gridcell").first.dblclick()
    editor.get_by_label("Type").select_option("onewaysynonym")
    notebook.page.keyboard.press("Enter")

    expect(editor.get_by_role("row", name="lights")).to_contain_text("one-way")
    lights = {
        "objectID": "lights",
        "type": "onewaysynonym",
        "input": "lamp",
        "synonyms": ["lantern", "light"],
    }
    notebook.await_value("e.get('lights')", lights)


def test_faults_are_seen_and_kept_from_the_service(editor: Locator, notebook: Notebook) -> None:
    editor.get_by_label("Which synonyms").select_option("+faults")
    expect(editor.get_by_role("row")).to_have_count(3)
    expect(editor.locator(".svc-faults")).to_contain_text(
        "one-way synonyms form a cycle: desk → table → desk"
    )
    editor.get_by_label("Which synonyms").select_option("")
    row = editor.get_by_role("row", name="miror")
    row.get_by_role("gridcell").nth(2).dblclick()
    notebook.page.keyboard.type("looking glass,")
    notebook.page.keyboard.press("Enter")

    expect(editor).to_contain_text("1 error")
    expect(editor.locator(".svc-faults")).to_contain_text("corrections are single words")
    editor.get_by_role("button", name="Apply…").click()
    editor.get_by_role("dialog").get_by_role("button", name="Apply").click()

    expect(editor.get_by_role("alert").first).to_contain_text("corrections are single words")
    assert saved(notebook, "miror")["corrections"] == ["mirror"]


def test_words_are_found_among_thousands(notebook: Notebook) -> None:
    notebook.run(
        "many = [{'objectID': f's{n}', 'type': 'synonym', 'synonyms': [f'word{n}', f'term{n}']} "
        "for n in range(2000)]"
    )
    editor = notebook.open("e = svc.edit.synonyms('words', value=many)\ne")
    expect(editor).to_contain_text("2,000 synonyms")
    assert editor.get_by_role("row").count() < 60

    find = editor.get_by_label("Find synonyms")
    find.fill("word1234")
    expect(editor.get_by_role("row")).to_have_count(2)
    find.press("ArrowDown")
    notebook.page.keyboard.press("Enter")
    editor.get_by_label("Type").select_option("placeholder")
    notebook.page.keyboard.press("Enter")

    expect(editor.get_by_role("row", name="s1234")).to_contain_text("placeholder")
    notebook.await_value("e.get('s1234').get('placeholder')", "word1234")
    grid = editor.get_by_role("grid")
    grid.focus()
    notebook.page.keyboard.press("ArrowRight")
    told = grid.evaluate("el => el.ariaActiveDescendantElement.innerText")
    assert told == "word1234"
    notebook.page.keyboard.press("Delete")
    expect(editor).to_contain_text("1,999")
    assert not notebook.complaints


def test_all_shown_synonyms_are_deleted_in_one_step(editor: Locator, notebook: Notebook) -> None:
    editor.get_by_label("Which synonyms").select_option("onewaysynonym")
    editor.get_by_role("button", name="Bulk edit…").press("Enter")
    expect(editor.get_by_role("dialog")).to_contain_text("Edit 3 synonyms")
    editor.get_by_role("dialog").get_by_role("button", name="Delete").press("Enter")
    expect(editor).to_contain_text("Delete: 3 synonyms. Undo reverts it.")
    expect(editor).to_contain_text("0 of 4 synonyms")
    editor.get_by_role("button", name="3 removed").click()
    expect(editor.locator(".svc-faults")).to_contain_text("No synonym matches the search.")
    editor.get_by_role("button", name="show all").click()
    expect(editor.get_by_role("row")).to_have_count(1 + 4)

    editor.get_by_role("button", name="Undo").click()

    expect(editor.get_by_role("row")).to_have_count(1 + len(SYNONYMS))
    notebook.await_value("e.dirty", False)


def test_impact_is_shown_before_anything_is_applied(editor: Locator, notebook: Notebook) -> None:
    notebook.run("e.put({'type': 'onewaysynonym', 'input': 'board', 'synonyms': ['desk']})", cell=1)
    editor.get_by_role("tab", name="Impact").click()
    editor.get_by_label("Queries: add").fill("board")
    editor.get_by_role("button", name="Try the draft").click()

    row = editor.locator(".svc-impact-row")
    expect(row).to_contain_text("0 → 10", timeout=15_000)
    expect(row).to_contain_text("+10")
    expect(editor.locator(".svc-gained")).to_have_count(10)
    notebook.await_value("client.search('words', 'board')['nbHits']", 0)
    notebook.await_value(f"[i for i in {INDICES} if i.startswith('words_')]", [])
    notebook.await_value("e.queries", ["board"])
    notebook.run("e.undo()", cell=1)
    expect(editor).to_contain_text("The draft has changed")


def test_files_go_in_and_out(editor: Locator, notebook: Notebook, tmp_path: Path) -> None:
    editor.get_by_role("button", name="Import…").click()
    dialog = editor.get_by_role("dialog")
    dialog.locator("textarea").fill('objectID,type,synonyms\nnew,synonym,"[""a"",""b""]"\n')
    dialog.get_by_role("button", name="Import").click()
    expect(editor).to_contain_text("1 synonym read: 1 added.")
    notebook.await_value("len(e.value)", len(SYNONYMS) + 1)

    editor.get_by_role("button", name="Import…").click()
    old = tmp_path / "old.csv"
    old.write_text("objectID,type\nfür,", encoding="latin-1")
    dialog.get_by_label("File").set_input_files(old)
    dialog.get_by_label("Duplicate objectIDs").select_option("replace")
    dialog.get_by_role("button", name="Import").click()
    expect(editor.get_by_role("alert").first).to_contain_text("old.csv is not text in UTF-8.")
    notebook.await_value("len(e.value)", len(SYNONYMS) + 1)

    editor.get_by_role("button", name="Export…").click()
    with notebook.page.expect_download() as download:
        editor.get_by_role("dialog").get_by_role("button", name="JSON", exact=True).click()

    assert download.value.suggested_filename == "words-synonyms.json"
    text = Path(download.value.path()).read_text(encoding="utf-8")
    notebook.await_value("e.value", json.loads(text))


def test_a_key_that_cannot_write_is_reported(notebook: Notebook, service: Running) -> None:
    editor = show(
        notebook,
        "key = client.add_key(acl=['settings', 'search'])['key']\n"
        f"weak = svc.connect(url={service.url!r}, app_id={service.appId!r}, api_key=key)\n"
        f"{connect(service)}e = svc.edit.synonyms('words', client=weak)\ne",
    )

    expect(editor).to_contain_text("Read-only: the key lacks the right `editSettings`.")
    expect(editor.get_by_role("button", name="Apply…")).to_be_hidden()
    expect(editor.get_by_role("button", name="New synonym…")).to_be_disabled()
    editor.get_by_role("grid").focus()
    notebook.page.keyboard.press("Delete")

    expect(editor.get_by_role("row")).to_have_count(1 + len(SYNONYMS))


def test_an_unreachable_service_is_reported_and_a_retry_works(
    notebook: Notebook, service: Running, tmp_path: Path
) -> None:
    process, running = start_service(tmp_path / "data")
    try:
        fill(running, INDEX, products()[:5])
        editor = notebook.open(connect(running) + "e = svc.edit.synonyms('words')\ne")
    finally:
        stop_service(process)
    notebook.run(
        "e.put({'objectID': 'x', 'type': 'synonym', 'synonyms': ['a', 'b']})\n" + connect(service),
        cell=1,
    )

    editor.get_by_role("button", name="Apply…").click()
    editor.get_by_role("dialog").get_by_role("button", name="Apply").click()

    banner = editor.get_by_role("alert").first
    expect(banner).to_contain_text("Check that the service runs", timeout=20_000)
    notebook.await_value("e.value[0]['synonyms']", ["a", "b"])
    expect(editor).to_contain_text("Unsaved changes")
    process, _ = start_service(tmp_path / "data", "--port", running.url.rpartition(":")[2])
    try:
        editor.get_by_role("button", name="Apply…").click()
        editor.get_by_role("dialog").get_by_role("button", name="Apply").click()
        expect(editor).to_contain_text("Applied and published.", timeout=20_000)
        expect(banner).to_be_hidden()
    finally:
        stop_service(process)


@pytest.mark.in_lab
def test_words_are_there_without_a_kernel(
    editor: Locator, notebook: Notebook, lab: Lab, chromium: Browser
) -> None:
    editor.get_by_role("row", name="seats").get_by_role("button", name="Delete").click()
    kept = notebook.page.locator(".svc-fallback")
    expect(kept).to_contain_text("6 synonyms, unsaved changes", timeout=10_000)
    assert not kept.is_visible()

    with reopened(notebook, lab, chromium) as later:
        shown = later.page.locator(".svc-fallback")
        expect(shown).to_be_visible()
        expect(shown).to_contain_text("6 synonyms, unsaved changes")
        expect(shown).to_contain_text("lantern")
        assert not later.complaints


def test_words_are_text_and_fit_400_pixels(notebook: Notebook) -> None:
    struck = "<img src=x onerror=window.struck=1>"
    notebook.run(
        f"struck = {struck!r}\n"
        "value = [{'objectID': struck, 'type': 'synonym', 'synonyms': [struck, 'x' * 300]}, "
        "{'objectID': 'rtl', 'type': 'onewaysynonym', 'input': 'مصباح', 'synonyms': ['אור']}]"
    )
    editor = notebook.open("e = svc.edit.synonyms('words', value=value)\ne")
    editor.evaluate("el => { el.parentElement.style.width = '400px' }")
    editor.get_by_role("row").nth(1).get_by_role("gridcell").nth(2).dblclick()
    notebook.page.keyboard.press("Escape")
    editor.get_by_role("button", name="Apply…").click()
    expect(editor.get_by_role("dialog")).to_contain_text("onerror")

    assert not notebook.page.evaluate("window.struck")
    assert editor.locator("img").count() == 0
    assert editor.evaluate("el => el.scrollWidth <= el.clientWidth + 1")
    notebook.page.keyboard.press("Escape")
    assert not notebook.complaints


@pytest.mark.parametrize(
    ("theme", "picture"),
    [("JupyterLab Light", "synonym-editor.png"), ("JupyterLab Dark", "synonym-editor-dark.png")],
    ids=["light", "dark"],
)
def test_it_reads_well_in_light_and_dark(notebook: Notebook, theme: str, picture: str) -> None:
    notebook.change_theme(theme)
    editor = show(notebook, "e = svc.edit.synonyms('words', ['seat', 'lamp'])\ne")
    notebook.run(
        "e.put({**e.get('seats'), 'synonyms': ['chair', 'sofa']}, 'seats')\n"
        "e.put({'objectID': 'boards', 'type': 'onewaysynonym', 'input': 'board', "
        "'synonyms': ['desk']})\n"
        "e.put({**e.get('miror'), 'corrections': ['looking glass']}, 'miror')",
        cell=1,
    )
    editor.get_by_role("row", name="miror").get_by_role("gridcell").nth(1).click()
    expect(editor.locator(".svc-faults")).to_contain_text("single words")

    assert notebook.page.evaluate(CONTRAST) == []
    assert find_violations(notebook.page) == []
    draw(editor, picture)
    notebook.run("e.undo()\ne.queries = ['board', 'lamp']", cell=1)
    editor.get_by_role("tab", name="Impact").click()
    editor.get_by_role("button", name="Try the draft").click()
    expect(editor.locator(".svc-impact-row")).to_have_count(2, timeout=15_000)
    editor.get_by_role("button", name="board", exact=True).click()
    expect(editor.locator(".svc-gained").first).to_be_visible()

    assert notebook.page.evaluate(CONTRAST) == []
    assert find_violations(notebook.page) == []
    if theme.endswith("Light"):
        draw(editor, "synonym-editor-impact.png")
    notebook.change_theme("JupyterLab Light")

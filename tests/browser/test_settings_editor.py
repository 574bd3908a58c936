"""The settings editor in JupyterLab."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.looks import CONTRAST, draw, find_violations
from tests.browser.notebook import Notebook, drag_and_drop
from tests.browser.shop import HOSTILE, connect, fill, products
from tests.conftest import Running, start_service, stop_service

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(120)]

OPEN = "e = svc.edit.settings('tuned', ['lamp', 'red table'])\ne"


@pytest.fixture(scope="module", autouse=True)
def indices(service: Running) -> None:
    """The indices that these tests search."""
    fill(service, "hostile", HOSTILE)


@pytest.fixture
def editor(notebook: Notebook, service: Running) -> Iterator[Locator]:
    """A new settings editor of a new index; nothing may have complained at the end."""
    with service.client() as client:
        client.delete("/1/indexes/tuned")
    fill(service, "tuned", products())
    shown = notebook.open(OPEN)
    expect(shown.locator(".svc-pin")).to_have_count(2)
    yield shown
    assert not notebook.complaints


def saved(service: Running) -> dict[str, Any]:
    with service.client() as client:
        found: dict[str, Any] = client.get("/1/indexes/tuned/settings").raise_for_status().json()
    return found


def open_tab(editor: Locator, name: str) -> None:
    editor.get_by_role("tab", name=name).click()


def test_the_dialog_repeats_the_warnings(editor: Locator, notebook: Notebook) -> None:
    notebook.run("e.value = {'searchableAttributes': ['name', 'desciption']}", cell=1)
    expect(editor).to_contain_text("no record of the sample has `desciption`".replace("`", ""))

    editor.get_by_role("button", name="Apply…").click()

    dialog = editor.get_by_role("dialog")
    expect(dialog).to_contain_text("no record of the sample has desciption; did you mean")
    dialog.get_by_role("button", name="Cancel").click()


def open_group(editor: Locator, name: str) -> None:
    open_tab(editor, "Settings")
    group = editor.locator(".svc-group", has=editor.page.locator("summary", has_text=name))
    if not group.evaluate("el => el.open"):
        group.locator("summary").click()


def entries(editor: Locator, setting: str) -> Locator:
    return editor.get_by_role("list", name=setting, exact=True).locator("li")


def names(editor: Locator, setting: str) -> list[str]:
    return entries(editor, setting).locator(".svc-entry-name").all_inner_texts()


def setting(editor: Locator, name: str) -> Locator:
    return editor.get_by_role("group", name=name, exact=True)


def control(editor: Locator, name: str) -> Locator:
    return setting(editor, name).locator("select, input, textarea").first


def apply(editor: Locator) -> None:
    editor.get_by_role("button", name="Apply…").click()
    editor.get_by_role("dialog").get_by_role("button", name="Apply").click()
    expect(editor.locator(".svc-changed-name")).to_have_count(0)
    expect(editor.locator(".svc-news")).to_have_text("Applied and published.")


def test_criteria_are_put_in_order_by_keys_and_back(editor: Locator, notebook: Notebook) -> None:
    open_group(editor, "Ranking")
    entries(editor, "ranking").last.focus()
    for _ in range(2):
        notebook.page.keyboard.press("Alt+ArrowUp")

    expect(entries(editor, "ranking").nth(5)).to_be_focused()
    expect(editor.locator(".svc-changed-name")).to_have_text("ranking")
    wanted = ["proximity", "custom", "attribute", "exact"]
    notebook.await_value("e.value['ranking'][4:]", wanted)

    notebook.page.keyboard.press("Control+z")
    notebook.page.keyboard.press("Control+z")
    expect(editor.locator(".svc-changed-name")).to_have_count(0)
    assert names(editor, "ranking")[-1] == "custom"


def test_a_custom_ranking_is_dragged_previewed_and_applied(
    editor: Locator, notebook: Notebook, service: Running
) -> None:
    open_group(editor, "Ranking")
    editor.get_by_role("button", name="Add price").click()
    expect(entries(editor, "customRanking")).to_have_count(2)
    notebook.await_value("e.value['customRanking']", ["desc(rating)", "desc(price)"])
    drag_and_drop(entries(editor, "customRanking").nth(1), entries(editor, "customRanking").nth(0))
    notebook.await_value("e.value['customRanking']", ["desc(price)", "desc(rating)"])
    entries(editor, "customRanking").get_by_label("price: modifier").select_option("asc")

    first = editor.locator(".svc-pin").first
    expect(first.locator(".svc-summary")).to_contain_text("moved")
    expect(editor.locator(".svc-how")).to_contain_text("Nothing is written")
    assert saved(service)["customRanking"] == ["desc(rating)"]
    after = first.locator(".svc-side").last.locator(".svc-side-title")
    expect(after.first).to_have_text("red lamp")
    previewed = after.all_inner_texts()

    apply(editor)

    assert saved(service)["customRanking"] == ["asc(price)", "desc(rating)"]
    expect(first.locator(".svc-summary")).to_contain_text("unchanged, 10 hits")
    notebook.await_value("list(svc.search('tuned', 'lamp').name)", previewed)
    notebook.await_value("e.dirty", False)


def test_what_is_modified_comes_first_and_the_rest_is_found_by_meaning(
    editor: Locator, notebook: Notebook
) -> None:
    sections = editor.locator(".svc-group")
    expect(sections.first.locator("summary")).to_contain_text("Modified 3")
    expect(sections.nth(1).locator("summary")).to_contain_text("Query")

    editor.get_by_label("Find a setting").fill("closest together")
    expect(editor.locator(".svc-setting")).to_have_count(1)
    about = setting(editor, "attributeCriteriaComputedByMinProximity")
    expect(about.locator(".svc-hint code").first).to_have_text("attribute")
    expect(about).not_to_contain_text("`")

    control(editor, "attributeCriteriaComputedByMinProximity").select_option("true")
    expect(editor.locator(".svc-changed-name")).to_have_count(1)
    editor.get_by_label("Find a setting").fill("")
    expect(sections.first.locator("summary")).to_contain_text("Modified 4")
    notebook.await_value("e.value['attributeCriteriaComputedByMinProximity']", True)


def test_an_attribute_without_a_modifier_is_called_ordered(
    editor: Locator, notebook: Notebook
) -> None:
    modifier = editor.get_by_label("name: modifier")
    expect(modifier.locator("option")).to_have_text(["ordered", "unordered"])

    modifier.select_option("unordered")
    notebook.await_value("e.value['searchableAttributes'][0]", "unordered(name)")
    notebook.run("e.value = {'searchableAttributes': ['ordered(name)']}", cell=1)

    expect(modifier).to_have_value("")
    expect(editor.get_by_role("list", name="searchableAttributes")).to_contain_text(
        "earlier words rank higher"
    )


def test_absent_set_and_reset_look_like_three_things(
    editor: Locator, notebook: Notebook, service: Running
) -> None:
    open_group(editor, "Typos")
    expect(setting(editor, "typoTolerance").locator(".svc-badge")).to_have_text("not set")
    expect(setting(editor, "minWordSizefor1Typo").locator(".svc-badge")).to_have_text("default")
    control(editor, "typoTolerance").select_option("min")
    expect(setting(editor, "typoTolerance").locator(".svc-badge")).to_have_text("newly set")
    open_group(editor, "Ranking")
    editor.get_by_role("button", name="Reset customRanking").click()
    expect(setting(editor, "customRanking").locator(".svc-badge")).to_contain_text("will be reset")

    notebook.await_value("{c['name']: c['how'] for c in e.changes}", {
        "customRanking": "reset", "typoTolerance": "set",
    })  # fmt: skip
    apply(editor)

    expect(setting(editor, "customRanking").locator(".svc-badge")).to_have_text("not set")
    assert "customRanking" not in saved(service)
    assert saved(service)["typoTolerance"] == "min"


def test_what_apply_would_do_is_shown_before_and_can_be_left(
    editor: Locator, notebook: Notebook, service: Running
) -> None:
    notebook.run("e.value = {'hitsPerPage': 5, 'ignorePlurals': ['en']}", cell=1)
    notebook.page.keyboard.press("Escape")
    editor.focus()
    notebook.page.keyboard.press("Control+s")

    dialog = editor.get_by_role("dialog", name="Apply 2 settings to tuned?")
    expect(dialog.locator(".svc-change")).to_have_count(2)
    expect(dialog).to_contain_text("20 → 5")
    draw(notebook.page, "settings-editor-apply.png")
    expect(dialog).to_contain_text("not set (false)")
    notebook.page.keyboard.press("Escape")

    expect(dialog).to_have_count(0)
    assert saved(service)["hitsPerPage"] == 20
    notebook.await_value("e.dirty", True)


def test_an_attribute_that_no_search_can_name_is_tried_on_a_copy(
    editor: Locator, notebook: Notebook, service: Running
) -> None:
    entries(editor, "searchableAttributes").first.focus()
    notebook.page.keyboard.press("Delete")
    expect(entries(editor, "searchableAttributes")).to_have_count(3)
    expect(editor.locator(".svc-missing")).to_contain_text("searchableAttributes")

    editor.get_by_role("button", name="Preview on a copy").click()

    expect(editor.locator(".svc-summary").last).to_contain_text("1 → 0 hits")
    copy = notebook.ask("e.previews['copy']")
    assert copy.startswith("tuned_tmp_")
    assert saved(service)["searchableAttributes"][0] == "name"
    editor.get_by_role("button", name="Delete the copy").click()
    expect(editor.locator(".svc-missing")).to_be_visible()
    with service.client() as client:
        assert client.get(f"/1/indexes/{copy}/settings").status_code == 404


def test_what_is_odd_is_told_beside_it(editor: Locator) -> None:
    open_group(editor, "Ranking")
    editor.get_by_label("customRanking: add").fill("ratng")
    editor.get_by_label("customRanking: add").press("Enter")

    expect(entries(editor, "customRanking").last).to_contain_text("did you mean rating?")


def test_invalid_settings_are_refused_and_change_nothing(
    editor: Locator, notebook: Notebook
) -> None:
    open_group(editor, "Ranking")
    editor.get_by_label("ranking: add", exact=True).fill("newest")
    editor.get_by_label("ranking: add", exact=True).press("Enter")

    expect(editor.get_by_role("alert").first).to_contain_text("newest is not a criterion")
    expect(entries(editor, "ranking")).to_have_count(8)
    notebook.await_value("e.dirty", False)


def test_a_change_by_others_is_not_overwritten(
    editor: Locator, notebook: Notebook, service: Running
) -> None:
    editor.get_by_label("Find a setting").fill("hits per page")
    control(editor, "hitsPerPage").fill("3")
    control(editor, "hitsPerPage").press("Enter")
    expect(editor.locator(".svc-changed-name")).to_have_text("hitsPerPage")
    notebook.run("svc.set_settings('tuned', hitsPerPage=7)", cell=1)

    editor.get_by_role("button", name="Apply…").click()
    editor.get_by_role("dialog").get_by_role("button", name="Apply").click()

    banner = editor.get_by_role("alert").first
    expect(banner).to_contain_text("changed elsewhere to 7")
    assert saved(service)["hitsPerPage"] == 7
    editor.get_by_role("button", name="Reload").click()
    expect(banner).to_be_hidden()
    expect(setting(editor, "hitsPerPage").locator(".svc-badge")).to_contain_text("was 7")
    apply(editor)
    assert saved(service)["hitsPerPage"] == 3


def test_an_applied_change_is_taken_back(editor: Locator, service: Running) -> None:
    editor.get_by_label("Find a setting").press_sequentially("plurals")
    control(editor, "ignorePlurals").select_option("some")
    editor.get_by_label("ignorePlurals, languages: add").fill("en")
    editor.get_by_label("ignorePlurals, languages: add").press("Enter")
    apply(editor)
    assert saved(service)["ignorePlurals"] == ["en"]

    editor.get_by_label("Find a setting").fill("")
    open_tab(editor, "History")
    expect(editor.locator(".svc-applied")).to_contain_text("before: not set")
    draw(editor, "settings-editor-history.png")
    editor.get_by_role("button", name="Restore previous values").click()
    expect(editor.locator(".svc-changed-name")).to_have_text("ignorePlurals (reset)")
    apply(editor)

    assert "ignorePlurals" not in saved(service)


def test_queries_are_pinned_and_folded(editor: Locator, notebook: Notebook) -> None:
    editor.get_by_label("Pin a query").fill("desk")
    editor.get_by_label("Pin a query").press("Enter")
    expect(editor.locator(".svc-pin")).to_have_count(3)

    editor.get_by_role("button", name="Unpin lamp").click()
    expect(editor.locator(".svc-pin")).to_have_count(2)
    desk = editor.locator(".svc-pin", has_text="desk")
    desk.locator(".svc-pin-head").click()

    expect(desk.locator(".svc-side")).to_have_count(0)
    notebook.await_value("e.queries", ["red table", "desk"])


def test_a_replica_shows_its_primary_and_receives_forwarded_changes(
    editor: Locator, notebook: Notebook, service: Running
) -> None:
    notebook.run("e.value = {'replicas': ['tuned_cheap']}; e.apply()", cell=1)
    notebook.run("e.value = {'hitsPerPage': 9}", cell=1)
    editor.get_by_role("button", name="Apply…").click()
    editor.get_by_label("Forward to replicas: tuned_cheap").check()
    editor.get_by_role("dialog").get_by_role("button", name="Apply").click()
    expect(editor.locator(".svc-news")).to_have_text("Applied and published.")

    replica = notebook.open("r = svc.edit.settings('tuned_cheap')\nr")

    expect(replica.locator(".svc-follows")).to_contain_text("replica of tuned")
    notebook.await_value("r.value['hitsPerPage']", 9)
    notebook.run("e.value = {'replicas': []}; e.apply()", cell=1)


def test_a_key_that_may_only_read_gets_an_editor_that_only_shows(
    notebook: Notebook, service: Running, editor: Locator
) -> None:
    with service.client() as client:
        made = client.post("/1/keys", json={"acl": ["search", "settings"]}).raise_for_status()
    key = made.json()["key"]
    reader = notebook.open(
        connect(service)
        .replace(repr(service.adminKey), repr(key))
        .replace("client = ", "reader = ")
        + "e = svc.edit.settings('tuned', ['lamp'], client=reader)\ne"
    )

    expect(reader).to_contain_text("Read-only: the key lacks the right")
    reader.get_by_role("tab", name="JSON").click()
    expect(reader.get_by_role("button", name="Use as draft")).to_be_disabled()
    expect(reader.get_by_label("Settings as JSON")).not_to_be_editable()
    expect(reader.get_by_role("button", name="Apply…")).to_be_hidden()
    open_group(reader, "Typos")
    expect(control(reader, "typoTolerance")).to_be_disabled()
    notebook.run(connect(service))


def test_an_unreachable_service_is_reported_and_the_draft_stays(
    notebook: Notebook, tmp_path: Path, service: Running
) -> None:
    process, running = start_service(tmp_path / "data")
    try:
        fill(running, "tuned", products()[:5])
        editor = notebook.open(connect(running) + OPEN)
        expect(editor.locator(".svc-pin")).to_have_count(2)
    finally:
        stop_service(process)
    open_group(editor, "Typos")
    control(editor, "typoTolerance").select_option("min")
    expect(editor.locator(".svc-changed-name")).to_have_text("typoTolerance")

    editor.get_by_role("button", name="Apply…").click()
    editor.get_by_role("dialog").get_by_role("button", name="Apply").click()

    banner = editor.get_by_role("alert").first
    expect(banner).to_contain_text("Check that the service runs", timeout=20_000)
    notebook.await_value("e.value['typoTolerance']", "min")
    notebook.run(connect(service))


@pytest.mark.in_lab
def test_it_answers_while_a_cell_runs(editor: Locator, notebook: Notebook) -> None:
    notebook.begin("import time\nfor _ in range(60): time.sleep(0.1)", cell=1)
    open_group(editor, "Ranking")
    editor.get_by_role("button", name="Add price").click()

    expect(editor.locator(".svc-changed-name")).to_have_text("customRanking")
    expect(notebook.page.locator(".jp-InputPrompt", has_text="[*]")).to_have_count(1)
    notebook.page.evaluate("jupyterapp.commands.execute('notebook:interrupt-kernel')")
    notebook.page.evaluate("window.ran")


def test_what_records_and_settings_hold_is_text(notebook: Notebook) -> None:
    editor = notebook.open(
        "tag = '<img src=x onerror=\"window.struck=1\">'\n"
        "e = svc.edit.settings('hostile', ['lamp', tag], value={'highlightPreTag': tag,"
        " 'searchableAttributes': [tag, 'title']})\ne"
    )
    expect(editor.locator(".svc-pin")).to_have_count(2)
    expect(editor.locator(".svc-side-title").first).to_contain_text("lamp")
    editor.get_by_role("button", name="Apply…").click()
    expect(editor.get_by_role("dialog")).to_contain_text("onerror")
    notebook.page.keyboard.press("Escape")

    assert not notebook.page.evaluate("window.struck")
    assert editor.locator("img, script, #x").count() == 0
    assert not notebook.complaints


def test_it_is_usable_at_400_pixels(editor: Locator, notebook: Notebook) -> None:
    editor.evaluate("el => { el.parentElement.style.width = '400px' }")
    notebook.page.wait_for_timeout(100)

    for name in ("Ranking", "Languages", "JSON"):
        (open_tab if name == "JSON" else open_group)(editor, name)
        assert editor.evaluate(
            "el => [el, ...el.querySelectorAll('.svc-setting, .svc-pin, .svc-sortable-item')]"
            ".every(one => one.getBoundingClientRect().right"
            " <= el.getBoundingClientRect().right && el.scrollWidth <= el.clientWidth + 1)"
        )


@pytest.mark.parametrize(
    ("theme", "picture"),
    [("JupyterLab Light", "settings-editor.png"), ("JupyterLab Dark", "settings-editor-dark.png")],
    ids=["light", "dark"],
)
def test_it_reads_well_in_light_and_dark(
    editor: Locator, notebook: Notebook, theme: str, picture: str
) -> None:
    notebook.change_theme(theme)
    notebook.run(
        "e.value = {'customRanking': ['desc(price)', 'desc(rating)'], 'hitsPerPage': None,"
        " 'typoTolerance': 'min'}",
        cell=1,
    )
    open_group(editor, "Ranking")
    expect(editor.locator(".svc-summary").first).to_contain_text("moved")

    assert notebook.page.evaluate(CONTRAST) == []
    assert find_violations(notebook.page) == []
    draw(editor, picture, (1300, 2000))
    notebook.change_theme("JupyterLab Light")

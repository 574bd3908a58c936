"""The query editor in JupyterLab."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.looks import CONTRAST, draw, find_violations
from tests.browser.notebook import Notebook
from tests.browser.shop import HOSTILE, INDICES, connect, fill, products
from tests.conftest import Running, start_service, stop_service

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(120)]


@pytest.fixture(scope="module", autouse=True)
def indices(service: Running) -> None:
    """The indices that these tests search."""
    fill(service, "shop", products())
    fill(service, "hostile", HOSTILE)


@pytest.fixture
def editor(notebook: Notebook) -> Iterator[Locator]:
    """A new query editor on the shop; nothing may have complained at the end."""
    shown = notebook.open("e = svc.edit.query('shop')\ne")
    expect(shown.locator(".svc-hit").first).to_be_visible()
    yield shown
    assert not notebook.complaints


def search_box(editor: Locator) -> Locator:
    return editor.get_by_role("searchbox", name="Query")


def count_of(editor: Locator) -> Locator:
    return editor.locator(".svc-count b")


def test_a_long_value_of_a_facet_leaves_its_count_in_view(notebook: Notebook) -> None:
    long = "{'objectID': 'l', 'name': 'lamp', 'brand': 'Acme, ' * 20}"
    notebook.run(
        f"svc.push({long}, 'facets'); svc.settings('facets', attributesForFaceting=['brand'])"
    )
    editor = notebook.open("svc.edit.query('facets')")

    place = editor.locator(".svc-facet").bounding_box()
    count = editor.locator(".svc-facet-count").first
    expect(count).to_have_text("1")
    shown = count.bounding_box()

    assert place
    assert shown
    assert shown["x"] + shown["width"] <= place["x"] + place["width"]


def test_hits_follow_what_is_typed_and_python_follows_too(
    editor: Locator, notebook: Notebook
) -> None:
    search_box(editor).press_sequentially("red lam", delay=15)

    expect(editor.locator(".svc-hit mark").first).to_have_text("red")
    expect(count_of(editor)).to_have_text("1")
    notebook.await_value("e.value", {"query": "red lam"})
    notebook.await_value("[hit['name'] for hit in e.hits]", ["red lamp"])


def test_what_python_sets_is_shown(editor: Locator, notebook: Notebook) -> None:
    notebook.run("e.value = {'query': 'desk', 'hitsPerPage': 2}", cell=1)

    expect(search_box(editor)).to_have_value("desk")
    expect(editor.locator(".svc-hit")).to_have_count(2)


def test_facets_narrow_and_widen(editor: Locator, notebook: Notebook) -> None:
    editor.get_by_label("Acme").check()
    expect(count_of(editor)).to_have_text("24")
    editor.get_by_label("Umbra").check()
    expect(count_of(editor)).to_have_text("47")
    editor.get_by_label("price from").fill("50")
    editor.get_by_label("price from").press("Enter")
    expect(count_of(editor)).not_to_have_text("47")

    notebook.await_value(
        "e.value",
        {
            "facetFilters": [["brand:Acme", "brand:Umbra"]],
            "numericFilters": ["price>=50"],
        },
    )

    editor.get_by_role("button", name="Clear all").click()
    expect(count_of(editor)).to_have_text("70")
    notebook.await_value("e.value", {})


def test_numbers_are_narrowed_by_handles_and_values_match_all_of(
    editor: Locator, notebook: Notebook
) -> None:
    page = notebook.page
    expect(editor.locator(".svc-bar.svc-inside").first).to_be_visible()
    editor.get_by_label("Lowest price").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")

    notebook.await_value("e.value", {"numericFilters": ["price>=8"]})
    expect(editor.get_by_label("price from")).to_have_value("8")
    expect(editor.get_by_label("Lowest price")).to_be_focused()

    brand = editor.get_by_role("group", name="Match of brand")
    brand.get_by_role("button", name="all of").click()
    editor.get_by_label("Acme").check()
    expect(editor.locator(".svc-held bdi")).to_contain_text(["brand: Acme"])
    notebook.await_value("e.value['facetFilters']", ["brand:Acme"])
    brand.get_by_role("button", name="any of").click()
    notebook.await_value("e.value['facetFilters']", [["brand:Acme"]])

    editor.get_by_label("Sort values").select_option("name")
    expect(editor.locator(".svc-facet").first.locator(".svc-facet-value")).to_have_text(
        ["Acme", "Lumen", "Umbra"]
    )


def test_an_empty_facet_names_the_setting_that_would_fill_it(notebook: Notebook) -> None:
    notebook.run("svc.push([{'objectID': 'x', 'name': 'lamp'}], 'unfilled')")
    notebook.run("svc.settings('unfilled', attributesForFaceting=['filterOnly(name)'])")
    editor = notebook.open("svc.edit.query('unfilled')")

    editor.get_by_text("1 facet without values").click()

    expect(editor.locator(".svc-empty-facets code").first).to_have_text("attributesForFaceting")


def test_an_index_without_facets_or_records_and_a_page_without_hits_have_a_next_step(
    notebook: Notebook,
) -> None:
    notebook.run(
        "svc.push([{'objectID': 'x', 'name': 'lamp'}], 'plain')\nclient.clear_objects('plain')"
    )
    editor = notebook.open("svc.edit.query('plain')")

    editor.get_by_role("button", name="Insert code that opens it").click()
    expect(editor.get_by_text('svc.edit.settings("plain")')).to_be_visible()
    editor.get_by_role("button", name="Close").click()
    editor.get_by_role("button", name="Insert code that loads a file").click()
    expect(editor.get_by_text('svc.load("FILE", "plain")')).to_be_visible()

    editor = notebook.open("e = svc.edit.query('shop', value={'page': 3000})\ne")
    editor.get_by_role("button", name="Show the first page").click()
    expect(editor.locator(".svc-hit").first).to_be_visible()


def test_filters_of_parameters_without_a_match_are_cleared(notebook: Notebook) -> None:
    editor = notebook.open("svc.edit.query('shop')")
    find = editor.get_by_label("Find a parameter")
    if not find.is_visible():
        editor.get_by_text("Parameters", exact=True).first.click()
    find.fill("no such parameter")

    editor.get_by_role("button", name="Clear the filters").click()

    expect(find).to_have_value("")
    expect(find).to_be_focused()


def test_whatever_holds_a_search_is_seen_and_taken_away(notebook: Notebook) -> None:
    value = {"query": "lamp", "filters": "price<90", "facetFilters": [["brand:Acme"]]}
    editor = notebook.open(f"e = svc.edit.query('shop', value={value!r})\ne")
    held = editor.get_by_role("list", name="Filters and parameters").get_by_role("listitem")
    expect(held.locator("bdi")).to_have_text(["brand: Acme", 'filters: "price<90"'])

    editor.get_by_role("button", name="Remove brand: Acme").click()
    expect(held).to_have_count(1)
    expect(search_box(editor)).to_be_focused()
    editor.get_by_role("button", name="Remove filters").press("Enter")

    expect(held).to_have_count(0)
    expect(count_of(editor)).to_have_text("10")
    notebook.await_value("e.value", {"query": "lamp"})


def test_the_keyboard_alone_is_enough(editor: Locator, notebook: Notebook) -> None:
    page = notebook.page
    search_box(editor).focus()
    page.keyboard.type("lamp")
    expect(count_of(editor)).to_have_text("10")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")

    why = editor.get_by_role("region", name="Why this rank")
    first = editor.locator(".svc-hit").first
    expect(why.locator(".svc-rank-reason").first).to_contain_text(
        f"Below 1 {first.locator('b').inner_text()}"
    )
    expect(why.locator("td.svc-decides").first).to_contain_text("decides")
    headers = why.get_by_role("rowheader")
    # Ties of the custom ranking are ordered by the text.
    assert headers.all_inner_texts()[-2:] == ["rating (highest first)", "textual relevance"]
    notebook.await_value("e.selected == e.hits[1]['objectID']", True)

    page.keyboard.press("Escape")
    expect(why).to_have_count(0)
    page.keyboard.press("/")
    expect(search_box(editor)).to_be_focused()
    page.keyboard.press("Escape")
    expect(count_of(editor)).to_have_text("70")
    editor.locator(".svc-hit").first.focus()
    page.keyboard.press("Control+z")
    expect(count_of(editor)).to_have_text("10")


def test_the_reasons_of_a_rank_scroll_into_view(editor: Locator) -> None:
    editor.locator(".svc-hit").nth(2).click()

    why = editor.get_by_role("region", name="Why this rank")
    expect(why.locator("table")).to_be_in_viewport(ratio=0.9)


def test_a_chosen_filter_has_its_name_in_the_reasons_of_a_rank(editor: Locator) -> None:
    editor.get_by_label("Acme").check()
    expect(count_of(editor)).to_have_text("24")  # a new answer closes what belongs to another hit
    editor.locator(".svc-hit").nth(1).click()

    why = editor.get_by_role("region", name="Why this rank")
    expect(why).to_contain_text("filters brand: Acme")
    expect(why).not_to_contain_text("optional filters")


def test_rows_without_a_picture_keep_its_column(editor: Locator, notebook: Notebook) -> None:
    notebook.run("e.hit_density = 'rows'", cell=1)
    hits = editor.locator(".svc-hit")
    expect(hits.locator(".svc-no-picture").first).to_be_visible()

    lefts = hits.locator(".svc-hit-text").evaluate_all(
        "texts => texts.map(text => Math.round(text.getBoundingClientRect().left))"
    )

    assert len(lefts) > hits.locator("img.svc-picture").count()
    assert len(set(lefts)) == 1


def test_the_comparison_has_room_for_its_result(editor: Locator, notebook: Notebook) -> None:
    search_box(editor).fill("lamp")
    editor.get_by_role("tab", name="Compare").click()
    editor.get_by_role("textbox", name="Query").fill("red")
    editor.get_by_role("button", name="Compare", exact=True).click()
    expect(editor.locator(".svc-side-hit").first).to_be_visible()
    visible = """hits => hits.filter(hit => {
        const {left, top, bottom} = hit.getBoundingClientRect();
        return hit.contains(document.elementFromPoint(left + 8, (top + bottom) / 2));
    }).length"""
    for width in ("1100px", "420px"):
        editor.evaluate("(el, width) => { el.parentElement.style.width = width }", width)
        assert editor.locator(".svc-side-hit").evaluate_all(visible) >= 8, width


def test_labels_of_either_direction_stay_at_their_check_box(
    notebook: Notebook, service: Running
) -> None:
    fill(service, "rtl", [{"objectID": "1", "brand": "شركة"}, {"objectID": "2", "brand": "Acme"}])
    editor = notebook.open("e = svc.edit.query('rtl')\ne")
    expect(editor.locator(".svc-facet-value")).to_have_count(2)

    gaps = editor.locator(".svc-facet-values li").evaluate_all(
        """rows => rows.map(row => {
            const range = document.createRange();
            range.selectNodeContents(row.querySelector("bdi"));
            return range.getBoundingClientRect().left
                - row.querySelector("input").getBoundingClientRect().right;
        })"""
    )

    assert all(0 <= gap < 12 for gap in gaps), gaps


def test_few_stops_of_the_tab_key_lead_from_the_box_to_the_hits(
    editor: Locator, notebook: Notebook
) -> None:
    page = notebook.page
    at_hit = "() => Boolean(document.activeElement.closest('.svc-hit'))"
    search_box(editor).focus()
    stops = 0
    while not page.evaluate(at_hit) and stops < 60:
        page.keyboard.press("Tab")
        stops += 1
    assert stops <= 25

    search_box(editor).focus()
    page.keyboard.press("Tab")
    skip = editor.get_by_role("button", name="Skip to the hits")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    assert page.evaluate(at_hit)

    values = editor.get_by_role("list", name="brand", exact=True).get_by_role("checkbox")
    values.first.focus()
    page.keyboard.press("ArrowDown")
    expect(values.nth(1)).to_be_focused()
    page.keyboard.press("Space")
    expect(values.nth(1)).to_be_checked()
    expect(values.nth(1)).to_be_focused()


def test_the_keys_are_shown_in_the_editor(editor: Locator, notebook: Notebook) -> None:
    search_box(editor).press("?")
    expect(editor.get_by_role("dialog")).to_have_count(0)  # typed
    search_box(editor).fill("")
    editor.locator(".svc-hit").first.focus()

    notebook.page.keyboard.press("?")

    dialog = editor.get_by_role("dialog", name="Keys")
    expect(dialog).to_contain_text("to the search box")
    expect(dialog).to_contain_text("undo")
    notebook.page.keyboard.press("Escape")
    expect(editor.locator(".svc-hit").first).to_be_focused()


def test_pages_are_turned(editor: Locator, notebook: Notebook) -> None:
    expect(editor.locator(".svc-pager")).to_contain_text("page 1 of 4")

    editor.get_by_role("button", name="next page").click()
    expect(editor.locator(".svc-pager")).to_contain_text("page 2 of 4")
    expect(editor.locator(".svc-hit .svc-place").first).to_have_text("21")
    expect(editor.get_by_role("button", name="next page")).to_be_focused()
    search_box(editor).fill("lamp")

    expect(editor.locator(".svc-hit .svc-place").first).to_have_text("1")
    notebook.await_value("e.value", {"query": "lamp"})


def test_the_keyboard_is_not_lost_on_the_last_page(editor: Locator, notebook: Notebook) -> None:
    editor.get_by_role("button", name="last page").focus()
    notebook.page.keyboard.press("Enter")
    expect(editor.locator(".svc-pager")).to_contain_text("page 4 of 4")
    expect(editor.get_by_role("button", name="previous page")).to_be_focused()


@pytest.mark.in_lab
def test_two_editors_share_a_row(notebook: Notebook) -> None:
    notebook.run(
        "from ipywidgets import HBox\nHBox([svc.edit.query('shop'), svc.edit.query('hostile')])"
    )
    editors = notebook.page.locator(".widget-hbox .svc-editor")
    expect(editors.last.locator(".svc-hit").first).to_be_visible()

    left, right, row = notebook.page.evaluate(
        "[...document.querySelectorAll('.widget-hbox .svc-editor, .widget-hbox')]"
        ".map(one => one.clientWidth).sort((one, other) => one - other)"
    )

    assert left > row * 0.45
    assert left + right <= row


def test_a_parameter_is_found_by_its_meaning_and_set(editor: Locator, notebook: Notebook) -> None:
    editor.get_by_role("tab", name="Parameters").click()
    expect(editor.get_by_label("similarQuery", exact=True)).to_be_visible()
    draw(editor, "query-editor-parameters.png")
    editor.get_by_label("Find a parameter").fill("hits per page")
    editor.get_by_label("hitsPerPage", exact=True).fill("3")
    editor.get_by_label("hitsPerPage", exact=True).press("Enter")
    editor.get_by_role("tab", name="Hits").click()

    expect(editor.locator(".svc-hit")).to_have_count(3)
    notebook.await_value("e.value", {"hitsPerPage": 3})


def test_an_invalid_parameter_is_reported_and_changes_nothing(
    editor: Locator, notebook: Notebook
) -> None:
    editor.get_by_role("tab", name="JSON").click()
    editor.get_by_label("Search parameters as JSON").fill('{"hitPerPage": 3}')
    editor.get_by_role("button", name="Search with this JSON").click()

    expect(editor.get_by_role("alert").first).to_contain_text("did you mean hitsPerPage?")
    notebook.await_value("e.value", {})


def test_json_goes_in_and_history_leads_back(editor: Locator, notebook: Notebook) -> None:
    editor.get_by_role("tab", name="JSON").click()
    editor.get_by_label("Search parameters as JSON").fill('{"query": "desk", "hitsPerPage": 1}')
    editor.get_by_label("Search parameters as JSON").press("Control+Enter")
    expect(count_of(editor)).to_have_text("10")
    editor.get_by_role("tab", name="History").click()
    editor.get_by_role("button", name="(everything)").click()

    expect(count_of(editor)).to_have_text("70")
    notebook.await_value("e.value", {})


def test_two_searches_stand_side_by_side(editor: Locator, notebook: Notebook) -> None:
    search_box(editor).fill("lamp")
    expect(count_of(editor)).to_have_text("10")
    editor.get_by_role("tab", name="Compare").click()
    editor.get_by_text("The other search as JSON").click()
    json = editor.get_by_label("The other search as JSON")
    json.fill('{"query": "red"}')
    editor.get_by_role("button", name="Compare").click()

    sides = editor.locator(".svc-comparison")
    expect(sides.get_by_role("status")).to_contain_text("dropped out. 10 and 7 hits.")
    expect(sides.get_by_role("heading")).to_have_text(["query: lamp", "query: red"])
    expect(sides.locator(".svc-side-hit")).to_have_count(17)
    expect(sides.locator("line")).to_have_count(1)

    json.fill('{"ranking": ["desc(price)"]}')
    search_box(editor).fill("mirror")
    expect(sides.get_by_role("status")).to_contain_text("moved. 10 hits each.")
    expect(sides.get_by_role("heading").last).to_have_text("ranking: desc(price)")
    editor.get_by_text("The other search as JSON").click()
    notebook.run("e.height = 860", cell=1)
    expect(sides.locator("line")).to_have_count(10)
    draw(editor, "query-editor-compare.png")
    editor.get_by_text("The other search as JSON").click()
    json.fill('{"hitsPerPage": "many"}')
    editor.get_by_role("button", name="Compare").click()
    expect(sides).to_be_empty()


def test_a_setting_is_compared_in_a_form_on_a_copy(editor: Locator, notebook: Notebook) -> None:
    editor.get_by_role("tab", name="Compare").click()
    adding = editor.get_by_label("Add a parameter or setting")
    adding.fill("searchableAttributes")
    adding.press("Enter")
    words = editor.get_by_label("searchableAttributes: add")
    expect(words).to_be_focused()
    words.fill("description")
    words.press("Enter")
    editor.get_by_role("button", name="Compare", exact=True).click()

    note = editor.locator(".svc-compare-note")
    expect(note).to_contain_text("Not a search parameter: searchableAttributes")
    note.get_by_role("button", name="Compare on a copy").click()
    expect(editor.locator(".svc-comparison").get_by_role("heading").last).to_have_text(
        "searchableAttributes: description"
    )
    note.get_by_role("button", name="Delete the copy").click()

    expect(note).to_be_empty()
    # Previews of other modules in the same service can be there still.
    assert not [name for name in notebook.ask(INDICES) if name.startswith("shop_tmp_")]


def test_the_search_becomes_code_that_does_the_same(editor: Locator, notebook: Notebook) -> None:
    search_box(editor).fill("lamp")
    expect(count_of(editor)).to_have_text("10")
    editor.get_by_role("button", name="Code").click()
    code = editor.get_by_role("dialog").locator("pre").first.inner_text()
    curl = editor.get_by_role("dialog").locator("pre").nth(2).inner_text()

    assert notebook.ask(f"list({code.split(chr(10))[-1]}.objectID)") == notebook.ask(
        "[hit['objectID'] for hit in e.hits]"
    )
    assert "$SVC_API_KEY" in curl
    notebook.page.keyboard.press("Escape")
    expect(editor.get_by_role("dialog")).to_have_count(0)


def test_pinning_a_hit_calls_the_callbacks(notebook: Notebook) -> None:
    editor = notebook.open(
        "told = []\ne = svc.edit.query('shop', value={'query': 'lamp'})\ne.on_pin(told.append)\ne"
    )

    editor.get_by_role("button", name=re.compile("^Pin")).nth(1).click()

    expect(editor.locator(".svc-hit")).to_have_count(10)
    first = notebook.ask("e.hits[1]['objectID']")
    notebook.await_value("told", [{"query": "lamp", "objectID": first, "position": 1}])


def test_pinned_and_hidden_hits_are_reviewed_and_applied_as_rules(
    notebook: Notebook,
) -> None:
    editor = notebook.open("e = svc.edit.query('shop', value={'query': 'lamp'})\ne")
    name = notebook.ask("e.hits[3]['objectID']")
    editor.get_by_role("button", name=re.compile("^Pin")).nth(3).click()
    bar = editor.locator(".svc-draft-bar")
    expect(bar).to_contain_text("Draft: pin")
    editor.locator(".svc-hit").first.focus()
    notebook.page.keyboard.press("h")
    expect(bar).to_contain_text("2 drafts: pin")

    bar.get_by_role("button", name="Review…").click()
    dialog = editor.get_by_role("dialog")
    expect(dialog).to_contain_text("Apply 1 rule to shop?")
    expect(dialog).to_contain_text("When the query is “lamp”: pin")
    dialog.get_by_label(re.compile("^Position of")).fill("1")
    dialog.get_by_label(re.compile("^Position of")).press("Tab")
    expect(dialog).to_contain_text(f"pin {name} at position 1; hide")
    dialog.get_by_role("button", name="Apply 1 rule").click()

    expect(editor).to_contain_text("1 rule applied.")
    expect(bar).to_be_hidden()
    expect(editor.locator(".svc-hit").first).to_contain_text("Pinned by a rule")
    notebook.await_value("e.hits[0]['objectID']", name)
    notebook.run("svc.tuning.undo('shop')")


@pytest.mark.in_lab
def test_it_answers_while_a_cell_runs(editor: Locator, notebook: Notebook) -> None:
    notebook.begin("import time\nfor _ in range(60): time.sleep(0.1)\ndone = True", cell=1)

    search_box(editor).fill("mirror")

    expect(count_of(editor)).to_have_text("10")
    running = notebook.page.locator(".jp-InputPrompt", has_text="[*]")
    expect(running).to_have_count(1)
    notebook.page.evaluate("jupyterapp.commands.execute('notebook:interrupt-kernel')")
    notebook.page.evaluate("window.ran")


def test_what_records_hold_is_text(notebook: Notebook) -> None:
    editor = notebook.open("e = svc.edit.query('hostile', value={'query': 'lamp'})\ne")
    expect(editor.locator(".svc-hit")).to_have_count(5)

    editor.locator(".svc-hit", has_text="attribute_1").locator(".svc-hit-text").click()
    expect(editor.locator(".svc-detail pre")).to_contain_text("attribute_199")

    assert not notebook.page.evaluate("window.struck")
    assert editor.locator("img, script, svg, #x").count() == 0
    assert "1152921504606846976" in notebook.ask("str(e.hits)")
    assert not notebook.complaints


def test_it_is_usable_at_400_pixels(notebook: Notebook) -> None:
    editor = notebook.open("e = svc.edit.query('hostile', value={'query': 'lamp'})\ne")
    expect(editor.locator(".svc-hit")).to_have_count(5)
    editor.evaluate("el => { el.parentElement.style.width = '400px' }")
    notebook.page.wait_for_timeout(100)

    wide = editor.evaluate(
        "el => [el.scrollWidth <= el.clientWidth + 1, ...[...el.querySelectorAll('.svc-hit')]"
        ".map(hit => hit.getBoundingClientRect().right <= el.getBoundingClientRect().right)]"
    )

    assert all(wide)
    search_box(editor).fill("lamp evil")
    expect(count_of(editor)).to_have_text("1")


def test_an_unreachable_service_is_reported_with_advice(
    notebook: Notebook, tmp_path: Path, service: Running
) -> None:
    process, running = start_service(tmp_path / "data")
    try:
        fill(running, "shop", products()[:5])
        editor = notebook.open(connect(running) + "e = svc.edit.query('shop', client=client)\ne")
        expect(editor.locator(".svc-hit")).to_have_count(5)
    finally:
        stop_service(process)

    search_box(editor).fill("desk")

    banner = editor.get_by_role("alert").first
    expect(banner).to_contain_text("Check that the service runs", timeout=20_000)
    expect(banner.get_by_role("button", name="Try again")).to_be_visible()
    expect(editor.locator(".svc-hit")).to_have_count(5)
    notebook.run(connect(service))


@pytest.mark.in_lab
def test_what_is_saved_follows_the_editor(
    editor: Locator, notebook: Notebook, service: Running
) -> None:
    search_box(editor).fill("brass chair")
    expect(count_of(editor)).to_have_text("1")
    kept = notebook.page.locator(".svc-fallback")
    expect(kept).to_contain_text("brass chair", timeout=10_000)
    assert not kept.is_visible()

    saved = [output["data"] for output in notebook.save()["cells"][0]["outputs"]]

    assert any("brass chair" in "".join(data.get("text/html", "")) for data in saved)
    assert service.adminKey not in str(saved)


@pytest.mark.parametrize(
    ("theme", "picture"),
    [("JupyterLab Light", "query-editor.png"), ("JupyterLab Dark", "query-editor-dark.png")],
    ids=["light", "dark"],
)
def test_it_reads_well_in_light_and_dark(notebook: Notebook, theme: str, picture: str) -> None:
    notebook.change_theme(theme)
    editor = notebook.open(
        "e = svc.edit.query('shop', value={'query': 'lamp'})\ne.on_pin(print)\ne"
    )
    expect(editor.locator(".svc-hit")).to_have_count(10)
    editor.get_by_label("Acme").check()
    expect(count_of(editor)).to_have_text("4")
    editor.get_by_label("Lumen").check()
    expect(count_of(editor)).not_to_have_text("4")
    editor.locator(".svc-hit-text").nth(1).click()
    expect(editor.locator(".svc-detail pre")).to_be_visible()

    assert notebook.page.evaluate(CONTRAST) == []
    assert find_violations(notebook.page) == []
    draw(editor, picture, (1180, 2200))
    notebook.change_theme("JupyterLab Light")

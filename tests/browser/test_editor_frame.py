"""Properties of all editors in JupyterLab: height, dialogs, and the display of hits."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.looks import draw, find_violations
from tests.browser.notebook import Notebook
from tests.browser.shop import fill, products
from tests.conftest import Running

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(120)]
CONTEXT = {"viewport": {"width": 1280, "height": 800}}
SYNONYMS = (
    "e = svc.edit.synonyms('framed', value=[{'objectID': f's{n}', 'type': 'synonym', "
    "'synonyms': [f'word{n}', 'lamp']} for n in range(6)])\ne"
)
WIDTH = "(el, width) => { el.parentElement.style.width = `${width}px`; }"
# JavaScript: switch whether JupyterLab saves the state of widgets in notebooks.
TOGGLE_SAVING = """() => window.jupyterapp.commands.execute(
    "@jupyter-widgets/jupyterlab-manager:saveWidgetState")"""
IS_IN_VIEW = """el => {
    const {top, bottom} = el.getBoundingClientRect();
    return top >= 0 && bottom <= window.innerHeight;
}"""


@pytest.fixture(scope="module", autouse=True)
def indices(service: Running) -> None:
    """The indices that these tests search."""
    fill(service, "framed", products())


@pytest.fixture
def editor(notebook: Notebook) -> Locator:
    """A query editor with a page of hits."""
    shown = notebook.open("e = svc.edit.query('framed')\ne")
    expect(shown.locator(".svc-hit")).to_have_count(20)
    return shown


def height_of(editor: Locator) -> int:
    return int(editor.evaluate("el => el.offsetHeight"))


def test_the_head_stays_while_hits_scroll(editor: Locator) -> None:
    assert height_of(editor) == 560

    editor.locator(".svc-hit").last.scroll_into_view_if_needed()

    expect(editor.locator(".svc-hit").last).to_be_in_viewport()
    for name in ("Query", "Hits", "Code"):
        shown = editor.get_by_label(name, exact=True).or_(editor.get_by_text(name, exact=True))
        expect(shown.first).to_be_in_viewport()
    assert editor.evaluate(
        "el => [...el.querySelectorAll('.svc-search, .svc-tab')].every(one => "
        "one.getBoundingClientRect().top >= el.getBoundingClientRect().top)"
    )


@pytest.mark.in_lab
def test_a_height_is_changed_by_pointer_and_keys_and_kept(
    editor: Locator, notebook: Notebook
) -> None:
    edge = editor.get_by_role("separator", name="Height of the editor")
    edge.scroll_into_view_if_needed()
    box = edge.bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    notebook.page.mouse.move(x, y)
    notebook.page.mouse.down()
    notebook.page.mouse.move(x, y - 100, steps=4)
    notebook.page.mouse.up()
    notebook.await_value("e.height", 460)

    edge.press("ArrowUp")
    notebook.await_value("e.height", 440)
    notebook.run("e.height = 300", cell=1)

    expect(edge).to_have_attribute("aria-valuenow", "300")
    assert height_of(editor) == 300
    edge.press("End")
    notebook.await_value("e.height", None)
    assert height_of(editor) > 1000
    edge.press("Home")
    notebook.await_value("e.height", 240)
    notebook.page.evaluate(TOGGLE_SAVING)
    saved = notebook.save()["metadata"]["widgets"]
    notebook.page.evaluate(TOGGLE_SAVING)
    states = [model["state"] for model in next(iter(saved.values()))["state"].values()]
    assert 240 in [state.get("height") for state in states]


def test_filters_are_folded_with_their_count_in_a_narrow_editor(notebook: Notebook) -> None:
    value = {"facetFilters": [["brand:Acme"]], "numericFilters": ["price>=50"]}
    editor = notebook.open(f"e = svc.edit.query('framed', value={value!r})\ne")
    editor.evaluate(WIDTH, 420)
    button = editor.get_by_role("button", name="Filters, 2 active")
    expect(button).to_be_visible()
    expect(editor.get_by_role("checkbox", name="Acme")).to_be_hidden()
    draw(editor, "query-editor-narrow.png")

    button.click()
    editor.get_by_role("checkbox", name="Acme").uncheck()

    expect(editor.get_by_role("button", name="Filters, 1 active")).to_be_visible()
    editor.evaluate(WIDTH, 900)
    expect(button).to_be_hidden()
    expect(editor.get_by_role("checkbox", name="Acme")).to_be_visible()


def test_apply_stays_in_the_row_of_the_head_in_a_narrow_editor(notebook: Notebook) -> None:
    editor = notebook.open(SYNONYMS)
    editor.evaluate(WIDTH, 420)

    title = editor.locator(".svc-title").bounding_box()
    apply = editor.get_by_role("button", name="Apply…").bounding_box()

    assert title
    assert apply
    assert apply["y"] < title["y"] + title["height"]
    assert title["y"] < apply["y"] + apply["height"]
    expect(editor.get_by_role("button", name="Code")).to_be_visible()


@pytest.mark.parametrize("width", [420, 1280])
def test_a_dialog_shows_its_buttons_and_keeps_the_focus(notebook: Notebook, width: int) -> None:
    page = notebook.page
    editor = notebook.open(SYNONYMS)
    opener = editor.get_by_role("button", name="Apply…")
    page.set_viewport_size({"width": width, "height": 400})
    opener.focus()
    opener.press("Enter")
    dialog = editor.get_by_role("dialog", name="Apply 6 added synonyms to framed?")
    expect(dialog).to_be_visible()

    assert dialog.evaluate("el => el.matches(':modal')")
    assert dialog.get_by_role("button", name="Apply").evaluate(IS_IN_VIEW)
    assert dialog.evaluate("el => el.offsetWidth") >= min(400, width - 40)
    assert find_violations(page, ".svc-dialog") == []
    if width == 1280:
        draw(page, "editor-dialog.png")
    for _ in range(4):
        page.keyboard.press("Tab")
        assert dialog.evaluate("el => el.contains(document.activeElement)")
    page.keyboard.press("Escape")

    expect(dialog).to_have_count(0)
    expect(opener).to_be_focused()
    page.set_viewport_size({"width": 1280, "height": 800})


def test_a_density_and_attributes_are_chosen_and_kept(editor: Locator, notebook: Notebook) -> None:
    editor.get_by_role("button", name="Rows").click()
    expect(editor.locator(".svc-hit-row")).to_have_count(20)
    draw(editor, "hits-rows.png")
    editor.get_by_role("button", name="Attributes…").click()
    dialog = editor.get_by_role("dialog")
    dialog.get_by_label("price").check()
    dialog.get_by_role("button", name="Show selected").click()

    cells = editor.locator(".svc-hit-row").first.locator(".svc-hit-cell")
    expect(cells).to_have_count(1)
    expect(cells).to_contain_text("price")
    notebook.await_value("[e.hit_density, e.hit_attributes]", ["rows", ["price"]])
    editor.get_by_role("button", name="JSON", exact=True).click()
    first = notebook.ask("[e.hits[0]['objectID'], e.hits[0]['price']]")
    expect(editor.locator(".svc-hit-json").first).to_contain_text(f'"price": {first[1]}')
    expect(editor.locator(".svc-hit-json").first).not_to_contain_text("brand")
    assert find_violations(notebook.page) == []


def test_hits_without_a_name_have_a_headline(notebook: Notebook) -> None:
    notebook.run(
        "svc.push([{'objectID': 'a', 'body': 'a text', 'size': 1}, {'objectID': 'b', 'size': 2}], "
        "'nameless'); svc.settings('nameless', searchableAttributes=['body'])"
    )
    notebook.run("e = svc.edit.judgments('nameless', [''])", cell=1)
    for code in ("svc.edit.query('nameless')", "e"):
        editor = notebook.open(code)
        headlines = editor.locator(".svc-hit .svc-headline")
        expect(headlines).to_have_count(2)
        assert sorted(headlines.all_inner_texts()) == ["a text", "b"]

"""The judgment editor in JupyterLab."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.looks import CONTRAST, draw, find_violations
from tests.browser.notebook import Notebook
from tests.browser.shop import HOSTILE, connect, fill, products
from tests.conftest import Running, start_service, stop_service

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(120)]

OPEN = (
    "e = svc.edit.judgments('judged', ['lamp', 'red table', 'nothing like it', 'desk'],"
    " variants={'as it is': {}, 'cheap': {'ranking': ['asc(price)']}}, depth=3, rater='ada')\ne"
)


@pytest.fixture(scope="module", autouse=True)
def indices(service: Running) -> None:
    """The indices that these tests search."""
    fill(service, "judged", products())
    fill(service, "hostile", HOSTILE)


@pytest.fixture
def editor(notebook: Notebook) -> Iterator[Locator]:
    """A new judgment editor; nothing may have complained at the end."""
    shown = notebook.open(OPEN)
    expect(hits(shown)).to_have_count(5)
    yield shown
    assert not notebook.complaints


def hits(editor: Locator) -> Locator:
    return editor.locator(".svc-judged-hit")


def far(editor: Locator) -> Locator:
    return editor.locator(".svc-far b")


def heading(editor: Locator) -> Locator:
    return editor.locator(".svc-question")


def press(notebook: Notebook, *keys: str) -> None:
    for key in keys:
        notebook.page.keyboard.press(key)


def test_a_query_is_judged_by_keys_alone(editor: Locator, notebook: Notebook) -> None:
    hits(editor).first.focus()
    press(notebook, "3", "0", "u", "1", "2")

    expect(heading(editor)).to_have_text("red table")
    expect(hits(editor).first).to_be_focused()
    expect(far(editor)).to_have_text("5 of 11")
    told = notebook.ask("[[r['rating'], r['unrateable'], r['rater']] for r in e.value]")
    assert [rating for rating, *_ in told] == [3, 0, None, 1, 2]
    assert [unrateable for _, unrateable, _ in told].index(True) == 2
    assert {rater for *_, rater in told} == {"ada"}
    notebook.await_value("int(e.frame.rating.isna().sum())", 1)


def test_a_grade_is_given_changed_and_taken_back_by_mouse(
    editor: Locator, notebook: Notebook
) -> None:
    first = hits(editor).first
    first.get_by_role("button", name="2: good").click()
    expect(first.get_by_role("button", name="2: good")).to_have_attribute("aria-pressed", "true")
    first.get_by_role("button", name="3: perfect").click()
    expect(far(editor)).to_have_text("1 of 11")
    notebook.await_value("[r['rating'] for r in e.value]", [3])

    first.get_by_role("button", name="3: perfect").click()

    expect(far(editor)).to_have_text("0 of 11")
    notebook.await_value("e.value", [])


def test_a_grade_is_undone_where_it_was_given(editor: Locator, notebook: Notebook) -> None:
    hits(editor).first.focus()
    press(notebook, "3", "1")
    expect(far(editor)).to_have_text("2 of 11")
    press(notebook, "]")
    expect(heading(editor)).to_have_text("red table")

    press(notebook, "Control+z")

    expect(heading(editor)).to_have_text("lamp")
    expect(far(editor)).to_have_text("1 of 11")
    press(notebook, "Control+Shift+z")
    expect(far(editor)).to_have_text("2 of 11")


def test_a_note_is_kept_with_enter_and_left_with_escape(
    editor: Locator, notebook: Notebook
) -> None:
    hits(editor).first.focus()
    press(notebook, "n")
    notebook.page.keyboard.type("3 is too much")
    press(notebook, "Enter")
    expect(editor.locator(".svc-note-text")).to_have_text("3 is too much")
    expect(hits(editor).first).to_be_focused()
    press(notebook, "n")
    notebook.page.keyboard.type(" or not")
    press(notebook, "Escape", "1")

    expect(far(editor)).to_have_text("1 of 11")
    notebook.await_value("[[r['note'], r['rating']] for r in e.value]", [["3 is too much", 1]])


def test_queries_are_walked_chosen_and_added(editor: Locator, notebook: Notebook) -> None:
    hits(editor).first.focus()
    press(notebook, "]", "]")
    expect(editor.get_by_text("No hits for this query.")).to_be_visible()
    press(notebook, "g")
    expect(heading(editor)).to_have_text("desk")
    editor.get_by_role("button", name="lamp").click()
    expect(heading(editor)).to_have_text("lamp")

    editor.get_by_label("Another query to judge").fill("mirror")
    editor.get_by_label("Another query to judge").press("Enter")

    expect(heading(editor)).to_have_text("mirror")
    expect(editor.locator(".svc-questions li")).to_have_count(5)
    expect(hits(editor).first).to_be_focused()


def test_scores_follow_grades_and_sort_the_queries(editor: Locator, notebook: Notebook) -> None:
    hits(editor).first.focus()
    press(notebook, "3", "0")
    scores = editor.get_by_role("group", name="Scores")
    expect(scores).to_contain_text("This query1.000")
    expect(scores).to_contain_text("1 of 4 queries have a score")
    expect(far(editor)).to_have_text("2 of 11")

    scores.get_by_label("Metric").select_option("p@3")
    expect(scores).to_contain_text("This query0.333")
    notebook.await_value("e.scores['metric']", "p@3")
    editor.get_by_label("Order of the queries").select_option("judged")

    items = editor.locator(".svc-questions li")
    expect(items.nth(2)).to_contain_text("lamp")
    expect(items.last).to_contain_text("no hits")
    hits(editor).first.focus()
    press(notebook, "[")
    expect(heading(editor)).to_have_text("desk")


def test_blind_hides_where_hits_were_found_and_shuffled_mixes_them(
    editor: Locator, notebook: Notebook
) -> None:
    expect(hits(editor).first.locator(".svc-found").first).to_have_text("as it is 1")
    before = editor.locator(".svc-id").all_inner_texts()

    editor.get_by_label("blind").check()
    expect(editor.locator(".svc-found")).to_have_count(0)
    editor.get_by_label("shuffled").check()
    expect(editor.locator(".svc-id")).not_to_have_text(before)

    mixed = editor.locator(".svc-id").all_inner_texts()
    assert sorted(mixed) == sorted(before)
    notebook.await_value("[e.blind, e.shuffled]", [True, True])


def test_it_continues_with_a_frame(editor: Locator, notebook: Notebook) -> None:
    hits(editor).first.focus()
    press(notebook, "3", "2")
    expect(far(editor)).to_have_text("2 of 11")

    later = notebook.open("f = svc.edit.judgments('judged', judgments=e.frame, rater='ada')\nf")

    expect(far(later)).to_have_text("2 of 10")
    notebook.await_value("f.frame.equals(e.frame)", True)


def test_what_python_sets_is_shown(editor: Locator, notebook: Notebook) -> None:
    notebook.run(
        "first = e.sheet['hits'][0]['id']\n"
        "e.value = [{'query': 'lamp', 'objectID': first, 'rating': 2, 'rater': 'ada'},"
        " {'query': 'lamp', 'objectID': first, 'rating': 1, 'rater': 'bob'}]",
        cell=1,
    )

    expect(far(editor)).to_have_text("1 of 11")
    expect(hits(editor).first.locator(".svc-chosen")).to_have_text("2")
    expect(hits(editor).first.locator(".svc-other")).to_have_text("bob: 1")


@pytest.mark.in_lab
def test_it_answers_while_a_cell_runs(editor: Locator, notebook: Notebook) -> None:
    notebook.begin("import time\nfor _ in range(60): time.sleep(0.1)", cell=1)
    hits(editor).first.focus()
    press(notebook, "3")

    expect(far(editor)).to_have_text("1 of 11")
    expect(notebook.page.locator(".jp-InputPrompt", has_text="[*]")).to_have_count(1)
    notebook.page.evaluate("jupyterapp.commands.execute('notebook:interrupt-kernel')")
    notebook.page.evaluate("window.ran")


def test_what_records_hold_is_text(notebook: Notebook) -> None:
    editor = notebook.open("e = svc.edit.judgments('hostile', ['lamp', '<img src=x>'])\ne")
    expect(hits(editor)).to_have_count(5)
    editor.locator(".svc-judged-hit", has_text="attribute_1").first.focus()
    press(notebook, "o")
    expect(editor.locator(".svc-detail pre")).to_contain_text("attribute_199")
    press(notebook, "n")
    notebook.page.keyboard.type("<img src=x onerror=window.struck=1>")
    press(notebook, "Enter")
    expect(editor.locator(".svc-note-text")).to_contain_text("onerror")

    assert not notebook.page.evaluate("window.struck")
    assert editor.locator("img, script, svg, #x").count() == 0
    assert not notebook.complaints


def test_an_unreachable_service_is_reported_and_judgments_stay(
    notebook: Notebook, tmp_path: Path, service: Running
) -> None:
    process, running = start_service(tmp_path / "data")
    try:
        fill(running, "judged", products())
        editor = notebook.open(connect(running) + OPEN)
        expect(hits(editor)).to_have_count(5)
    finally:
        stop_service(process)
    hits(editor).first.focus()
    press(notebook, "3")
    expect(far(editor)).to_have_text("1 of 11")

    press(notebook, "]")

    banner = editor.get_by_role("alert").first
    expect(banner).to_contain_text("Check that the service runs", timeout=20_000)
    expect(heading(editor)).to_have_text("lamp")
    notebook.await_value("len(e.frame)", 1)
    notebook.run(connect(service))


def test_it_is_usable_at_400_pixels(editor: Locator, notebook: Notebook) -> None:
    editor.evaluate("el => { el.parentElement.style.width = '400px' }")
    notebook.page.wait_for_timeout(100)

    assert editor.evaluate(
        "el => [el, ...el.querySelectorAll('.svc-judged-hit, .svc-grade')]"
        ".every(one => one.getBoundingClientRect().right"
        " <= el.getBoundingClientRect().right && el.scrollWidth <= el.clientWidth + 1)"
    )


@pytest.mark.parametrize(
    ("theme", "picture"),
    [("JupyterLab Light", "judgment-editor.png"), ("JupyterLab Dark", "judgment-editor-dark.png")],
    ids=["light", "dark"],
)
def test_it_reads_well_in_light_and_dark(
    editor: Locator, notebook: Notebook, theme: str, picture: str
) -> None:
    notebook.change_theme(theme)
    hits(editor).first.focus()
    press(notebook, "3", "0", "u", "n")
    notebook.page.keyboard.type("a shade alone")
    press(notebook, "Enter")
    expect(editor.locator(".svc-note-text")).to_be_visible()
    expect(far(editor)).to_have_text("3 of 11")

    assert notebook.page.evaluate(CONTRAST) == []
    assert find_violations(notebook.page) == []
    draw(editor, picture, (1180, 1600))
    notebook.change_theme("JupyterLab Light")


MANY = """
queries = ['lamp', 'red table', 'desk', 'chair', 'shelf']
e = svc.edit.judgments('judged', queries, rater='ada', depth=5)
e"""
KEYS = 20


@pytest.mark.sampled(3)
@pytest.mark.parametrize("start", ["hit", "frame"])
@pytest.mark.parametrize("per_second", [4, 8, 20])
def test_no_key_is_lost_however_quickly_they_follow(
    notebook: Notebook, per_second: int, start: str
) -> None:
    editor = notebook.open(MANY)
    expect(hits(editor)).to_have_count(5)
    (hits(editor).first if start == "hit" else editor).focus()
    keys = [str(number % 4) for number in range(KEYS)]

    for key in keys:
        notebook.page.keyboard.press(key)
        notebook.page.wait_for_timeout(1000 / per_second)

    notebook.await_value("[int(row['rating']) for row in e.value]", list(map(int, keys)))
    assert not notebook.complaints


def test_five_hits_are_in_sight_at_the_height_that_is_the_default(notebook: Notebook) -> None:
    editor = notebook.open(MANY)
    expect(hits(editor)).to_have_count(5)

    visible = editor.evaluate(
        """el => [...el.querySelectorAll(".svc-judged-hit")].filter((hit) =>
            hit.getBoundingClientRect().bottom <= el.getBoundingClientRect().bottom).length"""
    )
    assert visible == 5


def test_judgments_of_changed_records_are_marked_filtered_and_given_again(
    notebook: Notebook, service: Running
) -> None:
    fill(service, "altered", products())
    notebook.run(
        "f = svc.edit.judgments('altered', ['oak'], rater='ada', depth=3)\n"
        "for hit in f.sheet['hits']: f.grade(hit['id'], 2)\n"
        "judged = f.frame; f.close()"
    )
    changed = notebook.ask("judged['objectID'][1]")
    record = {"objectID": changed, "name": "oak wardrobe", "brand": "Acme"}
    fill(service, "altered", [record])

    editor = notebook.open("f = svc.edit.judgments('altered', judgments=judged, rater='ada')\nf")

    marked = hits(editor).filter(has_text="changed since")
    expect(marked).to_have_count(1)
    expect(editor).to_contain_text("Judged records that have changed since: 1")
    before = hits(editor).count()
    assert before > 1
    editor.get_by_label("changed", exact=True).check()
    expect(hits(editor)).to_have_count(1)
    hits(editor).first.focus()
    press(notebook, "2")
    expect(marked).to_have_count(0)
    assert not notebook.complaints
    notebook.run("f.close()")

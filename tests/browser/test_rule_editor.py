"""The rule editor in JupyterLab."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.lab import Lab
from tests.browser.looks import CONTRAST, draw, find_violations
from tests.browser.notebook import Notebook, drag_and_drop
from tests.browser.reopened_notebook import reopened
from tests.browser.shop import INDICES, connect, fill, products
from tests.conftest import Running, start_service, stop_service

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(120)]
CONTEXT = {"timezone_id": "Asia/Kathmandu"}  # it differs from that of the service

INDEX = "ruled"
RULES: list[dict[str, Any]] = [
    {
        "objectID": "lamps",
        "description": "Lamps of the week",
        "conditions": [{"pattern": "lamp", "anchoring": "contains"}],
        "consequence": {
            "promote": [{"objectID": "sku-021", "position": 0}],
            "hide": [{"objectID": "sku-035"}],
            "params": {"filters": "price < 90"},
        },
    },
    {
        "objectID": "red-lamp",
        "conditions": [{"pattern": "red lamp", "anchoring": "is"}],
        "consequence": {"promote": [{"objectID": "sku-021", "position": 4}]},
    },
    {
        "objectID": "brands",
        "conditions": [{"pattern": "{facet:brand}", "anchoring": "contains"}],
        "consequence": {
            "params": {"automaticFacetFilters": ["brand"], "query": {"remove": ["{facet:brand}"]}}
        },
    },
    {
        "objectID": "desks",
        "enabled": False,
        "conditions": [{"pattern": "desk", "anchoring": "startsWith"}],
        "consequence": {"params": {"hitsPerPage": 3}, "userData": {"banner": "desks"}},
    },
]


@pytest.fixture(scope="module", autouse=True)
def indices(service: Running) -> None:
    """The indices that these tests search."""
    fill(service, INDEX, products())


def show(notebook: Notebook, code: str = "e = svc.edit.rules('ruled')\ne") -> Locator:
    """Open an editor on the rules above."""
    notebook.run(
        f"client.wait(client.save_rules('ruled', {RULES!r}, clearExistingRules=True), "
        "index='ruled')"
    )
    editor = notebook.open(code)
    expect(editor.locator(".svc-rule-line")).to_have_count(len(RULES))
    return editor


@pytest.fixture
def editor(notebook: Notebook) -> Iterator[Locator]:
    """A new editor; nothing may have complained at the end."""
    yield show(notebook)
    assert not notebook.complaints


def test_the_dialog_speaks_in_sentences_and_repeats_warnings(notebook: Notebook) -> None:
    editor = show(notebook)
    notebook.run(
        "e.put({**e.get('lamps'), 'validity': [{'from': 1796083200, 'until': 1796083200}],"
        " 'consequence': {'promote': [{'objectID': 'sku-014', 'position': 1}]}}, 'lamps')",
        cell=1,
    )
    expect(editor).to_contain_text("Unsaved changes")

    editor.get_by_role("button", name="Apply…").click()

    dialog = editor.get_by_role("dialog")
    expect(dialog).to_contain_text("pin large lamp (sku-014) at position 2")
    # The zone of the browser: 5:45 after that of the service.
    expect(dialog).to_contain_text("Scheduled: 2026-12-01 05:45")
    expect(dialog).to_contain_text("the schedule is empty: start and end are equal")
    expect(dialog).not_to_contain_text("1796083200")
    expect(dialog).not_to_contain_text('"position"')
    draw(dialog, "rule-editor-apply.png")


def test_a_rule_is_tried_as_of_a_date_and_says_why_it_did_not_apply(notebook: Notebook) -> None:
    editor = show(notebook)
    notebook.run("e.put({**e.get('lamps'), 'validity': [{'from': 4100000000}]}, 'lamps')", cell=1)
    choose(editor, "contains “lamp”")
    editor.get_by_role("tab", name="Try it").click()
    editor.get_by_label("Queries: add").fill("lamp")
    editor.get_by_label("Queries: add").press("Enter")

    editor.get_by_role("button", name="Try the draft").click()
    expect(editor.locator(".svc-impact")).to_contain_text(
        "lamps did not apply: outside of its schedule, from 2099-"
    )
    editor.get_by_label("As of, Asia").fill("2099-12-31T00:00")
    editor.get_by_role("button", name="Try the draft").click()

    expect(editor.locator(".svc-impact")).not_to_contain_text("did not apply")
    assert not notebook.complaints


def choose(editor: Locator, words: str) -> None:
    """Choose the rule that is described so."""
    editor.locator(".svc-rule-line", has_text=words).click()


def switch(editor: Locator) -> Locator:
    """What switches the rule in sight on and off."""
    return editor.get_by_role("checkbox", name="Enabled", exact=True)


def apply(editor: Locator) -> None:
    editor.get_by_role("button", name="Apply…").click()
    editor.get_by_role("dialog").get_by_role("button", name="Apply").click()
    expect(editor).to_contain_text("Saved")


def saved(notebook: Notebook, name: str) -> Any:
    """One rule as the service has it."""
    return notebook.ask(f"svc.get_rule('ruled', {name!r})")


def test_a_rule_is_made_with_the_keyboard_and_applied(editor: Locator, notebook: Notebook) -> None:
    keyboard = notebook.page.keyboard
    editor.get_by_role("button", name="New rule…").press("Enter")
    dialog = editor.get_by_role("dialog")
    keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("choose “every search (always)”")
    keyboard.type("cheap mirror")
    keyboard.press("Enter")
    expect(editor.get_by_label("Pattern", exact=True)).to_have_value("cheap mirror")
    pin = editor.get_by_label("Pin a record: add")
    pin.press_sequentially("sku-006")
    keyboard.press("Enter")
    expect(editor.get_by_label("Position", exact=True)).to_have_value("1")
    words = editor.get_by_label("Query edit")
    words.select_option("edits")
    editor.get_by_label("Removed words: add").press_sequentially("cheap")
    keyboard.press("Enter")
    expect(editor.locator(".svc-rule-line", has_text="cheap mirror")).to_contain_text("remove")
    name = notebook.ask("e.value[0]['objectID']")
    keyboard.press("Control+s")
    expect(editor.get_by_role("dialog")).to_contain_text("1 added")
    keyboard.press("Enter")
    expect(editor).to_contain_text("Applied and published.")

    assert saved(notebook, name) == {
        "objectID": name,
        "conditions": [{"pattern": "cheap mirror", "anchoring": "is"}],
        "consequence": {
            "promote": [{"objectID": "sku-006", "position": 0}],
            "params": {"query": {"edits": [{"type": "remove", "delete": "cheap"}]}},
        },
    }
    found = notebook.ask("[h['objectID'] for h in client.search('ruled', 'cheap mirror')['hits']]")
    assert found[0] == "sku-006"
    assert len(found) == 10


def test_an_index_without_rules_says_what_to_do(editor: Locator, notebook: Notebook) -> None:
    notebook.run("client.wait(client.clear_rules('ruled'), index='ruled'); e.reload()", cell=1)
    expect(editor).to_contain_text("No rules yet.")

    editor.locator(".svc-empty-state").get_by_role("button", name="New rule…").click()

    expect(editor.get_by_role("dialog")).to_contain_text("New rule")
    notebook.page.keyboard.press("Escape")


def test_a_rule_is_made_from_a_template(editor: Locator, notebook: Notebook) -> None:
    editor.get_by_role("button", name="New rule…").click()
    dialog = editor.get_by_role("dialog")
    dialog.get_by_label("How the query matches").select_option("always")
    dialog.get_by_label("What the rule does").select_option("pin")
    dialog.get_by_label("Record").fill("sku-006")
    dialog.get_by_label("Position").fill("2")
    draw(notebook.page, "rule-editor-new.png")
    dialog.get_by_role("button", name="Create rule").click()

    expect(editor.locator(".svc-rule-summary")).to_have_text(
        "For every search: pin sku-006 at position 2."
    )
    notebook.await_value(
        "e.value[0]['consequence']", {"promote": [{"objectID": "sku-006", "position": 1}]}
    )


def test_a_hit_is_dragged_to_its_place_and_hidden_and_shown_again(
    editor: Locator, notebook: Notebook
) -> None:
    choose(editor, "Lamps of the week")
    editor.get_by_role("tab", name="Hits").click()
    hits = editor.locator(".svc-sortable-item")
    expect(hits.first).to_contain_text("sku-021")
    name = hits.nth(4).locator("code").inner_text()

    drag_and_drop(hits.nth(4), hits.nth(1))
    expect(hits.nth(1)).to_contain_text(name)
    notebook.await_value(
        "e.get('lamps')['consequence']['promote']",
        [{"objectID": "sku-021", "position": 0}, {"objectID": name, "position": 1}],
    )

    hits.nth(1).focus()
    notebook.page.keyboard.press("Alt+ArrowUp")
    expect(hits.first).to_contain_text(name)
    notebook.page.keyboard.press("Delete")
    expect(editor.locator(".svc-tags-line button")).to_have_count(2)
    hidden = "[h['objectID'] for h in e.get('lamps')['consequence']['hide']]"
    notebook.await_value(hidden, ["sku-035", name])
    editor.locator(".svc-tags-line button").last.click()
    expect(editor.locator(".svc-tags-line button")).to_have_count(1)
    editor.get_by_label("Find another record to pin").fill("oak mirror")
    editor.locator(".svc-others button").first.click()

    expect(hits.first.get_by_role("button", name="Unpin")).to_be_visible()
    expect(hits.first).to_contain_text("mirror")
    assert saved(notebook, "lamps") == RULES[0]


def test_the_form_and_json_keep_in_step(editor: Locator, notebook: Notebook) -> None:
    choose(editor, "Lamps of the week")
    editor.get_by_label("How the query matches").select_option("endsWith")
    editor.get_by_label("Match typos, plurals and synonyms").check()
    editor.get_by_label("in the context").fill("my app!")
    editor.get_by_label("in the context").press("Tab")
    expect(editor.get_by_label("with the filters")).to_be_focused()
    editor.get_by_label("Parameter", exact=True).fill("hitsPerPage")
    editor.get_by_label("Its value").fill("7")
    editor.get_by_label("Its value").press("Enter")
    expect(editor.get_by_label("hitsPerPage", exact=True)).to_have_value("7")

    editor.get_by_role("tab", name="JSON").click()
    area = editor.get_by_label("The rule as JSON")
    rule = json.loads(area.input_value())
    assert rule["conditions"] == [
        {"pattern": "lamp", "anchoring": "endsWith", "alternatives": True, "context": "myapp"}
    ]
    assert rule["consequence"]["params"] == {"filters": "price < 90", "hitsPerPage": 7}
    area.fill(json.dumps({**rule, "description": "as JSON"}))
    area.press("Tab")
    editor.get_by_role("tab", name="Form").click()

    expect(editor.get_by_label("Description")).to_have_value("as JSON")
    notebook.await_value("e.get('lamps')['description']", "as JSON")


# No call is answered before `released` names it.
HOLD = """
import asyncio, functools, inspect
released = set()
def hold(name, act):
    turn = asyncio.Lock()  # keeps the order of the calls
    @functools.wraps(act)
    async def held(**args):
        async with turn:
            while name not in released:
                await asyncio.sleep(0.05)
        value = act(**args)
        return await value if inspect.isawaitable(value) else value
    setattr(e, name, held)
hold("read_param", e.read_param)
hold("revise", e.revise)
"""


def test_all_edits_before_an_answer_are_kept(editor: Locator, notebook: Notebook) -> None:
    notebook.run(HOLD, cell=1)
    choose(editor, "Lamps of the week")
    editor.get_by_label("Parameter", exact=True).fill("hitsPerPage")
    editor.get_by_label("Its value").fill("7")
    editor.get_by_label("Its value").press("Enter")
    editor.get_by_label("How the query matches").select_option("endsWith")
    alternatives = editor.get_by_label("Match typos, plurals and synonyms")
    alternatives.check()
    alternatives.uncheck()
    editor.get_by_label("in the context").fill("app")
    editor.get_by_label("Position", exact=True).fill("3")
    editor.get_by_label("Position", exact=True).press("Enter")
    editor.get_by_label("Records at 1: add").fill("sku-007")
    editor.get_by_label("Records at 1: add").press("Enter")
    editor.get_by_label("Query edit").select_option("edits")
    editor.get_by_label("Removed words: add").fill("cheap")
    editor.get_by_label("Removed words: add").press("Enter")
    editor.get_by_label("Replace", exact=True).fill("bulb")
    editor.get_by_label("By", exact=True).fill("lamp")
    editor.get_by_label("By", exact=True).press("Enter")
    editor.get_by_label("Removed words: add").fill("used")
    editor.get_by_label("Removed words: add").press("Enter")
    editor.get_by_label("objectID", exact=True).fill("lights")
    editor.get_by_label("objectID", exact=True).press("Enter")
    switch(editor).uncheck()

    editor.get_by_role("tab", name="JSON").click()
    shown = json.loads(editor.get_by_label("The rule as JSON").input_value())
    words = {
        "edits": [
            {"type": "remove", "delete": "cheap"},
            {"type": "remove", "delete": "used"},
            {"type": "replace", "delete": "bulb", "insert": "lamp"},
        ]
    }
    wanted: dict[str, Any] = {
        "objectID": "lights",
        "enabled": False,
        "conditions": [{"pattern": "lamp", "anchoring": "endsWith", "context": "app"}],
        "promote": [{"objectIDs": ["sku-021", "sku-007"], "position": 2}],
        "hide": [{"objectID": "sku-035"}],
        "params": {"filters": "price < 90", "query": words},
    }
    assert {name: {**shown, **shown["consequence"]}[name] for name in wanted} == wanted
    notebook.run("released.add('revise')", cell=1)
    renamed = "[each for each in e.value if each['objectID'] == 'lights']"
    notebook.await_value(renamed, [shown])
    notebook.run("released.add('read_param')", cell=1)
    params = {**wanted["params"], "hitsPerPage": 7}
    consequence = {**shown["consequence"], "params": params}
    notebook.await_value(renamed, [{**shown, "consequence": consequence}])


def test_an_invalid_rule_is_reported_and_not_accepted(editor: Locator, notebook: Notebook) -> None:
    choose(editor, "Lamps of the week")
    editor.get_by_label("Pattern", exact=True).fill(" ")
    editor.get_by_label("Pattern", exact=True).press("Tab")
    expect(editor.locator(".svc-card .svc-error-text")).to_contain_text("Enter the words")
    editor.get_by_label("Filters", exact=True).fill("price >")
    editor.get_by_label("Filters", exact=True).press("Enter")
    expect(editor.get_by_role("alert").first).to_contain_text("price")
    editor.get_by_label("Parameter", exact=True).fill("hitsPerPage")
    editor.get_by_label("Its value").fill("seven")
    editor.get_by_label("Its value").press("Enter")
    expect(editor.get_by_role("alert").first).to_contain_text("hitsPerPage")
    expect(editor.get_by_label("Its value")).to_have_value("seven")
    editor.get_by_label("Custom data in the response (JSON)").fill("{no")
    editor.get_by_label("Custom data in the response (JSON)").press("Tab")
    expect(editor.get_by_text("Invalid JSON")).to_be_visible()

    notebook.await_value("e.get('lamps')", RULES[0])
    notebook.await_value("e.dirty", False)


def test_times_are_the_readers_own(editor: Locator, notebook: Notebook) -> None:
    choose(editor, "Lamps of the week")
    editor.get_by_role("button", name="Schedule").click()
    expect(editor.get_by_text("time zone Asia/Ka")).to_be_visible()

    editor.get_by_label("Valid from").fill("2030-05-01T12:00")
    expect(editor.get_by_text("End must be after start.")).to_be_visible()
    editor.get_by_label("Valid until").fill("2030-05-02T12:00")
    editor.get_by_label("Valid until").press("Tab")

    # 5 hours and 45 minutes before the same time in Greenwich.
    expect(editor.locator(".svc-rule-line", has_text="Lamps")).to_contain_text("◷")
    notebook.await_value("e.get('lamps')['validity'][0]['until']", 1903932900)
    editor.get_by_label("Valid from").fill("")
    editor.get_by_label("Valid from").press("Tab")
    notebook.await_value("e.get('lamps')['validity']", [{"until": 1903932900}])


def test_a_rule_is_tried_on_queries_that_trigger_it_and_that_do_not(
    editor: Locator, notebook: Notebook
) -> None:
    choose(editor, "desk")
    switch(editor).check()
    expect(editor).to_contain_text("1 changed")
    editor.get_by_role("tab", name="Try it").click()
    for query in ("desk", "oak desk"):
        editor.get_by_label("Queries: add").fill(query)
        editor.get_by_label("Queries: add").press("Enter")
    editor.get_by_role("button", name="Try the draft").click()

    rows = editor.locator(".svc-impact-row")
    expect(rows.first).to_contain_text("desks new", timeout=15_000)
    expect(rows.nth(1)).to_contain_text("none")
    notebook.await_value(f"[i for i in {INDICES} if i.startswith('ruled_')]", [])
    assert saved(notebook, "desks")["enabled"] is False


def test_one_rule_alone_is_tried_and_what_it_gives_is_shown(editor: Locator) -> None:
    choose(editor, "Lamps of the week")
    editor.get_by_role("tab", name="Try it").click()
    editor.get_by_label("Compare with").select_option("without")
    editor.get_by_role("button", name="Try the draft").click()

    row = editor.locator(".svc-impact-row")
    expect(row).to_contain_text("10 → 8", timeout=15_000)
    expect(row).to_contain_text("lamps")
    expect(editor.locator(".svc-impact")).to_contain_text("without lamps")
    expect(editor).to_contain_text("Saved")


def test_what_the_index_has_is_offered(editor: Locator) -> None:
    choose(editor, "Lamps of the week")
    filters = editor.get_by_label("Filters", exact=True)

    def offered(text: str) -> Any:
        filters.fill(text)
        return filters.evaluate("el => [...el.list.options].map(option => option.value)")

    expect(filters).to_have_value("price < 90")
    filters.page.wait_for_function("el => el.list", arg=filters.element_handle())
    for _ in range(50):
        if offered("price < 90 AND umb"):
            break
        filters.page.wait_for_timeout(100)

    assert offered("price < 90 AND umb") == ["price < 90 AND brand:Umbra"]
    assert offered("pri") == ["price >= 5", "price <= 101"]


def test_all_rules_that_are_shown_are_switched_off(editor: Locator, notebook: Notebook) -> None:
    editor.get_by_label("Find rules").fill("lamp")
    expect(editor.locator(".svc-rule-line")).to_have_count(2)

    editor.get_by_role("button", name="Bulk edit…").click()
    editor.get_by_role("dialog").get_by_role("button", name="Disable").click()

    expect(editor).to_contain_text("2 changed")
    off = "sorted(r['objectID'] for r in e.value if not r.get('enabled', True))"
    notebook.await_value(off, ["desks", "lamps", "red-lamp"])
    editor.get_by_role("button", name="Undo").click()
    expect(editor).to_contain_text("Saved")


def test_what_is_being_typed_stays_with_its_rule(editor: Locator, notebook: Notebook) -> None:
    choose(editor, "red lamp")
    expect(editor.locator(".svc-rule-head")).to_contain_text("red-lamp")
    editor.get_by_label("Pin a record: add").press_sequentially("sku-006")

    notebook.run("e.pin('new', 'sku-001', 0)", cell=1)

    expect(editor.locator(".svc-rule-head")).to_contain_text("for-new")
    ids = "[p['objectID'] for p in e.get({!r})['consequence']['promote']]"
    notebook.await_value(ids.format("red-lamp"), ["sku-021", "sku-006"])
    notebook.await_value(ids.format("for-new"), ["sku-001"])


def test_what_is_being_typed_is_applied_with_the_rest(editor: Locator, notebook: Notebook) -> None:
    choose(editor, "red lamp")
    editor.get_by_label("Description").focus()
    notebook.page.keyboard.type("the red ones")

    notebook.page.keyboard.press("Control+s")
    expect(editor.get_by_role("dialog")).to_contain_text("the red ones")
    notebook.page.keyboard.press("Enter")
    expect(editor).to_contain_text("Applied and published.")

    assert saved(notebook, "red-lamp")["description"] == "the red ones"


def test_conflicts_lead_to_the_other_rule(editor: Locator) -> None:
    choose(editor, "red lamp")
    fault = editor.locator(".svc-faults")
    expect(fault).to_contain_text("conflicts with lamps: sku-021 is pinned at positions 1 and 5")

    editor.get_by_role("button", name="See lamps").click()

    expect(editor.locator(".svc-rule-head")).to_contain_text("lamps")
    expect(editor.get_by_label("Description")).to_have_value("Lamps of the week")


def test_rules_are_duplicated_switched_off_deleted_and_brought_back(
    editor: Locator, notebook: Notebook
) -> None:
    choose(editor, "Lamps of the week")
    editor.get_by_role("button", name="Duplicate").click()
    expect(editor.locator(".svc-rule-head")).to_contain_text("lamps-copy")
    switch(editor).uncheck()
    expect(editor.get_by_label("Which rules")).to_be_visible()
    editor.get_by_label("Which rules").select_option("off")
    expect(editor.locator(".svc-rule-line")).to_have_count(2)
    editor.get_by_label("Which rules").select_option("")
    choose(editor, "red lamp")
    editor.locator(".svc-rule-head").get_by_role("button", name="Delete").click()
    expect(editor).to_contain_text("1 added, 1 removed")

    apply(editor)
    notebook.await_value("sorted(r['objectID'] for r in client.search_rules('ruled')['hits'])", [
        "brands", "desks", "lamps", "lamps-copy",
    ])  # fmt: skip
    for _ in range(3):
        editor.get_by_role("button", name="Undo").click()
    expect(editor).to_contain_text("1 added, 1 removed")
    apply(editor)

    notebook.await_value("sorted(r['objectID'] for r in client.search_rules('ruled')['hits'])", [
        "brands", "desks", "lamps", "red-lamp",
    ])  # fmt: skip


def test_what_is_pinned_in_the_query_editor_is_drafted_here(notebook: Notebook) -> None:
    queries = notebook.open("q = svc.edit.query('ruled', 'oak table')\nq", cell=1)
    editor = show(notebook, "e = svc.edit.rules('ruled', follow=q)\ne")

    queries.get_by_role("button", name="Pin oak table here").first.click()

    expect(editor.locator(".svc-rule-head")).to_contain_text("for-oak-table")
    expect(editor).to_contain_text("1 added")
    notebook.await_value(
        "e.get('for-oak-table')['conditions']", [{"pattern": "oak table", "anchoring": "is"}]
    )
    notebook.run("q = None", cell=1)


def test_a_rule_is_found_among_hundreds(notebook: Notebook) -> None:
    notebook.run(
        "many = [{'objectID': f'r{n}', 'conditions': [{'pattern': f'word{n}', 'anchoring': 'is'}],"
        " 'consequence': {'promote': [{'objectID': 'sku-001', 'position': 0}]}} "
        "for n in range(500)]"
    )
    editor = notebook.open("e = svc.edit.rules('ruled', value=many)\ne")
    expect(editor).to_contain_text("500 rules")
    assert editor.locator(".svc-rule-line").count() < 40

    editor.get_by_label("Find rules").fill("word321")
    expect(editor.locator(".svc-rule-line")).to_have_count(1)
    editor.get_by_label("Find rules").press("ArrowDown")
    expect(editor.locator(".svc-rule-head")).to_contain_text("r321")
    notebook.page.keyboard.press("Enter")
    expect(editor.get_by_label("How the query matches")).to_be_focused()
    editor.get_by_label("Description").fill("one of many")
    editor.get_by_label("Description").press("Enter")

    expect(editor.locator(".svc-rule-line")).to_contain_text("one of many")
    notebook.await_value("e.get('r321').get('description')", "one of many")
    assert not notebook.complaints


def test_a_key_that_cannot_write_is_reported(notebook: Notebook, service: Running) -> None:
    editor = show(
        notebook,
        "key = client.add_key(acl=['settings', 'search'])['key']\n"
        f"weak = svc.connect(url={service.url!r}, app_id={service.appId!r}, api_key=key)\n"
        f"{connect(service)}e = svc.edit.rules('ruled', client=weak)\ne",
    )

    expect(editor).to_contain_text("Read-only: the key lacks the right `editSettings`.")
    expect(editor.get_by_label("Description")).to_be_disabled()
    expect(editor.get_by_role("button", name="New rule…")).to_be_disabled()
    expect(switch(editor)).to_be_disabled()
    assert not notebook.complaints


def test_an_unreachable_service_is_reported_and_a_retry_works(
    notebook: Notebook, service: Running, tmp_path: Path
) -> None:
    process, running = start_service(tmp_path / "data")
    try:
        fill(running, INDEX, products()[:5])
        editor = notebook.open(
            f"{connect(running)}e = svc.edit.rules('ruled')\n"
            "e.pin('lamp', 'sku-001', 0)\n" + connect(service) + "e"
        )
        expect(editor.locator(".svc-rule-line")).to_have_count(1)
    finally:
        stop_service(process)
    editor.get_by_label("Filters", exact=True).fill("price > 5")
    editor.get_by_label("Filters", exact=True).press("Enter")
    banner = editor.get_by_role("alert").first

    editor.get_by_role("button", name="Apply…").click()
    editor.get_by_role("dialog").get_by_role("button", name="Apply").click()
    # A preview that failed shows the same advice, and a write that still retries would succeed.
    notebook.await_value("bool(e.state['error'])", True, seconds=20)
    expect(banner).to_contain_text("Check that the service runs")
    expect(editor).to_contain_text("Unsaved changes")
    process, _ = start_service(tmp_path / "data", "--port", running.url.rpartition(":")[2])
    try:
        apply(editor)
        expect(banner).to_be_hidden()
        notebook.await_value("e.saved == e.value and len(e.value)", 1)
    finally:
        stop_service(process)


@pytest.mark.in_lab
def test_rules_are_there_without_a_kernel(
    editor: Locator, notebook: Notebook, lab: Lab, chromium: Browser
) -> None:
    choose(editor, "red lamp")
    switch(editor).uncheck()
    kept = notebook.page.locator(".svc-fallback")
    expect(kept).to_contain_text("4 rules, unsaved changes", timeout=10_000)
    assert not kept.is_visible()

    with reopened(notebook, lab, chromium) as later:
        shown = later.page.locator(".svc-fallback")
        expect(shown).to_be_visible()
        expect(shown).to_contain_text("4 rules, unsaved changes")
        expect(shown).to_contain_text("the query is “red lamp”")
        assert not later.complaints


@pytest.mark.in_lab
def test_trying_shows_how_far_it_is_and_ends_while_a_cell_runs(
    editor: Locator, notebook: Notebook
) -> None:
    notebook.run("e.queries = [f'lamp {n}' for n in range(900)]", cell=1)
    editor.get_by_role("tab", name="Try it").click()
    notebook.begin("import time\nfor _ in range(300): time.sleep(0.1)", cell=1)

    editor.get_by_role("button", name="Try the draft").click()

    expect(editor.get_by_role("progressbar")).to_be_visible()
    expect(editor.locator(".svc-progress")).to_contain_text("searching the index")
    editor.get_by_role("button", name="Cancel").click()
    expect(editor.get_by_role("progressbar")).to_be_hidden()
    expect(editor.get_by_role("button", name="Try the draft")).to_be_enabled()
    expect(notebook.page.locator(".jp-InputPrompt", has_text="[*]")).to_have_count(1)
    notebook.page.evaluate("jupyterapp.commands.execute('notebook:interrupt-kernel')")
    notebook.page.evaluate("window.ran")


def test_what_rules_and_records_hold_is_text_and_fits_400_pixels(
    notebook: Notebook, service: Running
) -> None:
    struck = "<img src=x onerror=window.struck=1>"
    fill(service, "ruled-hostile", [{"objectID": struck, "title": f"lamp {struck}"}])
    rule = {
        "objectID": struck,
        "description": struck + "x" * 300,
        "conditions": [{"pattern": "lamp", "anchoring": "is", "filters": f'brand:"{struck}"'}],
        "consequence": {"promote": [{"objectID": struck, "position": 0}], "userData": struck},
    }
    editor = notebook.open(f"e = svc.edit.rules('ruled-hostile', value=[{rule!r}])\ne")
    editor.evaluate("el => { el.parentElement.style.width = '400px' }")
    for tab in ("Hits", "JSON", "Form"):
        editor.get_by_role("tab", name=tab).click()
        notebook.page.wait_for_timeout(150)
        assert editor.evaluate("el => el.scrollWidth <= el.clientWidth + 1"), tab

    assert not notebook.page.evaluate("window.struck")
    assert editor.locator("img").count() == 0
    assert not notebook.complaints


@pytest.mark.parametrize(
    ("theme", "picture"),
    [("JupyterLab Light", "rule-editor.png"), ("JupyterLab Dark", "rule-editor-dark.png")],
    ids=["light", "dark"],
)
def test_it_reads_well_in_light_and_dark(notebook: Notebook, theme: str, picture: str) -> None:
    notebook.change_theme(theme)
    notebook.page.set_viewport_size({"width": 1180, "height": 2000})
    editor = show(notebook, "e = svc.edit.rules('ruled', ['lamp', 'red lamp'])\ne")
    choose(editor, "Lamps of the week")
    expect(editor.get_by_label("Description")).to_have_value("Lamps of the week")
    expect(editor.locator(".svc-titles").first).to_have_text("blue lamp")

    assert notebook.page.evaluate(CONTRAST) == []
    assert find_violations(notebook.page) == []
    draw(editor, picture)
    editor.get_by_role("tab", name="Hits").click()
    notebook.run("e.place('sku-042', 'pin', 1, 'lamps')", cell=1)
    expect(editor.locator(".svc-sortable-item").nth(1)).to_contain_text("sku-042")
    if theme.endswith("Light"):
        draw(editor, "rule-editor-hits.png")
    assert notebook.page.evaluate(CONTRAST) == []
    assert find_violations(notebook.page) == []
    editor.get_by_role("tab", name="Try it").click()
    editor.get_by_role("button", name="Try the draft").click()
    expect(editor.locator(".svc-impact-row")).to_have_count(2, timeout=15_000)
    editor.locator(".svc-opener").first.click()
    expect(editor.locator(".svc-side-hit").first).to_be_visible()

    assert notebook.page.evaluate(CONTRAST) == []
    assert find_violations(notebook.page) == []
    if theme.endswith("Light"):
        draw(editor, "rule-editor-try.png")
    notebook.page.set_viewport_size({"width": 1180, "height": 1000})
    notebook.change_theme("JupyterLab Light")

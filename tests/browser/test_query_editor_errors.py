"""The query editor in Notebook 7: lost connections, errors and hostile values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from svc_notebook.data.client import Client, ClientConfig, Secret
from tests.browser.lab import Lab
from tests.browser.looks import draw
from tests.browser.notebook import Notebook
from tests.browser.shop import fill, products
from tests.browser.test_query_editor import count_of, search_box
from tests.conftest import Running

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def client(service: Running) -> Iterator[Client]:
    own = ClientConfig(url=service.url, app_id=service.appId, api_key=Secret(service.adminKey))
    with Client(own) as client:
        yield client


@pytest.fixture(scope="module", autouse=True)
def indices(service: Running) -> None:
    """The index that these tests search."""
    fill(service, "elsewhere", products())


@pytest.fixture(scope="module")
def lab_page(lab: Lab, chromium: Browser) -> Iterator[Notebook]:
    """A notebook in Notebook 7."""
    context = chromium.new_context(viewport={"width": 1180, "height": 1000})
    yield Notebook(context.new_page(), lab, "elsewhere.ipynb", classic=True)
    context.close()


@pytest.fixture
def editor(notebook: Notebook) -> Iterator[Locator]:
    """A new query editor; nothing may have complained at the end."""
    notebook.run("", cell=1)
    shown = notebook.open("e = svc.edit.query('elsewhere')\ne")
    expect(shown.locator(".svc-hit").first).to_be_visible()
    yield shown
    assert not notebook.complaints


@pytest.mark.in_lab
def test_an_editor_is_not_put_into_a_scrolling_box(editor: Locator, notebook: Notebook) -> None:
    search_box(editor).fill("lamp")
    expect(count_of(editor)).to_have_text("10")
    notebook.run("e.height = None", cell=1)

    area = notebook.page.locator(".jp-Cell-outputArea").first

    assert area.evaluate("el => el.clientHeight") > 1000


def test_a_hit_is_pinned_by_a_key(notebook: Notebook) -> None:
    editor = notebook.open(
        "told = []\ne = svc.edit.query('elsewhere', value={'query': 'lamp'})\n"
        "e.on_pin(told.append)\ne"
    )
    expect(editor.locator(".svc-hit")).to_have_count(10)

    editor.locator(".svc-hit").nth(2).press("p")

    pinned = notebook.ask("e.hits[2]['objectID']")
    notebook.await_value("told", [{"query": "lamp", "objectID": pinned, "position": 2}])


@pytest.mark.in_lab
def test_keys_move_among_hits_and_not_among_cells(editor: Locator, notebook: Notebook) -> None:
    notebook.run("'a cell below'", cell=1)
    hits = editor.locator(".svc-hit")
    hits.first.focus()

    for key in ("ArrowDown", "p", "ArrowDown", "ArrowUp", "End"):
        notebook.page.keyboard.press(key)

    expect(hits.last).to_be_focused()


def test_a_search_without_hits_suggests_what_to_leave_out(
    editor: Locator, notebook: Notebook
) -> None:
    search_box(editor).fill("lamp zebra")
    without = editor.get_by_role("button", name="Without “zebra”: 10 hits")
    expect(without).to_be_visible()
    draw(editor, "query-editor-no-hits.png")
    without.click()

    expect(editor.locator(".svc-hit")).to_have_count(10)
    expect(search_box(editor)).to_have_value("lamp")
    notebook.await_value("e.value", {"query": "lamp"})


def test_what_stays_is_not_drawn_anew(editor: Locator, notebook: Notebook) -> None:
    picture = editor.locator(".svc-hit img").first
    expect(picture).to_be_visible()
    picture.evaluate("el => { el.same = true }")

    notebook.run("e.value = {'hitsPerPage': 30}", cell=1)

    expect(editor.locator(".svc-hit")).to_have_count(30)
    assert picture.evaluate("el => el.same")


def test_replicas_sort_otherwise(notebook: Notebook, service: Running, client: Client) -> None:
    fill(service, "sorted", products())
    client.wait(client.set_settings("sorted", {"replicas": ["sorted-by-price"]}), index="sorted")
    settings: Any = {"ranking": ["asc(price)"], "attributesForFaceting": ["brand"]}
    client.wait(client.set_settings("sorted-by-price", settings), index="sorted-by-price")
    editor = notebook.open("e = svc.edit.query('sorted')\ne")

    editor.get_by_label("sorted by").select_option("sorted-by-price")

    expect(editor.locator(".svc-title")).to_contain_text("sorted-by-price")
    expect(editor.locator(".svc-hit").first).to_contain_text("price5")
    prices = notebook.ask("[hit['price'] for hit in e.hits]")
    assert prices == sorted(record["price"] for record in products())[:20]


def test_a_hundred_values_of_a_facet_are_gone_through(notebook: Notebook, service: Running) -> None:
    records = [
        {"objectID": str(n), "name": "lamp", "brand": f"Brand {n}", "colour": f"tone {n:03}"}
        for n in range(100)
    ]
    fill(service, "many", records)
    editor = notebook.open("e = svc.edit.query('many')\ne")

    editor.get_by_role("list", name="colour").locator("xpath=..").get_by_text("92 more").click()
    expect(editor.get_by_role("list", name="colour").get_by_role("listitem")).to_have_count(100)
    editor.get_by_label("Find a value of colour").fill("TONE 07")
    expect(editor.get_by_role("list", name="colour").get_by_role("listitem")).to_have_count(10)
    editor.get_by_label("Find a value of brand").fill("brand 77")
    editor.get_by_label("Brand 77").check()

    expect(count_of(editor)).to_have_text("1")
    expect(editor.get_by_role("alert")).to_have_count(0)


@pytest.mark.usefixtures("editor")
def test_two_editors_of_one_index_do_not_mix(notebook: Notebook) -> None:
    other = notebook.open("f = svc.edit.query('elsewhere')\nf", cell=1)
    one = notebook.page.locator(".svc-editor").first

    search_box(other).fill("desk")
    search_box(one).fill("red")

    expect(count_of(other)).to_have_text("10")
    expect(count_of(one)).to_have_text("7")
    notebook.await_value("[e.value, f.value]", [{"query": "red"}, {"query": "desk"}])


@pytest.mark.in_lab
def test_typing_and_python_come_to_an_agreement(
    editor: Locator, notebook: Notebook, client: Client
) -> None:
    notebook.begin(
        "import time\nfor n in range(10):\n    e.value = {'query': 'desk', 'page': n % 3}\n"
        "    time.sleep(0.05)",
        cell=1,
    )

    search_box(editor).press_sequentially("red lamp", delay=60)
    notebook.page.evaluate("window.ran")

    agreed = notebook.ask("e.value")
    found = client.search("elsewhere", **agreed)["hits"]
    expect(search_box(editor)).to_have_value(agreed["query"])
    expect(editor.locator(".svc-hit")).to_have_count(len(found))


def test_a_missing_index_is_reported_and_found_again(
    notebook: Notebook, service: Running, client: Client
) -> None:
    fill(service, "passing", products()[:5])
    editor = notebook.open("e = svc.edit.query('passing')\ne")
    expect(editor.locator(".svc-hit")).to_have_count(5)
    client.wait(client.delete_index("passing"), index="passing")

    search_box(editor).fill("chair")
    banner = editor.get_by_role("alert").first
    expect(banner).to_contain_text("passing")
    fill(service, "passing", products()[:5])
    banner.get_by_role("button", name="Try again").click()

    expect(count_of(editor)).to_have_text("1")
    expect(editor.get_by_role("alert")).to_have_count(0)


def test_a_key_that_cannot_search_is_reported(notebook: Notebook, client: Client) -> None:
    key = client.add_key(acl=["listIndexes"])["key"]

    editor = notebook.open(
        f"import dataclasses\nfrom svc_notebook.data.client import Client, Secret\n"
        f"own = dataclasses.replace(client.connection, api_key=Secret({key!r}))\n"
        "e = svc.edit.query('elsewhere', client=Client(own))\ne"
    )

    expect(editor.get_by_role("alert").first).to_contain_text("search")
    notebook.run("'go on'", cell=1)


@pytest.mark.in_lab
def test_an_exported_notebook_shows_the_last_state(
    editor: Locator, notebook: Notebook, chromium: Browser
) -> None:
    from nbconvert import HTMLExporter

    search_box(editor).fill("brass chair")
    expect(count_of(editor)).to_have_text("1")
    expect(notebook.page.locator(".svc-fallback")).to_contain_text("brass chair", timeout=20_000)
    notebook.save()

    html, _ = HTMLExporter().from_filename(str(notebook.path))  # type: ignore[no-untyped-call]
    context = chromium.new_context()
    page = context.new_page()
    page.set_content(html)

    expect(page.locator(".svc-fallback")).to_be_visible()
    expect(page.locator(".svc-fallback")).to_contain_text("brass chair")
    context.close()

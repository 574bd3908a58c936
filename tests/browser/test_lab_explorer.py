"""The explorer of the JupyterLab extension."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.lab import Lab
from tests.browser.labextension import LabPage, fresh
from tests.browser.looks import draw
from tests.browser.shop import connect, fill, products
from tests.conftest import Running, start_service, stop_service
from tests.data.session.key_sink import open_sink

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(180)]
HOSTILE_NAME = "<img src=x onerror='window.struck=1'>"
HOSTILE_RECORD = {
    "objectID": "1",
    HOSTILE_NAME: "<script>window.struck=1</script>",
    "colour": "<b onclick=window.struck=1>red</b>",
}
RESTART = "() => window.jupyterapp.shell.currentWidget.sessionContext.restartKernel()"
SHUT_DOWN = "() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()"
# A kernel answers beside a running cell if both it and the application have subshells.
HAS_SUBSHELLS = all(
    tuple(map(int, version(name).split(".")[:2])) >= least
    for name, least in (("ipykernel", (7, 0)), ("jupyterlab", (4, 4)))
)
HISTORY = "(get_ipython().execution_count, sorted(get_ipython().user_ns))"
MANY = 300  # many times the rows in view
CRAWLER = {
    "rateLimit": 1,
    "startUrls": ["https://shop.example/"],
    "actions": [
        {
            "indexName": "crawled",
            "pathsToMatch": ["https://shop.example/**"],
            "recordExtractor": {"__type": "function", "source": "() => []"},
        }
    ],
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service of this module's own: the explorer draws only the rows in view."""
    process, running = start_service(tmp_path_factory.mktemp("explored"))
    yield running
    stop_service(process)


@pytest.fixture(scope="module", autouse=True)
def _filled(service: Running) -> None:
    fill(service, "explored", products())


@pytest.fixture
def lab_page(lab_notebook: LabPage) -> LabPage:
    return lab_notebook


def test_a_notebook_without_the_package_is_offered_to_load_it(lab_page: LabPage) -> None:
    expect(lab_page.explorer).to_contain_text("The package is not loaded in this kernel.")

    lab_page.page.get_by_role("button", name="Load the extension here").click()

    expect(lab_page.explorer).to_contain_text("This kernel is not connected to a service.")
    expect(lab_page.page.get_by_role("button", name="Connect to local")).to_be_visible()
    assert lab_page.ask("'svc' in get_ipython().magics_manager.magics['line']") is True
    assert not lab_page.complaints


def test_the_explorer_connects_to_the_local_service(lab_page: LabPage) -> None:
    lab_page.page.get_by_role("button", name="Load the extension here").click()

    lab_page.page.get_by_role("button", name="Connect to local").click()

    expect(lab_page.explorer).to_contain_text("local ·", timeout=30_000)
    lab_page.run("import svc_notebook as svc")
    assert lab_page.ask("svc.whoami()['rights']")
    expect(lab_page.page.locator(".svc-status")).to_have_text("Search: local")


def test_the_explorer_asks_before_a_key_goes_to_the_address_of_a_folder(
    lab_page: LabPage, extended_lab: Lab
) -> None:
    with open_sink() as sink:
        profile = f'[profiles.cloned]\nurl = "{sink.url}"\napp_id = "APP"\n'
        (extended_lab.folder / "svc.toml").write_text(profile)
        try:
            lab_page.run(
                "import os; os.environ['SVC_API_KEY'] = 'canary-key'\n%load_ext svc_notebook"
            )
            button = lab_page.page.get_by_role("button", name="Connect to cloned")
            button.click()
            dialog = lab_page.page.get_by_role("dialog")
            expect(dialog).to_contain_text(f"Connecting sends your API key to {sink.url}")
            expect(dialog).to_contain_text(f"{extended_lab.folder}")
            dialog.get_by_role("button", name="Cancel").click()
            expect(button).to_be_visible()
            assert not sink.received

            button.click()
            dialog.get_by_role("button", name="Trust and connect").click()

            expect(lab_page.explorer).to_contain_text("cloned · APP", timeout=30_000)
            assert sink.take("canary-key")
            assert not lab_page.complaints
        finally:
            (extended_lab.folder / "svc.toml").unlink()


def test_a_connected_kernel_shows_its_indices_and_their_content(
    lab_page: LabPage, service: Running
) -> None:
    lab_page.run(connect(service))

    expect(lab_page.explorer).to_contain_text(service.appId)
    expect(lab_page.explorer).to_contain_text("rights: search")
    expect(lab_page.row("explored")).to_contain_text("70")
    lab_page.expand("explored")
    lab_page.expand("Attributes")
    expect(lab_page.row("price")).to_contain_text("number · ")
    lab_page.row("Attributes").click()
    lab_page.expand("Facets")
    lab_page.expand("brand")
    expect(lab_page.row("Acme")).to_contain_text("24")
    lab_page.expand("Changed settings")
    expect(lab_page.row("customRanking")).to_contain_text('["desc(rating)"]')
    expect(lab_page.row("Synonyms")).to_contain_text("0")
    lab_page.expand("Crawlers")
    assert not lab_page.complaints


def test_crawlers_have_rows_with_their_state_and_their_editor(
    lab_page: LabPage, service: Running
) -> None:
    keys = {
        "crawler_user_id": service.crawlerUserId,
        "crawler_api_key": service.crawlerApiKey,
    }
    code = connect(service).rstrip().removesuffix(")")
    lab_page.run(f"{code}, **{keys!r})\n")
    lab_page.run(f"client.create_crawler({HOSTILE_NAME!r}, {CRAWLER!r})['id']")

    lab_page.expand("Crawlers")
    expect(lab_page.row(HOSTILE_NAME)).to_contain_text("not run yet")
    lab_page.open_menu(HOSTILE_NAME).get_by_text("Open the crawler editor", exact=True).click()

    editor = lab_page.page.locator(".svc-editor")
    expect(editor).to_contain_text(HOSTILE_NAME, timeout=30_000)
    assert lab_page.page.evaluate("window.struck") is None
    assert not lab_page.complaints


def test_without_a_crawler_the_explorer_drafts_one(lab_page: LabPage, tmp_path: Path) -> None:
    process, new = start_service(tmp_path / "new")
    fill(new, "plain", products()[:5])
    keys = {"crawler_user_id": new.crawlerUserId, "crawler_api_key": new.crawlerApiKey}
    code = connect(new).rstrip().removesuffix(")")
    lab_page.run(f"{code}, **{keys!r})\n")
    question = lab_page.page.locator(".jp-Dialog")

    lab_page.expand("Crawlers")
    lab_page.row("New crawler…").click()
    for text in ("docs", "https://docs.example/"):
        question.locator("input").fill(text)
        question.locator(".jp-mod-accept").click()

    editor = lab_page.page.locator(".svc-editor")
    expect(editor).to_contain_text("Not created yet", timeout=30_000)
    editor.get_by_role("tab", name="Failed URLs").click()
    expect(editor.get_by_text("No crawl has run yet.")).to_be_visible()
    lab_page.explorer.locator(".svc-explorer-filter").fill("nowhere")
    lab_page.explorer.get_by_role("button", name="Clear the filter").click()
    expect(lab_page.row("plain")).to_be_visible()
    assert not lab_page.complaints
    stop_service(process)


def test_questions_leave_neither_history_nor_names(lab_page: LabPage, service: Running) -> None:
    lab_page.run(connect(service))
    lab_page.await_connected()
    count, names = lab_page.ask(HISTORY)

    lab_page.expand("explored")
    expect(lab_page.row("Attributes")).to_be_visible()
    lab_page.page.get_by_role("button", name="Refresh").click()

    lab_page.await_value(HISTORY, [count, names])


def test_the_keyboard_alone_goes_through_the_tree(lab_page: LabPage, service: Running) -> None:
    lab_page.run(connect(service))
    lab_page.await_connected()
    keyboard = lab_page.page.keyboard

    lab_page.page.get_by_role("searchbox", name="Filter").focus()
    keyboard.type("explored")
    keyboard.press("ArrowDown")
    expect(lab_page.row("explored")).to_have_attribute("aria-selected", "true")
    keyboard.press("ArrowRight")
    expect(lab_page.row("explored")).to_have_attribute("aria-expanded", "true")
    expect(lab_page.row("Attributes")).to_be_visible()
    keyboard.press("ArrowDown")
    expect(lab_page.row("Attributes")).to_have_attribute("aria-selected", "true")
    keyboard.press("Enter")
    expect(lab_page.row("price")).to_have_attribute("aria-level", "3")
    keyboard.press("ArrowLeft")
    keyboard.press("ArrowLeft")
    expect(lab_page.row("explored")).to_have_attribute("aria-selected", "true")
    active = lab_page.tree.get_attribute("aria-activedescendant")
    assert active == lab_page.row("explored").get_attribute("id")
    keyboard.press("Shift+F10")

    expect(lab_page.page.get_by_role("menuitem", name="Open the query editor")).to_be_visible()
    keyboard.press("Escape")
    lab_page.page.get_by_role("searchbox", name="Filter").fill("")


def test_hostile_names_stay_text(lab_page: LabPage, service: Running) -> None:
    fill(service, HOSTILE_NAME, [HOSTILE_RECORD])
    with service.client() as client:
        path = f"/1/indexes/{HOSTILE_NAME.replace('<', '%3C').replace(' ', '%20')}/settings"
        client.put(path, json={"attributesForFaceting": [HOSTILE_NAME, "colour"]})

    lab_page.run(connect(service))
    lab_page.expand(HOSTILE_NAME)
    lab_page.expand("Attributes")
    lab_page.expand("Facets")

    expect(lab_page.row("colour")).to_contain_text("text · <b onclick")
    assert lab_page.explorer.locator("img, script, b").count() == 0
    assert lab_page.page.evaluate("() => window.struck") is None


def test_a_busy_kernel_is_told_and_its_list_is_read(lab_page: LabPage, service: Running) -> None:
    lab_page.run(connect(service))
    lab_page.await_connected()

    lab_page.begin("import time; time.sleep(8)")
    expect(lab_page.explorer).to_contain_text("The kernel is busy")
    fill(service, "made-meanwhile", products()[:4])
    lab_page.page.get_by_role("button", name="Refresh").click()

    if HAS_SUBSHELLS:  # the list is read while the cell runs
        expect(lab_page.row("made-meanwhile")).to_contain_text("4", timeout=6_000)
    else:
        expect(lab_page.explorer).to_contain_text("The list is read again when the cell has run.")
    expect(lab_page.explorer).not_to_contain_text("The kernel is busy", timeout=20_000)
    expect(lab_page.row("made-meanwhile")).to_contain_text("4")


def test_the_list_follows_what_a_cell_does(lab_page: LabPage, service: Running) -> None:
    lab_page.run(connect(service))
    lab_page.await_connected()

    lab_page.run("svc.push([{'objectID': '1', 'name': 'lamp'}], 'made-by-a-cell')")

    expect(lab_page.row("made-by-a-cell")).to_contain_text("1")


def test_a_restarted_kernel_is_found_again(lab_page: LabPage, service: Running) -> None:
    lab_page.run(connect(service))
    lab_page.await_connected()

    lab_page.page.evaluate(RESTART)
    expect(lab_page.explorer).to_contain_text("The package is not loaded in this kernel.")
    lab_page.run(connect(service))

    expect(lab_page.row("explored")).to_be_visible()
    assert not lab_page.complaints


def test_a_kernel_that_ended_is_told(lab_page: LabPage, service: Running) -> None:
    lab_page.run(connect(service))
    lab_page.await_connected()

    lab_page.page.evaluate(SHUT_DOWN)

    expect(lab_page.tree).to_be_hidden()
    expect(lab_page.explorer).to_contain_text("Open a notebook")


def test_without_a_notebook_the_explorer_offers_to_connect(lab_page: LabPage) -> None:
    lab_page.page.evaluate(SHUT_DOWN)
    offer = lab_page.explorer.get_by_role("button", name="Connect in a new notebook")

    offer.click()

    connect_to = lab_page.explorer.get_by_role("button", name="Connect to local")
    expect(connect_to).to_be_visible(timeout=60_000)


def test_two_notebooks_have_two_connections(
    lab_page: LabPage, service: Running, tmp_path: Path
) -> None:
    process, other = start_service(tmp_path / "other")
    fill(other, "elsewhere", products()[:2])
    first = lab_page.path.name
    second = f"second-{first}"
    (lab_page.path.parent / second).write_bytes(lab_page.path.read_bytes())
    lab_page.run(connect(service))
    expect(lab_page.row("explored")).to_be_visible()

    lab_page.show(second)
    lab_page.run(connect(other))

    expect(lab_page.row("elsewhere")).to_contain_text("2")
    expect(lab_page.row("explored")).to_have_count(0)
    lab_page.show(first)
    expect(lab_page.row("explored")).to_contain_text("70")
    expect(lab_page.row("elsewhere")).to_have_count(0)
    stop_service(process)


def test_a_service_that_is_gone_is_told_and_found_again(lab_page: LabPage, tmp_path: Path) -> None:
    process, passing = start_service(tmp_path / "passing")
    fill(passing, "passing", products()[:5])
    lab_page.run(connect(passing))
    expect(lab_page.row("passing")).to_be_visible()

    stop_service(process)
    lab_page.page.get_by_role("button", name="Refresh").click()

    error = lab_page.page.locator(".svc-explorer-error")
    expect(error).to_contain_text(
        "check that the service on this machine is running", timeout=30_000
    )
    expect(lab_page.page.get_by_role("button", name="Try again")).to_be_visible()
    lab_page.run("'go on'", cell=1)


def test_a_key_without_rights_shows_the_rest(lab_page: LabPage, service: Running) -> None:
    with service.client() as client:
        made = client.post("/1/keys", json={"acl": ["search", "listIndexes"]}).json()["key"]
    code = connect(service).replace(service.adminKey, made)
    lab_page.page.wait_for_timeout(500)  # until the key is known

    lab_page.run(code)
    lab_page.expand("explored")

    expect(lab_page.row("Changed settings")).to_contain_text("settings")
    lab_page.expand("Attributes")
    expect(lab_page.row("price")).to_be_visible()


def test_hundreds_of_indices_are_few_elements(lab_page: LabPage, tmp_path: Path) -> None:
    process, crowded = start_service(tmp_path / "crowded")
    with crowded.client() as client:
        for number in range(MANY):
            client.put(f"/1/indexes/index-{number:04}/settings", json={"hitsPerPage": 5})
        while len(client.get("/1/indexes").json()["items"]) < MANY:
            pass
    lab_page.run(connect(crowded))
    expect(lab_page.row("index-0000")).to_be_visible(timeout=30_000)

    lab_page.tree.focus()
    lab_page.page.keyboard.press("End")
    lab_page.page.keyboard.press("ArrowUp")

    expect(lab_page.row(f"index-{MANY - 1:04}")).to_be_in_viewport()
    assert lab_page.page.locator(".svc-explorer-row").count() < 60
    lab_page.page.get_by_role("searchbox", name="Filter").fill("index-0150")
    expect(lab_page.row("index-0150")).to_be_visible()
    lab_page.page.get_by_role("searchbox", name="Filter").fill("")
    stop_service(process)


def test_the_explorer_in_pictures(chromium: Browser, extended_lab: Lab) -> None:
    context = chromium.new_context(viewport={"width": 1280, "height": 640})
    lab_page = fresh(context.new_page(), extended_lab, "shop")
    lab_page.run("import svc_notebook as svc\nsvc.connect('local')")
    lab_page.run("svc.load(svc.samples.products(), 'products', id='sku')\nNone")
    lab_page.run("svc.set_settings('products', attributesForFaceting=['brand', 'color'])\nNone")
    lab_page.set_source("%%svc search products lamp\nfilters: brand:Millbeck\nhitsPerPage: 5")
    for label in ("products", "Attributes", "Facets"):
        lab_page.expand(label)
    expect(lab_page.row("category")).to_be_visible()

    for theme, picture in (("Light", "explorer.png"), ("Dark", "explorer-dark.png")):
        lab_page.change_theme(f"JupyterLab {theme}")
        draw(lab_page.page, picture)
        assert lab_page.faint_texts() == []
        assert lab_page.tree.evaluate("el => el.scrollWidth <= el.clientWidth")
    lab_page.change_theme("JupyterLab Light")
    lab_page.page.set_viewport_size({"width": 800, "height": 640})

    assert lab_page.faint_texts() == []
    assert lab_page.tree.evaluate("el => el.scrollWidth <= el.clientWidth")
    context.close()

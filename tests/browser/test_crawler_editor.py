"""The crawler editor in JupyterLab, on a small real website."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from svc_notebook.data.client import Client, ClientConfig, Secret
from tests.browser.looks import CONTRAST, draw, find_violations
from tests.browser.notebook import Notebook
from tests.browser.shop import connect
from tests.conftest import Running, start_service, stop_service
from tests.service.crawl.site import Site

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(120)]

SOURCE = "({url, $}) => {\n  return [{ title: $('h1').text(), path: url.pathname }];\n}"
PAGE = """<!doctype html><title>{title}</title><h1>{title}</h1>
<p>What it is made of, and for whom.</p>{links}"""


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site() as site:
        links = "".join(f'<a href="/{name}">{name}</a>' for name in ("lamp", "desk", "evil"))
        site.page("/", PAGE.format(title="The shop", links=links))
        site.page("/lamp", PAGE.format(title="Reading lamp", links=links))
        site.page("/evil", PAGE.format(title="&lt;img src=x onerror=alert(1)&gt;", links=""))
        yield site


@pytest.fixture(scope="module")
def crawling(tmp_path_factory: pytest.TempPathFactory, site: Site) -> Iterator[Running]:
    """A service that may crawl this machine, with a crawler of the site."""
    process, running = start_service(tmp_path_factory.mktemp("crawling"), "--allow-private-crawl")
    client = Client(
        ClientConfig(
            running.appId, Secret(running.adminKey), url=running.url,
            crawler_user_id=running.crawlerUserId, crawler_api_key=Secret(running.crawlerApiKey),
        )
    )  # fmt: skip
    action = {
        "indexName": "shop",
        "pathsToMatch": [f"{site.url}/**"],
        "recordExtractor": {"__type": "function", "source": SOURCE},
    }
    starts = [f"{site.url}/lamp", f"{site.url}/"]
    client.create_crawler("shop", {"rateLimit": 5, "startUrls": starts, "actions": [action]})
    client.close()
    yield running
    assert stop_service(process) == 0


@pytest.fixture(scope="module")
def connection(crawling: Running) -> str:
    return connect(crawling, crawls=True)


@pytest.fixture
def editor(notebook: Notebook) -> Iterator[Locator]:
    """A new crawler editor; nothing may have complained at the end."""
    shown = notebook.open("e = svc.edit.crawler('shop')\ne")
    expect(source(shown)).to_have_value(SOURCE)
    yield shown
    assert not notebook.complaints


def source(editor: Locator) -> Locator:
    return editor.get_by_label("Record extractor")


def address(editor: Locator) -> Locator:
    return editor.get_by_label("Page to try")


def records(editor: Locator) -> Locator:
    return editor.locator(".svc-record pre")


def attempt(editor: Locator, url: str) -> None:
    address(editor).fill(url)
    address(editor).press("Enter")


def test_the_page_that_a_crawl_begins_at_is_offered_and_tried(
    editor: Locator, notebook: Notebook, site: Site
) -> None:
    expect(address(editor)).to_have_value(f"{site.url}/lamp")

    editor.get_by_role("button", name="Try").click()

    expect(records(editor)).to_contain_text('"title": "Reading lamp"')
    editor.get_by_role("tab", name="Links").click()
    expect(editor.locator(".svc-links li")).to_have_text(
        [f"{site.url}/{name}" for name in ("desk", "evil")]
    )
    notebook.await_value("e.records.title.tolist()", ["Reading lamp"])


def test_a_result_of_an_earlier_draft_is_marked(
    editor: Locator, notebook: Notebook, site: Site
) -> None:
    attempt(editor, f"{site.url}/lamp")
    expect(records(editor)).to_contain_text('"title": "Reading lamp"')
    note = editor.get_by_text("The draft has changed since this page was tried.")
    expect(note).to_be_hidden()

    source(editor).fill(SOURCE.replace("title", "heading"))
    expect(note).to_be_visible()
    editor.get_by_role("button", name="Try").click()

    expect(note).to_be_hidden()


def test_a_new_crawler_and_one_without_actions_say_what_to_do(
    editor: Locator, notebook: Notebook
) -> None:
    expect(editor.locator(".svc-standing")).to_contain_text("Not run yet.")
    expect(editor).to_contain_text("No page tried yet.")
    notebook.run("e.value = {'rateLimit': 1}", cell=1)

    editor.get_by_role("button", name="Add an action").click()

    expect(source(editor)).to_have_value(re.compile("objectID: url.href"))
    notebook.await_value("e.value['actions'][0]['indexName']", "shop")


def test_code_has_line_numbers_colours_and_matching_brackets(
    editor: Locator, notebook: Notebook
) -> None:
    source(editor).fill("({$}) => {\n  return [{t: 'a)'}]\n}")
    expect(editor.locator(".svc-code-numbers").first).to_have_text(re.compile("1\\s*2\\s*3"))
    string = editor.locator(".svc-token-string")
    expect(string).to_have_text("'a)'")
    expect(source(editor)).to_have_css("color", "rgba(0, 0, 0, 0)")
    keyword = editor.locator(".svc-token-keyword")
    colours = [each.evaluate("el => getComputedStyle(el).color") for each in (string, keyword)]
    assert colours[0] != colours[1]

    source(editor).press("Control+End")

    expect(editor.locator(".svc-bracket")).to_have_text(["{", "}"])
    notebook.await_value("e.value['actions'][0]['recordExtractor']['source'][:9]", "({$}) => ")


@pytest.mark.in_lab
def test_an_extractor_is_changed_tried_applied_by_keys_alone(
    editor: Locator, notebook: Notebook
) -> None:
    source(editor).fill(SOURCE.replace("path: url.pathname", "kind: 'page'"))
    source(editor).press("Control+Enter")
    expect(records(editor)).to_contain_text('"kind": "page"')

    source(editor).press("Control+s")
    expect(editor.locator(".svc-diff")).to_contain_text("kind: 'page'")
    editor.get_by_role("button", name="Apply", exact=True).press("Enter")
    expect(editor.get_by_text("Applied and published.")).to_be_visible()

    editor.get_by_role("button", name="Undo").click()
    expect(source(editor)).to_have_value(SOURCE)
    notebook.run("e.apply()", cell=1)
    notebook.await_value("e.dirty", False)


def test_what_an_extractor_throws_is_told(editor: Locator) -> None:
    source(editor).fill("() => { throw new Error('no price') }")
    editor.get_by_role("button", name="Try").click()

    expect(editor.get_by_role("alert").filter(has_text="no price")).to_be_visible()
    expect(source(editor)).to_have_value("() => { throw new Error('no price') }")


def test_an_error_leads_to_the_line_of_its_extractor(editor: Locator) -> None:
    source(editor).fill("() => {\n  const price = ;\n  return []\n}")
    editor.get_by_role("button", name="Try").click()

    error = editor.get_by_role("alert").filter(has_text="in line 2 of the extractor of action 1")
    expect(error).to_contain_text("(index shop)")
    expect(editor).not_to_contain_text("actions[0]")
    error.get_by_role("button", name="Go to line 2").click()

    expect(source(editor)).to_be_focused()
    selected = "area => area.value.slice(area.selectionStart, area.selectionEnd)"
    assert source(editor).evaluate(selected) == "  const price = ;"


def test_a_crawler_is_drafted_and_created_before_it_runs(notebook: Notebook, site: Site) -> None:
    editor = notebook.open(f"e = svc.edit.crawler('fresh', value='{site.url}/lamp')\ne")
    expect(editor.locator(".svc-standing")).to_contain_text("Not created yet.")
    expect(editor.get_by_role("button", name="Start crawl")).to_be_disabled()
    expect(editor.get_by_role("button", name="Try", exact=True)).to_be_disabled()

    editor.get_by_role("button", name="Create the crawler…").click()
    dialog = editor.get_by_role("dialog", name="Create the crawler fresh?")
    expect(dialog).to_contain_text(f"It starts at {site.url}/lamp.")
    draw(editor, "crawler-create.png")
    dialog.get_by_role("button", name="Create", exact=True).click()

    expect(editor).to_contain_text("Created. Nothing was crawled yet.")
    expect(editor.get_by_role("button", name="Start crawl")).to_be_enabled()
    editor.get_by_role("button", name="Try", exact=True).click()
    expect(records(editor)).to_contain_text("Reading lamp")


def test_an_invalid_url_is_reported_and_can_be_corrected(editor: Locator, site: Site) -> None:
    attempt(editor, "lamp")
    expect(editor.get_by_text("not the URL of a page")).to_be_visible()

    attempt(editor, f"{site.url}/lamp")
    expect(records(editor)).to_contain_text("Reading lamp")
    expect(editor.get_by_text("not the URL of a page")).to_have_count(0)


def test_what_a_page_says_is_text(editor: Locator, site: Site) -> None:
    attempt(editor, f"{site.url}/evil")

    expect(records(editor)).to_contain_text("<img src=x onerror=alert(1)>")
    expect(editor.locator(".svc-trial img")).to_have_count(0)


def test_patterns_and_json_are_the_same_configuration(
    editor: Locator, notebook: Notebook, site: Site
) -> None:
    pages = editor.get_by_label("Pages: add")
    pages.fill(f"!{site.url}/desk")
    pages.press("Enter")
    notebook.await_value("len(e.value['actions'][0]['pathsToMatch'])", 2)

    editor.get_by_role("tab", name="JSON").click()
    expect(editor.get_by_label("Configuration as JSON")).to_have_value(
        re.compile(f"!{site.url}/desk")
    )


@pytest.mark.parametrize(
    ("theme", "picture"),
    [
        ("JupyterLab Dark", "crawler-editor-dark.png"),
        ("JupyterLab Light", "crawler-editor.png"),
    ],
    ids=["dark", "light"],
)
def test_every_text_can_be_read_by_day_and_by_night(
    editor: Locator, notebook: Notebook, site: Site, theme: str, picture: str
) -> None:
    notebook.change_theme(theme)
    attempt(editor, f"{site.url}/lamp")
    expect(records(editor)).to_contain_text("Reading lamp")

    assert notebook.page.evaluate(CONTRAST) == []
    assert find_violations(notebook.page) == []
    draw(editor, picture)
    notebook.change_theme("JupyterLab Light")


def test_urls_that_failed_are_listed_with_their_reason_and_tried_by_a_click(
    notebook: Notebook, site: Site
) -> None:
    notebook.run("svc.reindex_crawler('shop', wait=True)")
    editor = notebook.open("f = svc.edit.crawler('shop')\nf")

    editor.get_by_role("tab", name="Failed URLs").click()

    failed = editor.get_by_role("list", name="Failed URLs").get_by_role("listitem")
    expect(failed).to_have_count(1)
    expect(failed).to_contain_text(f"{site.url}/desk")
    expect(failed).to_contain_text("http_404 The server answers 404")
    expect(failed).to_contain_text("Found on")
    draw(editor, "crawler-failed-urls.png")
    failed.get_by_role("button").click()
    expect(address(editor)).to_have_value(f"{site.url}/desk")


def test_a_crawl_is_started_from_the_editor(notebook: Notebook, site: Site) -> None:
    notebook.run(
        "client = svc.current()\n"
        "first = client.list_crawlers(name='shop')['items'][0]['id']\n"
        "config = client.get_crawler(first, withConfig=True)['config']\n"
        "config = {name: config[name] for name in ('rateLimit', 'startUrls', 'actions')}\n"
        # Another index than that of the other crawler, whose records must not become fewer.
        "actions = [{**action, 'indexName': 'begun'} for action in config['actions']]\n"
        "client.create_crawler('begun', {**config, 'actions': actions, 'maxUrls': 2})",
        cell=1,
    )
    editor = notebook.open("e = svc.edit.crawler('begun')\ne")
    expect(editor).to_contain_text("Start crawl begins the first crawl")

    editor.get_by_role("button", name="Start crawl").click()
    dialog = editor.get_by_role("dialog", name="Start a crawl of begun?")
    expect(dialog).to_contain_text(f"It starts at {site.url}/lamp")
    expect(dialog).to_contain_text("Its records create the index begun.")
    dialog.get_by_role("button", name="Start crawl").click()

    expect(editor).to_contain_text("Crawled: 2 done", timeout=30_000)
    expect(editor).not_to_contain_text("Not run yet")

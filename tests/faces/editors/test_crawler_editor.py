"""The Python part of the crawler editor, on a real service and a small real website."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import svc_notebook as svc
from svc_notebook.data.client import Client, ClientConfig, Secret, background_loop
from svc_notebook.data.client.crawlers import wait_crawled
from svc_notebook.errors import BadInput, BadOption
from svc_notebook.faces.editors.crawler_editor.editor import CrawlerEditor, SecretMask
from svc_notebook.faces.editors.rpc import wait_for
from svc_notebook.faces.functions.crawler_scripts import MASK
from svc_notebook.faces.magics.extension import run
from tests.conftest import Running, set_current, start_service, stop_service
from tests.service.crawl.site import Site

_NUMBERS = itertools.count(1)
KEY = "s3cr3t-crawler-target-key"
TITLES = "({url, $}) => { console.log('at', url.pathname); return [{title: $('title').text()}] }"
UPPER = "({$}) => [{title: $('title').text().toUpperCase()}]"


@pytest.fixture(scope="module")
def crawling(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service that may crawl this machine."""
    process, running = start_service(tmp_path_factory.mktemp("crawling"), "--allow-private-crawl")
    yield running
    assert stop_service(process) == 0


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site() as site:
        site.html("/", "Home", ["/lamp", "/oak"])
        site.html("/lamp", "A lamp")
        yield site


@pytest.fixture
def client(crawling: Running) -> Iterator[Client]:
    client = Client(
        ClientConfig(
            crawling.appId, Secret(crawling.adminKey), url=crawling.url,
            crawler_user_id=crawling.crawlerUserId,
            crawler_api_key=Secret(crawling.crawlerApiKey),
        )
    )  # fmt: skip
    yield client
    client.close()


@pytest.fixture
def name(client: Client, site: Site, crawling: Running) -> str:
    """A crawler of this test's own."""
    name = f"docs-{next(_NUMBERS)}"
    action = {
        "indexName": "docs",
        "pathsToMatch": [f"{site.url}/**"],
        "recordExtractor": {"__type": "function", "source": TITLES},
    }
    config = {
        "appId": crawling.appId, "apiKey": crawling.adminKey, "rateLimit": 5,
        "startUrls": [f"{site.url}/"], "actions": [action],
        "requestOptions": {"headers": {"x-pass": KEY}},
    }  # fmt: skip
    client.create_crawler(name, config)
    return name


@pytest.fixture
def editor(name: str, client: Client) -> CrawlerEditor:
    return svc.edit.crawler(name, client=client)


def with_source(editor: CrawlerEditor, source: str) -> dict[str, Any]:
    [action] = editor.value["actions"]
    extractor = {**action["recordExtractor"], "source": source}
    return {**editor.value, "actions": [{**action, "recordExtractor": extractor}]}


def test_a_page_is_tried_and_its_records_are_a_frame(editor: CrawlerEditor, site: Site) -> None:
    told = editor.test(f"{site.url}/")

    assert told["error"] is None
    assert list(editor.records.columns[:1]) == ["index"]
    assert editor.records["title"].tolist() == ["Home"]
    assert editor.shown["links"] == [f"{site.url}/lamp", f"{site.url}/oak"]
    assert any("at /" in line for line in editor.shown["lines"])
    assert editor.urls[0] == f"{site.url}/"


def test_the_draft_is_tried_before_it_is_saved(
    editor: CrawlerEditor, name: str, client: Client, site: Site
) -> None:
    editor.value = with_source(editor, UPPER)
    editor.test(f"{site.url}/lamp")

    assert editor.records["title"].tolist() == ["A LAMP"]
    assert editor.dirty
    assert svc.edit.crawler(name, client=client).value == editor.saved


def test_what_fails_is_told_and_nothing_is_lost(editor: CrawlerEditor, site: Site) -> None:
    editor.value = with_source(editor, "({$}) => { throw new Error('no price here') }")
    editor.test(f"{site.url}/lamp")

    assert "no price here" in editor.shown["error"]["message"]
    assert editor.records.empty


@pytest.mark.parametrize("url", ["", "example.com", "ftp://example.com/x", "javascript:1"])
def test_only_pages_are_tried(editor: CrawlerEditor, url: str) -> None:
    with pytest.raises(BadOption, match="is not the URL of a page"):
        editor.test(url)


def test_applying_sends_what_changed_and_keeps_the_secrets(
    editor: CrawlerEditor, name: str, client: Client, crawling: Running
) -> None:
    editor.value = {**with_source(editor, UPPER), "rateLimit": 7}
    assert [one["name"] for one in editor.differing()] == ["rateLimit", "actions"]

    editor.apply()

    assert not editor.dirty
    config = saved(client, name)
    assert (config["rateLimit"], config["actions"][0]["recordExtractor"]["source"]) == (7, UPPER)
    assert config["requestOptions"]["headers"]["x-pass"] == KEY
    assert config["apiKey"] == crawling.adminKey


def test_a_property_taken_out_is_gone_once_applied(
    editor: CrawlerEditor, name: str, client: Client, crawling: Running
) -> None:
    editor.value = {n: held for n, held in editor.value.items() if n != "requestOptions"}
    editor.apply()

    config = saved(client, name)
    assert "requestOptions" not in config
    assert config["apiKey"] == crawling.adminKey


def test_a_new_secret_is_masked_and_saved(editor: CrawlerEditor, name: str, client: Client) -> None:
    editor.value = {**editor.value, "requestOptions": {"headers": {"x-pass": "n3w-s3cret"}}}

    assert editor.dirty
    assert "n3w-s3cret" not in json.dumps(editor.get_state(), default=str)
    editor.apply()
    assert saved(client, name)["requestOptions"]["headers"]["x-pass"] == "n3w-s3cret"


def test_what_somebody_else_changed_is_not_overwritten(
    editor: CrawlerEditor, name: str, client: Client
) -> None:
    editor.value = {**editor.value, "rateLimit": 9}
    other = svc.edit.crawler(name, client=client)
    other.value = {**other.value, "rateLimit": 3}
    other.apply()

    with pytest.raises(BadOption, match="`rateLimit` was changed elsewhere"):
        editor.apply()

    assert saved(client, name)["rateLimit"] == 3
    assert editor.value["rateLimit"] == 9


def test_what_the_service_refuses_is_told_by_its_place(editor: CrawlerEditor) -> None:
    editor.value = {**editor.value, "rateLimit": 0}

    with pytest.raises(svc.errors.Refused, match="rateLimit"):
        editor.apply()

    assert editor.dirty


def test_no_secret_leaves_python(editor: CrawlerEditor, site: Site, crawling: Running) -> None:
    editor.test(f"{site.url}/lamp")

    state = json.dumps(editor.get_state(), default=str, ensure_ascii=False)
    shown = [state, editor.snapshot(), repr(editor)]
    shown += editor.codes().values()
    for text in shown:
        assert KEY not in text
        assert crawling.adminKey not in text
        assert crawling.crawlerApiKey not in text
    assert MASK in shown[0]


def test_undo_brings_the_extractor_back(editor: CrawlerEditor) -> None:
    editor.value = with_source(editor, UPPER)
    editor.undo()

    assert not editor.dirty


def test_the_code_tries_the_page_or_makes_the_changes(editor: CrawlerEditor, name: str) -> None:
    assert f"svc.try_url('{name}'" in editor.codes()["Python"]
    editor.value = {**editor.value, "rateLimit": 7}

    codes = editor.codes()
    assert f"svc.configure_crawler('{name}', changes)" in codes["Python"]
    assert codes["Magic"] == f'%%svc crawlers config {name}\n{{\n  "rateLimit": 7\n}}'
    assert "/config" in codes["curl"]
    editor.apply()
    assert editor.codes() == codes


def test_a_value_is_a_configuration(editor: CrawlerEditor) -> None:
    with pytest.raises(BadInput, match="configuration"):
        editor.value = ["no"]


def test_an_unknown_crawler_is_reported_with_the_known_ones(client: Client, name: str) -> None:
    with pytest.raises(BadInput, match=r"no crawler is named .*did you mean"):
        svc.edit.crawler(f"{name}x", client=client)


def test_the_magic_opens_it(name: str, client: Client, site: Site) -> None:
    set_current(client)

    opened: Any = run(f"edit crawler {name} {site.url}/lamp", None, {})

    assert isinstance(opened, CrawlerEditor)
    assert opened.urls[0] == f"{site.url}/lamp"


SECRET = st.text(min_size=1, max_size=5)


def test_urls_that_failed_are_listed(editor: CrawlerEditor, client: Client, site: Site) -> None:
    done = client.reindex_crawler(editor._crawler)
    background_loop.run(wait_crawled(client.aio, editor._crawler, [done["taskId"]], timeout=30))

    told = wait_for(editor.list_failed())

    failed = editor.failed
    assert failed["url"].tolist() == [f"{site.url}/oak"]
    assert failed["referrer"].tolist() == [f"{site.url}/"]
    assert told == {
        "rows": [
            {
                "url": f"{site.url}/oak",
                "reason": "http_404",
                "message": "The server answers 404 (Not Found)",
                "referrer": f"{site.url}/",
            }
        ],
        "more": False,
    }


CONFIGS = st.fixed_dictionaries(
    {},
    optional={
        "apiKey": SECRET,
        "rateLimit": st.integers(1, 9),
        "requestOptions": st.fixed_dictionaries({"headers": st.dictionaries(st.text(), SECRET)}),
        "login": st.lists(st.fixed_dictionaries({"url": SECRET}), max_size=2),
    },
)


@given(CONFIGS, CONFIGS)
def test_masked_secrets_are_restored(first: dict[str, Any], second: dict[str, Any]) -> None:
    veil = SecretMask()
    saved, draft = veil.hide_saved(first), veil.hide_new(second)

    assert veil.restore(saved) == first
    assert veil.restore(draft) == second
    assert veil.restore(veil.hide_new(draft)) == second
    assert saved.get("apiKey", MASK) == MASK


def test_an_unknown_masked_secret_is_not_sent() -> None:
    with pytest.raises(BadOption, match=r"`requestOptions\.headers\.x` is masked"):
        SecretMask().restore({"requestOptions": {"headers": {"x": MASK}}})


def test_a_crawler_is_drafted_created_and_run(client: Client, site: Site) -> None:
    name = f"new-{next(_NUMBERS)}"
    editor = svc.edit.crawler(name, value=f"{site.url}/", client=client)
    assert editor.state["isNew"]
    assert f"svc.create_crawler('{name}', config)" in editor.codes()["Python"]
    with pytest.raises(BadOption, match="apply the draft first"):
        editor.test(f"{site.url}/lamp")
    first, second, *_ = wait_for(editor.describe_crawl(draft=True))
    assert first == f"It starts at {site.url}/."
    assert second == f"Its records create the index {name}."

    editor.apply()

    assert (editor.dirty, editor.state["isNew"]) == (False, False)
    assert f"svc.create_crawler('{name}', config)" in editor.codes()["Python"]
    assert editor.value["startUrls"] == [f"{site.url}/"]
    assert wait_for(editor.start_crawl())["done"] == 2
    assert f"{name}, which has 2 records" in wait_for(editor.describe_crawl())[1]


@pytest.mark.parametrize(
    ("source", "message", "line"),
    [
        ("({$}) => {\n  throw new Error('no price')\n}", "Error: no price in line 2", 2),
        ("({$}) => {\n  const a = ;\n}", "SyntaxError: Unexpected token ';' in line 2", 2),
        (
            "({$}) => 5",
            "extractor of action 1 (index docs): TypeError: it returned a number",
            0,
        ),
    ],
    ids=["throws", "syntax", "result"],
)
def test_an_error_names_the_line_of_the_extractor(
    editor: CrawlerEditor, site: Site, source: str, message: str, line: int
) -> None:
    editor.value = with_source(editor, source)
    editor.test(f"{site.url}/lamp")

    error = editor.shown["error"]
    assert message in error["message"]
    assert "actions[" not in error["message"]
    assert (error["action"], error["line"]) == (0, line)


def test_a_refused_action_is_named_without_a_path(editor: CrawlerEditor) -> None:
    editor.value = with_source(editor, "({$}) => {\n  const a = ;\n}")
    with pytest.raises(BadInput, match=r"in line 2 of the extractor of action 1 \(index docs\)"):
        editor.apply()

    editor.value = {**editor.saved, "actions": [{**editor.saved["actions"][0], "pathsToMatch": 3}]}
    with pytest.raises(BadInput, match=r"`pathsToMatch` of action 1 \(index docs\) must be"):
        editor.apply()


def saved(client: Client, name: str) -> dict[str, Any]:
    [found] = client.list_crawlers(name=name)["items"]
    told: Any = client.get_crawler(found["id"], withConfig=True)
    return dict(told["config"])


@pytest.mark.slow
def test_a_script_becomes_the_draft_and_keeps_the_key(editor: CrawlerEditor) -> None:
    key = editor.value["apiKey"]
    text = "new Crawler({ rateLimit: 3, actions: [{ indexName: 'a', recordExtractor: () => [] }] })"

    wait_for(editor.take_script(text))

    assert editor.value["rateLimit"] == 3
    assert editor.value["apiKey"] == key
    assert "startUrls" not in editor.value
    editor.undo()
    assert "startUrls" in editor.value
    script: Any = editor.codes()["JavaScript"].replace("rateLimit: 5", "rateLimit: 4")
    editor.edit(script)
    assert editor.value == {**editor.saved, "rateLimit": 4}

"""The search of the documentation answers questions within its first three results."""

from __future__ import annotations

import functools
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.conftest import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(300)]
MAX_RESULT = 3
POLL_MS = 50  # every frame would look through the whole page
# A question, and the beginnings of addresses that answer it.
QUESTIONS: dict[str, tuple[str, ...]] = {
    "delete an index": ("tasks.html#delete-an-index", "reference/functions/indices.html"),
    "filters OR": ("tasks.html#filters", "parameters.html"),
    "cancel a load": ("tasks.html#cancel-a-load", "how-to/resume.html"),
    "marimo": ("how-to/marimo.html", "tasks.html#marimo"),
    "polars": ("how-to/polars.html", "tasks.html#polars"),
    "vs code": ("tasks.html#vs-code", "editors.html"),
    "colab": ("tasks.html#vs-code", "editors.html"),
    "connect": ("tasks.html#connect", "reference/functions/connection.html"),
    "local service": ("tasks.html#local-service", "differences.html"),
    "api key": ("tasks.html#store-an-api-key", "how-to/team-keys.html", "reference/functions/keys"),
    "timeout": ("tasks.html#change-the-time-out", "client.html"),
    "where is my data": ("tasks.html#where-is-my-data",),
    "profile": ("tasks.html#use-another-profile", "reference/functions/connection.html", "magics"),
    "load csv": ("tasks.html#load-a-csv", "how-to/messy-csv.html", "bulk.html"),
    "parquet": ("tasks.html#load-a-parquet", "bulk.html"),
    "excel": ("tasks.html#load-an-excel", "bulk.html"),
    "dataframe push": ("tasks.html#load-a-dataframe", "reference/functions/", "bulk.html"),
    "sql database": ("tasks.html#load-from-a-database", "bulk.html"),
    "resume load": ("tasks.html#resume-a-load", "how-to/resume.html"),
    "undo load": ("tasks.html#undo-a-load", "reference/functions/loads", "magics.html"),
    "dry run": ("tasks.html#try-a-load", "bulk.html"),
    "rejected rows": ("tasks.html#rejected-rows", "how-to/messy-csv.html", "bulk.html"),
    "partial update": ("tasks.html#update-only-some", "bulk.html"),
    "load only changes": ("tasks.html#load-only-what", "how-to/delta-load.html"),
    "export index": ("tasks.html#export-an-index", "reference/functions/loads.html", "magics"),
    "read all records": ("tasks.html#read-all-records", "reference/functions/searches.html"),
    "delete records": ("tasks.html#delete-records", "reference/functions/loads.html"),
    "clear index": ("tasks.html#empty-an-index", "reference/functions/indices.html"),
    "rename index": ("tasks.html#rename-or-move",),
    "copy index": ("tasks.html#copy-an-index", "reference/functions/indices.html"),
    "list indices": ("tasks.html#list-indices",),
    "sort by price": ("tasks.html#sort-by-price",),
    "filter by date": ("tasks.html#filter-by-a-date",),
    "facet values": ("tasks.html#count-facet", "reference/functions/searches.html"),
    "record not found": ("tasks.html#why-is-a-record", "troubleshooting.html"),
    "why ranked": ("tasks.html#why-is-a-hit", "ranking.html"),
    "zero results": ("tasks.html#searches-without", "troubleshooting.html", "how-to/analytics"),
    "typo tolerance": ("tasks.html#typo-tolerance", "ranking.html"),
    "many queries": ("tasks.html#search-many",),
    "semantic search": ("tasks.html#semantic-search", "differences.html"),
    "japanese": ("tasks.html#search-by-language", "parameters.html"),
    "change settings": ("tasks.html#change-settings", "tasks.html#undo-a-change"),
    "reset setting": ("tasks.html#reset-a-setting", "reference/functions/indices.html"),
    "add synonyms": ("tasks.html#add-synonyms", "editors.html#the-synonym-editor"),
    "pin a record": ("tasks.html#pin-a-record",),
    "hide a record": ("tasks.html#hide-a-record",),
    "stop words": ("tasks.html#stop-words", "parameters.html"),
    "undo settings": ("tasks.html#undo-a-change",),
    "settings in git": ("tasks.html#keep-settings", "how-to/config-in-git.html"),
    "deploy to production": ("tasks.html#deploy", "how-to/promote.html"),
    "ndcg": ("tasks.html#measure-relevance", "metrics.html"),
    "judge hits": ("tasks.html#judge-hits", "how-to/judge-together.html"),
    "compare indices": ("tasks.html#compare-two",),
    "a/b test": ("tasks.html#ab-test", "how-to/ab-tests.html"),
    "logs": ("tasks.html#read-the-logs", "magics.html#logs", "reference/functions/operation"),
    "popular queries": ("tasks.html#popular", "how-to/analytics.html"),
    "crawl a website": ("tasks.html#crawl-a-website", "how-to/crawl-docs.html"),
    "failed urls": ("tasks.html#a-crawl-has-failed", "crawlers.html", "editors.html"),
    "javascript pages": ("tasks.html#crawl-pages", "how-to/crawl-single-page-shop.html"),
    "open an editor": ("tasks.html#open-an-editor", "editors.html"),
    "dask": ("tasks.html#dask", "how-to/dask.html"),
    "github actions": ("tasks.html#use-in-ci", "how-to/ci.html", "how-to/relevance-tests.html"),
    "mcp agents": ("tasks.html#agents", "how-to/agents.html"),
}
# JavaScript: the results of the dialog, whose parts have no names of their own.
LIST_RESULTS = """() => {
    const roots = [...document.querySelectorAll("body *")].map(el => el.shadowRoot).filter(Boolean);
    return roots.flatMap(root => [...root.querySelectorAll("a[href]")].map(link => link.href));
}"""
HAS_DIALOG = "() => [...document.querySelectorAll('body *')].some(el => el.shadowRoot)"
# JavaScript: whether results are there, and the same as before for a while.
IS_STILL = f"""() => {{
    const seen = ({LIST_RESULTS})().join();
    if (seen !== window.seen) [window.seen, window.since] = [seen, performance.now()];
    return seen && performance.now() - window.since > 400;
}}"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves the site and prints no requests."""

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def search(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The site without outputs, with its search open."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "docs/build.py", "--no-run", "--into", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    handler = functools.partial(Quiet, directory=str(folder / "site"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page = chromium.new_context().new_page()
    page.goto(f"http://127.0.0.1:{server.server_port}/index.html")
    page.keyboard.press("/")
    page.wait_for_function(HAS_DIALOG)
    yield page
    page.context.close()
    server.shutdown()
    server.server_close()


def find(page: Page, question: str) -> list[str]:
    """The addresses of the results, best first."""
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    shows_none = f"() => !({LIST_RESULTS})().some(link => link.includes('?h='))"
    page.wait_for_function(shows_none, polling=POLL_MS)
    page.keyboard.insert_text(question)  # one search, not one for each letter
    page.wait_for_function(IS_STILL, polling=POLL_MS)
    found: list[str] = page.evaluate(LIST_RESULTS)
    base = page.url.rpartition("/")[0] + "/"
    return [_without_query(address.removeprefix(base)) for address in found]


def _without_query(address: str) -> str:
    path, _, rest = address.partition("?")
    return f"{path}#{rest.partition('#')[2]}"


def test_questions_are_answered_by_the_first_results(search: Page) -> None:
    first = {question: find(search, question)[:MAX_RESULT] for question in QUESTIONS}

    unanswered = {
        question: first[question]
        for question, answers in QUESTIONS.items()
        if not any(address.startswith(answers) for address in first[question])
    }
    assert len(QUESTIONS) >= 60
    assert unanswered == {}

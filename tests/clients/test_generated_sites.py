"""Sites that Docusaurus and VitePress build are crawled as their templates say, and searched.

Docusaurus' own theme searches: its DocSearch runs in a real browser, and only the addresses of the
hosted service lead to the service here.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.clients.test_docsearch import EXTRACTOR, crawl
from tests.conftest import Running
from tests.peers.javascript import install

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(900)]
PACKAGES = (
    "@docusaurus/core@3.9.2", "@docusaurus/preset-classic@3.9.2", "react@19.1.0",
    "react-dom@19.1.0", "webpack@5.101.3", "vitepress@1.6.4", "vue@3.5.18",
)  # fmt: skip
DOCUSAURUS = """module.exports = {
  title: "Pumps", url: process.env.SITE, baseUrl: "/", trailingSlash: true, onBrokenLinks: "ignore",
  presets: [["classic", { docs: {}, blog: false, pages: false }]],
  themeConfig: { algolia: {
    appId: process.env.APP, apiKey: process.env.KEY, indexName: "docusaurus",
    contextualSearch: true,
  } },
};"""
VITEPRESS = """export default { title: "Pumps", themeConfig: { sidebar: [{ text: "Guide", items: [
  { text: "Pump", link: "/docs/pump" }, { text: "Valve", link: "/docs/valve" } ] }] } };"""
# The extractor that VitePress' users are given.
VITEPRESS_EXTRACTOR = """({ $, helpers }) => helpers.docsearch({
  recordProps: {
    lvl0: { selectors: "section.has-active div h2", defaultValue: "Documentation" },
    lvl1: ".content h1", lvl2: ".content h2", lvl3: ".content h3", lvl4: ".content h4",
    content: ".content p, .content li",
  },
  indexHeadings: true, aggregateContent: true, recordVersion: "v3",
})"""


def write_page(name: str, opening: str) -> str:
    return (
        f"# {name}\n\n{opening} {name.lower()}.\n\n## Install\n\nHow to install it with "
        f"`npm install {name.lower()}`.\n\n### Windows\n\nOn Windows run the installer.\n\n"
        f"## Clean\n\nHow to clean it.\n"
    )


def write_files(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def packages(pytestconfig: pytest.Config) -> Path:
    """The site generators."""
    return install(pytestconfig.cache.mkdir("clients-sites"), PACKAGES)


def build(packages: Path, folder: Path, program: str, **env: str) -> None:
    """Run a site generator in a folder; modules are found beside its files."""
    (folder / "node_modules").symlink_to(packages / "node_modules")
    (folder / "tmp").mkdir()
    set_env = {**os.environ, "CI": "1", "TMPDIR": str(folder / "tmp"), **env}
    command = ["node", "--preserve-symlinks", f"node_modules/{program}", "build"]
    done = subprocess.run(
        command, cwd=folder, env=set_env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serve a folder that may be filled later; yields its address."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Keep quiet."""

    handler = partial(Handler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def forward_to(service: Running, route: Route) -> None:
    """Send a request for a host of the hosted service to the service."""
    path = route.request.url.split("/", 3)[3]
    route.fulfill(response=route.fetch(url=f"{service.url}/{path}"))


def test_the_theme_of_docusaurus_finds_the_sections_of_the_version_that_is_read(
    empty: Page, api: httpx.Client, service: Running, packages: Path, tmp_path: Path
) -> None:
    pages = {f"docs/{name.lower()}.md": write_page(name, "About") for name in ("Pump", "Valve")}
    old = {
        "versioned_docs/version-1.0/pump.md": write_page("Pump", "The old"),
        "versions.json": '["1.0"]',
    }
    folder = write_files(tmp_path, {**pages, **old, "docusaurus.config.js": DOCUSAURUS})
    with serve(folder / "build") as address:
        env = {"SITE": address, "APP": service.appId, "KEY": service.searchKey}
        build(packages, folder, "@docusaurus/core/bin/docusaurus.mjs", **env)
        crawl(
            service, address, "docusaurus", EXTRACTOR,
            startUrls=[f"{address}/docs/pump/"], sitemaps=[f"{address}/sitemap.xml"],
        )  # fmt: skip
        everything = {"attributesToRetrieve": ["*"]}
        records = api.post("/1/indexes/docusaurus/browse", json=everything).json()["hits"]
        tags = {(record["docusaurus_tag"], *record["version"]) for record in records}
        assert {("docs-default-1.0", "1.0"), ("docs-default-current", "current")} <= tags
        assert {record["hierarchy"]["lvl1"] for record in records} >= {"Pump", "Valve"}
        empty.route("**/*.algolia.net/**", partial(forward_to, service))
        empty.route("**/*.algolianet.com/**", partial(forward_to, service))

        shown = {}
        for below in ("docs/pump/", "docs/next/pump/"):
            empty.goto(f"{address}/{below}")
            empty.locator(".DocSearch-Button").click()
            empty.locator(".DocSearch-Input").press_sequentially("instal", delay=20)
            hits = empty.locator(".DocSearch-Hit a")
            expect(hits.first.locator("mark").first).to_have_text("Instal")
            shown[below] = sorted({f"{hit.get_attribute('href')}" for hit in hits.all()})
        empty.unroute_all(behavior="ignoreErrors")  # a request may be on its way

    assert shown == {
        "docs/pump/": ["/docs/pump/#install", "/docs/pump/#windows"],
        "docs/next/pump/": [
            f"/docs/next/{page}/#{section}"
            for page in ("pump", "valve")
            for section in ("install", "windows")
        ],
    }


def test_pages_of_vitepress_are_found_by_their_sections(
    api: httpx.Client, service: Running, packages: Path, tmp_path: Path
) -> None:
    pages = {f"docs/{name.lower()}.md": write_page(name, "About") for name in ("Pump", "Valve")}
    home = "# Home\n\nSee the [pump](/docs/pump) and the [valve](/docs/valve).\n"
    config = {".vitepress/config.mjs": VITEPRESS, "index.md": home}
    folder = write_files(tmp_path, {**pages, **config})
    with serve(folder / ".vitepress" / "dist") as address:
        build(packages, folder, "vitepress/bin/vitepress.js")
        crawl(service, address, "vitepress", VITEPRESS_EXTRACTOR)

    query = {"query": "windows installer", "hitsPerPage": 10}
    hits = api.post("/1/indexes/vitepress/query", json=query).json()["hits"]
    assert sorted(hit["url"] for hit in hits) == [
        f"{address}/docs/{page}.html#windows" for page in ("pump", "valve")
    ]
    assert {hit["hierarchy"]["lvl2"].rstrip("\u200b ") for hit in hits} == {"Install"}

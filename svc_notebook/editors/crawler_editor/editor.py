"""The crawler editor: its value is a crawler's configuration, tried on pages before it is saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import traitlets
from pandas import DataFrame

from svc_notebook import frames
from svc_notebook.api.validation import same
from svc_notebook.client.crawlers import crawler_id, wait_crawled
from svc_notebook.client.tasks import Tasks
from svc_notebook.editors.base import JSON, Editor
from svc_notebook.editors.bundle import read_module, read_styles
from svc_notebook.editors.crawler_editor.secret_mask import SecretMask
from svc_notebook.editors.crawler_editor.trial import draw_trial, to_frame
from svc_notebook.editors.rpc import call, wait_for
from svc_notebook.editors.snapshot import write_json, write_line
from svc_notebook.editors.snippets import write_crawler
from svc_notebook.editors.traits import Texts
from svc_notebook.errors import BadInput, BadOption

Config = dict[str, Any]
CONFIGURATION_SECONDS = 60.0  # seconds for a new configuration to be taken up
MOST_FAILED = 200  # URLs that a view lists
STANDING = ("running", "reindexing", "blocked", "blockingError", "warnings")


class CrawlerEditor(Editor):
    """Change a crawler's configuration, and see the records that it extracts from a page.

    `value` is the configuration with masked secrets. `test(url)` fetches one page and runs the
    draft's extractors on it, without storing anything; `trial` is its result, `records` the records
    as a DataFrame. `urls` are the offered pages, the most recently tried first.
    """

    title: ClassVar[str] = "Crawler editor"
    needs: ClassVar[str] = "crawler"
    _esm = read_module("crawler.js")
    _css = read_styles("kit/kit.css", "crawler.css")

    urls: Any = Texts("url").tag(sync=True)
    shown: Any = traitlets.Dict().tag(sync=True, **JSON)

    def __init__(self, crawler: str, *, urls: Any = (), **options: Any) -> None:
        self.trial: dict[str, Any] = {}
        self._crawler = ""
        self._veil = SecretMask()
        self._standing: dict[str, Any] = {}
        super().__init__(crawler, urls=urls, **options)

    # What an editor says of itself.

    async def find_lack(self) -> str:
        """A crawler's user may do everything with it, and nobody else reads it."""
        return ""

    async def load(self) -> Config:
        """Read the configuration, and how the crawler stands."""
        self._crawler = await crawler_id(self.client, self.index)
        told: Any = await self.client.get_crawler(self._crawler, withConfig=True)
        self._standing = {name: told.get(name) for name in STANDING}
        config: Config = self._veil.hide_saved(told.get("config") or {})
        return config

    def check(self, value: Any) -> Config:
        """Take an object; the service checks the rest, as soon as it is tried."""
        if not isinstance(value, Mapping):
            raise BadInput("the value of a crawler editor is a configuration, as a dict")
        checked: Config = self._veil.hide_new(dict(value))
        return checked

    async def save(self, saved: Config, value: Config) -> Tasks:
        """Send what changed and nothing else, unless somebody else changed the same."""
        now = await self.load()
        touched = [
            name for name in {**saved, **value} if not same(saved.get(name), value.get(name))
        ]
        if meanwhile := [name for name in touched if not same(saved.get(name), now.get(name))]:
            raise BadOption(
                f"`{meanwhile[0]}` was changed meanwhile: reload to see it; your changes stay"
            )
        gone = {name for name in saved if name not in value}
        if gone:
            whole = {name: held for name, held in {**now, **value}.items() if name not in gone}
            done = await self.client.update_crawler(self._crawler, config=self._real(whole))
        elif changes := self._changes(saved, value):
            done = await self.client.update_crawler_config(self._crawler, self._real(changes))
        else:
            return ()
        await wait_crawled(
            self.client, self._crawler, [done["taskId"]], timeout=CONFIGURATION_SECONDS
        )
        return ()

    def picture(self) -> str:
        """Write what the last test gave, or else the configuration."""
        if not self.shown:
            return write_json(self.value)
        error = self.shown["error"]
        told = [
            write_line(f"{self.shown['url']}: {self.shown['linkCount']:,} links"),
            write_line(f"{error['code']}: {error['message']}") if error else "",
        ]
        for action in self.shown["actions"]:
            told.append(write_line(f"{action['index']}: {action['count']:,} records"))
            told += [f"{write_line(record['text'], tag='pre')}" for record in action["records"]]
        return "".join(told)

    def codes(self) -> dict[str, str]:
        """How to try the page and to change the configuration; secrets stay veiled."""
        url = self.shown.get("url") or next(iter(self._offered()), "https://example.com/")
        changes = self._changes(self.saved, self.value)
        return write_crawler(self.client.connection, self.index, self._crawler, url, changes)

    # For cells.

    def test(self, url: str) -> dict[str, Any]:
        """Fetch a page and run the draft on it; return the complete response of the service."""
        wait_for(self.run_test(url))
        return self.trial

    @property
    def records(self) -> DataFrame:
        """The records of the last test, `index` first; none before there was one."""
        return to_frame(self.trial)

    @property
    def failed(self) -> DataFrame:
        """The URLs of the last crawl that failed, as `read_crawled_urls` has them."""
        found: DataFrame = wait_for(
            frames.read_crawled_urls(self.client, self._crawler, status="FAILED")
        )
        return found

    # For views.

    @call(latest=True)
    async def run_test(self, url: str) -> None:
        """Try the draft on a page; a test that is under way is left."""
        url = url.strip()
        if not url.startswith(("http://", "https://")):
            raise BadOption(f"`{url}` is no address of a page: https://example.com/page")
        self._tell(busy="testing")
        try:
            changes = self._real(self._changes(self.saved, self.value))
            if any(name not in self.value for name in self.saved):
                changes = self._real(self.value)
            told = await self.client.test_crawler_url(self._crawler, url, changes or None)
        finally:
            self._tell(busy="")
        self.trial = dict(told)
        self.shown = draw_trial(url, told)
        self.urls = [url, *(other for other in self.urls if other != url)]
        self._fallback.follow()

    @call
    def differing(self) -> list[dict[str, Any]]:
        """List the properties that applying would change; `before` or `after` is left out."""
        sides = {"before": self.saved, "after": self.value}
        return [
            {
                "name": name,
                **{side: config[name] for side, config in sides.items() if name in config},
            }
            for name in {**self.saved, **self.value}
            if not same(self.saved.get(name), self.value.get(name))
        ]

    @call(latest=True)
    async def list_failed(self) -> dict[str, Any]:
        """List the first URLs of the last crawl that failed, why, and where each was found."""
        found = await frames.read_crawled_urls(
            self.client, self._crawler, status="FAILED", limit=MOST_FAILED + 1
        )
        texts = found[["url", "reason", "message", "referrer"]].astype(object)
        rows = texts.where(texts.notna(), "").to_dict("records")
        return {"rows": rows[:MOST_FAILED], "more": len(rows) > MOST_FAILED}

    @call
    async def refresh(self) -> None:
        """Read what is saved, and how the crawler stands."""
        await super().refresh()
        self._tell(**self._standing)

    # The rest.

    async def _begin(self, value: Any) -> None:
        await super()._begin(value)
        self._tell(**self._standing)
        self.urls = self._offered()

    def _offered(self) -> list[str]:
        """The pages that were tried or asked for, then those that a crawl begins at."""
        starts = self.value.get("startUrls") or []
        listed = starts if isinstance(starts, list) else []
        return list(dict.fromkeys([*self.urls, *(url for url in listed if isinstance(url, str))]))

    def _changes(self, saved: Config, value: Config) -> Config:
        return {
            name: held
            for name, held in value.items()
            if name not in saved or not same(held, saved[name])
        }

    def _real(self, config: Config) -> Config:
        real: Config = self._veil.lift(config)
        return real

"""The crawler editor: its value is a crawler's configuration, tried on pages before it is saved."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import traitlets
from pandas import DataFrame

from svc_notebook.core.api.validation import same
from svc_notebook.core.display import format_count
from svc_notebook.data import frames
from svc_notebook.data.client import ID, Tasks, count_ends, crawler_id, list_all, wait_crawled
from svc_notebook.errors import BadInput, BadOption, Refused, SvcError
from svc_notebook.faces.editors.base import JSON, Editor
from svc_notebook.faces.editors.bundle import read_module, read_styles
from svc_notebook.faces.editors.changes import Draft
from svc_notebook.faces.editors.crawler_editor.display import (
    describe_crawl,
    draw_trial,
    find_action_error,
    list_targets,
    to_frame,
    write_changes,
    write_configuration,
    write_trial,
)
from svc_notebook.faces.editors.rpc import call, explain, report_progress, wait_for
from svc_notebook.faces.editors.snippets import write_crawler, write_new_crawler
from svc_notebook.faces.editors.traits import Texts
from svc_notebook.faces.functions.crawler_configuration import (
    SECRETS,
    START_ADDRESS,
    config_of_address,
)
from svc_notebook.faces.functions.crawler_scripts import MASK, read_script, write_script

Place = tuple[str | int, ...]

Config = dict[str, Any]
CONFIGURATION_SECONDS = 60.0  # timeout of the task that applies a configuration
MAX_FAILED_URLS = 200  # listed in a view
STATUS_FIELDS = (
    "running", "reindexing", "blocked", "blockingError", "warnings",
    "lastReindexStartedAt", "lastReindexStartAt",
)  # fmt: skip


class CrawlerEditor(Editor):
    """Change a crawler's configuration, and see the records that it extracts from a page.

    `value` is the configuration with masked secrets. `test(url)` fetches one page and runs the
    draft's extractors on it, without storing anything; `trial` is its result, `records` the records
    as a DataFrame. `urls` are the offered pages, the most recently tried first. With an initial
    value, a crawler that does not exist is drafted, and created when the draft is applied.
    """

    title: ClassVar[str] = "Crawler editor"
    needs: ClassVar[str] = "crawler"
    _esm = read_module("crawler.js")
    _css = read_styles("kit/kit.css", "crawler.css")

    decided = ("draft",)

    draft: Any = traitlets.Dict(read_only=True).tag(sync=True, **JSON)
    urls: Any = Texts("url").tag(sync=True)
    shown: Any = traitlets.Dict().tag(sync=True, **JSON)

    def __init__(self, crawler: str, *, urls: Any = (), **options: Any) -> None:
        self.trial: dict[str, Any] = {}
        self._crawler = ""
        self._mask = SecretMask()
        self._status: dict[str, Any] = {}
        self._drafts_new = options.get("value") is not None
        super().__init__(crawler, urls=urls, **options)

    # Methods of the base class.

    async def find_missing_right(self) -> str:
        """Return nothing: a user that can read a crawler may change it."""
        return ""

    async def load(self) -> Config:
        """Read the configuration and the status of the crawler; a new one has neither."""
        if self._drafts_new and not await self._exists():
            self._status = {"isNew": True}
            return {}
        self._crawler = await crawler_id(self.client, self.index)
        crawler: Any = await self.client.get_crawler(self._crawler, withConfig=True)
        self._status = {"isNew": False} | {name: crawler.get(name) for name in STATUS_FIELDS}
        config: Config = self._mask.hide_saved(crawler.get("config") or {})
        return config

    def check(self, value: Any) -> Config:
        """Accept any object, a script or a start address; the service validates its members."""
        if isinstance(value, str) and START_ADDRESS.fullmatch(value.strip()):
            value = config_of_address(self.index, value.strip())
        elif isinstance(value, str):
            value = self._keep_key(read_script(value, keep_masks=True))
        if not isinstance(value, Mapping):
            raise BadInput("the value of a crawler editor must be a dict: a configuration")
        checked: Config = self._mask.hide_new(dict(value))
        return checked

    async def save(self, saved: Config, value: Config) -> Tasks:
        """Send only the changed properties; raise `BadOption` if one was also changed elsewhere.

        A new crawler is created with all of them.
        """
        if not self._crawler:
            await self._create(value)
            return ()
        now = await self.load()
        _refuse_conflicts(saved, value, now)
        if removed := saved.keys() - value.keys():
            config = {
                name: member for name, member in {**now, **value}.items() if name not in removed
            }
            done = await self.client.update_crawler(
                self._crawler, config=self._mask.restore(config)
            )
        elif changes := self._changes(saved, value):
            done = await self.client.update_crawler_config(
                self._crawler, self._mask.restore(changes)
            )
        else:
            return ()
        await wait_crawled(
            self.client, self._crawler, [done["taskId"]], timeout=CONFIGURATION_SECONDS
        )
        return ()

    def list_decisions(self, draft: Draft) -> dict[str, Any]:
        """Return the changed properties; None removes a property."""
        removed = dict.fromkeys(name for name in draft.saved if name not in draft.value)
        return {"draft": {**self._changes(draft.saved, draft.value), **removed}}

    def write_html(self) -> str:
        """Write the changes, the configuration and the result of the last test as tables."""
        tables = write_changes(self.differing()) + write_configuration(self.value)
        return tables + (write_trial(self.shown) if self.shown else "")

    def codes(self) -> dict[str, str]:
        """Write how to try the page and to change the configuration; secrets stay masked."""
        if not self.changed_from:
            return {
                **write_new_crawler(self.client.connection, self.index, self.value),
                "JavaScript": write_script(self.value),
            }
        url = self.shown.get("url") or next(iter(self._list_pages()), "https://example.com/")
        changes = self._changes(self.changed_from, self.value)
        snippets = write_crawler(self.client.connection, self.index, self._crawler, url, changes)
        return {**snippets, "JavaScript": write_script(self.value)}

    # Methods for cells.

    def test(self, url: str) -> dict[str, Any]:
        """Fetch a page and run the draft on it; return the complete response of the service."""
        wait_for(self.run_test(url))
        return self.trial

    @property
    def records(self) -> DataFrame:
        """The records of the last test, `index` first; empty before the first test."""
        return to_frame(self.trial)

    @property
    def failed(self) -> DataFrame:
        """The URLs of the last crawl that failed, as `read_crawled_urls` has them."""
        failed_urls: DataFrame = wait_for(
            frames.read_crawled_urls(self.client, self._crawler, status="FAILED")
        )
        return failed_urls

    # Calls for views.

    @call
    async def take_script(self, text: str) -> None:
        """Set the draft to the configuration that JavaScript such as `new Crawler({})` describes.

        A key that the script does not have stays.
        """
        self._refuse_read_only()
        config = await asyncio.to_thread(read_script, text, keep_masks=True)
        checked = self.check(self._keep_key(config))
        self._change_draft(lambda draft: draft.put(checked))

    @call(latest=True)
    async def run_test(self, url: str) -> None:
        """Try the draft on a page; a running test is cancelled."""
        url = url.strip()
        if not url.startswith(("http://", "https://")):
            raise BadOption(f"`{url}` is not the URL of a page such as https://example.com/page")
        self._check_created("try pages")
        self._update_state(busy="testing")
        try:
            is_shorter = any(name not in self.value for name in self.saved)
            changes = self._mask.restore(
                self.value if is_shorter else self._changes(self.saved, self.value)
            )
            self.trial = dict(
                await self.client.test_crawler_url(self._crawler, url, changes or None)
            )
        except Refused as error:
            if not find_action_error(str(error), self.value):
                raise
            self.trial = {"error": str(error)}
        finally:
            self._update_state(busy="")
        self.shown = draw_trial(url, self.trial, self.value)
        self.urls = [url, *(other for other in self.urls if other != url)]
        self._fallback.follow()

    @call
    async def write(self) -> None:
        """Apply the draft; an error of an action names its extractor and line."""
        was_new = not self._crawler
        try:
            await super().write()
        except Refused as error:
            if fault := find_action_error(str(error), self.value):
                refused = BadInput(fault.message)
                self._update_state(error=explain(refused))
                raise refused from error
            raise
        if was_new:
            await self.refresh()

    @call
    async def describe_crawl(self, draft: bool = False) -> list[str]:
        """Describe a crawl with the saved configuration, or with the draft."""
        config = self.value if draft else self.saved
        try:
            listed = (await self.client.list_indices())["items"]
        except SvcError:  # the key may not list indices
            listed = []
        targets = list_targets(config)
        records = {entry["name"]: entry["entries"] for entry in listed if entry["name"] in targets}
        return [*describe_crawl(config, records)]

    @call
    async def start_crawl(self) -> dict[str, int]:
        """Crawl with the saved configuration; return the numbers of URLs by outcome."""
        self._check_created("start a crawl")
        if self.dirty:
            raise BadOption("apply the changes first: a crawl uses the saved configuration")
        started = await self.client.reindex_crawler(self._crawler)
        self._update_state(reindexing=True)
        try:
            await wait_crawled(
                self.client, self._crawler, [started["taskId"]], timeout=None,
                on_count=lambda urls: report_progress(0, 0, format_count(urls, "URL")),
            )  # fmt: skip
        finally:
            await self.refresh()
        return await count_ends(self.client, self._crawler)

    @call
    def differing(self) -> list[dict[str, Any]]:
        """List the changed properties, without `before` if added and `after` if removed."""
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
        if not self._crawler:
            return {"rows": [], "more": False}
        urls = await frames.read_crawled_urls(
            self.client, self._crawler, status="FAILED", limit=MAX_FAILED_URLS + 1
        )
        texts = urls[["url", "reason", "message", "referrer"]].astype(object)
        rows = texts.where(texts.notna(), "").to_dict("records")
        return {"rows": rows[:MAX_FAILED_URLS], "more": len(rows) > MAX_FAILED_URLS}

    @call
    async def refresh(self) -> None:
        """Read the saved configuration and the status of the crawler."""
        await super().refresh()
        self._update_state(**self._status)

    # Internals.

    async def _exists(self) -> bool:
        listed = await list_all(self.client, self.index)
        return bool(ID.fullmatch(self.index)) or any(
            entry["name"] == self.index for entry in listed
        )

    def _check_created(self, action: str) -> None:
        if not self._crawler:
            raise BadOption(f"apply the draft first, which creates the crawler; then {action}")

    async def _create(self, value: Config) -> None:
        if await self._exists():
            raise BadOption(
                f"a crawler {self.index} was created elsewhere: open its editor without a value"
            )
        created = await self.client.create_crawler(self.index, self._mask.restore(value))
        self._crawler = created["id"]

    async def _begin(self, value: Any) -> None:
        await super()._begin(value)
        self._update_state(**self._status)
        self.urls = self._list_pages()

    def _list_pages(self) -> list[str]:
        """Return the pages to offer: those tried or given, then the start URLs."""
        starts = self.value.get("startUrls") or []
        listed = starts if isinstance(starts, list) else []
        return list(dict.fromkeys([*self.urls, *(url for url in listed if isinstance(url, str))]))

    def _keep_key(self, config: Config) -> Config:
        """Add the application and the key of the draft to a configuration that has none."""
        kept = {name: self.value[name] for name in ("appId", "apiKey") if name in self.value}
        return {**kept, **config}

    def _changes(self, saved: Config, value: Config) -> Config:
        return {
            name: member
            for name, member in value.items()
            if name not in saved or not same(member, saved[name])
        }


def _refuse_conflicts(saved: Config, value: Config, now: Config) -> None:
    """Raise `BadOption` if a property that is changed was also changed elsewhere."""
    for name in {**saved, **value}:
        earlier = saved.get(name)
        if not same(earlier, value.get(name)) and not same(earlier, now.get(name)):
            raise BadOption(f"`{name}` was changed elsewhere: reload to see the change; yours stay")


class SecretMask:
    """Masks the secrets of one editor's configurations in all that it shows, sends and saves.

    Each secret text is masked. The mask of a new secret has a number, so that it differs from the
    previous mask. The secrets are restored when the configuration is sent to the service.
    """

    def __init__(self) -> None:
        self._secrets_by_mask: dict[tuple[Place, str], str] = {}
        self._new_count = 0

    def hide_saved(self, config: Any) -> Any:
        """Mask the secrets of a saved configuration."""
        secrets = dict(_find_secrets(config, ()))
        self._secrets_by_mask |= {(path, MASK): text for path, text in secrets.items()}
        return _replace_texts(config, (), dict.fromkeys(secrets, MASK))

    def hide_new(self, config: Any) -> Any:
        """Mask the new secrets of a draft."""
        masks = {}
        for path, text in _find_secrets(config, ()):
            if text and not text.startswith(MASK):
                self._new_count += 1
                masks[path] = f"{MASK} new {self._new_count}"
                self._secrets_by_mask[path, masks[path]] = text
        return _replace_texts(config, (), masks)

    def restore(self, config: Any) -> Any:
        """Restore each secret; raise `BadOption` for a mask without a secret."""
        secrets = {}
        for path, text in _find_secrets(config, ()):
            if (path, text) in self._secrets_by_mask:
                secrets[path] = self._secrets_by_mask[path, text]
            elif text.startswith(MASK):
                raise BadOption(
                    f"`{_path(path)}` is masked and its secret is unknown here: enter it again"
                )
        return _replace_texts(config, (), secrets)


def _find_secrets(
    value: Any, path_to: Place, *, secret: bool = False
) -> Iterator[tuple[Place, str]]:
    if isinstance(value, str) and secret:
        yield path_to, value
    for name, member in _members(value):
        yield from _find_secrets(member, (*path_to, name), secret=secret or name in SECRETS)


def _replace_texts(value: Any, path_to: Place, texts: Mapping[Place, str]) -> Any:
    if isinstance(value, str):
        return texts.get(path_to, value)
    if isinstance(value, Mapping):
        return {
            name: _replace_texts(member, (*path_to, name), texts) for name, member in value.items()
        }
    if isinstance(value, list):
        return [
            _replace_texts(member, (*path_to, number), texts) for number, member in enumerate(value)
        ]
    return value


def _members(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)


def _path(path_to: Place) -> str:
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path_to)
    return "".join(parts).removeprefix(".")

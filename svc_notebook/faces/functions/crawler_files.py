"""Crawlers as JavaScript files beside the configurations of the indices that they write.

The file of a crawler is in the folder of the first index that it writes, and named by the crawler.
Its key is left out, and other secrets are masked: a file applied to a crawler keeps them.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from svc_notebook.data.client import AsyncClient, list_all
from svc_notebook.errors import BadInput
from svc_notebook.faces.functions.crawler_configuration import mask_config
from svc_notebook.faces.functions.crawler_scripts import MASK, read_script, write_script
from svc_notebook.tuning.deployment import (
    CRAWLER_SUFFIX,
    assign_folders,
    folder_name,
    list_folders,
    read_text,
)

# Members that belong to an application and are not in files.
APPLICATION_MEMBERS = ("appId", "apiKey")
Config = dict[str, Any]


@dataclass(frozen=True)
class CrawlerChange:
    """A crawler whose file and configuration differ; `before` is what is replaced.

    `before` is empty for a new crawler or file; secrets of both are masked. `id` and `config` are
    those to write to the service, without an id for a new crawler.
    """

    index: str
    name: str
    path: Path
    before: Config
    after: Config
    texts: tuple[str, str]
    id: str = ""
    config: Config | None = None

    def row(self) -> dict[str, Any]:
        """Return the row of a table of differences: only members that differ."""
        names = [
            name for name in {**self.before, **self.after}
            if self.before.get(name) != self.after.get(name)
        ]  # fmt: skip
        before, after = ({name: side[name] for name in names if name in side} or None
                         for side in (self.before, self.after))  # fmt: skip
        kind = "changed" if self.before else "new"
        return {"index": self.index, "scope": "crawlers", "name": self.name, "kind": kind,
                "before": before, "after": after}  # fmt: skip


async def compare_for_pull(
    client: AsyncClient, folder: Path, indices: Iterable[str], *, others: bool
) -> list[CrawlerChange]:
    """Compare the files with the crawlers that write these indices, as a pull changes them.

    With `others`, those that write any other index are compared, too: it may not exist yet. A file
    that is equivalent to its crawler is unchanged, comments included. Without credentials of the
    crawler interface, no crawler is compared.
    """
    names, crawlers = {*indices}, await _read_crawlers(client)
    if others:
        names |= {index for _, live in crawlers.values() if (index := _first_index(live))}
    folders = assign_folders(folder, names)
    changes = []
    for name, (_, live) in crawlers.items():
        index = _first_index(live)
        if index not in folders:
            continue
        path = folders[index] / f"{folder_name(name)}{CRAWLER_SUFFIX}"
        earlier, after = read_text(path), _masked(live)
        before = read_script(earlier, str(path), keep_masks=True) if earlier else {}
        if _without_application(before) != after:
            texts = earlier, write_script(after)
            changes.append(CrawlerChange(index, name, path, before, after, texts))
    return changes


async def compare_for_apply(
    client: AsyncClient, folder: Path, indices: Iterable[str]
) -> list[CrawlerChange]:
    """Compare the crawlers with the files of these indices, as an application changes them.

    Raises `BadInput` for a file that is not valid, and for a masked secret of which the service has
    no value.
    """
    paths = _list_files(folder, {*indices})
    if not paths:
        return []
    if not client.connection.crawler_user_id:
        raise BadInput(
            f"{paths[0][1]}: the crawlers of this service need `crawler_user_id` and "
            "`crawler_api_key`; add them to the profile, or leave the file out"
        )
    crawlers = await _read_crawlers(client)
    # A reserved or long name is shortened in the name of its file.
    names = {folder_name(name): name for name in crawlers}
    changes = []
    for index, path in paths:
        stem, text = path.name.removesuffix(CRAWLER_SUFFIX), read_text(path)
        name = names.get(stem, unquote(stem))
        script = _without_application(read_script(text, str(path), keep_masks=True))
        if _first_index(script) != index:
            raise BadInput(f"{path}: its first action writes {_first_index(script)!r}, not {index}")
        id_, live = crawlers.get(name, ("", {}))
        config = {**_unmask(script, live, str(path)), **_application_members(live)}
        before, after = (_masked(live) if live else {}), _masked(config)
        if before != after:
            texts = write_script(before) if before else "", write_script(after)
            changes.append(CrawlerChange(index, name, path, before, after, texts, id_, config))
    return changes


def _list_files(folder: Path, indices: Container[str]) -> list[tuple[str, Path]]:
    """List the files of crawlers with the indices of their folders."""
    return [
        (index, path)
        for index, subfolder in list_folders(folder).items() if index in indices
        for path in sorted(subfolder.glob(f"*{CRAWLER_SUFFIX}"))
    ]  # fmt: skip


async def write_crawlers(client: AsyncClient, changes: Iterable[CrawlerChange]) -> None:
    """Create crawlers, or replace their configurations."""
    for change in changes:
        if change.id:
            await client.update_crawler(change.id, config=change.config or {})
        else:
            await client.create_crawler(change.name, change.config or {})


async def _read_crawlers(client: AsyncClient) -> dict[str, tuple[str, Config]]:
    """Return the ids and configurations of all crawlers by name; `BadInput` for equal names."""
    if not client.connection.crawler_user_id:
        return {}
    crawlers: dict[str, tuple[str, Config]] = {}
    for listed in await list_all(client, None):
        name = listed["name"]
        if name in crawlers:
            raise BadInput(
                f"two crawlers are named {name}: rename one with "
                f"svc.rename_crawler({listed['id']!r}, NAME), because files are named by their "
                "crawlers"
            )
        state: dict[str, Any] = {**await client.get_crawler(listed["id"], withConfig=True)}
        crawlers[name] = listed["id"], state.get("config", {})
    return crawlers


def _first_index(config: Mapping[str, Any]) -> str:
    action: Mapping[str, Any] = next(iter(config.get("actions") or ()), {})
    return f"{config.get('indexPrefix') or ''}{action.get('indexName', '')}"


def _masked(config: Mapping[str, Any]) -> Config:
    return dict(mask_config(_without_application(config), MASK))


def _without_application(config: Mapping[str, Any]) -> Config:
    return {name: value for name, value in config.items() if name not in APPLICATION_MEMBERS}


def _application_members(config: Mapping[str, Any]) -> Config:
    return {name: config[name] for name in APPLICATION_MEMBERS if name in config}


def _unmask(value: Any, live: Any, at: str) -> Any:
    """Return a value with the secrets of the crawler in place of masks."""
    if value == MASK:
        if not isinstance(live, str):
            raise BadInput(
                f"{at} is masked, and no crawler has its value: create the crawler once with "
                "svc.create_crawler and the secret, then apply the file"
            )
        return live
    if isinstance(value, dict):
        members = live if isinstance(live, dict) else {}
        return {name: _unmask(member, members.get(name), f"{at}: {name}")
                for name, member in value.items()}  # fmt: skip
    if isinstance(value, list):
        items = live if isinstance(live, list) else []
        return [_unmask(item, held, at) for item, held in zip_longest(value, items)][: len(value)]
    return value

"""Configurations of crawlers: checks before they are used, and the times of their schedules."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec

from svc_notebook.core.api.parameters import Settings
from svc_notebook.core.api.validation import check_members
from svc_notebook.errors import BadInput
from svc_notebook.service.crawlers.crawl import indices_of
from svc_notebook.service.crawlers.crawler import Config
from svc_notebook.service.crawlers.dependencies import CrawlerDependencies
from svc_notebook.service.engine import Index
from svc_notebook.service.engine.index.schema import check_entries
from svc_notebook.service.indices.replica_setting import check_links, read_links
from svc_notebook.service.store import Store

if TYPE_CHECKING:
    from svc_notebook.service.crawl.configuration import Configuration
    from svc_notebook.service.crawl.schedule import Schedule

# Compares the full names of indices in the current configurations.
SHARED_INDICES_SQL = """
    SELECT DISTINCT one.number, one.name,
        coalesce(json_extract(CAST(kept.config AS TEXT), '$.indexPrefix'), '')
        || json_extract(action.value, '$.indexName') AS target
    FROM crawlers AS one
    JOIN crawler_versions AS kept ON kept.crawler = one.number AND kept.version = one.version
    JOIN json_each(CAST(kept.config AS TEXT), '$.actions') AS action
    WHERE one.id <> ? AND target IN (SELECT value FROM json_each(?))
    ORDER BY one.number
"""
# The rights that a crawl needs on its indices; its key needs no other right.
RIGHTS = ("addObject", "deleteObject", "deleteIndex", "settings", "editSettings")
MAX_CRAWLER_NAME_CHARACTERS = 64
MAX_INDEX_NAME_CHARACTERS = 200  # the name of a temporary index is longer and must also be valid


def find_index_conflicts(store: Store, id: str, config: Config) -> list[str]:
    """Return a warning for each name of other crawlers that write to indices of a configuration."""
    indices = msgspec.json.encode(indices_of(config)).decode()
    shared: dict[str, dict[str, None]] = {}
    for _, name, index in store.read(SHARED_INDICES_SQL, id, indices):
        shared.setdefault(name, {})[index] = None
    return [
        f"the crawler {name} writes to {', '.join(names)}, too: each whole crawl replaces the "
        "records of the other; give one of them an `indexPrefix` or another `indexName`"
        for name, names in shared.items()
    ]


def need_crawl() -> None:
    """Raise `BadInput` if the packages for crawling are not installed."""
    try:
        import_module("svc_notebook.service.crawl.frontier")
        import_module("svc_notebook.service.crawl.extraction.extractors").check_installed()
    except ModuleNotFoundError as error:
        raise BadInput(
            f"the local service cannot crawl without {error.name}: "
            'pip install "svc-notebook[crawl]", then start it again'
        ) from error


def check_name(name: str) -> str:
    """Return a valid name of a crawler; raises `BadInput`."""
    if not name.strip() or len(name) > MAX_CRAWLER_NAME_CHARACTERS:
        raise BadInput(f"`name` must have 1 to {MAX_CRAWLER_NAME_CHARACTERS} characters")
    return name


def read_config(config: Config) -> Configuration:
    """Parse a configuration; raises `BadInput` that names the invalid or missing member."""
    need_crawl()
    from svc_notebook.service.crawl.configuration import read_configuration

    return read_configuration(config)


def check_config(dependencies: CrawlerDependencies, config: Config) -> None:
    """Validate a configuration before it is stored; raises `BadInput` naming the invalid member."""
    configuration = read_config(config)
    if error := find_config_error(dependencies, config):
        raise BadInput(error)
    needed = {
        "renderJavaScript": configuration.rendering is not None,
        "login.browserRequest": "browserRequest" in (config.get("login") or {}),
    }
    for member in (name for name, is_needed in needed.items() if is_needed):
        from svc_notebook.service.crawl.rendering.browser import find_browser

        find_browser(dependencies.browser, member)
    for index in indices_of(config):
        if len(index) > MAX_INDEX_NAME_CHARACTERS:
            raise BadInput(
                f"`indexName`: {index[:80]}... has more than {MAX_INDEX_NAME_CHARACTERS} characters"
            )
    for index, settings in configuration.initial_settings.items():
        check_initial(dependencies, index, settings)
    _check_functions(dependencies, config)


def _check_functions(dependencies: CrawlerDependencies, config: Config) -> None:
    from svc_notebook.service.crawl.configuration import check_functions

    with dependencies.engines.borrow() as extractors:
        check_functions(config, extractors)


def check_initial(
    dependencies: CrawlerDependencies, index: str, settings: Mapping[str, Any]
) -> None:
    """Raise `BadInput` for invalid initial settings of an index."""
    at = f"initialIndexSettings.{index}"
    check_members(settings, Settings, at)
    try:
        check_entries(settings)
        Index(dict(settings))
        check_links(dependencies.catalog, index, read_links(settings.get("replicas") or ()))
    except BadInput as error:
        raise BadInput(f"`{at}`: {error}") from None


def find_config_error(dependencies: CrawlerDependencies, config: Config) -> str:
    """Return why a crawl cannot use a configuration; empty if it can."""
    try:
        read_config(config)
    except BadInput as error:
        return str(error)
    app_id = dependencies.keyring.facts["appId"]
    if config.get("appId") != app_id:
        return f"`appId`: this service is {app_id}, not {config.get('appId')}"
    return _key_error(dependencies, config) or _indices_error(dependencies, config)


def _key_error(dependencies: CrawlerDependencies, config: Config) -> str:
    value = config.get("apiKey")
    if not value or value == dependencies.keyring.facts["adminKey"]:
        return ""
    keys = dependencies.keyring.find(value)
    if not keys:
        return (
            "`apiKey`: this key does not exist; create one, or remove `apiKey` to use the admin key"
        )
    for index in indices_of(config):
        rights = {*chain(*(key.fields.get("acl", ()) for key in keys if key.reaches(index)))}
        if missing := [right for right in RIGHTS if right not in rights]:
            return f"`apiKey`: on the index {index} the key lacks {', '.join(missing)}"
    return ""


def _indices_error(dependencies: CrawlerDependencies, config: Config) -> str:
    for index in indices_of(config):
        published = dependencies.catalog.get(index)
        if published and published.primary_id:
            primary = dependencies.catalog.replica_group(published)[0].name
            return f"`indexName`: {index} is a replica of {primary}; crawl into {primary}"
    return ""


def next_due(config: Config, now: float) -> float | None:
    """Return the next time of the schedules of the crawler and its actions, in Unix seconds."""
    if not config.get("schedule") and not any(
        action_or_schedule.get("schedule") for action_or_schedule in config["actions"]
    ):
        return None
    parsed = read_config(config)
    times = (
        _after(action_or_schedule, now)
        for action_or_schedule in (parsed.schedule, *(a.schedule for a in parsed.actions))
    )
    return min((time for time in times if time is not None), default=None)


def part_due(config: Config, due: float) -> Config | None:
    """Return the configuration with only the actions that are due; None for all actions.

    Actions that share an index are crawled together, because a crawl replaces whole indices.
    """
    try:
        parsed = read_config(config)
    except BadInput:
        return None
    if _is_due(parsed.schedule, due):
        return None
    indices = {action.index for action in parsed.actions if _is_due(action.schedule, due)}
    pairs = zip(config["actions"], parsed.actions, strict=True)
    actions = [raw for raw, action in pairs if action.index in indices]
    return {**config, "actions": actions} if actions else None


def _is_due(schedule: Schedule | None, due: float) -> bool:
    return _after(schedule, due - 1) == due


def _after(schedule: Schedule | None, now: float) -> float | None:
    moment = schedule.after(datetime.fromtimestamp(now, UTC)) if schedule else None
    return moment.timestamp() if moment else None

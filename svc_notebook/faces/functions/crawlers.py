"""Create, change, run and test crawlers, each given by its name or its id.

Keys and logins in a configuration are masked, and are sent unmasked when the configuration is
passed back.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from svc_notebook.data.client import crawler_id, discreet, list_all
from svc_notebook.data.declarations import BodyDocument, public, verb
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import UNKNOWN_ENDPOINT_STATUSES, BadInput, NotFound, Refused
from svc_notebook.faces.functions.crawler_configuration import (
    START_ADDRESS,
    Config,
    config_of_address,
    mask_config,
    read_config,
)
from svc_notebook.faces.functions.crawler_scripts import (
    MASK,
    check_suffix,
    write_script,
    write_script_file,
)
from svc_notebook.faces.functions.curation import WriteSummary

IfCrawlerExists = Literal["fail", "replace"]


@public(verb("crawlers show", "crawlers show docs"), endpoints=("get_crawler",))
@discreet
async def get_crawler(crawler: str, *, client: AnyClient | None = None) -> dict[str, Any]:
    """Read the state and the configuration of a crawler.

    Keys and logins in the configuration are masked; they are sent unmasked when the
    configuration is passed to `create_crawler` or `configure_crawler`.

    Returns
    -------
    dict
        `id`, `name`, `createdAt`, `updatedAt`, `running`, `reindexing`, `blocked` and the other
        members of the state, and `config`.

    Raises
    ------
    BadInput
        If the crawler does not exist.

    Examples
    --------
    >>> svc.get_crawler("shop")["running"]
    True
    """
    aio = asynchronous(client)
    configuration = dict(await aio.get_crawler(await crawler_id(aio, crawler), withConfig=True))
    return {name: mask_config(value) for name, value in configuration.items()}


@public(
    verb(
        "crawlers create",
        "crawlers create docs docs-crawler.json",
        "crawlers create docs https://docs.example.com/",
        "crawlers create docs crawler.js",
        variable="config",
        body="configuration",
        document=BodyDocument("config", dict, many=False, script=True),
    ),
    endpoints=("create_crawler",),
)
@discreet
async def create_crawler(
    name: str,
    config: Config,
    *,
    if_exists: IfCrawlerExists = "fail",
    client: AnyClient | None = None,
) -> WriteSummary:
    """Create a crawler.

    Parameters
    ----------
    name : str
        Name of the crawler.
    config : dict, start address or path
        Configuration, in which JavaScript functions can be plain texts; or the address of the
        first page: each page below it becomes a record of the index `name`, as
        `helpers.page()` makes it; or a JavaScript text
        such as `new Crawler({ ... })`, `module.exports = { ... }` or `export default { ... }`;
        or a `.json`, `.js`, `.mjs`, `.cjs` or `.ts` file that contains either. JavaScript needs
        the extra `crawl`.
    if_exists : {'fail', 'replace'}, default 'fail'
        What to do if a crawler has this name: `fail` creates nothing, `replace` replaces the
        whole configuration of that crawler.

    Returns
    -------
    dict
        `crawler` (its id), `name`, `taskId` if a configuration was replaced, and, if the
        service returns any, `warnings`.

    Raises
    ------
    BadInput
        If the configuration is not one object, a script cannot be evaluated, or a crawler has
        this name and `if_exists` is `fail`.

    Examples
    --------
    >>> config = svc.get_crawler("shop")["config"]
    >>> created = svc.create_crawler("shop-copy", {**config, "indexPrefix": "copy-"})
    >>> created["name"]
    'shop-copy'
    """
    if isinstance(config, str) and START_ADDRESS.fullmatch(config.strip()):
        config = config_of_address(name, config.strip())
    given, target_client = read_config(config), asynchronous(client)
    if if_exists not in get_args(IfCrawlerExists):
        raise BadInput(f"`if_exists` must be 'fail' or 'replace', not {if_exists!r}")
    existing = [
        listed["id"] for listed in await list_all(target_client, name) if listed["name"] == name
    ]
    if not existing:
        made = await target_client.create_crawler(name, given)
        return {"crawler": made["id"], "name": name, **_warnings(made)}
    if if_exists == "fail" or len(existing) > 1:
        raise BadInput(_describe_existing(name, existing))
    done = await target_client.update_crawler(existing[0], config=given)
    return {**describe_task(existing[0], done), "name": name}


@public(
    verb(
        "crawlers config",
        "crawlers config docs changes.json",
        "crawlers config docs all.json --whole",
        variable="config",
        body="configuration",
        document=BodyDocument("config", dict, many=False, script=True),
    ),
    endpoints=("update_crawler", "update_crawler_config"),
)
@discreet
async def configure_crawler(
    crawler: str, config: Config, *, whole: bool = False, client: AnyClient | None = None
) -> WriteSummary:
    """Change the configuration of a crawler.

    Parameters
    ----------
    config : dict or path
        Top-level members of the configuration to change, as an object, a JavaScript text or a
        file, as `create_crawler` takes them.
    whole : bool, default False
        Replace the whole configuration instead of changing the given members.

    Returns
    -------
    dict
        `crawler`, `taskId` and, if the service returns any, `warnings`.

    Raises
    ------
    BadInput
        If the crawler does not exist, or the configuration is not one object.

    Examples
    --------
    >>> svc.configure_crawler("shop", {"maxUrls": 100})["crawler"]
    'shop'
    """
    aio, given = asynchronous(client), read_config(config)
    named = await crawler_id(aio, crawler)
    if whole:
        done = await aio.update_crawler(named, config=given)
    else:
        done = await aio.update_crawler_config(named, given)
    return describe_task(crawler, done)


@public(
    verb(
        "crawlers export",
        "crawlers export docs crawler.js",
        "crawlers export docs",
        names={"path": "file"},
    ),
    endpoints=("get_crawler",),
)
async def export_crawler(
    crawler: str, path: str | Path | None = None, *, client: AnyClient | None = None
) -> str:
    """Write the configuration of a crawler as JavaScript: `new Crawler({ ... })`.

    `create_crawler` and `configure_crawler` take the text. The key of the crawler is left out, and
    it keeps it; headers, logins and the proxy are masked, and have to be written before the
    text is used.

    Parameters
    ----------
    path : str or Path, default None
        `.js`, `.mjs`, `.cjs` or `.ts` file to write; None to write none.

    Returns
    -------
    str
        The JavaScript text.

    Raises
    ------
    BadInput
        If the crawler does not exist, or the file cannot be written or has another suffix.

    Examples
    --------
    >>> text = svc.export_crawler("shop", "shop.js")
    >>> text.splitlines()[0]
    'new Crawler({'
    >>> svc.create_crawler("shop-2", "shop.js")["name"]
    'shop-2'
    """
    if path is not None:
        check_suffix(path)
    target_client = asynchronous(client)
    named = await crawler_id(target_client, crawler)
    state: dict[str, Any] = {**await target_client.get_crawler(named, withConfig=True)}
    config = {name: value for name, value in state.get("config", {}).items() if name != "apiKey"}
    text = write_script(mask_config(config, MASK))
    if path is not None:
        write_script_file(path, text)
    return text


@public(verb("crawlers rename", "crawlers rename docs manual"), endpoints=("update_crawler",))
async def rename_crawler(
    crawler: str, name: str, *, client: AnyClient | None = None
) -> WriteSummary:
    """Change the name of a crawler.

    Parameters
    ----------
    name : str
        New name.

    Returns
    -------
    dict
        `crawler` and `taskId`.

    Raises
    ------
    BadInput
        If the crawler does not exist.

    Examples
    --------
    >>> svc.rename_crawler("shop", "store")["crawler"]
    'shop'
    >>> svc.rename_crawler("store", "shop")
    """
    aio = asynchronous(client)
    return describe_task(crawler, await aio.update_crawler(await crawler_id(aio, crawler), name))


@public(
    verb(
        "crawlers delete",
        "crawlers delete docs --yes",
        destructive="delete the crawler {crawler}; its indices stay",
    ),
    endpoints=("delete_crawler",),
)
async def delete_crawler(crawler: str, *, client: AnyClient | None = None) -> WriteSummary:
    """Delete a crawler of a local service; its indices and their records stay.

    A running crawl ends, and its records are not published. A hosted service deletes crawlers
    only in its dashboard.

    Parameters
    ----------
    crawler : str
        Name or id of the crawler; an id if several crawlers have the name.

    Returns
    -------
    dict
        `crawler` and `deletedAt`.

    Raises
    ------
    BadInput
        If the crawler does not exist.
    NotFound
        If the service does not delete crawlers.

    Examples
    --------
    >>> config = svc.get_crawler("shop")["config"]
    >>> created = svc.create_crawler("old-shop", {**config, "indexPrefix": "old-"})
    >>> svc.delete_crawler("old-shop")["crawler"]
    'old-shop'
    """
    target_client = asynchronous(client)
    named = await crawler_id(target_client, crawler)
    try:
        done = await target_client.delete_crawler(named)
    except Refused as error:
        if error.status not in UNKNOWN_ENDPOINT_STATUSES:
            raise
        message = (
            "this service deletes crawlers only in its dashboard, because the API has no endpoint "
            f"for that; svc.pause_crawler({crawler!r}) stops its crawls"
        )
        raise NotFound(message, status=error.status, endpoint=error.endpoint) from error
    return {"crawler": crawler, **done}


@public(
    verb("crawlers run", "crawlers run docs"),
    endpoints=("run_crawler",),
    like=rename_crawler.__doc__,
)
async def run_crawler(crawler: str, *, client: AnyClient | None = None) -> WriteSummary:
    """Resume a paused crawler, which waits for its schedule; only `reindex` starts a crawl.

    Examples
    --------
    >>> svc.run_crawler("shop")["crawler"]
    'shop'
    """
    aio = asynchronous(client)
    return describe_task(crawler, await aio.run_crawler(await crawler_id(aio, crawler)))


@public(
    verb("crawlers pause", "crawlers pause docs"),
    endpoints=("pause_crawler",),
    like=rename_crawler.__doc__,
)
async def pause_crawler(crawler: str, *, client: AnyClient | None = None) -> WriteSummary:
    """Pause a crawler.

    Examples
    --------
    >>> svc.pause_crawler("shop")["crawler"]
    'shop'
    >>> svc.run_crawler("shop")
    """
    aio = asynchronous(client)
    return describe_task(crawler, await aio.pause_crawler(await crawler_id(aio, crawler)))


@public(
    verb(
        "crawlers test",
        "crawlers test docs https://example.com/page",
        variable="config",
        body="configuration",
        document=BodyDocument("config", dict, many=False, script=True),
    ),
    endpoints=("test_crawler_url",),
)
@discreet
async def try_url(
    crawler: str, url: str, config: Config | None = None, *, client: AnyClient | None = None
) -> dict[str, Any]:
    """Crawl one URL as a test; nothing is stored.

    Parameters
    ----------
    url : str
        URL to crawl.
    config : dict or path, default None
        Members of the configuration that replace those of the crawler for this test, as an
        object, a JavaScript text or a file, as `create_crawler` takes them.

    Returns
    -------
    dict
        The response of the service: `startDate`, `endDate`, `logs`, `records`, `links` and
        others.

    Raises
    ------
    BadInput
        If the crawler does not exist, or the configuration is not one object.

    Examples
    --------
    >>> url = svc.get_crawler("shop")["config"]["startUrls"][0]
    >>> result = svc.try_url("shop", url)
    >>> [record["title"] for found in result["records"] for record in found["records"]]
    ['Desk lamps']
    """
    aio, held = asynchronous(client), None if config is None else read_config(config)
    return dict(await aio.test_crawler_url(await crawler_id(aio, crawler), url, held))


def _describe_existing(name: str, ids: list[str]) -> str:
    """Return why a second crawler of a name is not created, and what to do."""
    if len(ids) > 1:
        return (
            f"{len(ids)} crawlers are named {name} ({', '.join(ids)}): rename or delete all but "
            f"one with svc.rename_crawler(ID, NAME) or svc.delete_crawler(ID)"
        )
    return (
        f"a crawler is named {name} already ({ids[0]}): pass if_exists='replace' to replace its "
        f"configuration, or another name, or delete it with svc.delete_crawler({name!r})"
    )


def describe_task(crawler: str, answer: Mapping[str, Any]) -> WriteSummary:
    """Return the task of a crawler that a response names, and its warnings."""
    return {"crawler": crawler, "taskId": answer["taskId"], **_warnings(answer)}


def _warnings(answer: Mapping[str, Any]) -> WriteSummary:
    """Return the warnings of a service, such as another crawler that writes to the same index."""
    return {"warnings": answer["warnings"]} if answer.get("warnings") else {}

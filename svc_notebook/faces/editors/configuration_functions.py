"""The functions of `svc.edit` for configurations: settings, synonyms, rules and crawlers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pandas import DataFrame

from svc_notebook.core.api.parameters import Settings
from svc_notebook.core.api.values import OneOrMany
from svc_notebook.data.declarations import verb, verb_only
from svc_notebook.data.session import AnyClient
from svc_notebook.faces.editors.crawler_editor.editor import CrawlerEditor
from svc_notebook.faces.editors.curation_editors.rules import RuleEditor
from svc_notebook.faces.editors.curation_editors.synonyms import SynonymEditor
from svc_notebook.faces.editors.query_editor.editor import QueryEditor
from svc_notebook.faces.editors.settings_editor import SettingsEditor
from svc_notebook.faces.editors.traits import DEFAULT_HEIGHT_PIXELS
from svc_notebook.faces.functions.documents import Documents


@verb_only(
    verb(
        "edit settings",
        "edit settings products",
        "edit settings products lamp 'oak table'",
        without=("value",),
        names={"forward": "forwardToReplicas"},
        faces=("magic",),
        format=False,
    )
)
def settings(
    index: str,
    queries: OneOrMany | DataFrame = (),
    *,
    value: Settings | None = None,
    forward: bool = False,
    client: AnyClient | None = None,
    height: int | None = DEFAULT_HEIGHT_PIXELS,
) -> SettingsEditor:
    """Open the settings editor of an index: change its ranking, and see the effect on queries.

    Parameters
    ----------
    queries : str, list of str, Series or DataFrame with a column `query`, default none
        Queries that are searched before and after each change.
    value : dict, default None
        Settings of the initial draft.

    Returns
    -------
    SettingsEditor
        The widget; its `value` contains the draft, which `apply` writes.

    Raises
    ------
    BadInput
        If a setting is unknown or has a wrong type, or a package that editors need is
        missing.

    Examples
    --------
    >>> editor = svc.edit.settings("products", ["desk lamp", "mug"])
    """
    return SettingsEditor(
        index, queries=queries, value=value, forward=forward, client=client, height=height
    )


@verb_only(
    verb(
        "edit synonyms",
        "edit synonyms products",
        "edit synonyms products lamp 'oak table'",
        without=(
            "value",
            "params",
        ),
        names={"forward": "forwardToReplicas"},
        faces=("magic",),
        format=False,
    )
)
def synonyms(
    index: str,
    queries: OneOrMany | DataFrame = (),
    *,
    value: Documents | None = None,
    params: Mapping[str, Any] | None = None,
    forward: bool = False,
    client: AnyClient | None = None,
    height: int | None = DEFAULT_HEIGHT_PIXELS,
) -> SynonymEditor:
    """Open the synonym editor of an index: all synonyms in one table, tried before applied.

    Parameters
    ----------
    queries : str, list of str, Series or DataFrame with a column `query`, default none
        Queries on which a draft is tried.
    value : dict, list of dict, DataFrame or path, default None
        Synonyms of the initial draft.
    params : dict, default None
        Search parameters of the queries.

    Returns
    -------
    SynonymEditor
        The widget; its `value` contains the draft, which `apply` writes.

    Raises
    ------
    BadInput
        If a synonym has a wrong or unknown member, or a package that editors need is
        missing.

    Examples
    --------
    >>> editor = svc.edit.synonyms("products", "cup")
    """
    return SynonymEditor(
        index,
        queries=queries,
        value=value,
        params=params,
        forward=forward,
        client=client,
        height=height,
    )


@verb_only(
    verb(
        "edit rules",
        "edit rules products",
        "edit rules products lamp 'oak table'",
        without=("value", "params", "follow"),
        names={"forward": "forwardToReplicas"},
        faces=("magic",),
        format=False,
    )
)
def rules(
    index: str,
    queries: OneOrMany | DataFrame = (),
    *,
    value: Documents | None = None,
    params: Mapping[str, Any] | None = None,
    forward: bool = False,
    follow: QueryEditor | None = None,
    client: AnyClient | None = None,
    height: int | None = DEFAULT_HEIGHT_PIXELS,
) -> RuleEditor:
    """Open the rule editor of an index: a form for each rule, tried before it is applied.

    Parameters
    ----------
    queries : str, list of str, Series or DataFrame with a column `query`, default none
        Queries on which a draft is tried.
    value : dict, list of dict, DataFrame or path, default None
        Rules of the initial draft.
    params : dict, default None
        Search parameters of the queries.
    follow : QueryEditor, default None
        Query editor whose pinned and hidden hits become drafts here.

    Returns
    -------
    RuleEditor
        The widget; its `value` contains the draft, which `apply` writes.

    Raises
    ------
    BadInput
        If a rule has a wrong or unknown member, or a package that editors need is missing.

    Examples
    --------
    >>> search = svc.edit.query("products", "desk lamp")
    >>> editor = svc.edit.rules("products", "desk lamp", follow=search)
    """
    editor = RuleEditor(
        index,
        queries=queries,
        value=value,
        params=params,
        forward=forward,
        client=client,
        height=height,
    )
    if follow is not None:
        editor.follow(follow)
    return editor


@verb_only(
    verb(
        "edit crawler",
        "edit crawler docs",
        "edit crawler docs https://example.com/page",
        without=("value",),
        faces=("magic",),
        format=False,
    )
)
def crawler(
    crawler: str,
    urls: OneOrMany | DataFrame = (),
    *,
    value: Mapping[str, Any] | str | None = None,
    client: AnyClient | None = None,
    height: int | None = DEFAULT_HEIGHT_PIXELS,
) -> CrawlerEditor:
    """Open the crawler editor: change a configuration, and see the records of a page.

    Parameters
    ----------
    urls : str, list of str, Series or DataFrame with a column `url`, default none
        URLs of pages to try.
    value : dict or str, default None
        Configuration of the initial draft, or the address of the first page. A crawler that does
        not exist is then drafted; `apply` creates it.

    Returns
    -------
    CrawlerEditor
        The widget; its `value` contains the draft, which `apply` writes.

    Raises
    ------
    BadInput
        If the configuration is not one object, or a package that editors need is missing.

    Examples
    --------
    >>> editor = svc.edit.crawler("shop")
    """
    return CrawlerEditor(crawler, urls=urls, value=value, client=client, height=height)

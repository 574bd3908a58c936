"""The functions of `svc.edit`: one for each editor, and its verb of `%svc`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from pandas import DataFrame

from svc_notebook.core.api.parameters import SearchOptions, SearchParams, Settings
from svc_notebook.core.api.values import OneOrMany
from svc_notebook.data.declarations import verb, verb_only
from svc_notebook.data.session import AnyClient
from svc_notebook.faces.editors.changes import Changes
from svc_notebook.faces.editors.crawler_editor.editor import CrawlerEditor
from svc_notebook.faces.editors.curation_editors.rules import RuleEditor
from svc_notebook.faces.editors.curation_editors.synonyms import SynonymEditor
from svc_notebook.faces.editors.judgment_editor.editor import JudgmentEditor
from svc_notebook.faces.editors.query_editor.editor import QueryEditor
from svc_notebook.faces.editors.service_panels import AnalyticsPanel
from svc_notebook.faces.editors.settings_editor import SettingsEditor
from svc_notebook.faces.editors.traits import DEFAULT_HEIGHT_PIXELS, WORKBENCH_HEIGHT_PIXELS
from svc_notebook.faces.editors.workbench_editor.editor import Workbench
from svc_notebook.faces.functions.documents import Documents
from svc_notebook.tuning.tables import Queries

F = TypeVar("F", bound=Callable[..., Any])


def _opens(name: str, *examples: str, like: str | None = None, **facts: Any) -> Callable[[F], F]:
    """Declare the verb of a function that opens an editor, which only a notebook can show."""
    opening = verb(name, *examples, faces=("magic",), format=False, **facts)
    return verb_only(opening, like=like)


@_opens("edit", "edit products", "edit products lamp --judgments graded", without=("value",))
def workbench(
    index: str,
    query: str = "",
    *,
    value: Changes | None = None,
    judgments: DataFrame | None = None,
    file: str | PathLike[str] | None = None,
    rater: str = "",
    client: AnyClient | None = None,
    images: bool = False,
    height: int | None = WORKBENCH_HEIGHT_PIXELS,
    **params: Unpack[SearchOptions],
) -> Workbench:
    """Open the workbench of an index: all its editors, linked, with one Apply.

    Drafts of settings, synonyms and rules show in the hits before they are applied, with the score
    of the judged queries. A draft that search parameters cannot express is tried on one temporary
    copy of the index; an index of more than 100,000 records is copied only on request.

    Parameters
    ----------
    query : str, default ""
        Initial query.
    value : dict, default None
        Initial draft, as `svc.tuning.apply` takes it: a dict of `settings`, `synonyms` and
        `rules`, each by name or objectID.
    judgments : DataFrame, default None
        Judgments to measure drafts with, and to continue.
    file : path, default None
        CSV or Parquet file that is written after each judgment; an existing file is
        continued.
    rater : str, default ""
        Name of the rater.
    height : int, default 720
        Height in pixels, at least 240; None is as high as the content.
    **params
        Search parameters of the query editor.

    Returns
    -------
    Workbench
        The widget; its `value` contains the changes, which `apply` writes.

    Raises
    ------
    BadInput
        If an argument is not valid, or a package that editors need is missing.
    NotFound

    Examples
    --------
    >>> bench = svc.edit("products", "desk lamp")
    >>> bench.value = {"settings": {"customRanking": ["desc(reviews)"]}}
    >>> bench.trial["by"]
    'parameters'
    """
    first: dict[str, Any] = {**({"query": query} if query else {}), **params}
    judging = {"judgments": judgments, "file": file, "rater": rater}
    return Workbench(
        index, params=first, value=value, client=client, images=images, height=height,
        judging=judging,
    )  # fmt: skip


@_opens(
    "edit query",
    "edit query products",
    "edit query products lamp --hitsPerPage 5",
    without=("value",),
)
def query(
    index: str,
    query: str = "",
    *,
    value: SearchParams | None = None,
    client: AnyClient | None = None,
    images: bool = False,
    height: int | None = DEFAULT_HEIGHT_PIXELS,
    **params: Unpack[SearchOptions],
) -> QueryEditor:
    """Open the query editor of an index: search as you type, with an explanation of each rank.

    Parameters
    ----------
    query : str, default ""
        Initial query.
    value : dict, default None
        Initial search parameters.
    **params
        Search parameters, which replace those of `value`.

    Returns
    -------
    QueryEditor
        The widget; its `value` contains the search parameters.

    Raises
    ------
    BadInput
        If a search parameter is unknown or has a wrong type, or a package that editors need
        is missing.

    Examples
    --------
    >>> editor = svc.edit.query("products", "desk lamp", hitsPerPage=5)
    >>> editor.value["query"]
    'desk lamp'
    """
    first = {**(value or {}), **({"query": query} if query else {}), **params}
    return QueryEditor(index, value=first, client=client, images=images, height=height)


@_opens(
    "edit judgments",
    "edit judgments products lamp 'oak table'",
    "edit judgments products --from graded --rater ada --blind",
    "edit judgments products lamp --file judged.csv",
    without=("variants", "seed", "labels", "images"),
    types={"queries": list[str]},
    rest="queries",
    variable="judgments",
)
def judgments(
    index: str,
    queries: Queries = (),
    *,
    judgments: DataFrame | None = None,
    variants: Mapping[str, str | SearchParams] | None = None,
    depth: int = 10,
    rater: str = "",
    blind: bool = False,
    shuffled: bool = False,
    seed: int = 0,
    labels: Mapping[int, str] | None = None,
    file: str | PathLike[str] | None = None,
    client: AnyClient | None = None,
    images: bool = False,
    height: int | None = DEFAULT_HEIGHT_PIXELS,
) -> JudgmentEditor:
    """Open the judgment editor: grade the first hits of queries with one key each.

    Parameters
    ----------
    queries : str, list, DataFrame or path, default those of `judgments`
        Queries: texts, dicts, or a table with the column `query` and optionally `filters`
        and `params`.
    judgments : DataFrame, default None
        Judgments to continue with.
    variants : dict, default None
        Names of variants, each with an index or search parameters, whose hits are pooled;
        None uses the index alone.
    depth : int, default 10
        Number of hits of each query and variant, 1 to 1,000.
    rater : str, default ""
        Name of the rater.
    blind : bool, default False
        Hide the positions of hits.
    shuffled : bool, default False
        Shuffle the hits.
    seed : int, default 0
        Seed of the order of shuffled hits.
    labels : dict, default None
        Labels of the grades by whole number; None uses standard ones.
    file : path, default None
        CSV or Parquet file that is written after each judgment; an existing file is
        continued.

    Returns
    -------
    JudgmentEditor
        The widget; its `frame` is the DataFrame of judgments.

    Raises
    ------
    BadInput
        If an argument is not valid, or a package that editors need is missing.

    Examples
    --------
    >>> editor = svc.edit.judgments("products", ["desk lamp", "mug"], rater="anna")
    >>> len(editor.frame)
    0
    """
    return JudgmentEditor(
        index, queries=queries, judgments=judgments, variants=variants, depth=depth, rater=rater,
        blind=blind, shuffled=shuffled, seed=seed, labels=labels, file=file, client=client,
        images=images, height=height,
    )  # fmt: skip


@_opens("edit analytics", "edit analytics products --since 7d")
def analytics(
    index: str,
    *,
    since: str = "30d",
    until: str | None = None,
    tags: str | None = None,
    client: AnyClient | None = None,
    height: int | None = DEFAULT_HEIGHT_PIXELS,
) -> AnalyticsPanel:
    """Open the analytics of an index: its top searches, those without results, and its days.

    Buttons continue with a query: in the query editor, as a synonym, or with judgments.

    Parameters
    ----------
    since : str, default 30d
        First day, in UTC, or age.

    Returns
    -------
    AnalyticsPanel
        The widget; its `figures` contain what was read.

    Raises
    ------
    BadInput
        If a time is not valid, or a package that editors need is missing.

    Examples
    --------
    >>> panel = svc.edit.analytics("products", since="7d")
    >>> "searchCount" in panel.figures["total"]
    True
    """
    value = {"since": since, "until": until or "", "tags": tags or ""}
    return AnalyticsPanel(index, value=value, client=client, height=height)


@_opens(
    "edit settings",
    "edit settings products",
    "edit settings products lamp 'oak table'",
    without=("value",),
    names={"forward": "forwardToReplicas"},
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


@_opens(
    "edit synonyms",
    "edit synonyms products",
    "edit synonyms products lamp 'oak table'",
    without=("value", "params"),
    names={"forward": "forwardToReplicas"},
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
        index, queries=queries, value=value, params=params, forward=forward, client=client,
        height=height,
    )  # fmt: skip


@_opens(
    "edit rules",
    "edit rules products",
    "edit rules products lamp 'oak table'",
    without=("value", "params", "follow"),
    names={"forward": "forwardToReplicas"},
    like=synonyms.__doc__,
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
    value : dict, list of dict, DataFrame or path, default None
        Rules of the initial draft.
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
        index, queries=queries, value=value, params=params, forward=forward, client=client,
        height=height,
    )  # fmt: skip
    if follow is not None:
        editor.follow(follow)
    return editor


@_opens(
    "edit crawler",
    "edit crawler docs",
    "edit crawler docs https://example.com/page",
    without=("value",),
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


if TYPE_CHECKING:
    _workbench, _query, _settings, _synonyms = workbench, query, settings, synonyms
    _judgments, _rules, _crawler, _analytics = judgments, rules, crawler, analytics

    class Editors:
        """The type of `svc.edit`; at run time it is the module `svc_notebook.faces.editors`."""

        __call__ = workbench = staticmethod(_workbench)
        query = staticmethod(_query)
        settings = staticmethod(_settings)
        synonyms = staticmethod(_synonyms)
        judgments = staticmethod(_judgments)
        rules = staticmethod(_rules)
        crawler = staticmethod(_crawler)
        analytics = staticmethod(_analytics)

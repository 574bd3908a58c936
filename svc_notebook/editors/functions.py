"""The functions of `svc.edit`: one for each editor."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any, Unpack

from pandas import DataFrame

from svc_notebook.api.parameters import SearchOptions, SearchParams, Settings
from svc_notebook.api.texts import OneOrMany
from svc_notebook.editors.crawler_editor.editor import CrawlerEditor
from svc_notebook.editors.curation_editors.rules import RuleEditor
from svc_notebook.editors.curation_editors.synonyms import SynonymEditor
from svc_notebook.editors.judgment_editor.editor import JudgmentEditor
from svc_notebook.editors.query_editor.editor import QueryEditor
from svc_notebook.editors.settings_editor.editor import SettingsEditor
from svc_notebook.functions.documents import Documents
from svc_notebook.session.connection import AnyClient
from svc_notebook.tuning.tables.tables import Queries


def query(
    index: str,
    query: str = "",
    *,
    value: SearchParams | None = None,
    client: AnyClient | None = None,
    images: bool = False,
    **params: Unpack[SearchOptions],
) -> QueryEditor:
    """Open the query editor of an index: search as you type, with an explanation of each rank.

    `value` is the initial search parameters, which `query` and `params` override. Pictures on other
    hosts are fetched only with `images`. Returns the widget.
    """
    first = {**(value or {}), **({"query": query} if query else {}), **params}
    return QueryEditor(index, value=first, client=client, images=images)


def settings(
    index: str,
    queries: OneOrMany | DataFrame = (),
    *,
    value: Settings | None = None,
    forward: bool = False,
    client: AnyClient | None = None,
) -> SettingsEditor:
    """Open the settings editor of an index: change its ranking, and see the effect on queries.

    `queries`, one text or several, are searched before and after each change; `value` is an initial
    draft. Returns the widget.
    """
    return SettingsEditor(index, queries=queries, value=value, forward=forward, client=client)


def synonyms(
    index: str,
    queries: OneOrMany | DataFrame = (),
    *,
    value: Documents | None = None,
    params: Mapping[str, Any] | None = None,
    forward: bool = False,
    client: AnyClient | None = None,
) -> SynonymEditor:
    """Open the synonym editor of an index: all synonyms in one table, tried before applied.

    `queries`, one text or several, are searched with `params` to try a draft; `value` is an initial
    draft. Returns the widget.
    """
    return SynonymEditor(
        index, queries=queries, value=value, params=params, forward=forward, client=client
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
) -> JudgmentEditor:
    """Open the judgment editor: grade the top hits of queries with one key each.

    `queries` are one text or several, or a table of `query` with optional `filters` and `params`;
    by default those of `judgments`. The first `depth` hits are pooled over `variants`: names mapped
    to an index or to search parameters. The result is `.frame`. A `file` (CSV or Parquet) is
    written after every judgment, and an existing one is continued. Returns the widget.
    """
    return JudgmentEditor(
        index, queries=queries, judgments=judgments, variants=variants, depth=depth, rater=rater,
        blind=blind, shuffled=shuffled, seed=seed, labels=labels, file=file, client=client,
        images=images,
    )  # fmt: skip


def rules(
    index: str,
    queries: OneOrMany | DataFrame = (),
    *,
    value: Documents | None = None,
    params: Mapping[str, Any] | None = None,
    forward: bool = False,
    follow: QueryEditor | None = None,
    client: AnyClient | None = None,
) -> RuleEditor:
    """Open the rule editor of an index: a form for each rule, tried before it is applied.

    `queries`, one text or several, are searched with `params` to try a draft; `value` is an initial
    draft. Hits that are pinned or hidden in the query editor `follow` are drafted here. Returns the
    widget.
    """
    editor = RuleEditor(
        index, queries=queries, value=value, params=params, forward=forward, client=client
    )
    if follow is not None:
        editor.follow(follow)
    return editor


def crawler(
    crawler: str,
    urls: OneOrMany | DataFrame = (),
    *,
    value: Mapping[str, Any] | None = None,
    client: AnyClient | None = None,
) -> CrawlerEditor:
    """Open the crawler editor: change a configuration, and see the records of a page.

    `crawler` is a name or id. `urls`, one or several, are pages to try; `value` is an initial
    draft. Returns the widget.
    """
    return CrawlerEditor(crawler, urls=urls, value=value, client=client)

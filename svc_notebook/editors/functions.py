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
    """Open the query editor of an index: search as you type, and see what decides.

    It begins with `value`, which `query` and `params` override. Pictures that records have on
    other hosts are fetched only with `images`.
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
    """Open the settings editor of an index: change how it ranks, and see what comes of it.

    `queries`, one text or several, are searched before and after each change; `value` is a draft
    to begin with.
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
    """Open the synonym editor of an index: all of them in one table, tried before applied.

    `queries`, one text or several, are searched with `params` to try a draft; `value` is a draft
    to begin with.
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
    """Open the judgment editor: grade the first hits of queries by one key each.

    `queries` are one text or several, or have `query` and perhaps `filters` and `params`; without
    any, those of `judgments` are gone on with. The first `depth` hits are pooled over `variants`:
    names with an index, or with search parameters, each. The result is `.frame`. A `file` (CSV or
    Parquet) has each judgment as soon as it is given, and is gone on with.
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

    `queries`, one text or several, are searched with `params` to try a draft; `value` is a draft
    to begin with.
    What is pinned or hidden in the query editor `follow` becomes a draft here.
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
    """Open the crawler editor: change a configuration, and see what it makes of a page.

    The crawler is named by its name or its id. `urls`, one or several, are pages to try; `value`
    is a draft to begin with.
    """
    return CrawlerEditor(crawler, urls=urls, value=value, client=client)

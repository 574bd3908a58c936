"""Verbs that do one thing or another, as their options say."""

from __future__ import annotations

from typing import Unpack

from pandas import DataFrame

from svc_notebook import loading
from svc_notebook.api.parameters import SearchOptions
from svc_notebook.errors import BadOption
from svc_notebook.functions import blocking
from svc_notebook.functions.blocking import LoadOptions
from svc_notebook.functions.curated_lists import Done
from svc_notebook.loading.sources.source import Source
from svc_notebook.session.connection import AnyClient


def load_or_plan(
    source: Source,
    index: str,
    *,
    dry_run: bool = False,
    **options: Unpack[LoadOptions],
) -> loading.LoadResult | loading.LoadPlan:
    """Load, or with `dry_run` only tell what would be loaded."""
    result = blocking.load(source, index, dry_run=dry_run, **options)
    return result.plan if dry_run else result


def facets_or_values(
    index: str,
    query: str = "",
    *,
    facet: str | None = None,
    client: AnyClient | None = None,
    **params: Unpack[SearchOptions],
) -> DataFrame:
    """Count facet values among what a search finds, or look for words in the values of one."""
    if facet is None:
        return blocking.read_facets(index, query, client=client, **params)
    return blocking.read_facet_values(index, facet, query, client=client, **params)


def users_or_top(
    query: str = "",
    *,
    cluster: str | None = None,
    top: bool = False,
    client: AnyClient | None = None,
) -> DataFrame:
    """List the users, or with `top` those with the most records."""
    if not top:
        return blocking.read_users(query, cluster=cluster, client=client)
    if query or cluster:
        raise BadOption("`--top` is of all users of every cluster; leave the rest out")
    return blocking.read_top_users(client=client)


def delete_key_and_show(
    key: str, *, index: str | None = None, client: AnyClient | None = None
) -> Done:
    """Delete a key and show it whole: nothing else keeps what would restore it."""
    return blocking.delete_key(key, index=index, reveal=True, client=client)

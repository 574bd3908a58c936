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
    """Load a source into an index, or with `dry_run` return the plan of the load.

    Parameters
    ----------
    source : path, glob, URL, SQL query, DataFrame, Arrow table or dicts
        Rows to load.
    index : str
        Name of the index.
    dry_run : bool, default False
        Return the plan and send nothing.

    Returns
    -------
    LoadResult or LoadPlan
        The result of the load, or its plan.

    Raises
    ------
    BadInput
        If the source or an option is wrong.
    CallFailed
        If the service cannot be reached or refuses the call.
    """
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
    """Count the facet values of the hits of a search, or search the values of one facet.

    Parameters
    ----------
    index : str
        Name of the index.
    query : str, default ""
        Query; with `facet`, words or word prefixes of its values. "" matches everything.
    facet : str, default None
        Facet whose values are searched; None counts the values of facets.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    DataFrame
        The result of `read_facets`, or with `facet` of `read_facet_values`.

    Raises
    ------
    NotFound
        If the index does not exist.
    CallFailed
        If the service cannot be reached or refuses the call.
    """
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
    """Read the users, or with `top` those with the most records.

    Parameters
    ----------
    query : str, default ""
        Text to search for in user ids; "" matches every user.
    cluster : str, default None
        Name of the cluster whose users are read; None reads the users of every cluster.
    top : bool, default False
        Read the users with the most records of each cluster.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    DataFrame
        The result of `read_users`, or with `top` of `read_top_users`.

    Raises
    ------
    BadOption
        If `top` is given together with `query` or `cluster`.
    CallFailed
        If the service cannot be reached or refuses the call.
    """
    if not top:
        return blocking.read_users(query, cluster=cluster, client=client)
    if query or cluster:
        raise BadOption("`--top` is of all users of every cluster; leave the rest out")
    return blocking.read_top_users(client=client)


def delete_key_and_show(
    key: str, *, index: str | None = None, client: AnyClient | None = None
) -> Done:
    """Delete a key and return it unmasked, because `restore_key` needs it.

    Parameters
    ----------
    key : str
        Key, or its first characters.
    index : str, default None
        Name of the index that the key belongs to; None for a key of the application.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    dict
        `key` and `deletedAt`.

    Raises
    ------
    NotFound
        If the key does not exist, or several keys have these first characters.
    CallFailed
        If the service cannot be reached or refuses the call.
    """
    return blocking.delete_key(key, index=index, reveal=True, client=client)

"""Map users to clusters."""

from __future__ import annotations

from typing import Any

from pandas import DataFrame

from svc_notebook.core.api.values import OneOrMany
from svc_notebook.data import frames
from svc_notebook.data.client import AsyncClient
from svc_notebook.data.declarations import accessor, public, verb, verb_only
from svc_notebook.data.frames import Backend
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput, BadOption
from svc_notebook.faces.functions.curation import WriteSummary


@public(verb("users get", "users get 42"), endpoints=("get_user",))
async def get_user(user: str, *, client: AnyClient | None = None) -> dict[str, Any]:
    """Read the cluster of a user and the size of its data.

    Returns
    -------
    dict
        `userID`, `clusterName`, `nbRecords` and `dataSize` (bytes).

    Raises
    ------
    NotFound
        If the user is not on a cluster.

    Examples
    --------
    >>> svc.assign_users("anna", "local-1")
    >>> svc.get_user("anna")["clusterName"]
    'local-1'
    """
    return dict(await asynchronous(client).get_user(user))


@public(
    verb(
        "users assign", "users assign c1-eu 42 43", operands=("cluster", "users"), variable="users"
    ),
    endpoints=("assign_user", "assign_users"),
)
async def assign_users(
    users: OneOrMany, cluster: str, *, client: AnyClient | None = None
) -> WriteSummary:
    """Assign users to a cluster.

    Several users at once must be new; one user that is on another cluster is moved.

    Parameters
    ----------
    users : str or list of str
        Ids of the users.
    cluster : str
        Name of the cluster.

    Returns
    -------
    dict
        `cluster`, `users` (their number) and `createdAt`.

    Raises
    ------
    BadInput
        If no user is named.

    Examples
    --------
    >>> svc.assign_users(["ben", "clara"], "local-1")["users"]
    2
    """
    named = [users] if isinstance(users, str) else list(users)
    if not named or not all(isinstance(user, str) and user for user in named):
        raise BadInput("`users` must be one or more user ids, as text")
    aio = asynchronous(client)
    if len(named) == 1:
        done = await aio.assign_user(named[0], cluster)
    else:
        done = await aio.assign_users(cluster, named)
    return {"cluster": cluster, "users": len(named), "createdAt": done["createdAt"]}


@public(
    verb(
        "users move", "users move 42 c2-eu --yes", destructive="move the user {user} to {cluster}"
    ),
    endpoints=("assign_user",),
)
async def move_user(user: str, cluster: str, *, client: AnyClient | None = None) -> WriteSummary:
    """Move a user and its data to another cluster.

    Parameters
    ----------
    cluster : str
        Name of the new cluster.

    Returns
    -------
    dict
        `user`, the cluster `before` and `after`, and `createdAt`.

    Raises
    ------
    NotFound
        If the user is not on a cluster.

    Examples
    --------
    >>> svc.assign_users("anna", "local-1")
    >>> svc.move_user("anna", "local-2")["after"]
    'local-2'
    """
    aio = asynchronous(client)
    before = await _cluster_of(aio, user)
    done = await aio.assign_user(user, cluster)
    return {**before, "after": cluster, "createdAt": done["createdAt"]}


async def _cluster_of(client: AsyncClient, user: str) -> WriteSummary:
    return {"user": user, "before": (await client.get_user(user))["clusterName"]}


@public(
    verb("users remove", "users remove 42", destructive="remove the user {user} with its data"),
    endpoints=("remove_user",),
    like=move_user.__doc__,
)
async def remove_user(user: str, *, client: AnyClient | None = None) -> WriteSummary:
    """Remove a user and its data.

    Returns
    -------
    dict
        `user`, the cluster `before`, and `deletedAt`.

    Examples
    --------
    >>> svc.assign_users("dora", "local-1")
    >>> svc.remove_user("dora")["before"]
    'local-1'
    """
    aio = asynchronous(client)
    before = await _cluster_of(aio, user)
    return {**before, "deletedAt": (await aio.remove_user(user))["deletedAt"]}


@public(verb("users pending", "users pending"), endpoints=("pending_mappings",))
async def pending_users(*, client: AnyClient | None = None) -> dict[str, Any]:
    """Return whether users are being moved, and to which clusters.

    Returns
    -------
    dict
        `pending` (bool) and `clusters` (dict of lists of user ids by cluster).

    Examples
    --------
    >>> svc.pending_users()["pending"]
    False
    """
    return dict(await asynchronous(client).pending_mappings(getClusters=True))


@public(
    verb("clusters", "clusters", lists=True),
    endpoints=("list_clusters",),
    accessors=(accessor("df.svc.clusters"),),
)
async def read_clusters(
    *, client: AnyClient | None = None, dtype_backend: Backend | None = None
) -> DataFrame:
    """Read the clusters and the number of records and users on each.

    Returns
    -------
    DataFrame
        One row per cluster: `clusterName` (str), `nbRecords` and `nbUserIDs` (int64) and
        `dataSize` (int64, bytes).

    Examples
    --------
    >>> svc.read_clusters()["clusterName"].tolist()
    ['local-1', 'local-2']
    """
    return await frames.read_clusters(asynchronous(client), dtype_backend=dtype_backend)


@public(endpoints=("list_users", "search_users"))
async def read_users(
    query: str = "",
    *,
    cluster: str | None = None,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read the users of a multi-cluster application and their clusters.

    Parameters
    ----------
    query : str, default ""
        Text to search for in user ids; "" matches every user.
    cluster : str, default None
        Name of the cluster whose users are read; None reads the users of every cluster.

    Returns
    -------
    DataFrame
        One row per user: `userID` and `clusterName` (str), `nbRecords` (int64) and `dataSize`
        (int64, bytes).

    Examples
    --------
    >>> svc.read_users(cluster="local-1")
    """
    return await frames.read_users(
        asynchronous(client), query, cluster=cluster, dtype_backend=dtype_backend
    )


@public(verb("users top", "users top", lists=True), endpoints=("top_users",))
async def read_top_users(
    *, client: AnyClient | None = None, dtype_backend: Backend | None = None
) -> DataFrame:
    """Read the users with the most records of each cluster.

    Returns
    -------
    DataFrame
        One row per user: `clusterName` (str), `rank` (int64, from 1 in each cluster), `userID`
        (str), `nbRecords` (int64) and `dataSize` (int64, bytes).

    Examples
    --------
    >>> svc.read_top_users()
    """
    return await frames.read_top_users(asynchronous(client), dtype_backend=dtype_backend)


@verb_only(
    verb("users", "users", "users smith --cluster c1-eu", "users --top"),
    endpoints=("list_users", "search_users", "top_users"),
    like=read_users.__doc__,
)
async def users_or_top(
    query: str = "",
    *,
    cluster: str | None = None,
    top: bool = False,
    client: AnyClient | None = None,
) -> DataFrame:
    """Read the users, or with `top` those with the most records.

    Parameters
    ----------
    top : bool, default False
        Read the users with the most records of each cluster.

    Returns
    -------
    DataFrame
        The result of `read_users`, or with `top` of `read_top_users`.

    Raises
    ------
    BadOption
        If `top` is given together with `query` or `cluster`.
    """
    if not top:
        return await read_users(query, cluster=cluster, client=client)
    if query or cluster:
        raise BadOption(
            "`--top` applies to all users of every cluster; omit `query` and `--cluster`"
        )
    return await read_top_users(client=client)

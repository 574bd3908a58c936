"""Say which cluster holds which user's data."""

from __future__ import annotations

from typing import Any

from svc_notebook.api.texts import OneOrMany
from svc_notebook.declarations.declaration import public, verb
from svc_notebook.errors import BadInput
from svc_notebook.functions.curated_lists import Done
from svc_notebook.session.connection import AnyClient, asynchronous


@public(verb("users get", "users get 42"), endpoints=("get_user",))
async def get_user(user: str, *, client: AnyClient | None = None) -> dict[str, Any]:
    """Read the cluster of a user and the size of its data.

    Parameters
    ----------
    user : str
        Id of the user.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    dict
        `userID`, `clusterName`, `nbRecords` and `dataSize` (bytes).

    Raises
    ------
    NotFound
        If the user is not on a cluster.
    CallFailed
        If the service cannot be reached or refuses the call.

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
async def assign_users(users: OneOrMany, cluster: str, *, client: AnyClient | None = None) -> Done:
    """Assign users to a cluster.

    Several users at once must be new; one user that is on another cluster is moved.

    Parameters
    ----------
    users : str or list of str
        Ids of the users.
    cluster : str
        Name of the cluster.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    dict
        `cluster`, `users` (their number) and `createdAt`.

    Raises
    ------
    BadInput
        If no user is named.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> svc.assign_users(["ben", "clara"], "local-1")["users"]
    2
    """
    named = [users] if isinstance(users, str) else list(users)
    if not named or not all(isinstance(user, str) and user for user in named):
        raise BadInput("users are named by text, one or several")
    own = asynchronous(client)
    if len(named) == 1:
        done = await own.assign_user(named[0], cluster)
    else:
        done = await own.assign_users(cluster, named)
    return {"cluster": cluster, "users": len(named), "createdAt": done["createdAt"]}


@public(
    verb(
        "users move", "users move 42 c2-eu --yes", destructive="move the user {user} to {cluster}"
    ),
    endpoints=("assign_user",),
)
async def move_user(user: str, cluster: str, *, client: AnyClient | None = None) -> Done:
    """Move a user and its data to another cluster.

    Parameters
    ----------
    user : str
        Id of the user.
    cluster : str
        Name of the new cluster.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    dict
        `user`, the cluster `before` and `after`, and `createdAt`.

    Raises
    ------
    NotFound
        If the user is not on a cluster.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> svc.assign_users("anna", "local-1")
    >>> svc.move_user("anna", "local-2")["after"]
    'local-2'
    """
    own = asynchronous(client)
    before = (await own.get_user(user))["clusterName"]
    done = await own.assign_user(user, cluster)
    return {"user": user, "before": before, "after": cluster, "createdAt": done["createdAt"]}


@public(
    verb("users remove", "users remove 42", destructive="remove the user {user} with its data"),
    endpoints=("remove_user",),
)
async def remove_user(user: str, *, client: AnyClient | None = None) -> Done:
    """Remove a user and its data.

    Parameters
    ----------
    user : str
        Id of the user.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    dict
        `user`, the cluster `before`, and `deletedAt`.

    Raises
    ------
    NotFound
        If the user is not on a cluster.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> svc.assign_users("dora", "local-1")
    >>> svc.remove_user("dora")["before"]
    'local-1'
    """
    own = asynchronous(client)
    before = (await own.get_user(user))["clusterName"]
    done = await own.remove_user(user)
    return {"user": user, "before": before, "deletedAt": done["deletedAt"]}


@public(verb("users pending", "users pending"), endpoints=("pending_mappings",))
async def pending_users(*, client: AnyClient | None = None) -> dict[str, Any]:
    """Return whether users are being moved, and to which clusters.

    Parameters
    ----------
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    dict
        `pending` (bool) and `clusters` (dict of lists of user ids by cluster).

    Raises
    ------
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> svc.pending_users()["pending"]
    False
    """
    return dict(await asynchronous(client).pending_mappings(getClusters=True))

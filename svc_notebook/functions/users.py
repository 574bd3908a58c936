"""Say which cluster holds which user's data."""

from __future__ import annotations

from typing import Any

from svc_notebook.api.texts import OneOrMany
from svc_notebook.errors import BadInput
from svc_notebook.functions.curated_lists import Done
from svc_notebook.session.connection import AnyClient, asynchronous


async def get_user(user: str, *, client: AnyClient | None = None) -> dict[str, Any]:
    """Read which cluster holds a user, and how much."""
    return dict(await asynchronous(client).get_user(user))


async def assign_users(users: OneOrMany, cluster: str, *, client: AnyClient | None = None) -> Done:
    """Put new users on a cluster; `move_user` moves one that is on another."""
    named = [users] if isinstance(users, str) else list(users)
    if not named or not all(isinstance(user, str) and user for user in named):
        raise BadInput("users are named by text, one or several")
    own = asynchronous(client)
    if len(named) == 1:
        done = await own.assign_user(named[0], cluster)
    else:
        done = await own.assign_users(cluster, named)
    return {"cluster": cluster, "users": len(named), "createdAt": done["createdAt"]}


async def move_user(user: str, cluster: str, *, client: AnyClient | None = None) -> Done:
    """Move a user with its data to another cluster; one that is on none is an error."""
    own = asynchronous(client)
    before = (await own.get_user(user))["clusterName"]
    done = await own.assign_user(user, cluster)
    return {"user": user, "before": before, "after": cluster, "createdAt": done["createdAt"]}


async def remove_user(user: str, *, client: AnyClient | None = None) -> Done:
    """Remove a user with its data."""
    own = asynchronous(client)
    before = (await own.get_user(user))["clusterName"]
    done = await own.remove_user(user)
    return {"user": user, "before": before, "deletedAt": done["deletedAt"]}


async def pending_users(*, client: AnyClient | None = None) -> dict[str, Any]:
    """Say whether users are on the move, and to which clusters."""
    return dict(await asynchronous(client).pending_mappings(getClusters=True))

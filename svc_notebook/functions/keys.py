"""Make, change, delete and restore keys; make secured keys and say what one restricts.

A key is a secret: what is returned shows it to nobody who does not ask, by `.reveal()` or by
`reveal=True`. A key that exists may be named by its first characters, as a listing shows them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Unpack

from pandas import DataFrame

from svc_notebook import frames
from svc_notebook.api.secured_keys import read_secured_key
from svc_notebook.api.shapes import Key, KeyFields
from svc_notebook.api.warning import warn_user
from svc_notebook.client import AsyncClient, Secret
from svc_notebook.client.secret import discreet
from svc_notebook.declarations.declaration import public, verb
from svc_notebook.errors import BadInput, NotFound
from svc_notebook.frames.columns import Backend
from svc_notebook.functions.curated_lists import Done
from svc_notebook.session.connection import AnyClient, asynchronous

AnyKey = str | Secret | Mapping[str, Any]
FIELDS = tuple(KeyFields.__annotations__)
PATIENCE, PAUSE = 10.0, 0.25  # seconds until a key is known on every host, and between two looks
TOLD = "..."  # how a listing ends a key


@public(
    verb("keys get", "keys get", "keys get 1f3a", variable="key"),
    endpoints=("get_key", "get_index_key"),
)
@discreet
async def get_key(
    key: AnyKey | None = None, *, index: str | None = None, client: AnyClient | None = None
) -> dict[str, Any]:
    """Read the rights and restrictions of a key.

    Parameters
    ----------
    key : str, Secret or dict, default the key in use
        Key, its first characters, or the result of `add_key`.
    index : str, default None
        Name of the index that the key belongs to; None for a key of the application.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    dict
        `value` (masked), `acl`, `createdAt` (Unix time), `validity` (seconds left, 0 for
        unlimited) and the other fields of the key.

    Raises
    ------
    NotFound
        If the key does not exist, or several keys have these first characters.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> key = svc.add_key(acl=["search"], description="shop")
    >>> svc.get_key(key)["acl"]
    ['search']
    """
    own = asynchronous(client)
    text = await _resolve(own, own.connection.api_key if key is None else key, index)
    found = await _read(own, text, index)
    return {**found, "value": Secret(found["value"])}


@public(
    verb(
        "keys add",
        "keys add --acl search,browse --indexes prod_* --description 'the shop' --reveal",
        "keys add --acl search --maxHitsPerQuery 50 --validity 3600",
        body="fields of a key",
    ),
    endpoints=("add_key", "add_index_key"),
)
@discreet
async def add_key(
    *,
    index: str | None = None,
    reveal: bool = False,
    client: AnyClient | None = None,
    **fields: Unpack[KeyFields],
) -> Done:
    """Create a key and wait until the service accepts it.

    Parameters
    ----------
    index : str, default None
        Name of the index that the key is for; None creates a key of the application.
    reveal : bool, default False
        Return the key as text instead of masked.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    dict
        `key` (masked; `.reveal()` returns the text) and `createdAt`. A warning reports a key
        that is not accepted within 10 seconds.

    Raises
    ------
    BadInput
        If a field is wrong or unknown.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> key = svc.add_key(acl=["search"], validity=3600, description="shop")
    >>> text = key["key"].reveal()
    """
    own = asynchronous(client)
    if index is None:
        made = await own.add_key(**fields)
    else:
        made = await own.add_index_key(index, **fields)
    await _settled(own, made["key"], index, there=True)
    return {"key": mask_key(made["key"], reveal), "createdAt": made["createdAt"]}


@public(
    verb(
        "keys update",
        "keys update 1f3a --acl search --description 'the shop, old'",
        variable="key",
        body="fields of a key",
    ),
    endpoints=("update_key", "update_index_key"),
)
@discreet
async def update_key(
    key: AnyKey,
    *,
    index: str | None = None,
    client: AnyClient | None = None,
    **fields: Unpack[KeyFields],
) -> DataFrame:
    """Change fields of a key and wait until the change is visible.

    Other fields keep their values. The service restarts the validity with each change; unless
    `validity` is given, the key gets the rest of its own.

    Parameters
    ----------
    key : str, Secret or dict
        Key, its first characters, or the result of `add_key`.
    index : str, default None
        Name of the index that the key belongs to; None for a key of the application.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    DataFrame
        One row per changed field: `field` (object), `before` and `after` (object). A warning
        reports a change that is not visible within 10 seconds.

    Raises
    ------
    BadInput
        If no field is given, or one is wrong or unknown.
    NotFound
        If the key does not exist, or several keys have these first characters.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> key = svc.add_key(acl=["search"], description="shop")
    >>> svc.update_key(key, description="website")
             field before    after
    0  description   shop  website
    """
    if not fields:
        raise BadInput(f"name what is to change: {', '.join(FIELDS)}")
    own = asynchronous(client)
    text = await _resolve(own, key, index)
    before = await _read(own, text, index)
    if before.get("validity"):
        fields.setdefault("validity", before["validity"])
    kept: Any = {name: value for name, value in before.items() if name in FIELDS} | dict(fields)
    if index is None:
        await own.update_key(text, **kept)
    else:
        await own.update_index_key(index, text, **kept)
    await _changed(own, text, index, {name: kept[name] for name in fields})
    rows = [(name, before.get(name), kept[name]) for name in fields]
    return DataFrame(rows, columns=["field", "before", "after"], dtype=object)


@public(
    verb(
        "keys delete",
        "keys delete 1f3a",
        "keys delete 1f3a --yes",
        variable="key",
        faces=("magic",),
        destructive="delete the key {key}",
    ),
    verb(
        "keys delete",
        "keys delete 1f3a",
        "keys delete 1f3a --yes",
        summary="Delete a key and show it whole, as `keys restore` needs it",
        faces=("command",),
        fixed={"reveal": True},
        destructive="delete the key {key}",
    ),
    endpoints=("delete_key", "delete_index_key"),
)
@discreet
async def delete_key(
    key: AnyKey,
    *,
    index: str | None = None,
    reveal: bool = False,
    client: AnyClient | None = None,
) -> Done:
    """Delete a key and wait until the service refuses it.

    Parameters
    ----------
    key : str, Secret or dict
        Key, its first characters, or the result of `add_key`.
    index : str, default None
        Name of the index that the key belongs to; None for a key of the application.
    reveal : bool, default False
        Return the key as text instead of masked.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    dict
        `key` (masked unless `reveal`) and `deletedAt`; `restore_key` accepts it.

    Raises
    ------
    NotFound
        If the key does not exist, or several keys have these first characters.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> key = svc.add_key(acl=["search"], description="shop")
    >>> deleted = svc.delete_key(key)
    """
    own = asynchronous(client)
    text = await _resolve(own, key, index)
    if index is None:
        done = await own.delete_key(text)
    else:
        done = await own.delete_index_key(index, text)
    await _settled(own, text, index, there=False)
    return {"key": mask_key(text, reveal), "deletedAt": done["deletedAt"]}


@public(endpoints=("restore_key",))
@discreet
async def restore_key(key: AnyKey, *, client: AnyClient | None = None) -> Done:
    """Restore a deleted key and wait until the service accepts it.

    Parameters
    ----------
    key : str, Secret or dict
        Whole key, or the result of `delete_key`.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    dict
        `key` (masked) and `createdAt`.

    Raises
    ------
    NotFound
        If the key is not among the deleted keys.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> deleted = svc.delete_key(svc.add_key(acl=["search"]))
    >>> restored = svc.restore_key(deleted)
    """
    own = asynchronous(client)
    text = key_text(key)
    done = await own.restore_key(text)
    await _settled(own, text, None, there=True)
    return {"key": Secret(text), "createdAt": done["createdAt"]}


@public(verb("whoami", "whoami"), endpoints=("get_key",))
@discreet
async def whoami(*, client: AnyClient | None = None) -> dict[str, Any]:
    """Return the address, the application and the rights of the client.

    Parameters
    ----------
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    dict
        `address`, `application`, `rights` (list) and `description` of the key; for a secured
        key `restrictions` instead of the last two; for the admin key, if the service does not
        list it, `rights` of `admin`.

    Raises
    ------
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> "search" in svc.whoami()["rights"]
    True
    """
    own = asynchronous(client)
    connection = own.connection
    known: Done = {"address": connection.address, "application": connection.app_id}
    if secured := read_secured_key(connection.api_key.reveal()):
        return known | {"restrictions": secured.restrictions()}  # its rights are its parent's
    try:
        key = await own.get_key(connection.api_key.reveal())
    except NotFound:
        return known | {"rights": ["admin"]}  # what is no key among keys, and yet a key
    return known | {"rights": key["acl"], "description": key.get("description", "")}


def mask_key(text: str, reveal: bool) -> Secret | str:
    """Return a key as text, or masked."""
    return text if reveal else Secret(text)


def key_text(key: AnyKey) -> str:
    """Take a key as text, as a secret, or out of what made or listed it."""
    if isinstance(key, Mapping):
        key = key.get("key") or key.get("value") or ""
    text = key.reveal() if isinstance(key, Secret) else key
    if not isinstance(text, str) or not text:
        raise BadInput("a key is text, a secret, or what `add_key` returned")
    return text


async def _resolve(client: AsyncClient, key: AnyKey, index: str | None) -> str:
    """Find the one key that begins so; a whole one is itself."""
    text = key_text(key)
    if not isinstance(key, str):
        return text
    beginning = text.removesuffix(TOLD)
    if not text.endswith(TOLD) and await _exists(client, text, index):
        return text
    answer = await (client.list_keys() if index is None else client.list_index_keys(index))
    found = [each["value"] for each in answer["keys"] if each["value"].startswith(beginning)]
    if len(found) != 1:
        count = f"{len(found)} keys begin" if found else "no key begins"
        raise NotFound(f"{count} with `{beginning[:4]}`; `keys` lists them", status=404)
    return found[0]


async def _read(client: AsyncClient, text: str, index: str | None) -> Key:
    if index is None:
        return await client.get_key(text)
    return await client.get_index_key(index, text)


async def _exists(client: AsyncClient, text: str, index: str | None) -> bool:
    try:
        await _read(client, text, index)
    except NotFound:
        return False
    return True


async def _settled(client: AsyncClient, text: str, index: str | None, *, there: bool) -> None:
    """Wait until a key is known, or forgotten."""

    async def is_settled() -> bool:
        return await _exists(client, text, index) == there

    await _seen(is_settled, "is not known" if there else "is still known")


async def _changed(
    client: AsyncClient, text: str, index: str | None, fields: Mapping[str, Any]
) -> None:
    """Wait until a key has these fields."""

    async def is_changed() -> bool:
        try:
            found = await _read(client, text, index)
        except NotFound:
            return False
        return all(_is_same(name, found.get(name), value) for name, value in fields.items())

    await _seen(is_changed, "has not changed")


def _is_same(field: str, found: Any, wanted: Any) -> bool:
    """Whether a field is as it was set: lists are sets, a default may be left out, time passes."""
    if field == "validity":
        return bool(found) == bool(wanted) and (found or 0) <= (wanted or 0)
    if isinstance(wanted, list):
        return set(found or ()) == set(wanted)
    return (found or None) == (wanted or None)


async def _seen(look: Callable[[], Awaitable[bool]], still: str) -> None:
    """Look until a change is seen: a hosted service takes a moment; warns where it takes longer."""
    deadline = time.monotonic() + PATIENCE
    while not await look():
        if time.monotonic() >= deadline:
            warn_user(f"the service took the call, but the key {still} after {PATIENCE:g} s")
            return
        await asyncio.sleep(PAUSE)


@public(
    verb("keys", "keys", "keys products", "keys --reveal"),
    endpoints=("list_keys", "list_index_keys", "list_all_index_keys"),
)
async def read_keys(
    index: str | None = None,
    *,
    reveal: bool = False,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read the API keys of the application or of an index.

    Parameters
    ----------
    index : str, default None
        Name of the index whose keys are read; `*` reads the keys of every index, None those
        of the application.
    reveal : bool, default False
        Return whole keys; by default, keys are masked to their first four characters.
    client : Client or AsyncClient, default the current client
        Client to use.
    dtype_backend : {'numpy_nullable', 'pyarrow'}, default None
        Dtypes of the result, as in pandas; None selects the dtypes listed below.

    Returns
    -------
    DataFrame
        One row per key: `value` and `description` (str), `acl` (object, a list), `index` (str,
        empty for a key of the application), `indexes` (object, a list or None), `createdAt`
        (datetime64[us, UTC]), `validity` (int64, seconds left, 0 for unlimited),
        `maxHitsPerQuery` and `maxQueriesPerIPPerHour` (int64, 0 for unlimited),
        `queryParameters` (str) and `referers` (object, a list or None).

    Raises
    ------
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> svc.read_keys()[["value", "acl", "validity"]]
    """
    return await frames.read_keys(
        asynchronous(client), index, reveal=reveal, dtype_backend=dtype_backend
    )

"""Create, change, delete and restore API keys.

Returned keys are masked; `.reveal()` or `reveal=True` unmasks them. An existing key can be named by
its first characters, as a listing shows them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, Unpack

from pandas import DataFrame

from svc_notebook.core.api.secured_keys import read_secured_key
from svc_notebook.core.api.shapes import Key, KeyFields
from svc_notebook.core.api.shapes.administration import REDACTED
from svc_notebook.core.api.values import expiry_of, read_seconds
from svc_notebook.core.terminal import warn_user
from svc_notebook.data import frames
from svc_notebook.data.client import AsyncClient, Secret, discreet
from svc_notebook.data.declarations import public, verb
from svc_notebook.data.frames import Backend
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput, NotFound
from svc_notebook.faces.functions.curation import WriteSummary

AnyKey = str | Secret | Mapping[str, Any]
FIELDS = tuple(KeyFields.__annotations__)
_SHOWN_FIELDS = tuple(name for name in FIELDS if name not in ("acl", "validity"))
# Maximum time until a key is known on every host, and the time between two checks.
PROPAGATION_SECONDS, POLL_SECONDS = 10.0, 0.25
MASK_SUFFIX = "..."  # the end of a masked key in a listing


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

    Returns
    -------
    dict
        `value` (masked), `acl`, `createdAt` (Unix time), `validity` (seconds left, 0 for
        unlimited) and the other fields of the key.

    Raises
    ------
    NotFound
        If the key does not exist, or several keys have these first characters.

    Examples
    --------
    >>> key = svc.add_key(acl=["search"], description="shop")
    >>> svc.get_key(key)["acl"]
    ['search']
    """
    aio = asynchronous(client)
    text = await _resolve(aio, aio.connection.api_key if key is None else key, index)
    stored = await _read(aio, text, index)
    return {**stored, "value": Secret(stored["value"])}


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
) -> WriteSummary:
    """Create a key and wait until the service accepts it.

    Parameters
    ----------
    index : str, default None
        Name of the index that the key is for; None creates a key of the application.

    Returns
    -------
    dict
        `key` (masked; `.reveal()` returns the text) and `createdAt`. A warning reports a key
        that is not accepted within 10 seconds.

    Raises
    ------
    BadInput
        If a field is wrong or unknown.

    Examples
    --------
    >>> key = svc.add_key(acl=["search"], validity=3600, description="shop")
    >>> text = key["key"].reveal()
    """
    aio = asynchronous(client)
    _read_validity(fields)
    made = await _calls(aio, index).add(**fields)
    await _wait_for_key(aio, made["key"], index, there=True)
    return {"key": mask_key(made["key"], reveal), "createdAt": made["createdAt"]}


@public(
    verb(
        "keys update",
        "keys update 1f3a --acl search --description 'the shop, old'",
        variable="key",
        body="fields of a key",
    ),
    endpoints=("update_key", "update_index_key"),
    like=get_key.__doc__,
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
    `validity` is given, the key keeps its remaining validity.

    Parameters
    ----------
    key : str, Secret or dict
        Key, its first characters, or the result of `add_key`.

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

    Examples
    --------
    >>> key = svc.add_key(acl=["search"], description="shop")
    >>> svc.update_key(key, description="website")
             field before    after
    0  description   shop  website
    """
    if not fields:
        raise BadInput(f"no field to change; pass one or more of {', '.join(FIELDS)}")
    _read_validity(fields)
    aio = asynchronous(client)
    text = await _resolve(aio, key, index)
    before = await _read(aio, text, index)
    if before.get("validity"):
        fields.setdefault("validity", before["validity"])
    kept: Any = {name: value for name, value in before.items() if name in FIELDS} | dict(fields)
    await _calls(aio, index).update(text, **kept)
    await _wait_for_fields(aio, text, index, {name: kept[name] for name in fields})
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
        summary="Delete a key and print it unmasked, as `keys restore` requires",
        faces=("command",),
        fixed={"reveal": True},
        destructive="delete the key {key}",
    ),
    endpoints=("delete_key", "delete_index_key"),
    like=get_key.__doc__,
)
@discreet
async def delete_key(
    key: AnyKey,
    *,
    index: str | None = None,
    reveal: bool = False,
    client: AnyClient | None = None,
) -> WriteSummary:
    """Delete a key and wait until the service refuses it.

    Parameters
    ----------
    key : str, Secret or dict
        Key, its first characters, or the result of `add_key`.

    Returns
    -------
    dict
        `key` (masked unless `reveal`) and `deletedAt`; `restore_key` accepts it.

    Examples
    --------
    >>> key = svc.add_key(acl=["search"], description="shop")
    >>> deleted = svc.delete_key(key)
    """
    aio = asynchronous(client)
    text = await _resolve(aio, key, index)
    done = await _calls(aio, index).delete(text)
    await _wait_for_key(aio, text, index, there=False)
    return {"key": mask_key(text, reveal), "deletedAt": done["deletedAt"]}


@public(endpoints=("restore_key",))
@discreet
async def restore_key(key: AnyKey, *, client: AnyClient | None = None) -> WriteSummary:
    """Restore a deleted key and wait until the service accepts it.

    Parameters
    ----------
    key : str, Secret or dict
        Whole key, or the result of `delete_key`.

    Returns
    -------
    dict
        `key` (masked) and `createdAt`.

    Raises
    ------
    NotFound
        If the key is not among the deleted keys.

    Examples
    --------
    >>> deleted = svc.delete_key(svc.add_key(acl=["search"]))
    >>> restored = svc.restore_key(deleted)
    """
    aio = asynchronous(client)
    text = key_text(key)
    done = await aio.restore_key(text)
    await _wait_for_key(aio, text, None, there=True)
    return {"key": Secret(text), "createdAt": done["createdAt"]}


@public(verb("whoami", "whoami"), endpoints=("get_key",))
@discreet
async def whoami(*, client: AnyClient | None = None) -> dict[str, Any]:
    """Return the address, the application and the rights of the client.

    Returns
    -------
    dict
        `address`, `application`, `rights` (list) and, if the key has them, `description`,
        `expires` (UTC) and its limits: `indexes`, `maxHitsPerQuery`, `maxQueriesPerIPPerHour`,
        `queryParameters` and `referers`. A service may keep the description from the key itself.
        A secured key has `restrictions` instead. An admin key that the service does not list has
        the `rights` `admin`.

    Examples
    --------
    >>> "search" in svc.whoami()["rights"]
    True
    """
    aio = asynchronous(client)
    connection = aio.connection
    facts: WriteSummary = {"address": connection.address, "application": connection.app_id}
    if secured := read_secured_key(connection.api_key.reveal()):
        return facts | {
            "restrictions": secured.restrictions()
        }  # its rights are those of its parent
    try:
        key = await _read(aio, connection.api_key.reveal(), None)
    except NotFound:
        return facts | {"rights": ["admin"]}  # a valid key that is not listed: the admin key
    limits: WriteSummary = {
        name: value for name, value in key.items() if name in _SHOWN_FIELDS and value
    }
    if expires := expiry_of(key.get("validity", 0)):
        limits["expires"] = expires
    return facts | {"rights": key["acl"], **limits}


class KeyCalls(NamedTuple):
    """The calls that create, read, change, delete and list keys."""

    add: Callable[..., Awaitable[Any]]
    get: Callable[..., Awaitable[Any]]
    update: Callable[..., Awaitable[Any]]
    delete: Callable[..., Awaitable[Any]]
    list: Callable[..., Awaitable[Any]]


def _calls(client: AsyncClient, index: str | None) -> KeyCalls:
    """Return the calls for keys of an index, or of the application."""
    if index is None:
        return KeyCalls(
            client.add_key, client.get_key, client.update_key, client.delete_key, client.list_keys
        )
    calls = (
        client.add_index_key, client.get_index_key, client.update_index_key,
        client.delete_index_key, client.list_index_keys,
    )  # fmt: skip
    return KeyCalls(*(partial(call, index) for call in calls))


def _read_validity(fields: Any) -> None:
    """Replace a validity such as `24h` by its seconds."""
    if "validity" in fields:
        fields["validity"] = read_seconds(fields["validity"], "validity")


def mask_key(text: str, reveal: bool) -> Secret | str:
    """Return a key as text, or masked."""
    return text if reveal else Secret(text)


def key_text(key: AnyKey) -> str:
    """Return the text of a key given as text, as a secret, or in a response that contains it."""
    if isinstance(key, Mapping):
        key = key.get("key") or key.get("value") or ""
    text = key.reveal() if isinstance(key, Secret) else key
    if not isinstance(text, str) or not text:
        raise BadInput("a key must be text, a secret or the result of `svc.add_key`")
    return text


async def _resolve(client: AsyncClient, key: AnyKey, index: str | None) -> str:
    """Return the one key that starts with the given characters; a complete key is returned."""
    text = key_text(key)
    if not isinstance(key, str):
        return text
    beginning = text.removesuffix(MASK_SUFFIX)
    if not text.endswith(MASK_SUFFIX) and await _exists(client, text, index):
        return text
    answer = await _calls(client, index).list()
    matching: list[str] = [
        listed["value"] for listed in answer["keys"] if listed["value"].startswith(beginning)
    ]
    if len(matching) != 1:
        count = f"{len(matching)} keys begin" if matching else "no key begins"
        raise NotFound(f"{count} with `{beginning[:4]}`; `svc.read_keys` lists them", status=404)
    return matching[0]


async def _read(client: AsyncClient, text: str, index: str | None) -> Key:
    key: Key = await _calls(client, index).get(text)
    if key.get("description") == REDACTED:
        del key["description"]
    return key


async def _exists(client: AsyncClient, text: str, index: str | None) -> bool:
    try:
        await _read(client, text, index)
    except NotFound:
        return False
    return True


async def _wait_for_key(client: AsyncClient, text: str, index: str | None, *, there: bool) -> None:
    """Wait until the service accepts a key, or no longer accepts it."""

    async def is_accepted_or_gone() -> bool:
        return await _exists(client, text, index) == there

    await _poll(is_accepted_or_gone, "is not accepted yet" if there else "is still accepted")


async def _wait_for_fields(
    client: AsyncClient, text: str, index: str | None, fields: Mapping[str, Any]
) -> None:
    """Wait until a key has these fields."""

    async def is_changed() -> bool:
        try:
            stored = await _read(client, text, index)
        except NotFound:
            return False
        return all(_is_same(name, stored.get(name), value) for name, value in fields.items())

    await _poll(is_changed, "has not changed")


def _is_same(field: str, stored: Any, value: Any) -> bool:
    """Return whether a field has the value that was set.

    Lists are compared as sets; a default can be missing; the remaining validity decreases.
    """
    if field == "validity":
        return bool(stored) == bool(value) and (stored or 0) <= (value or 0)
    if isinstance(value, list):
        return set(stored or ()) == set(value)
    return (stored or None) == (value or None)


async def _poll(look: Callable[[], Awaitable[bool]], problem: str) -> None:
    """Poll until a change is visible on a hosted service; warn if it takes too long."""
    deadline = time.monotonic() + PROPAGATION_SECONDS
    while not await look():
        if time.monotonic() >= deadline:
            warn_user(
                "the service accepted the call, but the key "
                f"{problem} after {PROPAGATION_SECONDS:g} s"
            )
            return
        await asyncio.sleep(POLL_SECONDS)


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
        Return unmasked keys; by default, keys are masked to their first four characters.

    Returns
    -------
    DataFrame
        One row per key: `value` and `description` (str), `acl` (object, a list), `index` (str,
        empty for a key of the application), `indexes` (object, a list or None), `createdAt`
        (datetime64[us, UTC]), `validity` (int64, seconds left, 0 for unlimited), `expires`
        (datetime64[us, UTC], missing for unlimited),
        `maxHitsPerQuery` and `maxQueriesPerIPPerHour` (int64, 0 for unlimited),
        `queryParameters` (str) and `referers` (object, a list or None).

    Examples
    --------
    >>> svc.read_keys()[["value", "acl", "validity"]]
    """
    return await frames.read_keys(
        asynchronous(client), index, reveal=reveal, dtype_backend=dtype_backend
    )

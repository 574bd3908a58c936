"""Handlers that create, change and read API keys."""

from __future__ import annotations

from typing import Unpack, cast

from svc_notebook.core.api import SearchApi
from svc_notebook.core.api.shapes import DeletedAt, Key, KeyAdded, KeyFields, KeyList, KeyUpdated
from svc_notebook.errors import KeyRefused
from svc_notebook.service.handlers.registry import serves
from svc_notebook.service.indices.published_index import stamp_now
from svc_notebook.service.service import RequestContext


@serves(SearchApi.add_key)
def add_key(call: RequestContext, **fields: Unpack[KeyFields]) -> KeyAdded:
    """Create a key of the application."""
    return {"key": call.service.keyring.add(fields), "createdAt": stamp_now()}


@serves(SearchApi.update_key)
def update_key(call: RequestContext, key: str, **fields: Unpack[KeyFields]) -> KeyUpdated:
    """Replace the fields of a key."""
    call.service.keyring.get(key)
    call.service.keyring.update(key, fields)
    return {"key": key, "updatedAt": stamp_now()}


@serves(SearchApi.list_keys)
def list_keys(call: RequestContext) -> KeyList:
    """List the keys of the application."""
    return {"keys": [cast("Key", key.to_api()) for key in call.service.keyring.all()]}


@serves(SearchApi.get_key)
def get_key(call: RequestContext, key: str) -> Key:
    """Read a key; without the admin key, only the calling key."""
    held = [k for k in call.caller.keys if k.value == key]
    if held:
        return cast("Key", held[0].to_api(hide_description=True))
    if not call.caller.admin:
        raise KeyRefused("a key can read only itself; other keys need the admin key", status=403)
    keyring = call.service.keyring
    stored = keyring.admin() if key == keyring.facts["adminKey"] else keyring.get(key)
    return cast("Key", stored.to_api())


@serves(SearchApi.delete_key)
def delete_key(call: RequestContext, key: str) -> DeletedAt:
    """Delete a key."""
    call.service.keyring.get(key)
    call.service.keyring.delete(key)
    return {"deletedAt": stamp_now()}


@serves(SearchApi.restore_key)
def restore_key(call: RequestContext, key: str) -> KeyAdded:
    """Restore a deleted key."""
    call.service.keyring.restore(key)
    return {"key": key, "createdAt": stamp_now()}


@serves(SearchApi.add_index_key)
def add_index_key(call: RequestContext, index: str, **fields: Unpack[KeyFields]) -> KeyAdded:
    """Create a key of one index."""
    return {"key": call.service.keyring.add(fields, index), "createdAt": stamp_now()}


@serves(SearchApi.update_index_key)
def update_index_key(
    call: RequestContext, index: str, key: str, **fields: Unpack[KeyFields]
) -> KeyUpdated:
    """Replace the fields of an index's key; a missing key is ignored."""
    call.service.keyring.update(key, fields, index)
    return {"key": key, "updatedAt": stamp_now()}


@serves(SearchApi.list_index_keys)
def list_index_keys(call: RequestContext, index: str) -> KeyList:
    """List one index's keys."""
    call.service.catalog.find(index)
    return {"keys": [cast("Key", key.to_api()) for key in call.service.keyring.all(index)]}


@serves(SearchApi.list_all_index_keys)
def list_all_index_keys(call: RequestContext) -> KeyList:
    """List the keys of all indices, each with its index."""
    keys = call.service.keyring.all_of_indices()
    return {"keys": [cast("Key", {**key.to_api(), "index": key.index}) for key in keys]}


@serves(SearchApi.get_index_key)
def get_index_key(call: RequestContext, index: str, key: str) -> Key:
    """Read an index's key."""
    return cast("Key", call.service.keyring.get(key, index).to_api())


@serves(SearchApi.delete_index_key)
def delete_index_key(call: RequestContext, index: str, key: str) -> DeletedAt:
    """Delete an index's key."""
    call.service.keyring.get(key, index)
    call.service.keyring.delete(key, index)
    return {"deletedAt": stamp_now()}

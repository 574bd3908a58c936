"""The origin of a clone: its source index, and digests of the objects of the source.

A deployment compares three states by name: the copy, the target, and what is known of the target
since the clone. So it knows who changed what.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from svc_notebook.core.files import (
    add_checksum,
    user_data_folder,
    verify_checksum,
    write_atomically,
)
from svc_notebook.core.terminal import warn_user
from svc_notebook.data.client import AsyncClient
from svc_notebook.errors import BadInput
from svc_notebook.tuning.changes.state import IndexConfiguration, Objects, Scope, is_default

DIGEST_HEX_DIGITS = 24
MAX_DIGESTS_PER_NAME = 20
ABSENT = ""  # the digest of a missing object, and of a setting with its default
# What an object was when it was cloned, then each time it was deployed; the last is the newest.
Digests = dict[Scope, dict[str, list[str]]]


class Origin(msgspec.Struct, frozen=True):
    """The source of a copy; `indices` has digests of the source and of its replicas.

    `partial`: whether the copy has only some of the records.
    """

    profile: str
    app_id: str
    address: str
    index: str
    when: float
    partial: bool
    indices: dict[str, Digests]

    def is_of(self, client: AsyncClient, index: str) -> bool:
        """Return whether this is the origin of copies of an index."""
        return (self.app_id, self.address) == client.connection.place and self.index == index

    def known(self, index: str, scope: Scope, name: str) -> list[str] | None:
        """Return the digests that an object had; None if its scope was not cloned."""
        scopes = self.indices.get(index, {})
        return scopes[scope].get(name, [ABSENT]) if scope in scopes else None

    def after(self, index: str, scope: Scope, objects: Objects) -> Origin:
        """Return the origin after these objects were deployed to an index."""
        scopes: Digests = dict(self.indices.get(index, {}))
        names = dict(scopes.get(scope, {}))
        for name, value in objects.items():
            digest = digest_object(scope, name, value)
            earlier = [older for older in names.get(name, [ABSENT]) if older != digest]
            names[name] = [*earlier, digest][-MAX_DIGESTS_PER_NAME:]
        scopes[scope] = names
        return msgspec.structs.replace(self, indices={**self.indices, index: scopes})


# Created here, once: msgspec fails if two threads use a type for the first time simultaneously.
_ORIGIN = msgspec.json.Decoder(Origin)


def make_origin(
    client: AsyncClient,
    profile: str,
    index: str,
    states: Mapping[str, IndexConfiguration],
    scopes: Iterable[Scope],
    *,
    partial: bool,
) -> Origin:
    """Describe the present states of an index and its replicas, by name."""
    chosen = list(scopes)
    digests = {name: digest_state(state, chosen) for name, state in states.items()}
    return Origin(profile, *client.connection.place, index, time.time(), partial, digests)


def digest_state(state: IndexConfiguration, scopes: Iterable[Scope]) -> Digests:
    """Return a digest of each object that a configuration has."""
    return {
        scope: {
            name: [digest_object(scope, name, value)]
            for name, value in state.part(scope).items()
            if not is_default(scope, name, value)
        }
        for scope in scopes
    }


def digest_object(scope: Scope, name: str, value: Any) -> str:
    """Return the digest of an object; the order of members does not count."""
    if is_default(scope, name, value):
        return ABSENT
    json = msgspec.json.encode(value, order="sorted")
    return hashlib.sha256(json).hexdigest()[:DIGEST_HEX_DIGITS]


def write_origin(client: AsyncClient, index: str, origin: Origin) -> None:
    """Store the origin of a copy; a disk that refuses it is reported, and prevents nothing."""
    path = _path(client, index)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(path, add_checksum(msgspec.json.encode(origin)), sync=True, mode=0o600)
    except OSError as error:
        warn_user(
            f"the origin of {index} was not stored in {path} ({error.strerror}): a deployment "
            "cannot recognise changes that others make to the original"
        )


def read_origin(client: AsyncClient, index: str) -> Origin | None:
    """Read the origin of a copy; None if the index is not a clone, or its origin is unreadable."""
    path = _path(client, index)
    try:
        json = verify_checksum(path.read_bytes())
        return _ORIGIN.decode(json) if json is not None else None
    except (FileNotFoundError, msgspec.MsgspecError):
        return None
    except OSError as error:
        raise BadInput(f"the origin {path} cannot be read: {error.strerror}") from None


def _path(client: AsyncClient, index: str) -> Path:
    text = "\0".join([*client.connection.place, index])
    name = hashlib.sha256(text.encode()).hexdigest()[:32]
    return user_data_folder("origins") / f"{name}.json"

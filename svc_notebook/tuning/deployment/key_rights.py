"""The rights of the keys of both sides, checked before anything else is sent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from svc_notebook.core.api.secured_keys import read_secured_key
from svc_notebook.data.client import AsyncClient
from svc_notebook.errors import KeyRefused, NotFound

ADMIN = "admin"


@dataclass(frozen=True)
class KeyRights:
    """What the key of one side may do; `rights` is None for the admin key, which may do all."""

    side: str
    rights: frozenset[str] | None
    indices: tuple[str, ...] = ()
    restrictions: str = ""

    def may(self, right: str) -> bool:
        """Return whether the key has a right."""
        return self.rights is None or right in self.rights or ADMIN in self.rights

    def check(self, action: str, rights: Iterable[str], indices: Sequence[str]) -> None:
        """Raise `KeyRefused` if a right is missing, or an index is out of the key's reach."""
        lacking = [right for right in dict.fromkeys(rights) if not self.may(right)]
        if lacking:
            named = " and ".join(f"`{right}`" for right in lacking)
            word = "right" if len(lacking) == 1 else "rights"
            raise KeyRefused(
                f"{action} needs the {word} {named} on {self.side}, which its key lacks; nothing "
                "was sent. Use another key: `svc.add_key` with the admin key creates one",
                status=403,
            )
        beyond = [name for name in indices if not self._reaches(name)]
        if beyond:
            raise KeyRefused(
                f"{action} needs the index {beyond[0]} on {self.side}, and its key is restricted "
                f"to {', '.join(self.indices)}; nothing was sent. Use a key without that "
                "restriction",
                status=403,
            )

    def _reaches(self, index: str) -> bool:
        return not self.indices or any(
            _pattern(allowed).fullmatch(index) for allowed in self.indices
        )


def describe_client(client: AsyncClient) -> str:
    """Name the service of a client in a message."""
    return f"the application {client.connection.app_id} at {client.connection.address}"


def right_of(declared: object) -> str:
    """Return the right that an endpoint needs, as it is declared."""
    return str(declared.endpoint.acl)  # type: ignore[attr-defined]


async def read_rights(client: AsyncClient, side: str) -> KeyRights:
    """Read the rights of a client's key; `side` names its service in errors."""
    text = client.connection.api_key.reveal()
    if read_secured_key(text):
        raise KeyRefused(
            f"the key of {side} is a secured key, which may see only a part of an index; use its "
            "parent key or another key",
            status=403,
        )
    try:
        key: Any = await client.get_key(text)
    except NotFound:  # a valid key that is not listed: the admin key
        return KeyRights(side, None)
    except KeyRefused as error:
        raise KeyRefused(f"{side}: {error}", status=error.status) from error
    return KeyRights(
        side,
        frozenset(key["acl"]),
        tuple(key.get("indexes") or ()),
        str(key.get("queryParameters") or ""),
    )


def _pattern(text: str) -> re.Pattern[str]:
    """Return the pattern of an index name in which `*` is any text."""
    return re.compile(".*".join(map(re.escape, text.split("*"))), re.DOTALL)

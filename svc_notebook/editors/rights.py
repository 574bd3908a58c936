"""What the key in use may do, asked before an editor offers it."""

from __future__ import annotations

from fnmatch import fnmatchcase

from svc_notebook.api.secured import read_secured_key
from svc_notebook.client import AsyncClient
from svc_notebook.errors import CallFailed


async def find_lack(client: AsyncClient, right: str, index: str) -> str:
    """Say why the key may not write here, or nothing where it may or nobody knows."""
    if not right:
        return ""
    secret = client.connection.api_key.reveal()
    if read_secured_key(secret):
        return "a secured key only searches"
    try:
        key = await client.get_key(secret)
    except CallFailed:  # what is no key among keys, and yet a key, is the admin's
        return ""
    if right not in key["acl"]:
        return f"the key lacks the right `{right}`"
    patterns = key.get("indexes") or ["*"]
    if not any(fnmatchcase(index, pattern) for pattern in patterns):
        return f"the key is not for the index `{index}`"
    return ""

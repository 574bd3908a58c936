"""Credentials as older clients send them: a key in the body, a filter in a header."""

from __future__ import annotations

import msgspec

from svc_notebook.api import Endpoint
from svc_notebook.errors import BadInput
from svc_notebook.service import limits
from svc_notebook.service.http.body import BodyMemory, MalformedBody, read_body, read_json
from svc_notebook.service.http.request import RequestState
from svc_notebook.service.http.response import Receive

# The account of callers whose key is not known yet.
ANONYMOUS = "anonymous"


def may_have_body_key(endpoint: Endpoint, state: RequestState, prefix: str) -> bool:
    """Return whether a request may have its key in its body, as nowhere else."""
    size = state.headers.get("content-length", "")
    return (
        endpoint.reads
        and endpoint.interface == "search"
        and not state.header("api-key", prefix)
        and size.isdecimal()
        and 0 < int(size) <= limits.MAX_ANONYMOUS_BODY_BYTES
    )


async def read_body_key(
    state: RequestState, receive: Receive, memory: BodyMemory, prefix: str
) -> None:
    """Read a body that may contain the key (`apiKey`), and move the key to the URL.

    The JavaScript client up to release 3 and the Python client of release 1 send keys of more than
    500 characters in the body.
    """
    account, held = ((ANONYMOUS, state.address),), 0

    def reserve(size: int) -> None:
        nonlocal held
        memory.reserve(account, size)
        held += size

    try:
        state.body = await read_body(
            receive, state.headers, reserve, limits.MAX_ANONYMOUS_BODY_BYTES
        )
        body = read_json(state.body)
    except MalformedBody:  # the missing key is refused first
        state.body = b""
        return
    finally:
        memory.release(account, held)
    if isinstance(body, dict) and isinstance(body.get("apiKey"), str):
        state.query[f"{prefix}api-key"] = body.pop("apiKey")
        state.body = msgspec.json.encode(body)


def refuse_security_tags(state: RequestState, prefix: str) -> None:
    """Raise `BadInput` for a filter in a header; without it, callers would see too much."""
    if state.header("TagFilters", prefix):
        raise BadInput(
            f"the header {prefix}tagfilters has no effect here, so that the request is refused; "
            "embed `tagFilters` in a secured key"
        )

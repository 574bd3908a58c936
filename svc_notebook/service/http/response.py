"""Responses of the service: building, compression and sending."""

from __future__ import annotations

import gzip
import secrets
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import msgspec

from svc_notebook.service import limits

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
# Pages of any origin may call; access depends on the key.
CORS_HEADERS = {"access-control-allow-origin": "*"}
# Names the credentials that the crawler interface requires.
AUTHENTICATE_HEADERS = {"www-authenticate": 'Basic realm="crawler", charset="UTF-8"'}


@dataclass(frozen=True)
class ServiceResponse:
    """A response; `plain` is the uncompressed beginning of a compressed body."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    plain: bytes = b""

    @property
    def excerpt(self) -> bytes:
        """The uncompressed beginning of the body."""
        return self.plain or self.body[: limits.MAX_LOGGED_BYTES]


def json_response(
    status: int, value: Any, headers: Mapping[str, str] | None = None
) -> ServiceResponse:
    """Build a response with a value as JSON."""
    fields = {"content-type": "application/json; charset=UTF-8", **(headers or {})}
    return ServiceResponse(status, msgspec.json.encode(value), fields)


def error_response(
    status: int,
    message: str,
    headers: Mapping[str, str] | None = None,
    members: Mapping[str, Any] | None = None,
) -> ServiceResponse:
    """Build an error response; all errors have this shape, and a few have further `members`."""
    # A message can quote a lone surrogate, which UTF-8 cannot encode, from JSON inside a parameter.
    text = message.encode("utf-8", "backslashreplace").decode()
    return json_response(status, {"message": text, **(members or {}), "status": status}, headers)


def crawler_error_response(response: ServiceResponse) -> ServiceResponse:
    """Convert an error to the crawler interface's form, with `error` (api-notes, section 13)."""
    content = msgspec.json.decode(response.body)
    words = HTTPStatus(response.status).phrase.lower().replace(" ", "_").replace("-", "_")
    error = {"code": words, "message": content["message"], "errors": []}
    headers = {**response.headers, **(AUTHENTICATE_HEADERS if response.status == 401 else {})}
    return json_response(response.status, {**content, "error": error}, headers)


def preflight_response(verbs: list[str], requested_headers: str) -> ServiceResponse:
    """Answer a CORS preflight: allow these HTTP methods and the requested headers."""
    return ServiceResponse(
        200,
        headers={
            "access-control-allow-methods": ", ".join(verbs),
            "access-control-allow-headers": requested_headers or "*",
            "access-control-max-age": "86400",
        },
    )


def compress_response(response: ServiceResponse, headers: Mapping[str, str]) -> ServiceResponse:
    """Compress a large response if the caller accepts gzip."""
    if len(response.body) < limits.MIN_COMPRESSED_BYTES or "gzip" not in headers.get(
        "accept-encoding", ""
    ):
        return response
    fields = {**response.headers, "content-encoding": "gzip", "vary": "accept-encoding"}
    return ServiceResponse(
        response.status, gzip.compress(response.body, compresslevel=1), fields, response.excerpt
    )


async def send_response(
    send: Send, response: ServiceResponse, *, head_only: bool = False, request_id: str = ""
) -> None:
    """Send a response with the request's id; if `head_only`, without its body."""
    headers = {
        **CORS_HEADERS,
        **response.headers,
        "correlation-id": request_id or secrets.token_hex(8),
    }
    if response.status != 204:
        headers["content-length"] = str(len(response.body))
    await send(
        {
            "type": "http.response.start",
            "status": response.status,
            "headers": [(n.encode("latin-1"), v.encode("latin-1")) for n, v in headers.items()],
        }
    )
    await send({"type": "http.response.body", "body": b"" if head_only else response.body})

"""A page as it was fetched, and what kind of file it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from svc_notebook.errors import BadInput

# What `fileTypesToMatch` calls a file, by its media type (`api-notes.md`, section 13).
BY_MEDIA_TYPE = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/pdf": "pdf",
    "application/x-pdf": "pdf",
    "message/rfc822": "email",
    "application/msword": "doc",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "doc",
    "application/vnd.ms-excel": "xls",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xls",
    "application/vnd.ms-powerpoint": "ppt",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "ppt",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.presentation": "odp",
}
BY_SUFFIX = {
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    **dict.fromkeys((".doc", ".docx"), "doc"),
    **dict.fromkeys((".xls", ".xlsx"), "xls"),
    **dict.fromkeys((".ppt", ".pptx"), "ppt"),
    ".eml": "email",
    ".odp": "odp",
    ".ods": "ods",
    ".odt": "odt",
    ".pdf": "pdf",
}
# Media types by which servers say that they do not know: the address decides.
VAGUE = frozenset({"", "application/octet-stream", "application/zip", "binary/octet-stream"})


class Unreadable(BadInput):
    """A page has nothing that could be read; `reason` names why in one snake_case word."""

    def __init__(self, message: str, *, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class Page:
    """What was fetched, and where it was found in the end."""

    url: str
    body: bytes
    content_type: str
    headers: Mapping[str, str] = field(default_factory=dict)


def file_type(content_type: str, url: str) -> str | None:
    """Name the kind of file as `fileTypesToMatch` does; None is a kind that cannot be read."""
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type in VAGUE:
        return BY_SUFFIX.get(PurePosixPath(unquote(urlsplit(url).path)).suffix.lower())
    return BY_MEDIA_TYPE.get(media_type)

"""A fetched page and its file type."""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from svc_notebook.errors import BadInput

PACKAGE = Path(__file__).parents[3]


def own_code_location(error: BaseException) -> str:
    """Return the location of an error raised in this package, empty if a library raised it.

    Libraries raise many kinds of errors for broken files. An unexpected error from this package's
    code is a bug and must not be reported as a fault of the page.
    """
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or not Path(frames[-1].filename).is_relative_to(PACKAGE):
        return ""
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})"


# File types of `fileTypesToMatch` by media type (`api-notes.md`, section 13).
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
# Unspecific media types: the suffix of the URL decides.
UNSPECIFIC_TYPES = frozenset(
    {"", "application/octet-stream", "application/zip", "binary/octet-stream"}
)


# Unknown media types: browsers inspect the bytes (WHATWG, MIME Sniffing).
UNKNOWN_TYPES = frozenset({"", "unknown/unknown", "application/unknown", "*/*"})
SNIFFED_BYTES = 1445
TAGS = (
    b"!doctype html", b"html", b"head", b"script", b"iframe", b"h1", b"div", b"font", b"table",
    b"a", b"style", b"title", b"b", b"body", b"br", b"p", b"meta", b"main", b"article", b"section",
)  # fmt: skip
MARKUP = re.compile(rb"<(?:%s)[\s>/]|<!--" % b"|".join(TAGS), re.IGNORECASE)
# Comments and processing instructions may precede the root that identifies the XML.
XHTML = re.compile(
    rb"(?:<\?.*?\?>|<!--.*?-->|\s)*<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL
)
BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
SIGNATURES = (
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/zip"),  # unspecific: old Office files
    (b"%!PS-Adobe-", "application/postscript"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"\x89PNG", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
)
UTF_16 = (b"\xfe\xff", b"\xff\xfe")


class Unreadable(BadInput):
    """A page cannot be read; `reason` is one snake_case word."""

    def __init__(self, message: str, *, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class FetchedPage:
    """A fetched page with its final URL."""

    url: str
    body: bytes
    content_type: str
    headers: Mapping[str, str] = field(default_factory=dict)


def sniff_media_type(body: bytes) -> str:
    """Return the media type by a body's first bytes; empty if the body is empty."""
    start = body[:SNIFFED_BYTES]
    if media_type := next((name for sign, name in SIGNATURES if start.startswith(sign)), None):
        return media_type
    if start.startswith(UTF_16):
        start = start[: len(start) & ~1].decode("utf-16", "replace").encode()
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if MARKUP.match(text):
        return "text/html"
    if text.startswith(b"<?xml"):
        return "application/xhtml+xml" if XHTML.match(text) else "text/xml"
    if not text:
        return ""
    return "application/octet-stream" if BINARY.search(text) else "text/plain"


def file_type(content_type: str, url: str, body: bytes = b"") -> str | None:
    """Return the file type as in `fileTypesToMatch`; None if it is unsupported.

    Without a media type from the server, the bytes of the body decide, and the suffix of the URL if
    they are text or an archive, which have several file types.
    """
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type in UNKNOWN_TYPES:
        sniffed = sniff_media_type(body)
        media_type = "" if sniffed in ("text/plain", "application/zip") else sniffed
    if media_type in UNSPECIFIC_TYPES:
        return BY_SUFFIX.get(PurePosixPath(unquote(urlsplit(url).path)).suffix.lower())
    return BY_MEDIA_TYPE.get(media_type)

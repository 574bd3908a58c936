"""A fetched page: its file type, its text, and HTML for files that are not HTML."""

from __future__ import annotations

import codecs
import re
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from svc_notebook.errors import BadInput

BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
CHARSET_PARAMETER = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:+-]+)", re.IGNORECASE)
# Only this many bytes of a page are searched for a `meta` with the encoding.
META_SEARCH_BYTES = 4096
META = re.compile(
    rb"<meta\b[^>]*?charset\s*=\s*[\"']?\s*([\w.:+-]+)|<\?xml[^>]*?encoding\s*=\s*[\"']([\w.:+-]+)",
    re.IGNORECASE,
)
# Encoding labels and the encodings that browsers use for them (WHATWG, Encoding).
BROWSER_ENCODINGS = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "big5": "big5hkscs",
}
# No real document has more text: the file is a decompression bomb.
MAX_TEXT_CHARACTERS = 64 << 20
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


def decode(body: bytes, content_type: str) -> str:
    """Decode a page by its byte order mark, else its header, else its `meta`, else a guess."""
    for mark, encoding in BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, "replace")
    named = from_header(content_type) or from_meta(body)
    return body.decode(named, "replace") if named else guess(body)


def from_header(content_type: str) -> str | None:
    """Return the encoding in a `Content-Type`, None if there is none or it is unknown."""
    match = CHARSET_PARAMETER.search(content_type)
    return find_encoding(match[1]) if match else None


def from_meta(body: bytes) -> str | None:
    """Return the encoding that a page declares itself, None if there is none or it is unknown."""
    match = META.search(body[:META_SEARCH_BYTES])
    name = find_encoding((match[1] or match[2]).decode("ascii", "replace")) if match else None
    # A `meta` that is readable as ASCII cannot be in UTF-16.
    return "utf-8" if name and name.startswith("utf-16") else name


def find_encoding(name: str) -> str | None:
    """Return Python's name of a text encoding, None if unknown."""
    try:
        codec = codecs.lookup(name)
        "".encode(codec.name)
    except (LookupError, ValueError):
        return None
    return BROWSER_ENCODINGS.get(codec.name, codec.name)


def guess(body: bytes) -> str:
    """Decode as UTF-8 if valid, else as Windows-1252."""
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def write_page(
    blocks: Iterable[str], *, title: str = "", meta: Mapping[str, str] | None = None
) -> str:
    """Write an HTML page of blocks; raises `Unreadable` if it grows too large."""
    tags = [
        f'<meta name="{escape(name)}" content="{escape(value)}">'
        for name, value in (meta or {}).items()
        if value
    ]
    head = f'<head><meta charset="utf-8"><title>{escape(title)}</title>{"".join(tags)}</head>'
    return f"<!DOCTYPE html><html>{head}<body>{''.join(limited(blocks))}</body></html>"


def limited(blocks: Iterable[str]) -> Iterable[str]:
    """Yield blocks up to the total size limit."""
    size = 0
    for block in blocks:
        size += len(block)
        if size > MAX_TEXT_CHARACTERS:
            raise Unreadable(
                f"it contains more than {MAX_TEXT_CHARACTERS >> 20} MB of text", reason="too_large"
            )
        yield block


def paragraph(text: str, name: str = "p") -> str:
    """Write a text as an element, empty if the text is blank."""
    text = " ".join(text.split())
    return f"<{name}>{escape(text)}</{name}>" if text else ""


def table(rows: Iterable[Iterable[str]]) -> str:
    """Write rows of texts as a table, empty without rows."""
    written = [
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    ]
    return f"<table>{''.join(written)}</table>" if written else ""

"""Decode a page's bytes in the encoding that the page or its server declares."""

from __future__ import annotations

import codecs
import re

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

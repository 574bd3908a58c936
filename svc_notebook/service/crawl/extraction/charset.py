"""Decode a page's bytes in the encoding that the page or its server declares."""

from __future__ import annotations

import codecs
import re

BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
NAMED = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:+-]+)", re.IGNORECASE)
# Only a page's first bytes are looked through for a `meta` that names the encoding.
META_SEARCH_BYTES = 4096
META = re.compile(
    rb"<meta\b[^>]*?charset\s*=\s*[\"']?\s*([\w.:+-]+)|<\?xml[^>]*?encoding\s*=\s*[\"']([\w.:+-]+)",
    re.IGNORECASE,
)
# Pages say these and mean those, as browsers know (WHATWG, Encoding).
MEANT = {
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
    """Decode a page: a byte order mark first, then its header, then its `meta`, then a guess."""
    for mark, encoding in BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, "replace")
    named = from_header(content_type) or from_meta(body)
    return body.decode(named, "replace") if named else guess(body)


def from_header(content_type: str) -> str | None:
    """Return the encoding a `Content-Type` names, if it is one."""
    found = NAMED.search(content_type)
    return known(found[1]) if found else None


def from_meta(body: bytes) -> str | None:
    """Return the encoding a page names within itself, if it is one."""
    found = META.search(body[:META_SEARCH_BYTES])
    name = known((found[1] or found[2]).decode("ascii", "replace")) if found else None
    # A `meta` that could be read is no UTF-16, whatever it says.
    return "utf-8" if name and name.startswith("utf-16") else name


def known(name: str) -> str | None:
    """Return Python's name of an encoding of texts, or None."""
    try:
        found = codecs.lookup(name)
        "".encode(found.name)
    except (LookupError, ValueError):
        return None
    return MEANT.get(found.name, found.name)


def guess(body: bytes) -> str:
    """Take UTF-8 where the bytes are that, else what western pages were written in."""
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")

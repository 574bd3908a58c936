"""Resolve references to http(s) URLs as browsers do (WHATWG URL, basic URL parser).

Python's `urljoin` follows RFC 3986: it treats `\\` as an ordinary character, removes a `;` at the
end of a path and reads `http:///host/` as a URL without a host. A crawler that resolves links
differently from browsers can be led past a robots.txt.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

SCHEMES = ("http", "https")

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
# C0 controls and spaces around a URL, and these three inside it, are ignored.
_AROUND = "".join(map(chr, range(0x21)))
_WITHIN = str.maketrans("", "", "\t\r\n")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")
_DOT = re.compile("%2e", re.IGNORECASE)


def resolve(reference: str, base: str | None = None) -> str | None:
    """Return the absolute URL of a reference, without its fragment.

    `base` is the http(s) URL of the page that contains it. Returns None for anything but http(s)
    URLs.
    """
    reference = reference.strip(_AROUND).translate(_WITHIN)
    named = _SCHEME.match(reference)
    scheme = named[1].lower() if named else None
    path, mark, query = reference[named.end() if named else 0 :].partition("#")[0].partition("?")
    path = path.replace("\\", "/")
    try:
        origin = urlsplit(base or "")
        if (scheme or origin.scheme) not in SCHEMES:
            return None
        if base and origin.scheme == (scheme or origin.scheme) and not path.startswith("//"):
            place = origin.netloc
            if not path:
                path, query = origin.path or "/", query if mark else origin.query
            elif not path.startswith("/"):
                path = f"{origin.path.rpartition('/')[0]}/{path}"
        else:
            place, _, path = path.lstrip("/").partition("/")
            path = f"/{path}"
        return _join(scheme or origin.scheme, place.rpartition("@")[2], path, query)
    except ValueError:  # a port or an IPv6 address that is not valid
        return None


def _join(scheme: str, place: str, path: str, query: str) -> str | None:
    """Build a URL; raises `ValueError` if its host or port is invalid."""
    parts = urlsplit(f"{scheme}://{place}")
    if not parts.hostname or parts.port == 0:
        return None
    return f"{scheme}://{place}{resolve_dots(path)}" + (f"?{query}" if query else "")


def resolve_dots(path: str) -> str:
    """Remove the segments `.` and `..` from a path, also if escaped."""
    kept: list[str] = []
    segments = path.split("/")[1:] or [""]
    for segment in segments:
        plain = _DOT.sub(".", segment)
        if plain == "..":
            del kept[-1:]
        elif plain != ".":
            kept.append(segment)
    ends = _DOT.sub(".", segments[-1]) in (".", "..")
    return "/" + "/".join([*kept, ""] if ends else kept)


def ends_in_number(host: str) -> bool:
    """Return whether a host must be an IPv4 address: its last label is a number."""
    return _NUMBER.fullmatch(host.rpartition(".")[2]) is not None


def read_ipv4(host: str) -> int:
    """Parse an IPv4 address as browsers do: `127.1`, `0x7f.1` and `2130706433` are equal.

    Raises `ValueError` if it is invalid.
    """
    numbers = [_read_number(part) for part in host.split(".")]
    *first, last = numbers
    if len(numbers) > 4 or max(first, default=0) > 255 or last >= 256 ** (5 - len(numbers)):
        raise ValueError(host)
    return last + sum(number << (8 * (3 - at)) for at, number in enumerate(first))


def _read_number(part: str) -> int:
    if not _NUMBER.fullmatch(part):
        raise ValueError(part)
    if part.startswith("0x"):
        return int(part[2:] or "0", 16)
    return int(part, 8) if len(part) > 1 and part.startswith("0") else int(part)

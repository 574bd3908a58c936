"""Normalize URLs, so that each page has one URL."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from urllib.parse import SplitResult, quote, unquote_to_bytes, urlsplit, urlunsplit

import idna

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
            authority = origin.netloc
            if not path:
                path, query = origin.path or "/", query if mark else origin.query
            elif not path.startswith("/"):
                path = f"{origin.path.rpartition('/')[0]}/{path}"
        else:
            authority, _, path = path.lstrip("/").partition("/")
            path = f"/{path}"
        return _build_url(scheme or origin.scheme, authority.rpartition("@")[2], path, query)
    except ValueError:  # a port or an IPv6 address that is not valid
        return None


def _build_url(scheme: str, authority: str, path: str, query: str) -> str | None:
    """Build a URL; raises `ValueError` if its host or port is invalid."""
    parts = urlsplit(f"{scheme}://{authority}")
    if not parts.hostname or parts.port == 0:
        return None
    return f"{scheme}://{authority}{resolve_dots(path)}" + (f"?{query}" if query else "")


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


MAX_URL_CHARACTERS = 2000
# The maximum path depth; a deeper link is a loop (the maximum of `maxDepth`).
MAX_PATH_DEPTH = 100
PORTS = {"http": 80, "https": 443}

_SAFE = "!$&'()*+,;=:@/-._~"
_SAFE_IN_QUERY = _SAFE.replace("'", "") + "?"
_ESCAPES = re.compile(r"((?:%[0-9A-Fa-f]{2})+)")
_RESERVED = re.compile(rb"([^A-Za-z0-9\-._~])")
_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_\-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_\-]*[a-z0-9_])?)*")
# URLs that are already normalized, as nearly all are: recognised in a tenth of the time. Neither
# possessive repeats nor atomic groups: Python before 3.11.5 matches those of groups wrongly.
_MAX_FAST_PATH_CHARACTERS = 250
_PLAIN = re.compile(
    r"https?://(?!\S*(?:xn--|/[./]))(?:[a-z0-9]+[.-])*[a-z][a-z0-9]*(?::(?!80/|443/)[1-9]\d{1,3})?"
    r"/[A-Za-z0-9_~./-]*(?:\?[A-Za-z0-9_~.=&-]+)?"
)


def normalize(url: str, base: str | None = None) -> str | None:
    """Return the normalized URL; None if it cannot be fetched.

    It is resolved as browsers do, without fragment, user and default port, with dots in the path
    resolved and as few escapes as possible.
    """
    if (
        len(url) <= _MAX_FAST_PATH_CHARACTERS
        and url.count("/") <= MAX_PATH_DEPTH
        and _PLAIN.fullmatch(url)
    ):
        return url
    resolved = resolve(url, base)
    if resolved is None:
        return None
    parts = urlsplit(resolved)
    port, host = parts.port, normalize_host(parts.hostname or "")
    if host is None:
        return None
    authority = host if port in (None, PORTS[parts.scheme]) else f"{host}:{port}"
    path = _escape(parts.path, _SAFE)
    normalized = urlunsplit(
        (parts.scheme, authority, path, _escape(parts.query, _SAFE_IN_QUERY), "")
    )
    return (
        normalized
        if len(normalized) <= MAX_URL_CHARACTERS and path.count("/") <= MAX_PATH_DEPTH + 1
        else None
    )


def normalize_host(host: str) -> str | None:
    """Return a host name in its DNS form, an IPv6 address in brackets; None if invalid."""
    try:
        host = unquote_to_bytes(host).decode().lower().rstrip(".")
        if ":" in host:
            return f"[{ipaddress.IPv6Address(host)}]"
        ascii_host = host if host.isascii() else idna.encode(host, uts46=True).decode().rstrip(".")
        if ends_in_number(ascii_host):
            return str(ipaddress.IPv4Address(read_ipv4(ascii_host)))
        if "xn--" in ascii_host:
            idna.decode(ascii_host)
    except (idna.IDNAError, ValueError):
        return None
    return ascii_host if _HOST.fullmatch(ascii_host) and len(ascii_host) < 254 else None


def path_depth(url: str) -> int:
    """Return the depth of a URL's path as `maxDepth` counts it: 1 for `/foo`, 2 for `/foo/`."""
    return max(urlsplit(url).path.count("/"), 1)


def origin(url: str) -> str:
    """Return scheme, host and port, the scope of a robots.txt."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _escape(text: str, safe: str) -> str:
    """Escape only the characters that require it."""
    pieces = _ESCAPES.split(text)
    return "".join(
        _unescape(piece) if at % 2 else quote(piece, safe=safe) for at, piece in enumerate(pieces)
    )


def _unescape(escapes: str) -> str:
    raw = unquote_to_bytes(escapes)
    return _RESERVED.sub(lambda byte: b"%%%02X" % ord(byte[1]), raw).decode("ascii")


@dataclass(frozen=True)
class UrlNormalizer:
    """The URL normalization of a configuration: ignored parameters, host and path aliases."""

    ignored: Sequence[str] = ()
    hosts: Mapping[str, str] = field(default_factory=dict)
    paths: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def normalize_found(self, url: str, base: str | None = None) -> str | None:
        """Normalize a URL found in a page, a sitemap, a canonical link or a redirect."""
        normalized = normalize(url, base)
        if normalized is None or not (self.hosts or self.paths):
            return normalized and self.normalize_seed(normalized)
        parts = urlsplit(self.normalize_seed(normalized))
        changed = self._alias_path(self._alias_host(parts))
        return normalize(urlunsplit(changed)) if changed != parts else urlunsplit(parts)

    def normalize_seed(self, url: str) -> str:
        """Normalize a URL of the configuration: only ignored parameters are removed."""
        if not self.ignored or "?" not in url:
            return url
        parts = urlsplit(url)
        kept = [pair for pair in parts.query.split("&") if not self._ignores(pair)]
        return urlunsplit(parts._replace(query="&".join(kept)))

    def _ignores(self, pair: str) -> bool:
        name = unquote_to_bytes(pair.partition("=")[0].replace("+", " ")).decode("utf-8", "replace")
        return any(fnmatchcase(name, wild) for wild in self.ignored)

    def _alias_host(self, parts: SplitResult) -> SplitResult:
        host = self.hosts.get(parts.netloc) or self.hosts.get(parts.hostname or "")
        return parts._replace(netloc=host) if host else parts

    def _alias_path(self, parts: SplitResult) -> SplitResult:
        paths = self.paths.get(parts.netloc) or self.paths.get(parts.hostname or "") or {}
        for old, new in paths.items():
            if parts.path == old or parts.path.startswith(old.rstrip("/") + "/"):
                return parts._replace(path=new.rstrip("/") + parts.path[len(old.rstrip("/")) :])
        return parts

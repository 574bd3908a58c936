"""Addresses and texts as they are shown: without passwords, tokens and signatures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

MASK = "***"
# fsspec joins addresses: `zip://a.csv::https://host/a.zip`. An IPv6 host contains `::` too.
_CHAIN = re.compile(r"(::)(?=[a-z][a-z0-9+.-]*(?:://|::))", re.I)
# A path object has joined the slashes of an address in some texts.
# Punctuation after an address belongs to the text.
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+:/+[^\s'\"<>`|]*[^\s'\"<>`|:;,.]", re.I)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:/+", re.I)
# Stores whose part before `@` is a container.
_CONTAINER_SCHEMES = ("abfs", "abfss", "wasb", "wasbs")
_NOT_PORT = re.compile(r":(?!\d*$)")
_SECRET_PAIR = re.compile(
    r"([?&;](?:[\w.%-]*(?:sig|token|secret|passw|pwd|credential|auth)[\w.%-]*"
    r"|[\w.%-]*key(?:_?id)?|code)=)[^&#\s'\"`]+",
    re.I,
)
_PASSWORD = re.compile(
    r"\b(pass(?:word|wd)?|pwd|secret|account_?key|sas_?token|access_?token)(\s*=\s*)"
    r"(?:'[^']*'|\"[^\"]*\"|[^\s;&,'\"`)]+)",
    re.I,
)
# Shorter parts would be replaced in words that are no secrets.
_MIN_SECRET_CHARACTERS = 3


def show_address(address: str) -> str:
    """Return an address of a file or a database as it is shown.

    Credentials, the values of a query and the fragment are replaced by `***`: what is secret among
    them has no name that all services share.
    """
    return "".join(_show_part(part) for part in _CHAIN.split(address))


def mask_secrets(text: str) -> str:
    """Replace credentials in the addresses of a text, and the values of passwords in it."""
    if "=" in text:
        text = _PASSWORD.sub(rf"\1\2{MASK}", text)
    if ":/" not in text:
        return text
    return _ADDRESS.sub(
        lambda match: _SECRET_PAIR.sub(rf"\1{MASK}", _mask_credentials(match[0])), text
    )


def describe_failure(error: Exception, address: str) -> str:
    """Return the message of a library that could not open an address, without its secrets."""
    text = (str(error) or type(error).__name__).replace(address, show_address(address))
    for secret in sorted(_secrets_of(address), key=len, reverse=True):
        text = text.replace(secret, MASK)
    return mask_secrets(text)


def cause_of(error: Exception) -> Exception | None:
    """Return an error as the cause of another one; None if its message quotes a secret."""
    text = str(error)
    return error if mask_secrets(text) == text else None


def _show_part(part: str) -> str:
    if ":/" not in part:
        return mask_secrets(part)
    part = _mask_credentials(part)
    scheme = part.partition(":")[0].lower()
    head, mark, query, fragment = _split_query(part)
    # In the names of a store, `?` is a pattern of a character.
    if mark and ("=" in query or scheme in ("http", "https")):
        head += mark + "&".join(
            f"{pair.partition('=')[0]}={MASK}" if "=" in pair else MASK for pair in query.split("&")
        )
    elif mark:
        head += mark + query
    return f"{head}#{MASK}" if fragment else mask_secrets(head)


def _split_query(part: str) -> tuple[str, str, str, str]:
    """Return what precedes the query, its mark, the query, and the fragment."""
    rest, _, fragment = part.partition("#")
    head, mark, query = rest.partition("?")
    return head, mark, query, fragment


def _mask_credentials(address: str) -> str:
    """Replace what precedes the host of an address."""
    scheme_match = _SCHEME.match(address)
    if scheme_match is None:
        return address
    rest = address[scheme_match.end() :]
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    scheme = scheme_match[0].partition(":")[0].lower()
    if scheme in _CONTAINER_SCHEMES and ":" not in authority:
        return address
    if "@" in authority or (_NOT_PORT.search(authority) and not authority.startswith("[")):
        # A password that is not encoded can contain `/` and `@`.
        host = rest.rpartition("@")[2] if "@" in rest else ""
        return f"{scheme_match[0]}{MASK}@{host}"
    return address


def _secrets_of(address: str) -> Iterator[str]:
    """Yield the parts of an address that are masked, encoded and decoded."""
    parts: list[str] = []
    for part in _CHAIN.split(address):
        shown = _mask_credentials(part)
        if shown != part:
            credentials = part[_SCHEME.match(part).end() :].rpartition("@")[0]  # type: ignore[union-attr]
            user, _, password = credentials.partition(":")
            parts.append(password or user)
            # A parser can take a part of a password for a port or a path.
            parts += re.split(r"[/@:?#]", password)
        _, _, query, fragment = _split_query(part)
        parts += [pair.partition("=")[2] for pair in query.split("&")] + [fragment]
    for text in parts:
        for form in {text, unquote(text)}:
            if len(form) >= _MIN_SECRET_CHARACTERS:
                yield form

"""Read zip archives of XML files without trusting their sizes or XML entities."""

from __future__ import annotations

import io
import lzma
import struct
import zipfile
import zlib
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from svc_notebook.service.crawl.extraction.page import Unreadable

# The uncompressed size of one member, and of all members that are read.
MAX_MEMBER_BYTES = 64 << 20
MAX_ARCHIVE_BYTES = 256 << 20
MAX_XML_DEPTH = 500
# The errors that Python's zip reader raises for broken archives.
BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError),
    *(KeyError, OSError, RuntimeError, ValueError),
)


class Archive:
    """A zip file whose members are read one by one."""

    def __init__(self, body: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(body))
        except BROKEN as error:
            raise Unreadable(f"it is broken: {error}", reason="broken_file") from error
        self.names = frozenset(self._zip.namelist())
        self._left = MAX_ARCHIVE_BYTES

    def read(self, name: str) -> bytes:
        """Decompress one member; raises `Unreadable` if it is broken or too large."""
        most = min(MAX_MEMBER_BYTES, self._left)
        try:
            with self._zip.open(name) as part:
                data = part.read(most + 1)
        except BROKEN as error:
            raise Unreadable(
                f"its member {name} is broken: {error}", reason="broken_file"
            ) from error
        if len(data) > most:
            raise Unreadable("it is too large when decompressed", reason="too_large")
        self._left -= len(data)
        return data

    def tree(self, name: str) -> Element | None:
        """Parse one member as XML; None if it does not exist."""
        return parse_xml(self.read(name)) if name in self.names else None


def parse_xml(data: bytes) -> Element:
    """Parse XML without a DOCTYPE, with names as `{namespace}name`; raises `Unreadable`."""
    builder = TreeBuilder()
    parser = expat.ParserCreate(namespace_separator="}")
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_XML_DEPTH:
            raise Unreadable("its XML is nested too deeply", reason="too_large")
        builder.start(braced(name), {braced(key): value for key, value in attributes.items()})

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(braced(name))

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = refuse
    parser.buffer_text = True
    try:
        parser.Parse(data, True)
        return builder.close()
    except (expat.ExpatError, AssertionError, ValueError) as error:
        raise Unreadable(f"its XML is broken: {error}", reason="broken_file") from error


def braced(name: str) -> str:
    """Return a name in ElementTree's form."""
    return "{" + name if "}" in name else name


def refuse(*_: object) -> None:
    """Raise for a DOCTYPE declaration: office files have none, and entities allow XML bombs."""
    raise Unreadable("its XML declares a document type", reason="broken_file")

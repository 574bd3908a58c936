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

# One part of an archive, and all that are read, once unpacked.
MAX_MEMBER_BYTES = 64 << 20
MAX_ARCHIVE_BYTES = 256 << 20
MAX_XML_DEPTH = 500
# How archives are broken, as Python's reader tells it.
BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError),
    *(KeyError, OSError, RuntimeError, ValueError),
)


class Archive:
    """A zip file whose parts are read one by one."""

    def __init__(self, body: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(body))
        except BROKEN as error:
            raise Unreadable(f"it is broken: {error}", reason="broken_file") from error
        self.names = frozenset(self._zip.namelist())
        self._left = MAX_ARCHIVE_BYTES

    def read(self, name: str) -> bytes:
        """Unpack one part; raises Unreadable when it is broken or a bomb."""
        most = min(MAX_MEMBER_BYTES, self._left)
        try:
            with self._zip.open(name) as part:
                data = part.read(most + 1)
        except BROKEN as error:
            raise Unreadable(f"its part {name} is broken: {error}", reason="broken_file") from error
        if len(data) > most:
            raise Unreadable("it grows too large when unpacked", reason="too_large")
        self._left -= len(data)
        return data

    def tree(self, name: str) -> Element | None:
        """Parse one part as XML; None where there is no such part."""
        return parse_xml(self.read(name)) if name in self.names else None


def parse_xml(data: bytes) -> Element:
    """Parse XML that declares nothing of its own, names as `{space}name`; raises Unreadable."""
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
    """Write a name as ElementTree does."""
    return "{" + name if "}" in name else name


def refuse(*_: object) -> None:
    """Refuse what declares a document type: no office writes one, and entities are bombs."""
    raise Unreadable("its XML declares a document type", reason="broken_file")

"""Files as UTF-8: decompress them, and rewrite other encodings and mixed line ends."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from svc_notebook.data.loading.database import Database
from svc_notebook.data.loading.sources.read_limits import CHUNK_BYTES, copy_unpacked
from svc_notebook.errors import BadInput

SAMPLE_BYTES = 1_000_000
# The characters of a file's beginning from which its layout is inferred.
SAMPLE_CHARACTERS = SAMPLE_BYTES // 4
# The byte order marks; if one is the beginning of another, the longer one is first.
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def _open_zstd(path: Path) -> Any:
    import pyarrow as pa

    return pa.input_stream(str(path), compression="zstd")


COMPRESSIONS: tuple[tuple[bytes, Callable[[Path], Any]], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\x00", lzma.open),
    (b"\x28\xb5\x2f\xfd", _open_zstd),
)


def decompress(path: Path, db: Database, given: Path | None = None) -> Path:
    """Return an uncompressed file: the given one, or a temporary copy.

    `given` is the caller's file if `path` is inside of it; its size limits that of the copy.
    """
    with path.open("rb") as file:
        start = file.read(6)
    for magic, opener in COMPRESSIONS:
        if start.startswith(magic):
            return _decompressed(path, opener, db.folder, given or path)
    return path


def _decompressed(path: Path, opener: Callable[[Path], Any], folder: Path, given: Path) -> Path:
    target = fresh(folder, path.with_suffix("").name)
    try:
        with opener(path) as source, target.open("wb") as sink:
            copy_unpacked(source, sink, given, given.stat().st_size)
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise BadInput(
            f"{given} cannot be decompressed: {error}; check that it is complete"
        ) from error
    return target


def sniff_encoding(sample: bytes) -> str:
    """Guess the encoding from a file's first bytes: UTF-8 unless they are not valid UTF-8."""
    for mark, encoding in MARKS:
        if sample.startswith(mark):
            return encoding
    if sample[1::2].count(0) > len(sample) // 6:
        return "utf-16-le"
    if sample[0::2].count(0) > len(sample) // 6:
        return "utf-16-be"
    return "utf-8" if is_utf8(sample) else "cp1252"


def is_utf8(sample: bytes) -> bool:
    """Return whether bytes are UTF-8; the last character may be incomplete."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    return True


def is_broken_utf8(path: Path) -> bool:
    """Return whether a file that is not valid UTF-8 is UTF-8 but for some bytes.

    It has as many characters beyond ASCII as bytes that belong to none; in another encoding, few
    bytes are by chance a character.
    """
    decode = codecs.getincrementaldecoder("utf-8")("ignore").decode
    characters = broken = 0
    for piece in _pieces(path):
        if not piece.isascii():
            beyond = [character for character in decode(piece) if not character.isascii()]
            characters += len(beyond)
            broken += sum(byte > 127 for byte in piece) - len("".join(beyond).encode())
    return characters >= max(1, broken)


def rewrite(path: Path, folder: Path, encoding: str, given: Path | None = None) -> Path:
    """Write a copy in UTF-8 with the line end "\\n", without blank lines at the beginning.

    `given` is the caller's file if `path` is a copy of it.
    """
    target = fresh(folder, path.name)
    try:
        with (
            path.open(encoding=encoding, newline=None) as source,
            target.open("w", encoding="utf-8", newline="\n") as sink,
        ):
            sink.write(source.read(CHUNK_BYTES).lstrip("\n\ufeff"))
            while piece := source.read(CHUNK_BYTES):
                sink.write(piece)
    except UnicodeError as error:
        name, line = given or path, _find_undecodable_line(given or path, encoding)
        reason = getattr(error, "reason", error)
        what = f"line {line:,} cannot be decoded ({reason})" if line else str(error)
        raise BadInput(
            f"{name} is not {encoding.removesuffix('-sig')}: {what}; "
            "pass its encoding, for example encoding='latin-1'"
        ) from error
    except LookupError as error:
        raise BadInput(
            f"`{encoding}` is not an encoding; use one such as 'utf-8', 'latin-1', 'cp1252'"
        ) from error
    return target


def _find_undecodable_line(path: Path, encoding: str) -> int:
    """Return the number of the first line that an encoding does not have; 0 if it is unknown."""
    if encoding.startswith(("utf-16", "utf-32")):
        return 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode(encoding)
            except UnicodeDecodeError:
                return number
    return 0


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(CHUNK_BYTES):
            yield piece


def fresh(folder: Path, name: str) -> Path:
    """Return the path of a file in the folder that does not exist yet."""
    return next(
        path for number in range(1_000_000) if not (path := folder / f"{number}-{name}").exists()
    )

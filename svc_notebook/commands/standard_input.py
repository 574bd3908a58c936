"""Standard input as the file of a command: `svc load - products`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from svc_notebook.commands.binding import BoundCall
from svc_notebook.errors import BadOption
from svc_notebook.temporary_folders import TemporaryFolder

WORD = "-"
KEY_FILE = "admin-key-file"  # the service reads it itself
# The first bytes of a format and the suffix of its files; other content is CSV.
_BEGINNINGS = ((b"PAR1", ".parquet"), (b"[", ".json"), (b"{", ".ndjson"), (b"<", ".xml"))
_PEEKED_BYTES = 4096


@contextmanager
def files_of(call: BoundCall) -> Iterator[dict[str, Any]]:
    """Yield the arguments of a call with standard input copied to a file in place of `-`."""
    paths = {
        option.parameter
        for option in (*call.verb.operands, *call.verb.options)
        if option.completes == "path" and option.name != KEY_FILE
    }
    named = [name for name in paths if call.arguments.get(name) == WORD]
    if not named:
        yield dict(call.arguments)
        return
    if len(named) > 1:
        raise BadOption("standard input, `-`, can be given for one file only")
    folder = TemporaryFolder()
    try:
        yield {**call.arguments, named[0]: _copy_input(folder)}
    finally:
        folder.remove()


def _copy_input(folder: TemporaryFolder) -> str:
    """Copy standard input to a file whose suffix is that of its format."""
    stream = sys.stdin.buffer
    first = stream.peek(_PEEKED_BYTES) if hasattr(stream, "peek") else b""
    begun = first.lstrip(b"\xef\xbb\xbf \t\r\n")
    suffix = next((s for beginning, s in _BEGINNINGS if begun.startswith(beginning)), ".csv")
    path = folder.path / f"standard-input{suffix}"
    with path.open("wb") as file:
        shutil.copyfileobj(stream, file)
    return str(path)

"""The folders of indices: a name for each that every file system takes, and no two that collide."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote, unquote

from svc_notebook.errors import BadInput, unreadable

# The suffix of a crawler's file.
CRAWLER_SUFFIX = ".crawler.js"
# The file with the name of the index, where the name of the folder does not contain all of it.
NAME_FILE = "index.txt"
SAFE_CHARACTERS = " -_"  # besides letters, digits and dots, in the name of a folder
# File systems take 255 bytes; some of the path, as ecryptfs, only 143.
MAX_NAME_CHARACTERS = 120
SHORTENED_CHARACTERS = 60
DIGEST_CHARACTERS = 12
# Names of devices, with any extension, on Windows.
RESERVED = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(10))}


def list_folders(folder: Path) -> dict[str, Path]:
    """Return the folders of indices in a folder, by the name of the index."""
    if not folder.is_dir():
        return {}
    return {_read_name(path): path for path in sorted(folder.iterdir()) if path.is_dir()}


def assign_folders(folder: Path, indices: Iterable[str]) -> dict[str, Path]:
    """Return a folder for each index: the existing one, or the path of a new one.

    Where names differ only by the case of letters, one is shortened and gets a digest.
    """
    existing = list_folders(folder)
    taken = {path.name.casefold() for path in existing.values()}
    paths: dict[str, Path] = {}
    for index in sorted(indices, key=lambda name: (name != name.casefold(), name)):
        if index not in existing:
            name = folder_name(index)
            if name.casefold() in taken:
                name = _add_digest(index)
            taken.add(name.casefold())
            paths[index] = folder / name
        else:
            paths[index] = existing[index]
    return paths


def folder_name(index: str) -> str:
    """Return the name of the folder of an index, valid on every file system."""
    text = _encode(index)
    is_reserved = text.partition(".")[0].casefold() in RESERVED
    return _add_digest(index) if is_reserved or len(text) > MAX_NAME_CHARACTERS else text


def name_file_of(index: str, path: Path) -> dict[Path, str]:
    """Return the file that names the index, if the name of the folder does not."""
    return {} if unquote(path.name) == index else {path / NAME_FILE: f"{index}\n"}


def read_text(path: Path) -> str:
    """Return the text of a file, empty if there is none."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not UTF-8 text") from None
    except OSError as error:
        raise unreadable(path, error) from None


def _encode(index: str) -> str:
    text = quote(index, safe=SAFE_CHARACTERS)
    if text.startswith(".") or text.endswith((".", " ")):
        text = text.replace(".", "%2E").replace(" ", "%20")
    return text


def _add_digest(index: str) -> str:
    """Return the beginning of an encoded name with the digest of all of it."""
    text = ""
    for character in index:
        if len(text) + len(_encode(character)) > SHORTENED_CHARACTERS:
            break
        text += _encode(character)
    digest = hashlib.sha256(index.encode()).hexdigest()[:DIGEST_CHARACTERS]
    return f"{text}~{digest}"


def _read_name(path: Path) -> str:
    """Return the name of the index of a folder."""
    try:
        return (path / NAME_FILE).read_text(encoding="utf-8").rstrip("\r\n")
    except (FileNotFoundError, NotADirectoryError):
        return unquote(path.name)
    except UnicodeDecodeError:
        raise BadInput(f"{path / NAME_FILE} is not UTF-8 text") from None
    except OSError as error:
        raise unreadable(path / NAME_FILE, error) from None

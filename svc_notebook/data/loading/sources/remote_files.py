"""Files of object stores and other places that fsspec knows, downloaded for one load."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from svc_notebook.core.redaction import describe_failure, show_address
from svc_notebook.data.loading.sources.encoding import fresh
from svc_notebook.errors import BadInput

PROTOCOL = re.compile(r"([a-z][a-z0-9+.-]+)(://|::)", re.I)
# The package that opens each protocol, where fsspec needs one.
PACKAGES = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs",
            "abfs": "adlfs", "abfss": "adlfs", "adl": "adlfs"}  # fmt: skip
PATTERN = re.compile(r"[*?\[]")


def is_remote(source: str) -> bool:
    """Return whether a text is the URL of a file that fsspec opens, such as `s3://…`."""
    return PROTOCOL.match(source) is not None


def fetch(url: str, folder: Path) -> list[Path]:
    """Download the files of a URL, of a pattern or of a folder of Parquet files."""
    files, remote_paths = _find(url)
    if not remote_paths:
        raise BadInput(
            f"there is no file {show_address(url)}; check its name and your right to list it"
        )
    copies = []
    for remote in remote_paths:
        target = fresh(folder, file_name(remote.rstrip("/")))
        try:
            files.get_file(remote, str(target))
        except Exception as error:  # each store has its own errors
            raise _unreadable(url, error) from None
        copies.append(target)
    return copies


def _find(url: str) -> tuple[Any, list[str]]:
    """Return the file system of a URL, and the paths of its files in the order of their names."""
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise BadInput(
            f'{show_address(url)} needs fsspec: pip install "svc-notebook[remote]"; then the '
            "package of the store, such as s3fs"
        ) from error
    try:
        files, path = url_to_fs(url)
        if PATTERN.search(path):
            return files, sorted(match for match in files.glob(path) if files.isfile(match))
        if files.isdir(path):
            return files, _list_folder(files, path, url)
        return files, [path] if files.exists(path) else []
    except BadInput:
        raise
    except ImportError as error:
        package = PACKAGES.get(url.partition(":")[0].lower(), "")
        advice = f"pip install {package}" if package else "install the package of this store"
        reason = describe_failure(error, url)
        raise BadInput(f"{show_address(url)} cannot be opened: {reason}; {advice}") from None
    except Exception as error:  # each store has its own errors
        raise _unreadable(url, error) from None  # the error of the store quotes the URL


def _list_folder(files: Any, path: str, url: str) -> list[str]:
    matches = sorted(files.glob(f"{path.rstrip('/')}/**/*.parquet"))
    if not matches:
        shown = show_address(url)
        raise BadInput(f"{shown} is a folder; pass a pattern of its files: '{shown}/*.csv'")
    return matches


def _unreadable(url: str, error: Exception) -> BadInput:
    reason = describe_failure(error, url)
    return BadInput(
        f"{show_address(url)} cannot be read: {reason}; check the URL and your credentials"
    )


def file_name(url: str) -> str:
    """Return the name of the file at an address, without a query."""
    path = unquote(urlsplit(show_address(url)).path).rsplit("/", 1)[-1]
    return path.partition("?")[0] if "=" in path else path

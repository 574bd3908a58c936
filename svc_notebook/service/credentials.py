"""The application id and admin key that the command line, a file or the environment gives."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from svc_notebook.errors import LocalServiceFailed

VARIABLE = "SVC_ADMIN_KEY"
STANDARD_INPUT = "-"
MAX_KEY_FILE_CHARACTERS = 10_000  # maximum characters read from a key file
_CARRIED = re.compile(r"[!-~]+")


def take_identity(
    app_id: str | None, admin_key: str | None, admin_key_file: str | None
) -> dict[str, str | None]:
    """Return application id and admin key; raises `LocalServiceFailed` for invalid ones.

    The admin key comes from the argument, the first line of the file, or the environment variable.
    The
    variable is removed from the environment, because child processes do not need it.
    """
    fallback = os.environ.pop(VARIABLE, None) or None
    if admin_key is not None and admin_key_file is not None:
        raise LocalServiceFailed("the admin key is given twice: leave out --admin-key, which shows")
    if admin_key_file is not None:
        admin_key = _read_key(admin_key_file)
    facts = {"appId": app_id, "adminKey": fallback if admin_key is None else admin_key}
    for name, what in {"appId": "application id", "adminKey": "admin key"}.items():
        value = facts[name]
        if value is not None and not _CARRIED.fullmatch(value):
            # The message does not contain the key.
            raise LocalServiceFailed(
                f"the {what} must have at least one character, and only ASCII ones without spaces; "
                "leave it out for one that is made at the first start"
            )
    return facts


def _read_key(file: str) -> str:
    try:
        if file == STANDARD_INPUT:
            return sys.stdin.readline(MAX_KEY_FILE_CHARACTERS).strip()
        with Path(file).expanduser().open(encoding="utf-8") as lines:
            return lines.readline(MAX_KEY_FILE_CHARACTERS).strip()
    except (OSError, ValueError) as error:  # ValueError: not text
        reason = getattr(error, "strerror", None) or "it is not text"
        raise LocalServiceFailed(
            f"the file {file} of the admin key cannot be read: {reason}"
        ) from error

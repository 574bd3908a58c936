"""The values of connections, and the files of profiles: the user's and the project's.

Values that are keys are masked.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from svc_notebook.core.files import expand_path, user_folder
from svc_notebook.core.terminal import warn_user
from svc_notebook.data.client import Secret
from svc_notebook.data.client.config import TIMEOUTS
from svc_notebook.data.client.retry import check_seconds
from svc_notebook.errors import BadInput, BadOption, did_you_mean

Values = Mapping[str, Any]

VARIABLES = {
    "url": "SVC_URL",
    "app_id": "SVC_APP_ID",
    "api_key": "SVC_API_KEY",
    "vendor": "SVC_VENDOR",
    "domain": "SVC_DOMAIN",
    "crawler_user_id": "SVC_CRAWLER_USER_ID",
    "crawler_api_key": "SVC_CRAWLER_API_KEY",
    "allow_http": "SVC_ALLOW_HTTP",
}
FIELDS = (*VARIABLES, "fallback_domain", "hosts", "region", *TIMEOUTS)
KEYS = ("api_key", "crawler_api_key")
# The address is one choice: a source that sets one of these sets all of them.
ADDRESS = ("url", "domain", "fallback_domain", "hosts")
# The values that determine who receives a key.
DESTINATION = (*ADDRESS, "app_id", "allow_http")
LOCAL = "local"

# What the root folder of a repository contains.
REPOSITORY_MARKS = (".git", ".hg", ".svn", ".jj")
ROOT_USER = 0


def address_of(values: Values) -> dict[str, Any]:
    """Return the values that are the address; empty if there is none."""
    return {name: values[name] for name in ADDRESS if name in values}


def destination_of(values: Values) -> dict[str, Any]:
    """Return the values that determine who receives a key."""
    return {name: values[name] for name in DESTINATION if name in values}


def merge_destinations(*sources: Values) -> dict[str, Any]:
    """Return the first address and the first application id of several sources."""
    address = next((address for source in sources if (address := address_of(source))), {})
    named = [source["app_id"] for source in sources if "app_id" in source]
    return {**address, "app_id": named[0]} if named else address


def present(values: Values) -> dict[str, Any]:
    """Return the values that are set, with masked keys."""
    return hide_keys({name: value for name, value in values.items() if value is not None})


def hide_keys(values: Values) -> dict[str, Any]:
    """Mask the keys among values as early as possible: tracebacks and reprs show plain values."""
    return {
        name: _hide_key(name, value) if name in KEYS else value for name, value in values.items()
    }


def _hide_key(name: str, value: Any) -> Secret:
    """Mask a key; raise `BadInput` for what is no text, without showing it."""
    if isinstance(value, str):
        return Secret(value)
    if isinstance(value, Secret):
        return value
    member = (
        f", its member `key` for instance: {name}=answer['key']"
        if isinstance(value, Mapping)
        else ""
    )
    raise BadInput(f"`{name}` must be text, not {type(value).__name__}: pass the key alone{member}")


@dataclass(frozen=True)
class ProfileFile:
    """The profiles of one file."""

    path: Path
    profiles: Mapping[str, Values] = field(default_factory=dict)
    default: str | None = None
    is_project: bool = False


def read_sources() -> list[ProfileFile]:
    """Read the project's file and the user's file, if they exist."""
    user = _read_file(user_file(), _parse(user_file()))
    project = read_project(Path.cwd())
    if project and user and project.path.samefile(user.path):
        project = None
    return [source for source in (project, user) if source]


def user_file() -> Path:
    """Return the path of the user's profiles: `SVC_CONFIG`, or in the system's folder."""
    if named := os.environ.get("SVC_CONFIG"):
        return expand_path(named)
    return user_folder("config") / "config.toml"


def read_project(folder: Path) -> ProfileFile | None:
    """Read the nearest file with profiles in a folder or above it.

    The search ends at the root of the repository or at the user's home; outside of both, it does
    not leave the folder. Files of other users are not read.
    """
    for parent in _project_folders(folder):
        project_file = parent / "svc.toml"
        if _may_read(project_file) and (
            source := _read_file(project_file, _parse(project_file), is_project=True)
        ):
            return source
        shared = parent / "pyproject.toml"
        content = _read_tool_table(shared)
        if content is not None and _may_read(shared):
            return _read_file(shared, content, is_project=True)
    return None


def _read_tool_table(path: Path) -> Any:
    """Return the content of `[tool.svc-notebook]`; None if there is none."""
    tools = (_parse(path) or {}).get("tool")
    return tools.get("svc-notebook") if isinstance(tools, dict) else None


def _project_folders(folder: Path) -> Iterator[Path]:
    parents = (folder, *folder.parents)
    homes = set[Path]()
    with suppress(RuntimeError):  # a user id without an account has no home directory
        homes = {Path.home(), Path.home().resolve()}
    for last, parent in enumerate(parents, 1):
        if parent in homes or any((parent / mark).exists() for mark in REPOSITORY_MARKS):
            return iter(parents[:last])
    return iter(parents[:1])


def _may_read(path: Path) -> bool:
    """Return whether a file belongs to this user or to root; warn of another user's file."""
    if not hasattr(os, "getuid"):
        return True  # Windows has no numbers of users
    try:
        owners = {path.lstat().st_uid, path.stat().st_uid}
    except OSError:
        return False
    if owners <= {os.getuid(), ROOT_USER}:
        return True
    warn_user(f"{path} belongs to another user of this computer and is not read")
    return False


def _parse(path: Path) -> dict[str, Any] | None:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, PermissionError, IsADirectoryError):
        return None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        if path.name == "pyproject.toml":
            return None  # another tool reports it
        raise BadInput(f"{path} is not TOML: {error}") from error


def _read_file(path: Path, content: Any, *, is_project: bool = False) -> ProfileFile | None:
    if content is None:
        return None
    tables = content.get("profiles", {}) if isinstance(content, dict) else None
    if not isinstance(tables, dict):
        raise BadOption(f"{path}: write [profiles.NAME] and its values below")
    default = content.get("default_profile")
    if not isinstance(default, str | None):
        raise BadOption(f"{path}: default_profile must be text in quotes")
    for name, values in tables.items():
        _check_values(path, name, values)
    hidden = {name: hide_keys(values) for name, values in tables.items()}
    return ProfileFile(path, hidden, default, is_project)


def _check_values(path: Path, name: str, values: Any) -> None:
    if not isinstance(values, dict):
        raise BadOption(f"{path}: write [profiles.{name}] and its values below")
    for key, value in values.items():
        if key not in FIELDS:
            raise BadOption(f"{path}: profile {name}: no `{key}`{did_you_mean(key, FIELDS)}")
        if key in TIMEOUTS:
            _check_seconds(path, name, key, value)
        elif key == "allow_http":
            if not isinstance(value, bool):
                raise BadOption(f"{path}: profile {name}: `{key}` must be true or false")
        elif not isinstance(value, (str, list, dict) if key == "hosts" else str):
            raise BadOption(f"{path}: profile {name}: `{key}` must be text in quotes")


def _check_seconds(path: Path, name: str, key: str, value: object) -> None:
    try:
        check_seconds(key, value)
    except BadInput as error:
        raise BadOption(f"{path}: profile {name}: {error}") from None

"""The files that define profiles: the user's, and the project's around the working folder."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from svc_notebook.core.api.warning import warn_user
from svc_notebook.data.client.request_options import TIMEOUTS
from svc_notebook.data.client.retry import check_seconds
from svc_notebook.data.session.fields import FIELDS, Values, hide_keys
from svc_notebook.errors import BadInput, BadOption, did_you_mean

# What the root folder of a repository contains.
REPOSITORY_MARKS = (".git", ".hg", ".svn", ".jj")
ROOT_USER = 0


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
        return Path(named).expanduser()
    from platformdirs import user_config_path

    return user_config_path("svc-notebook", appauthor=False) / "config.toml"


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

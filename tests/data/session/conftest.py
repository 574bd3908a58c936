"""A user with nothing configured, in an empty project."""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import set_current


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder worked in; the user's file and data lie beside it."""
    for name in [name for name in os.environ if name.startswith("SVC_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SVC_CONFIG", str(tmp_path / "user" / "config.toml"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    set_current(None)
    folder = tmp_path / "project" / "deep" / "down"
    folder.mkdir(parents=True)
    (tmp_path / "project" / ".git").mkdir()
    (tmp_path / "user").mkdir()
    monkeypatch.chdir(folder)
    return tmp_path / "project"


@pytest.fixture
def user_file(tmp_path: Path) -> Path:
    return tmp_path / "user" / "config.toml"


class Ring(types.ModuleType):
    """A keyring module of the simplest kind; without keys, it has no backend."""

    def __init__(self, keys: dict[tuple[str, str], str] | None) -> None:
        super().__init__("keyring")
        self.keys = keys
        self.was_read = False

    def get_password(self, service: str, login: str) -> str | None:
        self.was_read = True
        if self.keys is None:
            raise RuntimeError("no backend")
        return self.keys.get((service, login))


@pytest.fixture
def install_keyring(monkeypatch: pytest.MonkeyPatch) -> Callable[[Ring | None], None]:
    """Install a keyring for the package `keyring`, or none."""
    return lambda ring: monkeypatch.setitem(sys.modules, "keyring", ring)

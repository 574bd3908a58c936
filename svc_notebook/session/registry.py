"""The data folders on which local services of this user were started."""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from pathlib import Path


def remember(data: Path) -> None:
    """Write a folder down; where that cannot be, it is found by its name alone."""
    folder = data.expanduser().absolute()
    with suppress(OSError):
        _place().mkdir(mode=0o700, parents=True, exist_ok=True)
        _entry(folder).write_text(str(folder), encoding="utf-8")


def known_folders() -> list[Path]:
    """Name the folders that are still there, and forget the others."""
    found = []
    with suppress(OSError):
        for entry in sorted(_place().iterdir()):
            folder = Path(entry.read_text(encoding="utf-8"))
            if folder.is_dir():
                found.append(folder)
            else:
                entry.unlink(missing_ok=True)
    return found


def _entry(folder: Path) -> Path:
    return _place() / sha256(str(folder).encode()).hexdigest()[:16]


def _place() -> Path:
    from platformdirs import user_state_path

    return user_state_path("svc-notebook", appauthor=False) / "services"

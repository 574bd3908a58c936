"""The mask for secrets of a configuration in all that an editor shows, sends to a view and saves.

Each secret text is masked; a new secret gets a number so that its mask differs from the previous
one. Both are restored when the configuration is sent to the service.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from svc_notebook.errors import BadOption
from svc_notebook.functions.crawlers import SECRETS

VEIL = "••••••"

Place = tuple[str | int, ...]


class SecretMask:
    """Masks the secrets of one editor's configurations, and remembers them."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Place, str], str] = {}
        self._new = 0

    def hide_saved(self, config: Any) -> Any:
        """Return a saved configuration with masked secrets."""
        found = dict(_secrets(config, ()))
        self._kept |= {(place, VEIL): text for place, text in found.items()}
        return _replaced(config, (), dict.fromkeys(found, VEIL))

    def hide_new(self, config: Any) -> Any:
        """Return a draft with masked secrets, new ones included."""
        veils = {}
        for place, text in _secrets(config, ()):
            if text and not text.startswith(VEIL):
                self._new += 1
                veils[place] = f"{VEIL} new {self._new}"
                self._kept[place, veils[place]] = text
        return _replaced(config, (), veils)

    def lift(self, config: Any) -> Any:
        """Restore each secret; raise `BadOption` for a mask without a secret."""
        found = {}
        for place, text in _secrets(config, ()):
            if (place, text) in self._kept:
                found[place] = self._kept[place, text]
            elif text.startswith(VEIL):
                raise BadOption(f"`{_path(place)}` came from elsewhere, veiled: give it anew")
        return _replaced(config, (), found)


def _secrets(value: Any, place: Place, *, secret: bool = False) -> Iterator[tuple[Place, str]]:
    if isinstance(value, str) and secret:
        yield place, value
    for name, held in _members(value):
        yield from _secrets(held, (*place, name), secret=secret or name in SECRETS)


def _replaced(value: Any, place: Place, texts: Mapping[Place, str]) -> Any:
    if isinstance(value, str):
        return texts.get(place, value)
    if isinstance(value, Mapping):
        return {name: _replaced(held, (*place, name), texts) for name, held in value.items()}
    if isinstance(value, list):
        return [_replaced(held, (*place, number), texts) for number, held in enumerate(value)]
    return value


def _members(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)


def _path(place: Place) -> str:
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return "".join(parts).removeprefix(".")

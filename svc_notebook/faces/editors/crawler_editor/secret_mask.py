"""The mask of a configuration's secrets in everything that an editor shows, sends and saves.

Each secret text is masked. The mask of a new secret has a number, so that it differs from the
previous mask. The secrets are restored when the configuration is sent to the service.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from svc_notebook.errors import BadOption
from svc_notebook.faces.functions.crawler_configuration import SECRETS
from svc_notebook.faces.functions.crawler_scripts import MASK

Place = tuple[str | int, ...]


class SecretMask:
    """Masks the secrets of one editor's configurations and restores them."""

    def __init__(self) -> None:
        self._secrets_by_mask: dict[tuple[Place, str], str] = {}
        self._new_count = 0

    def hide_saved(self, config: Any) -> Any:
        """Mask the secrets of a saved configuration."""
        secrets = dict(_find_secrets(config, ()))
        self._secrets_by_mask |= {(path, MASK): text for path, text in secrets.items()}
        return _replace_texts(config, (), dict.fromkeys(secrets, MASK))

    def hide_new(self, config: Any) -> Any:
        """Mask the new secrets of a draft."""
        masks = {}
        for path, text in _find_secrets(config, ()):
            if text and not text.startswith(MASK):
                self._new_count += 1
                masks[path] = f"{MASK} new {self._new_count}"
                self._secrets_by_mask[path, masks[path]] = text
        return _replace_texts(config, (), masks)

    def restore(self, config: Any) -> Any:
        """Restore each secret; raise `BadOption` for a mask without a secret."""
        secrets = {}
        for path, text in _find_secrets(config, ()):
            if (path, text) in self._secrets_by_mask:
                secrets[path] = self._secrets_by_mask[path, text]
            elif text.startswith(MASK):
                raise BadOption(
                    f"`{_path(path)}` is masked and its secret is unknown here: enter it again"
                )
        return _replace_texts(config, (), secrets)


def _find_secrets(
    value: Any, path_to: Place, *, secret: bool = False
) -> Iterator[tuple[Place, str]]:
    if isinstance(value, str) and secret:
        yield path_to, value
    for name, member in _members(value):
        yield from _find_secrets(member, (*path_to, name), secret=secret or name in SECRETS)


def _replace_texts(value: Any, path_to: Place, texts: Mapping[Place, str]) -> Any:
    if isinstance(value, str):
        return texts.get(path_to, value)
    if isinstance(value, Mapping):
        return {
            name: _replace_texts(member, (*path_to, name), texts) for name, member in value.items()
        }
    if isinstance(value, list):
        return [
            _replace_texts(member, (*path_to, number), texts) for number, member in enumerate(value)
        ]
    return value


def _members(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)


def _path(path_to: Place) -> str:
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path_to)
    return "".join(parts).removeprefix(".")

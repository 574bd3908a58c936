"""Issue warnings that are addressed to the user of the notebook."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from svc_notebook.core.redaction import mask_secrets
from svc_notebook.core.terminal import escape_controls

# What writes a text in the words of the surface that the user typed in: functions by default.
_spelling: ContextVar[Callable[[str], str]] = ContextVar("spelling", default=str)


@contextmanager
def spell_warnings(spell: Callable[[str], str]) -> Iterator[None]:
    """Write the texts of warnings by `spell` while the context is open."""
    token = _spelling.set(spell)
    try:
        yield
    finally:
        _spelling.reset(token)


def warn_user(text: str, category: type[UserWarning] = UserWarning) -> None:
    """Issue a warning every time, without a source line of this package."""
    text = _spelling.get()(mask_secrets(text))
    warnings.warn_explicit(escape_controls(text), category, "<svc>", 1)

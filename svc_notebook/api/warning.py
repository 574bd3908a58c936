"""A warning that is meant for whoever typed a line."""

from __future__ import annotations

import warnings

from svc_notebook.terminal import escape_controls


def warn_user(text: str, category: type[UserWarning] = UserWarning) -> None:
    """Warn every time, and without a line of this package below it."""
    warnings.warn_explicit(escape_controls(text), category, "<svc>", 1)

"""A warning that is meant for whoever typed a line."""

from __future__ import annotations

import warnings


def warn_user(text: str, category: type[UserWarning] = UserWarning) -> None:
    """Warn every time, and without a line of this package below it."""
    warnings.warn_explicit(text, category, "<svc>", 1)

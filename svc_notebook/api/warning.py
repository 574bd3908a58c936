"""Issue warnings that are addressed to the user of the notebook."""

from __future__ import annotations

import warnings

from svc_notebook.redaction import mask_secrets
from svc_notebook.terminal import escape_controls


def warn_user(text: str, category: type[UserWarning] = UserWarning) -> None:
    """Issue a warning every time, without a source line of this package."""
    warnings.warn_explicit(escape_controls(mask_secrets(text)), category, "<svc>", 1)

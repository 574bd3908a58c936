"""Put `%svc` and its completion into a shell, and take both out again."""

from __future__ import annotations

from typing import Any

from IPython.core import completer

from svc_notebook.magics.hook import MATCHER
from svc_notebook.magics.magic import make_magic
from svc_notebook.magics.matching import make_matcher

_NAME = "svc"


def load(shell: Any) -> None:
    """Register `%svc` and `%%svc`; doing so twice changes nothing."""
    unload(shell)
    shell.register_magic_function(make_magic(shell), magic_kind="line_cell", magic_name=_NAME)
    if hasattr(completer, "context_matcher"):  # IPython 8.6; before, Tab knows no verbs
        shell.Completer.custom_matchers.append(make_matcher(shell))


def unload(shell: Any) -> None:
    """Leave the shell as it was before `load`."""
    manager = shell.magics_manager
    for kind in ("line", "cell"):
        manager.magics[kind].pop(_NAME, None)
    vars(manager.user_magics).pop(_NAME, None)
    matchers = getattr(shell.Completer, "custom_matchers", [])
    matchers[:] = [m for m in matchers if getattr(m, "matcher_identifier", None) != MATCHER]

"""Completion inside calls for a shell in which the package is imported, before `%load_ext`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from IPython.core import completer

MATCHER = "svc_notebook"


Matcher = Callable[[Any], Any]


def add_matcher(shell: Any, make_matcher: Callable[[Any], Matcher]) -> None:
    """Register a matcher that is made when Tab is first pressed."""
    matchers = getattr(shell.Completer, "custom_matchers", None)
    if matchers is None or not hasattr(completer, "context_matcher"):
        return  # IPython before 8.6
    if any(getattr(one, "matcher_identifier", None) == MATCHER for one in matchers):
        return
    made: list[Matcher] = []

    def match_svc(context: Any) -> Any:
        if not made:
            made.append(make_matcher(shell))
        return made[0](context)

    matchers.append(completer.context_matcher(identifier=MATCHER)(match_svc))

"""The error message that an editor shows: what failed, and how to fix it."""

from __future__ import annotations

import logging
from typing import TypedDict

from svc_notebook import errors

_LOG = logging.getLogger(__name__)


class Explanation(TypedDict):
    """An error as a view shows it."""

    type: str
    message: str
    advice: str


# The first matching row is used.
ADVICE: list[tuple[type[Exception], str]] = [
    (errors.NotConnected, "Connect in a cell, then open the editor again."),
    (errors.Unreachable, "Check that the service runs and the URL is correct, then try again."),
    (errors.TimedOut, "The service may be busy; try again in a moment."),
    (errors.KeyRefused, "Connect with a key that has this right, then open the editor again."),
    (errors.NotFound, "Check that the index exists: `%svc indices` lists all indices."),
    (errors.TooMany, "Wait a moment, then try again."),
    (errors.ServiceBroken, "This is an error of the service; its log may have details."),
    (errors.LocalServiceFailed, "Start the service again: `%svc serve`."),
    (errors.TaskFailed, "The change was accepted and may still be published; reload later."),
    (errors.SvcError, ""),
    (Exception, "This is an error of the editor; the notebook's log has the details."),
]


def explain(error: Exception) -> Explanation:
    """Describe an error; unexpected errors are also logged."""
    if not isinstance(error, errors.SvcError):
        _LOG.error("an editor's call failed", exc_info=error)
    advice = next(text for kind, text in ADVICE if isinstance(error, kind))
    message = "; ".join([str(error), *getattr(error, "__notes__", ())])
    return {"type": type(error).__name__, "message": message, "advice": advice}

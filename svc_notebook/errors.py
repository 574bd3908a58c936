"""Every error this package raises, in one tree.

```
SvcError
├─ NotConnected             no client yet; the message says how to connect
│  └─ NotTrusted            .folder .profile .address of a project's file
├─ BadInput                 refused before anything is sent
│  ├─ BadArgument           an argument is missing, unknown or given twice; also a TypeError
│  ├─ BadRecord             .row .column .value
│  └─ BadOption             an option of a magic, command or editor
├─ Stopped                  stopped on request; .result is the result so far
├─ CallFailed               .endpoint .request_id
│  ├─ Unreachable           no host could be reached; .tried lists each failure
│  ├─ TimedOut              no response in time, .tried as above
│  ├─ AnswerTooLarge        the response was not read to its end
│  ├─ CursorRepeated        a browse that would never end, .cursor .records .result
│  └─ Refused               .status .message
│     ├─ KeyRefused         the key is wrong or lacks a right
│     ├─ NotFound
│     ├─ TooMany            .wait, in seconds
│     └─ ServiceBroken      the service failed, or its response is not the API's
│        └─ UnexpectedAnswer  the response has another form than the API
│           └─ MissingMember  a required member is missing
├─ LocalServiceFailed       the local service does not start or was lost
└─ TaskFailed               .tasks were not published in time
```

Errors of libraries are raised as one of these, with the original error as the cause. A function
that is not awaited raises the error without the cause, so that its traceback is short; the
attribute `original` is the cause.

`UnknownAttributeWarning` is a warning: a setting or parameter names an attribute that no record of
a sample has. The call is made all the same. `NoHitsWarning` is a warning, too: it gives the reason
why a search has no hits.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import wraps
from inspect import iscoroutinefunction, isfunction
from itertools import islice
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from svc_notebook.core.redaction import mask_secrets
from svc_notebook.core.terminal import escape_controls

# Files of a folder whose names are compared with the name of a missing file.
MAX_COMPARED_FILES = 5000
# First words of functions that delete; no suggestion names such a function.
DELETING_VERBS = ("clear", "delete", "drop", "remove", "replace", "reset")

P = ParamSpec("P")
R = TypeVar("R")


class SvcError(Exception):
    """The base class of all errors of this package; the message says what to do next.

    Messages quote services, libraries and records, so they show control characters as escapes and
    no passwords of addresses.
    """

    def __init__(self, *arguments: object) -> None:
        super().__init__(*(mask_secrets(a) if isinstance(a, str) else a for a in arguments))

    def __str__(self) -> str:
        return escape_controls(Exception.__str__(self))

    def add_note(self, note: str, /) -> None:
        """Add a line that is shown below the message."""
        super().add_note(escape_controls(mask_secrets(note)))

    # The error of a library, if a function that is not awaited raises this error for it.
    original: BaseException | None = None

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows: message and notes, without the frames of this package."""
        return [f"{type(self).__name__}: {self}", *getattr(self, "__notes__", ())]


E = TypeVar("E", bound=SvcError)


class NotConnected(SvcError):
    """No client has been created yet, or a value that it needs is missing."""


class NotTrusted(NotConnected):
    """A project's file gives the address, and the user has not trusted its folder with a key."""

    def __init__(
        self, message: str, *, folder: Path | None = None, profile: str = "", address: str = ""
    ) -> None:
        super().__init__(message)
        self.folder = folder
        self.profile = profile
        self.address = address


class BadInput(SvcError):
    """An argument or a value is invalid; nothing was sent."""


class BadArgument(BadInput, TypeError):
    """An argument of a function is missing, unknown or given twice."""


class BadRecord(BadInput):
    """One value of one row cannot be sent."""

    def __init__(
        self,
        message: str,
        *,
        row: int | None = None,
        column: str | None = None,
        value: object = None,
    ) -> None:
        super().__init__(message)
        self.row = row
        self.column = column
        self.value = value


class BadOption(BadInput):
    """An option or argument of a magic, a command or an editor is wrong."""


class Stopped(SvcError, KeyboardInterrupt):
    """The work was stopped on request; `result` is the result so far."""

    def __init__(self, message: str, *, result: object = None) -> None:
        super().__init__(message)
        self.result = result


class CallFailed(SvcError):
    """A call failed.

    `request_id` is the service's id of the request, or the client's if the service sent none.
    """

    request_id = ""

    def __init__(self, message: str, *, endpoint: str = "") -> None:
        super().__init__(message)
        self.endpoint = endpoint


class Unreachable(CallFailed):
    """Every host was tried, and none could be reached."""

    def __init__(self, message: str, *, endpoint: str = "", tried: Sequence[str] = ()) -> None:
        super().__init__(message, endpoint=endpoint)
        self.tried = tuple(tried)


class TimedOut(CallFailed):
    """No host responded in time."""

    def __init__(self, message: str, *, endpoint: str = "", tried: Sequence[str] = ()) -> None:
        super().__init__(message, endpoint=endpoint)
        self.tried = tuple(tried)


class AnswerTooLarge(CallFailed):
    """A response exceeds the size limit, or decompresses to far more than was sent."""


class CursorRepeated(CallFailed):
    """A browse would never end, because the service returned a cursor a second time.

    `records` is the number of records that were read before, `cursor` leads to the last page that
    was read, and `result` is the DataFrame so far, if a reader built one.
    """

    def __init__(
        self, message: str, *, endpoint: str = "", cursor: str | None = None, records: int = 0
    ) -> None:
        super().__init__(message, endpoint=endpoint)
        self.cursor = cursor
        self.records = records
        self.result: object = None


class Refused(CallFailed):
    """The service refused the call."""

    def __init__(self, message: str, *, status: int, endpoint: str = "") -> None:
        super().__init__(message, endpoint=endpoint)
        self.status = status
        self.message = message


# Statuses of a service that does not have the endpoint.
UNKNOWN_ENDPOINT_STATUSES = (404, 405)


class KeyRefused(Refused):
    """The key is unknown, or lacks the right that the call requires."""


class NotFound(Refused):
    """The index, record, key or task does not exist."""


class TooMany(Refused):
    """The rate limit of the service is exceeded; `wait` is in seconds."""

    def __init__(
        self, message: str, *, status: int = 429, endpoint: str = "", wait: float = 1
    ) -> None:
        super().__init__(message, status=status, endpoint=endpoint)
        self.wait = wait


class ServiceBroken(Refused):
    """The service failed, or its response is not a response of the API."""


class UnexpectedAnswer(ServiceBroken):
    """A response has another form than the API declares."""

    def __init__(self, message: str, *, status: int = 200, endpoint: str = "") -> None:
        super().__init__(message, status=status, endpoint=endpoint)


class MissingMember(UnexpectedAnswer, KeyError):
    """A required member of a response is missing."""


class LocalServiceFailed(SvcError):
    """The local service does not start, or no longer runs."""


class TaskFailed(SvcError):
    """Tasks were accepted, but were not published before the timeout."""

    def __init__(self, message: str, *, tasks: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.tasks = tuple(tasks)


class UnknownAttributeWarning(UserWarning):
    """A setting or parameter names an attribute that no record of a sample has."""


class NoHitsWarning(UserWarning):
    """A search has no hits; the message gives the reason."""


def detach(error: E) -> E:
    """Remove the causes and the traceback of an error; `original` keeps the cause."""
    error.original = error.original or error.__cause__
    error.__cause__ = error.__context__ = None
    error.__suppress_context__ = False  # an error that the caller is handling is still shown
    return error.with_traceback(None)


def unchained(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function raise errors of this package without their causes and frames."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except SvcError as error:
            failed = detach(error)
        # Raised outside of the handler, which would set the handled error as the context.
        try:
            raise failed
        finally:
            del failed  # its traceback refers to this frame

    return call


def unchained_function(member: Any) -> Any:
    """Apply `unchained` to a member of a package if it is a blocking function."""
    return unchained(member) if isfunction(member) and not iscoroutinefunction(member) else member


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Return `; did you mean X?`, or an empty string if no known word is similar."""
    by_folded = {name.casefold(): name for name in names}
    near = difflib.get_close_matches(word.casefold(), by_folded, n=1, cutoff=0.6)
    return f"; did you mean `{by_folded[near[0]]}`?" if near else ""


def did_you_mean_file(path: Path) -> str:
    """Return `; did you mean X?` for a missing file, from the files of its folder."""
    folder = path.parent
    if not folder.is_dir():
        return f"; there is no folder {folder.absolute()}"
    with suppress(OSError):
        files = (entry.name for entry in folder.iterdir() if not entry.is_dir())
        return did_you_mean(path.name, islice(files, MAX_COMPARED_FILES))
    return ""


def unreadable(path: Path, error: OSError) -> BadInput:
    """Return the error for a file that cannot be read."""
    advice = did_you_mean_file(path) if isinstance(error, FileNotFoundError) else ""
    return BadInput(f"{path} cannot be read: {error.strerror or error}{advice}")


def unwritable(path: str | os.PathLike[str], error: OSError) -> BadInput:
    """Return the error for a file that cannot be written."""
    return BadInput(f"{path} cannot be written: {error.strerror or error}")


def deletes(function: str) -> bool:
    """Return whether a function or method, by the verb in its name, deletes something."""
    return function.partition("_")[0] in DELETING_VERBS


def lacking_attribute(
    owner: str,
    name: str,
    names: Iterable[str],
    suggest: Callable[[str], str] = lambda name: "",
) -> AttributeError:
    """Return the error for a name that a module or an object does not have.

    `suggest` returns advice for names from elsewhere; a similar known name comes second. A name
    that deletes something is never suggested, by Python's own suggestions neither: these need the
    object, which the error leaves out.
    """
    advice = ""
    if not name.startswith("_"):
        advice = suggest(name) or did_you_mean(
            name, [candidate for candidate in names if not deletes(candidate)]
        )
    message = f"{owner} has no attribute {name!r}{advice}"
    return AttributeError(message, name=name, obj=None)


# After these a write may have had an effect, or may have one later.
UNCERTAIN_FAILURES = (Unreachable, TimedOut, TaskFailed, Stopped)

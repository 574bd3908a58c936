"""Every error this package raises, in one tree.

```
SvcError
├─ NotConnected             no client yet; says what to type
├─ BadInput                 refused before anything is sent
│  ├─ BadRecord             .row .column .value
│  └─ BadOption             an option of a magic, command or editor
├─ Stopped                  stopped on request, .result tells what was done
├─ CallFailed               .endpoint .request_id
│  ├─ Unreachable           every host was tried, .tried tells how each failed
│  ├─ TimedOut              no answer in time, .tried as above
│  ├─ AnswerTooLarge        the answer was not read to its end
│  ├─ CursorRepeated        a browse that would never end, .cursor .records .result
│  └─ Refused               .status .message
│     ├─ KeyRefused         the key is wrong or lacks a right
│     ├─ NotFound
│     ├─ TooMany            .wait, in seconds
│     └─ ServiceBroken      the service answered with a fault of its own
│        └─ UnexpectedAnswer  the answer has not the shape of the API
│           └─ MissingMember  a member that was needed is not there
├─ LocalServiceFailed       the local service does not start or was lost
└─ TaskFailed               .tasks were not published in time
```

What a library below raises becomes one of these, with the original as its cause. A function that
does not have to be awaited raises it alone, so that a traceback is short; `original` is the cause.

One warning is a class of its own, `UnknownAttributeWarning`: a setting or parameter names an
attribute that no record of a sample has. Nothing is refused for it.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import wraps
from inspect import iscoroutinefunction, isfunction
from itertools import islice
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from svc_notebook.terminal import escape_controls

# Files of a folder among which one of nearly the same name is looked for.
MAX_FILES = 5000

P = ParamSpec("P")
R = TypeVar("R")


class SvcError(Exception):
    """Whatever goes wrong here; the message says what to do next.

    Messages quote services and records, so control characters in them are written as escapes.
    """

    def __str__(self) -> str:
        return escape_controls(Exception.__str__(self))

    def add_note(self, note: str, /) -> None:
        """Add a line that is shown below the message."""
        super().add_note(escape_controls(note))

    # What a library below raised, where a function that is not awaited raises this.
    original: BaseException | None = None

    def _render_traceback_(self) -> list[str]:
        """Show a notebook the message and its notes: the frames inside this package help nobody."""
        return [f"{type(self).__name__}: {self}", *getattr(self, "__notes__", ())]


E = TypeVar("E", bound=SvcError)


class NotConnected(SvcError):
    """There is no client yet."""


class BadInput(SvcError):
    """Something was refused before anything was sent."""


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
    """The work was stopped on request; `result` tells what had been done by then."""

    def __init__(self, message: str, *, result: object = None) -> None:
        super().__init__(message)
        self.result = result


class CallFailed(SvcError):
    """A call brought no good answer.

    `request_id` is what the service calls the request, or what the client called it.
    """

    request_id = ""

    def __init__(self, message: str, *, endpoint: str = "") -> None:
        super().__init__(message)
        self.endpoint = endpoint


class Unreachable(CallFailed):
    """Every host was tried and none answered."""

    def __init__(self, message: str, *, endpoint: str = "", tried: Sequence[str] = ()) -> None:
        super().__init__(message, endpoint=endpoint)
        self.tried = tuple(tried)


class TimedOut(CallFailed):
    """No host answered in time."""

    def __init__(self, message: str, *, endpoint: str = "", tried: Sequence[str] = ()) -> None:
        super().__init__(message, endpoint=endpoint)
        self.tried = tuple(tried)


class AnswerTooLarge(CallFailed):
    """An answer is larger than a client reads, or unpacks to far more than was sent."""


class CursorRepeated(CallFailed):
    """A browse got a cursor again that it had followed before, and would never end.

    `records` were read before it came again; `cursor` leads to the last page that was read;
    `result` is what a reader had put together, if it had.
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


class KeyRefused(Refused):
    """The key is unknown, or lacks the right the call needs."""


class NotFound(Refused):
    """The index, record, key or task does not exist."""


class TooMany(Refused):
    """The service asks to slow down; `wait` is in seconds."""

    def __init__(
        self, message: str, *, status: int = 429, endpoint: str = "", wait: float = 1
    ) -> None:
        super().__init__(message, status=status, endpoint=endpoint)
        self.wait = wait


class ServiceBroken(Refused):
    """The service answered with a fault of its own, or with something that is not its API."""


class UnexpectedAnswer(ServiceBroken):
    """An answer has not the shape that the API declares."""

    def __init__(self, message: str, *, status: int = 200, endpoint: str = "") -> None:
        super().__init__(message, status=status, endpoint=endpoint)


class MissingMember(UnexpectedAnswer, KeyError):
    """A member of an answer that was needed is not there."""


class LocalServiceFailed(SvcError):
    """The local service does not start, or went away."""


class TaskFailed(SvcError):
    """Tasks were accepted but not published in the time given."""

    def __init__(self, message: str, *, tasks: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.tasks = tuple(tasks)


class UnknownAttributeWarning(UserWarning):
    """A setting or parameter names an attribute that no record has, as far as was looked."""


def detach(error: E) -> E:
    """Take an error out of the chain of those it came from, without the frames in between."""
    error.original = error.original or error.__cause__
    error.__cause__ = error.__context__ = None
    error.__suppress_context__ = False  # an error the caller is handling still shows
    return error.with_traceback(None)


def unchained(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function raise errors of ours alone, without the frames and errors below it."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except SvcError as error:
            failed = detach(error)
        # Outside of the handler: what is raised there has the handled error behind it.
        try:
            raise failed
        finally:
            del failed  # it holds this frame

    return call


def unchained_function(found: Any) -> Any:
    """Let what a package offers raise errors of ours alone, if it is a function."""
    return unchained(found) if isfunction(found) and not iscoroutinefunction(found) else found


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean X?`, or nothing where no known word is near."""
    spelled = {name.casefold(): name for name in known}
    near = difflib.get_close_matches(word.casefold(), spelled, n=1, cutoff=0.6)
    return f"; did you mean `{spelled[near[0]]}`?" if near else ""


def did_you_mean_file(path: Path) -> str:
    """Return `; did you mean X?` for a missing file, from the files of its folder."""
    folder = path.parent
    if not folder.is_dir():
        return f"; there is no folder {folder.absolute()}"
    with suppress(OSError):
        files = (entry.name for entry in folder.iterdir() if not entry.is_dir())
        return did_you_mean(path.name, islice(files, MAX_FILES))
    return ""


def unreadable(path: Path, error: OSError) -> BadInput:
    """Make the error for a file that cannot be read."""
    advice = did_you_mean_file(path) if isinstance(error, FileNotFoundError) else ""
    return BadInput(f"{path} cannot be read: {error.strerror or error}{advice}")


def lacking_attribute(module: str, name: str, known: Iterable[str]) -> AttributeError:
    """Make the error for a name that a module has not."""
    advice = "" if name.startswith("_") else did_you_mean(name, known)
    return AttributeError(f"module {module!r} has no attribute {name!r}{advice}")

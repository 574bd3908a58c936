"""Every error this package raises, in one tree.

```
SvcError
├─ NotConnected             no client yet; says what to type
├─ BadInput                 refused before anything is sent
│  ├─ BadRecord             .row .column .value
│  └─ BadOption             an option of a magic, command or editor
├─ Stopped                  stopped on request, .result tells what was done
├─ CallFailed               .endpoint
│  ├─ Unreachable           every host was tried, .tried tells how each failed
│  ├─ TimedOut              no answer in time, .tried as above
│  └─ Refused               .status .message
│     ├─ KeyRefused         the key is wrong or lacks a right
│     ├─ NotFound
│     ├─ TooMany            .wait, in seconds
│     └─ ServiceBroken      the service answered with a fault of its own
├─ LocalServiceFailed       the local service does not start or was lost
└─ TaskFailed               .tasks were not published in time
```

What a library below raises becomes one of these, with the original as its cause.

One warning is a class of its own, `UnknownAttributeWarning`: a setting or parameter names an
attribute that no record of a sample has. Nothing is refused for it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


class SvcError(Exception):
    """Whatever goes wrong here; the message says what to do next."""

    def _render_traceback_(self) -> list[str]:
        """Show a notebook the message and its notes: the frames inside this package help nobody."""
        return [f"{type(self).__name__}: {self}", *getattr(self, "__notes__", ())]


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
    """A call brought no good answer."""

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


class LocalServiceFailed(SvcError):
    """The local service does not start, or went away."""


class TaskFailed(SvcError):
    """Tasks were accepted but not published in the time given."""

    def __init__(self, message: str, *, tasks: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.tasks = tuple(tasks)


class UnknownAttributeWarning(UserWarning):
    """A setting or parameter names an attribute that no record has, as far as was looked."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean X?`, or nothing where no known word is near."""
    spelled = {name.casefold(): name for name in known}
    near = difflib.get_close_matches(word.casefold(), spelled, n=1, cutoff=0.6)
    return f"; did you mean `{spelled[near[0]]}`?" if near else ""


def lacking_attribute(module: str, name: str, known: Iterable[str]) -> AttributeError:
    """Make the error for a name that a module has not."""
    advice = "" if name.startswith("_") else did_you_mean(name, known)
    return AttributeError(f"module {module!r} has no attribute {name!r}{advice}")

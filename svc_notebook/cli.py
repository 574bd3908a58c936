"""The `svc` command: the verbs in a terminal."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from io import TextIOWrapper
from typing import Any, TextIO

from svc_notebook.commands.binding import bind_words
from svc_notebook.commands.execution import perform
from svc_notebook.commands.help import help as help_on
from svc_notebook.commands.registry import pick_verb
from svc_notebook.errors import BadOption, NotConnected, SvcError
from svc_notebook.functions.output import as_text
from svc_notebook.terminal import escape_controls

EXIT_SUCCESS, EXIT_FAILURE, EXIT_USAGE_ERROR, EXIT_INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    words = list(map(_in_utf8, sys.argv[1:] if arguments is None else arguments))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal that does not know a character shows its number.
            stream.reconfigure(errors="backslashreplace")
    with warnings.catch_warnings():
        warnings.showwarning = _warn
        return _attempt(words)


def _attempt(words: list[str]) -> int:
    try:
        status = _run(words)
        sys.stdout.flush()
    except BrokenPipeError:
        _silence()
        return EXIT_FAILURE
    except BadOption as error:
        return _complain(error, EXIT_USAGE_ERROR)
    except NotConnected as error:
        return _complain(_in_shell(f"{error}"), EXIT_FAILURE)
    except KeyboardInterrupt as error:
        return _complain(f"{error}" or "interrupted", EXIT_INTERRUPTED)
    except SvcError as error:
        return _complain(error, EXIT_FAILURE)
    return status


def _in_utf8(word: str) -> str:
    """Read an argument as UTF-8, whatever the locale says; what is none stays as it came."""
    try:
        return os.fsencode(word).decode()
    except UnicodeError:
        return word


def _in_shell(text: str) -> str:
    """Give the advice of a shell in place of the advice of Python."""
    told, python, _ = text.partition("; connect(")
    if not python:
        return text
    return (
        f"{told}; --profile NAME uses a profile, SVC_URL, SVC_APP_ID and SVC_API_KEY any service, "
        "and `svc serve` starts the local one"
    )


def _run(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help"):
        _say(help_on(face="command"))
        return EXIT_SUCCESS if words else EXIT_USAGE_ERROR
    if words[0] == "--version":
        print(f"svc-notebook {_version()}")
        return EXIT_SUCCESS
    verb, rest = pick_verb(words, "command")
    call = bind_words(verb, rest, "command")
    value = perform(call, "command")
    if verb.name == "serve" and not call.wants_help:
        return int(value)
    if text := as_text(value, call.format):
        _show(text, call.format)
    reveals = "reveal" in verb.named("command") and not call.wants_help
    if reveals and "reveal" not in call.arguments:
        print("svc: masked; --reveal shows a key whole", file=sys.stderr)
    return _status(value)


def _status(value: Any) -> int:
    """A load is done when every row is published, a plan when every row could be sent."""
    complete = getattr(value, "complete", not getattr(value, "rejected_rows", 0))
    return EXIT_SUCCESS if complete else EXIT_FAILURE


def _show(text: str, form: str) -> None:
    """Print a result: as it is only where a program reads CSV, for which there is no escape."""
    if form == "csv" and not sys.stdout.isatty():
        print(text)
    else:
        _say(text)


def _say(*texts: object, stream: TextIO | None = None) -> None:
    """Print what a person reads; nothing in it can steer the terminal."""
    print(*(escape_controls(f"{text}") for text in texts), sep="\n", file=stream)


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    _say(f"svc: {message}", stream=sys.stderr)


def _complain(text: object, status: int) -> int:
    _say(f"svc: {text}", *getattr(text, "__notes__", ()), stream=sys.stderr)
    return status


def _silence() -> None:
    """Nobody reads on: keep Python from complaining when it closes the stream at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _version() -> str:
    try:
        return version("svc-notebook")
    except PackageNotFoundError:
        return "(not installed)"


if __name__ == "__main__":
    raise SystemExit(main())

"""The `svc` command: the verbs in a terminal."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

from svc_notebook.core.release import read_version
from svc_notebook.core.terminal import escape_controls, is_terminal
from svc_notebook.errors import BadOption, NotConnected, SvcError, unwritable
from svc_notebook.faces.commands.binding import BoundCall, bind_words
from svc_notebook.faces.commands.execution import perform, spell
from svc_notebook.faces.commands.help import help as help_on
from svc_notebook.faces.commands.registry import pick_verb
from svc_notebook.faces.functions.output import as_text

EXIT_SUCCESS, EXIT_FAILURE, EXIT_USAGE_ERROR, EXIT_INTERRUPTED = 0, 1, 2, 130
# Verbs that return a new key, which a terminal shows.
MAKING_KEYS = ("keys add", "keys secure")
NEW_KEY = "this key is shown once: store it now; it is masked from here on"
MASKED_KEYS = "API keys are masked; pass --reveal to show them"
EXIT_NOT_MET, EXIT_UNCHECKED = 1, 2  # of a check: its outcome, and that it has none


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    words = list(map(_decode_utf8, sys.argv[1:] if arguments is None else arguments))
    # A stream that the caller has closed is None.
    sys.stdout = sys.stdout or _open_nothing()
    sys.stderr = sys.stderr or _open_nothing()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal that cannot encode a character shows its code.
            stream.reconfigure(errors="backslashreplace")
    with warnings.catch_warnings():
        warnings.showwarning = _warn
        return _exit_status(words)


def _exit_status(words: list[str]) -> int:
    try:
        status = _run(words)
        with _writing():
            sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
        return EXIT_FAILURE
    except BadOption as error:
        return _report(error, EXIT_USAGE_ERROR)
    except KeyboardInterrupt as error:
        return _report(f"{error}" or "interrupted", EXIT_INTERRUPTED)
    except SvcError as error:
        return _report(error, EXIT_FAILURE)
    return status


def _decode_utf8(word: str) -> str:
    """Read an argument as UTF-8, whatever the locale says; return other bytes unchanged."""
    try:
        return os.fsencode(word).decode()
    except UnicodeError:
        return word


def _run(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help"):
        _print_safe(help_on(face="command"))
        return EXIT_SUCCESS if words else EXIT_USAGE_ERROR
    if words[0] in ("--version", "-V", "version"):
        print(f"svc-notebook {read_version()}")
        return EXIT_SUCCESS
    verb, rest = pick_verb(words, "command")
    call = bind_words(verb, rest, "command")
    if not call.wants_help and verb.gives_verdict(call.arguments):
        return _check(call)
    return _perform(call)


def _perform(call: BoundCall) -> int:
    """Perform a call and print its value; a new key is shown in a terminal."""
    verb = call.verb
    masks = "reveal" in verb.named("command") and "reveal" not in call.arguments
    if shows_new_key := masks and verb.name in MAKING_KEYS and is_terminal(sys.stdout):
        call.arguments["reveal"] = True
    value = perform(call, "command")
    if verb.name == "serve" and not call.wants_help:
        return int(value)
    _print_value(value, call)
    if masks and not call.wants_help:
        print(f"svc: {NEW_KEY if shows_new_key else MASKED_KEYS}", file=sys.stderr)
    return _status(value)


def _check(call: BoundCall) -> int:
    """Perform a call that checks, and return 0 or 1 for its outcome, 2 if it has none."""
    try:
        value = perform(call, "command")
    except SvcError as error:
        return _report(error, EXIT_UNCHECKED)
    _print_value(value, call)
    if getattr(value, "breakage", ""):
        return EXIT_UNCHECKED
    return EXIT_SUCCESS if value.complete else EXIT_NOT_MET


def _status(value: Any) -> int:
    """Return success if every row of a load is published, or of a plan can be sent."""
    complete = getattr(value, "complete", not getattr(value, "rejected_rows", 0))
    return EXIT_SUCCESS if complete else EXIT_FAILURE


def _print_value(value: Any, call: BoundCall) -> None:
    """Print a result; only CSV for a program keeps control characters, as CSV has no escapes."""
    text = as_text(value, call.format, lambda message: spell(message, call.verb, "command"))
    with _writing():
        if text and call.format == "csv" and not is_terminal(sys.stdout):
            print(text)
        elif text:
            _print_safe(text)


def _print_safe(*texts: object, stream: TextIO | None = None) -> None:
    """Print text for a person, with control characters as escapes."""
    print(*(escape_controls(f"{text}") for text in texts), sep="\n", file=stream)


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    _print_safe(f"svc: {message}", stream=sys.stderr)


def _report(text: object, status: int) -> int:
    if isinstance(text, NotConnected):
        text = spell(str(text), None, "command")
    _print_safe(f"svc: {text}", *getattr(text, "__notes__", ()), stream=sys.stderr)
    return status


@contextmanager
def _writing() -> Iterator[None]:
    """Report output that cannot be written, as on a full disk; a closed pipe is no error."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        _discard_output()
        raise unwritable("the output", error) from None


def _open_nothing() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


def _discard_output() -> None:
    """Discard further output, so that Python reports no closed pipe at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

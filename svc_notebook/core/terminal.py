"""Terminals: text without control characters, questions, prompts for keys, warnings to users."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from getpass import GetPassWarning, getpass
from typing import TextIO

from svc_notebook.core.redaction import mask_secrets

# What writes a text in the words of the surface that the user typed in: functions by default.
_spelling: ContextVar[Callable[[str], str]] = ContextVar("spelling", default=str)
# Control characters that only move the cursor forward.
KEPT = "\n\t"
# C0, DEL, C1, the marks and overrides of writing direction, and the line ends of Unicode.
_RANGES = (
    (0x00, 0x1F), (0x7F, 0x9F), (0x061C, 0x061C), (0x200E, 0x200F), (0x2028, 0x202E),
    (0x2066, 0x2069), (0xFFF9, 0xFFFB),
)  # fmt: skip
_ESCAPES = {
    code: f"\\u{code:04x}"
    for first, last in _RANGES
    for code in range(first, last + 1)
    if chr(code) not in KEPT
}


def escape_controls(text: str) -> str:
    r"""Replace control characters by escapes such as `\u001b`; line breaks and tabs are kept.

    The escapes are those of JSON, so a JSON text keeps its meaning.
    """
    return text if text.isascii() and text.isprintable() else text.translate(_ESCAPES)


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a standard stream is a terminal.

    Programs without a console have no streams, or replace them by objects that can only write.
    """
    try:
        return stream is not None and stream.isatty()
    except (AttributeError, ValueError):  # it can only write, or is closed
        return False


def write_log(text: str) -> None:
    """Write a line to the standard error, if that is possible.

    The log of a local service is on the disk of its data: a thread that cannot report a full disk
    has to go on.
    """
    with suppress(OSError, ValueError, AttributeError):  # full, closed, or none
        sys.stderr.write(f"{text}\n")


def prompt_for_key(prompt: str) -> str:
    """Prompt for a key without echo; return an empty text if no such prompt is available."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", GetPassWarning)
            return getpass(escape_controls(f"{prompt}: ")).strip()
    except (EOFError, GetPassWarning, NotImplementedError, OSError):
        return ""


def ask(question: str, *, needs_terminal: bool) -> str | None:
    """Return the answer to a question; None if no prompt is available.

    `needs_terminal`: ask on stderr, and only if stdin is a terminal: the next line of a pipe is not
    an answer. A notebook has a prompt of its own.
    """
    question = escape_controls(question)
    if needs_terminal:
        if not is_terminal(sys.stdin) or sys.stderr is None:
            return None
        sys.stderr.write(question)
        sys.stderr.flush()
        question = ""
    try:
        return input(question)
    except (EOFError, NotImplementedError, OSError):
        return None


def is_yes(answer: str | None) -> bool:
    """Return whether an answer to a question is yes."""
    return answer is not None and answer.strip().casefold() in ("y", "yes")


def runs_in_kernel() -> bool:
    """Return whether this process is the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


@contextmanager
def spell_warnings(spell: Callable[[str], str]) -> Iterator[None]:
    """Write the texts of warnings by `spell` while the context is open."""
    token = _spelling.set(spell)
    try:
        yield
    finally:
        _spelling.reset(token)


def warn_user(text: str, category: type[UserWarning] = UserWarning) -> None:
    """Issue a warning every time, without a source line of this package."""
    text = _spelling.get()(mask_secrets(text))
    warnings.warn_explicit(escape_controls(text), category, "<svc>", 1)

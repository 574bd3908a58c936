"""The `svc` command: the verbs in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from svc_notebook.errors import BadOption, SvcError
from svc_notebook.verbs.binding import bind_words, find_verb
from svc_notebook.verbs.helping import help as help_on
from svc_notebook.verbs.performing import perform
from svc_notebook.verbs.printing import as_text
from svc_notebook.verbs.table import VERBS

DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(words)
    except BadOption as error:
        return _complain(error, MISUSED)
    except KeyboardInterrupt as error:
        return _complain(error, INTERRUPTED)
    except SvcError as error:
        return _complain(error, FAILED)
    except BrokenPipeError:
        return FAILED


def _run(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help"):
        print(help_on(face="command"))
        return DONE if words else MISUSED
    if words[0] == "--version":
        print(f"svc-notebook {_version()}")
        return DONE
    verb = find_verb(words[0], VERBS, "command")
    call = bind_words(verb, words[1:], "command")
    value = perform(call, "command")
    if isinstance(value, int) and verb.name == "serve":
        return value
    if text := as_text(value, call.format):
        print(text)
    return DONE if getattr(value, "complete", True) else FAILED


def _complain(error: BaseException, status: int) -> int:
    print(f"svc: {error or 'interrupted'}", file=sys.stderr)
    return status


def _version() -> str:
    from importlib.metadata import version

    return version("svc-notebook")


if __name__ == "__main__":
    raise SystemExit(main())

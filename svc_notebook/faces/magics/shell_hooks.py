"""What a shell gets when the package is imported in it, before `%load_ext`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from IPython.core import completer

from svc_notebook.core.imports import register_accessors

MATCHER = "svc_notebook"


Matcher = Callable[[Any], Any]


def add_matcher(shell: Any, make_matcher: Callable[[Any], Matcher]) -> None:
    """Register a matcher that is made when Tab is first pressed."""
    matchers = getattr(shell.Completer, "custom_matchers", None)
    if matchers is None or not hasattr(completer, "context_matcher"):
        return  # IPython before 8.6
    if any(getattr(present, "matcher_identifier", None) == MATCHER for present in matchers):
        return
    made: list[Matcher] = []

    def match_svc(context: Any) -> Any:
        if not made:
            made.append(make_matcher(shell))
        return made[0](context)

    matchers.append(completer.context_matcher(identifier=MATCHER)(match_svc))


def register_after_cells(shell: Any) -> None:
    """Register the accessors of a package that a cell imports when the cell ends."""
    shell.events.register("post_run_cell", _register)  # again: no effect


def _register(_result: object) -> None:
    register_accessors()


def show_compact_tables(shell: Any) -> None:
    """Show results as compact tables; a format that another package has registered stays."""
    formats = shell.display_formatter.formatters
    for module in ("pandas", "pandas.core.frame"):  # pandas 3, and earlier ones
        for mime, write in (("text/html", _write_html), ("text/plain", _write_text)):
            previous = formats[mime].for_type_by_name(module, "DataFrame")
            if previous is None:
                formats[mime].for_type_by_name(module, "DataFrame", write)


def _write_html(frame: Any) -> str | None:
    from svc_notebook.data.frames import write_html

    return write_html(frame)


def _write_text(frame: Any, printer: Any, cycle: bool) -> None:
    from svc_notebook.faces.functions.output import frame_text

    printer.text(frame_text(frame))

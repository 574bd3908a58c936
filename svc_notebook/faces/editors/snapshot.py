"""An editor's state as plain HTML, for notebooks that are saved, exported or not trusted.

It contains no script, style sheet or URL: all content of a record is text, and is escaped. Tables
are written by `svc_notebook.core.display`.
"""

from __future__ import annotations

import json
from html import escape
from typing import Any

from svc_notebook.core.display import escape_lines

SNAPSHOT_ROWS = 200  # of one table


def write_line(text: str, *, tag: str = "p") -> str:
    """Write one paragraph, or heading, of text."""
    return f"<{tag}>{escape_lines(text)}</{tag}>"


def write_json(value: Any) -> str:
    """Write a value as JSON."""
    return f"<pre>{escape(json.dumps(value, indent=2, ensure_ascii=False, default=str))}</pre>"

"""Changes to synonyms or rules as code: Python, magics and curl."""

from __future__ import annotations

import json
import pprint
import shlex
from collections.abc import Sequence
from urllib.parse import quote

from svc_notebook.client.config import ClientConfig
from svc_notebook.commands.tokenizer import quote_word
from svc_notebook.editors.curation_editors.changes import Document, ObjectChange

LINE_WIDTH = 88


def write_codes(
    connection: ClientConfig, name: str, index: str, changes: Sequence[ObjectChange]
) -> dict[str, str]:
    """Write three ways what applying does."""
    saved = [change["after"] for change in changes if change["after"] is not None]
    removed = [change["id"] for change in changes if change["after"] is None]
    return {
        "Python": _write_python(name, index, saved, removed),
        "Magic": _write_magics(name, index, saved, removed),
        "curl": _write_curls(connection, name, index, saved, removed),
    }


def _write_python(name: str, index: str, saved: list[Document], removed: list[str]) -> str:
    lines = ["import svc_notebook as svc", ""]
    if saved:
        objects = pprint.pformat(saved, width=LINE_WIDTH - 4, sort_dicts=False)
        lines.append(f"svc.save_{name}({index!r}, {objects})")
    if removed:
        lines.append(f"svc.delete_{name}({index!r}, {removed!r})")
    return "\n".join(lines if saved or removed else [*lines, f"svc.read_{name}({index!r})"])


def _write_magics(name: str, index: str, saved: list[Document], removed: list[str]) -> str:
    lines = []
    if removed:
        ids = " ".join(map(quote_word, removed))
        lines.append(f"%svc {name} delete {quote_word(index)} {ids} --yes")
    if saved:
        lines.append(f"%%svc {name} save {quote_word(index)}\n{_json(saved)}")
    return "\n\n".join(lines) or f"%svc {name} {quote_word(index)}"


def _write_curls(
    connection: ClientConfig, name: str, index: str, saved: list[Document], removed: list[str]
) -> str:
    path = f"/1/indexes/{quote(index, safe='')}/{name}"
    calls = [_curl(connection, "DELETE", f"{path}/{quote(each, safe='')}") for each in removed]
    if saved:
        calls.insert(0, _curl(connection, "POST", f"{path}/batch", _json(saved)))
    return "\n\n".join(calls) or _curl(connection, "POST", f"{path}/search", "{}")


def _curl(connection: ClientConfig, verb: str, path: str, body: str | None = None) -> str:
    prefix = f"X-{connection.vendor}"
    address = connection.open_hosts().order("write" if body != "{}" else "read")[0]
    lines = [
        f"curl -X {verb} {shlex.quote(address + path)}",
        f"-H {shlex.quote(f'{prefix}-Application-Id: {connection.app_id}')}",
        f'-H "{prefix}-API-Key: $SVC_API_KEY"',
    ]
    if body is not None:
        lines += ["-H 'Content-Type: application/json'", f"-d {shlex.quote(body)}"]
    return " \\\n  ".join(lines)


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)

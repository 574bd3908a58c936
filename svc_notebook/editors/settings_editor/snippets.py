"""A change of settings as code: in Python, as a magic, and for a terminal; never with a key."""

from __future__ import annotations

import json
import pprint
import shlex
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from svc_notebook.client.config import ClientConfig
from svc_notebook.commands.tokenizer import quote_word


def write_codes(
    connection: ClientConfig, index: str, changes: Mapping[str, Any], *, forward: bool
) -> dict[str, str]:
    """Write the same change three ways."""
    changes = dict(changes)
    flag = " --forwardToReplicas" if forward else ""
    body = json.dumps(changes, indent=2, ensure_ascii=False)
    return {
        "Python": _write_python(index, changes, forward=forward),
        "Magic": f"%%svc settings set {quote_word(index)}{flag}\n{body}",
        "curl": _write_curl(connection, index, changes, forward=forward),
    }


def _write_python(index: str, changes: Mapping[str, Any], *, forward: bool) -> str:
    more = {**changes, **({"forwardToReplicas": True} if forward else {})}
    lines = [f"    {name}={pprint.pformat(value, width=80)},\n" for name, value in more.items()]
    return f"import svc_notebook as svc\n\nsvc.set_settings(\n    {index!r},\n{''.join(lines)})"


def _write_curl(
    connection: ClientConfig, index: str, changes: Mapping[str, Any], *, forward: bool
) -> str:
    prefix = f"X-{connection.vendor}"
    address = connection.open_hosts().order("write")[0]
    path = f"/1/indexes/{quote(index, safe='')}/settings"
    more = "?forwardToReplicas=true" if forward else ""
    lines = [
        f"curl -X PUT {shlex.quote(address + path + more)}",
        f"-H {shlex.quote(f'{prefix}-Application-Id: {connection.app_id}')}",
        f'-H "{prefix}-API-Key: $SVC_API_KEY"',
        "-H 'Content-Type: application/json'",
        f"-d {shlex.quote(json.dumps(changes, ensure_ascii=False))}",
    ]
    return " \\\n  ".join(lines)

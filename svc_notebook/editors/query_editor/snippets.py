"""A search as code: Python, a magic and curl; never with a key."""

from __future__ import annotations

import json
import pprint
import shlex
from typing import Any
from urllib.parse import quote

from svc_notebook.client.config import ClientConfig
from svc_notebook.commands.tokenizer import quote_word

LINE_WIDTH = 88


def write_codes(connection: ClientConfig, index: str, params: dict[str, Any]) -> dict[str, str]:
    """Write the same search three ways."""
    return {
        "Python": write_python(index, params),
        "Magic": write_magic(index, params),
        "curl": write_curl(connection, index, params),
    }


def write_python(index: str, params: dict[str, Any]) -> str:
    """Write a call of `svc.search`."""
    options = {name: value for name, value in params.items() if name != "query"}
    arguments = [repr(index), *([repr(params["query"])] if params.get("query") else [])]
    arguments += [f"{name}={_literal(value)}" for name, value in options.items()]
    line = f"svc.search({', '.join(arguments)})"
    if len(line) > LINE_WIDTH or "\n" in line:
        line = "svc.search(\n    " + ",\n    ".join(arguments) + ",\n)"
    return f"import svc_notebook as svc\n\n{line}"


def write_magic(index: str, params: dict[str, Any]) -> str:
    """Write a cell of `%%svc search`."""
    body = json.dumps(params, indent=2, ensure_ascii=False)
    return f"%%svc search {quote_word(index)}\n{body}"


def write_curl(connection: ClientConfig, index: str, params: dict[str, Any]) -> str:
    """Write a command whose key comes from the environment."""
    prefix = f"X-{connection.vendor}"
    address = connection.open_hosts().order("read")[0]
    path = f"/1/indexes/{quote(index, safe='')}/query"
    lines = [
        f"curl -X POST {shlex.quote(address + path)}",
        f"-H {shlex.quote(f'{prefix}-Application-Id: {connection.app_id}')}",
        f'-H "{prefix}-API-Key: $SVC_API_KEY"',
        "-H 'Content-Type: application/json'",
        f"-d {shlex.quote(json.dumps(params, ensure_ascii=False))}",
    ]
    return " \\\n  ".join(lines)


def _literal(value: Any) -> str:
    return pprint.pformat(value, width=LINE_WIDTH - 8, sort_dicts=False)

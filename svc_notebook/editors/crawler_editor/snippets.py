"""A crawler's changed configuration as code: Python, a magic and curl, without secrets."""

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
    connection: ClientConfig, name: str, crawler: str, url: str, changes: Mapping[str, Any]
) -> dict[str, str]:
    """Write how to try a page, and to make the changes if there are any."""
    changes = dict(changes)
    return {
        "Python": _write_python(name, url, changes),
        "Magic": _write_magic(name, url, changes),
        "curl": _write_curl(connection, crawler, url, changes),
    }


def _write_python(name: str, url: str, changes: Mapping[str, Any]) -> str:
    lines = ["import svc_notebook as svc\n"]
    if changes:
        lines += [
            f"changes = {pprint.pformat(changes, width=88, sort_dicts=False)}",
            f"svc.try_url({name!r}, {url!r}, changes)",
            f"svc.configure_crawler({name!r}, changes)",
        ]
    else:
        lines.append(f"svc.try_url({name!r}, {url!r})")
    return "\n".join(lines)


def _write_magic(name: str, url: str, changes: Mapping[str, Any]) -> str:
    if not changes:
        return f"%svc crawlers test {quote_word(name)} {quote_word(url)}"
    body = json.dumps(changes, indent=2, ensure_ascii=False)
    return f"%%svc crawlers config {quote_word(name)}\n{body}"


def _write_curl(
    connection: ClientConfig, crawler: str, url: str, changes: Mapping[str, Any]
) -> str:
    address = connection.open_hosts().order("crawler")[0]
    path = f"{address}/api/1/crawlers/{quote(crawler, safe='')}"
    body: Mapping[str, Any] = changes or {"url": url}
    call = f"-X PATCH {path}/config" if changes else f"-X POST {path}/test"
    lines = [
        f"curl {call}",
        '-u "$SVC_CRAWLER_USER_ID:$SVC_CRAWLER_API_KEY"',
        "-H 'Content-Type: application/json'",
        f"-d {shlex.quote(json.dumps(body, ensure_ascii=False))}",
    ]
    return " \\\n  ".join(lines)

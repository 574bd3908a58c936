"""What an editor does as code: Python, a magic and curl; never with a key."""

from __future__ import annotations

import json
import pprint
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from svc_notebook.data.client import ClientConfig
from svc_notebook.faces.commands.tokenizer import quote_word
from svc_notebook.tuning.tables import Question

if TYPE_CHECKING:
    from svc_notebook.faces.editors.changes import Document, ObjectChange

LINE_WIDTH = 88
INDENT = "    "
JUDGMENTS_FILE = "judgments.csv"
DEFAULT_JUDGMENT_DEPTH = 10
_PROGRAM_HEAD = "import svc_notebook as svc\n\n"


class _Replicas(NamedTuple):
    """How code says that a write changes replicas as well: in Python, in a magic, in a URL."""

    options: Mapping[str, bool]
    flags: Sequence[str]
    query: str


REPLICAS = _Replicas(
    {"forwardToReplicas": True}, ["--forwardToReplicas"], "?forwardToReplicas=true"
)
NO_REPLICAS = _Replicas({}, [], "")


def write_search(connection: ClientConfig, index: str, params: Mapping[str, Any]) -> dict[str, str]:
    """Write a search."""
    options = {name: value for name, value in params.items() if name != "query"}
    words = [params["query"]] if params.get("query") else []
    path = f"{_path_of(index)}/query"
    return {
        "Python": _program(_call("search", index, *words, **options)),
        "Magic": _cell("search", index, body=params),
        "curl": _curl_search_api(connection, "POST", path, _json(params, None), reads=True),
    }


def write_settings(
    connection: ClientConfig, index: str, changes: Mapping[str, Any], *, forward: bool
) -> dict[str, str]:
    """Write a change of settings; with `forward`, also of the replicas'."""
    replicas = REPLICAS if forward else NO_REPLICAS
    path = f"{_path_of(index)}/settings{replicas.query}"
    return {
        "Python": _program(_call("set_settings", index, **changes, **replicas.options)),
        "Magic": _cell("settings set", index, flags=replicas.flags, body=changes),
        "curl": _curl_search_api(connection, "PUT", path, _json(changes, None)),
    }


def write_curation(
    connection: ClientConfig,
    name: str,
    index: str,
    changes: Sequence[ObjectChange],
    *,
    forward: bool,
) -> dict[str, str]:
    """Write the code that applies changes of synonyms or rules; without changes, that reads them.

    With `forward`, the code changes those of the replicas, too.
    """
    saved = [change["after"] for change in changes if change["after"] is not None]
    removed = [change["id"] for change in changes if change["after"] is None]
    replicas = REPLICAS if forward else NO_REPLICAS
    return {
        "Python": _write_curation_calls(name, index, saved, removed, replicas),
        "Magic": _write_curation_magics(name, index, saved, removed, replicas),
        "curl": _write_curation_curls(connection, name, index, saved, removed, replicas),
    }


def write_change(
    index: str, changes: Mapping[str, Any], parts: Sequence[Mapping[str, str]], *, forward: bool
) -> dict[str, str]:
    """Write changes of several parts: one call of Python, else the code of each part in turn.

    With `forward`, Python has one call for each part as well: `svc.tuning.apply` changes one index.
    """
    codes = {
        language: "\n\n".join(part[language] for part in parts)
        for language in parts[0]
        if language != "Python"
    }
    calls = [part["Python"].removeprefix(_PROGRAM_HEAD) for part in parts]
    if not forward:
        calls = [_call("tuning.apply", index, dict(changes))]
    return {"Python": _program(*calls), **codes}


def _write_curation_calls(
    name: str, index: str, saved: list[Document], removed: list[str], replicas: _Replicas
) -> str:
    calls = [_call(f"save_{name}", index, saved, **replicas.options)] if saved else []
    calls += [_call(f"delete_{name}", index, removed, **replicas.options)] if removed else []
    return _program(*calls) if calls else _program(_call(f"read_{name}", index))


def _write_curation_magics(
    name: str, index: str, saved: list[Document], removed: list[str], replicas: _Replicas
) -> str:
    deletion = ["--yes", *replicas.flags]
    cells = [_cell(f"{name} delete", index, *removed, flags=deletion)] if removed else []
    cells += [_cell(f"{name} save", index, flags=replicas.flags, body=saved)] if saved else []
    return "\n\n".join(cells) or _cell(name, index)


def _write_curation_curls(
    connection: ClientConfig,
    name: str,
    index: str,
    saved: list[Document],
    removed: list[str],
    replicas: _Replicas,
) -> str:
    path = f"{_path_of(index)}/{name}"
    batch = f"{path}/batch{replicas.query}"
    calls = [_curl_search_api(connection, "POST", batch, _json(saved))] if saved else []
    calls += [
        _curl_search_api(
            connection, "DELETE", f"{path}/{quote(object_id, safe='')}{replicas.query}"
        )
        for object_id in removed
    ]
    return "\n\n".join(calls) or _curl_search_api(
        connection, "POST", f"{path}/search", "{}", reads=True
    )


def write_crawler(
    connection: ClientConfig, name: str, crawler: str, url: str, changes: Mapping[str, Any]
) -> dict[str, str]:
    """Write how to try a page, and to change the configuration if there are changes."""
    changes = dict(changes)
    address = connection.open_hosts().order("crawler")[0]
    path = f"{address}/api/1/crawlers/{quote(crawler, safe='')}"
    user = '-u "$SVC_CRAWLER_USER_ID:$SVC_CRAWLER_API_KEY"'
    if not changes:
        return {
            "Python": _program(_call("try_url", name, url)),
            "Magic": _cell("crawlers test", name, url),
            "curl": _curl("POST", f"{path}/test", [user], _json({"url": url}, None)),
        }
    return {
        "Python": _program(
            f"changes = {_literal(changes)}",
            f"svc.try_url({name!r}, {url!r}, changes)",
            f"svc.configure_crawler({name!r}, changes)",
        ),
        "Magic": _cell("crawlers config", name, body=changes),
        "curl": _curl("PATCH", f"{path}/config", [user], _json(changes, None)),
    }


def write_new_crawler(
    connection: ClientConfig, name: str, config: Mapping[str, Any]
) -> dict[str, str]:
    """Write how to create a crawler."""
    address = connection.open_hosts().order("crawler")[0]
    user = '-u "$SVC_CRAWLER_USER_ID:$SVC_CRAWLER_API_KEY"'
    body = {"name": name, "config": dict(config)}
    return {
        "Python": _program(
            f"config = {_literal(dict(config))}", f"svc.create_crawler({name!r}, config)"
        ),
        "Magic": _cell("crawlers create", name, body=dict(config)),
        "curl": _curl("POST", f"{address}/api/1/crawlers", [user], _json(body, None)),
    }


def write_judgments(
    index: str,
    questions: Sequence[Question],
    *,
    file: str | None,
    variants: Any,
    depth: int,
    rater: str,
) -> str:
    """Write the Python call that opens the same judgment editor on the judgments of a file."""
    options: Mapping[str, Any] = {
        "file": file or JUDGMENTS_FILE,
        "variants": variants,
        "depth": None if depth == DEFAULT_JUDGMENT_DEPTH else depth,
        "rater": rater or None,
    }
    given = {name: value for name, value in options.items() if value is not None}
    queries = [_to_argument(question) for question in questions]
    call = _call("edit.judgments", index, queries, **given)
    note = [] if file else [f"# {JUDGMENTS_FILE} contains the text under CSV."]
    return _program(*note, call)


def write_analytics(index: str, period: Mapping[str, str]) -> dict[str, str]:
    """Write how to read the analytics of an index."""
    readers = ("read_top_searches", "read_no_results", "read_search_counts", "read_conversions")
    verbs = ("searches", "no-results", "counts", "conversions")
    flags = [word for name, text in period.items() for word in (f"--{name}", quote_word(text))]
    return {
        "Python": _program(*(_call(reader, index, **period) for reader in readers)),
        "Magic": "\n\n".join(_cell(f"analytics {verb}", index, flags=flags) for verb in verbs),
    }


def write_editor(kind: str, index: str, queries: Sequence[str], words: Sequence[str]) -> str:
    """Write how to open queries in an editor; `words` become their synonyms."""
    if kind == "search":
        return _program(_call("edit.query", index, *queries[:1]))
    if kind == "judge":
        return _program(_call("edit.judgments", index, [*queries], file=JUDGMENTS_FILE))
    entry = make_synonym(queries[0], words)
    return _program(
        f"editor = {_call('edit.synonyms', index, [*queries])}",
        f"editor.put({_literal(entry)})",
        "editor",
    )


def make_synonym(query: str, words: Sequence[str]) -> dict[str, Any]:
    """Return the synonym of a query, with an id that names the query."""
    return {"objectID": f"synonym-{query}", "type": "synonym", "synonyms": [query, *words]}


def _to_argument(question: Question) -> str | dict[str, Any]:
    """Return a query as an argument: its text alone if it has no filters and parameters."""
    both = {"filters": question.filters, "params": dict(question.params)}
    more = {name: value for name, value in both.items() if value}
    return {"query": question.query, **more} if more else question.query


def _program(*statements: str) -> str:
    return _PROGRAM_HEAD + "\n".join(statements)


def _call(function: str, /, *arguments: Any, **options: Any) -> str:
    """Write a call of a function of `svc`: on one line if it fits, else an argument per line."""
    given = [_literal(value) for value in arguments]
    given += [f"{name}={_literal(value)}" for name, value in options.items()]
    line = f"svc.{function}({', '.join(given)})"
    if len(line) <= LINE_WIDTH and "\n" not in line:
        return line
    lines = (text.replace("\n", f"\n{INDENT}") for text in given)
    return f"svc.{function}(\n{INDENT}{f',{chr(10)}{INDENT}'.join(lines)},\n)"


def _literal(value: Any) -> str:
    return pprint.pformat(value, width=LINE_WIDTH - 2 * len(INDENT), sort_dicts=False)


def _cell(verb: str, *words: str, flags: Sequence[str] = (), body: Any = None) -> str:
    """Write a line magic, or with a body a cell magic."""
    line = " ".join([verb, *map(quote_word, words), *flags])
    return f"%svc {line}" if body is None else f"%%svc {line}\n{_json(body)}"


def _curl_search_api(
    connection: ClientConfig, verb: str, path: str, body: str | None = None, *, reads: bool = False
) -> str:
    """Write a command whose key comes from the environment."""
    prefix = f"X-{connection.vendor}"
    address = connection.open_hosts().order("read" if reads else "write")[0]
    identity = [
        f"-H {shlex.quote(f'{prefix}-Application-Id: {connection.app_id}')}",
        f'-H "{prefix}-API-Key: $SVC_API_KEY"',
    ]
    return _curl(verb, address + path, identity, body)


def _curl(verb: str, url: str, identity: Sequence[str], body: str | None) -> str:
    lines = [f"curl -X {verb} {shlex.quote(url)}", *identity]
    if body is not None:
        lines += ["-H 'Content-Type: application/json'", f"-d {shlex.quote(body)}"]
    return " \\\n  ".join(lines)


def _path_of(index: str) -> str:
    return f"/1/indexes/{quote(index, safe='')}"


def _json(value: Any, indent: int | None = 2) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False)

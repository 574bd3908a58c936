"""Write the pages and modules that are derived from the code; with `--check`, only compare."""

from __future__ import annotations

import argparse
import json
import os
import sys
import typing
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
from generators.endpoint_coverage import accessors_of, functions_of, instead_of, verbs_of
from generators.generated_modules import FILES, PACKAGE
from generators.verbs_page import write_page

from svc_notebook import errors
from svc_notebook.core.api import ENDPOINTS, Endpoint
from svc_notebook.core.api.declaration import Api
from svc_notebook.core.api.endpoint import describe_access
from svc_notebook.core.api.parameter_meanings import GROUPS
from svc_notebook.core.api.parameters import PARAMETERS, Parameter
from svc_notebook.core.api.validation import type_name
from svc_notebook.data.frames.provenance import READERS
from svc_notebook.data.frames.schemas import SCHEMAS
from svc_notebook.faces.commands.registry import VERBS
from svc_notebook.tuning.tables.schema import JUDGMENTS, QUERIES, RUNS

HERE = Path(__file__).parent
INTERFACES = {"search": "The search service", "crawler": "The crawler", "events": "The events"}
SCOPES = {"both": "index, search", "parameter": "search", "setting": "index"}


def endpoints_page() -> str:
    """Every endpoint, its right and what it takes."""
    parts = [
        "# Endpoints",
        f"All {len(ENDPOINTS)} of them, as `svc_notebook.core.api` declares them.",
    ]
    for interface, title in INTERFACES.items():
        parts.append(f"## {title}")
        rows = [_endpoint_row(row) for row in ENDPOINTS if row.interface == interface]
        parts.append(table(["method", "verb", "path", "right", "hosts", "answers", "takes"], rows))
    parts.append(
        "*hosts*: a reading call goes to the read hosts first. *takes*: **path**, header, "
        "`query string` and body; `…Params` means every parameter of "
        "[that kind](parameters.md)."
    )
    parts += [
        REACHING,
        table(["method", "functions", "verbs", "accessors"], map(_reach_row, ENDPOINTS)),
    ]
    return "\n\n".join(parts) + "\n"


REACHING = (
    "## From a notebook\n\n"
    "The functions of `svc_notebook` (each also as a coroutine function in `aio`), the verbs of "
    "`%svc` and `svc`, and the accessors that call each endpoint. `svc.call` and `%svc call` call "
    "any endpoint by its name; `svc.current()` has all of them as methods. Where `call` is the "
    "only one, the function after *or* does the same in another way: with a body instead of a "
    "query string, or for many objects instead of one."
)


def _reach_row(row: Endpoint) -> list[str]:
    places = [functions_of(row.name), verbs_of(row.name), accessors_of(row.name)]
    functions, verbs, accessors = (", ".join(f"`{name}`" for name in names) for names in places)
    same = instead_of(row.name)
    return [f"`{row.name}`", f"{functions}; or `{same}`" if same else functions, verbs, accessors]


def _endpoint_row(row: Endpoint) -> list[str]:
    right = row.acl if row.acl not in ("any", "actions") else describe_access(row.acl)
    hosts = "read" if row.reads else "write"
    answer = typing.get_type_hints(_method(row))["return"]
    return [
        f"`{row.name}`", row.verb, f"`{row.path}`", right, hosts,
        f"{row.status} {type_name(answer)}", ", ".join(_arguments(row)),
    ]  # fmt: skip


def _method(row: Endpoint) -> Callable[..., Any]:
    families = [one for one in _subclasses(Api) if row.name in vars(one) and _is_ours(one)]
    method: Callable[..., Any] = vars(families[0])[row.name]._method
    return method


def _is_ours(family: type[Api]) -> bool:
    """Whether the API declares it; the client makes classes of the same methods."""
    return family.__module__.startswith(Api.__module__.rpartition(".")[0])


def _subclasses(family: type[Api]) -> Iterable[type[Api]]:
    for child in family.__subclasses__():
        yield child
        yield from _subclasses(child)


def _arguments(row: Endpoint) -> Iterable[str]:
    marks = {"path": "**{}**", "query": "`{}`", "header": "header {}"}
    for name, place in row.places.items():
        if place == "spread":
            yield row.shape.__name__
        else:
            yield marks.get(place, "{}").format(name)


def parameters_page() -> str:
    """Every search parameter and setting."""
    parts = [
        "# Search parameters and settings",
        f"All {len(PARAMETERS)}, as `svc_notebook.core.api.parameters` declares them. *Where* is "
        "`search` for a parameter of one search, `index` for a setting of an index, and both for "
        "a setting that one search can override. Those marked *accepted* belong to the vendor's "
        "own products: the local service accepts them without effect. Those marked *local* are "
        "an extension that a hosted service refuses.",
    ]
    for title, names in GROUPS.items():
        rows = [_parameter_row(PARAMETERS[name]) for name in names]
        columns = ["name", "where", "type", "default", "meaning", "local service"]
        parts += [f"## {title}", table(columns, rows)]
    return "\n\n".join(parts) + "\n"


def _parameter_row(parameter: Parameter) -> list[str]:
    default = json.dumps(parameter.default, ensure_ascii=False)  # with spaces: a cell wraps
    return [
        f"`{parameter.name}`", SCOPES[parameter.scope], type_name(parameter.type), f"`{default}`",
        parameter.meaning, parameter.effect,
    ]  # fmt: skip


def errors_page() -> str:
    """The tree of errors."""
    more = "[Troubleshooting](troubleshooting.md) lists messages, with causes and remedies."
    return f"# Errors\n\n{errors.__doc__}\n{more}\n"


def readers_page() -> str:
    """What every reader returns."""
    parts = [
        "# DataFrame schemas",
        "The functions that return a DataFrame with fixed columns, and these columns; an empty "
        "result has them, too. Missing texts are empty, and times are UTC.",
        "`search`, `search_many`, `read_browse` and `read_records` return records instead: the "
        "column `objectID`, then one column for each attribute, with the dtype of its values.",
        '`frame.attrs["svc"]` describes how a DataFrame was read. `svc.refresh(frame)` reads it '
        "again, `svc.next_page(frame)` reads the next page. pandas drops this description when "
        "DataFrames are merged or concatenated.",
        "`read_search_counts`, `read_users_count`, `read_conversions` and `read_revenue` have the "
        "index `date` (datetime64[us, UTC]), one row for each day.",
        "A push of a searched DataFrame sends the records only, without the columns that the "
        "search added: `rank`, `query`, highlighted texts and ranking criteria. If a record has an "
        "attribute with such a name, the added column is named `_rank` and so on. Without the "
        "description the push cannot recognize these columns: it warns of them, and `columns` "
        "selects the columns to send. A push replaces whole records; to send only some attributes, "
        "pass `action='update'`.",
        "`read_records` returns a row for each stored record, warns of ids without a record, and "
        'lists them in `attrs["svc"]["missing"]`. `df.svc.diff()` compares the rows with the '
        'stored records of their ids; with `missing="report"` it also lists the records without a '
        "row.",
        "`search_many` returns at least one row for each query. A query without hits has one row, "
        "in which only `query` has a value (`rank` is `Int64`). Such a row is not a record: "
        "`push`, `records`, `delete`, `diff` and `events` skip it, and "
        '`frame.groupby("query")["objectID"].count()` counts 0.',
    ]
    for name, schema in sorted(SCHEMAS.items()):
        doc = (READERS[name].__doc__ or "").split("\n\n")[0]
        rows = [[f"`{column}`", dtype] for column, dtype in schema.items()]
        parts += [f"## `{name}`", doc, table(["column", "dtype"], rows)]
    for title, doc, columns in TUNING_TABLES:
        rows = [
            [f"`{name}`", column.dtype, "required" if column.required else _default(column.default)]
            for name, column in columns.items()
        ]
        parts += [f"## {title}", doc, table(["column", "dtype", "default"], rows)]
    return "\n\n".join(parts) + "\n"


TUNING_TABLES = (
    (
        "Judgments",
        "What `svc.tuning` takes and returns as judgments, a row for each rating; other columns "
        "stay. `rating` is missing where `unrateable` is true.",
        JUDGMENTS,
    ),
    (
        "Queries",
        "What `svc.tuning` takes as queries, a row for each query and its filters.",
        QUERIES,
    ),
    (
        "Runs",
        "What `svc.tuning.run` returns, a row for each hit; a query without hits has one row "
        "without an `objectID`.",
        RUNS,
    ),
)


def _default(value: object) -> str:
    return "missing" if value is None else f"`{_json(value)}`"


def language_table() -> str:
    """The names that the JupyterLab extension explains in cells."""
    names = {
        name: {
            "meaning": parameter.meaning,
            "type": type_name(parameter.type),
            "default": msgspec.json.encode(parameter.default).decode(),
        }
        for name, parameter in PARAMETERS.items()
    }
    verbs = {
        verb.name: {
            "summary": verb.summary,
            "options": {
                name: option.help
                for name, option in verb.named("magic").items()
                if name not in PARAMETERS
            },
        }
        for verb in VERBS
        if "magic" in verb.faces
    }
    lines = [
        f'"{part}": {{\n'
        + ",\n".join(f"  {_json(name)}: {_json(about)}" for name, about in sorted(rows.items()))
        + "\n}"
        for part, rows in (("names", names), ("verbs", verbs))
    ]
    return "{" + ",\n".join(lines) + "}\n"


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    """Write a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    cells = [[cell.replace("|", "\\|") for cell in row] for row in lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


PAGES: dict[str, Callable[[], str]] = {
    "endpoints.md": endpoints_page,
    "parameters.md": parameters_page,
    "errors.md": errors_page,
    "readers.md": readers_page,
    "magics.md": write_page,
    "../widgets/lab/static/language.json": language_table,
}


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or report which are out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail on a difference")
    check = parser.parse_args(arguments).check
    stale = _settle_all(PACKAGE, FILES, write=not check)
    if stale and not check:  # the pages are written from these modules
        os.execv(sys.executable, [sys.executable, *sys.argv])
    stale += _settle_all(HERE, PAGES, write=not check)
    if stale and check:
        sys.stderr.write(f"out of date: {', '.join(stale)}; run `python docs/generate.py`\n")
    return 1 if stale and check else 0


def _settle_all(folder: Path, files: dict[str, Callable[[], str]], *, write: bool) -> list[str]:
    return [name for name, text in files.items() if _settle(folder / name, text(), write=write)]


def _settle(path: Path, text: str, *, write: bool) -> bool:
    differs = not path.exists() or path.read_text(encoding="utf-8") != text
    if differs and write:
        path.write_text(text, encoding="utf-8")
    return differs


if __name__ == "__main__":
    raise SystemExit(main())

"""Write the reference of functions from their docstrings, one page for each subject."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from generators.function_groups import PAGES, find_page

import svc_notebook as svc
from svc_notebook.core.api.parameters import PARAMETERS
from svc_notebook.data.client.endpoint_client import EndpointClient
from svc_notebook.data.declarations.signatures import read_entries, summary
from svc_notebook.data.loading import Export, LoadPlan, LoadResult
from svc_notebook.faces.accessors import FrameAccessor, SeriesAccessor
from svc_notebook.faces.commands.registry import VERBS
from svc_notebook.faces.dask_accessor import DaskAccessor
from svc_notebook.faces.functions.hit_renderer import ShownHits
from svc_notebook.faces.functions.overview import Overview
from svc_notebook.tuning import (
    Comparison,
    Interleaving,
    InterleavingOutcome,
    Scratch,
    Snapshot,
)
from svc_notebook.tuning.deployment.clone import Clone
from svc_notebook.tuning.deployment.configuration_files import ConfigurationDrift
from svc_notebook.tuning.deployment.plan import Deployment, DeploymentPlan
from svc_notebook.tuning.diagnosis.result import RelevanceDiagnosis
from svc_notebook.tuning.evaluation.requirements import RelevanceVerdict
from svc_notebook.tuning.html_report.traffic_preview import TrafficPreview
from svc_notebook.tuning.proposed_changes.change_impact import Impact
from svc_notebook.tuning.suggestions.custom_ranking_fit import CustomRankingFit
from svc_notebook.tuning.variants.result import Search

MODULES = {
    "svc": svc,
    "svc.tuning": svc.tuning,
    "svc.tuning.clicks": svc.tuning.clicks,
    "svc.edit": svc.edit,
    "svc.samples": svc.samples,
}
CLIENTS = {"Client": svc.Client, "AsyncClient": svc.AsyncClient, "EndpointClient": EndpointClient}
ACCESSORS = {"df.svc": FrameAccessor, "series.svc": SeriesAccessor, "ddf.svc": DaskAccessor}
RESULTS = (
    Clone, Comparison, ConfigurationDrift, CustomRankingFit, Deployment, DeploymentPlan, Export,
    Impact, Interleaving, InterleavingOutcome, LoadPlan, LoadResult, Overview, RelevanceDiagnosis,
    RelevanceVerdict, Scratch, Search, ShownHits, Snapshot, TrafficPreview,
)  # fmt: skip
CLIENT_PAGE, ACCESSOR_PAGE, RESULT_PAGE = "client", "accessors", "results"
TITLES = {
    **{name: title for name, (title, _) in PAGES.items()},
    CLIENT_PAGE: "Methods of clients",
    ACCESSOR_PAGE: "Accessors of DataFrames",
    RESULT_PAGE: "Results",
}
MAX_SIGNATURE_CHARACTERS = 96
SECTION = re.compile(r"^([A-Z][\w ]+)\n-{3,}\n", re.M)


def write_pages() -> dict[str, str]:
    """Return the text of each page, by its name without a suffix."""
    pages: dict[str, list[str]] = {name: [] for name in TITLES}
    for name, function in list_functions().items():
        pages[find_page(function)].append(write_entry(name, function))
    for page, owners in ((CLIENT_PAGE, CLIENTS), (ACCESSOR_PAGE, ACCESSORS)):
        for name, method in list_methods(owners).items():
            pages[page].append(write_entry(name, method))
    pages[RESULT_PAGE] = [write_class(one) for one in RESULTS]
    texts = {page: f"# {TITLES[page]}\n\n" + "\n\n".join(own) for page, own in pages.items()}
    return {**{page: f"{text}\n" for page, text in texts.items()}, "index": write_index(pages)}


def list_functions() -> dict[str, Callable[..., Any]]:
    """Return every public function by the name that a user types, the most used ones first."""
    functions = {
        f"{prefix}.{name}": getattr(module, name)
        for prefix, module in MODULES.items()
        for name in dir(module)
        if not name.startswith("_") and inspect.isfunction(getattr(module, name))
        and (prefix != "svc.samples" or getattr(module, name).__module__ == module.__name__)
    }  # fmt: skip
    # Verbs are listed by use; the functions that have none follow by name.
    rows = reversed([*enumerate(VERBS)])
    places = {key: place for place, verb in rows for key in (verb.does, verb.name)}

    def place_of(name: str) -> int:
        function = functions[name]
        keys = [f"{function.__module__}.{function.__name__}"]
        # `svc.tuning.explain` is not the verb `explain`, which is `svc.explain`.
        if functions.get(f"svc.{function.__name__}", function) is function:
            keys.append(function.__name__)
        return min(places.get(key, len(VERBS)) for key in keys)

    return {name: functions[name] for name in sorted(functions, key=place_of)}


def list_methods(owners: dict[str, type]) -> dict[str, Callable[..., Any]]:
    """Return the methods that are written in classes, not those made of endpoints."""
    return {
        f"{prefix}.{name}": getattr(owner, name)
        for prefix, owner in owners.items()
        for name in vars(owner)
        if not name.startswith("_") and inspect.isfunction(getattr(owner, name))
    }


def write_index(pages: dict[str, list[str]]) -> str:
    """Return the page that lists every name with one sentence."""
    parts = [
        "# Functions",
        "Every public function, from its docstring: `help(svc.load)` shows the same. Each example "
        "runs as a test against the local service. `svc.aio` and `svc.tuning.aio` have the same "
        "functions as coroutine functions.",
    ]
    for page, entries in pages.items():
        rows = [re.match(r"## `(.*?)`.*?\n\n(.*?)(?:\n|$)", entry) for entry in entries]
        lines = [f"| [`{row[1]}`]({page}.md#{row[1]}) | {row[2]} |" for row in rows if row]
        parts.append(
            f"## {TITLES[page]}\n\n| name | what it does |\n| --- | --- |\n" + "\n".join(lines)
        )
    return "\n\n".join(parts) + "\n"


def write_entry(name: str, function: Callable[..., Any]) -> str:
    """Return the entry of a function or method."""
    doc = inspect.getdoc(function) or ""
    return f"## `{name}` {{ #{name} }}\n\n" + "\n\n".join(_parts(doc, name, function))


def write_class(one: type) -> str:
    """Return the entry of a class, with its attributes and methods."""
    name = one.__name__
    entry = f"## `{name}` {{ #{name} }}\n\n" + "\n\n".join(_parts(inspect.getdoc(one) or "", name))
    rows = [
        f"| `{method}()` | {_cell(summary(inspect.getdoc(found) or ''))} |"
        for method, found in inspect.getmembers(one, inspect.isfunction)
        if not method.startswith("_") and found.__module__.startswith("svc_notebook")
    ]
    table = "\n\n**Methods**\n\n| method | what it does |\n| --- | --- |\n" + "\n".join(rows)
    return entry + (table if rows else "")


def _parts(doc: str, name: str, function: Callable[..., Any] | None = None) -> Iterator[str]:
    split = SECTION.split(doc)
    head, _, body = split[0].strip().partition("\n\n")
    sections = dict(zip(split[1::2], split[2::2], strict=True))
    yield " ".join(head.split())
    if function:
        yield f"```python\n{write_signature(name, function)}\n```"
    if body:
        yield body
    for title, text in sections.items():
        yield f"**{title}**"
        if title == "Parameters" and function:
            yield _parameter_table(doc, function)
        elif title == "Examples":
            yield f"```pycon\n{text.strip()}\n```"
        elif title == "Notes":
            yield text.strip()
        else:
            yield "\n".join(_entry_lines(text))


def write_signature(name: str, function: Callable[..., Any]) -> str:
    """Return a signature whose long list of options is `**options`."""
    parameters = []
    spread = False
    signature = inspect.signature(function)
    for parameter in signature.parameters.values():
        if parameter.name == "self":
            continue
        if _is_spread(parameter):
            spread = True
        else:
            parameters.append(parameter.replace(annotation=parameter.empty))
    shown = [str(p) for p in parameters]
    first_keyword = [n for n, p in enumerate(parameters) if p.kind is p.KEYWORD_ONLY][:1]
    if first_keyword and not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        shown.insert(first_keyword[0], "*")
    if spread:
        shown.append("**options")
    line = f"{name}({', '.join(shown)})"
    if len(line) <= MAX_SIGNATURE_CHARACTERS:
        return line
    return f"{name}(\n" + "".join(f"    {one},\n" for one in shown) + ")"


def _is_spread(parameter: inspect.Parameter) -> bool:
    """Whether a parameter is a member of `**options`, which have no annotation of their own."""
    return parameter.kind is parameter.KEYWORD_ONLY and parameter.annotation is parameter.empty


def _parameter_table(doc: str, function: Callable[..., Any]) -> str:
    parameters = inspect.signature(function).parameters
    rows, shared = [], 0
    for name, entry in read_entries(doc).items():
        parameter = parameters.get(name)
        if name in PARAMETERS and parameter is not None and _is_spread(parameter):
            shared += 1
            continue
        rows.append(f"| `{name}` | {_cell(entry.type)} | {_cell(entry.text)} |")
    if shared:
        rows.append(
            f"| `**options` | | any of {shared} [search parameters and settings]"
            "(../../parameters.md), by their names |"
        )
    return "| parameter | type | meaning |\n| --- | --- | --- |\n" + "\n".join(rows)


def _entry_lines(text: str) -> Iterable[str]:
    """Return `name : type` with its indented text as a list."""
    for block in re.split(r"\n(?=\S)", text.strip()):
        head, _, body = block.partition("\n")
        name, _, kind = head.partition(" : ")
        kind = f" ({kind})" if kind else ""
        yield f"- `{name}`{kind}: {' '.join(body.split())}" if body else f"- {head}"


def _cell(text: str) -> str:
    """Return a text as a table cell; `<` is an escape outside of code only."""
    parts = text.replace("|", "\\|").split("`")
    return "`".join(p if n % 2 else p.replace("<", "&lt;") for n, p in enumerate(parts))

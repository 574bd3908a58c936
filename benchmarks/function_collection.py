"""A judged collection of the functions of packages: their docstrings, and how others refer to them.

The section "See Also" of a docstring describes other functions in a few words, which their authors
wrote: such a description is a query, and the function that it describes is relevant. Descriptions
that mostly repeat the summary of the function are left out.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from pandas import DataFrame

ATTRIBUTES = ["name", "summary", "parameters", "text"]
MAX_SHARED_WORDS = 0.7  # of a description, with the summary and the name of the function
MIN_QUERY_WORDS = 3
_SECTION = re.compile(r"^(.+)\n-{3,}\n", re.MULTILINE)
_REFERENCE = re.compile(r"^([\w.]+) *: *(\S.*(?:\n\s+\S.*)*)", re.MULTILINE)
_WORD = re.compile(r"[a-z]+")


def read_functions(packages: Sequence[str], queries: int, seed: int = 7) -> tuple[
    list[dict[str, Any]], DataFrame
]:  # fmt: skip
    """Return a record for each documented function, and judgments of sampled queries."""
    docs = dict(_list_docstrings(packages))
    records = {name: _make_record(name, text) for name, text in docs.items()}
    short_names: dict[str, list[str]] = {}
    for name in records:
        parts = name.split(".")
        for start in range(len(parts)):
            short_names.setdefault(".".join(parts[start:]), []).append(name)
    rows = {
        (query, target): 3
        for name, text in docs.items()
        for referred, query in _read_references(text)
        if (target := _resolve(referred, name, short_names))
        and _is_different(query, records[target])
    }
    judged = DataFrame([(*key, rating) for key, rating in rows.items()],
                       columns=["query", "objectID", "rating"])  # fmt: skip
    distinct = judged["query"].drop_duplicates()
    chosen = distinct.sample(min(queries, len(distinct)), random_state=seed)
    return list(records.values()), judged[judged["query"].isin(chosen)].reset_index(drop=True)


def _list_docstrings(packages: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield functions, classes and methods with docstrings, each once, by its shortest name."""
    objects: dict[int, tuple[str, str]] = {}
    for package in packages:
        for module in _list_modules(package):
            for name, value in vars(module).items():
                path = f"{module.__name__}.{name}"
                members = [(path, value)]
                if inspect.isclass(value):
                    members += [(f"{path}.{n}", m) for n, m in vars(value).items()]
                for full, member in members:
                    text = getattr(member, "__doc__", None)
                    is_public = not full.rpartition(".")[2].startswith("_")
                    if not is_public or not callable(member) or not isinstance(text, str):
                        continue
                    if not str(getattr(member, "__module__", "")).startswith(package):
                        continue
                    if id(member) not in objects or len(full) < len(objects[id(member)][0]):
                        objects[id(member)] = full, inspect.cleandoc(text)
    yield from objects.values()


def _list_modules(package: str) -> Iterator[Any]:
    root = importlib.import_module(package)
    yield root
    for found in pkgutil.iter_modules(root.__path__, f"{package}."):
        if not any(part.startswith(("_", "test")) for part in found.name.split(".")):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    yield importlib.import_module(found.name)
            except ImportError:  # a part that needs another library
                continue


def _make_record(name: str, text: str) -> dict[str, Any]:
    opening, *parts = _SECTION.split(text)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    summary, _, rest = opening.partition("\n\n")
    return {
        "objectID": name,
        "name": name.replace(".", " ").replace("_", " "),
        "summary": " ".join(summary.split()),
        "parameters": " ".join(sections.get("Parameters", "").split()),
        "text": " ".join(f"{rest} {sections.get('Notes', '')}".split()),
    }


def _read_references(text: str) -> Iterator[tuple[str, str]]:
    _, *parts = _SECTION.split(text)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    for reference in _REFERENCE.finditer(sections.get("See Also", "")):
        yield reference[1], " ".join(reference[2].split()).rstrip(".")


def _resolve(referred: str, name: str, short_names: dict[str, list[str]]) -> str | None:
    """Return the function that a name refers to, if it is the only one of its package."""
    package = name.split(".")[0]
    matches = [found for found in short_names.get(referred, ()) if found.startswith(package)]
    return matches[0] if len(matches) == 1 and matches[0] != name else None


def _is_different(query: str, record: dict[str, Any]) -> bool:
    words = set(_WORD.findall(query.lower()))
    record_words = set(_WORD.findall(f"{record['name']} {record['summary']}".lower()))
    return len(words) >= MIN_QUERY_WORDS and len(words & record_words) <= MAX_SHARED_WORDS * len(
        words
    )

"""Who may import whom: our layers, and what each may take from outside."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = "svc_notebook"
ROOT = Path(__file__).parent.parent / PACKAGE
MODULES = sorted(ROOT.rglob("*.py"))

# Lower layers first; a room imports its own line and the lines above it in this table.
LAYERS: list[dict[str, set[str]]] = [
    {"errors": set(), "samples": {"pandas"}, "terminal": set()},
    {"api": {"msgspec"}},
    {
        "client": {
            *("httpcore", "httpx", "msgspec", "nest_asyncio2", "nest_asyncio", "numpy", "pandas"),
            *("tqdm",),
        },
        "service": {
            *("httptools", "jaconv", "lemminflect", "msgspec", "numpy", "platformdirs"),
            *("simplemma", "stopwordsiso", "uvicorn"),
            *(
                "httpcore",
                "httpx",
                "idna",
                "protego",
                "py_mini_racer",
                "pypdf",
                "regex",
                "selectolax",
            ),  # the crawler
        },
    },
    {
        "frames": {"msgspec", "numpy", "pandas", "pyarrow"},
        "loading": {
            *("dask", "duckdb", "httpx", "msgspec", "numpy", "pandas", "platformdirs"),
            *("pyarrow",),
        },
    },
    {"plots": {"matplotlib", "pandas"}},
    {"session": {"keyring", "platformdirs"}},
    {"tuning": {"matplotlib", "msgspec", "numpy", "pandas", "platformdirs"}},
    {"commands": {"msgspec", "pandas", "yaml"}},
    {"functions": {"matplotlib", "msgspec", "pandas"}},
    {
        "cli": {"pandas"},
        "magics": {"IPython", "msgspec", "pandas"},
        "editors": {"IPython", "anywidget", "numpy", "pandas", "traitlets"},
        "lab": {"IPython", "comm", "msgspec", "pandas"},
        "accessors": {"pandas"},
        "dask_accessor": {"dask"},
        "__init__": {"pandas"},
    },
]
# Siblings on one line that never meet.
STRANGERS = [{"client", "service"}]
# The command starts the service, and nothing else above it does.
ALLOWED_BESIDES = {("cli", "service"), ("functions", "service")}


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def level_of(room: str) -> int:
    return next(level for level, rooms in enumerate(LAYERS) if room in rooms)


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def ours(path: Path) -> Iterator[str]:
    for name in imports_of(path):
        top, *rest = name.split(".")
        if top == PACKAGE and rest and any(rest[0] in rooms for rooms in LAYERS):
            yield rest[0]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_downwards(path: Path) -> None:
    room = room_of(path)

    above = {
        other
        for other in ours(path)
        if level_of(other) > level_of(room) or {room, other} in STRANGERS
    }

    assert not {other for other in above if (room, other) not in ALLOWED_BESIDES}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_takes_from_outside_only_what_its_layer_may(path: Path) -> None:
    allowed = LAYERS[level_of(room_of(path))][room_of(path)]

    outside = {name.split(".")[0] for name in imports_of(path)}

    assert not outside - set(sys.stdlib_module_names) - {PACKAGE} - allowed


def test_there_is_no_room_for_odds_and_ends() -> None:
    assert not [path for path in MODULES if path.stem in ("utils", "helpers", "common", "misc")]


def test_no_modules_import_each_other_in_a_circle() -> None:
    names = {name_of(path) for path in MODULES}
    graph = {name_of(path): set(targets(path, names)) for path in MODULES}

    assert find_circle(graph) is None


# Imports inside functions that close a cycle, each with its reason.
DEFERRED = {
    ("magics.import_hook", "magics.extension"): "`import svc_notebook` must not load the magics",
    ("loading.sending.load", "loading.dask.load"): "a distributed load sends its parts by `load`",
    ("tuning.evaluation.comparison", "tuning.plots"): "a comparison draws itself",
}


def test_deferred_imports_hide_no_other_circle() -> None:
    names = {name_of(path) for path in MODULES}
    graph = {
        name_of(path): set(targets(path, names, deferred=True)) - known_of(path) for path in MODULES
    }

    assert find_circle(graph) is None


@pytest.mark.parametrize(("module", "other"), DEFERRED, ids="->".join)
def test_a_deferred_import_is_still_there(module: str, other: str) -> None:
    path = ROOT.joinpath(*module.split(".")).with_suffix(".py")

    assert f"{PACKAGE}.{other}" in set(
        targets(path, {name_of(each) for each in MODULES}, deferred=True)
    )


def known_of(path: Path) -> set[str]:
    return {
        f"{PACKAGE}.{other}" for module, other in DEFERRED if name_of(path) == f"{PACKAGE}.{module}"
    }


def name_of(path: Path) -> str:
    parts = (PACKAGE, *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


def targets(path: Path, names: set[str], *, deferred: bool = False) -> Iterator[str]:
    """The modules `path` imports; those inside functions only if `deferred`, never for types."""
    for node in at_import(parse(path), deferred=deferred):
        if isinstance(node, ast.ImportFrom) and node.module in names:
            inner = {f"{node.module}.{alias.name}" for alias in node.names} & names
            yield from inner or {node.module}
        elif isinstance(node, ast.Import):
            yield from {alias.name for alias in node.names} & names


def at_import(tree: ast.AST, *, deferred: bool = False) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if not deferred and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from at_import(node, deferred=deferred)


def find_circle(graph: dict[str, set[str]]) -> list[str] | None:
    done: set[str] = set()

    def visit(name: str, trail: list[str]) -> list[str] | None:
        if name in trail:
            return [*trail[trail.index(name) :], name]
        if name in done:
            return None
        for other in graph.get(name, ()):
            if circle := visit(other, [*trail, name]):
                return circle
        done.add(name)
        return None

    return next((circle for name in graph if (circle := visit(name, []))), None)

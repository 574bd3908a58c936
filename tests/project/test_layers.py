"""Allowed imports between rooms and layers, and from other packages."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeGuard

import pytest

from tests.looping import loop_over
from tests.parsed_modules import MODULES, parse
from tests.parsed_modules import PACKAGE as ROOT

PACKAGE = "svc_notebook"
STUBS = sorted({*ROOT.rglob("*.pyi")} - {*ROOT.rglob("__init__.pyi")})

# The rooms; each may import the rooms named here. `errors`, `samples` and the other modules at the
# top are paths that users import.
ROOMS: dict[str, set[str]] = {
    "core": set(),
    "service": {"core"},
    "data": {"core"},
    "tuning": {"core", "data"},
    "faces": {"core", "service", "data", "tuning"},
}
# Each module of this room is a door: declared endpoints, shapes and helpers that all rooms use.
OPEN_ROOM = "core"
# The process, and the extractors that a crawler editor tries; the room has no door of its own.
SERVICE_DOORS = {("service", "server"), ("service", "crawl", "extraction", "Extractors")}
# Users call what these offer, as `svc.tuning.clicks.judgments`.
PUBLIC_DOORS = {"tuning/clicks", "tuning/plots"}

# The packages of all rooms, lower layers first; a package imports its own line and the lines above
# it in this table, and the packages from elsewhere that are named beside it.
LAYERS: list[dict[str, set[str]]] = [
    {
        "core": set(),
        "errors": set(),
        "foreign_names": set(),
        "imports": set(),
        "locked_folders": set(),
        "model_endpoint": {"httpx", "msgspec"},
        "redaction": set(),
        "release": set(),
        "display": {"pandas"},
        "child_process": set(),
        "files": {"platformdirs"},
        "samples": {"pandas"},
        "terminal": set(),
        "tokenization": {"icu4py", "numpy", "opencc", "sudachipy"},
    },
    {"api": {"msgspec"}},
    {
        "client": {
            *(
                "h11",
                "httpx",
                "lazy_loader",
                "msgspec",
                "nest_asyncio2",
                "nest_asyncio",
                "numpy",
                "pandas",
            ),
            *("tqdm",),
        },
        "service": {
            *(
                "httptools",
                "jaconv",
                "lazy_loader",
                "lemminflect",
                "msgspec",
                "numpy",
                "platformdirs",
            ),
            *("Stemmer", "scipy", "simplemma", "stopwordsiso", "uvicorn"),
            # embedders
            *("fastembed", "model2vec", "safetensors", "sentence_transformers", "tokenizers"),
            *(
                "httpcore",
                "httpx",
                "idna",
                "playwright",
                "protego",
                "py_mini_racer",
                "pypdf",
                "regex",
                "selectolax",
            ),  # the crawler
        },
    },
    {
        "data": set(),
        "frames": {"msgspec", "numpy", "pandas", "pyarrow"},
        "loading": {
            *("charset_normalizer", "dask", "duckdb", "fastavro", "fsspec", "httpx", "lxml"),
            *("msgspec", "numpy", "openpyxl", "pandas", "platformdirs", "polars", "pyarrow"),
            *("python_calamine", "yaml"),
        },
        "yaml_nodes": {"yaml"},
    },
    {"declarations": {"msgspec"}, "plots": {"matplotlib", "pandas"}},
    {"session": {"keyring", "platformdirs", "uvicorn"}},
    {
        "tuning": {
            *(
                "Stemmer",
                "bm25s",
                "lazy_loader",
                "matplotlib",
                "msgspec",
                "numpy",
                "pandas",
                "platformdirs",
            ),
            "stopwordsiso",
        }
    },
    {"deployment": {"msgspec", "pandas", "platformdirs"}},
    {"functions": {"matplotlib", "msgspec", "pandas", "polars"}},
    {"commands": {"msgspec", "pandas"}},
    {
        "agents": {"mcp", "mcp_types", "msgspec", "pandas"},
        "cli": {"pandas"},
        "magics": {"IPython", "msgspec", "pandas"},
        "editors": {"IPython", "anywidget", "numpy", "pandas", "traitlets"},
        "lab": {"IPython", "comm", "msgspec", "pandas"},
        "faces": set(),
        "accessors": {"pandas"},
        "accessor_methods": set(),
        "dask_accessor": {"dask"},
        "polars_accessor": {"pandas", "polars"},
        "dlt_destination": {"dlt", "msgspec"},
        "__init__": {"pandas"},
        "__main__": set(),
    },
]
# The same inside packages; modules on one line do not import each other.
LAYERS_INSIDE: dict[str, list[set[str]]] = {
    "service": [
        {"migrations", "folder", "limits", "heap", "engine", "crawl"},
        {"store"},
        {"background_thread", "embedding_endpoint"},
        {"search_models"},
        {"keyring", "logs", "rules"},
        {"resources", "events"},
        {"analytics"},
        {"indices", "users"},
        {"tasks"},
        {"crawlers", "maintenance", "vector_builder"},
        {"http"},
        {"call_context"},
        {"service"},
        {"search"},
        {"suggestion_builder"},
        {"handlers"},
        {"workers"},
        {"app"},
        {"server"},
        {"__main__", "__init__"},
    ],
}
# Siblings on one line that never meet.
STRANGERS = [{"client", "service"}]
# The command starts the service, and nothing else above it does.
ALLOWED_BESIDES = {("cli", "service"), ("functions", "service"), ("functions", "agents")}


def package_of(*parts: str) -> str:
    """Return the package of a room, or the module at the top, that a dotted path belongs to."""
    room, *inner = parts
    if room == "tuning":
        return "deployment" if inner[:1] == ["deployment"] else "tuning"
    return inner[0] if room in ("core", "data", "faces") and inner else room


def parts_of(path: Path) -> tuple[str, ...]:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts


def level_of(package: str) -> int:
    return next(level for level, packages in enumerate(LAYERS) if package in packages)


@cache
def imports_of(path: Path) -> tuple[str, ...]:
    names: list[str] = []
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import):
            names += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            names += (f"{node.module}.{alias.name}" for alias in node.names)
    return tuple(names)


def ours(path: Path) -> Iterator[tuple[str, ...]]:
    """Yield the dotted paths of this package that a module imports, without the package's name."""
    for name in imports_of(path):
        top, *rest = name.split(".")
        if top == PACKAGE and rest and is_module(rest[0]):
            yield tuple(rest)


def is_module(*parts: str) -> bool:
    path = ROOT.joinpath(*parts)
    return path.is_dir() or path.with_suffix(".py").exists()


@loop_over("path", MODULES)
def test_a_module_imports_only_downwards(path: Path) -> None:
    package = package_of(*parts_of(path))

    others = {package_of(*parts) for parts in ours(path)}

    above = {
        other
        for other in others
        if level_of(other) > level_of(package) or {package, other} in STRANGERS
    }
    assert not {other for other in above if (package, other) not in ALLOWED_BESIDES}
    assert not {name: parts for name in LAYERS_INSIDE if (parts := upward(path, name))}


@loop_over("path", MODULES)
def test_a_room_imports_the_doors_of_other_rooms(path: Path) -> None:
    room = parts_of(path)[0]
    if room not in ROOMS:
        return

    others = [parts for parts in ours(path) if parts[0] in ROOMS and parts[0] != room]

    assert {parts[0] for parts in others} <= ROOMS[room]
    assert not [parts for parts in others if not is_door(*parts)]


def is_door(room: str, *parts: str) -> bool:
    """Return whether a path is a package or a module of a room, or a name that it offers."""
    if room == OPEN_ROOM or (room, *parts) in SERVICE_DOORS:
        return True
    package = ROOT.joinpath(room, *parts[:1])
    if room == "service" or not package.is_dir():
        return room != "service"
    return len(parts) < 2 or (len(parts) == 2 and parts[1] in offered_names(package))


@cache
def offered_names(package: Path) -> set[str]:
    """Return the names that the door of a package offers."""
    imports = [node for node in parse(package / "__init__.py").body if is_import(node)]
    return {alias.asname or alias.name for node in imports for alias in node.names}


def is_import(node: ast.stmt) -> TypeGuard[ast.ImportFrom]:
    return isinstance(node, ast.ImportFrom) and str(node.module).startswith(PACKAGE)


DOORS = [
    path.parent
    for room in ("data", "tuning")
    for path in sorted((ROOT / room).glob("*/__init__.py"))
    if path.parent.relative_to(ROOT).as_posix() not in PUBLIC_DOORS
]


@loop_over("door", DOORS)
def test_a_door_offers_what_another_room_imports(door: Path) -> None:
    package = ".".join((PACKAGE, *door.relative_to(ROOT).parts))

    used = {
        name.removeprefix(f"{package}.")
        for path in [*MODULES, *STUBS]
        if ROOT / door.relative_to(ROOT).parts[0] not in path.parents
        for name in [*imports_of(path), *attributes_of(path, package)]
        if name.startswith(f"{package}.")
    }

    assert offered_names(door) - used == set()


def attributes_of(path: Path, package: str) -> Iterator[str]:
    """Yield `package.name` for each attribute of a package that a module uses by its last name."""
    short = package.rpartition(".")[2]
    return (f"{package}.{attribute}" for name, attribute in attributes(path) if name == short)


@cache
def attributes(path: Path) -> frozenset[tuple[str, str]]:
    """Return the attributes that a module uses of names, each as the name and the attribute."""
    return frozenset(
        (node.value.id, node.attr)
        for node in ast.walk(parse(path))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    )


def upward(path: Path, package: str) -> set[str]:
    """The parts of a package that its module `path` imports although they are not below it."""
    folder = ROOT / package.replace(".", "/")
    if folder not in path.parents:
        return set()
    own = path.relative_to(folder).with_suffix("").parts[0]
    levels = {part: level for level, parts in enumerate(LAYERS_INSIDE[package]) for part in parts}
    prefix = f"{PACKAGE}.{package}."
    parts = {
        name.removeprefix(prefix).split(".")[0]
        for name in imports_of(path)
        if name.startswith(prefix)
    }
    return {part for part in parts if part != own and levels[part] >= levels[own]}


@loop_over("path", MODULES)
def test_a_module_takes_from_outside_only_what_its_layer_may(path: Path) -> None:
    package = package_of(*parts_of(path))
    allowed = LAYERS[level_of(package)][package]

    outside = {name.split(".")[0] for name in imports_of(path)}

    assert not outside - set(sys.stdlib_module_names) - {PACKAGE} - allowed


def test_there_is_no_room_for_odds_and_ends() -> None:
    assert not [path for path in MODULES if path.stem in ("utils", "helpers", "common", "misc")]


def test_no_modules_import_each_other_in_a_circle() -> None:
    names = {name_of(path) for path in MODULES}
    graph = {name_of(path): set(targets(path, names)) for path in MODULES}

    assert find_circle(graph) is None


def test_deferred_imports_hide_no_circle() -> None:
    names = {name_of(path) for path in MODULES}
    graph = {name_of(path): set(targets(path, names, deferred=True)) for path in MODULES}

    assert find_circle(graph) is None


# The packages inside `loading`, each below those that follow; modules of one tuple may import
# each other as long as there is no cycle.
LOADING_ORDER = [
    ("sql", "options", "database", "table"),
    ("text_cells",),
    ("encoding",),
    ("sources",),
    ("load_plan",),
    ("history",),
    ("sending",),
    ("dask",),
    ("exports",),
    ("dispatch",),
]
CLIENT_ORDER = [
    ("secret", "progress", "task_group", "hosts", "retry", "pagination", "response_checks"),
    ("tasks",),
    ("config", "background_loop", "journal_file"),
    ("transport",),
    ("endpoint_client",),
    (
        "operations",
        "temporary_index",
        "replacement",
        "curation",
        "crawlers",
        "attribute_checks",
    ),
    ("client",),
]


@pytest.mark.parametrize(
    ("package", "order"),
    [("data/loading", LOADING_ORDER), ("data/client", CLIENT_ORDER)],
    ids=["loading", "client"],
)
def test_packages_inside_a_package_import_one_way(
    package: str, order: list[tuple[str, ...]]
) -> None:
    levels = {name: level for level, names in enumerate(order) for name in names}
    paths = [path for path in MODULES if ROOT / package in path.parents]

    upward = {
        (own, other)
        for path in paths
        for own in [part_of(path, package)]
        for other in parts_imported(path, package)
        if own and levels[other] > levels[own]
    }

    assert not upward


def part_of(path: Path, package: str) -> str:
    """The package or module inside `package` that a file belongs to."""
    return path.relative_to(ROOT / package).with_suffix("").parts[0].replace("__init__", "")


def parts_imported(path: Path, package: str) -> Iterator[str]:
    """The packages or modules inside `package` that a file imports, also inside functions."""
    names = {name_of(each) for each in MODULES}
    for target in targets(path, names, deferred=True):
        parts = target.split(".")
        if parts[1:3] == package.split("/") and len(parts) > 3:
            yield parts[3]


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


# The search engine: lower layers first; a module imports its own layer and those before it.
ENGINE_LAYERS = (
    {"arrays", "execution", "term_dictionary"},
    {"text"},
    {"index", "semantic"},  # files of both; vectors of segments
    {"query"},
    {"filters"},
    {"ranking"},
    {"response"},
    {"search_index"},
    {"__init__"},
)
ENGINE_MODULES = [path for path in MODULES if path.is_relative_to(ROOT / "service" / "engine")]
CRAWL_MODULES = [path for path in MODULES if path.is_relative_to(ROOT / "service" / "crawl")]


@loop_over("path", ENGINE_MODULES)
def test_the_packages_of_the_engine_import_one_way(path: Path) -> None:
    level = engine_level(path.relative_to(ROOT / "service" / "engine").parts[0])
    prefix = f"{PACKAGE}.service."

    inside = {name.removeprefix(prefix) for name in imports_of(path) if name.startswith(prefix)}

    assert all(name.startswith("engine.") for name in inside)
    assert all(engine_level(name.split(".")[1]) <= level for name in inside)


def engine_level(part: str) -> int:
    name = part.removesuffix(".py")
    return next(level for level, layer in enumerate(ENGINE_LAYERS) if name in layer)


@loop_over("path", CRAWL_MODULES)
def test_a_crawl_knows_nothing_of_the_service(path: Path) -> None:
    prefix = f"{PACKAGE}.service."

    inside = {name.removeprefix(prefix) for name in imports_of(path) if name.startswith(prefix)}

    assert all(name.startswith("crawl.") for name in inside)

"""All declared functions, found by importing the modules that define them."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

from svc_notebook.data.declarations.declaration import Declaration, declaration_of

# Packages and modules with declared functions, in the order in which help lists their verbs.
HOMES = (
    "svc_notebook.faces.functions",
    "svc_notebook.data.session",
    "svc_notebook.faces.editors.functions",
    "svc_notebook.tuning",
    "svc_notebook.faces.commands.help",
)


def discover(*homes: str) -> list[Declaration]:
    """Return the declarations in packages and modules, in the order of modules and lines."""
    modules = (module for home in homes or HOMES for module in _modules(import_module(home)))
    return [found for module in modules for found in _declared_in(module)]


def _modules(module: ModuleType) -> Iterator[ModuleType]:
    yield module
    if hasattr(module, "__path__"):
        for found in pkgutil.walk_packages(module.__path__, f"{module.__name__}."):
            yield import_module(found.name)


def _declared_in(module: ModuleType) -> list[Declaration]:
    functions = [
        each
        for each in vars(module).values()
        if callable(each) and getattr(each, "__module__", "") == module.__name__
    ]
    found = [declared for each in functions if (declared := declaration_of(each))]
    return sorted(found, key=_line)


def _line(declared: Declaration) -> int:
    return int(inspect.unwrap(declared.function).__code__.co_firstlineno)

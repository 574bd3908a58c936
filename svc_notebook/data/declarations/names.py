"""Names of a module that are loaded on first use, from a table of their paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from svc_notebook.core.import_speed import import_quickly
from svc_notebook.core.official_names import suggest_function
from svc_notebook.errors import lacking_attribute


def lazy_attribute(
    module: str, homes: Mapping[str, str], adapt: Callable[[Any], Any]
) -> Callable[[str], Any]:
    """Return a `__getattr__` for a module: it imports a name from its path in `homes`."""

    def load(name: str) -> Any:
        if name not in homes:
            raise lacking_attribute(f"module {module!r}", name, homes, suggest_function)
        home, attribute = homes[name].rsplit(".", 1)
        return adapt(getattr(import_quickly(home), attribute))

    return load

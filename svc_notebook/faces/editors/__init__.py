"""Editors as widgets: `svc.edit(index)` has all of them, `svc.edit.query(index)` is one.

Each is an ipywidget that can be combined with others. Its `value` is the API's own JSON, and
nothing is written to the service before it is applied.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from svc_notebook.core.foreign_names import EDITORS
from svc_notebook.errors import BadInput, lacking_attribute

if TYPE_CHECKING:
    from svc_notebook.faces.editors.functions import Editors as Editors
    from svc_notebook.faces.editors.functions import analytics as analytics
    from svc_notebook.faces.editors.functions import crawler as crawler
    from svc_notebook.faces.editors.functions import judgments as judgments
    from svc_notebook.faces.editors.functions import query as query
    from svc_notebook.faces.editors.functions import rules as rules
    from svc_notebook.faces.editors.functions import settings as settings
    from svc_notebook.faces.editors.functions import synonyms as synonyms
    from svc_notebook.faces.editors.functions import workbench as workbench


__all__ = [
    "analytics",
    "crawler",
    "judgments",
    "query",
    "rules",
    "settings",
    "synonyms",
    "workbench",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise lacking_attribute(f"module {__name__!r}", name, __all__, _suggest)
    try:
        return getattr(import_module(f"{__name__}.functions"), name)
    except ModuleNotFoundError as error:
        raise BadInput(f"editors need {error.name}: pip install 'svc-notebook[lab]'") from error


def _suggest(name: str) -> str:
    return f"; use `svc.edit.{EDITORS[name]}`" if name in EDITORS else ""


def __dir__() -> list[str]:
    return sorted(__all__)


class _CallableModule(ModuleType):
    """This module, which opens the workbench when it is called."""

    def __call__(self, index: str, query: str = "", **options: Any) -> Any:
        """Open the workbench of an index; see `svc.edit.workbench`."""
        return self.workbench(index, query, **options)


sys.modules[__name__].__class__ = _CallableModule

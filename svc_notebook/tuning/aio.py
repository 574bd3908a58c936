"""The functions of tuning that call the service, as coroutine functions."""

from __future__ import annotations

from typing import Any

from svc_notebook.data.declarations import lazy_attribute, spell_out
from svc_notebook.tuning.homes import CONTEXTS, COROUTINES

__all__ = sorted({**COROUTINES, **CONTEXTS})


def _spelled_out(function: Any) -> Any:
    spell_out(function)
    return function


__getattr__ = lazy_attribute(__name__, {**COROUTINES, **CONTEXTS}, _spelled_out)


def __dir__() -> list[str]:
    return __all__

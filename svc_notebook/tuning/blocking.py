"""The functions of tuning that call the service, as blocking functions."""

from __future__ import annotations

from svc_notebook.data.declarations import blocking_variant, lazy_attribute
from svc_notebook.tuning.homes import COROUTINES, FUNCTIONS

__all__ = sorted({**COROUTINES, **FUNCTIONS})
__getattr__ = lazy_attribute(__name__, {**COROUTINES, **FUNCTIONS}, blocking_variant)


def __dir__() -> list[str]:
    return __all__

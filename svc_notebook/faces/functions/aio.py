"""All functions as coroutine functions; `svc.aio` is this module.

`client` defaults to the current client; a synchronous and an asynchronous client are both accepted.
"""

from __future__ import annotations

from typing import Any

from svc_notebook.data.declarations import lazy_attribute, spell_out
from svc_notebook.faces.functions.homes import COROUTINES

__all__ = sorted(COROUTINES)


def _spelled_out(function: Any) -> Any:
    spell_out(function)
    return function


__getattr__ = lazy_attribute(__name__, COROUTINES, _spelled_out)


def __dir__() -> list[str]:
    return __all__

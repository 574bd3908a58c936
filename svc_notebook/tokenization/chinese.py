"""Traditional Chinese characters as simplified ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache


def simplify(character: str) -> str:
    """Return the simplified form of a Chinese character, or the character itself."""
    return _converter()(character)


@cache
def _converter() -> Callable[[str], str]:
    try:
        from opencc import OpenCC
    except ImportError:  # a client without the extras `local` and `tuning`
        return str
    convert: Callable[[str], str] = OpenCC("t2s").convert
    return convert

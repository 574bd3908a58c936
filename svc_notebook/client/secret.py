"""A text that must not be seen: an API key."""

from __future__ import annotations

import hmac
from typing import NoReturn, Self

from svc_notebook.errors import BadInput


class Secret:
    """Holds a key; shows it to nobody who does not ask by `reveal`."""

    __slots__ = ("__text",)

    def __init__(self, text: str = "") -> None:
        self.__text = text

    def reveal(self) -> str:
        """Return the text; call it where the text leaves, and keep it nowhere."""
        return self.__text

    def __repr__(self) -> str:
        return "Secret(...)" if self.__text else "Secret('')"

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __bool__(self) -> bool:
        return bool(self.__text)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self.__text.encode(), other.__text.encode())

    def __hash__(self) -> int:
        return hash((Secret, self.__text))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise BadInput("a key is never pickled; connect again by profile where it is needed")


NO_SECRET = Secret()

"""Plain types of arguments, as annotations spell them, and the errors of values of other types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from math import isnan
from numbers import Integral, Real
from os import PathLike
from typing import Any, NamedTuple, Protocol, runtime_checkable

from svc_notebook.core.api.validation import FOUND, WANTED
from svc_notebook.errors import BadInput

_OPTIONAL = " | None"


class PlainType(NamedTuple):
    """What values of one annotation are: their classes, those of them refused, and their name.

    The items of a list or a dict are of the type `item`.
    """

    classes: tuple[Any, ...]
    name: str
    refused: tuple[Any, ...] = ()
    item: Any = None

    def check(self, value: Any, name: str) -> None:
        """Raise `BadInput` for a value of another type; `name` is that of the argument."""
        if not isinstance(value, self.classes) or isinstance(value, self.refused):
            raise BadInput(f"`{name}` must be {self.name}, not {_name_type(value)}")
        if isinstance(value, float) and isnan(value):
            raise BadInput(f"`{name}` must be {self.name}, not NaN")
        if self.item and isinstance(value, list | dict):
            for key, item in value.items() if isinstance(value, dict) else enumerate(value):
                self.item.check(item, f"{name}[{key!r}]")


@runtime_checkable
class ByKey(Protocol):
    """Values by key: a dict, or a Series of pandas."""

    def keys(self) -> Any:
        """Return the keys."""

    def items(self) -> Any:
        """Return the keys with their values."""


_LIST, _DICT = PlainType((Iterable,), WANTED["array"]), PlainType((ByKey,), "a dict")
_PATH, _TEXT = PlainType((str, PathLike), "a path"), PlainType((str,), WANTED["str"])
# A number is taken for a switch, as in Python, and text is not: "false" would be true.
_PLAIN_TYPES = {
    "str": _TEXT,
    "int": PlainType((Integral,), WANTED["int"], (bool,)),
    "float": PlainType((Real,), WANTED["float"], (bool,)),
    "bool": PlainType((bool, Integral), "True or False"),
    **dict.fromkeys(("str | os.PathLike[str]", "str | PathLike[str]", "str | Path"), _PATH),
    **dict.fromkeys(
        ("OneOrMany", "Iterable[Any]", "Sequence[Any]", "Sequence[float]", "str | Iterable[str]",
         "str | Sequence[str]"), _LIST),
    "Sequence[str]": _LIST._replace(item=_TEXT),
    **dict.fromkeys(
        ("Mapping[str, Any]", "Mapping[str, float]", "Mapping[float, float]"), _DICT),
    "Mapping[str, str]": _DICT._replace(item=_TEXT),
    "str | Mapping[str, Any]": PlainType((str, ByKey), f"{WANTED['str']} or {_DICT.name}"),
}  # fmt: skip


@cache
def plain_type(annotation: str, *, optional: bool = False) -> PlainType | None:
    """Return the plain type that an annotation spells; None for all others.

    None is a value of an optional type, which `optional` or the annotation says.
    """
    plain = _PLAIN_TYPES.get(annotation.removesuffix(_OPTIONAL))
    if plain is None or not (optional or annotation.endswith(_OPTIONAL)):
        return plain
    return plain._replace(classes=(*plain.classes, type(None)))


def _name_type(value: Any) -> str:
    """Return what a value is, as the plain types are named."""
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, Mapping):
        return _DICT.name
    names = {int: "int", float: "float", str: "str", list: "array"}
    return FOUND.get(names.get(type(value), ""), f"a `{type(value).__name__}`")

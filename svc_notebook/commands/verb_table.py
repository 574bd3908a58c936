"""The table of verbs, read from `verbs.json`, which `docs/generate.py` writes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from svc_notebook.commands.verb import FORMAT, PARAMS, PROFILE, Option, Verb
from svc_notebook.declarations.declaration import BodyDocument

TABLE = Path(__file__).with_name("verbs.json")
# Types of values by the names that the table has for them; a list of words is a choice of these.
TYPES: dict[str, Any] = {
    "bool": bool, "int": int, "float": float, "bool | None": bool | None, "list[str]": list[str],
    "list[int]": list[int], "dict[str, str]": dict[str, str], "dict[str, Any]": dict[str, Any],
}  # fmt: skip
# Options that many verbs share, by name.
SHARED = {"profile": PROFILE, "format": FORMAT, "params": PARAMS}


def _read_verb(row: dict[str, Any]) -> Verb:
    document = row.pop("document", None)
    placed, named, common = (row.pop(name, []) for name in ("operands", "options", "common"))
    return Verb(
        operands=tuple(_read_option(stored, positional=True) for stored in placed),
        options=tuple(map(_read_option, named)),
        common=tuple(map(_read_option, common)),
        spread=_shape(row.pop("spread", None)),
        document=document and BodyDocument(**{**document, "shape": _shape(document["shape"])}),
        **{name: _frozen(value) for name, value in row.items()},
    )


def _read_option(row: dict[str, Any] | str, **facts: Any) -> Option:
    if isinstance(row, str):
        return SHARED[row]
    return Option(
        **{name: _frozen(v) for name, v in row.items() if name != "type"},
        type=_type(row.get("type")),
        **facts,
    )


def _type(written: Any) -> Any:
    if written is None:
        return str
    if isinstance(written, str):
        return TYPES[written]
    if isinstance(written[0], list):
        return list[_choice(written[0])]  # type: ignore[misc]
    return _choice(written)


def _choice(words: Iterable[str]) -> Any:
    return Literal[tuple(words)]


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _shape(path: str | None) -> Any:
    if path is None:
        return None
    module, name = path.rsplit(".", 1)
    return getattr(import_module(module), name)


VERBS: tuple[Verb, ...] = tuple(map(_read_verb, json.loads(TABLE.read_text(encoding="utf-8"))))

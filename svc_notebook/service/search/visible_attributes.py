"""The attributes of records, and the entries of the log, that a caller may see.

A key with the right `logs` cannot read more in the logs than it could read by its requests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from svc_notebook.core.api.shapes import Record
from svc_notebook.service.engine.response.hits import PathTree
from svc_notebook.service.http.auth import GEO_PARAMETERS, SEE_ALL_ATTRIBUTES, Caller
from svc_notebook.service.indices.registry import IndexRegistry
from svc_notebook.service.logs import Logged
from svc_notebook.service.rules.filters import FILTERS

# Embedded parameters that hide records or attributes from a key.
RECORD_RESTRICTIONS = {*FILTERS, *GEO_PARAMETERS, "attributesToRetrieve"}
MAX_STRUCT_ATTRIBUTES = 100
# A name that is not a pattern or path, and that JSON does not escape.
_TOP_LEVEL_NAME = re.compile(r'[^*.\\"\x00-\x1f-][^.\\"\x00-\x1f]*')


def select_attributes(
    record: Record, requested: Sequence[str] | None, hidden: Sequence[str]
) -> Record:
    """Return the wanted attributes of a record, without the hidden ones; dots address members.

    `*` means all, `-name` all except that one; the objectID is always included.
    """
    names = ["*"] if requested is None else list(requested)
    excluded = [name[1:] for name in names if name.startswith("-")]
    kept = [name for name in names if not name.startswith("-")]
    chosen = record if "*" in kept or (excluded and not kept) else _only(record, PathTree.of(kept))
    for name in (*hidden, *excluded):
        chosen = drop_attribute(chosen, name)
    return {**chosen, "objectID": record["objectID"]}


def apply_lists(record: Record, lists: Sequence[Sequence[str]]) -> Record:
    """Return the attributes of a record that every list names."""
    for names in lists:
        record = select_attributes(record, names, ())
    return record


def select_from_bodies(
    bodies: Sequence[bytes],
    requested: Sequence[str],
    hidden: Sequence[str],
    lists: Sequence[Sequence[str]] = (),
) -> list[Any]:
    """Select attributes of many stored records, as `select_attributes` does for one.

    Each of `lists`, which keys embed, further restricts the attributes.
    """
    if [*lists] not in ([], [requested]):
        records = map(msgspec.json.decode, bodies)
        return [
            apply_lists(select_attributes(record, requested, hidden), lists) for record in records
        ]
    if select := _find_selector(requested, hidden):
        return [select(body) for body in bodies]
    return [select_attributes(msgspec.json.decode(body), requested, hidden) for body in bodies]


def _find_selector(
    requested: Sequence[str], hidden: Sequence[str]
) -> Callable[[bytes], Any] | None:
    """Return a function that selects attributes of a body without decoding their values, or None.

    Decoding a thousand records costs more than everything else.
    """
    everything = list(requested) == ["*"]
    if everything and not hidden:
        return msgspec.Raw
    if everything and _are_plain(hidden):
        return lambda body: _without(_MEMBERS.decode(body), hidden)
    if len(requested) < MAX_STRUCT_ATTRIBUTES and _are_plain((*requested, *hidden)):
        shown = dict.fromkeys(name for name in requested if name not in (*hidden, "objectID"))
        return _reader_of((*shown, "objectID")).decode
    return None


def _are_plain(names: Iterable[str]) -> bool:
    return all(map(_TOP_LEVEL_NAME.fullmatch, names))


def _without(record: Record, hidden: Sequence[str]) -> Record:
    return {n: value for n, value in record.items() if n not in hidden or n == "objectID"}


@lru_cache(maxsize=64)
def _reader_of(names: Sequence[str]) -> msgspec.json.Decoder[Any]:
    """Return a decoder that reads only these attributes and keeps their values encoded."""
    fields = {f"f{number}": name for number, name in enumerate(names)}
    members = [(field, msgspec.Raw, msgspec.UNSET) for field in fields]
    return msgspec.json.Decoder(msgspec.defstruct("Cut", members, rename=fields))


_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])


def drop_attribute(value: Any, path: str) -> Any:
    """Remove one attribute by its dotted name, also from the items of arrays."""
    if isinstance(value, list):
        return [drop_attribute(item, path) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: drop_attribute(inner, path[len(name) + 1 :]) if path.startswith(f"{name}.") else inner
        for name, inner in value.items()
        if name != path
    }


def _only(value: Any, paths: PathTree) -> Any:
    if isinstance(value, list):
        return [_only(item, paths) for item in value if isinstance(item, (dict, list))]
    if not isinstance(value, dict):
        return value
    return {
        name: inner if below.whole else _only(inner, below)
        for name, inner in value.items()
        if (below := paths.find(name)) and (below.whole or isinstance(inner, (dict, list)))
    }


def may_read_content(caller: Caller, catalog: IndexRegistry, logged: Logged) -> bool:
    """Return whether a caller may read all attributes and records in an entry."""
    return caller.admin or all(_may_read(caller, catalog, logged, i) for i in logged.indices)


def _may_read(caller: Caller, catalog: IndexRegistry, logged: Logged, index: str) -> bool:
    if RECORD_RESTRICTIONS & caller.restrict({}, index).keys():
        return False
    if caller.may(SEE_ALL_ATTRIBUTES, index):
        return True
    now, before = catalog.unretrievable_attributes([index]), set(logged.hidden)
    return not (now | before) if logged.shows_hidden else now <= before

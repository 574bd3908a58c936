"""The number of attributes of an index: each of them costs every search of the index time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from svc_notebook.errors import BadInput
from svc_notebook.service import limits
from svc_notebook.service.indices.published_index import PublishedIndex


def check_attribute_count(
    index: str, published: PublishedIndex | None, records: Iterable[Mapping[str, Any]]
) -> None:
    """Raise `BadInput` if an index would have too many attributes with these records.

    Records that are queued but not published yet are not counted.
    """
    names = list_attributes(records)
    if published is not None and published.engine.is_open:
        names |= published.engine.get().attribute_names()
    if len(names) > limits.MAX_INDEX_ATTRIBUTES:
        raise BadInput(
            f"{index} would have {len(names):,} attributes, the maximum is "
            f"{limits.MAX_INDEX_ATTRIBUTES:,}: if the names of attributes are values, such as ids, "
            'send a list of objects instead, such as [{"name": "a", "value": 1}]'
        )


def list_attributes(records: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the attributes of records; those of objects inside an attribute as `a.b`."""
    names: set[str] = set()
    for record in records:
        names.update(record)
        for name, value in record.items():
            if type(value) in (dict, list):
                names.update(_list_inner(name, value))
    return names


def _list_inner(path: str, value: Any) -> Iterator[str]:
    waiting = [(path, value)]
    while waiting:
        path, value = waiting.pop()
        if type(value) is dict:
            for name, inner in value.items():
                yield f"{path}.{name}"
                if type(inner) in (dict, list):
                    waiting.append((f"{path}.{name}", inner))
        else:
            waiting += [(path, item) for item in value if type(item) in (dict, list)]

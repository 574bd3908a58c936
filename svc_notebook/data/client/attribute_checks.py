"""Checks on a sample of records whether the attributes that settings name exist.

A check changes nothing and does not raise: if the key may not search, the result contains the
reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from svc_notebook.core.api.attributes import has_attribute, name_attributes, values_of
from svc_notebook.core.api.warning import warn_user
from svc_notebook.errors import NotFound, SvcError, UnknownAttributeWarning, did_you_mean

if TYPE_CHECKING:
    from svc_notebook.data.client.endpoint_client import EndpointClient

SAMPLE_RECORDS = 1000
NAME_RECORDS = 100  # records read in full, for name suggestions
NAME_DEPTH = 5  # levels of nested members
MAX_SHOWN_NAMES = 5


@dataclass(frozen=True)
class AttributeCheck:
    """The attributes that no record of a sample has, each with a message.

    `unchecked` gives the reason if nothing was checked; otherwise it is empty.
    """

    unknown: Mapping[str, str]
    unchecked: str = ""

    def warn(self) -> None:
        """Issue one warning for all unknown attributes."""
        if self.unknown:
            messages = [*self.unknown.values()]
            others = len(messages) - MAX_SHOWN_NAMES
            more = f"; and {others} more" if others > 0 else ""
            warn_user("; ".join(messages[:MAX_SHOWN_NAMES]) + more, UnknownAttributeWarning)

    def facts(self) -> dict[str, Any]:
        """Return the result as plain JSON, for `attrs` of a result."""
        facts: dict[str, Any] = {"unknown_attributes": [*self.unknown]}
        return facts | ({"unchecked": self.unchecked} if self.unchecked else {})


async def check_attributes(
    client: EndpointClient, index: str, values: Mapping[str, Any]
) -> AttributeCheck:
    """Check whether records have the attributes that settings or parameters name.

    The check reads these attributes of at most 1,000 records, and the facets of all records. An
    index without records has no unknown attributes.
    """
    named = name_attributes(values)
    if not named:
        return AttributeCheck({})
    try:
        answer = await _search(client, index, SAMPLE_RECORDS, attributesToRetrieve=[*named])
        hits = answer["hits"]
        unseen = [name for name in named if not any(has_attribute(hit, name) for hit in hits)]
        if not hits or not unseen:
            return AttributeCheck({})
        names, hidden = await _read_names(client, index)
    except NotFound:
        return AttributeCheck({})  # the change will create the index
    except SvcError as error:
        return AttributeCheck({}, f"attributes were not checked: {error}")
    every = len(hits) >= answer["nbHits"]
    return AttributeCheck(
        {
            name: f"{_subject(index, len(hits), every)} `{name}` ({named[name]})"
            f"{did_you_mean(name, names)}"
            for name in unseen
            if name not in names and name not in hidden
        }
    )


def _subject(index: str, count: int, every: bool) -> str:
    if every:
        return (
            f"none of the {count:,} records of {index} has"
            if count > 1
            else f"the record of {index} lacks"
        )
    return f"no record in a sample of {count:,} of {index} has"


async def _search(client: EndpointClient, index: str, count: int, **params: Any) -> Any:
    query: Any = {
        "hitsPerPage": count, "attributesToHighlight": [], "attributesToSnippet": [],
        "distinct": False, "enableRules": False, "analytics": False, **params,
    }  # fmt: skip
    return await client.search(index, **query)


async def read_names(client: EndpointClient, index: str) -> list[str]:
    """Return the names of attributes and members in some records, of facets, and hidden ones."""
    names, hidden = await _read_names(client, index)
    return [*names, *hidden]


async def read_values(
    client: EndpointClient, index: str, names: Sequence[str]
) -> dict[str, list[Any]] | None:
    """Return the values that the records of a sample have for each attribute.

    None for an index without records.
    """
    answer = await _search(client, index, SAMPLE_RECORDS, attributesToRetrieve=[*names])
    hits = answer["hits"]
    return {n: [v for hit in hits for v in values_of(hit, n)] for n in names} if hits else None


async def _read_names(client: EndpointClient, index: str) -> tuple[list[str], Collection[str]]:
    """Return the names in some full records and the facets of all, and the unretrievable names."""
    answer = await _search(client, index, NAME_RECORDS, facets=["*"], maxValuesPerFacet=1)
    names = dict.fromkeys(name for hit in answer["hits"] for name in _paths(hit, "", NAME_DEPTH))
    facets = (name for name, counts in answer.get("facets", {}).items() if counts)
    try:
        settings = await client.get_settings(index)
    except SvcError:
        settings = {}
    return [*names, *facets], settings.get("unretrievableAttributes") or ()


def _paths(value: Any, path: str, depth: int) -> Iterator[str]:
    """Yield the paths of a record's members, including the outer ones."""
    if isinstance(value, Mapping) and depth:
        for name, member in value.items():
            if path or name[:1] != "_":
                inner = f"{path}.{name}" if path else name
                yield inner
                yield from _paths(member, inner, depth - 1)
    elif isinstance(value, list):
        for item in value:
            yield from _paths(item, path, depth)

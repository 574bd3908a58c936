"""Checks of the attributes that settings and searches name, on a sample of records.

A check changes nothing and does not raise: what the key may not read is not checked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from svc_notebook.core.api.attributes import (
    OF_EVERY_RECORD,
    compared_attributes,
    filtered_attributes,
    has_attribute,
    name_attributes,
    values_of,
)
from svc_notebook.core.api.filter_advice import explain_ineffective
from svc_notebook.core.api.values import is_number
from svc_notebook.core.terminal import warn_user
from svc_notebook.errors import NotFound, SvcError, UnknownAttributeWarning, did_you_mean

if TYPE_CHECKING:
    from svc_notebook.data.client.endpoint_client import EndpointClient

SAMPLE_RECORDS = 1000
NAME_RECORDS = 100  # records read in full, for name suggestions
NAME_DEPTH = 5  # levels of nested members
MAX_SHOWN_NAMES, MAX_SHOWN_CHARACTERS = 5, 30
FACETS = "attributesForFaceting"
# Parameters with conditions on facets, and those with comparisons of numbers.
FACET_FILTERS = ("filters", "facetFilters", "optionalFilters", "optionalFacetFilters")
COMPARISONS = ("filters", "numericFilters")


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
        unseen = _find_unseen(named, hits)
        if not unseen:
            return AttributeCheck({})
        names, hidden = await _read_names(client, index)
    except NotFound:
        return AttributeCheck({})  # the change will create the index
    except SvcError as error:
        return AttributeCheck({}, f"attributes were not checked: {error}")
    subject = _subject(index, len(hits), every=len(hits) >= answer["nbHits"])
    return AttributeCheck(
        {
            name: f"{subject} `{name}` ({named[name]}){did_you_mean(name, names)}"
            for name in unseen
            if name not in (*names, *hidden)
        }
    )


def _find_unseen(names: Iterable[str], hits: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the attributes that no record has; none if there are no records."""
    return [n for n in names if hits and not any(has_attribute(hit, n) for hit in hits)]


def _subject(index: str, count: int, *, every: bool) -> str:
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


class FilterFault(NamedTuple):
    """An attribute by which a search cannot filter or count: why, and the code that changes it."""

    attribute: str
    message: str
    fix: str = ""

    @property
    def advice(self) -> str:
        """The message with the code that changes it."""
        return f"{self.message}: `{self.fix}`" if self.fix else self.message


async def check_filters(
    client: EndpointClient, index: str, params: Mapping[str, Any]
) -> list[FilterFault]:
    """Return the attributes in filters and facets of a search that cannot work, with the reasons.

    Attributes before a colon, and those of `facets`, must be facets of the index. Attributes that
    are compared must hold numbers in some record.
    """
    unlike = explain_ineffective(params.get("filters"))
    faults = [FilterFault(name, message) for name, message in unlike]
    with suppress(SvcError):
        if named := _facets_named(params):
            faults += _check_facets(index, named, await read_facet_entries(client, index))
    with suppress(SvcError):
        if compared := _compared(params):
            faults += await _check_numbers(client, index, compared)
    return faults


async def warn_of_filters(client: EndpointClient, index: str, params: Mapping[str, Any]) -> None:
    """Issue a warning for each attribute by which a search cannot filter or count."""
    for fault in await check_filters(client, index, params):
        warn_user(fault.advice)


async def read_facet_entries(client: EndpointClient, index: str) -> Sequence[str]:
    """Return the entries of `attributesForFaceting`, such as `searchable(brand)`."""
    settings: Any = await client.get_settings(index)
    entries: Sequence[str] = settings.get(FACETS) or ()
    return entries


def describe_no_facet(name: str, index: str, entries: Iterable[str]) -> str:
    """Return the message for an attribute that is not a facet."""
    facets = name_attributes({FACETS: list(entries)})
    return f"`{name}` is not among {FACETS} of {index}{did_you_mean(name, facets)}"


def _facets_named(params: Mapping[str, Any]) -> list[str]:
    named = [name for part in FACET_FILTERS for name in filtered_attributes(params.get(part))]
    counted = params.get("facets") or ()
    counted = counted.split(",") if isinstance(counted, str) else counted
    named += [name.strip() for name in counted if isinstance(name, str)]
    return [name for name in dict.fromkeys(named) if name and name not in OF_EVERY_RECORD]


def _compared(params: Mapping[str, Any]) -> list[str]:
    named = (name for part in COMPARISONS for name in compared_attributes(params.get(part)))
    return [name for name in dict.fromkeys(named) if name not in OF_EVERY_RECORD]


def _check_facets(index: str, named: Iterable[str], entries: Sequence[str]) -> list[FilterFault]:
    facets = name_attributes({FACETS: list(entries)})
    return [
        FilterFault(
            name, describe_no_facet(name, index, entries), _add_facet(index, name, entries, facets)
        )
        for name in named
        if name not in facets
    ]


def _add_facet(index: str, name: str, entries: Sequence[str], facets: Iterable[str]) -> str:
    """Return the code that adds a facet; empty if the name is probably another one misspelled."""
    if did_you_mean(name, facets):
        return ""
    return f"svc.set_settings({index!r}, {{{FACETS!r}: {[*entries, name]!r}}})"


async def _check_numbers(
    client: EndpointClient, index: str, compared: Sequence[str]
) -> list[FilterFault]:
    """Return the attributes that no record of a sample has, or that hold no number."""
    values = await read_values(client, index, compared)
    if values is None:  # the index has no records
        return []
    faults = []
    for name in compared:
        if any(map(is_number, values[name])):
            continue
        if example := next((value for value in values[name] if isinstance(value, str)), ""):
            faults.append(_describe_text(index, name, example))
        elif not values[name]:
            names: Collection[str] = await read_names(client, index)
            if name not in names:
                message = f"no record of {index} has `{name}`{did_you_mean(name, names)}"
                faults.append(FilterFault(name, message))
    return faults


def _describe_text(index: str, name: str, example: str) -> FilterFault:
    """Return the fault of a comparison with an attribute of text."""
    shown = example[:MAX_SHOWN_CHARACTERS]
    message = (
        f"`{name}` of {index} holds text, such as {shown!r}: comparisons find numbers only; load "
        "it as a number or a time"
    )
    kind = "epoch" if example[:4].isdigit() and example[4:5] == "-" else "number"
    return FilterFault(name, message, f"svc.load(source, {index!r}, dtype={{{name!r}: {kind!r}}})")

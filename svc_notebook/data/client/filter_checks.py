"""Checks of the filters and facets of a search: attributes by which the service cannot filter.

A check changes nothing and does not raise: what the key may not read is not checked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from svc_notebook.core.api.attributes import (
    OF_EVERY_RECORD,
    compared_attributes,
    filtered_attributes,
    name_attributes,
)
from svc_notebook.core.api.filter_advice import explain_ineffective
from svc_notebook.core.api.warning import warn_user
from svc_notebook.data.client.attribute_checks import read_names, read_values
from svc_notebook.errors import SvcError, did_you_mean

if TYPE_CHECKING:
    from svc_notebook.data.client.endpoint_client import EndpointClient

FACETS = "attributesForFaceting"
# Parameters with conditions on facets, and those with comparisons of numbers.
FACET_FILTERS = ("filters", "facetFilters", "optionalFilters", "optionalFacetFilters")
COMPARISONS = ("filters", "numericFilters")
MAX_SHOWN_CHARACTERS = 30


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
        if any(_is_number(value) for value in values[name]):
            continue
        if example := next((value for value in values[name] if isinstance(value, str)), ""):
            shown = example[:MAX_SHOWN_CHARACTERS]
            message = (
                f"`{name}` of {index} holds text, such as {shown!r}: comparisons find numbers only"
            )
            kind = "epoch" if example[:4].isdigit() and example[4:5] == "-" else "number"
            fix = f"svc.load(source, {index!r}, dtype={{{name!r}: {kind!r}}})"
            faults.append(FilterFault(name, f"{message}; load it as a number or a time", fix))
        elif not values[name]:
            names: Collection[str] = await read_names(client, index)
            if name not in names:
                message = f"no record of {index} has `{name}`{did_you_mean(name, names)}"
                faults.append(FilterFault(name, message))
    return faults


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)

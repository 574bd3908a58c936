"""Access control of the logs: which log entries, and which parts of them, a key may read.

A key with the right `logs` cannot read more in the logs than it could read by its requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from svc_notebook.api import Endpoint
from svc_notebook.service.http.auth import Caller
from svc_notebook.service.http.restrictions import GEO_PARAMETERS
from svc_notebook.service.indices.registry import IndexRegistry
from svc_notebook.service.indices.replica_setting import read_links
from svc_notebook.service.logs import Logged
from svc_notebook.service.rules.filters import FILTERS
from svc_notebook.service.search.visible_attributes import hidden_attributes

# An entry that names more indices is readable only by keys of all indices.
MAX_NAMED_INDICES = 100
NO_INDEX = ""
# Embedded parameters that hide records or attributes from a key.
RECORD_RESTRICTIONS = {*FILTERS, *GEO_PARAMETERS, "attributesToRetrieve"}


def may_name_others(endpoint: Endpoint) -> bool:
    """Return whether a request may name more indices than the one of its path."""
    return "*" in endpoint.path or endpoint.name in (
        "operate_index",
        "set_settings",
        "get_settings",
    )


def named_indices(endpoint: Endpoint, given: Mapping[str, Any], answer: Any) -> list[str]:
    """Return the indices that a request and its response name besides the one of the path."""
    if not may_name_others(endpoint):
        return []
    requests = given.get("requests") or () if "*" in endpoint.path else ()
    names = {one.get("indexName") or one.get("index_name") or NO_INDEX for one in requests}
    answer = answer if isinstance(answer, dict) else {}
    for settings in (given.get("settings") or {}, answer):
        names |= {link.name for link in read_links(settings.get("replicas") or ())}
    names |= {answer["primary"]} if "primary" in answer else set()
    names |= {given["destination"]} if "destination" in given else set()
    return sorted(names) if len(names) <= MAX_NAMED_INDICES else [NO_INDEX]


def unretrievable_attributes(catalog: IndexRegistry, indices: Iterable[str]) -> set[str]:
    """Return the attributes that indices hide from ordinary keys."""
    published_indices = [published for index in indices if (published := catalog.get(index))]
    return {
        name
        for one in published_indices
        for name in one.settings.get("unretrievableAttributes", ())
    }


def shows_hidden(caller: Caller, catalog: IndexRegistry, indices: Iterable[str]) -> bool:
    """Return whether a response to the caller contains attributes that an index hides."""
    published_indices = [published for index in indices if (published := catalog.get(index))]
    return any(
        one.settings.get("unretrievableAttributes") and not hidden_attributes(caller, one)
        for one in published_indices
    )


def may_read_content(caller: Caller, catalog: IndexRegistry, logged: Logged) -> bool:
    """Return whether a caller may read all attributes and records in an entry."""
    return caller.admin or all(_may_read(caller, catalog, logged, i) for i in logged.indices)


def _may_read(caller: Caller, catalog: IndexRegistry, logged: Logged, index: str) -> bool:
    if RECORD_RESTRICTIONS & caller.restrict({}, index).keys():
        return False
    if caller.may("seeUnretrievableAttributes", index):
        return True
    now, before = unretrievable_attributes(catalog, [index]), set(logged.hidden)
    return not (now | before) if logged.shows_hidden else now <= before

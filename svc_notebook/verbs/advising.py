"""What a verb that failed, or found nothing, may have been meant to say."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from svc_notebook.api.attributes import filtered_attributes
from svc_notebook.api.warning import warn_user
from svc_notebook.errors import CallFailed, NotFound, did_you_mean
from svc_notebook.verbs.binding import Call
from svc_notebook.verbs.table import VERBS

if TYPE_CHECKING:
    from svc_notebook.client import AsyncClient, Client

FILTERS = ("filters", "facetFilters", "optionalFilters")
_MODIFIER = re.compile(r"\w+\((.*)\)$")
TAGS = "_tags"


def advise(call: Call, error: CallFailed, client: AsyncClient | Client | None) -> None:
    """Add to an error what may have been meant."""
    if isinstance(error, NotFound):
        advice = _member_meant(call) or _index_meant(call, client)
    else:
        advice = _facet_meant(call, client)
    if advice:
        error.add_note(advice)


def warn_of_no_facets(call: Call, value: Any, client: AsyncClient | Client | None) -> None:
    """Say which attributes are no facets, where nothing was found by them."""
    named = list(dict.fromkeys(_attributes_of(call)))
    if not named or not _found_nothing(value):
        return
    facets = _facets_of(call, client)
    lost = [name for name in named if name not in facets] if facets is not None else []
    if lost:
        warn_user(_no_facet(lost[0], call, facets or ()))


def _found_nothing(value: Any) -> bool:
    """Whether a value is a table without a hit; what makes tables is imported for a table alone."""
    if not hasattr(value, "columns"):
        return False
    from svc_notebook.frames.origin import hits_of

    return hits_of(value).empty


def _member_meant(call: Call) -> str:
    """Say which verb of the family may have been meant where an index is not there."""
    first = call.verb.placed("magic")[:1]
    word = call.arguments.get(first[0].parameter) if first else None
    members = {
        verb.name.partition(" ")[2]: verb.name
        for verb in VERBS
        if verb.name.startswith(f"{call.verb.name} ")
    }
    near = difflib.get_close_matches(word, members, 1) if isinstance(word, str) else []
    return f"did you mean `{members[near[0]]}`?" if near else ""


def _index_meant(call: Call, client: AsyncClient | Client | None) -> str:
    """Say which index may have been meant by one that is not there."""
    from svc_notebook.client import portal
    from svc_notebook.verbs.clients import asynchronous

    places = [o.parameter for o in call.verb.placed("magic") if o.completes == "index"]
    try:
        answer = portal.run(asynchronous(client).list_indices())
    except CallFailed:
        return ""
    known = [entry["name"] for entry in answer["items"]]
    given = [name for place in places if isinstance(name := call.arguments.get(place), str)]
    lost = [name for name in given if name not in known]
    if not lost:
        return ""
    listed = "`indices` lists those there are" if known else "there is none yet; `load` makes one"
    return did_you_mean(lost[0], known).removeprefix("; ") or listed


def _facet_meant(call: Call, client: AsyncClient | Client | None) -> str:
    facet = call.arguments.get("facet")
    facets = _facets_of(call, client) if isinstance(facet, str) else None
    return "" if facets is None or facet in facets else _no_facet(str(facet), call, facets)


def _no_facet(name: str, call: Call, facets: Iterable[str]) -> str:
    return (
        f"`{name}` is not among attributesForFaceting of {call.arguments['index']}"
        f"{did_you_mean(name, facets)}"
    )


def _attributes_of(call: Call) -> Iterator[str]:
    """The attributes that a search filters by or counts."""
    for name in FILTERS:
        yield from filtered_attributes(call.arguments.get(name))
    facets = call.arguments.get("facets") or ()
    yield from (name for name in ([facets] if isinstance(facets, str) else facets) if name != "*")


def _facets_of(call: Call, client: AsyncClient | Client | None) -> set[str] | None:
    """The facets of the index a verb speaks of; None where they cannot be told."""
    from svc_notebook.client import portal
    from svc_notebook.verbs.clients import asynchronous

    index = call.arguments.get("index")
    if not isinstance(index, str):
        return None
    try:
        settings = portal.run(asynchronous(client).get_settings(index))
    except CallFailed:
        return None
    listed = settings.get("attributesForFaceting") or ()
    return {TAGS, *(_bare(entry) for entry in listed)}


def _bare(entry: str) -> str:
    while found := _MODIFIER.fullmatch(entry):
        entry = found[1]
    return entry

"""Change specifications: settings, synonyms and rules as one document, validated or applied.

Rules whose filters no record matches are warned of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from itertools import chain
from typing import Any

from svc_notebook.core.api.attributes import attributes_in, filtered_attributes
from svc_notebook.core.api.body_forms import READ_ONLY_SETTINGS, rename_settings
from svc_notebook.core.api.parameters import Settings
from svc_notebook.core.api.validation import check_members
from svc_notebook.core.terminal import warn_user
from svc_notebook.data.client import (
    AsyncClient,
    ResourceKind,
    check_attributes,
    is_scratch,
    with_id,
)
from svc_notebook.data.declarations import public
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput, CallFailed, did_you_mean
from svc_notebook.tuning.changes import journalled_write
from svc_notebook.tuning.changes.request_part import split_change, write_code
from svc_notebook.tuning.changes.snapshots import tabulate_change
from svc_notebook.tuning.changes.state import (
    KINDS,
    SCOPES,
    Differences,
    Objects,
    Scope,
    by_id,
)

FILTERS = ("filters", "facetFilters", "optionalFilters")
SHOWN_RULES = 5
TAGS = "_tags"

# Settings to change; one synonym or rule, or several; or some of each by scope, where a list
# contains objects to save, and a mapping can also delete objects, with None.
Proposal = Mapping[str, Any] | Iterable[Mapping[str, Any]]


@public()
async def apply(
    index: str, change: Proposal, *, note: str = "", client: AnyClient | None = None
) -> Differences:
    """Change settings, synonyms or rules of an index.

    Everything else stays. If one part is refused, nothing is changed. `undo` reverts the
    change. Attributes that no record of a sample has cause an `UnknownAttributeWarning`.
    The part `request` of a change belongs to each search: it is returned as code, not saved.

    Parameters
    ----------
    change : dict or list of dict
        Settings by name; one synonym or rule, or several; or a dict of `settings`,
        `synonyms`, `rules` and `request`, in which None deletes a synonym or rule by its
        objectID.

    Returns
    -------
    DataFrame
        One row per changed name, as `diff` returns it; `attrs["svc"]["change_id"]` is the id
        for `undo`. `attrs["svc"]["request"]` contains the parameters that each search must
        have, and `attrs["svc"]["code"]` the same as Python code, if the change has any.

    Raises
    ------
    BadInput
        If the change is empty, or a part of it is wrong.
    TaskFailed

    Examples
    --------
    >>> svc.tuning.apply("products", {"hitsPerPage": 10}, note="shorter pages")
          scope         name kind before after
    0  settings  hitsPerPage  new     20    10
    """
    for_index, request = split_change(change)
    caller = asynchronous(client)
    if request and not any(for_index.values()):
        return add_request(tabulate_change(None), index, request)
    proposed = read_proposal(for_index)
    (await check_attributes(caller, index, proposed.get("settings", {}))).warn()
    await warn_of_rule_filters(caller, index, proposed)
    # A scratch copy is private, and has no journal.
    async with nullcontext() if is_scratch(index) else journalled_write.alone(caller, index):
        made = await journalled_write.write_change(caller, index, proposed, note=note)
    return add_request(tabulate_change(made), index, request)


def add_request(made: Differences, index: str, request: Mapping[str, Any]) -> Differences:
    """Add the part of a change that belongs to each search, as parameters and as code."""
    if request:
        facts = {"request": dict(request), "code": write_code(index, request)}
        made.attrs["svc"] = {**made.attrs.get("svc", {}), **facts}
    return made


def read_proposal(change: Proposal) -> dict[Scope, Objects]:
    """Read a change specification by scope and name; raise `BadInput` if it is invalid."""
    proposed = {scope: _read_part(scope, part) for scope, part in _split_scopes(change).items()}
    if not any(proposed.values()):
        raise BadInput("the change is empty: pass settings, synonyms or rules")
    return proposed


def _split_scopes(change: Proposal) -> dict[Scope, Any]:
    """Return the parts of a change specification by scope, as they are written."""
    if isinstance(change, Mapping):
        if change and change.keys() <= {*SCOPES}:
            return {scope: change[scope] for scope in SCOPES if scope in change}
        if "objectID" not in change:
            return {"settings": change}
    documents: dict[Scope, list[Any]] = {}
    for document in [change] if isinstance(change, Mapping) else change:
        documents.setdefault(_scope_of(document), []).append(document)
    return {scope: documents[scope] for scope in KINDS if scope in documents}


def _scope_of(document: Any) -> Scope:
    if not isinstance(document, Mapping):
        raise BadInput(f"a change must consist of objects, not {document!r}")
    return "rules" if "consequence" in document else "synonyms"


def _read_part(scope: Scope, given: Any) -> Objects:
    if scope == "settings":
        return _read_settings(given)
    if isinstance(given, Mapping) and "objectID" not in given:
        return {str(name): _named(scope, str(name), entry) for name, entry in given.items()}
    documents = [given] if isinstance(given, Mapping) else list(given)
    return by_id(
        _checked(scope, f"[{n}]", entry, KINDS[scope]) for n, entry in enumerate(documents)
    )


def _read_settings(given: Any) -> Objects:
    if not isinstance(given, Mapping):
        raise BadInput("settings must be a dict of names and values")
    named = rename_settings({str(name): value for name, value in given.items()})
    writable = {name: value for name, value in named.items() if name not in READ_ONLY_SETTINGS}
    return check_members(writable, Settings, "")


def _named(scope: Scope, name: str, document: Any) -> dict[str, Any] | None:
    return None if document is None else _checked(scope, f".{name}", {"objectID": name, **document})


def _checked(
    scope: Scope, where: str, document: Mapping[str, Any], kind: ResourceKind | None = None
) -> dict[str, Any]:
    """Check a synonym or rule; one without an objectID gets one if `kind` is given."""
    if not isinstance(document, Mapping):
        raise BadInput(f"{scope}{where} must be an object, not {document!r}")
    document = with_id(kind, document) if kind else document
    return check_members(document, KINDS[scope].shape, f"{scope}{where}")


async def warn_of_rule_filters(
    client: AsyncClient, index: str, proposed: Mapping[Scope, Objects]
) -> None:
    """Warn of rules that filter by attributes that are not in `attributesForFaceting`.

    No record matches such a filter. A key without the right to read settings gets no warning.
    """
    named = [*_name_filters(proposed.get("rules") or {})]
    if not named:
        return
    try:
        settings: Mapping[str, Any] = await client.get_settings(index)
    except CallFailed:
        return
    entries = {**settings, **proposed.get("settings", {})}.get("attributesForFaceting") or ()
    facets = {TAGS, *chain.from_iterable(map(attributes_in, entries))}
    warnings = [
        f"rule `{rule}` filters by `{name}`, which is not among attributesForFaceting of {index}, "
        f"so that no record matches it{did_you_mean(name, facets - {TAGS})}"
        for rule, name in named
        if name not in facets
    ]
    if len(warnings) > SHOWN_RULES:
        warnings[SHOWN_RULES:] = [f"and {len(warnings) - SHOWN_RULES} more"]
    if warnings:
        warn_user("; ".join(warnings))


def _name_filters(rules: Objects) -> Iterator[tuple[str, str]]:
    """Yield each rule with each attribute that its consequence filters by."""
    for name, rule in rules.items():
        params = ((rule or {}).get("consequence") or {}).get("params") or {}
        filters = [params.get(member) for member in FILTERS]
        for attribute in dict.fromkeys(filtered_attributes([entry for entry in filters if entry])):
            yield name, attribute

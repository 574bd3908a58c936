"""Call any endpoint by its name and return the unchanged response."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from svc_notebook.core.api import ENDPOINTS, Endpoint
from svc_notebook.core.api.values import OneOrMany, list_texts
from svc_notebook.data.declarations import BodyDocument, public, verb
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.faces.functions.text_values import read_word

ROWS = {row.name: row for row in ENDPOINTS}


_WRITES = frozenset(row.name for row in ENDPOINTS if not row.reads)


def only_reads(given: Mapping[str, Any]) -> bool:
    """Return whether a call reaches an endpoint that changes nothing."""
    return given.get("endpoint") not in _WRITES


@public(
    verb(
        "call",
        "call get_object index=products object_id=17",
        "call search_users query=smith hitsPerPage=5",
        completes={"endpoint": "endpoint"},
        variable="body",
        body="arguments",
        document=BodyDocument("body", dict, many=False),
        destructive="call {endpoint}",
        spares=only_reads,
    ),
    replaces={
        name: f'call("{name}")' for name in ("get_analytics_status", "get_top_filters_no_results")
    },
)
async def call(
    endpoint: str,
    arguments: Mapping[str, Any] | OneOrMany | None = None,
    *,
    body: Mapping[str, Any] | None = None,
    client: AnyClient | None = None,
) -> Any:
    """Call an endpoint of the API and return its response unchanged.

    The call does not wait for the task of a write: pass the response to `wait`.

    Parameters
    ----------
    endpoint : str
        Name of the endpoint.
    arguments : dict, str or list of str, default None
        Arguments by name, or strings `name=value`.
    body : dict, default None
        More arguments by name.

    Returns
    -------
    dict or list
        The decoded response.

    Raises
    ------
    BadInput
        If the endpoint does not exist, or an argument is unknown, repeated or of a wrong
        type.

    Examples
    --------
    >>> svc.call("get_settings", {"index": "products"})["hitsPerPage"]
    20
    >>> svc.call("search", ["index=products", "query=desk lamp"])["nbHits"]
    10
    """
    row = _row(endpoint)
    given = _read(row, arguments or {})
    if twice := sorted(given.keys() & (body or {}).keys()):
        raise BadInput(f"`{twice[0]}` is given twice")
    aio = asynchronous(client)
    return await aio.perform(row, row.encode(**given, **(body or {})))


def _row(endpoint: str) -> Endpoint:
    if endpoint not in ROWS:
        advice = did_you_mean(endpoint, ROWS) or "; the methods of svc.current() are the endpoints"
        raise BadInput(f"`{endpoint}` is not an endpoint{advice}")
    return ROWS[endpoint]


def _read(row: Endpoint, arguments: Mapping[str, Any] | OneOrMany) -> dict[str, Any]:
    if isinstance(arguments, Mapping):
        return dict(arguments)
    given: dict[str, Any] = {}
    for word in list_texts(arguments, "arguments"):
        name, equals, text = word.partition("=")
        kinds = _kinds(row)
        if not equals or name not in kinds:
            names = [p for p in row.signature.parameters if p != "params"]
            listed = ", ".join([*names, *(["…"] if row.members else [])]) or "nothing"
            advice = did_you_mean(name, kinds)
            raise BadInput(
                f"unexpected argument `{word}`{advice}; `{row.name}` takes {listed}, as name=value"
            )
        given[name] = read_word(text, kinds[name], name)
    return given


def _kinds(row: Endpoint) -> dict[str, Any]:
    declared = [
        name
        for name, parameter in row.signature.parameters.items()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    return {**row.members, **{name: row.types[name] for name in declared}}

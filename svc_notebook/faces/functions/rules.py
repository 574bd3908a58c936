"""Read, save, replace, delete and export the rules of an index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Unpack

from pandas import DataFrame

from svc_notebook.data import frames
from svc_notebook.data.client import RULES, own_members
from svc_notebook.data.declarations import public, verb
from svc_notebook.data.frames import Backend
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.faces.functions import curation
from svc_notebook.faces.functions.curation import Forward, WriteSummary
from svc_notebook.faces.functions.documents import Documents


@public(
    verb("rules get", "rules get products sale", completes={"id": "rule"}), endpoints=("get_rule",)
)
async def get_rule(index: str, id: str, *, client: AnyClient | None = None) -> dict[str, Any]:  # noqa: A002
    """Read one rule.

    Parameters
    ----------
    id : str
        objectID of the rule.

    Returns
    -------
    dict
        The rule as it was saved.

    Raises
    ------
    NotFound
        If the index or the rule does not exist.

    Examples
    --------
    >>> svc.get_rule("products", "lamps-on-sale")["conditions"]
    [{'pattern': 'lamp', 'anchoring': 'contains', 'context': 'sale'}]
    """
    return own_members(await asynchronous(client).get_rule(index, id))


@curation.RULES.saves(
    "rules save products rules.csv",
    imports="rules import products rules.csv",
    endpoints=("save_rules",),
    replaces={"save_rule": "save_rules"},
)
async def save_rules(
    index: str,
    rules: Documents,
    *,
    client: AnyClient | None = None,
    extra: Mapping[str, Any] | None = None,
    **replicas: Unpack[Forward],
) -> WriteSummary:
    """Add rules to an index, or replace those with the same objectID.

    Examples
    --------
    >>> rule = {
    ...     "objectID": "free-shipping",
    ...     "conditions": [{"pattern": "shipping", "anchoring": "is"}],
    ...     "consequence": {"userData": {"redirect": "/shipping"}},
    ... }
    >>> svc.save_rules("products", rule)["after"]
    2
    """
    return await curation.save(asynchronous(client), RULES, index, rules, replicas, extra)


@curation.RULES.replaces("rules replace products rules.csv --yes", endpoints=("save_rules",))
async def replace_rules(
    index: str,
    rules: Documents,
    *,
    client: AnyClient | None = None,
    extra: Mapping[str, Any] | None = None,
    **replicas: Unpack[Forward],
) -> WriteSummary:
    """Replace all rules of an index at once.

    Examples
    --------
    >>> rule = {
    ...     "conditions": [{"pattern": "cheap", "anchoring": "startsWith"}],
    ...     "consequence": {"params": {"filters": "price < 20"}},
    ... }
    >>> svc.replace_rules("products", rule)["after"]
    1
    """
    return await curation.replace(asynchronous(client), RULES, index, rules, replicas, extra)


@curation.RULES.deletes("rules delete products sale", completes="rule", endpoints=("delete_rule",))
async def delete_rules(
    index: str,
    ids: Iterable[Any],
    *,
    client: AnyClient | None = None,
    **replicas: Unpack[Forward],
) -> WriteSummary:
    """Delete rules of an index.

    Nothing is deleted if one of them does not exist; a key that may not read rules deletes
    without that check.

    Examples
    --------
    >>> svc.delete_rules("products", "lamps-on-sale")
    {'index': 'products', 'before': 1, 'after': 0}
    """
    return await curation.delete(asynchronous(client), RULES, index, ids, replicas)


@curation.RULES.clears("rules clear products --yes", endpoints=("clear_rules",))
async def clear_rules(
    index: str, *, client: AnyClient | None = None, **replicas: Unpack[Forward]
) -> WriteSummary:
    """Delete all rules of an index.

    Raises
    ------
    NotFound
    TaskFailed

    Examples
    --------
    >>> svc.clear_rules("products")["after"]
    0
    """
    return await curation.clear(asynchronous(client), RULES, index, replicas)


@curation.RULES.exports("rules export products rules.csv", endpoints=("search_rules",))
async def export_rules(
    index: str, path: str | Path, *, client: AnyClient | None = None
) -> WriteSummary:
    """Write the rules of an index to a file.

    Raises
    ------
    BadInput
        If the suffix is not supported or the file cannot be written.
    NotFound

    Examples
    --------
    >>> svc.export_rules("products", "rules.json")
    {'index': 'products', 'path': 'rules.json', 'written': 1}
    """
    return await curation.export(asynchronous(client), RULES, index, path)


@public(
    verb("rules", "rules products", "rules products sale --enabled"), endpoints=("search_rules",)
)
async def read_rules(
    index: str,
    query: str = "",
    *,
    context: str | None = None,
    enabled: bool | None = None,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read the rules of an index, or those that match a query.

    Parameters
    ----------
    query : str, default ""
        Words or word prefixes that a rule contains; "" matches every rule.
    context : str, default None
        Context that a rule must name; None does not restrict contexts.
    enabled : bool, default None
        Return only enabled (true) or only disabled (false) rules; None returns both.

    Returns
    -------
    DataFrame
        One row per rule: `objectID` and `description` (str), `enabled` (bool), `conditions`,
        `consequence`, `validity` and `tags` (object, the JSON value or None) and `scope` (str).

    Raises
    ------
    NotFound

    Examples
    --------
    >>> svc.read_rules("products")[["objectID", "enabled"]]
            objectID  enabled
    0  lamps-on-sale     True
    """
    return await frames.read_rules(
        asynchronous(client), index, query,
        context=context, enabled=enabled, dtype_backend=dtype_backend,
    )  # fmt: skip

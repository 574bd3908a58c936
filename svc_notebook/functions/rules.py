"""Read, save, replace, delete and export the rules of an index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Unpack

from pandas import DataFrame

from svc_notebook import frames
from svc_notebook.api.shapes import Rule
from svc_notebook.client.curation import RULES, own_members
from svc_notebook.declarations.declaration import BodyDocument, public, verb
from svc_notebook.frames.columns import Backend
from svc_notebook.functions import curated_lists
from svc_notebook.functions.curated_lists import Done, Forward
from svc_notebook.functions.documents import Documents
from svc_notebook.session.connection import AnyClient, asynchronous


@public(
    verb("rules get", "rules get products sale", completes={"id": "rule"}), endpoints=("get_rule",)
)
async def get_rule(index: str, id: str, *, client: AnyClient | None = None) -> dict[str, Any]:  # noqa: A002
    """Read one rule.

    Parameters
    ----------
    index : str
        Name of the index.
    id : str
        objectID of the rule.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    dict
        The rule as it was saved.

    Raises
    ------
    NotFound
        If the index or the rule does not exist.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> svc.get_rule("products", "lamps-on-sale")["conditions"]
    [{'pattern': 'lamp', 'anchoring': 'contains', 'context': 'sale'}]
    """
    return own_members(await asynchronous(client).get_rule(index, id))


@public(
    verb(
        "rules save",
        "rules save products rules.csv",
        variable="rules",
        document=BodyDocument("rules", Rule),
    ),
    verb(
        "rules import",
        "rules import products rules.csv",
        summary="Save the rules of a file",
        names={"rules": "file"},
        completes={"rules": "path"},
    ),
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
) -> Done:
    """Add rules to an index, or replace those with the same objectID.

    Parameters
    ----------
    index : str
        Name of the index.
    rules : dict, list of dict, DataFrame or path
        Rules: one, several, the rows of a table, or a CSV, JSON or NDJSON file. One without
        an objectID gets an id that is derived from its content.
    client : Client or AsyncClient, default the current client
        Client to use.
    extra : dict, default None
        Members to add to each object without validation; objects are merged at every depth.

    Returns
    -------
    dict
        `index`, `saved`, `made` (list of the derived objectIDs, if any), and the number of
        rules `before` and `after` (None if the key may not read them); `status` if the key may
        not read tasks.

    Raises
    ------
    BadInput
        If a rule has a wrong or unknown member.
    CallFailed
        If the service cannot be reached or refuses the call.
    TaskFailed
        If the service accepts the write but does not publish it within 600 seconds.

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
    return await curated_lists.save(asynchronous(client), RULES, index, rules, replicas, extra)


@public(
    verb(
        "rules replace",
        "rules replace products rules.csv --yes",
        variable="rules",
        document=BodyDocument("rules", Rule),
        destructive="replace all rules of {index}",
    ),
    endpoints=("save_rules",),
)
async def replace_rules(
    index: str,
    rules: Documents,
    *,
    client: AnyClient | None = None,
    extra: Mapping[str, Any] | None = None,
    **replicas: Unpack[Forward],
) -> Done:
    """Replace all rules of an index at once.

    Parameters
    ----------
    index : str
        Name of the index.
    rules : dict, list of dict, DataFrame or path
        New rules: one, several, the rows of a table, or a CSV, JSON or NDJSON file. One
        without an objectID gets an id that is derived from its content.
    client : Client or AsyncClient, default the current client
        Client to use.
    extra : dict, default None
        Members to add to each object without validation; objects are merged at every depth.

    Returns
    -------
    dict
        `index`, `saved`, `made` (list of the derived objectIDs, if any), and the number of
        rules `before` and `after` (None if the key may not read them); `status` if the key may
        not read tasks.

    Raises
    ------
    BadInput
        If the rules are empty, or one has a wrong or unknown member.
    CallFailed
        If the service cannot be reached or refuses the call.
    TaskFailed
        If the service accepts the write but does not publish it within 600 seconds.

    Examples
    --------
    >>> rule = {
    ...     "conditions": [{"pattern": "cheap", "anchoring": "startsWith"}],
    ...     "consequence": {"params": {"filters": "price < 20"}},
    ... }
    >>> svc.replace_rules("products", rule)["after"]
    1
    """
    return await curated_lists.replace(asynchronous(client), RULES, index, rules, replicas, extra)


@public(
    verb(
        "rules delete",
        "rules delete products sale",
        completes={"ids": "rule"},
        destructive="delete rules of {index}",
    ),
    endpoints=("delete_rule",),
)
async def delete_rules(
    index: str,
    ids: Iterable[Any],
    *,
    client: AnyClient | None = None,
    **replicas: Unpack[Forward],
) -> Done:
    """Delete rules of an index.

    Nothing is deleted if one of them does not exist; a key that may not read rules deletes
    without that check.

    Parameters
    ----------
    index : str
        Name of the index.
    ids : str or list of str
        objectIDs of the rules.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    dict
        `index`, and the number of rules `before` and `after` (None if the key may not read
        them); `status` if the key may not read tasks.

    Raises
    ------
    NotFound
        If the index or a rule does not exist.
    CallFailed
        If the service cannot be reached or refuses the call.
    TaskFailed
        If the service accepts the write but does not publish it within 600 seconds.

    Examples
    --------
    >>> svc.delete_rules("products", "lamps-on-sale")
    {'index': 'products', 'before': 1, 'after': 0}
    """
    return await curated_lists.delete(asynchronous(client), RULES, index, ids, replicas)


@public(
    verb("rules clear", "rules clear products --yes", destructive="delete all rules of {index}"),
    endpoints=("clear_rules",),
)
async def clear_rules(
    index: str, *, client: AnyClient | None = None, **replicas: Unpack[Forward]
) -> Done:
    """Delete all rules of an index.

    Parameters
    ----------
    index : str
        Name of the index.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    dict
        `index`, and the number of rules `before` and `after` (None if the key may not read
        them); `status` if the key may not read tasks.

    Raises
    ------
    NotFound
        If the index does not exist.
    CallFailed
        If the service cannot be reached or refuses the call.
    TaskFailed
        If the service accepts the write but does not publish it within 600 seconds.

    Examples
    --------
    >>> svc.clear_rules("products")["after"]
    0
    """
    return await curated_lists.clear(asynchronous(client), RULES, index, replicas)


@public(
    verb("rules export", "rules export products rules.csv", names={"path": "file"}),
    endpoints=("search_rules",),
)
async def export_rules(index: str, path: str | Path, *, client: AnyClient | None = None) -> Done:
    """Write the rules of an index to a file.

    Parameters
    ----------
    index : str
        Name of the index.
    path : path
        File to write; its suffix `.csv`, `.json` or `.ndjson` determines the format. An
        existing file is replaced.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    dict
        `index`, `path` and `written` (number of rules).

    Raises
    ------
    BadInput
        If the suffix is not supported or the file cannot be written.
    NotFound
        If the index does not exist.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> svc.export_rules("products", "rules.json")
    {'index': 'products', 'path': 'rules.json', 'written': 1}
    """
    return await curated_lists.export(asynchronous(client), RULES, index, path)


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
    index : str
        Name of the index.
    query : str, default ""
        Words or word prefixes that a rule contains; "" matches every rule.
    context : str, default None
        Context that a rule must name; None does not restrict contexts.
    enabled : bool, default None
        Return only enabled (True) or only disabled (False) rules; None returns both.
    client : Client or AsyncClient, default the current client
        Client to use.
    dtype_backend : {'numpy_nullable', 'pyarrow'}, default None
        Dtypes of the result, as in pandas; None selects the dtypes listed below.

    Returns
    -------
    DataFrame
        One row per rule: `objectID` and `description` (str), `enabled` (bool), `conditions`,
        `consequence`, `validity` and `tags` (object, the JSON value or None) and `scope` (str).

    Raises
    ------
    NotFound
        If the index does not exist.
    CallFailed
        If the service cannot be reached or refuses the call.

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

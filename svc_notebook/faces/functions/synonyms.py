"""Read, save, replace, delete and export the synonyms of an index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Unpack

from pandas import DataFrame

from svc_notebook.data import frames
from svc_notebook.data.client import SYNONYMS, own_members
from svc_notebook.data.declarations import public, verb
from svc_notebook.data.frames import Backend
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.faces.functions import curation
from svc_notebook.faces.functions.curation import Forward, WriteSummary
from svc_notebook.faces.functions.documents import Documents


@public(
    verb("synonyms get", "synonyms get products pair", completes={"id": "synonym"}),
    endpoints=("get_synonym",),
)
async def get_synonym(index: str, id: str, *, client: AnyClient | None = None) -> dict[str, Any]:  # noqa: A002
    """Read one synonym.

    Parameters
    ----------
    id : str
        objectID of the synonym.

    Returns
    -------
    dict
        The synonym as it was saved.

    Raises
    ------
    NotFound
        If the index or the synonym does not exist.

    Examples
    --------
    >>> svc.get_synonym("products", "cups")["synonyms"]
    ['mug', 'cup']
    """
    return own_members(await asynchronous(client).get_synonym(index, id))


@curation.SYNONYMS.saves(
    "synonyms save products synonyms.csv",
    "synonyms save products 'sofa, couch'",
    imports="synonyms import products synonyms.csv",
    endpoints=("save_synonyms",),
    replaces={"save_synonym": "save_synonyms"},
)
async def save_synonyms(
    index: str,
    synonyms: Documents,
    *,
    client: AnyClient | None = None,
    extra: Mapping[str, Any] | None = None,
    **replicas: Unpack[Forward],
) -> WriteSummary:
    """Add synonyms to an index, or replace those with the same objectID.

    Parameters
    ----------
    synonyms : dict, list of dict, DataFrame or path
        Synonyms: one, several, the rows of a table, or a CSV, JSON or NDJSON file; or words:
        `["sofa", "couch"]`, `"sofa, couch"`, or `"tv => television"` in one direction. One
        without an objectID gets an id that is derived from its content.

    Examples
    --------
    >>> sofas = {"objectID": "sofas", "type": "synonym", "synonyms": ["sofa", "couch"]}
    >>> svc.save_synonyms("products", sofas)
    {'index': 'products', 'saved': 1, 'before': 1, 'after': 2}
    """
    return await curation.save(asynchronous(client), SYNONYMS, index, synonyms, replicas, extra)


@curation.SYNONYMS.replaces(
    "synonyms replace products synonyms.csv --yes", endpoints=("save_synonyms",)
)
async def replace_synonyms(
    index: str,
    synonyms: Documents,
    *,
    client: AnyClient | None = None,
    extra: Mapping[str, Any] | None = None,
    **replicas: Unpack[Forward],
) -> WriteSummary:
    """Replace all synonyms of an index at once.

    Examples
    --------
    >>> sofas = {"objectID": "sofas", "type": "synonym", "synonyms": ["sofa", "couch"]}
    >>> svc.replace_synonyms("products", [sofas])["after"]
    1
    """
    return await curation.replace(asynchronous(client), SYNONYMS, index, synonyms, replicas, extra)


@curation.SYNONYMS.deletes(
    "synonyms delete products pair", completes="synonym", endpoints=("delete_synonym",)
)
async def delete_synonyms(
    index: str,
    ids: Iterable[Any],
    *,
    client: AnyClient | None = None,
    **replicas: Unpack[Forward],
) -> WriteSummary:
    """Delete synonyms of an index.

    Nothing is deleted if one of them does not exist; a key that may not read synonyms deletes
    without that check.

    Examples
    --------
    >>> svc.delete_synonyms("products", ["cups"])
    {'index': 'products', 'before': 1, 'after': 0}
    """
    return await curation.delete(asynchronous(client), SYNONYMS, index, ids, replicas)


@curation.SYNONYMS.clears("synonyms clear products --yes", endpoints=("clear_synonyms",))
async def clear_synonyms(
    index: str, *, client: AnyClient | None = None, **replicas: Unpack[Forward]
) -> WriteSummary:
    """Delete all synonyms of an index.

    Raises
    ------
    NotFound
    TaskFailed

    Examples
    --------
    >>> svc.clear_synonyms("products")["after"]
    0
    """
    return await curation.clear(asynchronous(client), SYNONYMS, index, replicas)


@curation.SYNONYMS.exports("synonyms export products synonyms.csv", endpoints=("search_synonyms",))
async def export_synonyms(
    index: str, path: str | Path, *, client: AnyClient | None = None
) -> WriteSummary:
    """Write the synonyms of an index to a file.

    Raises
    ------
    BadInput
        If the suffix is not supported or the file cannot be written.
    NotFound

    Examples
    --------
    >>> svc.export_synonyms("products", "synonyms.csv")
    {'index': 'products', 'path': 'synonyms.csv', 'written': 1}
    """
    return await curation.export(asynchronous(client), SYNONYMS, index, path)


@public(
    verb("synonyms", "synonyms products", "synonyms products lamp --type synonym,onewaysynonym"),
    endpoints=("search_synonyms",),
)
async def read_synonyms(
    index: str,
    query: str = "",
    *,
    type: str = "",  # noqa: A002
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read the synonyms of an index, or those that match a query.

    Parameters
    ----------
    query : str, default ""
        Words or word prefixes that a synonym contains; "" matches every synonym.
    type : str, default ""
        Type of synonym, or several separated by commas: `synonym`, `onewaysynonym`,
        `altcorrection1`, `altcorrection2`, `placeholder`; "" selects every type.

    Returns
    -------
    DataFrame
        One row per synonym: `objectID` and `type` (str), `synonyms` (object, a list or None),
        `input` and `word` (str), `corrections` (object, a list or None), `placeholder` (str)
        and `replacements` (object, a list or None). The type determines which columns have a
        value.

    Raises
    ------
    NotFound

    Examples
    --------
    >>> svc.read_synonyms("products")[["objectID", "type", "synonyms"]]
      objectID     type    synonyms
    0     cups  synonym  [mug, cup]
    """
    return await frames.read_synonyms(
        asynchronous(client), index, query, type=type, dtype_backend=dtype_backend
    )

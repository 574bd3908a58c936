"""Read, save and delete configurations of query suggestions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from pandas import DataFrame

from svc_notebook.core.api.shapes.suggestions import SuggestionFields, SuggestionSource
from svc_notebook.core.api.values import OneOrMany, list_texts
from svc_notebook.data import frames
from svc_notebook.data.declarations import public, verb
from svc_notebook.data.frames import Backend
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput, NotFound
from svc_notebook.faces.functions.curation import WriteSummary

Sources = str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]]


@public(
    verb("suggestions", "suggestions", lists=True),
    endpoints=("list_suggestions_configs", "get_suggestions_status", "get_suggestions_log"),
    replaces={"get_suggestions_config": "read_suggestions_configs"},
)
async def read_suggestions_configs(
    *, client: AnyClient | None = None, dtype_backend: Backend | None = None
) -> DataFrame:
    """Read the configurations of query suggestions, with the outcome of their last builds.

    Returns
    -------
    DataFrame
        One row per index of suggestions: `index` (str), `sources` (object, a list of dicts),
        `exclude` (object, a list), `languages` (object), `isRunning` (bool), `lastBuiltAt` and
        `lastSuccessfulBuiltAt` (datetime64[us, UTC], missing before the first build) and
        `message` (str, of the last build).

    Examples
    --------
    >>> svc.read_suggestions_configs()["index"].tolist()
    []
    """
    return await frames.read_suggestions_configs(asynchronous(client), dtype_backend=dtype_backend)


@public(
    verb(
        "suggestions save",
        "suggestions save products_suggestions products",
        types={"sources": str},
    ),
    endpoints=("create_suggestions_config", "update_suggestions_config"),
)
async def save_suggestions_config(
    index: str,
    sources: Sources,
    *,
    min_hits: int = 5,
    min_letters: int = 4,
    exclude: OneOrMany = (),
    languages: OneOrMany = (),
    special_characters: bool = False,
    client: AnyClient | None = None,
) -> WriteSummary:
    """Create or replace the configuration of an index of suggestions, and build it.

    The service builds the index in the background, and again each day. Calling this function again
    builds it now.

    Parameters
    ----------
    index : str
        Name of the index of suggestions.
    sources : str, dict or list of them
        Names of the indices whose searches become suggestions, or sources with members such as
        `indexName`, `facets`, `generate`, `external` and `analyticsTags`.
    min_hits : int, default 5
        Minimum number of hits of a suggested query, in sources that do not set `minHits`.
    min_letters : int, default 4
        Minimum number of characters of a suggested query, in sources that do not set
        `minLetters`.
    exclude : str or list of str, default ()
        Words and regular expressions; queries with one of them are not suggested.
    languages : str or list of str, default ()
        Languages in which plurals are merged with singulars, such as `en`.
    special_characters : bool, default False
        Suggest queries with other characters than letters, digits and ``'&.-``.

    Returns
    -------
    dict
        `index` and `created` (bool, False if a configuration was replaced).

    Raises
    ------
    BadInput
        If there is no source, or a source is not valid.

    Examples
    --------
    >>> svc.save_suggestions_config("products_suggestions", "products", min_hits=1)["created"]
    True
    """
    listed = [sources] if isinstance(sources, str | Mapping) else [*sources]
    if not listed:
        raise BadInput("`sources` is empty; name at least one index")
    fields: SuggestionFields = {
        "sourceIndices": [_source(given, min_hits, min_letters) for given in listed],
        "exclude": list_texts(exclude, "exclude"),
        "languages": list_texts(languages, "languages") or False,
        "allowSpecialCharacters": special_characters,
    }
    sender = asynchronous(client)
    try:
        await sender.update_suggestions_config(index, **fields)
    except NotFound:
        await sender.create_suggestions_config(index, **fields)
        return {"index": index, "created": True}
    return {"index": index, "created": False}


def _source(given: str | Mapping[str, Any], min_hits: int, min_letters: int) -> SuggestionSource:
    members = {"indexName": given} if isinstance(given, str) else {**given}
    defaults = {"minHits": min_hits, "minLetters": min_letters}
    return cast("SuggestionSource", {**defaults, **members})


@public(
    verb(
        "suggestions delete",
        "suggestions delete products_suggestions --yes",
        destructive="delete the configuration of the suggestions {index}",
    ),
    endpoints=("delete_suggestions_config",),
)
async def delete_suggestions_config(index: str, *, client: AnyClient | None = None) -> WriteSummary:
    """Delete the configuration of an index of suggestions; the index stays as it is.

    Returns
    -------
    dict
        `index` and `deleted` (True).

    Raises
    ------
    NotFound
        If the index has no configuration.

    Examples
    --------
    >>> config = svc.save_suggestions_config("old_suggestions", "products")
    >>> svc.delete_suggestions_config("old_suggestions")["deleted"]
    True
    """
    await asynchronous(client).delete_suggestions_config(index)
    return {"index": index, "deleted": True}

"""Save, replace, delete and export an index's synonyms, and the same for its rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Unpack

from svc_notebook.client.curation import RULES, SYNONYMS, own_members
from svc_notebook.functions import curated_lists
from svc_notebook.functions.curated_lists import Done, Forward
from svc_notebook.functions.documents import Documents
from svc_notebook.session.connection import AnyClient, asynchronous


async def get_synonym(index: str, id: str, *, client: AnyClient | None = None) -> dict[str, Any]:  # noqa: A002
    """Read one synonym as it was saved."""
    return own_members(await asynchronous(client).get_synonym(index, id))


async def save_synonyms(
    index: str,
    synonyms: Documents,
    *,
    client: AnyClient | None = None,
    extra: Mapping[str, Any] | None = None,
    **replicas: Unpack[Forward],
) -> Done:
    """Save synonyms: one, several, a DataFrame's or a file's; the others of the index stay.

    One without an `objectID` gets one, the same each time for the same synonym; `made` in the
    result names those that were made.
    `extra` are members that each is given, unchecked; objects are merged at every depth.
    """
    return await curated_lists.save(
        asynchronous(client), SYNONYMS, index, synonyms, replicas, extra
    )


async def replace_synonyms(
    index: str,
    synonyms: Documents,
    *,
    client: AnyClient | None = None,
    extra: Mapping[str, Any] | None = None,
    **replicas: Unpack[Forward],
) -> Done:
    """Put these synonyms in place of all the index has, at one moment.

    One without an `objectID` gets one, as in `save_synonyms`.
    `extra` are members that each is given, unchecked; objects are merged at every depth.
    """
    return await curated_lists.replace(
        asynchronous(client), SYNONYMS, index, synonyms, replicas, extra
    )


async def delete_synonyms(
    index: str,
    ids: Iterable[Any],
    *,
    client: AnyClient | None = None,
    **replicas: Unpack[Forward],
) -> Done:
    """Delete synonyms by their objectIDs."""
    return await curated_lists.delete(asynchronous(client), SYNONYMS, index, ids, replicas)


async def clear_synonyms(
    index: str, *, client: AnyClient | None = None, **replicas: Unpack[Forward]
) -> Done:
    """Delete all synonyms of an index."""
    return await curated_lists.clear(asynchronous(client), SYNONYMS, index, replicas)


async def export_synonyms(index: str, path: str | Path, *, client: AnyClient | None = None) -> Done:
    """Write an index's synonyms to a CSV, JSON or NDJSON file."""
    return await curated_lists.export(asynchronous(client), SYNONYMS, index, path)


async def get_rule(index: str, id: str, *, client: AnyClient | None = None) -> dict[str, Any]:  # noqa: A002
    """Read one rule as it was saved."""
    return own_members(await asynchronous(client).get_rule(index, id))


async def save_rules(
    index: str,
    rules: Documents,
    *,
    client: AnyClient | None = None,
    extra: Mapping[str, Any] | None = None,
    **replicas: Unpack[Forward],
) -> Done:
    """Save rules: one, several, a DataFrame's or a file's; the others of the index stay.

    One without an `objectID` gets one, the same each time for the same rule; `made` in the
    result names those that were made.
    `extra` are members that each is given, unchecked; objects are merged at every depth.
    """
    return await curated_lists.save(asynchronous(client), RULES, index, rules, replicas, extra)


async def replace_rules(
    index: str,
    rules: Documents,
    *,
    client: AnyClient | None = None,
    extra: Mapping[str, Any] | None = None,
    **replicas: Unpack[Forward],
) -> Done:
    """Put these rules in place of all the index has, at one moment.

    One without an `objectID` gets one, as in `save_rules`.
    `extra` are members that each is given, unchecked; objects are merged at every depth.
    """
    return await curated_lists.replace(asynchronous(client), RULES, index, rules, replicas, extra)


async def delete_rules(
    index: str,
    ids: Iterable[Any],
    *,
    client: AnyClient | None = None,
    **replicas: Unpack[Forward],
) -> Done:
    """Delete rules by their objectIDs."""
    return await curated_lists.delete(asynchronous(client), RULES, index, ids, replicas)


async def clear_rules(
    index: str, *, client: AnyClient | None = None, **replicas: Unpack[Forward]
) -> Done:
    """Delete all rules of an index."""
    return await curated_lists.clear(asynchronous(client), RULES, index, replicas)


async def export_rules(index: str, path: str | Path, *, client: AnyClient | None = None) -> Done:
    """Write an index's rules to a CSV, JSON or NDJSON file."""
    return await curated_lists.export(asynchronous(client), RULES, index, path)

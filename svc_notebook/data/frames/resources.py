"""Resources other than records, from synonyms to allowed sources, as DataFrames of fixed schemas.

Every page is read. A missing text is empty; lists and objects are kept as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_args

import pandas as pd

from svc_notebook.core.api.shapes import DictionaryName
from svc_notebook.core.api.shapes.ab_tests import ABTest
from svc_notebook.core.api.values import expiry_of
from svc_notebook.data.client.curation import HITS_PER_PAGE, in_existing_index
from svc_notebook.data.client.operations import every_entry
from svc_notebook.data.frames.columns import Backend, finished, typed
from svc_notebook.data.frames.provenance import remembered
from svc_notebook.data.frames.schemas import (
    AB_TESTS,
    CLUSTERS,
    DEFAULTS,
    DICTIONARY,
    KEYS,
    LANGUAGES,
    RULES,
    SOURCES,
    SUGGESTIONS,
    SYNONYMS,
    TOP_USERS,
    USERS,
    Schema,
)
from svc_notebook.errors import BadInput, NotFound, did_you_mean

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient

Rows = Iterable[Mapping[str, Any]]

SHOWN_KEY_CHARACTERS = 4  # leading characters of a masked key that identify it

TESTS_PER_PAGE = 100


@remembered
async def read_synonyms(
    client: AsyncClient,
    index: str,
    query: str = "",
    *,
    type: str = "",  # noqa: A002
    dtype_backend: Backend | None = None,
) -> pd.DataFrame:
    """Read an index's synonyms, or those that `query` finds; `type` can name several types."""
    fetch = in_existing_index(
        client,
        index,
        lambda page: client.search_synonyms(index, query, type, page, HITS_PER_PAGE),
    )
    hits = await every_entry(fetch, "hits")
    facts = {"index": index, "query": query or None, "type": type or None}
    return _listed(hits, SYNONYMS, facts, dtype_backend)


@remembered
async def read_rules(
    client: AsyncClient,
    index: str,
    query: str = "",
    *,
    context: str | None = None,
    enabled: bool | None = None,
    dtype_backend: Backend | None = None,
) -> pd.DataFrame:
    """Read an index's rules, or those that match `query`, `context` and `enabled`."""
    fetch = in_existing_index(
        client,
        index,
        lambda page: client.search_rules(
            index, query, context=context, page=page, hitsPerPage=HITS_PER_PAGE, enabled=enabled
        ),
    )
    hits = await every_entry(fetch, "hits")
    facts = {"index": index, "query": query or None, "context": context, "enabled": enabled}
    return _listed(map(_rule_row, hits), RULES, facts, dtype_backend)


def _rule_row(rule: Mapping[str, Any]) -> Mapping[str, Any]:
    """Convert a rule: it is enabled by default, and old rules have a single condition."""
    conditions = [rule["condition"]] if "condition" in rule else None
    return {"enabled": True, "conditions": conditions, **rule}


@remembered
async def read_keys(
    client: AsyncClient,
    index: str | None = None,
    *,
    reveal: bool = False,
    dtype_backend: Backend | None = None,
) -> pd.DataFrame:
    """Read the application's keys, or the keys of one index; `*` reads those of every index.

    Keys are masked to their first characters, because tables are often saved; `reveal` returns them
    whole.
    """
    if index is None:
        answer = await client.list_keys()
    elif index == "*":
        answer = await client.list_all_index_keys()
    else:
        answer = await client.list_index_keys(index)
    of_one = {} if index in (None, "*") else {"index": index}
    rows = [{**of_one, **_key_row(key, reveal)} for key in answer["keys"]]
    return _listed(rows, KEYS, {"index": index}, dtype_backend)


def _key_row(key: Mapping[str, Any], reveal: bool) -> Mapping[str, Any]:
    made = _time_text(key["createdAt"])
    expires = expiry_of(key.get("validity") or 0)
    value = key["value"] if reveal else f"{key['value'][:SHOWN_KEY_CHARACTERS]}..."
    return {**key, "createdAt": made, "expires": expires, "value": value}


def _time_text(seconds: int) -> str:
    """Convert a Unix time; one outside the calendar is missing."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (OverflowError, ValueError, OSError):
        return ""


@remembered
async def read_clusters(
    client: AsyncClient, *, dtype_backend: Backend | None = None
) -> pd.DataFrame:
    """Read the clusters and the number of records and users on each."""
    answer = await client.list_clusters()
    return _listed(answer["clusters"], CLUSTERS, {}, dtype_backend)


@remembered
async def read_users(
    client: AsyncClient,
    query: str = "",
    *,
    cluster: str | None = None,
    dtype_backend: Backend | None = None,
) -> pd.DataFrame:
    """Read the users and their clusters: all, or those that `query` finds, on `cluster`."""
    if query or cluster:
        users = await every_entry(
            lambda page: client.search_users(query, cluster, page, HITS_PER_PAGE), "hits"
        )
    else:
        users = await every_entry(
            lambda page: client.list_users(page=page, hitsPerPage=HITS_PER_PAGE), "userIDs"
        )
    facts = {"query": query or None, "cluster": cluster}
    return _listed(users, USERS, facts, dtype_backend)


@remembered
async def read_top_users(
    client: AsyncClient, *, dtype_backend: Backend | None = None
) -> pd.DataFrame:
    """Read each cluster's users with the most records; `rank` counts from 1 in each cluster."""
    answer = await client.top_users()
    rows = [
        {"clusterName": name, **user, "rank": rank}
        for clusters in answer["topUsers"]
        for name, users in clusters.items()
        for rank, user in enumerate(users, 1)
    ]
    return _listed(rows, TOP_USERS, {}, dtype_backend)


@remembered
async def read_sources(
    client: AsyncClient, *, dtype_backend: Backend | None = None
) -> pd.DataFrame:
    """Read the networks from which requests are allowed; an empty table allows all networks."""
    return _listed(await client.list_sources(), SOURCES, {}, dtype_backend)


@remembered
async def read_dictionary(
    client: AsyncClient,
    dictionary: DictionaryName,
    query: str = "",
    *,
    language: str | None = None,
    dtype_backend: Backend | None = None,
) -> pd.DataFrame:
    """Read the entries of `stopwords`, `plurals` or `compounds`, standard entries included."""
    if dictionary not in get_args(DictionaryName):
        names = get_args(DictionaryName)
        advice = did_you_mean(dictionary, names)
        raise BadInput(
            f"`dictionary` must be one of {', '.join(names)}, not {dictionary!r}{advice}"
        )
    hits = await every_entry(
        lambda page: client.search_dictionary(dictionary, query, page, HITS_PER_PAGE, language),
        "hits",
    )
    facts = {"dictionary": dictionary, "query": query or None, "language": language}
    return _listed(hits, DICTIONARY, facts, dtype_backend)


@remembered
async def read_languages(
    client: AsyncClient, *, dtype_backend: Backend | None = None
) -> pd.DataFrame:
    """Read the number of custom entries that each language has in each dictionary."""
    answer = await client.list_languages()
    rows = [
        {
            "language": code,
            **{name: counts["nbCustomEntries"] for name, counts in of.items() if counts},
        }
        for code, of in sorted(answer.items())
    ]
    return _listed(rows, LANGUAGES, {}, dtype_backend)


def _listed(
    rows: Rows, schema: Schema, facts: Mapping[str, Any], backend: Backend | None
) -> pd.DataFrame:
    return finished(typed(rows, schema, DEFAULTS), facts, backend)


@remembered
async def read_ab_tests(
    client: AsyncClient, *, dtype_backend: Backend | None = None
) -> pd.DataFrame:
    """Read the A/B tests, newest first."""
    rows: list[dict[str, Any]] = []
    while True:
        page = await client.list_ab_tests(offset=len(rows), limit=TESTS_PER_PAGE)
        tests = page["abtests"] or []
        rows += map(_row, tests)
        if len(tests) < TESTS_PER_PAGE:
            return finished(typed(rows, AB_TESTS, DEFAULTS), {}, dtype_backend)


def _row(test: ABTest) -> dict[str, Any]:
    parts: list[Any] = [*test["variants"], {}, {}]
    control, variant = parts[:2]
    return {
        **test,
        "id": test["abTestID"],
        "index": control.get("index", ""),
        "variant": variant.get("index", ""),
        "parameters": variant.get("customSearchParameters"),
        "trafficPercentage": variant.get("trafficPercentage", 0),
        **{
            name: sum(part.get(name) or 0 for part in parts)
            for name in ("searchCount", "userCount")
        },
    }


@remembered
async def read_suggestions_configs(
    client: AsyncClient, *, dtype_backend: Backend | None = None
) -> pd.DataFrame:
    """Read the configurations of query suggestions, with the outcome of their last builds."""
    rows: list[dict[str, Any]] = []
    for config in await client.list_suggestions_configs():
        name = config["indexName"]
        status: Any = await client.get_suggestions_status(name)
        try:
            message = (await client.get_suggestions_log(name))["message"]
        except NotFound:  # it was not built yet
            message = ""
        sources = {"index": name, "sources": config["sourceIndices"], "message": message}
        rows.append({**config, **status, **sources})
    return finished(typed(rows, SUGGESTIONS, DEFAULTS), {}, dtype_backend)

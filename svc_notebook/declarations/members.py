"""Descriptions of the members of shapes that functions take as keywords."""

from __future__ import annotations

from typing import Any

from svc_notebook.api.parameters import PARAMETERS

KEY_MEMBERS = {
    "acl": "rights of the key, such as `search` or `addObject`",
    "description": "purpose of the key",
    "indexes": "only these indices; `*` at the start or the end matches anything",
    "maxHitsPerQuery": "maximum hits of one query",
    "maxQueriesPerIPPerHour": "maximum queries of one address in an hour",
    "queryParameters": "search parameters forced on every query, URL-encoded",
    "referers": "only from these pages; `*` at the start or the end matches anything",
    "validity": "seconds until the key ends",
    "validUntil": "Unix time at which the key ends",
    "restrictIndices": "only these indices",
    "restrictSources": "only from this network",
}
ROW_MEMBERS = {
    "id": "column of the objectIDs; by default found, or made from the row",
    "columns": "send only these columns",
    "dtype": "type by column: string, integer, number, boolean, date, timestamp, epoch, epoch_ms "
    "or json; as JSON in a line",
    "nulls": "what to do with missing values: omit the attribute, send null, or reject the row; "
    "a dict has one of these by column",
    "timezone": "time zone of times without one",
    "duplicates": "what to do with rows with the same id: reject all but the first, send the last, "
    "keep all in their order, or fail with an error",
    "action": "replace whole records, update the attributes of rows, update only those of existing "
    "records, or delete",
    "operations": "operation by column with an update: Increment, Decrement, Add, AddUnique, "
    "Remove, IncrementFrom or IncrementSet; as JSON in a line",
    "nest": "make objects of columns such as `a.b`",
    "limit": "send only this number of rows, the first ones",
    "record_bytes": "maximum size of a record, in bytes",
    "batch": "number of records in one batch",
    "batch_bytes": "maximum size of a batch, in bytes, up to 8,000,000",
    "separator": "character between the columns of a CSV; detected by default",
    "quote": "character around the values of a CSV; detected by default",
    "header": "whether the first line of a CSV names its columns; detected by default",
    "encoding": "encoding of the file; detected by default",
    "path": "the list of records inside a JSON document, for example `data.items`",
}
LOG_MEMBERS = {
    "offset": "number of the newest requests to skip",
    "length": "maximum number of requests, 10 by default, up to 1,000",
    "indexName": "only requests to this index",
    "type": "only requests of this type",
}
CONNECTION_MEMBERS = {
    "url": "address of a service",
    "app_id": "application id",
    "api_key": "API key; better omitted in a line, because the history keeps it: a prompt requests "
    "it",
    "vendor": "vendor whose header names are used",
    "domain": "the vendor's domain, from which host names are made",
    "fallback_domain": "domain of the hosts that are tried after those of `domain`",
    "hosts": "host names, in place of those made from `domain`",
    "region": "region of the hosts that receive events, such as us or de; all regions by default",
    "crawler_user_id": "user id for the crawler's API",
    "crawler_api_key": "key for the crawler's API",
    "connect_timeout": "seconds to wait for a connection, 2 by default",
    "read_timeout": "seconds to wait for the response of a read, 5 by default",
    "write_timeout": "seconds to wait for the response of a write, 30 by default",
}
OTHER_MEMBERS = {
    "forwardToReplicas": "make the same change in the replicas of the index",
    "client": "client to use, by default the current client",
    "progress": "draw a progress bar; None draws one in notebooks and terminals",
}
_OF_SHAPE = {"LogOptions": LOG_MEMBERS, "RowOptions": ROW_MEMBERS, "LoadOptions": ROW_MEMBERS}
_DESCRIPTIONS = KEY_MEMBERS | CONNECTION_MEMBERS | OTHER_MEMBERS


def describe_member(name: str, shape: Any = None) -> str:
    """Return the description of a member of a shape, empty if there is none."""
    own = _OF_SHAPE.get(getattr(shape, "__name__", ""), {})
    if name in own:
        return own[name]
    known = PARAMETERS.get(name)
    return known.meaning if known else _DESCRIPTIONS.get(name, "")

"""Descriptions of the members of shapes that functions take as keywords."""

from __future__ import annotations

from typing import Any

from svc_notebook.core.api.parameters import PARAMETERS

KEY_MEMBERS = {
    "acl": "rights of the key, such as `search` or `addObject`",
    "description": "purpose of the key",
    "indexes": "only these indices; `*` at the start or the end matches anything",
    "maxHitsPerQuery": "maximum number of hits of one query",
    "maxQueriesPerIPPerHour": "maximum queries per IP address and hour",
    "queryParameters": "search parameters forced on every query, URL-encoded",
    "referers": "only requests from these referers; `*` at the start or the end matches anything",
    "validity": "seconds until the key expires, or a duration such as `24h` or `7d`",
    "validUntil": "Unix time at which the key expires",
    "restrictIndices": "only these indices",
    "restrictSources": "only requests from this network",
}
ROW_MEMBERS = {
    "id": "column of the objectIDs, several columns whose values are joined by `-`, or a template "
    "such as `{brand}-{sku}`; by default detected, or derived from the content of the row",
    "columns": "send only these columns",
    "rename": "new names of columns, which all other options use; in a command line, as old=new "
    "or as JSON",
    "computed": "columns made of others, by templates such as `{title} {size}`; in a command line, "
    "as name=TEMPLATE or as JSON",
    "dtype": "type by column: string, integer, number, boolean, date, timestamp, epoch, epoch_ms, "
    "json, list (texts such as `a|b`) or levels (`A > B` as lvl0, lvl1), also by the names of "
    "pandas and SQL; in a command line, as price=number or as JSON",
    "list_separator": "separator of the texts that `dtype` makes lists or levels; a dict sets it "
    "per column; detected by default",
    "geo": "columns of latitudes and longitudes, which are sent as `_geoloc`",
    "split": "column of long texts that become several records, with the maximum size of a part in "
    "characters; parts end with sentences if possible, and have ids such as `7#1`; in a command "
    "line, as text=2000 or as JSON",
    "distinct": "attribute that all parts of a text share, `document_id` by default; the setting "
    "`attributeForDistinct` shows one hit of them",
    "nulls": "what to do with missing values: omit the attribute, send null, or reject the row; "
    "a dict sets one of these per column",
    "timezone": "time zone of times that have none",
    "duplicates": "what to do with rows that have the same objectID: reject all but the first, "
    "send the last, keep all in their order, or fail with an error",
    "action": "replace whole records, update the attributes of rows, update only those of existing "
    "records, or delete",
    "operations": "operation by column with an update: Increment, Decrement, Add, AddUnique, "
    "Remove, IncrementFrom or IncrementSet; in a command line, as stock=Increment or as JSON",
    "nest": "build nested objects from columns such as `a.b`",
    "replace_records": "whether rows may delete attributes of existing records that they do not "
    "have; without it, such a load is refused",
    "limit": "maximum number of rows to send, from the first one",
    "record_bytes": "maximum size of a record, in bytes",
    "batch": "number of records in one batch",
    "batch_bytes": "maximum size of a batch, in bytes, up to 8,000,000",
    "separator": "character between the columns of a CSV; detected by default",
    "quote": "character around the values of a CSV; detected by default",
    "header": "whether the first line of a CSV names its columns; detected by default",
    "header_rows": "number of rows of the header of a CSV, whose names are joined; detected by "
    "default",
    "strict": "reject rows of a CSV with another number of cells than the header, or with "
    "misplaced quotes",
    "skip": "number of lines before the table of a CSV; detected by default",
    "comment": "character that begins lines of a CSV to skip; `#` is detected",
    "encoding": "encoding of the file; detected by default",
    "decimal": "separator of decimals in columns of text, `.` or `,`; detected by default",
    "thousands": "separator of thousands in columns of text: `.`, `,`, a blank or an apostrophe; "
    "detected by default",
    "dates": "order of day, month and year in columns of text with dates: dmy, mdy or ymd; the "
    "columns are sent as YYYY-MM-DD, otherwise as they are written",
    "path": "the records inside a JSON or XML file, for example `data.items`",
    "sheet": "the sheet of a workbook or table of a database; by default the first with rows",
}
LOG_MEMBERS = {
    "offset": "number of the newest requests to skip",
    "indexName": "only requests to this index",
    "type": "only requests of this type",
}
CONNECTION_MEMBERS = {
    "url": "address of a service",
    "app_id": "application id",
    "api_key": "API key; if omitted, a prompt requests it, and the history does not contain it",
    "vendor": "vendor whose header names are used",
    "domain": "the vendor's domain, from which host names are derived",
    "fallback_domain": "domain of the hosts that are tried after those of `domain`",
    "hosts": "host names, instead of those derived from `domain`",
    "region": "region of the hosts that receive events, such as us or de; all regions by default",
    "crawler_user_id": "user id for the crawler's API",
    "crawler_api_key": "key for the crawler's API",
    "allow_http": "permit that a key is sent without encryption to another computer",
    "connect_timeout": "seconds to wait for a connection, 2 by default",
    "read_timeout": "seconds to wait for the response of a read, 5 by default",
    "write_timeout": "seconds to wait for the response of a write, 30 by default",
}
OTHER_MEMBERS = {
    "forwardToReplicas": "apply the change to the replicas of the index too",
    "client": "client to use, by default the current client",
    "progress": "draw a progress bar; None draws one in notebooks and terminals",
}
_OF_SHAPE = {"LogOptions": LOG_MEMBERS, "RowOptions": ROW_MEMBERS}
_DESCRIPTIONS = KEY_MEMBERS | CONNECTION_MEMBERS | OTHER_MEMBERS


def describe_member(name: str, shape: Any = None) -> str:
    """Return the description of a member of a shape, empty if there is none."""
    members = _OF_SHAPE.get(getattr(shape, "__name__", ""), {})
    if name in members:
        return members[name]
    parameter = PARAMETERS.get(name)
    return parameter.meaning if parameter else _DESCRIPTIONS.get(name, "")

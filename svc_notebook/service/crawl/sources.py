"""Tables by address, whose rows extractors find under `dataSources` by the page's URL."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from svc_notebook.errors import BadInput
from svc_notebook.service.crawl.addresses import Spelling, normalize
from svc_notebook.service.crawl.configuration import Source
from svc_notebook.service.crawl.failure import Failure
from svc_notebook.service.crawl.fetcher import Fetcher

MOST_BYTES = 64 << 20
Row = dict[str, Any]


async def read_sources(fetcher: Fetcher) -> dict[str, dict[str, Row]]:
    """Fetch all tables: by name, then by URL; raises `BadInput` where one cannot be read."""
    spelling = fetcher.configuration.spelling
    return {
        source.name: await _read_source(fetcher, source, spelling)
        for source in fetcher.configuration.sources
    }


def rows_of(tables: Mapping[str, Mapping[str, Row]], url: str) -> dict[str, Row]:
    """Return what the tables hold of a page; a table without it gives an empty row."""
    return {name: rows.get(url, {}) for name, rows in tables.items()}


async def _read_source(fetcher: Fetcher, source: Source, spelling: Spelling) -> dict[str, Row]:
    try:
        answer = await fetcher.follow(source.url, limit=MOST_BYTES)
    except Failure as failure:
        raise BadInput(f"externalData `{source.name}`: {failure.readable}") from failure
    if answer.status != 200:
        raise BadInput(
            f"externalData `{source.name}`: {source.url} answers with status {answer.status}"
        )
    rows = _READERS[source.kind](answer.body, source)
    return {
        spelling.seed(url): {name: value for name, value in row.items() if name != "url"}
        for row in rows
        if (url := normalize(str(row["url"])))
    }


def _read_csv(body: bytes, source: Source) -> Iterable[Row]:
    text = body.decode("utf-8-sig", "replace").replace("\0", "")
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    try:
        rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
        if "url" not in (rows.fieldnames or ()):
            raise BadInput(f"externalData `{source.name}`: the table has no column `url`")
        return [{name: row[name] for name in row if name is not None} for row in rows]
    except csv.Error as error:
        raise BadInput(f"externalData `{source.name}` is no CSV: {error}") from None


def _read_json(body: bytes, source: Source) -> Iterable[Row]:
    """Read a list of objects with `url`, or one object whose members are URLs."""
    try:
        read = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise BadInput(f"externalData `{source.name}` is no JSON: {error}") from None
    if isinstance(read, dict):
        read = [{"url": url, **row} for url, row in read.items() if isinstance(row, dict)]
    if not isinstance(read, list) or not all(isinstance(r, dict) and "url" in r for r in read):
        raise BadInput(f"externalData `{source.name}`: give a list of objects that have `url`")
    return read


_READERS = {"csv": _read_csv, "json": _read_json}

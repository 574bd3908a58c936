"""External data: tables keyed by URL that extractors read as `dataSources` of the page."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from svc_notebook.errors import BadInput
from svc_notebook.service.crawl.configuration import ExternalTable
from svc_notebook.service.crawl.extraction.page import decode
from svc_notebook.service.crawl.transport.decompression import Body
from svc_notebook.service.crawl.transport.fetcher import Fetcher, FetchResponse
from svc_notebook.service.crawl.urls import UrlNormalizer, normalize
from svc_notebook.service.crawl.visits import FetchFailure

MAX_EXTERNAL_DATA_BYTES = 64 << 20
GZIP = b"\x1f\x8b"
Row = dict[str, Any]


async def read_sources(fetcher: Fetcher) -> dict[str, dict[str, Row]]:
    """Fetch all tables: by name, then by URL; raises `BadInput` if one cannot be read."""
    url_normalizer = fetcher.configuration.url_normalizer
    return {
        source.name: await _read_source(fetcher, source, url_normalizer)
        for source in fetcher.configuration.sources
    }


def rows_of(tables: Mapping[str, Mapping[str, Row]], url: str) -> dict[str, Row]:
    """Return the rows of a page by table name; tables without the page give an empty row."""
    return {name: rows.get(url, {}) for name, rows in tables.items()}


async def _read_source(
    fetcher: Fetcher, source: ExternalTable, url_normalizer: UrlNormalizer
) -> dict[str, Row]:
    try:
        response = await fetcher.follow(source.url, limit=MAX_EXTERNAL_DATA_BYTES)
    except FetchFailure as failure:
        raise BadInput(f"externalData `{source.name}`: {failure.readable}") from failure
    if response.status != 200:
        raise BadInput(
            f"externalData `{source.name}`: {source.url} answers with status {response.status}"
        )
    text = decode(_decompress(response.body, source), response.headers.get("content-type", ""))
    kind = source.kind or _kind_of(response)
    return {
        url_normalizer.normalize_seed(url): {
            name: value for name, value in row.items() if name != "url"
        }
        for row in _READERS[kind](text, source)
        if (url := normalize(str(row["url"])))
    }


def _decompress(body: bytes, source: ExternalTable) -> bytes:
    """Decompress a file that is stored compressed, such as `prices.csv.gz`."""
    if not body.startswith(GZIP):
        return body
    decompressed = Body("gzip", MAX_EXTERNAL_DATA_BYTES)
    try:
        decompressed.add(body)
        return decompressed.read()
    except FetchFailure as failure:
        raise BadInput(f"externalData `{source.name}`: {failure.readable}") from failure


def _kind_of(response: FetchResponse) -> str:
    """Return the format of a table whose URL does not imply it."""
    is_json = "json" in response.headers.get("content-type", "").lower()
    return "json" if is_json or response.body.lstrip()[:1] in (b"[", b"{") else "csv"


def _read_csv(text: str, source: ExternalTable) -> Iterable[Row]:
    text = text.replace("\0", "")
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    try:
        rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
        rows.fieldnames = _name_url(rows.fieldnames or ())
        if "url" not in rows.fieldnames:
            raise BadInput(f"externalData `{source.name}`: the table has no column `url`")
        return [{name: row[name] for name in row if name is not None} for row in rows]
    except csv.Error as error:
        raise BadInput(f"externalData `{source.name}` is not valid CSV: {error}") from None


def _name_url(names: Sequence[str]) -> list[str]:
    """Rename a column such as `URL` to `url`, unless there is a column `url`."""
    url_column = next((name for name in names if name.strip().lower() == "url"), None)
    return [*names] if "url" in names else ["url" if name == url_column else name for name in names]


def _read_json(text: str, source: ExternalTable) -> Iterable[Row]:
    """Parse a list of objects with `url`, one object per line, or one object with URLs as keys."""
    try:
        read = _decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadInput(f"externalData `{source.name}` is not valid JSON: {error}") from None
    if isinstance(read, dict):
        members = [{"url": url, **row} for url, row in read.items() if isinstance(row, dict)]
        read = [read] if isinstance(read.get("url"), str) else members
    if not isinstance(read, list) or not all(isinstance(r, dict) and "url" in r for r in read):
        raise BadInput(f"externalData `{source.name}`: give a list of objects that have `url`")
    return read


def _decode(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        if len(text.splitlines()) < 2:
            raise
        return msgspec.json.Decoder().decode_lines(text)


_READERS = {"csv": _read_csv, "json": _read_json}

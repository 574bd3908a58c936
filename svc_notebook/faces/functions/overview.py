"""The overview of a service: what a person who operates it looks at in the morning."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html import escape
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd
from pandas import DataFrame, Timestamp, to_datetime

from svc_notebook.core.display import Html, format_size, shorten, write_list, write_table
from svc_notebook.core.files import add_checksum, user_state_folder, verify_checksum
from svc_notebook.data import frames
from svc_notebook.data.client import AsyncClient
from svc_notebook.data.declarations import public, verb
from svc_notebook.data.frames import TIME
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput, KeyRefused, NotFound, SvcError
from svc_notebook.tuning.tables import no_results

# The history of index sizes and pending tasks: measurements of this machine, one line each.
SIZES = {"at": TIME, "index": "str", "entries": "int64", "dataSize": "int64", "pending": "int64"}
MAX_MEASUREMENTS = 1000
MAX_LOG_ENTRIES = 1000
MAX_ZERO_RESULTS = 20
ANALYTICS_DAYS, MAX_ANALYTICS_INDICES = 7, 20
LOG_HOURS = 24
EXPIRY_DAYS = 7
EVENT_DAYS = 7
API_KEY = re.compile(r"^[\w-]*-api-key:\s*(\S+)", re.IGNORECASE | re.MULTILINE)

INDICES = {"index": "str", "entries": "int64", "dataSize": "int64", "updatedAt": TIME,
           "pending": "int64"}  # fmt: skip
ERRORS = {"status": "int64", "method": "str", "index": "str", "count": "int64", "last": TIME,
          "url": "str"}  # fmt: skip
KEYS = {"key": "str", "description": "str", "expires": TIME}
CRAWLERS = {"crawler": "str", "problem": "str", "last": TIME}
ZERO_RESULTS = {"index": "str", "query": "str", "filters": "str", "count": "int64"}
EVENTS = {"day": TIME, "type": "str", "count": "int64"}
KEY_USE = {"key": "str", "count": "int64", "errors": "int64", "last": TIME}


@dataclass(frozen=True, repr=False)
class Overview:
    """The state of a service at one time; displayed as static HTML in notebooks.

    Attributes
    ----------
    at : Timestamp
        Time at which it was read (UTC).
    service : str
        Application and address of the service.
    indices : DataFrame
        One row per index, the last one written first: `index` (str), `entries` (int64),
        `dataSize` (int64, bytes), `updatedAt` (datetime64[us, UTC]) and `pending` (int64, tasks).
    errors : DataFrame
        One row per status, method and index of the failed requests of the last 24 hours, the most
        frequent first: `status` (int64), `method` and `index` (str), `count` (int64), `last`
        (datetime64[us, UTC]) and `url` (str, of the last one).
    keys : DataFrame
        One row per key that expires within 7 days, the first one first: `key` (str, masked),
        `description` (str) and `expires` (datetime64[us, UTC]).
    crawlers : DataFrame
        One row per crawler that is blocked or has warnings: `crawler` and `problem` (str), `last`
        (datetime64[us, UTC], end of its last crawl).
    zero_results : DataFrame
        One row per index and query without hits, the most frequent first, at most 20: `index`,
        `query` and `filters` (str), `count` (int64). They are the analytics of the last 7 days of
        the 20 indices written last, without filters; where those cannot be read, the newest 1,000
        logged searches, by filters.
    events : DataFrame
        One row per day and type of the last 7 days: `day` (datetime64[us, UTC]), `type` (str) and
        `count` (int64); of a local service only.
    key_use : DataFrame
        One row per key of the newest 1,000 logged requests, the most used first: `key` (str,
        masked), `count` and `errors` (int64) and `last` (datetime64[us, UTC]).
    sizes : DataFrame
        One row per overview on this machine and index, the oldest first: `at` (datetime64[us,
        UTC]), `index` (str), `entries`, `dataSize` and `pending` (int64).
    notes : tuple of str
        What could not be read, and why.

    Examples
    --------
    >>> overview = svc.overview()
    >>> overview.indices.loc[overview.indices["index"] == "products", "entries"].tolist()
    [240]
    """

    at: Timestamp
    service: str
    indices: DataFrame
    errors: DataFrame
    keys: DataFrame
    crawlers: DataFrame
    zero_results: DataFrame
    events: DataFrame
    key_use: DataFrame
    sizes: DataFrame
    notes: tuple[str, ...] = ()

    def to_frame(self) -> DataFrame:
        """Return the summary: one row per part, with `part` (str), `count` (int64) and `detail`."""
        rows = self._summary()
        columns = {"part": "str", "count": "int64", "detail": "str"}
        return DataFrame(rows, columns=list(columns)).astype(columns)

    def __repr__(self) -> str:
        width = max(len(part) for part, *_ in self._summary())
        lines = [f"{part:<{width}}  {count:>9,}  {detail}".rstrip()
                 for part, count, detail in self._summary()]  # fmt: skip
        notes = [f"note: {note}" for note in self.notes]
        return "\n".join([f"{self.service}, {self.at:%Y-%m-%d %H:%M} UTC", *lines, *notes])

    def _repr_html_(self) -> str:
        return write_page(self, self._summary())

    def _summary(self) -> list[tuple[str, int, str]]:
        """Return the number and the foremost entry of each part."""
        return [
            ("indices", len(self.indices),
             _first(self.indices, "last write: {index}, {updatedAt}")),
            ("records", int(self.indices["entries"].sum()), ""),
            ("pending tasks", int(self.indices["pending"].sum()), self._name_pending()),
            (f"errors in {LOG_HOURS} h", int(self.errors["count"].sum()),
             _first(self.errors, "{status} {method} {url}")),
            ("zero-result queries", len(self.zero_results),
             _first(self.zero_results, "{query} in {index}, {count} searches")),
            ("keys that expire", len(self.keys), _first(self.keys, "{key}, {expires}")),
            ("crawlers with problems", len(self.crawlers),
             _first(self.crawlers, "{crawler}: {problem}")),
        ]  # fmt: skip

    def _name_pending(self) -> str:
        waiting = self.indices[self.indices["pending"] > 0].sort_values("pending", ascending=False)
        return _first(waiting, "{index}")


def _first(frame: DataFrame, text: str) -> str:
    """Write the first row of a table; empty for a table without rows."""
    if frame.empty:
        return ""
    row = {name: f"{value:%Y-%m-%d %H:%M}" if isinstance(value, Timestamp) else value
           for name, value in frame.iloc[0].items()}  # fmt: skip
    return text.format_map({str(name): value for name, value in row.items()})


@public(
    verb("overview", "overview"),
    endpoints=(
        "list_indices",
        "get_logs",
        "list_keys",
        "list_crawlers",
        "get_crawler",
        "get_searches_no_results",
    ),
)
async def overview(*, client: AnyClient | None = None) -> Overview:
    """Read the state of a service: what changed, failed, expires, waits and is not found.

    What the key may not read, and what a service does not have, is in `notes`. The sizes of the
    indices are kept on this machine, so that later overviews show how they grew.

    Returns
    -------
    Overview
        DataFrames by part, a summary by `to_frame()`, and static HTML.

    Examples
    --------
    >>> svc.overview().to_frame()[["part", "count"]]
    """
    target = asynchronous(client)
    now = datetime.now(UTC)
    notes: list[str] = []

    async def read(part: str, rows: Awaitable[DataFrame]) -> DataFrame | None:
        try:
            return await rows
        except SvcError as error:
            if part == "indices" and not isinstance(error, (KeyRefused, NotFound)):
                raise
            notes.append(f"{part}: {error}")
        return None

    since = round((now - timedelta(days=EVENT_DAYS)).timestamp() * 1000)
    indices, logs, failed, keys, crawlers, events = await asyncio.gather(
        read("indices", frames.read_indices(target)),
        read("searches", frames.read_logs(target, MAX_LOG_ENTRIES)),
        read("errors", frames.read_logs(target, MAX_LOG_ENTRIES, type="error")),
        read("keys", frames.read_keys(target, None)),
        read("crawlers", frames.read_crawlers(target)),
        read("events", frames.read_events(target, since=since)),
    )
    listed = _part(indices, list_indices, INDICES)
    history = _keep(target, now, listed, notes)
    zero_results = await _read_zero_results(target, now, listed["index"].tolist())
    service = f"{target.connection.app_id} at {target.connection.address}"
    return Overview(
        Timestamp(now), service, listed,
        _part(failed, lambda rows: count_errors(rows, now), ERRORS),
        _part(keys, lambda rows: find_expiring(rows, now), KEYS),
        _part(crawlers, find_problems, CRAWLERS),
        _part(logs, find_zero_results, ZERO_RESULTS) if zero_results is None else zero_results,
        _part(events, count_events, EVENTS),
        _part(logs, count_key_use, KEY_USE),
        history, tuple(sorted(notes)),
    )  # fmt: skip


def _part(
    rows: DataFrame | None, make: Callable[[DataFrame], DataFrame], schema: dict[str, str]
) -> DataFrame:
    """Make one table; an empty one if its rows could not be read."""
    table = DataFrame(columns=list(schema)) if rows is None else make(rows)[list(schema)]
    return table.astype(schema).reset_index(drop=True)


def _keep(target: AsyncClient, now: datetime, indices: DataFrame, notes: list[str]) -> DataFrame:
    try:
        keep_sizes(target, now, indices)
        return read_sizes(target)
    except BadInput as error:
        notes.append(f"sizes: {error}")
        return DataFrame(columns=list(SIZES)).astype(SIZES)


async def _read_zero_results(
    target: AsyncClient, now: datetime, indices: Sequence[str]
) -> DataFrame | None:
    """Read the queries without hits from the analytics; None if those cannot be read."""
    since = (now - timedelta(days=ANALYTICS_DAYS)).date().isoformat()

    async def read(index: str) -> DataFrame:
        rows = await frames.read_no_results(target, index, since=since, limit=MAX_ZERO_RESULTS)
        return rows.rename(columns={"frequency": "count"}).assign(index=index, filters="")

    try:
        tables = await asyncio.gather(*map(read, indices[:MAX_ANALYTICS_INDICES]))
    except SvcError:
        return None
    return _part(pd.concat(tables), _sort_zero_results, ZERO_RESULTS) if tables else None


def list_indices(indices: DataFrame) -> DataFrame:
    """Return the indices of `read_indices`, the last one written first."""
    named = indices.rename(columns={"name": "index", "numberOfPendingTasks": "pending"})
    return named.sort_values("updatedAt", ascending=False, kind="stable")


def count_errors(logs: DataFrame, now: datetime) -> DataFrame:
    """Count the failed requests of the last day in the result of `read_logs`."""
    recent = logs[logs["timestamp"] >= Timestamp(now) - pd.Timedelta(hours=LOG_HOURS)]
    groups = recent.groupby(["answer_code", "method", "index"], sort=False)
    counted = groups.agg(count=("url", "size"), last=("timestamp", "max"), url=("url", "first"))
    named = counted.reset_index().rename(columns={"answer_code": "status"})
    return named.sort_values(["count", "last"], ascending=False, kind="stable")


def find_expiring(keys: DataFrame, now: datetime) -> DataFrame:
    """Return the keys of `read_keys` that expire soon, the first one first."""
    limited = keys[(keys["validity"] > 0) & (keys["validity"] <= EXPIRY_DAYS * 86_400)]
    expires = Timestamp(now) + pd.to_timedelta(limited["validity"], unit="s")
    named = limited.rename(columns={"value": "key"}).assign(expires=expires)
    return named.sort_values("expires", kind="stable")


def find_problems(crawlers: DataFrame) -> DataFrame:
    """Return the crawlers of `read_crawlers` that are blocked or have warnings."""
    problems = crawlers["blockingError"].where(crawlers["blocked"], crawlers["warnings"])
    named = crawlers.assign(problem=problems, crawler=crawlers["name"])
    failed = named[crawlers["blocked"] | (crawlers["warnings"] != "")]
    return failed.rename(columns={"lastReindexEndedAt": "last"})


def find_zero_results(logs: DataFrame) -> DataFrame:
    """Return the queries without hits in the result of `read_logs`, the most frequent first."""
    tables = [
        no_results(rows).assign(index=index)
        for index, rows in logs[logs["index"] != ""].groupby("index", sort=False)
    ]
    if not tables:
        return DataFrame(columns=list(ZERO_RESULTS))
    return _sort_zero_results(pd.concat(tables).rename(columns={"zero": "count"}))


def _sort_zero_results(rows: DataFrame) -> DataFrame:
    return rows.sort_values("count", ascending=False, kind="stable").head(MAX_ZERO_RESULTS)


def count_events(events: DataFrame) -> DataFrame:
    """Count the events of `read_events` by day and type."""
    days = events["timestamp"].dt.floor("D")
    types = events["eventSubtype"].where(events["eventSubtype"] != "", events["eventType"])
    grouped = events.assign(day=days, type=types).groupby(["day", "type"])
    return grouped.size().reset_index(name="count")


def count_key_use(logs: DataFrame) -> DataFrame:
    """Count the requests of `read_logs` by their key, as the log masks it."""
    keys = logs["query_headers"].str.extract(API_KEY, expand=False).fillna("")
    used = logs.assign(key=keys, failed=logs["answer_code"] >= 400)[keys != ""]
    counted = used.groupby("key", sort=False).agg(
        count=("url", "size"), errors=("failed", "sum"), last=("timestamp", "max")
    )
    return counted.reset_index().sort_values("count", ascending=False, kind="stable")


def keep_sizes(client: AsyncClient, at: datetime, indices: DataFrame) -> None:
    """Append a measurement of the indices of an application; the oldest ones are dropped.

    Raises `BadInput` if the file cannot be written.
    """
    rows = [[name, int(entries), int(size), int(pending)]
            for name, entries, size, pending in zip(
                indices["index"], indices["entries"], indices["dataSize"], indices["pending"],
                strict=True)]  # fmt: skip
    path = _path(client)
    line = add_checksum(msgspec.json.encode([at.timestamp(), rows]))
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(line)
        lines = path.read_bytes().splitlines(keepends=True)
        if len(lines) > 2 * MAX_MEASUREMENTS:
            path.write_bytes(b"".join(lines[-MAX_MEASUREMENTS:]))
    except OSError as error:
        raise BadInput(f"the history {path} cannot be written: {error.strerror}") from None


def read_sizes(client: AsyncClient) -> DataFrame:
    """Read the measurements of an application, the oldest first; damaged lines are left out."""
    try:
        lines = _path(client).read_bytes().splitlines()
    except FileNotFoundError:
        lines = []
    except OSError as error:
        raise BadInput(f"the history {_path(client)} cannot be read: {error.strerror}") from None
    whole = [json for json in map(verify_checksum, lines[-MAX_MEASUREMENTS:]) if json]
    rows = [(at, *row) for at, measured in map(msgspec.json.decode, whole) for row in measured]
    frame = DataFrame(rows, columns=list(SIZES))
    frame["at"] = to_datetime(frame["at"], unit="s", utc=True)
    return frame.astype(SIZES)


def _path(client: AsyncClient) -> Path:
    digest = hashlib.sha256("\0".join(client.connection.place).encode()).hexdigest()[:16]
    return user_state_folder("sizes") / f"{digest}.jsonl"


MAX_ROWS = 12
MAX_TEXT_CHARACTERS = 120
BAR_PIXELS = 110
TREND_PIXELS = (90, 16)
# Colours that are visible on white and on black.
BAR, MARK, SHADE = "#4f8bc2", "#d9534f", "rgba(127,127,127,.14)"
# Parts whose count needs attention, unless it is 0.
URGENT = ("errors", "zero-result", "keys", "crawlers")

PAGE = "font:13px/1.45 system-ui,sans-serif;max-width:1000px"
TILES = "display:flex;flex-wrap:wrap;gap:8px;margin:8px 0 4px"
TILE = f"background:{SHADE};border-radius:6px;padding:6px 12px;border-left:4px solid"
COLUMNS = "display:flex;flex-wrap:wrap;gap:4px 28px;align-items:flex-start"


def write_page(overview: Overview, summary: Iterable[tuple[str, int, str]]) -> str:
    """Write the page: the numbers as tiles, then a table for each part that has rows."""
    title = f"<b>{escape(overview.service)}</b>, {overview.at:%Y-%m-%d %H:%M} UTC"
    tiles = "".join(_tile(part, count) for part, count, _ in summary if part != "records")
    sections = [_section("Indices", _indices(overview.indices, overview.sizes), overview.indices)]
    sections += [
        _section(heading, _rows(frame, columns), frame)
        for heading, frame, columns in _list_tables(overview)
    ]
    notes = write_list(overview.notes)
    return (
        f'<div style="{PAGE}"><div>{title}</div><div style="{TILES}">{tiles}</div>'
        f'<div style="{COLUMNS}">{"".join(sections)}</div>'
        f"{f'<p>Not read:</p>{notes}' if notes else ''}</div>"
    )


def _list_tables(overview: Overview) -> list[tuple[str, DataFrame, tuple[str, ...]]]:
    """List the tables below the indices: title, rows and columns."""
    return [
        ("Failed requests", overview.errors, ("count", "status", "method", "index", "url")),
        ("Queries without results", overview.zero_results, ("count", "query", "filters", "index")),
        ("Keys that expire", overview.keys, ("key", "description", "expires")),
        ("Crawlers with problems", overview.crawlers, ("crawler", "problem", "last")),
        ("Use of keys", overview.key_use, ("count", "key", "errors", "last")),
        ("Events by day", overview.events, ("count", "day", "type")),
    ]


def _tile(part: str, count: int) -> str:
    urgent = count and part.startswith(URGENT)
    edge = MARK if urgent else BAR if part == "pending tasks" and count else "transparent"
    number = f'<b style="font-size:18px">{count:,}</b>'
    return f'<div style="{TILE} {edge}">{number}<br>{escape(part)}</div>'


def _section(title: str, table: str, frame: DataFrame) -> str:
    if frame.empty:
        return ""
    more = f", {MAX_ROWS} of {len(frame):,}" if len(frame) > MAX_ROWS else ""
    return f'<div><p style="margin:10px 0 2px"><b>{title}</b>{more}</p>{table}</div>'


def _indices(indices: DataFrame, sizes: DataFrame) -> str:
    """Write the indices with bars of their sizes, and lines of earlier numbers if there are any."""
    largest = max(int(indices["dataSize"].max()), 1) if len(indices) else 1
    history = {str(name): rows for name, rows in sizes.groupby("index", sort=False)}
    has_history = any(len(rows) > 1 for rows in history.values())
    head = ["index", "records", "size", "last write", "pending"]
    head += ["records over time", "pending over time"] if has_history else []
    rows = [
        [
            row["index"], f"{row['entries']:,}",
            _bar(row["dataSize"] / largest, format_size(row["dataSize"])),
            _text(row["updatedAt"]), f"{row['pending']:,}" if row["pending"] else "",
            *(_trend(history.get(row["index"]), name) for name in ("entries", "pending")
              if has_history),
        ]
        for row in indices.head(MAX_ROWS).to_dict("records")
    ]  # fmt: skip
    return write_table(head, rows, numbers=(1, 4))


def _trend(history: DataFrame | None, name: str) -> Html:
    """Draw the measurements of an index as a line from 0 to their largest value."""
    if history is None or len(history) < 2:
        return Html("")
    width, height = TREND_PIXELS
    values, times = history[name].tolist(), [at.timestamp() for at in history["at"]]
    span, largest = max(times[-1] - times[0], 1e-9), max(*values, 1)
    points = " ".join(
        f"{1 + (width - 2) * (at - times[0]) / span:.1f},"
        f"{height - 1 - (height - 2) * value / largest:.1f}"
        for at, value in zip(times, values, strict=True)
    )
    text = f"{values[0]:,} at {history['at'].iloc[0]:%Y-%m-%d %H:%M}, {values[-1]:,} now"
    line = f'<polyline points="{points}" fill="none" stroke="{BAR}" stroke-width="1.5"/>'
    return Html(
        f'<svg width="{width}" height="{height}" role="img"><title>{text}</title>{line}</svg>'
    )


def _rows(frame: DataFrame, columns: Sequence[str]) -> str:
    """Write the rows of a table, with bars of their counts."""
    largest = max(int(frame["count"].max()), 1) if "count" in columns and len(frame) else 1
    rows = [
        [
            _bar(row[name] / largest, f"{row[name]:,}") if name == "count" else _text(row[name])
            for name in columns
        ]
        for row in frame.head(MAX_ROWS).to_dict("records")
    ]
    return write_table(columns, rows)


def _bar(share: float, text: str) -> Html:
    width = max(round(BAR_PIXELS * share), 1)
    style = f"display:inline-block;width:{width}px;height:.75em;background:{BAR}"
    bar = f'<span style="{style}"></span>'
    return Html(f'<span style="white-space:nowrap">{bar} {escape(text)}</span>')


def _text(value: Any) -> str:
    if isinstance(value, Timestamp):
        return f"{value:%Y-%m-%d}" if value == value.floor("D") else f"{value:%Y-%m-%d %H:%M}"
    return "" if value is None or value != value else shorten(str(value), MAX_TEXT_CHARACTERS)

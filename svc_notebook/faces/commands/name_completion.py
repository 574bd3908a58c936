"""Names for completion, fetched live from the service, with a time limit and without errors."""

from __future__ import annotations

import asyncio
import csv
import re
import time
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from svc_notebook.core.files import expand_path
from svc_notebook.errors import BadInput, SvcError

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient

Request = Callable[["AsyncClient"], Coroutine[Any, Any, list[str]]]
FIRST_CALL_SECONDS = 0.6  # the first request of a client also opens its connection
CALL_SECONDS = 0.3
SHORT_CALL_SECONDS = 0.05
CACHE_SECONDS = 10.0
_MODIFIER = re.compile(r"\w+\((.*)\)$")
_SAMPLE_RECORDS = 20
_MAX_NAMES = 100
_MAX_FACET_VALUES = 1000
_MAX_HEADER_CHARACTERS = 100_000  # characters of a file's first line
SEPARATORS = {".csv": ",", ".tsv": "\t"}
SHOWN_KEY_CHARACTERS = 4  # leading characters of a key that identify it


class LiveNames:
    """Names from the current client, its folder and a kernel's variables.

    Responses are cached for some seconds. If a service takes longer than `CALL_SECONDS`, the
    request continues, its names are available the next time, and other requests wait less.
    """

    def __init__(
        self, variables: Mapping[str, object], hidden: Collection[str] = frozenset()
    ) -> None:
        self._variables = variables
        self._hidden = hidden
        self._known: dict[tuple[object, ...], tuple[float, list[str]]] = {}
        self._tasks: dict[tuple[object, ...], asyncio.Task[list[str]]] = {}

    def indices(self) -> list[str]:
        """Return the names of the indices."""
        return self._names(("indices",), _fetch_indices)

    def attributes(self, index: str) -> list[str]:
        """Return the attributes of some records of an index."""
        return self._names(("attributes", index), lambda client: _fetch_attributes(client, index))

    def facets(self, index: str) -> list[str]:
        """Return the attributes for faceting of an index."""
        return self._names(("facets", index), lambda client: _fetch_facets(client, index))

    def values(self, index: str, facet: str) -> list[str]:
        """Return the values of a facet, the most frequent first."""
        key = ("values", index, facet)
        return self._names(key, lambda client: _fetch_values(client, index, facet))

    def named(self, kind: str, index: str) -> list[str]:
        """Return the names of another kind, in an index if the kind belongs to one."""
        if kind not in QUESTIONS:
            return []
        return self._names((kind, index), lambda client: QUESTIONS[kind](client, index))

    def profiles(self) -> list[str]:
        """Return the profiles, including the local service."""
        from svc_notebook.data import session

        try:
            return ["local", *(name for name in session.profiles() if name != "local")]
        except SvcError:
            return ["local"]

    def variables(self) -> list[str]:
        """Return the user's variables that contain data: no modules, functions or classes."""
        return sorted(
            name
            for name, value in self._variables.items()
            if not (name.startswith("_") or name in self._hidden or is_tool(value))
        )

    def columns(self, source: str) -> list[str]:
        """Return the columns of a variable's table, or those in the first line of a file."""
        columns = getattr(self._variables.get(source), "columns", None)
        try:
            if columns is not None:
                return [*map(str, columns)]
            return _read_header(expand_path(source))
        except (TypeError, BadInput, OSError, UnicodeDecodeError, csv.Error):
            return []

    def paths(self, beginning: str) -> list[str]:
        """Return the files and folders with this prefix, folders with a slash."""
        folder, slash, name = beginning.rpartition("/")
        try:
            inside = expand_path(folder + slash) if slash else Path()
            paths = sorted(path for path in inside.iterdir() if path.name.startswith(name))
        except (BadInput, OSError):
            return []
        hidden = name.startswith(".")
        return [
            f"{folder}{slash}{path.name}{'/' if path.is_dir() else ''}"
            for path in paths
            if hidden or not path.name.startswith(".")
        ]

    def _names(self, key: tuple[str, ...], request: Request) -> list[str]:
        from svc_notebook.data import session
        from svc_notebook.data.client import background_loop

        try:
            client = session.current()
            known_at, names = self._known.get((client, *key), (-CACHE_SECONDS, []))
            if time.monotonic() - known_at < CACHE_SECONDS:
                return names
            return background_loop.run(self._request((client, *key), client.aio, request))
        except SvcError:
            return []

    async def _request(
        self, key: tuple[object, ...], client: AsyncClient, request: Request
    ) -> list[str]:
        task = self._tasks.get(key)
        slow = any(not pending.done() for pending in self._tasks.values())
        connected = any(cached[0] == key[0] for cached in self._known)
        timeout = SHORT_CALL_SECONDS if slow else CALL_SECONDS if connected else FIRST_CALL_SECONDS
        if task is None or task.get_loop() is not asyncio.get_running_loop():
            task = self._tasks[key] = asyncio.ensure_future(request(client))
            task.add_done_callback(_retrieve_exception)
        await asyncio.wait([task], timeout=timeout)
        if not task.done():
            return []
        del self._tasks[key]
        names = [] if task.cancelled() or task.exception() else task.result()
        self._known[key] = (time.monotonic(), names)
        return names


def is_tool(value: object) -> bool:
    """Return whether a variable is a tool, such as a module or function, and not data."""
    return isinstance(value, (ModuleType, type)) or callable(value)


def _read_header(path: Path) -> list[str]:
    separator = SEPARATORS.get(path.suffix.casefold())
    if separator is None:
        return []
    with path.open(newline="", encoding="utf-8-sig") as file:
        return next(csv.reader([file.readline(_MAX_HEADER_CHARACTERS)], delimiter=separator), [])


def _retrieve_exception(task: asyncio.Task[list[str]]) -> None:
    """Retrieve an exception, because asyncio reports exceptions that are never retrieved."""
    if not task.cancelled():
        task.exception()


async def _fetch_indices(client: AsyncClient) -> list[str]:
    from svc_notebook.data.client import is_preview

    answer = await client.list_indices()
    return [entry["name"] for entry in answer["items"] if not is_preview(entry["name"])]


async def _fetch_attributes(client: AsyncClient, index: str) -> list[str]:
    answer = await client.search(index, hitsPerPage=_SAMPLE_RECORDS, attributesToHighlight=[])
    return sorted({name for hit in answer["hits"] for name in hit if not name.startswith("_")})


async def _fetch_facets(client: AsyncClient, index: str) -> list[str]:
    settings = await client.get_settings(index)
    entries: Iterable[str] = settings.get("attributesForFaceting") or ()
    return sorted(_MODIFIER.sub(r"\1", entry) for entry in entries)


async def _fetch_values(client: AsyncClient, index: str, facet: str) -> list[str]:
    answer = await client.search(
        index, facets=[facet], hitsPerPage=0, maxValuesPerFacet=_MAX_FACET_VALUES
    )
    return list(answer.get("facets", {}).get(facet, {}))


async def _fetch_synonyms(client: AsyncClient, index: str) -> list[str]:
    answer = await client.search_synonyms(index, hitsPerPage=_MAX_NAMES)
    return [hit["objectID"] for hit in answer["hits"]]


async def _fetch_rules(client: AsyncClient, index: str) -> list[str]:
    answer = await client.search_rules(index, hitsPerPage=_MAX_NAMES)
    return [hit["objectID"] for hit in answer["hits"]]


async def _fetch_keys(client: AsyncClient, index: str) -> list[str]:
    answer = await client.list_keys()
    return [key["value"][:SHOWN_KEY_CHARACTERS] for key in answer["keys"]]


async def _fetch_clusters(client: AsyncClient, index: str) -> list[str]:
    answer = await client.list_clusters()
    return [cluster["clusterName"] for cluster in answer["clusters"]]


async def _fetch_crawlers(client: AsyncClient, index: str) -> list[str]:
    items = (await client.list_crawlers(itemsPerPage=100))["items"]
    names = [item["name"] for item in items]
    return [item["name"] if names.count(item["name"]) == 1 else item["id"] for item in items]


async def _fetch_networks(client: AsyncClient, index: str) -> list[str]:
    return [entry["source"] for entry in await client.list_sources()]


async def _fetch_languages(client: AsyncClient, index: str) -> list[str]:
    return sorted(await client.list_languages())


QUESTIONS: dict[str, Callable[[AsyncClient, str], Coroutine[Any, Any, list[str]]]] = {
    "synonym": _fetch_synonyms,
    "rule": _fetch_rules,
    "key": _fetch_keys,
    "cluster": _fetch_clusters,
    "crawler": _fetch_crawlers,
    "network": _fetch_networks,
    "language": _fetch_languages,
}

"""Export a whole index, or the records that match filters, to a file of any size."""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

import msgspec

from svc_notebook.core.api.parameters import SearchOptions
from svc_notebook.core.display import format_count
from svc_notebook.core.files import expand_path, replace_file, write_atomically
from svc_notebook.data.client.curation import HITS_PER_PAGE
from svc_notebook.data.client.operations import FULL_RECORD_PARAMS, every_entry
from svc_notebook.data.client.tasks import OnProgress
from svc_notebook.data.loading.database import import_duckdb
from svc_notebook.data.loading.exports.record_files import (
    SEPARATORS,
    AttributeTypes,
    Format,
    Spool,
    format_of,
    open_spool,
)
from svc_notebook.data.loading.options import Kind
from svc_notebook.errors import BadInput, CallFailed, Stopped, did_you_mean, unwritable

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient

Include = Literal["settings", "synonyms", "rules"]
# Members that a service adds to a record.
ADDED = ("_highlightResult", "_snippetResult", "_rankingInfo", "_distinctSeqID")


@dataclass(frozen=True, repr=False)
class Export:
    """The result of an export.

    Attributes
    ----------
    index : str
        Name of the index.
    path : Path
        File of the records.
    rows : int
        Number of records.
    dtype : dict
        Type of each column, as the option `dtype` of a load.
    seconds : float
        Duration in seconds.
    resumed : int
        Number of records that an interrupted export had already fetched.
    included : tuple of Path
        Further files, such as those of settings.

    Examples
    --------
    >>> exported = svc.export("products", "products.parquet")
    >>> exported.rows, exported.path.name
    (240, 'products.parquet')
    """

    index: str
    path: Path
    rows: int
    dtype: Mapping[str, Kind]
    seconds: float
    resumed: int = 0
    included: tuple[Path, ...] = ()

    @property
    def beside(self) -> tuple[Path, ...]:
        """The old name of `included`."""
        message = "`beside` of an export is now `included`"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return self.included

    @property
    def bytes(self) -> int:
        """The size of the file."""
        return self.path.stat().st_size

    @property
    def json_columns(self) -> list[str]:
        """The columns of a CSV or TSV that hold lists and objects as JSON texts."""
        is_delimited = not {*SEPARATORS}.isdisjoint(self.path.suffixes)
        return [name for name, kind in self.dtype.items() if is_delimited and kind == "json"]

    def __repr__(self) -> str:
        dtype = dict.fromkeys(self.json_columns, "json")
        note = (
            "\nnote: lists and objects are JSON texts; "
            f"svc.load({str(self.path)!r}, index, dtype={dtype}) reads them "
            "back, and a .parquet or .ndjson keeps every type"
        )
        earlier = f" ({self.resumed:,} of them fetched earlier)" if self.resumed else ""
        others = "".join(f", {path.name}" for path in self.included)
        return (
            f"{self.index}: {format_count(self.rows, 'record')}{earlier} in {self.path}{others}, "
            f"{self.seconds:.1f} s{note if dtype else ''}"
        )


async def export(
    client: AsyncClient,
    index: str,
    path: str | os.PathLike[str],
    *,
    query: str = "",
    columns: Sequence[str] | None = None,
    include: Sequence[Include] = (),
    resume: bool = False,
    spreadsheet_safe: bool = False,
    on_progress: OnProgress | None = None,
    **params: Unpack[SearchOptions],
) -> Export:
    """Write every record that passes the filters to a file; its name determines the format.

    The file appears when it is complete, and replaces an existing one. `resume` continues an
    interrupted export. `include` writes settings, synonyms and rules next to the file.
    """
    target, form = _check_path(path, spreadsheet_safe)
    _check_choices(index, columns, include)
    search = {**params, "query": query} if query else {**params}
    if columns is not None:
        search["attributesToRetrieve"] = list(columns)
    run = _ExportRun(client, index, target, on_progress)
    return await run.carry_out(form, search, include, resume=resume)


def _check_path(path: str | os.PathLike[str], spreadsheet_safe: bool) -> tuple[Path, Format]:
    if not isinstance(path, (str, os.PathLike)):
        raise BadInput(f"`path` must be the path of a file, not {path!r}: 'films.parquet'")
    target = expand_path(path)
    form = format_of(target, spreadsheet_safe=spreadsheet_safe)
    if target.is_dir():
        raise BadInput(f"{target} is a folder; pass the path of a file in it")
    if not target.parent.is_dir():
        raise BadInput(f"there is no folder {target.parent.absolute()}; create it first")
    import_duckdb()  # it imports pyarrow
    return target, form


def _check_choices(index: object, columns: object, include: Sequence[str]) -> None:
    if not isinstance(index, str) or not index:
        raise BadInput(f"`index` must be the name of an index, not {index!r}")
    for name, given in (("columns", columns), ("include", include)):
        if isinstance(given, str):
            raise BadInput(f"`{name}` must be a list of names: {name}=[{given!r}]")
    choices = get_args(Include)
    for part in include:
        if part not in choices:
            raise BadInput(
                f"`include` must be a list of {', '.join(choices)}, not {part!r}"
                f"{did_you_mean(part, choices)}"
            )


class _ExportRun:
    """One running export."""

    def __init__(
        self, client: AsyncClient, index: str, target: Path, on_progress: OnProgress | None
    ) -> None:
        self._client, self._index, self._target = client, index, target
        self._on_progress = on_progress
        self._stop = Event()
        self._started = monotonic()

    async def carry_out(
        self, form: Format, search: Mapping[str, Any], include: Sequence[Include], *, resume: bool
    ) -> Export:
        """Fetch the records, write the file, and move it into place."""
        spool = self._open_spool(search, resume=resume)
        try:
            await self._fetch(spool, search)
            written = [await self._write_included(part, form.stem) for part in include]
            await self._write(spool, form)
        except asyncio.CancelledError:
            self._stop.set()
            raise Stopped(f"stopped. {self._progress(spool)}") from None
        except CallFailed as error:
            if spool.position.rows:
                error.add_note(self._progress(spool))
            else:
                spool.discard()
            raise
        except OSError as error:
            raise BadInput(
                f"{self._target} cannot be written: {error.strerror or error}. "
                f"{self._progress(spool)}"
            ) from error
        dtypes = AttributeTypes(spool.position.types).dtypes()
        seconds = monotonic() - self._started
        return Export(
            self._index, self._target, spool.position.rows, dtypes, seconds, spool.resumed,
            tuple(written),
        )  # fmt: skip

    def _open_spool(self, search: Mapping[str, Any], *, resume: bool) -> Spool:
        facts = [*self._client.connection.place, self._index, sorted(search.items())]
        try:
            return open_spool(self._target, repr(facts), resume=resume)
        except OSError as error:
            raise unwritable(self._target, error) from error

    async def _fetch(self, spool: Spool, search: Mapping[str, Any]) -> None:
        if spool.position.complete:
            return
        for name in filter(_is_attribute, search.get("attributesToRetrieve", ())):
            spool.position.types.setdefault(name, set())
        pages = self._client.browse_pages(
            self._index, cursor=spool.position.cursor, **{**FULL_RECORD_PARAMS, **search}
        )
        async for page in pages:
            records = [as_stored(hit) for hit in page["hits"]]
            total = page.get("nbHits", spool.position.total)
            await asyncio.to_thread(spool.add, records, page.get("cursor"), total)
            if self._on_progress:
                rows = spool.position.rows
                self._on_progress(rows, max(spool.position.total, rows))
        if spool.resumed and spool.position.rows != spool.position.total:
            spool.discard()
            raise BadInput(
                f"{spool.position.rows:,} of {spool.position.total:,} records were found: "
                f"{self._index} changed after the export was interrupted; export it again without "
                "resume=True"
            )

    async def _write(self, spool: Spool, form: Format) -> None:
        columns = AttributeTypes(spool.position.types).decide()
        # A draft of a fixed name is overwritten by the next export, if this process is killed.
        draft = self._target.with_name(f".{self._target.name}.new")
        with replace_file(self._target, draft=draft):
            await asyncio.to_thread(
                form.write, spool, draft, columns, form.compression, self._check
            )
        spool.discard()

    def _check(self, _: int) -> None:
        """Stop the writing thread if the export was cancelled."""
        if self._stop.is_set():
            raise InterruptedError

    async def _write_included(self, what: Include, stem: str) -> Path:
        path = self._target.with_name(f"{stem}.{what}.json")
        content = await READERS[what](self._client, self._index)
        text = msgspec.json.format(msgspec.json.encode(content), indent=2)
        write_atomically(path, text + b"\n")
        return path

    def _progress(self, spool: Spool) -> str:
        rows, total = spool.position.rows, spool.position.total
        more = "; resume=True resumes the export" if rows else ""
        return f"{rows:,} of {total:,} records were fetched from {self._index}{more}"


def _is_attribute(name: str) -> bool:
    """Return whether a pattern is the name of an attribute: a column even if no record has it."""
    return not (name.startswith("-") or "*" in name or "." in name)


def as_stored(hit: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a record without the members that a service adds to it."""
    if not any(name in hit for name in ADDED):
        return hit
    return {name: value for name, value in hit.items() if name not in ADDED}


async def _every(fetch: Callable[[int], Awaitable[Any]]) -> list[Mapping[str, Any]]:
    return [as_stored(hit) for hit in await every_entry(fetch, "hits")]


READERS: dict[Include, Callable[[AsyncClient, str], Awaitable[Any]]] = {
    "settings": lambda client, index: client.get_settings(index),
    "synonyms": lambda client, index: _every(
        lambda page: client.search_synonyms(index, "", "", page, HITS_PER_PAGE)
    ),
    "rules": lambda client, index: _every(
        lambda page: client.search_rules(index, "", page=page, hitsPerPage=HITS_PER_PAGE)
    ),
}

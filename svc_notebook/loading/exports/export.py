"""Export a whole index, or the records that match filters, to a file of any size."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

import msgspec

from svc_notebook.api.parameters import SearchOptions
from svc_notebook.client.operations import FULL_RECORD_PARAMS
from svc_notebook.client.pagination import every_entry
from svc_notebook.errors import BadInput, CallFailed, Stopped, did_you_mean
from svc_notebook.files import replace_file, write_atomically
from svc_notebook.loading.database import import_duckdb
from svc_notebook.loading.exports.spool import Spool, open_spool
from svc_notebook.loading.exports.writers import Format, format_of
from svc_notebook.loading.load_plan.type_inference import Kinds
from svc_notebook.loading.options import Kind

if TYPE_CHECKING:
    from svc_notebook.client import AsyncClient

OnProgress = Callable[[int, int], None]
Beside = Literal["settings", "synonyms", "rules"]
# Members that a service adds to a record.
ADDED = ("_highlightResult", "_snippetResult", "_rankingInfo", "_distinctSeqID")
BROWSE_PAGE_RECORDS = 1000


@dataclass(frozen=True, repr=False)
class Export:
    """The result of an export: the files written, and each column's `dtype` for a load."""

    index: str
    path: Path
    rows: int
    dtype: Mapping[str, Kind]
    seconds: float
    # Rows that an interrupted export had already fetched.
    resumed: int = 0
    beside: tuple[Path, ...] = ()

    @property
    def bytes(self) -> int:
        """The size of the file."""
        return self.path.stat().st_size

    def __repr__(self) -> str:
        earlier = f" ({self.resumed:,} of them fetched earlier)" if self.resumed else ""
        others = "".join(f", {path.name}" for path in self.beside)
        return (
            f"{self.index}: {self.rows:,} records{earlier} in {self.path}{others}, "
            f"{self.seconds:.1f} s"
        )


async def export(
    client: AsyncClient,
    index: str,
    path: str | os.PathLike[str],
    *,
    query: str = "",
    columns: Sequence[str] | None = None,
    beside: Sequence[Beside] = (),
    resume: bool = False,
    on_progress: OnProgress | None = None,
    **params: Unpack[SearchOptions],
) -> Export:
    """Write every record that passes the filters to a file; its name determines the format.

    The file appears when it is complete, and replaces an existing one. `resume` continues an
    interrupted export. `beside` writes settings, synonyms and rules next to the file.
    """
    target, form = _check_path(path)
    _check_choices(index, columns, beside)
    asked = {**params, "query": query} if query else {**params}
    if columns is not None:
        asked["attributesToRetrieve"] = list(columns)
    run = _ExportRun(client, index, target, on_progress)
    return await run.carry_out(form, asked, beside, resume=resume)


def _check_path(path: str | os.PathLike[str]) -> tuple[Path, Format]:
    if not isinstance(path, (str, os.PathLike)):
        raise BadInput(f"an export goes to a file, not {path!r}: export('films', 'films.parquet')")
    target = Path(path).expanduser()
    form = format_of(target)
    if target.is_dir():
        raise BadInput(f"{target} is a folder; name a file in it")
    if not target.parent.is_dir():
        raise BadInput(f"there is no folder {target.parent.absolute()}; make it first")
    import_duckdb()  # it imports pyarrow
    return target, form


def _check_choices(index: object, columns: object, beside: Sequence[str]) -> None:
    if not isinstance(index, str) or not index:
        raise BadInput(f"an index is named by text, not {index!r}: export('films', 'films.csv')")
    for name, given in (("columns", columns), ("beside", beside)):
        if isinstance(given, str):
            raise BadInput(f"`{name}` should be a list of names: {name}=[{given!r}]")
    for each in beside:
        if each not in get_args(Beside):
            known = get_args(Beside)
            raise BadInput(
                f"beside the records go {', '.join(known)}, not {each!r}{did_you_mean(each, known)}"
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
        self, form: Format, asked: Mapping[str, Any], beside: Sequence[Beside], *, resume: bool
    ) -> Export:
        """Fetch the records, write the file, and move it into place."""
        spool = self._open_spool(asked, resume=resume)
        try:
            await self._fetch(spool, asked)
            written = [await self._write_beside(each, form.stem) for each in beside]
            await self._write(spool, form)
        except asyncio.CancelledError:
            self._stop.set()
            raise Stopped(f"stopped. {self._story(spool)}") from None
        except CallFailed as error:
            if spool.mark.rows:
                error.add_note(self._story(spool))
            else:
                spool.discard()
            raise
        except OSError as error:
            raise BadInput(
                f"{self._target} cannot be written: {error}. {self._story(spool)}"
            ) from error
        kinds = Kinds(spool.mark.kinds).dtypes()
        seconds = monotonic() - self._started
        return Export(
            self._index, self._target, spool.mark.rows, kinds, seconds, spool.resumed,
            tuple(written),
        )  # fmt: skip

    def _open_spool(self, asked: Mapping[str, Any], *, resume: bool) -> Spool:
        facts = [*self._client.connection.place, self._index, sorted(asked.items())]
        try:
            return open_spool(self._target, repr(facts), resume=resume)
        except OSError as error:
            raise BadInput(f"{self._target} cannot be written: {error}") from error

    async def _fetch(self, spool: Spool, asked: Mapping[str, Any]) -> None:
        if spool.mark.whole:
            return
        for name in filter(_is_plain, asked.get("attributesToRetrieve", ())):
            spool.mark.kinds.setdefault(name, set())
        pages = self._client.browse_pages(
            self._index, cursor=spool.mark.cursor, **{**FULL_RECORD_PARAMS, **asked}
        )
        async for page in pages:
            records = [_as_stored(hit) for hit in page["hits"]]
            total = page.get("nbHits", spool.mark.total)
            await asyncio.to_thread(spool.add, records, page.get("cursor"), total)
            self._tell(spool)
        if spool.resumed and spool.mark.rows != spool.mark.total:
            spool.discard()
            raise BadInput(
                f"{spool.mark.rows:,} of {spool.mark.total:,} records were found: {self._index} "
                "changed since the export broke off; export it anew"
            )

    def _tell(self, spool: Spool) -> None:
        if self._on_progress:
            self._on_progress(spool.mark.rows, max(spool.mark.total, spool.mark.rows))

    async def _write(self, spool: Spool, form: Format) -> None:
        columns = Kinds(spool.mark.kinds).decide()
        # A draft of a fixed name is overwritten by the next export, if this process is killed.
        draft = self._target.with_name(f".{self._target.name}.new")
        with replace_file(self._target, draft=draft):
            await asyncio.to_thread(form.write, spool, draft, columns, form.packing, self._check)
        spool.discard()

    def _check(self, _: int) -> None:
        """Stop the writing thread if the export was cancelled."""
        if self._stop.is_set():
            raise InterruptedError

    async def _write_beside(self, what: Beside, stem: str) -> Path:
        path = self._target.with_name(f"{stem}.{what}.json")
        content = await READERS[what](self._client, self._index)
        text = msgspec.json.format(msgspec.json.encode(content), indent=2)
        write_atomically(path, text + b"\n")
        return path

    def _story(self, spool: Spool) -> str:
        rows = spool.mark.rows
        more = "; resume=True goes on from there" if rows else ""
        return f"{rows:,} of {spool.mark.total:,} records were fetched from {self._index}{more}"


def _is_plain(attribute: str) -> bool:
    """Return whether a name is that of one whole attribute: a column even if no record has it."""
    return not (attribute.startswith("-") or "*" in attribute or "." in attribute)


def _as_stored(hit: Mapping[str, Any]) -> Mapping[str, Any]:
    if not any(name in hit for name in ADDED):
        return hit
    return {name: value for name, value in hit.items() if name not in ADDED}


async def _read_settings(client: AsyncClient, index: str) -> Any:
    return await client.get_settings(index)


async def _read_synonyms(client: AsyncClient, index: str) -> Any:
    return await _every(
        lambda page: client.search_synonyms(index, "", "", page, BROWSE_PAGE_RECORDS)
    )


async def _read_rules(client: AsyncClient, index: str) -> Any:
    return await _every(
        lambda page: client.search_rules(index, "", page=page, hitsPerPage=BROWSE_PAGE_RECORDS)
    )


async def _every(fetch: Callable[[int], Awaitable[Any]]) -> list[Mapping[str, Any]]:
    return [_as_stored(hit) for hit in await every_entry(fetch, "hits")]


READERS: dict[Beside, Callable[[AsyncClient, str], Any]] = {
    "settings": _read_settings,
    "synonyms": _read_synonyms,
    "rules": _read_rules,
}

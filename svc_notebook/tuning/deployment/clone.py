"""The clone of an index of one service in another one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from html import escape
from time import monotonic
from typing import Literal, get_args

from svc_notebook.core.api import SearchApi
from svc_notebook.core.display import format_count, write_list
from svc_notebook.data.client import (
    AsyncClient,
    OnProgress,
    TemporaryIndex,
    is_own,
    name_temporary_index,
    write_and_wait,
)
from svc_notebook.data.loading import Checkpoint
from svc_notebook.errors import BadInput, NotFound, Stopped, SvcError, did_you_mean
from svc_notebook.tuning.changes.journalled_write import noting
from svc_notebook.tuning.changes.state import (
    SCOPES,
    IndexConfiguration,
    Scope,
    compare,
    holds,
    write_part,
)
from svc_notebook.tuning.deployment.configuration import (
    Replicas,
    check_free,
    is_virtual,
    list_replicas,
    map_replicas,
    read_configuration,
    replica_name,
    without_index_settings,
    write_configuration,
)
from svc_notebook.tuning.deployment.key_rights import (
    KeyRights,
    describe_client,
    read_rights,
    right_of,
)
from svc_notebook.tuning.deployment.origin import make_origin, write_origin
from svc_notebook.tuning.deployment.record_transfer import (
    CopiedPage,
    RecordChoice,
    RecordTransfer,
    is_resumable,
    open_temporary,
)

Part = Literal["settings", "synonyms", "rules", "records"]
IfCloneExists = Literal["fail", "replace"]
PARTS: tuple[Part, ...] = get_args(Part)
RIGHT_TO_SEE_ALL = "seeUnretrievableAttributes"


@dataclass(frozen=True, repr=False)
class Clone:
    """The result of a clone; displayed as HTML in notebooks.

    Attributes
    ----------
    index : str
        Name of the clone.
    source : str
        Name of the index that was cloned.
    profile : str
        Profile of the service that it came from.
    records : int
        Number of records.
    synonyms : int
        Number of synonyms.
    rules : int
        Number of rules.
    replicas : tuple of str
        Names of the replicas.
    resumed : int
        Number of records that an interrupted clone had already copied.
    missing : int
        Number of judged records that the source does not have.
    seconds : float
        Duration in seconds.
    notes : tuple of str
        Notes on what was not copied.

    Examples
    --------
    >>> clone = svc.clone("products", from_="shop", name="products-clone", if_exists="replace")
    >>> clone.records, clone.synonyms, clone.rules
    (240, 1, 1)
    """

    index: str
    source: str
    profile: str
    records: int
    synonyms: int
    rules: int
    replicas: tuple[str, ...]
    resumed: int
    missing: int
    seconds: float
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return "\n".join([self._headline(), *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        return f"<p>{escape(self._headline())}</p>{write_list(self.notes)}"

    def _headline(self) -> str:
        parts = [format_count(self.records, "record")]
        parts += [format_count(self.synonyms, "synonym"), format_count(self.rules, "rule")]
        if self.replicas:
            parts.append(f"replicas {', '.join(self.replicas)}")
        earlier = f" ({self.resumed:,} of them copied earlier)" if self.resumed else ""
        return (
            f"{self.index}, a clone of {self.source} of {self.profile}: {', '.join(parts)}"
            f"{earlier}, {self.seconds:.1f} s"
        )


@dataclass
class CloneRun:
    """One running clone, of `index` of `source` to `name` of `client`."""

    source: AsyncClient
    profile: str
    index: str
    client: AsyncClient
    name: str
    parts: tuple[Part, ...]
    choice: RecordChoice
    replicas: Replicas = False
    if_exists: IfCloneExists = "fail"
    resume: bool = False
    on_progress: OnProgress | None = None
    notes: list[str] = field(default_factory=list)
    _target_rights: KeyRights | None = None

    async def carry_out(self) -> Clone:
        """Check rights and names, then copy; the clone appears in one step at the end."""
        started = monotonic()
        if (self.source.connection.place, self.index) == (self.client.connection.place, self.name):
            raise BadInput(
                f"the clone and its source are the same index {self.index}; pass name= for another "
                "name, or connect to the service that receives the clone"
            )
        scopes: tuple[Scope, ...] = tuple(scope for scope in SCOPES if scope in self.parts)
        rights = await self._check_rights(scopes)
        state, settings = await self._read_source(rights, scopes)
        mapped = map_replicas(list_replicas(settings), self.index, self.name, self.replicas)
        existed = await self._check_target(mapped)
        replica_states = {
            replica_name(entry): await self._read(replica_name(entry), scopes) for entry in mapped
        }
        transfer = RecordTransfer(
            self.source, self.index, self.client, self.name, self.choice, self.on_progress,
            facts=repr(self.parts),
        )  # fmt: skip
        if "records" in self.parts:
            await self._copy_whole(transfer, state, scopes)
        else:
            await self._copy_configuration(state, scopes, existed)
        await self._make_replicas(mapped, replica_states, scopes)
        origin = make_origin(
            self.source, self.profile, self.index, {self.index: state, **replica_states}, scopes,
            partial="records" not in self.parts or self.choice.is_partial,
        )  # fmt: skip
        write_origin(self.client, self.name, origin)
        names = tuple(map(replica_name, mapped.values()))
        if transfer.missing:
            self.notes.append(f"{self.index} does not have {transfer.missing:,} judged records")
        return Clone(
            self.name, self.index, self.profile, transfer.records, len(state.synonyms),
            len(state.rules), names, transfer.resumed, transfer.missing, monotonic() - started,
            tuple(self.notes),
        )  # fmt: skip

    async def _check_rights(self, scopes: Sequence[Scope]) -> KeyRights:
        """Check both keys before anything is read or written."""
        reading = await read_rights(self.source, f"the profile `{self.profile}`")
        needed = [right_of(SearchApi.get_settings)]
        if "records" in self.parts:
            needed.append(right_of(SearchApi.browse))
            if self.choice.reads_ids or self.choice.always:
                needed.append(right_of(SearchApi.get_objects))
        reading.check("clone", needed, [self.index])
        if "records" in self.parts and "filters" in reading.restrictions:
            self.notes.append(
                f"the key of {reading.side} has restrictions ({reading.restrictions}): records "
                "that it may not see are not in the clone"
            )
        writing = await read_rights(self.client, describe_client(self.client))
        needed = [right_of(SearchApi.get_settings), right_of(SearchApi.set_settings)]
        names = [self.name]
        if "records" in self.parts:
            needed += ["addObject", right_of(SearchApi.delete_index)]
            names.append(name_temporary_index(self.name, "load"))
        writing.check("clone", needed, names)
        self._target_rights = writing
        return reading

    async def _read_source(
        self, rights: KeyRights, scopes: tuple[Scope, ...]
    ) -> tuple[IndexConfiguration, dict[str, object]]:
        try:
            whole, unknown = await read_configuration(self.source, self.index, SCOPES)
        except NotFound as error:
            raise NotFound(
                f"the profile `{self.profile}` has no index {self.index}", status=error.status
            ) from error
        if unknown:
            self.notes.append(
                f"settings that this version does not know are not copied: {', '.join(unknown)}"
            )
        if "records" in self.parts and whole.settings.get("unretrievableAttributes"):
            names = ", ".join(whole.settings["unretrievableAttributes"])
            action = f"clone of an index with `unretrievableAttributes` ({names})"
            rights.check(action, [RIGHT_TO_SEE_ALL], [])
        entries = list_replicas(whole.settings)
        if entries and not self.replicas:
            listed = ", ".join(map(replica_name, entries))
            self.notes.append(f"replicas are not copied ({listed}); replicas=True copies them")
        kept = {scope: whole.part(scope) for scope in scopes}
        return without_index_settings(IndexConfiguration(**kept)), dict(whole.settings)

    async def _read(self, index: str, scopes: tuple[Scope, ...]) -> IndexConfiguration:
        state, _ = await read_configuration(self.source, index, scopes)
        return without_index_settings(state)

    async def _check_target(self, mapped: dict[str, str]) -> bool:
        """Refuse an existing index without the word to replace it; return whether it exists."""
        if self.if_exists not in get_args(IfCloneExists):
            raise BadInput(
                f"`if_exists` must be fail or replace, not {self.if_exists!r}"
                f"{did_you_mean(str(self.if_exists), get_args(IfCloneExists))}"
            )
        exists = await is_own(self.client, self.name)
        if exists and self.if_exists == "fail":
            raise BadInput(
                f"the index {self.name} exists in {describe_client(self.client)}: "
                "pass if_exists='replace' to replace it, or name= for another name"
            )
        assert self._target_rights
        names = [replica_name(entry) for entry in mapped.values()]
        self._target_rights.check("clone", [], names)
        await check_free(self.client, self.name, names)
        return exists

    async def _copy_whole(
        self, transfer: RecordTransfer, state: IndexConfiguration, scopes: tuple[Scope, ...]
    ) -> None:
        """Fill a temporary index, and move it over the name in one step."""
        checkpoint = transfer.checkpoint()
        with checkpoint.hold():
            temporary = await open_temporary(transfer, checkpoint, resume=self.resume)
            if self.resume and not checkpoint.entries:
                self.notes.append("no interrupted clone was found: all records were copied")
            try:
                await write_configuration(self.client, temporary.name, state, scopes)
                await transfer.fill(temporary, checkpoint)
                await temporary.promote([scope for scope in SCOPES if scope not in scopes])
            except BaseException as error:
                await leave(temporary, checkpoint, error)
                if isinstance(error, asyncio.CancelledError):
                    progress = _progress(transfer, checkpoint, temporary)
                    raise Stopped(f"stopped. {progress}") from None
                if isinstance(error, SvcError):
                    error.add_note(_progress(transfer, checkpoint, temporary))
                raise
            checkpoint.discard()

    async def _copy_configuration(
        self, state: IndexConfiguration, scopes: tuple[Scope, ...], existed: bool
    ) -> None:
        async with AsyncExitStack() as stack:
            if existed:
                parts = {scope: state.part(scope) for scope in scopes}
                note = f"clone of {self.index} of {self.profile}"
                await stack.enter_async_context(
                    noting(self.client, self.name, parts, whole=True, note=note)
                )
            await write_configuration(self.client, self.name, state, scopes)

    async def _make_replicas(
        self,
        mapped: dict[str, str],
        states: dict[str, IndexConfiguration],
        scopes: tuple[Scope, ...],
    ) -> None:
        if not mapped:
            return
        entries = list_replicas(dict(await self.client.get_settings(self.name)))
        names = {replica_name(entry) for entry in mapped.values()}
        kept = [entry for entry in entries if replica_name(entry) not in names]
        replicas = [*kept, *mapped.values()]
        await write_and_wait(
            self.client,
            self.client.set_settings(self.name, {"replicas": replicas}),
            index=self.name,
            confirm=lambda: holds(self.client, self.name, "settings", {"replicas": replicas}),
        )
        for entry, made in mapped.items():
            replica_scopes: tuple[Scope, ...] = ("settings",) if is_virtual(entry) else scopes
            chosen = tuple(scope for scope in replica_scopes if scope in scopes)
            state = states[replica_name(entry)]
            await self._write_replica(replica_name(made), state, chosen)

    async def _write_replica(
        self, name: str, state: IndexConfiguration, scopes: tuple[Scope, ...]
    ) -> None:
        """Write what differs: a new replica has the settings of its primary."""
        live, _ = await read_configuration(self.client, name, scopes)
        present = without_index_settings(live)
        for scope in scopes:
            if differing := compare(scope, present.part(scope), state.part(scope)).after:
                await write_part(self.client, name, scope, differing)


async def leave(
    temporary: TemporaryIndex, checkpoint: Checkpoint[CopiedPage], error: BaseException
) -> None:
    """Keep the temporary index for a resumption, or delete it."""
    if temporary.state != "open":
        return
    if is_resumable(error, checkpoint):
        temporary.release()
    elif await temporary.discard():
        checkpoint.discard()


def _progress(
    transfer: RecordTransfer, checkpoint: Checkpoint[CopiedPage], temporary: TemporaryIndex
) -> str:
    if temporary.state == "promoted":
        return (
            f"the service accepted the move of the copy to {transfer.target}, but did not confirm "
            f"it: check {transfer.target} before you clone again"
        )
    more = "; resume=True resumes the clone" if checkpoint.entries else ""
    return (
        f"{transfer.records:,} records of {transfer.index} were copied to a temporary index; "
        f"{transfer.target} is unchanged{more}"
    )

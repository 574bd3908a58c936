"""The deployment of an index: its configuration, and records if named, to another service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from pandas import DataFrame

from svc_notebook.core.display import format_number, join_first
from svc_notebook.core.terminal import warn_user
from svc_notebook.data.client import OnProgress, TemporaryIndex, copy_around, count_records
from svc_notebook.data.loading import default_share
from svc_notebook.errors import BadInput, Stopped, SvcError
from svc_notebook.tuning.changes.journal import Journal
from svc_notebook.tuning.changes.journalled_write import (
    RecordedChange,
    alone,
    record_outcome,
    recording,
    write_change,
)
from svc_notebook.tuning.changes.state import (
    Delta,
    Objects,
    Scope,
    compare,
    holds,
    write_part,
)
from svc_notebook.tuning.deployment.clone import leave
from svc_notebook.tuning.deployment.configuration import (
    is_virtual,
    replica_name,
    without_index_settings,
    write_atomically,
)
from svc_notebook.tuning.deployment.deployment_planner import (
    NOTE,
    DeploymentPlanner,
    PreparedDeployment,
    describe_left_out,
    list_interrupted,
)
from svc_notebook.tuning.deployment.origin import write_origin
from svc_notebook.tuning.deployment.plan import (
    Deployment,
    DeploymentPlan,
    IndexPlan,
    PlanFile,
    write_plan_file,
)
from svc_notebook.tuning.deployment.record_transfer import (
    RecordChoice,
    RecordTransfer,
    open_temporary,
)
from svc_notebook.tuning.deployment.running_writes import marking
from svc_notebook.tuning.proposed_changes.change_impact import impact
from svc_notebook.tuning.statistics import TIE_TOLERANCE


@dataclass(frozen=True)
class StagedRecords:
    """Records in a temporary index of the target, and the plan before they were copied."""

    transfer: RecordTransfer
    temporary: TemporaryIndex
    planned: PreparedDeployment


@dataclass
class DeployRun(DeploymentPlanner):
    """One running deployment, of `index` of `client` to `name` of `target`."""

    resume: bool = False
    min_share: float | None = None
    note: str = ""
    on_progress: OnProgress | None = None
    out: Path | None = None
    reviewed: PlanFile | None = None
    guard: DataFrame | None = None
    mark: bool = False
    _ids: dict[str, str] = field(default_factory=dict)

    async def carry_out(self, *, dry_run: bool) -> Deployment:
        """Plan, then write, wait and read back."""
        started = monotonic()
        if (self.client.connection.place, self.index) == (
            self.target.connection.place,
            self.name,
        ):
            raise BadInput(
                f"{self.index} would be deployed to itself; pass another profile as to=, or "
                "another index as name="
            )
        await self.check_rights()
        if self.guard is not None:
            await self._check_guard(self.guard)
        if dry_run:
            plan = await self._plan_only()
            return Deployment(plan, True, False, {}, 0, monotonic() - started)
        async with AsyncExitStack() as stack:
            if self.mark:
                action = f"{NOTE} {self.index}"
                await stack.enter_async_context(marking(self.target, [self.name], action))
            # Records are copied before the lock is taken, because that can take hours.
            staged = (
                await stack.enter_async_context(self._stage_records()) if self.has_records else None
            )
            prepared = await stack.enter_async_context(self._locked())
            if self.reviewed:
                await self.reviewed.check(self.target, prepared.plans)
            self._refuse_conflicts(prepared.plan)
            if prepared.plan.kept:
                warn_user(
                    f"{join_first(prepared.plan.kept)} changed on {self.profile} since the clone: "
                    "kept; force=True overwrites it"
                )
            if prepared.left_out:
                warn_user(describe_left_out(prepared.left_out, self.profile))
            await self._write(prepared, staged)
            verified = await self._verify(prepared)
        records = staged.transfer.records if staged else 0
        return Deployment(
            prepared.plan, False, verified, dict(self._ids), records, monotonic() - started
        )

    async def _plan_only(self) -> DeploymentPlan:
        prepared = await self.prepare()
        if self.reviewed:
            await self.reviewed.check(self.target, prepared.plans)
        if self.out:
            service = self.target.connection.place
            write_plan_file(self.out, self._options(), service, prepared.plans)
        return prepared.plan

    async def _check_guard(self, judgments: DataFrame) -> None:
        """Raise `BadInput` if the changes lower the score of a judged query on the target."""
        plan = next(plan for plan in (await self.prepare()).plans if plan.target == self.name)
        if not plan.exists or not plan.deltas:
            return
        change: Any = plan.proposed
        tried = await impact(self.name, change, judgments=judgments, client=self.target)
        assert tried.comparison
        scores = tried.comparison.scores
        lost = scores[scores["delta"] < -TIE_TOLERANCE].sort_values("delta", kind="stable")
        if lost.empty:
            return
        rows = lost[["query", "before", "after"]].itertuples(index=False)
        losses = [
            f"{query!r} {format_number(float(before))} → {format_number(float(after))}"
            for query, before, after in rows
        ]
        raise BadInput(
            f"refused by the guard: {tried.comparison.metrics[0]} of {join_first(losses)} falls on "
            f"{self.profile}; nothing was written. Change the configuration, or leave the query "
            "out of `guard`"
        )

    def _options(self) -> dict[str, Any]:
        """Return the options by which `deploy` makes the same plan again."""
        return {
            "index": self.index,
            "to": self.profile,
            "name": self.name,
            "parts": list(self.parts),
            "replicas": self.replicas,
            "forward_to_replicas": self.forward,
            "force": self.force,
        }

    async def _close_interrupted(self, name: str) -> None:
        """Record what interrupted deployments made, which this one did not continue."""
        for change in list_interrupted(Journal.of(self.target, name)):
            await record_outcome(self.target, change)

    def _refuse_conflicts(self, plan: DeploymentPlan) -> None:
        if plan.conflicts:
            raise BadInput(
                f"{join_first(plan.conflicts)} changed both here and on {self.profile} since the "
                "clone; nothing was written. Clone again to see that change, or overwrite it with "
                "force=True"
            )

    @asynccontextmanager
    async def _locked(self) -> AsyncIterator[PreparedDeployment]:
        """Hold the locks of all indices of the target, and plan under them."""
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(alone(self.target, self.name))
            prepared = await self.prepare()
            others = {plan.target for plan in prepared.plans} | {*self._forwarded(prepared)}
            for name in sorted(others - {self.name}):
                await stack.enter_async_context(alone(self.target, name))
            yield prepared

    def _forwarded(self, prepared: PreparedDeployment) -> tuple[str, ...]:
        """Return the replicas that get the changes of the primary, too."""
        if not self.forward:
            return ()
        return tuple(map(replica_name, prepared.replicas))

    async def _write(self, prepared: PreparedDeployment, staged: StagedRecords | None) -> None:
        """Write the primary, with its records if they are staged, then the replicas."""
        first, *others = prepared.plans
        note = self.note or f"{NOTE} {self.index}"
        note = note if note.startswith(NOTE) else f"{NOTE} {self.index}: {note}"
        if staged:
            await self._promote(prepared, staged, note)
        elif self.copies_target and first.exists:
            await self._write_copy(first, note)
        await self._write_primary(prepared, note)
        for plan in others:
            await self._write_replica(plan, note)
        for plan in prepared.plans:
            await self._close_interrupted(plan.target)
        self._write_origin(prepared)

    async def _write_primary(self, prepared: PreparedDeployment, note: str) -> None:
        """Write the primary; replicas that get its changes, too, are as before if that fails."""
        first = prepared.plans[0]
        forwarded = self._forwarded(prepared) if first.deltas else ()
        records: dict[str, RecordedChange] = {}
        async with AsyncExitStack() as stack:
            for name in forwarded:
                objects = _forwardable(prepared, name, first)
                around = recording(self.target, name, objects, note=f"{note}, forwarded")
                records[name] = await stack.enter_async_context(around)
            try:
                made = await write_change(
                    self.target, self.name, first.proposed, note=note, forward_to=forwarded
                )
            except Exception:  # the effect of a failed call is unknown, so all writes are reverted
                await self._revert(records)
                raise
        if made:
            self._ids.setdefault(self.name, made.change_id)
        self._ids |= {name: r.change.change_id for name, r in records.items() if r.change}

    async def _revert(self, records: Mapping[str, RecordedChange]) -> None:
        """Write back what forwarded changes replaced."""
        for name, record in records.items():
            for scope, delta in (record.change.deltas if record.change else {}).items():
                await write_part(self.target, name, scope, delta.before)

    async def _write_replica(self, plan: IndexPlan, note: str) -> None:
        objects = plan.proposed if plan.exists else await self._compare_new(plan)
        try:
            made = await write_change(self.target, plan.target, objects, note=note)
        except SvcError as error:
            done = ", ".join(self._ids) or "nothing"
            error.add_note(f"already deployed: {done}; the same call again deploys the rest")
            raise
        if made:
            self._ids[plan.target] = made.change_id

    async def _write_copy(self, first: IndexPlan, note: str) -> None:
        """Write the primary in one step; its list of replicas follows."""
        deltas = {
            scope: Delta(_without_replicas({scope: delta.before})[scope],
                         _without_replicas({scope: delta.after})[scope])
            for scope, delta in first.deltas.items()
        }  # fmt: skip
        deltas = {scope: delta for scope, delta in deltas.items() if delta.after}
        if deltas and (made := await write_atomically(self.target, self.name, deltas, note=note)):
            self._ids[self.name] = made.change_id

    async def _compare_new(self, plan: IndexPlan) -> dict[Scope, Any]:
        """Compare a replica that was just created, which has the settings of its primary."""
        here, *_ = await self.read_source(plan.source)
        ours = without_index_settings(here)
        theirs = without_index_settings(await self.read_target(plan.target))
        return {
            scope: compare(scope, theirs.part(scope), ours.part(scope)).after
            for scope in plan.scopes
        }

    @asynccontextmanager
    async def _stage_records(self) -> AsyncIterator[StagedRecords]:
        """Fill a temporary index of the target; after an error, the target is as it was."""
        planned = await self.prepare()
        self._refuse_conflicts(planned.plan)
        await self._check_share(planned)
        transfer = RecordTransfer(
            self.client, self.index, self.target, self.name, RecordChoice(), self.on_progress
        )
        checkpoint = transfer.checkpoint()
        with checkpoint.hold():
            temporary = await open_temporary(transfer, checkpoint, resume=self.resume)
            filled = False
            try:
                await self._configure(temporary.name, _without_replicas(planned.plans[0].proposed))
                await transfer.fill(temporary, checkpoint)
                filled = True
                yield StagedRecords(transfer, temporary, planned)
            except BaseException as error:
                if filled and temporary.state == "open":
                    temporary.release()  # whatever the error is, the copied records are good
                else:
                    await leave(temporary, checkpoint, error)
                state = (
                    f"{self.name} is unchanged"
                    if temporary.state != "promoted"
                    else f"the service accepted the move of the records to {self.name}"
                )
                if isinstance(error, asyncio.CancelledError):
                    raise Stopped(f"stopped: {state}") from None
                if isinstance(error, SvcError):
                    kept = temporary.state == "kept"
                    more = "; resume=True resumes with the copied records" if kept else ""
                    error.add_note(f"{state}{more}")
                raise
            checkpoint.discard()

    async def _promote(
        self, prepared: PreparedDeployment, staged: StagedRecords, note: str
    ) -> None:
        """Move the staged records over the target, together with its new configuration."""
        await self._check_unchanged(staged.planned)
        proposed = _without_replicas(prepared.plans[0].proposed)
        # Others may have changed other parts while the records were copied.
        await self._configure(staged.temporary.name, proposed)
        async with recording(self.target, self.name, proposed, note=note) as recorded:
            await staged.temporary.promote([])
        if recorded.change:
            self._ids[self.name] = recorded.change.change_id

    async def _configure(self, name: str, proposed: Mapping[Scope, Objects]) -> None:
        """Give a temporary index the configuration of the target, with the changes."""
        await copy_around(self.target, self.name, name)
        for scope, objects in proposed.items():
            await write_part(self.target, name, scope, objects)

    async def _check_unchanged(self, planned: PreparedDeployment) -> None:
        """Refuse to overwrite what others changed while the records were copied."""
        if self.force or not planned.plans[0].exists:
            return
        for scope, objects in _without_replicas(planned.plans[0].proposed).items():
            before = {name: planned.theirs.part(scope).get(name) for name in objects}
            if not await holds(self.target, self.name, scope, before):
                raise BadInput(
                    f"{scope} of {self.name} changed on {self.profile} while the records were "
                    "copied; nothing was written. Deploy again to see that change"
                )

    async def _check_share(self, prepared: PreparedDeployment) -> None:
        """Refuse records of a partial clone, and too few, without the word for it."""
        if self.min_share == 0:
            return
        if prepared.origin and prepared.origin.partial:
            raise BadInput(
                f"{self.index} is a clone of only some records of {self.name}: all others would "
                "be deleted there; nothing was written. If that is intended, pass min_share=0"
            )
        old = await count_records(self.target, self.name)
        new = prepared.plan.records or 0
        share = default_share(old) if self.min_share is None else self.min_share
        if new < old * share:
            raise BadInput(
                f"{self.name} of {self.profile} has {old:,} records and would have {new:,}; "
                "nothing was written. To allow fewer records, pass min_share=0"
            )

    async def _verify(self, prepared: PreparedDeployment) -> bool:
        """Read the deployed objects back; warn of missing ones."""
        wrong = [
            f"{scope} of {index_plan.target}"
            for index_plan in prepared.plans
            for scope, objects in index_plan.proposed.items()
            if not await holds(self.target, index_plan.target, scope, objects)
        ]
        if wrong:
            warn_user(
                f"{', '.join(wrong)} of {self.profile} are not as deployed: somebody changed them "
                "since then, or the service stores them in another form; `svc.deploy` with "
                "dry_run=True shows the difference"
            )
        return not wrong

    def _write_origin(self, prepared: PreparedDeployment) -> None:
        """Store the digests of the deployed objects as known on the target."""
        origin = prepared.origin
        if origin is None:
            return
        for index_plan in prepared.plans:
            for scope, objects in index_plan.proposed.items():
                if scope in origin.indices.get(index_plan.target, {}):
                    origin = origin.after(index_plan.target, scope, objects)
        write_origin(self.client, self.index, origin)


def _without_replicas(objects: Mapping[Scope, Any]) -> dict[Scope, Any]:
    kept = dict(objects)
    if "settings" in kept:
        kept["settings"] = {k: v for k, v in kept["settings"].items() if k != "replicas"}
    return kept


def _forwardable(prepared: PreparedDeployment, name: str, first: IndexPlan) -> dict[Scope, Any]:
    """Return the objects that are forwarded to a replica; virtual replicas have settings only."""
    entry = next(candidate for candidate in prepared.replicas if replica_name(candidate) == name)
    proposed = _without_replicas(first.proposed)
    return {
        scope: objects
        for scope, objects in proposed.items()
        if scope == "settings" or not is_virtual(entry)
    }

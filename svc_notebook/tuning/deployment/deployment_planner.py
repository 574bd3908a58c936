"""What a deployment would change: both sides compared, replicas included; nothing is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from svc_notebook.core.api import SearchApi
from svc_notebook.core.api.parameters import LOCAL_PARAMETERS
from svc_notebook.data.client import (
    AsyncClient,
    Purpose,
    count_records,
    is_own,
    name_temporary_index,
)
from svc_notebook.errors import NotFound
from svc_notebook.tuning.changes.journal import Change, Journal, find_open
from svc_notebook.tuning.changes.state import (
    SCOPES,
    Delta,
    IndexConfiguration,
    Scope,
)
from svc_notebook.tuning.deployment.clone import Part
from svc_notebook.tuning.deployment.configuration import (
    Replicas,
    check_free,
    describe_price,
    is_virtual,
    list_replicas,
    map_replicas,
    read_configuration,
    replica_name,
    without_index_settings,
)
from svc_notebook.tuning.deployment.key_rights import (
    KeyRights,
    describe_client,
    read_rights,
    right_of,
)
from svc_notebook.tuning.deployment.origin import Origin, digest_object, read_origin
from svc_notebook.tuning.deployment.plan import (
    DeploymentPlan,
    IndexPlan,
    Left,
    make_plan,
    plan_index,
)

NOTE = "deployment of"  # the beginning of the note of a deployment in the journal


@dataclass(frozen=True)
class PreparedDeployment:
    """What a deployment knows of both sides."""

    plans: list[IndexPlan]
    plan: DeploymentPlan
    origin: Origin | None
    # The configuration that the target has, and its replicas after the deployment.
    theirs: IndexConfiguration
    replicas: tuple[str, ...]
    # Settings that only the local service has, and that are not deployed to a hosted one.
    left_out: tuple[str, ...]


@dataclass
class DeploymentPlanner:
    """Plans a deployment of `index` of `client` to `name` of `target`; it writes nothing.

    Call `check_rights` before `prepare`: replicas are checked against the rights that it reads.
    """

    client: AsyncClient
    index: str
    target: AsyncClient
    profile: str
    name: str
    parts: tuple[Part, ...]
    replicas: Replicas = False
    forward: bool = False
    force: bool = False
    atomic: bool = False
    _target_rights: KeyRights | None = None

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The parts of the configuration that are deployed."""
        return tuple(scope for scope in SCOPES if scope in self.parts)

    async def prepare(self) -> PreparedDeployment:
        """Read both sides, and plan; nothing is written."""
        try:
            whole, unknown, left_out = await self.read_source(self.index)
        except NotFound as error:
            raise NotFound(
                f"{describe_client(self.client)} has no index {self.index}", status=error.status
            ) from error
        origin = self._find_origin()
        exists = await is_own(self.target, self.name)
        theirs = await self.read_target(self.name) if exists else IndexConfiguration()
        notes = [*self._describe_gaps(unknown, left_out)]
        if not exists:
            notes.append(f"{self.profile} has no index {self.name} yet: it is created")
        elif origin is None:
            notes.append(
                f"{self.index} is not a clone of {self.name} of {self.profile}: changes by others "
                "cannot be detected, and are overwritten"
            )
        left = self._read_left(self.name, notes)
        plans = [
            plan_index(
                self.index, self.name, without_index_settings(whole),
                without_index_settings(theirs), self.scopes, origin=origin, left=left,
                force=self.force, exists=exists,
            )
        ]  # fmt: skip
        plans = await self._plan_replicas(plans[0], whole, theirs, origin, notes)
        records = await count_records(self.client, self.index) if self.has_records else None
        if self.copies_target and exists and plans[0].proposed:
            notes.append(describe_price(self.name, await count_records(self.target, self.name)))
        settings = {**theirs.settings, **plans[0].proposed.get("settings", {})}
        plan = make_plan(
            self.index, self.name, self.profile, plans, records, notes, force=self.force
        )
        replicas = tuple(list_replicas(settings))
        return PreparedDeployment(plans, plan, origin, theirs, replicas, tuple(left_out))

    def _find_origin(self) -> Origin | None:
        """Return the origin of the index if it is a clone of the target."""
        origin = read_origin(self.client, self.index)
        return origin if origin and origin.is_of(self.target, self.name) else None

    def _describe_gaps(self, unknown: Sequence[str], left_out: Sequence[str]) -> Iterator[str]:
        """Describe the settings that are not deployed."""
        if unknown:
            yield f"settings that this version does not know are not deployed: {', '.join(unknown)}"
        if left_out:
            yield describe_left_out(left_out, self.profile)

    @property
    def has_records(self) -> bool:
        """Whether records are deployed, too."""
        return "records" in self.parts

    @property
    def copies_target(self) -> bool:
        """Whether a copy of the target is changed and moved over it."""
        return self.atomic and not self.has_records

    async def check_rights(self) -> None:
        """Check both keys before anything is read or written."""
        reading = await read_rights(self.client, describe_client(self.client))
        needed = [right_of(SearchApi.get_settings)]
        if self.has_records:
            needed += [right_of(SearchApi.browse), right_of(SearchApi.search)]
        reading.check("deploy", needed, [self.index])
        writing = await read_rights(self.target, f"the profile `{self.profile}`")
        self._target_rights = writing
        needed = [right_of(SearchApi.get_settings), right_of(SearchApi.set_settings)]
        names = [self.name]
        if self.has_records or self.copies_target:
            needed += ["addObject", right_of(SearchApi.delete_index), right_of(SearchApi.search)]
            purpose: Purpose = "load" if self.has_records else "deploy"
            names.append(name_temporary_index(self.name, purpose))
        writing.check("deploy", needed, names)

    async def read_source(self, name: str) -> tuple[IndexConfiguration, list[str], list[str]]:
        """Return the configuration of an index to deploy, and what is left out.

        That is, settings that this version does not know, and those that the target does not have.
        """
        state, unknown = await read_configuration(self.client, name, SCOPES)
        if self.target.connection.is_local:
            return state, unknown, []
        settings = {n: v for n, v in state.settings.items() if n not in LOCAL_PARAMETERS}
        left_out = sorted(state.settings.keys() - settings.keys())
        return replace(state, settings=settings), unknown, left_out

    async def read_target(self, name: str) -> IndexConfiguration:
        """Return the configuration of an index of the target."""
        state, _ = await read_configuration(self.target, name, SCOPES)
        return state

    def _read_left(self, name: str, notes: list[str]) -> Left:
        """Return digests of what interrupted deployments may have left on the target."""
        left: dict[tuple[Scope, str], set[str]] = {}
        for change in list_interrupted(Journal.of(self.target, name)):
            notes.append(
                f"an earlier deployment to {name} was interrupted (change {change.change_id}); "
                "this one writes what is missing, `svc.tuning.undo` of that change reverts it"
            )
            for scope, delta in change.deltas.items():
                for object_name, value in delta.after.items():
                    left.setdefault((scope, object_name), set()).add(
                        digest_object(scope, object_name, value)
                    )
            for object_name, value in change.between.items():
                digest = digest_object("settings", object_name, value)
                left.setdefault(("settings", object_name), set()).add(digest)
        return left

    async def _plan_replicas(
        self,
        first: IndexPlan,
        ours: IndexConfiguration,
        theirs: IndexConfiguration,
        origin: Origin | None,
        notes: list[str],
    ) -> list[IndexPlan]:
        """Return the plans of the primary, with its new replicas, and of the replicas."""
        entries = list_replicas(ours.settings)
        mapped = map_replicas(entries, self.index, self.name, self.replicas)
        present = list_replicas(theirs.settings)
        names = {*map(replica_name, present)}
        new = [entry for entry in mapped.values() if replica_name(entry) not in names]
        assert self._target_rights
        reached = [*map(replica_name, mapped.values()), *(names if self.forward else ())]
        self._target_rights.check("deploy", [], reached)
        await check_free(self.target, self.name, [*map(replica_name, new)])
        if entries and not self.replicas:
            listed = ", ".join(map(replica_name, entries))
            notes.append(f"replicas are not deployed ({listed}); replicas=True deploys them")
        if new:
            first = _add_setting(first, "replicas", present or None, [*present, *new])
        plans = [first]
        for entry, made in mapped.items():
            exists = replica_name(made) in names
            plans.append(await self._plan_replica(entry, made, exists, origin, notes))
        return plans

    async def _plan_replica(
        self, entry: str, made: str, exists: bool, origin: Origin | None, notes: list[str]
    ) -> IndexPlan:
        replica, other = replica_name(entry), replica_name(made)
        here, *_ = await self.read_source(replica)
        there = await self.read_target(other) if exists else IndexConfiguration()
        scopes: tuple[Scope, ...] = ("settings",) if is_virtual(entry) else SCOPES
        return plan_index(
            replica, other, without_index_settings(here), without_index_settings(there),
            [scope for scope in scopes if scope in self.scopes], origin=origin,
            left=self._read_left(other, notes), force=self.force, exists=exists,
        )  # fmt: skip


def describe_left_out(names: Sequence[str], profile: str) -> str:
    """Describe settings that a service does not have."""
    return f"only the local service has {', '.join(names)}: not deployed to {profile}"


def list_interrupted(journal: Journal) -> list[Change]:
    """Return the deployments whose outcome is unknown, and that were not undone."""
    return [change for change in find_open(journal.read()) if change.note.startswith(NOTE)]


def _add_setting(plan: IndexPlan, name: str, before: Any, after: Any) -> IndexPlan:
    old = plan.deltas.get("settings", Delta({}, {}))
    settings = Delta({**old.before, name: before}, {**old.after, name: after})
    deltas: dict[Scope, Delta] = {"settings": settings, **plan.deltas} | {"settings": settings}
    return IndexPlan(
        plan.source, plan.target, deltas, plan.kept, plan.conflicts, plan.scopes, plan.exists
    )

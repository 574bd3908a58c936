"""Changes that an agent planned: each is applied once, by its token, as it was planned."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from svc_notebook.data.client import AsyncClient
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput
from svc_notebook.faces.functions.transfers import deploy
from svc_notebook.tuning.changes import find_reversal, tabulate, undo
from svc_notebook.tuning.proposed_changes import Proposal, apply, find_deltas, impact, read_proposal
from svc_notebook.tuning.tables import Queries, Table

MAX_PLANS = 50
PLAN_SECONDS = 1800.0
PLAN_FILE = "plan.json"


@dataclass(frozen=True)
class PlannedChange:
    """A change that waits for its token."""

    description: str
    apply: Callable[[], Awaitable[Mapping[str, Any]]]
    expires_at: float


class PlannedChanges:
    """The planned changes of a server by their tokens, at most `MAX_PLANS` for `PLAN_SECONDS`."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._plans: dict[str, PlannedChange] = {}
        self._clock = clock

    async def plan_change(
        self,
        index: str,
        change: Proposal,
        queries: Queries | None = None,
        judgments: Table | None = None,
        note: str = "",
        client: AnyClient | None = None,
    ) -> dict[str, Any]:
        """Return what a change of settings, synonyms and rules would do, and its token."""
        caller = asynchronous(client)
        proposed = read_proposal(change)
        deltas = await find_deltas(caller, index, proposed)
        if not any(delta.before or delta.after for delta in deltas.values()):
            raise BadInput(f"nothing to plan: {index} has these values already")
        measured = None
        if queries is not None or judgments is not None:
            measured = await impact(index, change, queries, judgments, client=caller)

        async def apply_change() -> Mapping[str, Any]:
            if await find_deltas(caller, index, proposed) != deltas:
                raise BadInput(f"{index} was changed since the plan; call `plan_change` again")
            return _describe_change(index, await apply(index, change, note=note, client=caller))

        described = f"change {index}{_target(caller)}"
        plan = self._keep(described, apply_change)
        plan["changes"] = tabulate(deltas).astype(object).to_dict("records")
        return plan | ({"impact": str(measured)} if measured else {})

    async def plan_undo(
        self, index: str, change_id: str | None = None, client: AnyClient | None = None
    ) -> dict[str, Any]:
        """Return what the undo of a change would restore, and its token."""
        caller = asynchronous(client)
        change = find_reversal(caller, index, change_id).change

        async def apply_undo() -> Mapping[str, Any]:
            return _describe_change(index, await undo(index, change.change_id, client=caller))

        plan = self._keep(f"undo change {change.change_id} of {index}{_target(caller)}", apply_undo)
        plan["restores"] = {scope: dict(delta.before) for scope, delta in change.deltas.items()}
        return plan

    async def plan_deployment(
        self, index: str, to: str, name: str | None = None, client: AnyClient | None = None
    ) -> dict[str, Any]:
        """Return the plan of a deployment, and its token."""
        with TemporaryDirectory(prefix="svc-plan-") as folder:
            path = Path(folder, PLAN_FILE)
            planned = await deploy(
                index, to=to, name=name, dry_run=True, out=str(path), client=client
            )
            content = await asyncio.to_thread(path.read_bytes)

        async def apply_deployment() -> Mapping[str, Any]:
            with TemporaryDirectory(prefix="svc-plan-") as folder:
                path = Path(folder, PLAN_FILE)
                await asyncio.to_thread(path.write_bytes, content)
                done = await deploy(plan=str(path), client=client)
            return {"result": str(done), "change_ids": done.change_ids}

        plan = self._keep(f"deploy {index} to the profile {to}", apply_deployment)
        return plan | {"plan": str(planned)}

    async def apply_plan(self, token: str) -> dict[str, Any]:
        """Apply a planned change as it was planned."""
        self._drop_expired()
        plan = self._plans.pop(token, None)
        if plan is None:
            raise BadInput(
                f"no plan has the token `{token}`: a plan is applied once, within "
                f"{PLAN_SECONDS / 60:.0f} minutes; plan the change again"
            )
        return {"applied": plan.description, **await plan.apply()}

    def _keep(
        self, description: str, apply: Callable[[], Awaitable[Mapping[str, Any]]]
    ) -> dict[str, Any]:
        self._drop_expired()
        while len(self._plans) >= MAX_PLANS:
            del self._plans[next(iter(self._plans))]
        token = secrets.token_hex(8)
        self._plans[token] = PlannedChange(description, apply, self._clock() + PLAN_SECONDS)
        return {
            "token": token, "description": description,
            "next": "nothing was written; `apply_plan` with this token does so",
        }  # fmt: skip

    def _drop_expired(self) -> None:
        now = self._clock()
        self._plans = {t: plan for t, plan in self._plans.items() if plan.expires_at > now}


def _target(client: AsyncClient) -> str:
    return f" of the application {client.connection.app_id} at {client.connection.address}"


def _describe_change(index: str, made: Any) -> dict[str, Any]:
    change_id = made.attrs["svc"]["change_id"]
    return {
        "change_id": change_id,
        "undo": f"`plan_undo` of {index} with the change_id {change_id}",
    }

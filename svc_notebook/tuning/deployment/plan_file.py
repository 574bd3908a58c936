"""The plan of a deployment as a file: written by a dry run, reviewed, and applied as it is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svc_notebook.core.files import write_named_file
from svc_notebook.errors import BadInput
from svc_notebook.tuning.changes.change_steps import FACETS, facets_between
from svc_notebook.tuning.changes.state import Delta, Scope, holds
from svc_notebook.tuning.deployment.plan import IndexPlan, list_names

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient

FORMAT = "svc-deployment-plan-1"
# Members that are options of the deployment; the others say what changes where.
OPTIONS = ("index", "to", "name", "parts", "replicas", "forward_to_replicas", "force")
MEMBERS = ("format", *OPTIONS, "application", "address", "changes")
# By index of the target, scope and name: the value before and the value after.
Changes = dict[str, dict[str, dict[str, Any]]]


@dataclass(frozen=True)
class PlanFile:
    """A plan of a deployment that was read from a file; `options` are those of `deploy`."""

    path: Path
    options: dict[str, Any]
    service: tuple[str, str]
    changes: Changes

    async def check(self, target: AsyncClient, plans: list[IndexPlan]) -> None:
        """Raise `BadInput` unless the plans are those of the file, or a part that is left of it.

        What an interrupted deployment of the same file wrote is no longer in the plans.
        """
        self._check_service(target.connection.place)
        current = {plan.target: _list_changes(plan) for plan in plans}
        moved = [
            f"{scope} `{name}` of {index}"
            for index, scopes in current.items()
            for scope, names in scopes.items()
            for name, change in names.items()
            if change not in self._list_expected(index, scope, name)
        ]
        moved += [
            f"{scope} `{name}` of {index}"
            for index, scopes in self.changes.items()
            for scope, names in scopes.items()
            for name in await _list_missing(target, index, scope, names, current)
        ]
        if moved:
            raise BadInput(
                f"{list_names(tuple(dict.fromkeys(moved)))} changed since {self.path} was written; "
                "nothing was written. Plan again: deploy with dry_run=True and out="
            )

    def _check_service(self, service: tuple[str, str]) -> None:
        if service != self.service:
            application, address = self.service
            raise BadInput(
                f"{self.path} is a plan for the application {application} at {address}, and the "
                f"profile {self.options['to']} is {' at '.join(service)}; nothing was written"
            )

    def _list_expected(self, index: str, scope: str, name: str) -> list[dict[str, Any]]:
        """Return the change of the file, and its state if it is interrupted between its steps."""
        scopes = self.changes.get(index, {})
        change = scopes.get(scope, {}).get(name)
        if change is None:
            return []
        if (scope, name) != ("settings", FACETS):
            return [change]
        deltas: dict[Any, Delta] = {
            other: Delta({n: c["before"] for n, c in names.items()},
                         {n: c["after"] for n, c in names.items()})
            for other, names in scopes.items()
        }  # fmt: skip
        return [change, {**change, "before": facets_between(deltas)}]


async def _list_missing(
    target: AsyncClient, index: str, scope: str, names: dict[str, Any], current: Changes
) -> list[str]:
    """Return the planned objects that the plans no longer change and the target does not have."""
    left = current.get(index, {}).get(scope, {})
    planned = {name: change["after"] for name, change in names.items() if name not in left}
    kind: Any = scope
    if not planned or (index in current and await holds(target, index, kind, planned)):
        return []
    return [*planned]


def write_plan_file(
    path: Path, options: dict[str, Any], service: tuple[str, str], plans: list[IndexPlan]
) -> None:
    """Write a plan, so that a diff of two files shows one line per changed value."""
    body = {
        "format": FORMAT,
        **{name: options[name] for name in OPTIONS},
        "application": service[0],
        "address": service[1],
        "changes": {plan.target: _list_changes(plan) for plan in plans},
    }
    text = json.dumps(body, indent=2, ensure_ascii=False, sort_keys=False)
    write_named_file(path, f"{text}\n")


def read_plan_file(path: Path) -> PlanFile:
    """Read a plan; raises `BadInput`."""
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"the plan {path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise BadInput(f"{path} is not a plan of `deploy`: {error}") from error
    if not isinstance(body, dict) or body.get("format") != FORMAT or {*body} != {*MEMBERS}:
        raise BadInput(f"{path} is not a plan of `deploy`; write one with dry_run=True and out=")
    options = {name: body[name] for name in OPTIONS}
    return PlanFile(path, options, (body["application"], body["address"]), body["changes"])


def _list_changes(plan: IndexPlan) -> dict[str, dict[str, Any]]:
    """Return what a plan changes, in the form of the file."""
    return {scope: _write_delta(scope, delta) for scope, delta in plan.deltas.items()}


def _write_delta(scope: Scope, delta: Delta) -> dict[str, Any]:
    changes = {
        name: {"before": delta.before.get(name), "after": after}
        for name, after in sorted(delta.after.items())
    }
    written: dict[str, Any] = json.loads(json.dumps(changes))
    return written

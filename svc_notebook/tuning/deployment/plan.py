"""The plan of a deployment: changes of the target, changes by others since the clone, its file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from svc_notebook.core.display import format_count, join_first, write_list
from svc_notebook.core.files import write_named_file
from svc_notebook.errors import BadInput
from svc_notebook.tuning.changes.journalled_write import FACETS, facets_between
from svc_notebook.tuning.changes.state import (
    Delta,
    Deltas,
    Differences,
    IndexConfiguration,
    Objects,
    Scope,
    compare,
    holds,
    tabulate,
    write_differences,
)
from svc_notebook.tuning.deployment.origin import Origin, digest_object

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient

MAX_SHOWN_CHANGES = 60
# Digests that an interrupted deployment may have left, by scope and name.
Left = Mapping[tuple[Scope, str], set[str]]
FORMAT = "svc-deployment-plan-1"
# Members that are options of the deployment; the others say what changes where.
OPTIONS = ("index", "to", "name", "parts", "replicas", "forward_to_replicas", "force")
MEMBERS = ("format", *OPTIONS, "application", "address", "changes")
# By index of the target, scope and name: the value before and the value after.
Changes = dict[str, dict[str, dict[str, Any]]]


@dataclass(frozen=True)
class IndexPlan:
    """The changes of one index of the target.

    - `deltas`: what is written, by scope.
    - `kept`: what was changed there since the clone and is left as it is.
    - `conflicts`: what was changed on both sides.
    - `scopes`: the parts that are deployed; `exists`: whether the target has the index.
    """

    source: str
    target: str
    deltas: dict[Scope, Delta]
    kept: tuple[tuple[Scope, str], ...] = ()
    conflicts: tuple[tuple[Scope, str], ...] = ()
    scopes: tuple[Scope, ...] = ()
    exists: bool = True

    @property
    def proposed(self) -> dict[Scope, Objects]:
        """The objects to write, by scope; None deletes one."""
        return {scope: delta.after for scope, delta in self.deltas.items()}


def plan_index(
    source: str,
    target: str,
    ours: IndexConfiguration,
    theirs: IndexConfiguration,
    scopes: Iterable[Scope],
    *,
    origin: Origin | None,
    left: Left,
    force: bool,
    exists: bool = True,
) -> IndexPlan:
    """Compare the copy, the target and the origin by name.

    What only the copy changed is written. What only the target changed is kept, and what both
    changed is a conflict; `force` writes both.
    """
    deltas: dict[Scope, Delta] = {}
    kept: list[tuple[Scope, str]] = []
    conflicts: list[tuple[Scope, str]] = []
    chosen = tuple(scopes)
    for scope in chosen:
        differing = compare(scope, theirs.part(scope), ours.part(scope))
        written = []
        for name in differing.before:
            recorded = origin.known(target, scope, name) if origin else None
            there = digest_object(scope, name, differing.before[name])
            if recorded is None or there in recorded or there in left.get((scope, name), ()):
                written.append(name)
                continue
            here = digest_object(scope, name, differing.after[name])
            (kept if here == recorded[-1] else conflicts).append((scope, name))
            if force:
                written.append(name)
        if written:
            deltas[scope] = differing.only(written)
    return IndexPlan(source, target, deltas, tuple(kept), tuple(conflicts), chosen, exists)


@dataclass(frozen=True, repr=False)
class DeploymentPlan:
    """The plan of a deployment, before anything is written; displayed as HTML in notebooks.

    Attributes
    ----------
    index : str
        Name of the index that is deployed.
    target : str
        Name of the index on the target.
    profile : str
        Profile of the target.
    changes : DataFrame
        One row per change: `index`, `scope`, `name`, `kind`, `before` and `after`, as
        `svc.tuning.diff` has them.
    kept : tuple of str
        What was changed on the target since the clone and stays as it is.
    conflicts : tuple of str
        What was changed on both sides since the clone.
    records : int or None
        Number of records that replace those of the target; None if records are not deployed.
    notes : tuple of str
        Notes on the deployment.

    Examples
    --------
    >>> clone = svc.clone("products", from_="shop", name="tried", if_exists="replace")
    >>> change = svc.set_settings("tried", {"hitsPerPage": 10})
    >>> plan = svc.deploy("tried", to="shop", name="products", dry_run=True).plan
    >>> plan.changes[["scope", "name", "kind", "before", "after"]]
          scope         name kind before after
    0  settings  hitsPerPage  new     20    10
    """

    index: str
    target: str
    profile: str
    changes: pd.DataFrame
    kept: tuple[str, ...]
    conflicts: tuple[str, ...]
    records: int | None
    notes: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing is to be written."""
        return self.changes.empty and self.records is None

    def __repr__(self) -> str:
        parts = [self._headline()]
        if len(self.changes):
            shown = self.changes.head(MAX_SHOWN_CHANGES)
            parts.append(shown.to_string(index=False, max_colwidth=40))
        return "\n".join([*parts, *(f"note: {remark}" for remark in self._remarks())])

    def _repr_html_(self) -> str:
        tables = []
        for name, rows in self.changes.head(MAX_SHOWN_CHANGES).groupby("index", sort=False):
            title = f"<p><code>{escape(str(name))}</code></p>" if name != self.target else ""
            tables.append(title + write_differences(rows.drop(columns="index")))
        return f"<p>{escape(self._headline())}</p>{''.join(tables)}{write_list(self._remarks())}"

    def _remarks(self) -> Iterator[str]:
        if len(self.changes) > MAX_SHOWN_CHANGES:
            yield f"{len(self.changes) - MAX_SHOWN_CHANGES:,} more changes are in `changes`"
        yield from self.notes
        if self.kept:
            yield (
                f"changed on {self.profile} since the clone, and kept: {join_first(self.kept)}; "
                "force=True overwrites it"
            )
        if self.conflicts:
            yield (
                f"changed on both sides since the clone: {join_first(self.conflicts)}; "
                "force=True overwrites it"
            )

    def _headline(self) -> str:
        return f"{self.index} -> {self.target} of {self.profile}: {self.describe()}"

    def to_frame(self) -> pd.DataFrame:
        """Return the changes, for output as CSV or JSON."""
        return self.changes

    def describe(self) -> str:
        """Describe what changes, in words."""
        counts = [
            f"{format_count(len(rows), str(scope)[:-1])} {KIND_WORDS[str(kind)]}"
            for (scope, kind), rows in self.changes.groupby(["scope", "kind"], sort=False)
        ]
        if self.records is not None:
            counts.append(f"all records replaced by {format_count(self.records, 'record')}")
        return ", ".join(counts) or "nothing differs"


KIND_WORDS = {"new": "added", "changed": "changed", "gone": "removed"}


def make_plan(
    index: str,
    target: str,
    profile: str,
    plans: Iterable[IndexPlan],
    records: int | None,
    notes: Iterable[str],
    *,
    force: bool = False,
) -> DeploymentPlan:
    """Summarize the plans of the indices of a target; `force` overwrites what others changed."""
    listed = list(plans)
    kept = tuple(_name(plan, *change, target) for plan in listed for change in plan.kept)
    conflicts = tuple(_name(plan, *change, target) for plan in listed for change in plan.conflicts)
    remarks = list(notes)
    if force and (overwritten := kept + conflicts):
        remarks.append(
            f"changed on {profile} since the clone, and overwritten: {join_first(overwritten)}"
        )
        kept = conflicts = ()
    differences = tabulate_indices({plan.target: plan.deltas for plan in listed})
    return DeploymentPlan(
        index, target, profile, differences, kept, conflicts, records, tuple(remarks)
    )


def tabulate_indices(deltas: Mapping[str, Deltas]) -> Differences:
    """Return the differences of several indices as one table, whose first column is `index`."""
    tables = {index: tabulate(scopes) for index, scopes in deltas.items()}
    frames = [pd.DataFrame(table).assign(index=index) for index, table in tables.items()
              if len(table)]  # fmt: skip
    columns = ["index", *tabulate({}).columns]
    if not frames:
        return Differences(pd.DataFrame(columns=columns, dtype=object))
    return Differences(pd.concat(frames, ignore_index=True)[columns])


def _name(plan: IndexPlan, scope: Scope, name: str, target: str) -> str:
    of = "" if plan.target == target else f" of {plan.target}"
    return f"{scope} `{name}`{of}"


@dataclass(frozen=True, repr=False)
class Deployment:
    """The result of a deployment; displayed as HTML in notebooks.

    Attributes
    ----------
    plan : DeploymentPlan
        Plan of the deployment.
    dry_run : bool
        Whether nothing was written.
    verified : bool
        Whether the target, read back, has what was deployed.
    change_ids : dict of str
        Ids of the changes in the journal, by index, for `undo`.
    records : int
        Number of records that were deployed.
    seconds : float
        Duration in seconds.

    Examples
    --------
    >>> clone = svc.clone("products", from_="shop", name="tried", if_exists="replace")
    >>> change = svc.set_settings("tried", {"hitsPerPage": 10})
    >>> svc.deploy("tried", to="shop", name="products").verified
    True
    """

    plan: DeploymentPlan
    dry_run: bool
    verified: bool
    change_ids: Mapping[str, str]
    records: int
    seconds: float

    @property
    def complete(self) -> bool:
        """Whether everything is on the target, or the run was dry."""
        return self.dry_run or self.verified

    def __repr__(self) -> str:
        return f"{self._headline()}\n{self.plan!r}"

    def to_frame(self) -> pd.DataFrame:
        """Return the changes, for output as CSV or JSON."""
        return self.plan.changes

    def _repr_html_(self) -> str:
        return f"<p>{escape(self._headline())}</p>{self.plan._repr_html_()}"

    def _headline(self) -> str:
        if self.dry_run:
            return "dry run: nothing was written"
        if self.plan.empty:
            return "nothing to deploy"
        parts = [format_count(len(self.plan.changes), "change")]
        if self.plan.records is not None:
            parts.append(format_count(self.records, "record"))
        read_back = "verified" if self.verified else "NOT verified: the target differs"
        undo = "".join(
            f"; `svc undo {index} {change} --profile {self.plan.profile}` reverts it"
            for index, change in self.change_ids.items()
        )
        return f"deployed {', '.join(parts)} in {self.seconds:.1f} s, {read_back}{undo}"


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
                f"{join_first(list(dict.fromkeys(moved)))} changed since {self.path} was written; "
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
        raise BadInput(f"{path} is not a plan of `svc.deploy`: {error}") from error
    if not isinstance(body, dict) or body.get("format") != FORMAT or {*body} != {*MEMBERS}:
        raise BadInput(
            f"{path} is not a plan of `svc.deploy`; write one with dry_run=True and out="
        )
    options = {name: body[name] for name in OPTIONS}
    return PlanFile(path, options, (body["application"], body["address"]), body["changes"])


def _list_changes(plan: IndexPlan) -> dict[str, dict[str, Any]]:
    """Return what a plan changes, in the form of the file."""
    changes = {
        scope: {
            name: {"before": delta.before.get(name), "after": after}
            for name, after in sorted(delta.after.items())
        }
        for scope, delta in plan.deltas.items()
    }
    written: dict[str, dict[str, Any]] = json.loads(json.dumps(changes))
    return written

"""Indices between services: clone one here, deploy its configuration there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from svc_notebook.core.api.values import OneOrMany, list_texts
from svc_notebook.core.files import expand_path
from svc_notebook.data.client import Client, OnProgress, background_loop
from svc_notebook.data.declarations import public, verb
from svc_notebook.data.loading import check_min_share
from svc_notebook.data.session import AnyClient, asynchronous, client_of
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.tuning.changes import SCOPES
from svc_notebook.tuning.deployment import (
    PARTS,
    Clone,
    CloneRun,
    Deployment,
    DeploymentPlan,
    DeployRun,
    IfCloneExists,
    Part,
    PlanFile,
    RecordChoice,
    Replicas,
    read_plan_file,
)
from svc_notebook.tuning.statistics import check_seed
from svc_notebook.tuning.tables import Table, check_judgments

LISTS = {"parts": list[Part], "replicas": bool}


@public(
    verb(
        "clone",
        "clone products --from shop",
        "clone products --from shop --sample 5000 --judgments judged.csv",
        "clone products --from shop --name products-try --if-exists replace --replicas",
        names={"from_": "from"},
        types=LISTS,
        required=("from_",),
        completes={"from_": "profile", "judgments": "path", "index": None},
    ),
    bar="records",
)
async def clone(
    index: str,
    *,
    from_: str,
    name: str | None = None,
    parts: OneOrMany | None = None,
    filters: str = "",
    sample: int | None = None,
    seed: int = 0,
    judgments: Table | None = None,
    replicas: Replicas = False,
    if_exists: IfCloneExists = "fail",
    resume: bool = False,
    client: AnyClient | None = None,
    on_progress: OnProgress | None = None,
) -> Clone:
    """Clone an index of another service: settings, synonyms, rules and records.

    The records are streamed into a temporary index, which takes the name in one step at the
    end. The rights of both keys are checked before anything is copied. Digests of the original's
    settings, synonyms and rules are stored beside the journal, so that `deploy` detects later
    changes to them.

    Parameters
    ----------
    index : str
        Name of the index to clone.
    from_ : str
        Profile of the service that has the index. The environment provides only values that
        the profile does not have.
    name : str, default the same name
        Name of the clone.
    parts : {'settings', 'synonyms', 'rules', 'records'} or list of these, default all
        Parts to clone. Without `records`, the parts of an existing index are replaced, and
        `undo` reverts that.
    filters : str, default ""
        Clone only the records that match these filters.
    sample : int, default None
        Clone only this number of records, chosen at random; None clones all.
    seed : int, default 0
        Seed of the sample: the same seed chooses the same records.
    judgments : DataFrame, list of dict or path, default None
        Judgments; their records are cloned even if the filters or the sample exclude them.
    replicas : bool or dict of str, default False
        Clone the replicas too: all, or those named, each with its new name. By default, a
        replica whose name begins with the name of the index is renamed with it.
    if_exists : {'fail', 'replace'}, default 'fail'
        What to do with an existing index: fail, or replace it.
    resume : bool, default False
        Resume an interrupted clone with the same options.
    client : Client or AsyncClient, default the current client
        Client of the service that receives the clone.

    Returns
    -------
    Clone
        The number of records, synonyms and rules, and the names of the replicas.

    Raises
    ------
    BadInput
        If an option is wrong, or the index exists.
    NotConnected
        If the profile does not exist, or lacks a value.
    KeyRefused
        If a key lacks a right; nothing was copied.
    NotFound
        If the profile has no such index.
    CallFailed
        If a service cannot be reached or refuses a call.
    Stopped
        If the clone is cancelled; `resume` continues it.

    Examples
    --------
    >>> clone = svc.clone("products", from_="shop", name="products-sample", sample=50)
    >>> clone.records
    50
    >>> clone = svc.clone(
    ...     "products", from_="shop", name="cheap", filters="price < 50", if_exists="replace"
    ... )
    >>> clone.records
    158
    """
    chosen, choice = _parts(parts), _choice(filters, sample, seed, judgments)
    run = CloneRun(
        source=asynchronous(client_of(_profile(from_, "from_"))),
        profile=from_,
        index=index,
        client=asynchronous(client),
        name=index if name is None else name,
        parts=chosen,
        choice=choice,
        replicas=replicas,
        if_exists=if_exists,
        resume=resume,
        on_progress=on_progress,
    )
    if "records" not in run.parts and (run.choice != RecordChoice(seed=seed) or resume):
        raise BadInput(
            "`filters`, `sample`, `judgments` and `resume` apply to records: add records to `parts`"
        )
    return await run.carry_out()


def writes_nothing(given: Mapping[str, Any]) -> bool:
    """Return whether a deployment is a dry run."""
    return bool(given.get("dry_run"))


def settle_deployment(given: Mapping[str, Any], client: Client) -> tuple[str, dict[str, Any]]:
    """Describe what a deployment changes on its target; nothing is written."""
    run = _deploy_run({**given, "client": client})
    plan = background_loop.run(run.carry_out(dry_run=True)).plan
    print(plan)  # noqa: T201 - the plan is what is confirmed
    force = ", overwriting changes there since the clone" if run.force else ""
    bound = {} if run.reviewed is None else {"to": run.profile}
    return f"deploy {run.index} to {run.name} ({plan.describe()}{force})", bound


def plan_or_deployment(result: Deployment) -> Deployment | DeploymentPlan:
    """Return the plan of a dry run, else the result."""
    return result.plan if result.dry_run else result


@public(
    verb(
        "deploy",
        "deploy products --to shop --dry-run",
        "deploy products --to shop --parts settings,rules --yes",
        "deploy products-try --to shop --name products --forward-to-replicas",
        "deploy products --to shop --atomic --yes",
        "deploy products --to shop --dry-run --out plan.json",
        "deploy --plan plan.json --yes",
        "deploy products --to shop --guard head.csv --yes",
        types={"parts": list[Part], "replicas": bool},
        completes={
            "index": "index",
            "to": "profile",
            "out": "path",
            "plan": "path",
            "guard": "path",
        },
        destructive="deploy {index} to {to}",
        spares=writes_nothing,
        settles=settle_deployment,
        writes_to="to",
        result=plan_or_deployment,
    ),
    bar="records",
)
async def deploy(
    index: str | None = None,
    *,
    to: str | None = None,
    name: str | None = None,
    parts: OneOrMany = SCOPES,
    replicas: Replicas = False,
    forward_to_replicas: bool = False,
    force: bool = False,
    atomic: bool = False,
    mark: bool = False,
    dry_run: bool = False,
    resume: bool = False,
    min_share: float | None = None,
    out: str | os.PathLike[str] | None = None,
    plan: str | os.PathLike[str] | None = None,
    guard: Table | None = None,
    note: str = "",
    client: AnyClient | None = None,
    on_progress: OnProgress | None = None,
) -> Deployment:
    """Deploy settings, synonyms and rules of an index to another service.

    Only the differences are written: settings first, then synonyms and rules in one step each;
    facets that are removed stay until the rules are replaced. Then the target is read back. If
    the index is a clone of the target, what others changed there since the clone is kept, and a
    change on both sides is a conflict that stops the deployment. The change is recorded in the
    journal: `svc.tuning.undo` with the target's client reverts it. Settings that name indices
    are never copied.

    Parameters
    ----------
    index : str, default that of `plan`
        Name of the index to deploy.
    to : str, default that of `plan`
        Profile of the service to deploy to. The environment provides only values that the
        profile does not have.
    name : str, default the same name
        Name of the index on the target.
    parts : {'settings', 'synonyms', 'rules', 'records'} or list of these, default all but records
        Parts to deploy. `records` replace all records of the target, together with the other
        parts, in one step.
    replicas : bool or dict of str, default False
        Deploy the replicas too: all, or those named, each with its name on the target. By
        default, a replica whose name begins with the name of the index is renamed with it.
    forward_to_replicas : bool, default False
        Forward the changes of the index to all replicas of the target, which replaces what they
        have.
    force : bool, default False
        Overwrite what others changed on the target since the clone.
    atomic : bool, default False
        Change a copy of the target within its service and move it over the target, so that
        searches see all changes of the index at once. The plan has its price; replicas are
        written afterwards.
    mark : bool, default False
        Mark the target in the index `svc_marks` of its service while it is written, and refuse if
        somebody else has marked it. A mark expires after an hour. The key needs `addObject` and
        `search` for that index.
    dry_run : bool, default False
        Write nothing; the `plan` of the result shows the differences.
    resume : bool, default False
        Resume an interrupted deployment of records.
    min_share : float, default None
        With records, minimum number of new records, as a share from 0 to 1 of the number of
        previous records; None requires half of 1,000 records or more, and refuses a clone of
        only some records.
    out : path, default None
        With `dry_run`, JSON file to which the plan is written, for a review.
    plan : path, default None
        File that `out` wrote, which is applied as it is, in place of `index` and the other
        options; refused if the target or the index changed since. After an interruption, the
        same call writes the rest.
    guard : DataFrame, list of dict or path, default None
        Judgments of queries whose score (nDCG@10) must not fall on the target: the changes of
        the index are tried there first, and refused with the names of the queries that lose.
    client : Client or AsyncClient, default the current client
        Client of the service that has the index.

    Returns
    -------
    Deployment
        The plan, whether the target was verified, and the ids for `undo`.

    Raises
    ------
    BadInput
        If an option is wrong, both sides changed the same object since the clone, something
        changed since `plan` was written, or a query of `guard` loses; nothing was written.
    NotConnected
        If the profile does not exist, or lacks a value.
    KeyRefused
        If a key lacks a right; nothing was written.
    NotFound
    CallFailed
        If a service cannot be reached or refuses a call.
    TaskFailed
        If the service accepts a write but does not publish it within 600 seconds.

    Examples
    --------
    >>> clone = svc.clone("products", from_="shop", name="spring", if_exists="replace")
    >>> change = svc.set_settings("spring", {"customRanking": ["desc(reviews)"]})
    >>> svc.deploy("spring", to="shop", name="products", dry_run=True).plan
    spring -> products of shop: 1 setting added
       index    scope          name kind before           after
    products settings customRanking  new   None [desc(reviews)]
    >>> svc.deploy("spring", to="shop", name="products").verified
    True
    """
    run = _deploy_run(
        {
            "index": index, "to": to, "name": name, "parts": parts, "replicas": replicas,
            "forward_to_replicas": forward_to_replicas, "force": force, "atomic": atomic,
            "mark": mark, "resume": resume,
            "min_share": min_share, "out": out, "plan": plan, "dry_run": dry_run, "note": note,
            "client": client, "on_progress": on_progress, "guard": guard,
        }
    )  # fmt: skip
    return await run.carry_out(dry_run=dry_run)


def _deploy_run(given: Mapping[str, Any]) -> DeployRun:
    reviewed = None
    if given.get("plan") is not None:
        reviewed = _read_plan(given)
        given = {**given, **reviewed.options}
    if not given.get("index"):
        raise BadInput("`index` is missing: name the index to deploy, or a file as `plan`")
    out = given.get("out")
    if out is not None and not given.get("dry_run"):
        raise BadInput("`out` writes the plan of a dry run: pass dry_run=True, too")
    parts = _parts(given.get("parts", SCOPES))
    min_share = given.get("min_share")
    check_min_share(min_share, "replace")
    _refuse_contradictions(given, with_records="records" in parts, by_file=bool(reviewed))
    to = _profile(given.get("to"), "to")
    return DeployRun(
        client=asynchronous(given.get("client")),
        index=given["index"],
        target=asynchronous(client_of(to)),
        profile=to,
        name=given.get("name") or given["index"],
        parts=parts,
        replicas=given.get("replicas", False),
        forward=given.get("forward_to_replicas", False),
        force=given.get("force", False),
        atomic=given.get("atomic", False),
        mark=given.get("mark", False),
        resume=given.get("resume", False),
        min_share=min_share,
        note=given.get("note", ""),
        on_progress=given.get("on_progress"),
        out=None if out is None else expand_path(out),
        reviewed=reviewed,
        guard=None if given.get("guard") is None else check_judgments(given["guard"]),
    )


def _refuse_contradictions(given: Mapping[str, Any], *, with_records: bool, by_file: bool) -> None:
    """Raise `BadInput` for options that do not apply together."""
    is_given = {name for name in ("min_share", "out", "guard") if given.get(name) is not None}
    for_records = bool(given.get("resume")) or "min_share" in is_given
    refusals = {
        "`resume` and `min_share` apply to records: add records to `parts` to deploy them": (
            for_records and not with_records
        ),
        "a file contains no records: leave records out of `parts`": (
            with_records and ("out" in is_given or by_file)
        ),
        "`guard` tries settings, synonyms and rules on the records of the target: leave records "
        "out of `parts`": with_records and "guard" in is_given,
        "`atomic` writes the index alone: leave out `forward_to_replicas`, or deploy the replicas "
        "with replicas=True": given.get("atomic") and given.get("forward_to_replicas"),
    }
    for message, applies in refusals.items():
        if applies:
            raise BadInput(message)


def _read_plan(given: Mapping[str, Any]) -> PlanFile:
    """Read the plan to apply; options that contradict it are refused."""
    plan = read_plan_file(expand_path(given["plan"]))
    usual = {"index": None, "to": None, "name": None, "replicas": False,
             "forward_to_replicas": False, "force": False, "parts": SCOPES}  # fmt: skip
    for name, default in usual.items():
        value = given.get(name, default)
        if value not in (default, plan.options[name]):
            raise BadInput(
                f"`{name}` is part of the plan {plan.path}, which is applied as it is: leave it "
                "out, or plan again"
            )
    if given.get("resume") or given.get("min_share") is not None or given.get("out") is not None:
        raise BadInput("`plan` is applied as it is: leave out `resume`, `min_share` and `out`")
    return plan


def _profile(given: Any, parameter: str) -> str:
    if not isinstance(given, str) or not given:
        raise BadInput(f"`{parameter}` must be the name of a profile, not {given!r}")
    return given


def _parts(given: OneOrMany | None) -> tuple[Part, ...]:
    if given is None:
        return PARTS
    named: list[Any] = list_texts(given, "parts")
    for scope in named:
        if scope not in PARTS:
            raise BadInput(
                f"`parts` must be one or more of {', '.join(PARTS)}, not {scope!r}"
                f"{did_you_mean(scope, PARTS)}"
            )
    if not named:
        raise BadInput(f"`parts` is empty; name one or more of {', '.join(PARTS)}")
    return tuple(part for part in PARTS if part in named)


def _choice(filters: str, sample: int | None, seed: int, judgments: Table | None) -> RecordChoice:
    if sample is not None and sample < 0:
        raise BadInput(f"`sample` must be a number of records, 0 or more, not {sample!r}")
    named = () if judgments is None else check_judgments(judgments)["objectID"].unique()
    return RecordChoice(filters, sample, check_seed(seed), tuple(sorted(named)))

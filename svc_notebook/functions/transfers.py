"""Indices between services: clone one here, deploy its configuration there."""

from __future__ import annotations

from typing import Any

from svc_notebook.api.texts import OneOrMany, list_texts
from svc_notebook.client.tasks import OnProgress
from svc_notebook.declarations.declaration import public, verb
from svc_notebook.deployment.clone import PARTS, Clone, CloneRun, IfCloneExists, Part
from svc_notebook.deployment.record_transfer import RecordChoice
from svc_notebook.deployment.replica_names import Replicas
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.session.connection import AnyClient, asynchronous, client_of
from svc_notebook.tuning.statistics import check_seed
from svc_notebook.tuning.tables.tables import Table, check_judgments

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
    endpoints=("browse", "get_objects", "batch", "operate_index", "set_settings"),
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
    end. The rights of both keys are checked before anything is copied. The state of the
    original is stored beside the journal, so that `deploy` recognises later changes to it.

    Parameters
    ----------
    index : str
        Name of the index to clone.
    from_ : str
        Profile of the service that has the index. Its values come from the configuration, and
        from the environment only what the configuration lacks.
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
        Judgments, whose records are cloned in any case.
    replicas : bool or dict of str, default False
        Clone the replicas too: all, or those named, each with its new name. By default, a
        replica whose name begins with the name of the index is renamed with it.
    if_exists : {'fail', 'replace'}, default 'fail'
        What to do with an existing index: fail, or replace it.
    resume : bool, default False
        Resume an interrupted clone with the same options.
    client : Client or AsyncClient, default the current client
        Client of the service that receives the clone.
    on_progress : callable, default None
        Function that is called with the number of records copied and the total number of
        records.

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
    run = CloneRun(
        source=asynchronous(client_of(_profile(from_, "from_"))),
        profile=from_,
        index=index,
        client=asynchronous(client),
        name=index if name is None else name,
        parts=_parts(parts),
        choice=_choice(filters, sample, seed, judgments),
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


def _profile(given: Any, parameter: str) -> str:
    if not isinstance(given, str) or not given:
        raise BadInput(f"`{parameter}` must be the name of a profile, not {given!r}")
    return given


def _parts(given: OneOrMany | None) -> tuple[Part, ...]:
    if given is None:
        return PARTS
    named: list[Any] = list_texts(given, "parts")
    for each in named:
        if each not in PARTS:
            raise BadInput(
                f"`parts` must be one or more of {', '.join(PARTS)}, not {each!r}"
                f"{did_you_mean(each, PARTS)}"
            )
    if not named:
        raise BadInput(f"`parts` is empty; name one or more of {', '.join(PARTS)}")
    return tuple(part for part in PARTS if part in named)


def _choice(filters: str, sample: int | None, seed: int, judgments: Table | None) -> RecordChoice:
    if sample is not None and (isinstance(sample, bool) or not isinstance(sample, int)
                               or sample < 0):  # fmt: skip
        raise BadInput(f"`sample` must be a number of records, 0 or more, not {sample!r}")
    named = () if judgments is None else check_judgments(judgments)["objectID"].unique()
    return RecordChoice(filters, sample, check_seed(seed), tuple(sorted(named)))

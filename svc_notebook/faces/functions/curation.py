"""Operations that synonyms and rules share, and the verbs and docstrings of their functions.

The operations are save, replace, delete, clear, export and count. Functions of dictionary entries
have the same verbs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, TypeVar

from svc_notebook.core.api.shapes import DictionaryEntry, Rule, Synonym
from svc_notebook.data.client import (
    HITS_PER_PAGE,
    AsyncClient,
    Confirm,
    ResourceKind,
    WriteOutcome,
    find_all,
    run_together,
    with_extra,
    write_and_wait,
)
from svc_notebook.data.declarations import BodyDocument, public, verb
from svc_notebook.data.frames import id_text
from svc_notebook.errors import BadInput, KeyRefused, NotFound
from svc_notebook.faces.functions.documents import Documents, take_curated, write_file
from svc_notebook.tuning.changes import by_id, holds, noting

F = TypeVar("F", bound=Callable[..., Any])

SAVING = """
Parameters
----------
{parameter} : dict, list of dict, DataFrame or path
    {given}: one, several, the rows of a table, or a CSV, JSON or NDJSON file.{generated}
extra : dict, default None
    Members to add to each object without validation; objects are merged at every depth.

Returns
-------
dict
    {saved}, and the number of {members}
    `before` and `after` (None if the key may not read them); `status` if the key may not read
    tasks.

Raises
------
BadInput
    If {wrong} a wrong or unknown member.
TaskFailed
"""
DELETING = """
Parameters
----------
ids : str or list of str
    objectIDs of the {parameter}.

Returns
-------
dict
    `{owner}`, and the number of {members} `before` and `after` (None if the key may not read
    them); `status` if the key may not read tasks.

Raises
------
NotFound
    If {missing} does not exist.
TaskFailed
"""
EXPORTING = """
Parameters
----------
path : path
    File to write; its suffix `.csv`, `.json` or `.ndjson` determines the format. An
    existing file is replaced.

Returns
-------
dict
    `{owner}`, `path` and `written` (number of {parameter}).

Raises
------
BadInput
    If the suffix is not supported or the file cannot be written.
"""
WriteSummary = dict[str, Any]
MAX_PARALLEL_DELETIONS = 8
MAX_LISTED_IDS = 10


class Forward(TypedDict, total=False):
    """Whether the replicas change too."""

    forwardToReplicas: bool


async def save(
    client: AsyncClient,
    kind: ResourceKind,
    index: str,
    given: Documents,
    forward: Forward,
    extra: Mapping[str, Any] | None = None,
) -> WriteSummary:
    """Add objects, or replace those with the same objectID."""
    objects, made = take_curated(given, kind)
    before = await count(client, kind, index)
    saving = with_extra(client, extra)
    async with noting(client, index, {kind.name: by_id(objects)}, note=f"{kind.name} save"):
        answers = [
            await kind.save(saving, index, objects[start : start + HITS_PER_PAGE], False, forward)
            for start in range(0, len(objects), HITS_PER_PAGE)
        ]
        outcome = await write_and_wait(
            client, answers, index=index, confirm=_confirm(client, kind, index, objects, extra)
        )
    saved = {"saved": len(objects), **_generated(made)}
    return await _summary(client, kind, index, before, outcome, **saved)


async def replace(
    client: AsyncClient,
    kind: ResourceKind,
    index: str,
    given: Documents,
    forward: Forward,
    extra: Mapping[str, Any] | None = None,
) -> WriteSummary:
    """Replace all objects at once."""
    objects, made = take_curated(given, kind)
    if not objects:
        raise BadInput(f"no {kind.name} to save; svc.clear_{kind.name}({index!r}) deletes all")
    before = await count(client, kind, index)
    note = f"{kind.name} replace"
    async with noting(client, index, {kind.name: by_id(objects)}, whole=True, note=note):
        outcome = await write_and_wait(
            client,
            kind.save(with_extra(client, extra), index, objects, True, forward),
            index=index,
            confirm=_confirm(client, kind, index, objects, extra, whole=True),
        )
    saved = {"saved": len(objects), **_generated(made)}
    return await _summary(client, kind, index, before, outcome, **saved)


async def delete(
    client: AsyncClient, kind: ResourceKind, index: str, ids: Iterable[Any], forward: Forward
) -> WriteSummary:
    """Delete objects by objectID; if one does not exist, raise `NotFound` and delete nothing.

    A key that may not read the objects deletes without that check.
    """
    names, before = await read_ids(
        ids, lambda: find_all(client, kind, index), f"{index} has no {kind.name}"
    )
    answers: list[Any] = []

    async def delete_one(name: str) -> None:
        answers.append(await kind.delete(client, index, name, forward))

    gone = dict.fromkeys(names)
    async with noting(client, index, {kind.name: gone}, note=f"{kind.name} delete"):
        for start in range(0, len(names), MAX_PARALLEL_DELETIONS):
            await run_together(
                delete_one(name) for name in names[start : start + MAX_PARALLEL_DELETIONS]
            )
        outcome = await write_and_wait(
            client, answers, index=index,
            confirm=lambda: holds(client, index, kind.name, gone),
        )  # fmt: skip
    return await _summary(client, kind, index, before, outcome)


async def read_ids(
    ids: Iterable[Any],
    read_stored: Callable[[], Awaitable[Iterable[Mapping[str, Any]]]],
    lacks: str,
) -> tuple[list[str], int | None]:
    """Return the objectIDs to delete, and the number of stored objects.

    If one of them is not stored, raise `NotFound` with the words `lacks`. The number is None if the
    key may not read the objects, which is not an error.
    """
    names = list(dict.fromkeys(id_text(name) for name in ([ids] if isinstance(ids, str) else ids)))
    try:
        present = {document["objectID"] for document in await read_stored()}
    except KeyRefused:
        return names, None
    if missing := [name for name in names if name not in present]:
        listed = ", ".join(missing[:MAX_LISTED_IDS])
        raise NotFound(f"{lacks} {listed}; nothing was deleted", status=404)
    return names, len(present)


async def clear(
    client: AsyncClient, kind: ResourceKind, index: str, forward: Forward
) -> WriteSummary:
    """Delete all objects; raise `NotFound` if the index does not exist."""
    before = await count(client, kind, index)
    if before == 0 and not await client.index_exists(index):
        raise NotFound(f"Index {index} does not exist", status=404)
    async with noting(client, index, {kind.name: {}}, whole=True, note=f"{kind.name} clear"):
        outcome = await write_and_wait(
            client,
            kind.clear(client, index, forward),
            index=index,
            confirm=lambda: holds(client, index, kind.name, {}, whole=True),
        )
    return await _summary(client, kind, index, before, outcome)


async def export(
    client: AsyncClient, kind: ResourceKind, index: str, path: str | Path
) -> WriteSummary:
    """Write all objects to a file."""
    objects = await find_all(client, kind, index)
    write_file(Path(path), objects, kind.shape)
    return {"index": index, "path": str(path), "written": len(objects)}


async def count(client: AsyncClient, kind: ResourceKind, index: str) -> int | None:
    """Count the objects; None if the key may not read them, 0 if the index does not exist."""
    try:
        answer = await kind.find(client, index, 0, 1)
    except NotFound:
        return 0
    except KeyRefused:
        return None
    return int(answer["nbHits"])


def _generated(ids: list[str]) -> dict[str, list[str]]:
    """Return the objectIDs that were generated, if any."""
    return {"made": ids} if ids else {}


async def _summary(
    client: AsyncClient,
    kind: ResourceKind,
    index: str,
    before: int | None,
    outcome: WriteOutcome,
    **more: Any,
) -> WriteSummary:
    after = await count(client, kind, index)
    return {"index": index, **more, "before": before, "after": after, **outcome.facts()}


def _confirm(
    client: AsyncClient,
    kind: ResourceKind,
    index: str,
    objects: Iterable[Mapping[str, Any]],
    extra: Mapping[str, Any] | None,
    *,
    whole: bool = False,
) -> Confirm | None:
    """Return the check that objects are saved; there is none if `extra` is sent."""
    if extra:
        return None
    return lambda: holds(client, index, kind.name, by_id(objects), whole=whole)


@dataclass(frozen=True)
class Resource:
    """Objects with an objectID that belong to an index or to a dictionary.

    - `family`: the word that begins their verbs.
    - `parameter`: the parameter that takes them, which is their word in docstrings.
    - `member`, `members`: the words for one writable object and for all of them.
    - `owner`: the parameter for what they belong to, and its words in confirmations.
    - `saved`: the members of a result of saving, besides their number.
    """

    family: str
    parameter: str
    shape: Any
    member: str
    members: str
    owner: str
    of_owner: str
    saved: str
    generated: str = ""

    def saves(self, *examples: str, imports: str, **facts: Any) -> Callable[[F], F]:
        """Declare the function that adds objects or replaces those with the same objectID."""
        return public(
            verb(
                f"{self.family} save",
                *examples,
                variable=self.parameter,
                document=BodyDocument(self.parameter, self.shape),
            ),
            verb(
                f"{self.family} import",
                imports,
                summary=f"Save the {self.parameter} of a file",
                names={self.parameter: "file"},
                completes={self.parameter: "path"},
            ),
            like=self._describe(
                SAVING, given=self.parameter.capitalize(), wrong=f"{self._a_member} has"
            ),
            **facts,
        )

    def replaces(self, example: str, **facts: Any) -> Callable[[F], F]:
        """Declare the function that replaces all objects at once."""
        return public(
            verb(
                f"{self.family} replace",
                example,
                variable=self.parameter,
                document=BodyDocument(self.parameter, self.shape),
                destructive=f"replace all {self.members} of {self.of_owner}",
            ),
            like=self._describe(
                SAVING,
                given=f"New {self.parameter}",
                wrong=f"the {self.parameter} are empty, or one has",
            ),
            **facts,
        )

    def deletes(self, example: str, *, completes: str = "", **facts: Any) -> Callable[[F], F]:
        """Declare the function that deletes objects by objectID."""
        return public(
            verb(
                f"{self.family} delete",
                example,
                completes={"ids": completes} if completes else {},
                destructive=f"delete {self.parameter} of {self.of_owner}",
            ),
            like=self._describe(DELETING),
            **facts,
        )

    def clears(self, example: str, **facts: Any) -> Callable[[F], F]:
        """Declare the function that deletes all objects."""
        return public(
            verb(
                f"{self.family} clear",
                example,
                destructive=f"delete all {self.members} of {self.of_owner}",
            ),
            like=self._describe(DELETING),
            **facts,
        )

    def exports(self, example: str, **facts: Any) -> Callable[[F], F]:
        """Declare the function that writes all objects to a file."""
        return public(
            verb(f"{self.family} export", example, names={"path": "file"}),
            like=self._describe(EXPORTING),
            **facts,
        )

    @property
    def _a_member(self) -> str:
        return f"{'an' if self.member[0] in 'aeiou' else 'a'} {self.member}"

    def _describe(self, template: str, **words: str) -> str:
        in_index = self.owner == "index"
        missing = f"the index or {self._a_member}" if in_index else self._a_member
        return template.format(**vars(self), missing=missing, **words)


GENERATED = " One without\n    an objectID gets an id that is derived from its content."
SAVED_IN_INDEX = "`index`, `saved`, `made` (list of the derived objectIDs, if any)"
SYNONYMS = Resource(
    "synonyms", "synonyms", Synonym, "synonym", "synonyms", "index", "{index}",
    SAVED_IN_INDEX, GENERATED,
)  # fmt: skip
RULES = Resource(
    "rules", "rules", Rule, "rule", "rules", "index", "{index}", SAVED_IN_INDEX, GENERATED
)
ENTRIES = Resource(
    "dictionaries", "entries", DictionaryEntry, "entry", "custom entries", "dictionary",
    "the dictionary {dictionary}", "`dictionary`, `saved`",
)  # fmt: skip

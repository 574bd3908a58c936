"""The configuration of an index: its settings, synonyms and rules, read, compared and written.

Each object has a name: a setting its own, a synonym and a rule its objectID. `None` is a missing
object; a missing setting has its default. Most settings are search parameters, too: such changes
can be tried without a copy of the index. Differences are shown as a table and as readable text.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal, get_args

import pandas as pd

from svc_notebook.core.api.body_forms import READ_ONLY_SETTINGS
from svc_notebook.core.api.parameters import PARAMETERS, default_of
from svc_notebook.core.api.validation import same
from svc_notebook.core.display import Html, write_table
from svc_notebook.data.client import (
    HITS_PER_PAGE,
    RULES,
    SYNONYMS,
    AsyncClient,
    ResourceKind,
    find_all,
    find_few,
    write_all,
    write_and_wait,
)
from svc_notebook.errors import NotFound

Scope = Literal["settings", "synonyms", "rules"]
Objects = Mapping[str, Any]
Parts = Mapping[Scope, Objects]

SCOPES: tuple[Scope, ...] = get_args(Scope)
KINDS: dict[Scope, ResourceKind] = {"synonyms": SYNONYMS, "rules": RULES}
MAX_SINGLE_READS = 10  # more objects are read as a list

# Settings without effect on the first hits of one index.
IGNORED_SETTINGS = ("replicas", "paginationLimitedTo")


@dataclass(frozen=True)
class Delta:
    """The differences of one scope: the same names before and after."""

    before: Objects
    after: Objects

    def only(self, names: Sequence[str]) -> Delta:
        """Return the differences of these names."""
        return Delta(
            {name: self.before[name] for name in names}, {name: self.after[name] for name in names}
        )


Deltas = Mapping[Scope, Delta]


@dataclass(frozen=True)
class IndexConfiguration:
    """The settings, synonyms and rules of an index at one moment."""

    settings: Objects = field(default_factory=dict)
    synonyms: Objects = field(default_factory=dict)
    rules: Objects = field(default_factory=dict)

    def part(self, scope: Scope) -> Objects:
        """Return the objects of one scope."""
        objects: Objects = getattr(self, scope)
        return objects


async def read_state(client: AsyncClient, index: str) -> IndexConfiguration:
    """Read the configuration of an index; raise `NotFound` for an unknown one."""
    settings = await read_part(client, index, "settings")
    synonyms = await read_part(client, index, "synonyms")
    return IndexConfiguration(settings, synonyms, await read_part(client, index, "rules"))


async def read_part(
    client: AsyncClient, index: str, scope: Scope, names: Iterable[str] | None = None
) -> dict[str, Any]:
    """Read one scope, or only the given names, with `None` for missing objects."""
    listed = None if names is None else list(names)
    if scope != "settings" and listed is not None and len(listed) <= MAX_SINGLE_READS:
        return dict(await find_few(client, KINDS[scope], index, listed))
    objects = await _read_all(client, index, scope)
    return objects if listed is None else {name: objects.get(name) for name in listed}


async def _read_all(client: AsyncClient, index: str, scope: Scope) -> dict[str, Any]:
    if scope != "settings":
        return by_id(await find_all(client, KINDS[scope], index))
    settings = dict(await client.get_settings(index))
    return {name: value for name, value in settings.items() if name not in READ_ONLY_SETTINGS}


def by_id(documents: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return objects by their objectIDs."""
    return {document["objectID"]: dict(document) for document in documents}


def differences(
    before: IndexConfiguration, after: IndexConfiguration, scopes: Iterable[Scope] = SCOPES
) -> Deltas:
    """Return the differences of two states by scope; equal scopes are left out."""
    deltas = {scope: compare(scope, before.part(scope), after.part(scope)) for scope in scopes}
    return {scope: delta for scope, delta in deltas.items() if delta.before}


def compare(scope: Scope, before: Objects, after: Objects) -> Delta:
    """Return the differences of one scope; the order does not count."""
    names = [
        name
        for name in dict.fromkeys([*before, *after])
        if not same_value(scope, name, before.get(name), after.get(name))
    ]
    return Delta(
        {name: before.get(name) for name in names}, {name: after.get(name) for name in names}
    )


def same_value(scope: Scope, name: str, value: Any, other: Any) -> bool:
    """Return whether two values of one name are equal; a missing setting has its default."""
    return (is_default(scope, name, value) and is_default(scope, name, other)) or same(value, other)


def is_default(scope: Scope, name: str, value: Any) -> bool:
    """Return whether an object is missing, or a setting has its default."""
    if value is None:
        return True
    return scope == "settings" and name in PARAMETERS and same(value, default_of(name))


async def holds(
    client: AsyncClient, index: str, scope: Scope, objects: Objects, *, whole: bool = False
) -> bool:
    """Return whether a scope has these objects, and not those that are `None`.

    With `whole` it must have no others. An index that does not exist has none.
    """
    try:
        present = await read_part(client, index, scope, None if whole else objects)
    except NotFound:
        present = {}
    return not compare(scope, present, objects).before


def without(state: IndexConfiguration, setting: str) -> IndexConfiguration:
    """Return a state without one setting."""
    kept = {name: value for name, value in state.settings.items() if name != setting}
    return IndexConfiguration(kept, state.synonyms, state.rules)


async def write_parts(client: AsyncClient, index: str, parts: Parts) -> None:
    """Write the named objects, each scope atomically, and wait until they are published.

    If a scope fails, the scopes written before it are restored.
    """
    written: list[tuple[Scope, Objects]] = []
    try:
        for scope, objects in parts.items():
            if not objects:
                continue
            before = await read_part(client, index, scope, objects)
            await write_part(client, index, scope, objects)
            written.append((scope, before))
    except Exception:
        for scope, earlier in reversed(written):
            await write_part(client, index, scope, earlier)
        raise


async def write_part(
    client: AsyncClient, index: str, scope: Scope, objects: Objects, *, forward: bool = False
) -> None:
    """Write the named objects of one scope in one step, and wait until they are published.

    With `forward`, the replicas of the index get them, too.
    """
    where: Any = {"forwardToReplicas": True} if forward else {}
    if scope == "settings":
        settings: Any = dict(objects)
        answer: Any = await client.set_settings(index, settings, **where)
    else:
        answer = await _write_list(client, index, KINDS[scope], objects, where)
    await write_and_wait(
        client, answer, index=index, confirm=lambda: holds(client, index, scope, objects)
    )


async def _write_list(
    client: AsyncClient, index: str, kind: ResourceKind, objects: Objects, where: Any
) -> Any:
    """Write a list in one call: only added or one deleted object as such, else the whole list."""
    deleted = [name for name, document in objects.items() if document is None]
    if not deleted and len(objects) <= HITS_PER_PAGE:
        return await kind.save(client, index, [*objects.values()], False, where)
    if [*objects] == deleted and len(deleted) == 1:
        return await kind.delete(client, index, deleted[0], where)
    present = by_id(await find_all(client, kind, index))
    remaining = [*filter(None, {**present, **objects}.values())]
    return await write_all(client, kind, index, remaining, bool(where))


def as_parameters(
    changes: Mapping[str, Any], value: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Convert changes to search parameters; also return the names that are not parameters.

    `value` is the complete settings with the changes applied. The custom ranking is not a search
    parameter: for one search, the ranking contains its attributes in place of `custom`.
    """
    shared = {name for name in changes if PARAMETERS[name].scope == "both"}
    params = {name: _or_default(name, changes[name]) for name in shared}
    if changes.keys() & {"ranking", "customRanking"}:
        params["ranking"] = _expand_custom(value)
    given = {name: member for name, member in params.items() if member is not None}
    others = [name for name in changes if name not in {*shared, "customRanking", *IGNORED_SETTINGS}]
    return given, others


def _or_default(name: str, value: Any) -> Any:
    return default_of(name) if value is None else value


def _expand_custom(value: Mapping[str, Any]) -> list[str]:
    ranking = _or_default("ranking", value.get("ranking"))
    custom = _or_default("customRanking", value.get("customRanking"))
    return [name for entry in ranking for name in (custom if entry == "custom" else [entry])]


DIFFERENCE_COLUMNS = ["scope", "name", "kind", "before", "after"]
# Of removed and added values: tints that are visible on white and on black.
STYLES = {
    "-": "text-decoration:line-through;background:rgba(217,83,79,.22)",
    "+": "font-weight:600;background:rgba(60,160,90,.28)",
}
REQUEST_NOTE = "Not saved in the index; each search must have these parameters"
MAX_INLINE_CHARACTERS = 90  # maximum characters of a value on one line


class Differences(pd.DataFrame):
    """A row for each differing name; displayed as HTML with the values before and after."""

    @property
    def _constructor(self) -> type[pd.DataFrame]:
        return pd.DataFrame  # a part of it is a plain table

    def __repr__(self) -> str:
        code = self.attrs.get("svc", {}).get("code")
        return f"{super().__repr__()}\n\n{REQUEST_NOTE}:\n\n{code}" if code else super().__repr__()

    def _repr_html_(self) -> str:
        code = self.attrs.get("svc", {}).get("code")
        shown = write_differences(self)
        return f"{shown}<p>{REQUEST_NOTE}:</p><pre>{escape(code)}</pre>" if code else shown


def tabulate(deltas: Deltas) -> Differences:
    """Return differences as a table: `scope, name, kind{new, changed, gone}, before, after`."""
    rows = [row for scope, delta in deltas.items() for row in _rows(scope, delta)]
    return Differences(pd.DataFrame(rows, columns=DIFFERENCE_COLUMNS, dtype=object))


def _rows(scope: Scope, delta: Delta) -> Iterator[tuple[Any, ...]]:
    for name, before in delta.before.items():
        after = delta.after[name]
        new, gone = is_default(scope, name, before), is_default(scope, name, after)
        kind = "new" if new else "gone" if gone else "changed"
        yield scope, name, kind, before, after


def write_differences(frame: pd.DataFrame) -> str:
    """Write differences as HTML: a table whose cells mark removed and added values."""
    if frame.empty:
        return "<p>Nothing differs.</p>"
    rows = [
        (
            f"{row.scope}", Html(f"<code>{escape(f'{row.name}')}</code>"), row.kind,
            Html(write_change(row.before, row.after)),
        )
        for row in frame.itertuples(index=False)
    ]  # fmt: skip
    return write_table(("", "name", "", "change"), rows)


def write_change(before: Any, after: Any) -> str:
    """Write two values as one diff: short ones side by side, long ones line by line."""
    old, new = _lines(before), _lines(after)
    if max(len(old), len(new)) <= 1:
        return " → ".join(_mark(sign, side) for sign, side in (("-", old), ("+", new)))
    marked = [_mark(line[0], [line[2:]]) for line in difflib.ndiff(old, new) if line[0] != "?"]
    return f'<pre style="margin:0;white-space:pre-wrap">{chr(10).join(marked)}</pre>'


def _lines(value: Any) -> list[str]:
    if value is None:
        return []
    if isinstance(value, dict):  # the name is in the cell beside it
        value = {name: member for name, member in value.items() if name != "objectID"}
    short = json.dumps(value, ensure_ascii=False, default=str)
    if len(short) <= MAX_INLINE_CHARACTERS:
        return [short]
    return json.dumps(value, ensure_ascii=False, indent=1, default=str).split("\n")


def _mark(sign: str, lines: list[str]) -> str:
    text = escape("\n".join(lines)) or "—"
    style = STYLES.get(sign)
    return f'<span style="{style}">{text}</span>' if style and lines else text

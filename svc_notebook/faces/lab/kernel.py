"""The comm by which the extension calls a kernel.

The extension evaluates `attach()` by a silent request, which registers the comm target. A comm then
carries the messages that `editors.rpc` describes. Calls run on the editors' event loop: they do not
delay the next cell, and where the kernel has subshells they do not wait for the running one.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec
from comm import get_comm_manager
from comm.base_comm import BaseComm
from pandas import DataFrame

from svc_notebook.data import session
from svc_notebook.data.client import Client
from svc_notebook.data.loading import (
    ERROR_COLUMNS,
    IfExists,
    LoadPlan,
    LoadResult,
    accept_proposals,
)
from svc_notebook.errors import BadInput, Stopped, SvcError
from svc_notebook.faces import editors
from svc_notebook.faces.commands.binding import bind_words
from svc_notebook.faces.commands.registry import pick_verb
from svc_notebook.faces.commands.tokenizer import split_line
from svc_notebook.faces.editors.rpc import CallDispatcher, call, plain, report_progress
from svc_notebook.faces.functions import aio
from svc_notebook.faces.lab.explorer import ChangeCalls, ExplorerCalls, shell_of_kernel

# The editors that open in tabs of their own.
TAB_KINDS = (
    "workbench", "query", "settings", "synonyms", "rules", "judgments", "analytics", "crawler",
    "overview",
)  # fmt: skip

_CELL = re.compile(r"\s*%%svc[ \t]+(.*)")
_LINE = re.compile(r"\s*(?:[^=%#'\"]+=\s*)?%svc[ \t]+(.*)")
_IN_BODY = re.compile(r"line (\d+): ")

SHOWN_REJECTED = 20  # rejected rows that a dialog shows
# The options of a load that a dialog can set.
FILE_OPTIONS = (
    "separator", "encoding", "header", "header_rows", "skip", "comment", "strict", "sheet", "path",
    "columns", "action", "replace_records", "dtype", "dates", "geo",
)  # fmt: skip
# Settings that a plan proposes, with what the columns have that suggests them.
PROPOSED_SETTINGS = {
    "searchableAttributes": "columns of words, titles first",
    "attributesForFaceting": "columns whose values repeat",
    "customRanking": "numbers that tell how popular or good a record is",
}

TARGET = "svc_notebook.faces.lab"


class CellError(NamedTuple):
    """An error, and the line of the cell that it is in, counted from 0."""

    line: int
    message: str


class CellCalls:
    """The call that checks a cell."""

    @call(latest=True)
    def check_cell(self, text: str) -> list[dict[str, Any]]:
        """Return the errors of a cell: `line`, `message`."""
        shell = shell_of_kernel()
        variables = {} if shell is None else shell.user_ns
        return [error._asdict() for error in find_errors(text, variables)]


def find_errors(text: str, variables: Mapping[str, object]) -> Iterator[CellError]:
    """Yield the errors of a cell's magic lines and of its body."""
    first, _, body = text.partition("\n")
    if cell := _CELL.fullmatch(first):
        if error := _error_of(cell[1], body, variables):
            yield error
        return
    for number, line in enumerate(text.split("\n")):
        if (match := _LINE.fullmatch(line)) and (error := _error_of(match[1], None, variables)):
            yield error._replace(line=number)


def _error_of(line: str, body: str | None, variables: Mapping[str, object]) -> CellError | None:
    try:
        verb, words = pick_verb([word.text for word in split_line(line)] or ["help"], "magic")
        bind_words(verb, words, "magic", variables, body, evaluates=False)
    except SvcError as error:
        message = str(error)
        position = _IN_BODY.match(message) if body is not None else None
        return CellError(
            int(position[1]) if position else 0, message[position.end() if position else 0 :]
        )
    return None


class FileCalls:
    """Calls of the dialog that loads a file.

    `id` is a column, empty for the usual choice; `options` are some of `FILE_OPTIONS`.
    """

    @call
    async def plan_file(
        self,
        path: str,
        index: str,
        id: str = "",  # noqa: A002
        options: Mapping[str, Any] | None = None,
        accepted: Sequence[str] = (),
    ) -> dict[str, Any]:
        """Return the plan of a load, as `svc.load(path, index, dry_run=True)` does.

        `accepted` are the keys of proposals that the plan follows; `before` are then the first
        records without them.
        """
        given = _checked(options)

        async def plan(load_options: Mapping[str, Any]) -> LoadPlan:
            source = _found(path)
            result = await aio.load(source, index, dry_run=True, id=id or None, **load_options)
            return result.plan

        first = await plan(given)
        chosen = tuple(p for p in first.proposals if p.describe() in accepted)
        shown = first
        if chosen:
            given = accept_proposals(replace(first, proposals=chosen), given)
            shown = await plan(given)
        records = await _records_in(index)
        return _plan(shown) | {
            "records": records,
            "options": given,
            "proposals": [
                *_proposals(first),
                *_proposed_settings(shown, exists=records is not None),
            ],
            "before": _sample(first) if chosen else None,
        }

    @call
    async def load_file(
        self,
        path: str,
        index: str,
        id: str = "",  # noqa: A002
        if_exists: str = "append",
        options: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Load a file as `svc.load(path, index)` does; a cancelled load returns what it sent.

        `settings` are some of `PROPOSED_SETTINGS`, which are set after the load.
        """
        if unknown := (settings or {}).keys() - set(PROPOSED_SETTINGS):
            raise BadInput(f"`{min(unknown)}` is not a setting of this dialog")
        try:
            result = await aio.load(
                _found(path), index, id=id or None, if_exists=cast("IfExists", if_exists),
                on_progress=_LoadProgress(), **_checked(options),
            )  # fmt: skip
        except Stopped as stopped:
            return {"stopped": str(stopped)} | _result(cast("LoadResult | None", stopped.result))
        if settings:
            chosen: Any = settings
            await aio.set_settings(index, chosen)
        return _result(result) | {"settings": [*(settings or {})]}


class _LoadProgress:
    """Sends the progress of a load to the dialog: rows sent, then tasks published."""

    def __call__(self, sent: int, rows: int) -> None:
        report_progress(sent, rows)

    def publish(self, published: int, tasks: int) -> None:
        """Send how many tasks are published after the last row."""
        report_progress(published, tasks, f"Publishing: {published:,} of {tasks:,} tasks")


def _checked(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the options of a dialog; a view cannot set others."""
    for name in (options or {}).keys() - set(FILE_OPTIONS):
        raise BadInput(f"`{name}` is not an option of this dialog")
    return dict(options or {})


def _found(path: str) -> str:
    if not Path(path).is_file():
        raise BadInput(f"the kernel does not find the file {path}; it may run on another machine")
    return path


async def _records_in(index: str) -> int | None:
    """Return the number of records of an index; None if it does not exist."""
    answer = await session.current().aio.list_indices()
    return next((item["entries"] for item in answer["items"] if item["name"] == index), None)


def _plan(plan: LoadPlan) -> dict[str, Any]:
    return {
        "rows": plan.rows,
        "sendable": plan.sendable,
        "ids": plan.ids,
        "columns": _rows_of(plan.columns),
        "sample": _sample(plan),
        "notes": [*plan.notes],
        "deletedAttributes": [*plan.deleted_attributes],
        **_rejected(plan),
    }


def _sample(plan: LoadPlan) -> list[str]:
    return [msgspec.json.encode(record).decode() for record in plan.sample]


def _proposals(plan: LoadPlan) -> list[dict[str, Any]]:
    """Return the proposed options, each as the code to copy with its evidence."""
    return [
        {
            "key": proposal.describe(),
            "option": f"{proposal.option}={proposal.value!r}",
            "evidence": proposal.evidence,
            "setting": "",
            "value": [],
        }
        for proposal in plan.proposals
    ]


def _proposed_settings(plan: LoadPlan, *, exists: bool) -> list[dict[str, Any]]:
    """Return the settings that the columns suggest."""
    effect = "replaces the value of the index after the load" if exists else "set after the load"
    return [
        {
            "key": name,
            "option": f"{name}={value!r}",
            "evidence": f"{PROPOSED_SETTINGS[name]}; {effect}",
            "setting": name,
            "value": value,
        }
        for name, value in plan.suggested_settings.items()
    ]


def _result(result: LoadResult | None) -> dict[str, Any]:
    if result is None:
        return {"sent": 0, "published": 0, "seconds": 0.0, "rejectedRows": 0, "rejected": []}
    return {
        "sent": result.sent,
        "published": result.published,
        "unchanged": result.unchanged,
        "seconds": result.seconds,
        **_rejected(result.plan),
    }


def _rejected(plan: LoadPlan) -> dict[str, Any]:
    shown = (
        plan.rejected[ERROR_COLUMNS].head(SHOWN_REJECTED) if len(plan.rejected) else plan.rejected
    )
    return {"rejectedRows": plan.rejected_rows, "rejected": _rows_of(shown)}


def _rows_of(frame: DataFrame) -> list[dict[str, str]]:
    """Return the rows of a table as texts."""
    return [
        {str(name): "" if value is None else str(plain(value)) for name, value in row.items()}
        for row in frame.to_dict("records")
    ]


@dataclass(frozen=True)
class Tab:
    """An editor in a tab: its kind, the client and the index or crawler, and the widget."""

    kind: str
    name: str
    client: Client
    editor: Any


# By the ids of their models. A page that is loaded again finds the editors of its tabs here.
_tabs: dict[str, Tab] = {}


def find_editor(model: str) -> Any:
    """Return the open editor of a model; None if it is closed."""
    tab = _tabs.get(model)
    return tab and tab.editor


def _make_editor(kind: str, name: str, client: Client) -> Any:
    """Make an editor, or the overview of the service that has the name."""
    if kind == "overview":
        from svc_notebook.faces.editors.service_panels import OverviewPanel

        return OverviewPanel(name, client=client)
    return getattr(editors, kind)(name, client=client)


class TabCalls:
    """Calls that open and close the editors of tabs."""

    @call
    async def open_editor(self, kind: str, name: str) -> dict[str, Any]:
        """Open an editor of the current client: the id of its model, and its title.

        One that is open is returned with its drafts.
        """
        if kind not in TAB_KINDS:
            raise BadInput(f"there is no editor `{kind}`; use one of {', '.join(TAB_KINDS)}")
        client = session.current()
        for model, tab in _tabs.items():
            if (tab.kind, tab.name) == (kind, name) and tab.client is client:
                return {"model": model, "title": tab.editor.title}
        # An editor waits for its first answers, which this thread brings.
        editor = await asyncio.to_thread(_make_editor, kind, name, client)
        _tabs[editor.model_id] = Tab(kind, name, client, editor)
        return {"model": editor.model_id, "title": editor.title}

    @call
    def has_changes(self, model: str) -> bool:
        """Return whether closing an editor loses changes."""
        editor = find_editor(model)
        return editor is not None and bool(editor.is_unsaved)

    @call
    async def close_editor(self, model: str) -> None:
        """Close an editor, and drop its temporary copy; without effect if it is closed."""
        if tab := _tabs.pop(model, None):
            await asyncio.to_thread(tab.editor.close)


class LabCalls(ExplorerCalls, ChangeCalls, CellCalls, FileCalls, TabCalls):
    """All calls that the extension may make."""


def attach() -> str:
    """Register the comm target in this kernel; doing so twice changes nothing."""
    get_comm_manager().register_target(TARGET, _accept)
    return "ready"


def _accept(comm: BaseComm, _: Any) -> None:
    """Answer the calls of one page over one comm; the page waits for the first message."""
    dispatcher = CallDispatcher(LabCalls(), comm.send)
    comm.on_msg(lambda message: dispatcher.accept(message["content"]["data"]))
    comm.send({"event": "opened"})

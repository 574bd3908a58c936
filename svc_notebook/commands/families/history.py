"""Verbs that save, compare and restore the configuration of an index, as rows of the verb table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from svc_notebook.commands.options import INDEX
from svc_notebook.commands.verb import Option, Verb, operand

if TYPE_CHECKING:
    from svc_notebook.client import Client

_HOME = "svc_notebook.tuning.blocking"
_NOTE = Option("note", "a few words for the journal")


def _settle_undo(given: Mapping[str, Any], client: Client) -> tuple[str, dict[str, Any]]:
    """Describe the change that is undone, and bind the call to it."""
    from svc_notebook.tuning.changes.undo import describe_change, find_change

    change = find_change(client.aio, given["index"], given.get("change_id"))
    deed = f"undo change {change.change_id}: {describe_change(change)}"
    made_by = f", made by `{change.note}`" if change.note else ""
    force = ", overwriting what was changed there since" if given.get("force") else ""
    return f"{deed}{made_by}{force}", {"change_id": change.change_id}


UNDOING: tuple[Verb, ...] = (
    Verb(
        "snapshot", "Take down an index's settings, synonyms and rules, to a file if one is named",
        f"{_HOME}.snapshot",
        operands=(
            INDEX,
            operand("file", "a .json file", completes="path", argument="path", required=False),
        ),
        examples=("snapshot products monday.json",),
    ),
    Verb(
        "diff", "Compare settings, synonyms and rules of two indices, or with a snapshot's",
        f"{_HOME}.diff",
        operands=(
            operand("one", "an index, or the .json file of a snapshot", completes="index"),
            operand("other", "another of them", completes="index"),
        ),
        examples=("diff products products-new", "diff monday.json products"),
    ),
    Verb(
        "restore", "Make settings, synonyms and rules what they were in a snapshot",
        f"{_HOME}.restore",
        operands=(
            INDEX, operand("file", "the snapshot's file", completes="path", argument="source"),
        ),
        options=(_NOTE,),
        destructive="replace settings, synonyms and rules of {index}",
        examples=("restore products monday.json --yes",),
    ),
    Verb(
        "history", "List what was changed around an index from here, the newest first",
        f"{_HOME}.history",
        operands=(INDEX,),
        examples=("history products",),
    ),
    Verb(
        "undo", "Take back a change: the one named, else the newest",
        f"{_HOME}.undo",
        operands=(
            INDEX,
            operand("change", "its id, as `history` shows it", argument="change_id",
                    required=False),
        ),
        options=(Option("force", "overwrite what was changed there since", bool), _NOTE),
        destructive="take back a change of {index}",
        settles=_settle_undo,
        examples=("undo products", "undo products 3f9c21aa --yes"),
    ),
    Verb(
        "scratches", "List the scratch copies of indices that there are",
        f"{_HOME}.scratches",
        examples=("scratches",),
    ),
    Verb(
        "scratches drop", "Delete scratch copies: those named, else those left behind",
        f"{_HOME}.drop_scratches",
        operands=(
            operand("names", "their names", list[str], completes="index", required=False,
                    rest=True),
        ),
        destructive="delete scratch copies",
        examples=("scratches drop --yes",),
    ),
)  # fmt: skip

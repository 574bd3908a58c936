"""Errors of a verb name its options as they are typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from svc_notebook.commands.option_names import name_options
from svc_notebook.commands.registry import pick_verb
from svc_notebook.errors import BadInput, SvcError
from tests.commands.conftest import Typed


@pytest.mark.parametrize(
    ("message", "note"),
    [
        ("To allow fewer records, pass min_share=0", "`--min-share 0`"),
        ("pass the column of the ids: id='…'; then resume=True", "`--id …`, `--resume`"),
        ("id='two words' or id='two words'", "`--id 'two words'`"),
        ("filters=3 is no option of this verb, verify=False is none, and client=x", ""),
    ],
)
def test_arguments_in_a_message_are_named_as_options(message: str, note: str) -> None:
    error = SvcError(message)

    name_options(pick_verb(["load"], "magic")[0], error)

    notes = getattr(error, "__notes__", [])
    assert notes == ([f"as options of `load`: {note}"] if note else [])


def test_a_refused_replacement_names_the_option(typed: Typed, tmp_path: Path) -> None:
    path, index = tmp_path / "new.csv", f"spelled-{tmp_path.name}"
    path.write_text("objectID\n" + "".join(f"{n}\n" for n in range(1200)))
    typed(f"load {path} {index}")
    path.write_text("objectID\n1\n")

    with pytest.raises(BadInput, match="pass min_share=0") as caught:
        typed(f"load {path} {index} --if-exists replace")

    assert "as options of `load`: `--min-share 0`" in caught.value.__notes__

"""Former names of parameters are accepted, and the warning names the present one."""

from __future__ import annotations

import asyncio
import warnings
from pathlib import Path
from typing import Any

import pytest

import svc_notebook as svc
from svc_notebook.faces.commands.binding import bind_words
from svc_notebook.faces.commands.registry import find_verb

load: Any = svc.load
export: Any = svc.export
ROWS = [{"objectID": "1"}, {"objectID": "2"}]


def test_a_blocking_function_warns_at_the_line_of_the_caller(admin: svc.Client) -> None:
    with pytest.warns(DeprecationWarning, match="`least` is now called `min_share`") as caught:
        result = load(ROWS, "former", if_exists="replace", least=0.5, client=admin)

    assert result.complete
    assert [Path(each.filename) for each in caught] == [Path(__file__)]


def test_a_coroutine_function_warns_too(admin: svc.Client) -> None:
    async def run() -> Any:
        aio: Any = svc.aio
        return await aio.load(ROWS, "former", if_exists="replace", least=0.5, client=admin)

    with pytest.warns(DeprecationWarning, match="`min_share`"):
        assert asyncio.run(run()).complete


def test_both_names_at_once_are_refused(admin: svc.Client) -> None:
    with pytest.raises(svc.errors.BadInput, match="`least` is the former name of `min_share`"):
        load(ROWS, "former", least=0.5, min_share=0.5, client=admin)


def test_the_present_name_does_not_warn(admin: svc.Client, tmp_path: Path) -> None:
    load(ROWS, "former", client=admin)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = export("former", tmp_path / "former.ndjson", include=["settings"], client=admin)

    assert found.rows == 2


def test_an_option_has_a_former_name_too() -> None:
    verb = find_verb("export", "command")

    with pytest.warns(UserWarning, match="`--beside` is renamed to `--include`"):
        call = bind_words(verb, ["x", "x.csv", "--beside", "settings"], "command")

    assert call.arguments["include"] == ["settings"]

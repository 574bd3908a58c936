"""Blocking calls inside a running event loop are refused where they are known to fail."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import closing

import pytest

from svc_notebook.data.client.background_loop import (
    MIN_NEST_ASYNCIO2,
    _numbers,
    allow_nesting,
    reason_against_nesting,
)
from svc_notebook.errors import BadInput
from tests.conftest import ROOT


def test_it_is_allowed_where_nothing_speaks_against_it() -> None:
    assert reason_against_nesting() is None


def test_it_is_refused_where_nest_asyncio_1_has_patched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asyncio, "_nest_patched", True, raising=False)

    with pytest.raises(BadInput, match="loses queued cells"):
        allow_nesting()


@pytest.mark.slow
def test_it_may_be_allowed_twice() -> None:
    script = (
        "from svc_notebook.data.client.background_loop import allow_nesting\n"
        "import asyncio\n"
        "allow_nesting(); allow_nesting()\n"
        "async def outer():\n"
        "    return asyncio.get_event_loop().run_until_complete(asyncio.sleep(0, 7))\n"
        "print(asyncio.run(outer()))"
    )

    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)

    assert ran.stdout == "7\n", ran.stderr


def test_it_is_refused_inside_uvloop() -> None:
    class Loop(asyncio.SelectorEventLoop):
        __module__ = "uvloop.loop"

    async def allow() -> None:
        with pytest.raises(BadInput, match="uvloop"):
            allow_nesting()

    with closing(Loop()) as loop:
        loop.run_until_complete(allow())


@pytest.mark.parametrize(
    ("text", "fit"),
    [("1.7.2", False), ("1.7.3", True), ("1.7.10", True), ("2.0", True), ("1.8.0rc1", True)],
)
def test_versions_are_compared_as_numbers(text: str, fit: bool) -> None:
    assert (_numbers(text) >= MIN_NEST_ASYNCIO2) is fit


def test_nothing_is_patched_by_importing_the_client() -> None:
    script = (
        "import asyncio, sys, svc_notebook.data.client.background_loop, svc_notebook.data.session\n"
        "late = {'nest_asyncio2', 'tqdm', 'keyring', 'platformdirs', 'pandas', 'IPython'}\n"
        "print(hasattr(asyncio, '_nest_patched'), sorted(late & sys.modules.keys()))"
    )

    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)

    assert ran.stdout.startswith("False"), ran.stderr
    assert not set(eval(ran.stdout.removeprefix("False"))) - {"pandas"}  # the accessors' own

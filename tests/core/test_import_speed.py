"""The garbage collector pauses during imports, and is as it was after them."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from svc_notebook.core.imports import import_quickly


class Node:
    """An object of a cycle."""

    def __init__(self) -> None:
        self.node = self


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A module that notes whether the collector runs, in a process that did not change it.

    The tests have frozen their objects.
    """
    (tmp_path / "noting.py").write_text("import gc\nruns = gc.isenabled()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    gc.unfreeze()
    yield "noting"
    gc.freeze()
    gc.enable()
    sys.modules.pop("noting", None)


def test_the_collector_pauses_and_runs_again(module: str) -> None:
    assert import_quickly(module).runs is False
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


def test_the_collector_runs_again_after_an_error() -> None:
    with pytest.raises(ImportError):
        import_quickly("absent_module_of_tests")

    assert gc.isenabled()


def test_a_collector_that_is_off_stays_off(module: str) -> None:
    gc.disable()

    import_quickly(module)

    assert not gc.isenabled()


@pytest.mark.slow
def test_objects_that_a_program_froze_stay_frozen(module: str) -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()

    import_quickly(module)

    assert gc.get_freeze_count() >= frozen > 0


@pytest.mark.slow
def test_cycles_from_before_an_import_are_collected_after_it(module: str) -> None:
    node = Node()
    reference = weakref.ref(node)
    del node

    import_quickly(module)
    gc.collect()

    assert reference() is None


@pytest.mark.slow
def test_a_second_import_leaves_young_objects_young(module: str) -> None:
    """Else each call of a function would keep the garbage of the program alive for long."""
    import_quickly(module)
    gc.collect()
    gc.disable()  # so that the object is not promoted by a collection
    node = Node()
    gc.enable()

    import_quickly(module)

    gc.disable()
    assert any(young is node for young in gc.get_objects(generation=0))


@pytest.mark.slow
def test_imports_of_the_first_call_cause_no_full_collection() -> None:
    code = """
import gc
generations = []
gc.callbacks.append(lambda phase, info: generations.append(info["generation"]))
import svc_notebook as svc
svc.load
print(generations.count(2), gc.isenabled())
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert out.stdout.split() == ["0", "True"]

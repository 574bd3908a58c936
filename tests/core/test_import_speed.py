"""The garbage collector pauses during imports, and is as it was after them."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections.abc import Iterator

import pytest

from svc_notebook.core.import_speed import paused_collection


class Node:
    """An object of a cycle."""

    def __init__(self) -> None:
        self.node = self


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    """A collector as in a program that did not change it; the tests have frozen their objects."""
    gc.unfreeze()
    yield
    gc.freeze()
    gc.enable()


def test_the_collector_runs_again_also_after_an_error() -> None:
    def fail() -> None:
        with paused_collection():
            assert not gc.isenabled()
            raise ImportError

    with pytest.raises(ImportError):
        fail()

    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


def test_a_collector_that_is_off_stays_off() -> None:
    gc.disable()

    with paused_collection():
        pass

    assert not gc.isenabled()


def test_objects_that_a_program_froze_stay_frozen() -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()

    with paused_collection():
        pass

    assert gc.get_freeze_count() >= frozen > 0


def test_cycles_from_before_an_import_are_collected_after_it() -> None:
    node = Node()
    reference = weakref.ref(node)
    with paused_collection():
        del node

    gc.collect()

    assert reference() is None


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

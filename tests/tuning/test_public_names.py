"""The names of `svc.tuning`, and the cost of their import."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import svc_notebook as svc
from tests.looping import loop_over
from tests.project.test_public_names import HEAVY, imported_by

MODULES = {path.stem for path in Path(svc.tuning.__file__).parent.glob("*")}


@loop_over("name", dir(svc.tuning))
def test_every_name_is_there_and_explained(name: str) -> None:
    assert inspect.getdoc(getattr(svc.tuning, name))


def test_no_module_bears_the_name_of_a_function() -> None:
    functions = {
        name for name in dir(svc.tuning) if not inspect.ismodule(getattr(svc.tuning, name))
    }

    assert not MODULES & functions


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'evalute'; did you mean `evaluate`"):
        svc.tuning.evalute  # noqa: B018


def test_tuning_costs_nothing_until_it_is_used() -> None:
    assert not imported_by("import svc_notebook as svc\nsvc.tuning") & HEAVY

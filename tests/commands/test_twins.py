"""Every function is awaited under its own name in one place, and written down once."""

from __future__ import annotations

import ast
import inspect

import pytest

import svc_notebook as svc
from svc_notebook.commands.registry import VERBS
from svc_notebook.commands.verb import Verb
from svc_notebook.functions import aio, blocking, connection

# What has nothing to wait for: it asks no service, or is a thing of this process.
ALONE = {
    "plan",
    "secured_key",
    "explain_key",
    "get_remaining_validity",
    "show",
    *connection.__all__,
}
# Drawn of what awaited readers give.
DRAWN = {name for name in dir(svc) if name.startswith("plot_")}
FUNCTIONS = sorted(name for name in dir(svc) if inspect.isfunction(getattr(svc, name)))
# Verbs but those that connect, draw, open a widget, run the service, help or pick a function.
PLAIN = [verb for verb in VERBS if verb.does.startswith(f"{blocking.__name__}.")]


def calls_of(name: str) -> set[str]:
    """The functions of `aio` that one of `blocking` speaks of."""
    tree = ast.parse(inspect.getsource(blocking))
    return {
        inner.attr
        for node in tree.body
        if name in names_of(node)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Attribute) and ast.unparse(inner.value) == "aio"
    }


def names_of(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef):
        return {node.name}
    return {ast.unparse(each) for each in node.targets} if isinstance(node, ast.Assign) else set()


def test_there_are_functions_to_speak_of() -> None:
    assert len(FUNCTIONS) > 80
    assert len(PLAIN) > 80
    assert ALONE - {"connect_asking"} <= set(FUNCTIONS)


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - ALONE - DRAWN))
def test_a_function_has_its_awaited_twin_in_one_place(name: str) -> None:
    twin = getattr(svc.aio, name)

    assert name in svc.aio.__all__
    assert inspect.iscoroutinefunction(twin)
    assert inspect.getdoc(twin)


@pytest.mark.parametrize("name", sorted(aio.__all__))
def test_a_function_only_runs_its_twin(name: str) -> None:
    assert calls_of(name) == {name}


@pytest.mark.parametrize("verb", PLAIN, ids=lambda verb: verb.name)
def test_a_verb_runs_a_function_that_can_be_awaited_too(verb: Verb) -> None:
    name = verb.does.rpartition(".")[2]

    assert name in aio.__all__ or name in ALONE

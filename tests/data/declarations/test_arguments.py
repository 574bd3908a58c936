"""Wrong arguments of public functions: errors that name the function and the argument."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.core.api.plain_types import plain_type
from svc_notebook.core.foreign_names import FUNCTIONS, suggest_argument
from svc_notebook.data.declarations.arguments import check_arguments
from svc_notebook.errors import BadArgument, BadInput
from svc_notebook.faces.accessors import FrameAccessor, SeriesAccessor

MODULES: dict[str, ModuleType] = {
    "svc": svc, "svc.aio": svc.aio, "svc.tuning": svc.tuning, "svc.tuning.aio": svc.tuning.aio,
    "svc.tuning.clicks": svc.tuning.clicks, "svc.edit": svc.edit,  # type: ignore[dict-item]
}  # fmt: skip
ANY: Any = svc  # wrong calls on purpose
CONTEXTS = ("scratch",)  # of `aio`: asynchronous context managers
ACCESSORS = {"df.svc": FrameAccessor(pd.DataFrame()), "series.svc": SeriesAccessor(pd.Series())}
TOO_MANY = [0] * 60


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for prefix, module in MODULES.items():
        for name in dir(module):
            function = getattr(module, name)
            if name[0] == "_" or not inspect.isfunction(function):
                continue
            if not (prefix.endswith("aio") and name in CONTEXTS):
                yield f"{prefix}.{name}", function


def accessor_methods() -> Iterator[tuple[str, Callable[..., Any]]]:
    for prefix, accessor in ACCESSORS.items():
        for name in vars(type(accessor)):
            if name[0] != "_" and inspect.ismethod(getattr(accessor, name)):
                yield f"{prefix}.{name}", getattr(accessor, name)


def refusal(function: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """Return the message with which a function refuses arguments, or what happened instead."""
    try:
        result = function(*args, **kwargs)
        if inspect.iscoroutine(result):
            asyncio.run(result)
    except BadArgument as error:
        return str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "accepted"


def test_wrong_arguments_of_every_function_are_named() -> None:
    offenders = []
    for path, function in [*public_functions(), *accessor_methods()]:
        parameters = inspect.signature(function).parameters.values()
        name = function.__name__
        required = [
            p.name for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD
        ]
        takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
        message = refusal(function, *TOO_MANY)
        if "can be given without a name" not in message:
            offenders.append(f"{path}: {message}")
        if required and not takes_any:
            message = refusal(function)
            if f"`{required[0]}`" not in message or "missing" not in message:
                offenders.append(f"{path}: {message}")
        if not takes_any:
            message = refusal(function, *[0] * len(required), indxe=1)
            if f"{name}: there is no argument `indxe`" not in message:
                offenders.append(f"{path}: {message}")

    assert offenders == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ANY.search("products", limit=3), "`limit`; use `hitsPerPage`"),
        (lambda: ANY.search("products", hits_per_page=3), "use `hitsPerPage`"),
        (lambda: ANY.load("a.csv", "products", if_exist="x"), "did you mean `if_exists`?"),
        (lambda: ANY.load("a.csv", "products", mode="replace"), "`mode`; use `if_exists`"),
        (lambda: ANY.connect(key="x"), "`key`; use `api_key`"),
        (lambda: ANY.count_values("products"), "`facet` and `values` are missing"),
        (lambda: ANY.tuning.no_results(), "no_results: `log` is missing"),
        (lambda: ANY.run_crawler("x", when=3), "the arguments are client, crawler"),
    ],
)
def test_the_argument_that_was_meant_is_named(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(BadArgument) as caught:
        call()

    assert message in str(caught.value)
    assert isinstance(caught.value, TypeError)


def test_an_error_inside_of_a_function_is_not_an_error_of_its_arguments() -> None:
    @check_arguments
    def add(numbers: Any) -> int:
        return sum(numbers)

    with pytest.raises(TypeError, match="not iterable") as caught:
        add(3)

    assert not isinstance(caught.value, BadArgument)


def test_functions_of_other_tools_are_answered_with_ours() -> None:
    offenders = []
    for name, meant in FUNCTIONS.items():
        if hasattr(svc, name):
            offenders.append(f"{name} is a function")
            continue
        with pytest.raises(AttributeError) as caught:
            getattr(svc, name)
        offenders += [f"{name}: {caught.value}" for each in meant if each not in str(caught.value)]
        offenders += [f"there is no {each}" for each in meant if not hasattr(svc, each)]
    with pytest.raises(AttributeError, match=r"use `svc\.tuning\.evaluate`"):
        svc.evaluate  # type: ignore[attr-defined]  # noqa: B018

    assert offenders == []


def test_a_known_name_comes_before_one_of_another_tool() -> None:
    assert suggest_argument("limit", ["query", "limits", "hitsPerPage"]) == "; use `hitsPerPage`"
    assert suggest_argument("HITS_PER_PAGE", ["hitsPerPage"]) == "; use `hitsPerPage`"
    assert suggest_argument("unlike", ["query"]) == ""
    assert suggest_argument("limit", ["hitsPerPage"], function="read_browse") == ""


# By plain types of parameters: a value that is accepted, and one that is not.
TYPES: dict[str, tuple[Any, Any]] = {
    "str": ("a", 3), "int": (1, "3"), "float": (0.5, "0.5"), "bool": (True, "false"),
    "OneOrMany": ("a", 3), "Sequence[str]": (["a"], 3), "Iterable[Any]": (["a"], 3),
    "Sequence[Any]": (["a"], 3), "str | Path": ("a", 3), "str | os.PathLike[str]": ("a", 3),
    "Mapping[str, Any]": ({}, "a"), "str | Mapping[str, Any]": ("a", 3),
}  # fmt: skip


def test_values_of_another_type_are_refused_by_the_name_of_the_parameter() -> None:
    offenders, checked = [], 0
    for path, function in public_functions():
        parameters = [
            p for p in inspect.signature(function).parameters.values()
            if p.kind is not p.VAR_KEYWORD and p.name not in ("progress", "self")
        ]  # fmt: skip
        types = {p.name: TYPES.get(str(p.annotation).removesuffix(" | None")) for p in parameters}
        required = [p.name for p in parameters if p.default is p.empty]
        given = {name: (types[name] or ("", ""))[0] for name in required}
        for name, values in types.items():
            if values is not None:
                checked += 1
                message = refusal(function, **{**given, name: values[1]})
                if not message.startswith(f"BadInput: `{name}` must be "):
                    offenders.append(f"{path}: {message}")

    assert checked > 500
    assert offenders == []


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        ("Mapping[str, str]", pd.Series({"a": "b"})), ("Mapping[str, Any]", MappingProxyType({})),
        ("Sequence[str]", pd.Index(["a"])), ("Sequence[str] | None", None),
        ("Iterable[Any]", (n for n in "ab")), ("OneOrMany", pd.Series(["a"])), ("float", 3),
        ("int", np.int8(3)), ("bool", 0), ("str | Path", Path("a")), ("float", float("inf")),
    ],
)  # fmt: skip
def test_what_behaves_like_a_plain_type_is_accepted(annotation: str, value: Any) -> None:
    plain = plain_type(annotation)

    assert plain is not None
    plain.check(value, "given")


@pytest.mark.parametrize("value", [np.int64(3), np.float64(0.5), np.bool_(True), np.str_("x")])
def test_cells_of_a_table_are_values_of_python(value: Any) -> None:
    @check_arguments
    def take(first: Any, *, second: Any) -> tuple[type, type]:
        return type(first), type(second)

    @check_arguments
    async def take_later(first: Any, *, second: Any) -> tuple[type, type]:
        return type(first), type(second)

    plain = type(value.item())
    assert take(value, second=value) == (plain, plain)
    assert asyncio.run(take_later(value, second=value)) == (plain, plain)
    assert take(np.timedelta64(1, "D"), second=1) == (np.timedelta64, int)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ANY.add_ab_test("i", "j", days=float("nan")), "`days` must be a number, not NaN"),
        (lambda: ANY.export("i", "a.csv", columns=["a", 1]), "`columns[1]` must be text, not a "),
        (lambda: ANY.search(None), "`index` must be text, not None"),
        (lambda: ANY.search("i", highlight="no"), "`highlight` must be True or False, not text"),
        (lambda: ANY.read_logs({}), "`limit` must be a whole number, not a dict"),
    ],
)
def test_what_a_value_is_instead_is_named(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(BadInput) as caught:
        call()

    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("kind", [svc.Client, svc.AsyncClient])
def test_the_arguments_of_the_official_client_are_answered_with_connect(kind: Any) -> None:
    with pytest.raises(BadArgument, match=r"svc\.connect\(url=\.\.\., app_id=\.\.\., api_key"):
        kind("APPLICATION", "0" * 32)

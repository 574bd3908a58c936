"""Entries of numpydoc docstrings: read, replaced and added."""

from __future__ import annotations

import inspect

from generators.discovery import discover

import svc_notebook as svc
from svc_notebook.data.declarations.declaration import ENTRIES, complete
from svc_notebook.data.declarations.signatures import (
    add_entries,
    read_entries,
    replace_entry,
    summary,
)
from tests.looping import loop_over

DOC = """Search an index.

More about it.

Parameters
----------
index : str
    Name of the index.
a, b : int, default 1
    Two numbers,
    on two lines.
**params
    Search parameters.

Returns
-------
DataFrame
    One row per hit.
"""


def test_parameters_are_read_with_types_and_descriptions() -> None:
    found = read_entries(DOC)

    assert list(found) == ["index", "a", "b", "params"]
    assert (found["index"].type, found["index"].text) == ("str", "Name of the index.")
    assert found["a"].text == found["b"].text == "Two numbers, on two lines."


def test_a_docstring_without_parameters_has_no_entries() -> None:
    assert read_entries("Return the client.\n\nReturns\n-------\nClient\n    The client.") == {}


def test_the_summary_is_the_first_paragraph_without_its_period() -> None:
    assert summary(DOC) == "Search an index"


def test_an_entry_takes_the_place_of_another() -> None:
    text = replace_entry(DOC, "params", "size : int\n    Number of hits.")

    assert list(read_entries(text)) == ["index", "a", "b", "size"]
    assert "Number of hits.\n\nReturns\n-------" in text


def test_entries_are_added_at_the_end_of_the_parameters() -> None:
    assert list(read_entries(add_entries(DOC, "c : int\n    Another."))) == [
        "index", "a", "b", "params", "c",
    ]  # fmt: skip


def test_a_section_is_made_before_the_others() -> None:
    text = add_entries("Return it.\n\nReturns\n-------\nint\n    It.", "c : int\n    A number.")

    assert text.index("Parameters") < text.index("Returns")
    assert list(read_entries(text)) == ["c"]


def test_a_blocking_function_documents_its_progress_bar() -> None:
    blocking, awaited = read_entries(doc_of(svc.load)), read_entries(doc_of(svc.aio.load))

    assert "progress" in blocking
    assert "on_progress" not in blocking
    assert set(awaited) - set(blocking) == {"on_progress"}


@loop_over("name", [name for name in dir(svc) if inspect.isfunction(getattr(svc, name))])
def test_help_describes_every_parameter(name: str) -> None:
    function = getattr(svc, name)
    entries = read_entries(doc_of(function))

    for parameter in inspect.signature(function).parameters:
        if name not in ("call",):
            assert entries[parameter].text, parameter


def doc_of(function: object) -> str:
    return inspect.getdoc(function) or ""


def test_shared_entries_are_supplied_in_the_order_of_parameters() -> None:
    def copy(index: str, b: int = 1, *, flatten: bool = True, client: object = None) -> None: ...

    doc = complete(
        "Copy.\n\nParameters\n----------\nb : int\n    Two.\n\nRaises\n------\nNotFound\n"
        "\nExamples\n--------\n>>> 1",
        inspect.signature(copy),
        calls=True,
    )

    assert list(read_entries(doc)) == ["index", "b", "client"]  # `flatten` has another default
    assert doc.endswith(
        "Raises\n------\nNotFound\n    If the index does not exist.\nCallFailed\n"
        "    If the service cannot be reached or refuses the call.\n\nExamples\n--------\n>>> 1"
    )


def test_every_parameter_is_described_and_no_shared_entry_is_written_again() -> None:
    offenders = []
    for declared in discover():
        function = inspect.unwrap(declared.function)
        entries = read_entries(inspect.getdoc(declared.function) or "")
        offenders += [
            f"{function.__name__}: {name}"
            for name, parameter in declared.signature.parameters.items()
            if name not in entries and parameter.kind is not parameter.VAR_KEYWORD
            if not declared.described_by
        ]
        source = inspect.getsource(function)
        offenders += [
            f"{function.__name__}: `{shared.head}` is supplied"
            for name, shared in ENTRIES.items()
            if f"{shared.head}\n        {shared.text}" in source
            and getattr(declared.signature.parameters.get(name), "default", ...) == shared.default
        ]

    assert offenders == []

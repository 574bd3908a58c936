"""The members of `**params`, named in a function's signature and docstring."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from typing import Any, TypedDict, Unpack

import pytest

from svc_notebook.core.api.parameters import SearchParams
from svc_notebook.data.declarations import declaration_of, public, read_entries
from svc_notebook.data.declarations.signatures import spell_out
from svc_notebook.errors import BadArgument


def make_function() -> Callable[..., None]:
    def search(index: str, **params: Unpack[SearchParams]) -> None:
        """Search an index.

        Parameters
        ----------
        index : str
            Name of the index.
        **params
            Search parameters.
        """

    return search


def finish_before() -> Any:
    """Write the members as another thread does that is faster, once."""
    if overtaken:
        spell_out(overtaken.pop())
    return SearchParams


overtaken: list[Callable[..., None]] = []


def test_a_thread_that_is_overtaken_keeps_what_the_other_wrote() -> None:
    expected, function = make_function(), make_function()
    spell_out(expected)
    # The annotation is evaluated after the signature was read.
    function.__annotations__["params"] = "Unpack[finish_before()]"
    overtaken.append(function)

    spell_out(function)

    assert not overtaken
    assert function.__doc__ == expected.__doc__
    assert inspect.signature(function).parameters.keys() == (
        inspect.signature(expected).parameters.keys()
    )


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_several_threads_write_each_member_once(threads: int) -> None:
    expected, function = make_function(), make_function()
    spell_out(expected)
    barrier = threading.Barrier(threads)

    def spell_out_together() -> None:
        barrier.wait()
        spell_out(function)

    running = [threading.Thread(target=spell_out_together) for _ in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()

    assert function.__doc__ == expected.__doc__
    assert (function.__doc__ or "").count("hitsPerPage : int") == 1
    assert inspect.signature(function) == inspect.signature(expected)
    assert "hitsPerPage" in inspect.signature(function).parameters


class SharedOptions(TypedDict, total=False):
    limit: int
    client: object


def test_members_that_all_have_shared_entries_are_parameters_of_the_function() -> None:
    @public()
    def read(index: str, *, flatten: bool = False, **options: Unpack[SharedOptions]) -> object:
        """Read rows."""
        return index, flatten, options

    declared = declaration_of(read)

    assert declared is not None
    assert inspect.signature(read) == declared.signature
    assert str(declared.signature).startswith(
        "(index: 'str', *, limit: 'int' = 1000, flatten: 'bool' = False, client: 'object' = None)"
    )
    assert list(read_entries(inspect.getdoc(read) or "")) == [*declared.signature.parameters]
    assert read("products", limit=3) == ("products", False, {"limit": 3})
    with pytest.raises(BadArgument, match="there is no argument `limits`; did you mean `limit`"):
        read("products", limits=3)  # type: ignore[call-arg]

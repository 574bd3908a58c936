"""Strategies of values of any declared type, for property tests."""

from __future__ import annotations

import types
import typing
from functools import cache
from typing import Annotated, Any, Literal, Union

from hypothesis import strategies as st
from msgspec import Meta

from svc_notebook.core.api.shapes import Event
from svc_notebook.core.api.validation import hints, required
from tests.core.api.event_strategies import events

Strategy = st.SearchStrategy[Any]
MAX_ITEMS = 3
TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)


@cache
def of(kind: Any) -> Strategy:
    """Values that fit a type."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        return limited(args[0], [mark for mark in args[1:] if isinstance(mark, Meta)])
    if origin in (Union, types.UnionType):
        return st.one_of([of(a) for a in args if a is not type(None)])
    if origin is Literal:
        return st.sampled_from(args)
    if kind == list[Event]:  # a check beyond the type refuses none
        return st.lists(events(), min_size=1, max_size=3)
    if origin is list:
        return st.lists(of(args[0]), max_size=MAX_ITEMS)
    if origin is dict:
        return st.dictionaries(TEXT, of(args[1]), max_size=3)
    if kind is Event:
        return events()
    if typing.is_typeddict(kind):
        return shaped(kind)
    return PLAIN[kind]


def limited(kind: Any, marks: list[Meta]) -> Strategy:
    low = next((m.ge for m in marks if m.ge is not None), None)
    high = next((m.le for m in marks if m.le is not None), None)
    if kind is int and marks:
        return st.integers(int(low or 0), int(high) if high is not None else 10**6)
    if kind is float and high is not None:
        return st.floats(float(low or 0), float(high), allow_nan=False)
    above = next((m.gt for m in marks if m.gt is not None), None)
    if above is not None:
        return of(kind).filter(lambda value: value > above)
    fewest = max((m.min_length or 0 for m in marks), default=0)
    most = min((m.max_length for m in marks if m.max_length is not None), default=MAX_ITEMS)
    if typing.get_origin(kind) is list and kind != list[Event]:
        [item] = typing.get_args(kind)
        return st.lists(of(item), min_size=fewest, max_size=min(most, MAX_ITEMS))
    return of(kind).filter(lambda value: len(value) >= fewest) if fewest else of(kind)


def shaped(shape: Any) -> Strategy:
    kinds = {name: of(kind) for name, kind in hints(shape).items()}
    needed = {name: kinds.pop(name) for name in sorted(required(shape))}
    few = (
        st.lists(st.sampled_from(sorted(kinds)), max_size=4, unique=True) if kinds else st.just([])
    )
    return few.flatmap(
        lambda names: st.fixed_dictionaries(needed | {name: kinds[name] for name in names})
    )


PLAIN: dict[Any, Strategy] = {
    str: TEXT,
    int: st.integers(-(2**53), 2**53),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    Any: JSON,
    type(None): st.none(),
}

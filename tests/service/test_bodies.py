"""A body is decoded, or refused with the position of the error."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.core.api import values
from svc_notebook.errors import BadInput
from svc_notebook.service import limits
from svc_notebook.service.http.messages import read_json

INTEGERS = st.integers(values.INTEGERS.start, values.INTEGERS.stop - 1)
VALUES = st.recursive(
    st.none() | st.booleans() | INTEGERS | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
)  # fmt: skip


@pytest.mark.slow
@given(VALUES)
def test_all_json_within_limits_is_accepted(value: object) -> None:
    assert read_json(json.dumps(value).encode()) == value


@pytest.mark.parametrize("raw", [b"", b"  \n"])
def test_an_empty_body_is_none(raw: bytes) -> None:
    assert read_json(raw) is None


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b'{"a": 1,\n "b" 2}', "':' delimiter at line 2 column 6"),
        (b"[1, 2", "line 1 column"),
        (b'{"a": NaN}', "not valid JSON"),
        (b'{"a": Infinity}', "not valid JSON"),
        (b'{"a": 1e400}', "`a`: the number does not fit in 64 bits"),
        (b'["\xff"]', "byte 2 is not UTF-8"),
        (b'["\\ud83d"]', "lone surrogate"),
        (b"\xef\xbb\xbf{}", "not valid JSON"),
        (b"{} {}", "not valid JSON"),
        (b"1" * 10_000, "64 bits"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a":' * 200_000, "nested too deeply"),
    ],
)
def test_a_body_that_is_not_json_is_refused_with_the_place(raw: bytes, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        read_json(raw)


@pytest.mark.parametrize("number", [values.INTEGERS.stop, values.INTEGERS.start - 1, 10**30])
def test_a_number_beyond_64_bits_is_refused_with_its_place(number: int) -> None:
    raw = json.dumps({"requests": [{"body": {}}, {"body": {"price": [number]}}]}).encode()

    with pytest.raises(BadInput, match=r"`requests\[1\].body.price\[0\]`.*64 bits"):
        read_json(raw)


def test_long_digits_inside_a_string_are_not_a_number() -> None:
    assert read_json(b'{"isbn": "123456789012345678901234567890"}') is not None


@pytest.mark.parametrize("pair", [("[", "]"), ('{"a":', "}")])
def test_depth_is_counted_exactly(pair: tuple[str, str]) -> None:
    opened, closed = pair
    middle = "1"

    def nested(depth: int) -> bytes:
        return (opened * depth + middle + closed * depth).encode()

    assert read_json(nested(limits.MAX_JSON_DEPTH))
    with pytest.raises(BadInput, match="nested too deeply"):
        read_json(nested(limits.MAX_JSON_DEPTH + 1))


BRACKETS = st.recursive(
    st.text(st.sampled_from('[]{}",\\\\aé'), max_size=6) | st.integers(0, 9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.sampled_from('[]{}"a'), max_size=3), inner, max_size=3)
    ),
    max_leaves=12,
)


def depth_of(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return int(isinstance(value, (dict, list))) + max(map(depth_of, inner), default=0)


@given(BRACKETS, st.integers(1, 5))
def test_brackets_in_texts_do_not_count_as_depth(value: object, most: int) -> None:
    is_allowed = depth_of(value) <= most
    for _ in range(limits.MAX_JSON_DEPTH - most):
        value = [value]
    raw = json.dumps(value).encode()
    if is_allowed:
        assert read_json(raw) == value
    else:
        with pytest.raises(BadInput, match="nested too deeply"):
            read_json(raw)

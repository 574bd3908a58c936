"""Which values are serialized as bodies, and which can be sent twice."""

from __future__ import annotations

import datetime
import decimal
import enum
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.core.api import ENDPOINTS
from svc_notebook.data.client.transport.exchange import SerializedBody, encode_json, pack_body
from svc_notebook.errors import BadInput

ROWS = {row.name: row for row in ENDPOINTS}
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
)


class Colour(enum.StrEnum):
    RED = "red"


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@given(value=PLAIN)
def test_plain_json_goes_as_it_is(value: Any) -> None:
    assert json.loads(encode_json(value)) == value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (float("nan"), "is nan, which JSON cannot represent"),
        (float("-inf"), "is -inf"),
        (np.float64(1.5), r"numpy.float64; pass its .item\(\)"),
        (np.int64(3), r"numpy.int64; pass its .item\(\)"),
        (np.bool_(True), r"numpy.bool; pass its .item\(\)"),
        (np.array([1]), r"numpy.ndarray; pass its .tolist\(\)"),
        (pd.Timestamp("2020-01-01"), "Timestamp; pass its .isoformat"),
        (pd.NaT, "omit it or pass None"),
        (pd.NA, "omit it or pass None"),
        (datetime.date(2020, 1, 1), "datetime.date; pass its .isoformat"),
        (decimal.Decimal("1.5"), "pass a float, or text"),
        ({1, 2}, "builtins.set; pass a sorted list"),
        (b"x", "builtins.bytes; pass text"),
        (2**64, "does not fit in 64 bits"),
        ("half \ud83d", "lone surrogate"),
        (Colour.RED, "Colour"),
        (object(), "builtins.object$"),
        ({1: "one"}, "has the key 1; keys must be valid text"),
        ({"\ud83d": 1}, "keys must be valid text"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else None,
)
def test_what_json_cannot_hold_is_refused_by_its_place(value: Any, message: str) -> None:
    body = {"requests": [{"body": {"a": 1}}, {"body": {"tags": ["x", value]}}]}

    with pytest.raises(BadInput, match=rf"`requests\[1\].body.tags\[1\]` .*{message}"):
        encode_json(body)


def test_a_body_that_is_itself_foreign_is_refused() -> None:
    with pytest.raises(BadInput, match=r"the body has the type builtins\.set"):
        encode_json({1})


def test_a_body_nested_too_deeply_is_refused() -> None:
    with pytest.raises(BadInput, match="nested too deeply"):
        encode_json(nested(100_000))


@pytest.mark.parametrize(
    ("name", "content"),
    [("search", b"{}"), ("browse", b"{}"), ("clear_objects", None), ("get_settings", None)],
)
def test_a_call_without_parameters_has_the_body_that_is_expected(
    name: str, content: bytes | None
) -> None:
    assert pack_body(ROWS[name], None).content == content


def test_bytes_go_as_they_are() -> None:
    assert pack_body(ROWS["batch"], b'{"requests" : []}').content == b'{"requests" : []}'


def test_what_is_packed_already_goes_as_it_is() -> None:
    packed = SerializedBody(b'{"requests":[]}', repeatable=False)

    assert pack_body(ROWS["batch"], packed) is packed


def test_an_added_record_gets_an_id_and_may_be_sent_twice() -> None:
    record = {"title": "lamp"}

    first, second = (pack_body(ROWS["add_object"], record) for _ in range(2))

    ids = [json.loads(packed.content or b"")["objectID"] for packed in (first, second)]
    assert first.repeatable
    assert ids[0] != ids[1]
    assert record == {"title": "lamp"}


def test_a_record_keeps_the_id_it_has() -> None:
    packed = pack_body(ROWS["add_object"], {"objectID": "7"})

    assert packed == (b'{"objectID":"7"}', True)


@pytest.mark.parametrize("name", ["batch", "batch_many"])
def test_records_added_in_a_batch_get_ids(name: str) -> None:
    requests = [
        {"action": "addObject", "body": {"a": 1}},
        {"action": "addObject", "body": {"objectID": "7"}},
        {"action": "clear"},
        {"action": "deleteObject", "body": {"objectID": "8"}},
    ]

    packed = pack_body(ROWS[name], {"requests": requests})

    sent = json.loads(packed.content or b"")["requests"]
    assert packed.repeatable
    assert len(sent[0]["body"]["objectID"]) == 40
    assert sent[1:] == requests[1:]


@pytest.mark.parametrize(
    ("operation", "repeatable"),
    [
        ("Increment", False),
        ("Decrement", False),
        ("Add", False),
        ("AddUnique", True),
        ("Remove", True),
        ("IncrementFrom", True),
        ("IncrementSet", True),
    ],
)
def test_what_counts_is_never_blindly_repeated(operation: str, repeatable: bool) -> None:
    change = {"stock": {"_operation": operation, "value": 1}}
    in_batch = {"requests": [{"action": "partialUpdateObject", "body": change}]}

    assert pack_body(ROWS["partial_update_object"], change).repeatable is repeatable
    assert pack_body(ROWS["batch"], in_batch).repeatable is repeatable
    for spaces in (None, (",", ":"), (" , ", " : ")):
        text = json.dumps(in_batch, separators=spaces).encode()
        assert pack_body(ROWS["batch"], text).repeatable is repeatable


def test_text_about_operations_is_no_operation() -> None:
    record = {"objectID": "7", "text": 'say "_operation": "Increment"'}

    assert pack_body(ROWS["put_object"], record).repeatable


@pytest.mark.parametrize("name", ["add_key", "create_crawler", "push_events"])
def test_what_the_declaration_calls_unrepeatable_stays_so(name: str) -> None:
    assert not pack_body(ROWS[name], {"name": "x"}).repeatable

"""Values are validated against types, also by many threads at once."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.core.api.shapes import BatchManyRequest, BatchRequest, SearchRequest
from svc_notebook.core.api.validation import check_value, is_valid_list
from svc_notebook.errors import BadInput

# Where it is not guarded against, this ends the process: in one of its own.
CROWD = """
import sys, threading, typing
from svc_notebook.core.api.validation import check_value

sys.setswitchinterval(1e-6)
for n in range(100):
    inner = typing.TypedDict(f"Inner{n}", {f"b{i}": int for i in range(40)}, total=False)
    members = {f"a{i}": int | None for i in range(60)} | {"inner": inner}
    shape = typing.TypedDict(f"Outer{n}", members, total=False)
    begin = threading.Barrier(4)

    def check():
        begin.wait()
        check_value({"a59": 1, "inner": {"b39": 2}}, shape, "body")

    threads = [threading.Thread(target=check) for _ in range(4)]
    for one in threads: one.start()
    for one in threads: one.join()
"""


def test_a_type_may_be_met_by_several_threads_at_once() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CROWD], capture_output=True, text=True, check=False, timeout=50
    )

    assert (done.returncode, done.stderr) == (0, "")


MEMBERS = st.sampled_from(["action", "body", "indexName", "extra"])
MEMBER_VALUES = (
    st.sampled_from(["addObject", "clear", "wrong", "\ud800"])
    | st.none()
    | st.integers(0, 2)
    | st.dictionaries(st.sampled_from(["objectID", "t"]), st.integers(0, 2) | st.text(max_size=2))
)
OPERATIONS = st.fixed_dictionaries(
    {"action": st.sampled_from(["addObject", "deleteObject"])},
    optional={"body": st.dictionaries(st.text(max_size=2), st.integers(0, 2), max_size=2)},
)


@given(
    st.lists(OPERATIONS | st.dictionaries(MEMBERS, MEMBER_VALUES, max_size=3), max_size=4),
    st.sampled_from([list[BatchRequest], list[BatchManyRequest], list[SearchRequest]]),
)
def test_a_list_that_is_checked_member_by_member_is_valid(value: list[Any], wanted: Any) -> None:
    if is_valid_list(value, wanted):
        assert msgspec.convert(value, wanted, strict=True) == value


@given(st.lists(OPERATIONS, min_size=1, max_size=4))
def test_operations_are_checked_member_by_member(value: list[Any]) -> None:
    assert is_valid_list(value, list[BatchRequest])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"action": "add", "body": {}}, r"`requests\[1\]\.action`: `add` is not one of"),
        ({"action": "clear", "bodie": {}}, r"`requests\[1\]\.bodie` is not known"),
        ({"action": "addObject", "body": 1}, r"`requests\[1\]\.body` must be an object"),
        ({"body": {}}, r"`requests\[1\]`: object missing required field `action`"),
    ],
    ids=["action", "member", "body", "missing"],
)
def test_the_position_of_a_wrong_operation_is_reported(wrong: Any, message: str) -> None:
    right = {"action": "addObject", "body": {"objectID": "1"}}

    with pytest.raises(BadInput, match=message):
        check_value([right, wrong], list[BatchRequest], "requests")

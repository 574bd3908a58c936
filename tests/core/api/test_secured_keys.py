"""Secured keys are equal to those that other clients of this API create and read."""

from __future__ import annotations

import base64

import pytest
from algoliasearch.search.client import SearchClientSync
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.core.api.secured_keys import make_secured_key, read_secured_key, sign
from svc_notebook.errors import BadInput
from tests.core.api import value_strategies

PARENTS = st.text("0123456789abcdef", min_size=1, max_size=40)


@pytest.mark.parametrize(
    "restrictions",
    [
        {},
        {"filters": "user:42 AND public:true", "validUntil": 2524604400},
        {"userToken": "user42", "restrictIndices": ["products", "dev_*"], "hitsPerPage": 10},
        {"query": "batman forever & ever", "referers": ["*.example.com/*"]},
    ],
    ids=["empty", "filters", "indices", "text"],
)
def test_a_key_is_the_one_the_official_client_makes(restrictions: dict[str, object]) -> None:
    peer = SearchClientSync("APP", "key")

    key = make_secured_key("2640659426d5107b6e47d75db9cbaef8", **restrictions)  # type: ignore[arg-type]

    assert key == peer.generate_secured_api_key(
        "2640659426d5107b6e47d75db9cbaef8", restrictions=dict(restrictions)
    )


@given(parent=PARENTS, text=value_strategies.TEXT, other=PARENTS)
def test_a_key_is_verified_over_its_text_as_it_came(parent: str, text: str, other: str) -> None:
    key = base64.b64encode((sign(parent, text) + text).encode()).decode()

    secured = read_secured_key(key)

    assert secured is not None
    assert secured.text == text
    assert secured.signed_by(parent)
    assert secured.signed_by(other) == (parent == other)


@given(st.text() | st.binary().map(lambda raw: base64.b64encode(raw).decode()))
def test_what_is_no_secured_key_is_told_apart(key: str) -> None:
    secured = read_secured_key(key)

    assert secured is None or len(secured.signature) == 64


def test_the_restrictions_are_read_back() -> None:
    secured = read_secured_key(make_secured_key("parent", filters="a:b AND c:d", hitsPerPage=3))

    assert secured is not None
    assert secured.restrictions() == {"filters": "a:b AND c:d", "hitsPerPage": "3"}


def test_an_unknown_restriction_is_refused() -> None:
    with pytest.raises(BadInput, match="did you mean `filters`"):
        make_secured_key("parent", filtrs="x")  # type: ignore[call-arg]

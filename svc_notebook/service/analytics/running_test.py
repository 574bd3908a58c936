"""A running A/B test: which variant a search of its control index takes."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec

from svc_notebook.service.analytics.counted_search import identify_user
from svc_notebook.service.events import current_milliseconds

_DIGEST_BYTES = 8


class Assignment(NamedTuple):
    """The index and the parameters that a search takes, and the variant if a test chose them."""

    target: str
    params: Mapping[str, Any]
    test: int | None = None
    variant: int | None = None

    @property
    def members(self) -> dict[str, int]:
        """The members of the response that name the test and the variant."""
        if self.test is None or self.variant is None:
            return {}
        return {"abTestID": self.test, "abTestVariantID": self.variant}


class RunningVariant(msgspec.Struct, array_like=True):
    """An index, with parameters that replace those of a search."""

    index: str
    params: dict[str, Any]


class RunningTest(msgspec.Struct, array_like=True):
    """A test until it ends; `percentage` of the users take the first variant, the control."""

    id: int
    ends: int
    percentage: int
    variants: list[RunningVariant]

    def assign(self, params: Mapping[str, Any], token: str, address: str) -> Assignment | None:
        """Return the variant of a user, which is always the same; None after the end."""
        if current_milliseconds() >= self.ends:
            return None
        user = identify_user(token, address)
        digest = blake2b(f"{self.id}:{user}".encode(), digest_size=_DIGEST_BYTES).digest()
        percentile = 100 * int.from_bytes(digest, "big") / 2 ** (8 * _DIGEST_BYTES)
        number = int(percentile >= self.percentage)
        variant = self.variants[number]
        return Assignment(variant.index, {**params, **variant.params}, self.id, number + 1)

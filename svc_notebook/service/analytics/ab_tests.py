"""Stored A/B tests, and those that divide searches now."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec

from svc_notebook.core.api.shapes.ab_tests import ABTestConfiguration, ABTestStatus, VariantFields
from svc_notebook.errors import NotFound, Refused
from svc_notebook.service.analytics.search_counts import identify_user
from svc_notebook.service.store import Store, current_milliseconds

_COLUMNS = "id, name, created, ends, stopped, variants, configuration"

_DIGEST_BYTES = 8


class StoredTest(NamedTuple):
    """A test as it was created, and when it was stopped; times are in milliseconds."""

    id: int
    name: str
    created: int
    ends: int
    stopped: int | None
    variants: list[VariantFields]
    configuration: ABTestConfiguration

    @property
    def indices(self) -> list[str]:
        """The indices of the variants; the first is the control."""
        return [variant["index"] for variant in self.variants]

    @property
    def status(self) -> ABTestStatus:
        """Whether the test runs, and else why it does not."""
        if self.stopped is not None:
            return "stopped"
        return "expired" if current_milliseconds() >= self.ends else "active"


class ABTests:
    """The table of tests; `exists` returns whether there is an index of a name."""

    def __init__(self, store: Store, exists: Callable[[str], bool]) -> None:
        self._store = store
        self._exists = exists
        self._loading = threading.Lock()
        self._running: dict[str, RunningTest] = {}
        self._load()

    def running(self, index: str) -> RunningTest | None:
        """Return the test that divides the searches of an index, if its indices exist."""
        test = self._running.get(index)
        if test is None or not all(self._exists(variant.index) for variant in test.variants):
            return None
        return test

    def all(self) -> list[StoredTest]:
        """Return the tests, newest first."""
        return self._read("1 ORDER BY id DESC")

    def find(self, id: int) -> StoredTest:
        """Return a test; raises `NotFound`."""
        tests = self._read("id = ?", id)
        if not tests:
            raise NotFound(f"The A/B test {id} does not exist", status=404)
        return tests[0]

    def add(
        self,
        name: str,
        variants: Sequence[VariantFields],
        ends: int,
        configuration: ABTestConfiguration,
    ) -> StoredTest:
        """Start a test; raises `Refused` if another one runs on one of its indices."""
        indices = {variant["index"] for variant in variants}
        with self._store.writing() as connection:
            for test in self._read("stopped IS NULL"):
                if test.status == "active" and (shared := indices.intersection(test.indices)):
                    raise Refused(
                        f"the A/B test {test.id} ({test.name}) runs on {min(shared)}: stop it "
                        "first, or take another index",
                        status=409,
                    )
            row = connection.execute(
                "INSERT INTO ab_tests (control, name, created, ends, variants, configuration) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (
                    variants[0]["index"], name, current_milliseconds(), ends,
                    msgspec.json.encode(variants), msgspec.json.encode(configuration),
                ),
            )  # fmt: skip
            number = row.lastrowid or 0
        self._load()
        return self.find(number)

    def stop(self, id: int) -> StoredTest:
        """Stop a test; raises `Refused` if it does not run."""
        test = self.find(id)
        if test.status != "active":
            raise Refused(f"the A/B test {id} is {test.status} already", status=409)
        self._stop([id])
        return test

    def delete(self, id: int) -> StoredTest:
        """Delete a test; raises `NotFound`."""
        test = self.find(id)
        with self._store.writing() as connection:
            connection.execute("DELETE FROM ab_tests WHERE id = ?", (id,))
        self._load()
        return test

    def stop_incomplete(self) -> None:
        """Stop the tests of which an index was deleted or renamed."""
        incomplete = [
            test.id
            for test in [*self._running.values()]
            if not all(self._exists(variant.index) for variant in test.variants)
        ]
        if incomplete:
            self._stop(incomplete)

    def _stop(self, numbers: Sequence[int]) -> None:
        with self._store.writing() as connection:
            connection.executemany(
                "UPDATE ab_tests SET stopped = ? WHERE id = ? AND stopped IS NULL",
                [(current_milliseconds(), number) for number in numbers],
            )
        self._load()

    def _load(self) -> None:
        """Replace the tests that divide searches; searches read them without a lock."""
        with self._loading:
            active = [test for test in self._read("stopped IS NULL") if test.status == "active"]
            self._running = {test.indices[0]: _divide(test) for test in active}

    def _read(self, condition: str, *values: Any) -> list[StoredTest]:
        rows = self._store.read(f"SELECT {_COLUMNS} FROM ab_tests WHERE {condition}", *values)
        return [StoredTest(*row[:-2], *map(msgspec.json.decode, row[-2:])) for row in rows]


def _divide(test: StoredTest) -> RunningTest:
    variants = [
        RunningVariant(variant["index"], {**variant.get("customSearchParameters", {})})
        for variant in test.variants
    ]
    return RunningTest(test.id, test.ends, test.variants[0]["trafficPercentage"], variants)


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

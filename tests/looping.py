"""One test over many cases, which reports every case that fails."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

Test = Callable[..., None]


def loop_over(
    names: str, cases: Iterable[Any], *, sample: int | None = None
) -> Callable[[Test], Test]:
    """Make a test of one case a test of all cases, for cheap checks of many.

    The cases share the fixtures of the test. What fails is reported with its case; the other cases
    are checked all the same.

    Parameters
    ----------
    names
        the arguments of the test that a case gives, separated by commas
    cases
        a value for each case, or a tuple of values where there are several names
    sample
        the number of cases, evenly spread, that a run with `--sample` checks; all by default
    """
    keys = [name.strip() for name in names.split(",")]
    rows = [case if len(keys) > 1 else (case,) for case in cases]

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def check_all(request: pytest.FixtureRequest, **fixtures: Any) -> None:
            failures: list[str] = []
            for row in _choose(rows, sample, request.config):
                try:
                    test(**dict(zip(keys, row, strict=True)), **fixtures)
                except (Exception, pytest.fail.Exception) as error:
                    shown = ", ".join(str(getattr(value, "name", value)) for value in row)
                    failures.append(f"{shown}: {type(error).__name__}: {error}")
            if failures:
                pytest.fail(f"{len(failures)} of {len(rows)} cases failed\n" + "\n".join(failures))

        own = inspect.signature(test)
        parameters = [p for p in own.parameters.values() if p.name not in keys]
        request = inspect.Parameter("request", inspect.Parameter.KEYWORD_ONLY)
        vars(check_all)["__signature__"] = own.replace(parameters=[*parameters, request])
        return check_all

    return decorate


def _choose(rows: list[Any], sample: int | None, config: pytest.Config) -> list[Any]:
    """Return all rows, or an evenly spread sample in a run that takes one."""
    sampled = config.getoption("sample") or config.getoption("quick")
    if not sampled or sample is None or len(rows) <= sample:
        return rows
    return [rows[number * len(rows) // sample] for number in range(sample)]

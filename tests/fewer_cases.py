"""A plugin with the option `--cases N`: at most N parameter sets of each test function run."""

from __future__ import annotations

from collections import defaultdict

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--cases`."""
    parser.addoption(
        "--cases", type=int, metavar="N", help="run at most N parameter sets of each test"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out parameter sets beyond those of `--cases`; those that stay are evenly spread."""
    limit = config.getoption("cases")
    if limit is None:
        return
    functions: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        functions[item.nodeid.partition("[")[0]].append(item)
    kept = {item for cases in functions.values() for item in spread(cases, limit)}
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


def spread(cases: list[pytest.Item], limit: int) -> list[pytest.Item]:
    """Return at most so many of the cases of one test function, evenly spread."""
    if len(cases) <= limit:
        return cases
    return [cases[number * len(cases) // limit] for number in range(limit)]

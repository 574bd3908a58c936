"""Quick runs take a share of the rows; processes have limits of their own."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from tests.rotation import ROTATIONS, rotation

FOLDER = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave limits to `processes.run_fresh`, which reports where a process hangs; rotate rows."""
    here = [item for item in items if item.path.is_relative_to(FOLDER)]
    for item in here:
        item.add_marker(pytest.mark.timeout(0))
    if not (config.getoption("quick") or config.getoption("sample")):
        return
    shares = {rotation()}
    if any(FOLDER.is_relative_to(config.rootpath / path) for path in config.getoption("slow_in")):
        shares.add((rotation() + ROTATIONS // 2) % ROTATIONS)
    rows: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in here:
        if item.get_closest_marker("rotated"):
            rows[item.nodeid.partition("[")[0]].append(item)
    left_out = {
        item
        for family in rows.values()
        for number, item in enumerate(family)
        if number % ROTATIONS not in shares
    }
    config.hook.pytest_deselected(items=[*left_out])
    items[:] = [item for item in items if item not in left_out]

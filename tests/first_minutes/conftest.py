"""Processes have limits of their own here, which grow with the load of the machine."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the limit to `processes.run_fresh`, which reports where a process hangs."""
    for item in items:
        if item.path.is_relative_to(__file__.rpartition("/")[0]):
            item.add_marker(pytest.mark.timeout(0))

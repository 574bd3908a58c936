"""`kill -9` at any moment loses no acknowledged write and leaves no partial write."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks.kill import kill_rounds

ROUNDS = 8


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_nothing_acknowledged_is_lost_at_a_kill(tmp_path: Path) -> None:
    report = kill_rounds(tmp_path, ROUNDS, random.Random(7))

    assert report.acknowledged > 0
    assert report.lost == []
    assert report.partial == []

"""The share of tests that a run of a part takes: another one each day.

`TESTS_ROTATION` (0 to 5) chooses the share in place of the day of the year.
"""

from __future__ import annotations

import os
import time

ROTATION_VARIABLE = "TESTS_ROTATION"
ROTATIONS = 6


def rotation() -> int:
    """Return the number of the share, from 0 to `ROTATIONS` - 1."""
    return int(os.environ.get(ROTATION_VARIABLE) or time.localtime().tm_yday) % ROTATIONS

"""Signals: observations on how a source is to be read, with points that decide together."""

from __future__ import annotations

from typing import NamedTuple


class Signal(NamedTuple):
    """One observation, and the points that it adds to a reading; negative ones speak against it."""

    what: str
    points: float

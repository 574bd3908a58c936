"""Hypotheses on how a source is to be read, with what each signal adds to their scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Signal(NamedTuple):
    """One observation, and the points that it adds to a hypothesis; negative ones speak against."""

    what: str
    points: float


@dataclass(frozen=True)
class Hypothesis:
    """One reading of one aspect of a source, such as "row 1 is the header"."""

    aspect: str
    reading: str
    signals: tuple[Signal, ...] = ()
    chosen: bool = False

    @property
    def score(self) -> float:
        """The sum of the points of all signals."""
        return sum(signal.points for signal in self.signals)


def describe_signals(signals: Sequence[Signal]) -> str:
    """Return the signals with their points, the strongest first."""
    strongest = sorted(signals, key=lambda signal: -abs(signal.points))
    return "; ".join(f"{signal.points:+g} {signal.what}" for signal in strongest)

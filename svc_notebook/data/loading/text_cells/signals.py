"""Signals, hypotheses and decisions: the evidence for each possible reading of a source.

Signals add points to a hypothesis, and the hypothesis with the most points is chosen. The runner-up
and its distance say how sure a decision is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple


class Signal(NamedTuple):
    """One observation, and the points that it adds to a reading; negative ones speak against it."""

    what: str
    points: float


class ReadingSignal(NamedTuple):
    """A row of `LoadPlan.explain`: a signal for or against one reading of a source."""

    decision: str
    reading: str
    chosen: bool
    signal: str
    points: float
    # The points by which the chosen reading leads the next one; negative for the other readings.
    distance: float


@dataclass(frozen=True)
class Hypothesis:
    """One possible reading: its value, the text that shows it, and its signals."""

    value: str
    reading: str
    signals: tuple[Signal, ...]

    @property
    def points(self) -> float:
        """The sum of the points of the signals."""
        return total_points(self.signals)


class Decision(NamedTuple):
    """Hypotheses that exclude each other, the best first."""

    name: str
    hypotheses: tuple[Hypothesis, ...]

    @property
    def chosen(self) -> Hypothesis:
        """The best hypothesis."""
        return self.hypotheses[0]

    @property
    def points(self) -> float:
        """The points of the hypothesis that is chosen."""
        return self.chosen.points

    @property
    def runner_up(self) -> Hypothesis | None:
        """The next hypothesis; None if there is only one."""
        return self.hypotheses[1] if len(self.hypotheses) > 1 else None

    @property
    def distance(self) -> float:
        """The points that the chosen hypothesis has more than the runner-up, or than 0 points."""
        return self.points - (self.runner_up.points if self.runner_up else 0)

    def choosing(self, hypothesis: Hypothesis) -> Decision:
        """Return the decision for one of the hypotheses, whatever its points are."""
        others = (other for other in self.hypotheses if other is not hypothesis)
        return self._replace(hypotheses=(hypothesis, *others))

    def rows(self) -> Iterator[ReadingSignal]:
        """Yield a row for each signal of each hypothesis."""
        for number, hypothesis in enumerate(self.hypotheses):
            distance = hypothesis.points - self.points if number else self.distance
            for what, points in hypothesis.signals:
                yield ReadingSignal(
                    self.name, hypothesis.reading, not number, what, points, distance
                )


def total_points(signals: Iterable[Signal]) -> float:
    """Return the sum of the points of signals."""
    return sum(signal.points for signal in signals)


def decide(name: str, hypotheses: Iterable[Hypothesis]) -> Decision:
    """Return the decision for the hypothesis with the most points, of equal ones the first."""
    return Decision(name, tuple(sorted(hypotheses, key=lambda hypothesis: -hypothesis.points)))


def state(name: str, reading: str, what: str, points: float = 1.0) -> Decision:
    """Return a decision that has one hypothesis with one signal."""
    return Decision(name, (Hypothesis(reading, reading, (Signal(what, points),)),))

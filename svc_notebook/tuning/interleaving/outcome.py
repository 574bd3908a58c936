"""The hits that an interleaving shows, and its outcome: which variant users prefer, how surely."""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from pandas import DataFrame

from svc_notebook.core.files import expand_path
from svc_notebook.data.plots import Plot, clean, colours, draw_empty, make_axes
from svc_notebook.errors import BadInput
from svc_notebook.tuning.clicks.impressions import Action, list_actions
from svc_notebook.tuning.statistics import DECISIVE_EVIDENCE, log_binomial, weigh_evidence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

A, B = "a", "b"

HEIGHT_INCHES = 2.8

Z_95 = 1.959963984540054
COLUMNS = {
    "user": "str", "timestamp": "datetime64[us, UTC]", "searches": "int64", "a": "int64",
    "b": "int64", "preferred": "str",
}  # fmt: skip


class Shown(NamedTuple):
    """A hit that was shown: its user, its variant and the time of its search."""

    user: str
    variant: str
    timestamp: str


@dataclass(frozen=True, eq=False)
class InterleavingOutcome:
    """The preferences of users between two variants.

    `users` has a row for each user with a credited hit, in the order of their first search: `user`
    (str), `timestamp` (datetime64[us, UTC]), `searches` (int64, those with a credited hit), `a` and
    `b` (int64, credited hits), `preferred` (str: a, b or empty).
    """

    searches: int
    users: DataFrame
    unmatched: int

    @property
    def wins(self) -> dict[str, int]:
        """The number of users that prefer each variant."""
        return {name: int((self.users["preferred"] == name).sum()) for name in (A, B)}

    @property
    def share(self) -> float:
        """The share of the users with a preference who prefer b; NaN without any."""
        wins = self.wins
        total = sum(wins.values())
        return wins[B] / total if total else math.nan

    def interval(self) -> tuple[float, float]:
        """Return the 95 % interval of the share (Wilson); it holds for one look at the end."""
        total = sum(self.wins.values())
        if not total:
            return math.nan, math.nan
        centre = (self.share + Z_95**2 / (2 * total)) / (1 + Z_95**2 / total)
        spread = self.share * (1 - self.share) / total + Z_95**2 / (4 * total**2)
        reach = Z_95 * math.sqrt(spread) / (1 + Z_95**2 / total)
        return centre - reach, centre + reach

    def test(self) -> float:
        """Return the two-sided p-value of the exact sign test; it holds for one look at the end."""
        wins = self.wins
        total = wins[A] + wins[B]
        tail = [log_binomial(total, count) for count in range(min(wins.values()) + 1)]
        return min(1.0, 2 * sum(math.exp(log_count - total * math.log(2)) for log_count in tail))

    def evidence(self) -> list[float]:
        """Return the evidence of a preference after each user who has one.

        It is the ratio of the likelihoods of any preference and of none. Without a preference, it
        ever exceeds 20 with a probability of at most 5 %, however often it is read.
        """
        preferred = self.users["preferred"]
        values, counts = [], {A: 0, B: 0}
        for variant in preferred[preferred != ""]:
            counts[variant] += 1
            values.append(weigh_evidence(counts[A], counts[B]))
        return values

    @property
    def decision(self) -> str:
        """The preferred variant, `a` or `b`, as soon as the evidence has exceeded 20; else empty.

        It does not change with later users.
        """
        preferred = [*self.users["preferred"][self.users["preferred"] != ""]]
        for count, evidence in enumerate(self.evidence(), 1):
            if evidence >= DECISIVE_EVIDENCE:
                return B if 2 * preferred[:count].count(B) > count else A
        return ""

    def __repr__(self) -> str:
        wins, (low, high) = self.wins, self.interval()
        decided = f"users prefer {self.decision}" if self.decision else "no decision yet"
        shown = f"{self.share:.1%} [{low:.1%}, {high:.1%}] prefer b, " if sum(wins.values()) else ""
        return (
            f"{self.searches:,} searches, {len(self.users):,} users with a credited hit: "
            f"{wins[A]:,} prefer a, {wins[B]:,} prefer b; {shown}p = {self.test():.3g}; {decided}"
        )

    def plot(self, *, axes: Any = None) -> Sequence[Axes]:
        """Draw the share of users who prefer b, and the evidence, after each user."""

        return plot_interleaving(self, axes=axes)


def read_interleaving(
    log: str | Path, events: DataFrame, *, action: Action = "click"
) -> InterleavingOutcome:
    """Read which of two interleaved variants users prefer.

    A hit that a user clicked is a credit for the variant that contributed it. A user prefers the
    variant with more credits; searches without a user token count as users of their own.

    Parameters
    ----------
    log : path
        File that `interleave` wrote.
    events : DataFrame
        Events, as `svc.read_events` returns them; those of both indices if there are two.
    action : {'click', 'conversion'}, default 'click'
        Type of event that counts.

    Returns
    -------
    InterleavingOutcome
        The outcome with `searches`, `users`, `wins`, `share`, `interval()`, `test()`,
        `evidence()`, `decision`, `plot()` and `unmatched`, the number of events of hits that
        the log does not have.

    Raises
    ------
    BadInput
        If the log is missing, or a line of it is damaged.

    Examples
    --------
    >>> mixed = svc.tuning.interleave("products", {}, {"ignorePlurals": ["en"]}, log="shop.jsonl")
    >>> for user in ("anna", "ben"):
    ...     answer = mixed.search("mugs", userToken=user)
    >>> outcome = svc.tuning.read_interleaving("shop.jsonl", svc.read_events("products"))
    >>> outcome.wins
    {'a': 0, 'b': 0}
    """
    shown: dict[tuple[str, str], Shown] = {}
    searches = 0
    for number, line in enumerate(_read_lines(expand_path(log)), 1):
        try:
            entry = json.loads(line)
            user = entry["user"] or f"search {number}"
            for name, variant in entry["teams"].items():
                for query_id in entry["queryIDs"].values():
                    shown[query_id, name] = Shown(user, variant, entry["timestamp"])
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise BadInput(f"{log}, line {number}: no entry of an interleaving") from error
        searches += 1
    actions, _ = list_actions(events, action)
    pairs = [*zip(actions["session"], actions["objectID"], strict=True)]
    credited = [
        (session, shown[session, name]) for session, name in pairs if (session, name) in shown
    ]
    return InterleavingOutcome(searches, _count_users(credited), len(pairs) - len(credited))


def _read_lines(log: Path) -> Iterator[str]:
    try:
        with log.open(encoding="utf-8") as lines:
            yield from lines
    except OSError as error:
        raise BadInput(f"the log {log} cannot be read: {error.strerror}") from error


def _count_users(credited: Sequence[tuple[str, Shown]]) -> DataFrame:
    rows: dict[str, dict[str, Any]] = {}
    for session, hit in credited:
        first = {"user": hit.user, "timestamp": hit.timestamp, "sessions": set(), A: 0, B: 0}
        row = rows.setdefault(hit.user, first)
        row["timestamp"] = min(row["timestamp"], hit.timestamp)
        row["sessions"].add(session)
        row[hit.variant] += 1
    for row in rows.values():
        row["searches"] = len(row["sessions"])
        row["preferred"] = "" if row[A] == row[B] else max((A, B), key=row.__getitem__)
    frame = DataFrame(list(rows.values()), columns=[*COLUMNS])
    frame["timestamp"] = pd.to_datetime(frame["timestamp"], utc=True, format="ISO8601")
    ordered = frame.sort_values("timestamp", kind="stable", ignore_index=True)
    return ordered.astype(COLUMNS)


def plot_interleaving(outcome: InterleavingOutcome, *, axes: Any = None) -> Plot:
    """Draw the share of users who prefer b, and the evidence, after each user with a preference."""
    drawn = make_axes(axes, 1, 2, HEIGHT_INCHES)
    left, right = drawn
    palette = colours()
    preferred = outcome.users["preferred"]
    chosen = (preferred[preferred != ""] == "b").to_numpy()
    counts = np.arange(1, len(chosen) + 1)
    low, high = outcome.interval()
    clean(left, f"users who prefer b: {outcome.share:.0%} [{low:.0%}, {high:.0%}]")
    clean(right, f"evidence; decides at {DECISIVE_EVIDENCE:g}")
    if not len(chosen):
        for axis in (left, right):
            draw_empty(axis, "no user has a preference yet")
        return Plot(drawn)
    left.axhline(0.5, color=palette.grey, linewidth=0.8, zorder=0)
    left.plot(counts, np.cumsum(chosen) / counts, color=palette.hue, linewidth=1.6)
    left.set_ylim(0, 1)
    right.axhline(DECISIVE_EVIDENCE, color=palette.grey, linewidth=0.8, linestyle="--", zorder=0)
    right.plot(counts, outcome.evidence(), color=palette.hue, linewidth=1.6)
    right.set_yscale("log")
    for axis in (left, right):
        axis.set_xlabel("users with a preference", fontsize=8.5, color=palette.ink)
    return Plot(drawn)


def draft_teams(
    first: Sequence[str], second: Sequence[str], length: int, seed: str
) -> list[tuple[str, str]]:
    """Return at most `length` ids in order, each with the variant that contributed it.

    Both variants choose in turn their best hit that is not there yet; in each round a coin decides
    which one begins. The same seed gives the same list, and a shorter list is its beginning.
    """
    coin = random.Random(hashlib.sha256(seed.encode("utf-8", "replace")).digest())
    lists = {A: iter(first), B: iter(second)}
    drafted: dict[str, str] = {}
    while len(drafted) < length:
        before = len(drafted)
        for variant in (A, B) if coin.random() < 0.5 else (B, A):
            hit = next(
                (candidate for candidate in lists[variant] if candidate not in drafted), None
            )
            if hit is not None:
                drafted[hit] = variant
        if len(drafted) == before:
            break
    return list(drafted.items())[:length]

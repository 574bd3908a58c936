"""Simulate what tuning decides: interleavings that are read after every user, and small searches.

    python benchmarks/simulations.py [--runs 500] [--searches 120]

Without a difference, at most 5 % of the interleavings may come to a decision, and at most 5 % of
the searches among changes without an effect may propose one. `docs/tuning.md` has the figures.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
from pathlib import Path
from random import Random
from typing import Any, cast

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.figures import record
from svc_notebook.tuning.interleaving.outcome import draft_teams
from svc_notebook.tuning.statistics import weigh_evidence
from svc_notebook.tuning.variants.result import Search
from svc_notebook.tuning.variants.running_search import RunningSearch, VariantSearch
from svc_notebook.tuning.variants.spaces import Result, Space, Trial, TrialPlan
from svc_notebook.tuning.variants.trials import Notes

# The evidence that makes a decision; see `InterleavingOutcome`.
DECISIVE = 20
# The users of an interleaving of equal variants, and of one with a better variant.
EQUAL_USERS, MAX_USERS = 400, 4000
# The shares of the queries for which b is better, and the interleavings of each.
SHARES, BETTER_RUNS = (0.25, 0.5, 1.0), 60
GAIN, GAIN_RUNS, TUNE_QUERIES = 0.12, 40, (10, 26, 60)
HITS = 8
WANTED = "<= 5"  # percent


def simulate_interleaving(random: Random, better: float, users: int) -> tuple[str, int]:
    """Return the decision after users who click by grade and position, and their number.

    Variant b exchanges two hits of a with the probability `better` if that improves the order.
    """
    wins = {"a": 0, "b": 0}
    for user in range(users):
        grades = {str(name): random.random() < 0.3 for name in range(HITS)}
        first = [*grades]
        second = random.sample(first, HITS)
        if random.random() < better:
            second.sort(key=lambda name: not grades[name])
        credit = {"a": 0, "b": 0}
        drafted = draft_teams(first, second, HITS, f"{random.random()}")
        for position, (name, team) in enumerate(drafted):
            chance = 0.8**position * (0.5 if grades[name] else 0.05)
            credit[team] += random.random() < chance
        if credit["a"] != credit["b"]:
            wins[max(credit, key=credit.__getitem__)] += 1
            if weigh_evidence(*wins.values()) >= DECISIVE:
                return max(wins, key=wins.__getitem__), user + 1
    return "", users


def simulate_search(seed: int, count: int, gain: float = 0.0) -> Search:
    """Search a space of 16 values that have no effect but noise; one may have a gain."""
    rng = np.random.default_rng(seed)
    space = Space({"minProximity": [*range(1, 8)], "ignorePlurals": [False, True],
                   "typoTolerance": [True, False, "min"], "distinct": [0, 1, 2]})  # fmt: skip
    names = [f"q{n}" for n in range(count * 2)]
    table = pd.DataFrame({"query": names, "filters": "", "objectID": "a", "rating": 1.0})
    plan = TrialPlan("coordinate", 60, len(space), count, count, 60 * count)
    tune, held = table.head(count), table.tail(count)
    job: Any = VariantSearch(space, plan, "ndcg@10", tune, held, table, seed, plan.budget)
    search = RunningSearch(job, cast(Any, None), cast(Any, None), None, {})
    base = rng.uniform(0, 1, count)

    async def measure(trial: Trial) -> Result:
        choices = dict(trial.variant.choices)
        planted = gain * (choices.get("ignorePlurals") is True)
        # Half of the queries are not touched by a change.
        noise = rng.normal(0, 0.2, count) * (rng.uniform(0, 1, count) < 0.5) if choices else 0
        values: list[float | None] = [*map(float, base + planted + noise)]
        return Result(choices, values[: trial.queries], None, 0)

    search._measure = measure  # type: ignore[method-assign]
    search.notes = Notes(None)
    asyncio.run(search.tune())
    return search.found("null", cast(Any, None), None, 3, None)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--runs", type=int, default=500)
    options.add_argument("--searches", type=int, default=120)
    given = options.parse_args()
    compare_interleavings(given.runs)
    compare_searches(given.searches)


def compare_interleavings(runs: int) -> None:
    """Print how many interleavings come to a decision, and after how many users."""
    random = Random(5)
    equal = [simulate_interleaving(random, 0, EQUAL_USERS)[0] for _ in range(runs)]
    share = 100 * sum(map(bool, equal)) / runs
    print(f"equal variants, {runs} interleavings of {EQUAL_USERS} users: {share:.1f} % decided")
    record("interleavings of equal variants that decide", share, "%", wanted=WANTED)
    for better in SHARES:
        outcomes = [simulate_interleaving(random, better, MAX_USERS) for _ in range(BETTER_RUNS)]
        right = sum(decision == "b" for decision, _ in outcomes)
        users = sorted(number for _, number in outcomes)
        print(
            f"b better for {better:.0%} of the queries: {right} of {BETTER_RUNS} decide for b, "
            f"half after {statistics.median(users):.0f} users, "
            f"80 % after {users[BETTER_RUNS * 4 // 5]}"
        )


def compare_searches(runs: int) -> None:
    """Print how many searches propose a change without an effect, and one with a gain."""
    for count in TUNE_QUERIES:
        proposed = sum(bool(simulate_search(seed, count).best) for seed in range(runs))
        share = 100 * proposed / runs
        gained = sum(
            simulate_search(seed, count, GAIN).best.get("ignorePlurals") is True
            for seed in range(GAIN_RUNS)
        )
        print(
            f"{count} tune queries: {share:.1f} % of {runs} searches propose a change without an "
            f"effect, {gained} of {GAIN_RUNS} one with a gain of {GAIN}"
        )
        record(f"searches of {count} queries that propose no effect", share, "%", wanted=WANTED)


if __name__ == "__main__":
    main()

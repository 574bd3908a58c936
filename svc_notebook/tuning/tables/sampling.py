"""Query sampling from logs: zero-result queries, queries to judge, and held-out queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from svc_notebook.api.texts import list_texts
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.tuning.tables.logged_queries import read_asked
from svc_notebook.tuning.tables.tables import QUESTION, Queries, check_queries

How = Literal["stratified", "frequency", "uniform"]
STRATA = ("head", "torso", "tail", "zero")
# Where the shares of all searches end that the queries of a stratum make together.
ENDS = {"head": 1 / 3, "torso": 2 / 3}
COUNT = ["searches", "zero"]
# Endings of URLs that look at records or facets, and are no searches in themselves.
OTHERS = r"/browse$|/facets/|/objects$"


def count_queries(log: DataFrame | Iterable[str]) -> DataFrame:
    """Count what a log asked: `query, filters, frequency, zero, stratum`, the most frequent first.

    `log` is what `read_searches` or `read_logs` gives, texts, or a table of one's own: `query`,
    and as far as known `filters`, `nbHits`, and `frequency` where rows are added up. `zero` is how
    many of the searches found nothing. Searches without words are left out.

    The strata are by frequency: the most frequent queries that make a third of all searches are
    the head, those of the next third the torso, the others the tail; `zero` are those that never
    found anything.
    """
    rows = _read_log(log)
    rows = rows[rows["query"].str.strip() != ""]
    counted = rows.groupby(QUESTION, sort=True)[COUNT].sum().reset_index()
    counted = counted.rename(columns={"searches": "frequency"})
    counted = counted.sort_values("frequency", ascending=False, kind="stable")
    never = (counted["zero"] == counted["frequency"]) & (counted["frequency"] > 0)
    counted["stratum"] = _strata(counted["frequency"]).where(~never, "zero")
    counted.attrs = {}
    return counted.reset_index(drop=True)


def _strata(falling: Series[Any]) -> Series[str]:
    """Name the stratum of each frequency, the greatest of which come first."""
    share = falling.to_numpy(dtype=np.float64) / max(falling.sum(), 1)
    before = np.cumsum(share) - share
    # Shares of a third add up to a little more or less.
    names = np.select([before < end - 1e-9 for end in ENDS.values()], [*ENDS], "tail")
    return Series(names, falling.index, dtype="str")


def no_results(log: DataFrame, *, least: int = 1) -> DataFrame:
    """List the queries of a log that found nothing, those most often in vain first.

    `query, filters, frequency, zero, stratum, share`: of `frequency` searches `zero` found nothing,
    which is this `share` of all that found nothing; `stratum` is by frequency alone. With `least`
    only those in vain so many times. `log` is as in `count_queries`, with `nbHits`.
    `attrs["svc"]["shares"]` has `zero_shares`: how much of each stratum was in vain.
    """
    counted = _by_frequency(log)
    total = counted["zero"].sum()
    vain = counted[counted["zero"] >= max(least, 1)].assign(share=lambda f: f["zero"] / total)
    ordered = vain.sort_values("zero", ascending=False, kind="stable").reset_index(drop=True)
    shares = zero_shares(log)
    told = zip(shares["stratum"], shares["share"], strict=True)
    ordered.attrs["svc"] = {"shares": {name: float(share) for name, share in told}}
    return ordered


def zero_shares(log: DataFrame) -> DataFrame:
    """Tell which share of the searches of each stratum found nothing, and of all.

    `stratum, queries, searches, zero, share`. The strata are those of `count_queries`, by frequency
    alone: head, torso and tail.
    """
    counted = _by_frequency(log)
    parts = [(name, counted[counted["stratum"] == name]) for name in (*ENDS, "tail")]
    rows = [(name, len(part), *part[["frequency", "zero"]].sum()) for name, part in
            [*parts, ("all", counted)]]  # fmt: skip
    told = DataFrame(rows, columns=["stratum", "queries", "searches", "zero"])
    return told.assign(share=told["zero"] / told["searches"].where(told["searches"] > 0))


def _by_frequency(log: DataFrame) -> DataFrame:
    """Count queries, with strata by frequency alone."""
    _check_hits(log)
    counted = count_queries(log)
    return counted.assign(stratum=_strata(counted["frequency"]))


def sample_queries(
    log: DataFrame | Iterable[str], n: int, how: How = "stratified", seed: int = 0
) -> DataFrame:
    """Draw `n` queries of a log to judge: a table of queries, each at most once.

    `stratified` draws as many of head, torso, tail and zero, `uniform` every query alike,
    `frequency` those that are asked often more often. `weight` undoes that: the weighted mean over
    the sample estimates the mean over all searches of the log. The same `seed` draws the same.
    """
    if how not in DRAWS:
        raise BadInput(f"`how` is one of {', '.join(DRAWS)}, not {how!r}{did_you_mean(how, DRAWS)}")
    if n < 1:
        raise BadInput(f"`n` is 1 or more, not {n}")
    counted = count_queries(log)
    if counted.empty:
        raise BadInput("the log holds no queries; let some searches be made first")
    dice = np.random.default_rng(seed)
    drawn = DRAWS[how](counted, min(n, len(counted)), dice)
    drawn["weight"] = drawn["weight"] / drawn["weight"].mean()
    columns = [*QUESTION, "weight", "frequency", "stratum"]
    return check_queries(drawn.sort_index()[columns])


def _draw_alike(counted: DataFrame, n: int, dice: np.random.Generator) -> DataFrame:
    """Draw every row alike: each stands for as many others, and for all of its searches."""
    rows = dice.choice(len(counted), n, replace=False)
    return counted.iloc[rows].assign(weight=lambda f: f["frequency"] * (len(counted) / n))


def _draw_often(counted: DataFrame, n: int, dice: np.random.Generator) -> DataFrame:
    """Draw rows by their frequency: those drawn stand for searches as they are."""
    shares = counted["frequency"].to_numpy(dtype=np.float64)
    rows = dice.choice(len(counted), n, replace=False, p=shares / shares.sum())
    return counted.iloc[rows].assign(weight=1.0)


def _draw_strata(counted: DataFrame, n: int, dice: np.random.Generator) -> DataFrame:
    """Draw alike within strata; where one has too few, the others give more."""
    parts = [counted[counted["stratum"] == name] for name in STRATA]
    sizes = share_out(n, [len(part) for part in parts])
    drawn = [_draw_alike(part, size, dice) for part, size in zip(parts, sizes, strict=True) if size]
    return pd.concat(drawn)


DRAWS = {"stratified": _draw_strata, "frequency": _draw_often, "uniform": _draw_alike}


def share_out(n: int, most: Sequence[int]) -> list[int]:
    """Share a number out as evenly as each can take, those named first before the others."""
    given = [0] * len(most)
    while n and (open_ := [at for at, limit in enumerate(most) if given[at] < limit]):
        even = max(n // len(open_), 1)
        for at in open_[:n]:
            take = min(even, most[at] - given[at])
            given[at] += take
            n -= take
    return given


def split(queries: Queries, holdout: float = 0.3, seed: int = 0) -> DataFrame:
    """Put each query on one side, `tune` or `holdout`, in the column `split`.

    A query falls on its side by its words alone, in any table, order and company, and under any
    filters, so that nothing that was tuned on is ever measured on. About the share `holdout` of
    different queries is held out; another `seed` divides them otherwise.
    """
    if not 0 < holdout < 1:
        raise BadInput(f"`holdout` is a share between 0 and 1, such as 0.3, not {holdout}")
    frame = check_queries(queries)
    sides = ["holdout" if _lot(text, seed) < holdout else "tune" for text in frame["query"]]
    return frame.assign(split=Series(sides, frame.index, dtype="str"))


def _lot(text: str, seed: int) -> float:
    """A number from 0 to 1 that a text always draws, however its words are written."""
    words = " ".join(text.casefold().split())
    digest = blake2b(f"{seed}\0{words}".encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def _check_hits(log: Any) -> None:
    if not isinstance(log, DataFrame) or not {"nbHits", "query_nb_hits", "zero"} & {*log}:
        raise BadInput("the log does not say how much was found: it needs a column `nbHits`")


def _read_log(log: DataFrame | Iterable[str]) -> DataFrame:
    """Read a log of any kind into `query, filters, searches, zero`."""
    if not isinstance(log, DataFrame):
        if isinstance(log, str):
            raise BadInput("a log is a DataFrame, or a list of the queries that were made")
        log = DataFrame({"query": Series(list_texts(log, "queries"), dtype="str")})
    if "query_params" in log and "query" not in log:
        log = _read_requests(log)
    if "query" not in log:
        raise BadInput(f"a log needs a column `query`{did_you_mean('query', map(str, log))}")
    if (
        "params" in log
        and "filters" not in log
        and all(isinstance(one, str) for one in log["params"])
    ):
        log = log.assign(filters=[read_asked(params)[1] for params in log["params"]])
    searches = _counts(log)
    found = log["nbHits"] if "nbHits" in log else Series(1, log.index)
    vain = log["zero"] if "zero" in log else searches.where(found.fillna(1) == 0, 0)
    filters = log["filters"] if "filters" in log else Series("", log.index)
    return DataFrame(
        {
            "query": log["query"].fillna("").astype("str"),
            "filters": filters.fillna("").astype("str"),
            "searches": searches.astype("int64"),
            "zero": vain.astype("int64"),
        }
    )


def _counts(log: DataFrame) -> Series[Any]:
    if "frequency" not in log:
        return Series(1, log.index)
    counts = pd.to_numeric(log["frequency"], errors="coerce")
    if (bad := counts.isna() | (counts < 0)).any():
        row = int(np.argmax(bad.to_numpy()))
        value = log["frequency"].iloc[row]
        raise BadInput(f"row {row}, `frequency`: a count is wanted, not {value!r}")
    return counts


def _read_requests(logs: DataFrame) -> DataFrame:
    """Read what `read_logs` gives: single searches that were answered.

    Requests of several searches do not say in the logs how much each found.
    """
    answered = logs["answer_code"] == 200 if "answer_code" in logs else Series(True, logs.index)
    asked = logs["query_params"].fillna("") != ""
    paths = logs["url"].str.partition("?")[0] if "url" in logs else Series("", logs.index)
    own = logs[answered & asked & ~paths.str.contains(OTHERS)]
    pairs = [read_asked(params) for params in own["query_params"]]
    return DataFrame(
        {
            "query": Series([query for query, _ in pairs], dtype="str"),
            "filters": Series([filters for _, filters in pairs], dtype="str"),
            "nbHits": own["query_nb_hits"].to_numpy(),
        }
    )

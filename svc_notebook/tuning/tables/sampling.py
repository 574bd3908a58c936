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
from svc_notebook.tuning.tables.logged_queries import read_logged_query
from svc_notebook.tuning.tables.tables import QUESTION, Queries, check_queries

How = Literal["stratified", "frequency", "uniform"]
STRATA = ("head", "torso", "tail", "zero")
# Cumulative share of all searches at which each stratum ends.
ENDS = {"head": 1 / 3, "torso": 2 / 3}
COUNT = ["searches", "zero"]
# Endings of URLs of requests for records or facets, which are not searches.
NOT_SEARCHES = r"/browse$|/facets/|/objects$"


def count_queries(log: DataFrame | Iterable[str]) -> DataFrame:
    """Count the queries of a log: `query, filters, frequency, zero, stratum`, most frequent first.

    `log` is the result of `read_searches` or `read_logs`, texts, or your own table: `query`, and
    optionally `filters`, `nbHits`, and `frequency` for aggregated rows. `zero` is the number of
    searches without results. Searches without words are left out.

    Strata are by frequency: the most frequent queries that make a third of all searches are the
    head, those of the next third the torso, the others the tail; `zero` are queries that never had
    results.
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
    """Return the stratum of each frequency, given in descending order."""
    share = falling.to_numpy(dtype=np.float64) / max(falling.sum(), 1)
    before = np.cumsum(share) - share
    # Shares of a third do not add up exactly.
    names = np.select([before < end - 1e-9 for end in ENDS.values()], [*ENDS], "tail")
    return Series(names, falling.index, dtype="str")


def no_results(log: DataFrame, *, least: int = 1) -> DataFrame:
    """List the zero-result queries of a log, the most frequent first.

    Columns `query, filters, frequency, zero, stratum, share`: of `frequency` searches `zero` had no
    results, which is this `share` of all searches without results; `stratum` is by frequency alone.
    With `least` only queries with at least that many searches without results. `log` is as in
    `count_queries`, with `nbHits`. `attrs["svc"]["shares"]` contains `zero_shares`: the zero-result
    share of each stratum.
    """
    counted = _by_frequency(log)
    total = counted["zero"].sum()
    zero_results = counted[counted["zero"] >= max(least, 1)].assign(
        share=lambda f: f["zero"] / total
    )
    ordered = zero_results.sort_values("zero", ascending=False, kind="stable").reset_index(
        drop=True
    )
    shares = zero_shares(log)
    pairs = zip(shares["stratum"], shares["share"], strict=True)
    ordered.attrs["svc"] = {"shares": {name: float(share) for name, share in pairs}}
    return ordered


def zero_shares(log: DataFrame) -> DataFrame:
    """Return the zero-result share of the searches of each stratum, and of all searches.

    Columns `stratum, queries, searches, zero, share`. The strata are those of `count_queries`, by
    frequency alone: head, torso and tail.
    """
    counted = _by_frequency(log)
    parts = [(name, counted[counted["stratum"] == name]) for name in (*ENDS, "tail")]
    rows = [(name, len(part), *part[["frequency", "zero"]].sum()) for name, part in
            [*parts, ("all", counted)]]  # fmt: skip
    frame = DataFrame(rows, columns=["stratum", "queries", "searches", "zero"])
    return frame.assign(share=frame["zero"] / frame["searches"].where(frame["searches"] > 0))


def _by_frequency(log: DataFrame) -> DataFrame:
    """Count queries, with strata by frequency alone."""
    _check_hits(log)
    counted = count_queries(log)
    return counted.assign(stratum=_strata(counted["frequency"]))


def sample_queries(
    log: DataFrame | Iterable[str], n: int, how: How = "stratified", seed: int = 0
) -> DataFrame:
    """Sample `n` queries of a log to judge: a table of queries without duplicates.

    `stratified` draws equally from head, torso, tail and zero, `uniform` draws every query with
    equal probability, `frequency` in proportion to frequency. `weight` corrects for that: the
    weighted mean over the sample estimates the mean over all searches of the log. The same `seed`
    draws the same.
    """
    if how not in DRAWS:
        raise BadInput(f"`how` is one of {', '.join(DRAWS)}, not {how!r}{did_you_mean(how, DRAWS)}")
    if n < 1:
        raise BadInput(f"`n` is 1 or more, not {n}")
    counted = count_queries(log)
    if counted.empty:
        raise BadInput("the log holds no queries; let some searches be made first")
    generator = np.random.default_rng(seed)
    drawn = DRAWS[how](counted, min(n, len(counted)), generator)
    drawn["weight"] = drawn["weight"] / drawn["weight"].mean()
    columns = [*QUESTION, "weight", "frequency", "stratum"]
    return check_queries(drawn.sort_index()[columns])


def _draw_uniformly(counted: DataFrame, n: int, generator: np.random.Generator) -> DataFrame:
    """Draw rows with equal probability, weighted by their searches."""
    rows = generator.choice(len(counted), n, replace=False)
    return counted.iloc[rows].assign(weight=lambda f: f["frequency"] * (len(counted) / n))


def _draw_often(counted: DataFrame, n: int, generator: np.random.Generator) -> DataFrame:
    """Draw rows in proportion to their frequency, with equal weights."""
    shares = counted["frequency"].to_numpy(dtype=np.float64)
    rows = generator.choice(len(counted), n, replace=False, p=shares / shares.sum())
    return counted.iloc[rows].assign(weight=1.0)


def _draw_strata(counted: DataFrame, n: int, generator: np.random.Generator) -> DataFrame:
    """Draw equally within strata; if one has too few, the others contribute more."""
    parts = [counted[counted["stratum"] == name] for name in STRATA]
    sizes = share_out(n, [len(part) for part in parts])
    drawn = [
        _draw_uniformly(part, size, generator)
        for part, size in zip(parts, sizes, strict=True)
        if size
    ]
    return pd.concat(drawn)


DRAWS = {"stratified": _draw_strata, "frequency": _draw_often, "uniform": _draw_uniformly}


def share_out(n: int, most: Sequence[int]) -> list[int]:
    """Distribute a number as evenly as the limits allow, the first ones first."""
    given = [0] * len(most)
    while n and (open_ := [at for at, limit in enumerate(most) if given[at] < limit]):
        even = max(n // len(open_), 1)
        for at in open_[:n]:
            take = min(even, most[at] - given[at])
            given[at] += take
            n -= take
    return given


def split(queries: Queries, holdout: float = 0.3, seed: int = 0) -> DataFrame:
    """Assign each query to `tune` or `holdout`, in the column `split`.

    The assignment depends on the words of the query alone, in any table and order and with any
    filters, so that no query used for tuning is ever used for measuring. About the share `holdout`
    of distinct queries is held out; another `seed` gives another assignment.
    """
    if not 0 < holdout < 1:
        raise BadInput(f"`holdout` is a share between 0 and 1, such as 0.3, not {holdout}")
    frame = check_queries(queries)
    sides = ["holdout" if _lot(text, seed) < holdout else "tune" for text in frame["query"]]
    return frame.assign(split=Series(sides, frame.index, dtype="str"))


def _lot(text: str, seed: int) -> float:
    """Return a number from 0 to 1 that depends only on the normalized text."""
    words = " ".join(text.casefold().split())
    digest = blake2b(f"{seed}\0{words}".encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def _check_hits(log: Any) -> None:
    if not isinstance(log, DataFrame) or not {"nbHits", "query_nb_hits", "zero"} & {*log}:
        raise BadInput("the log needs a column `nbHits`: the number of hits")


def _read_log(log: DataFrame | Iterable[str]) -> DataFrame:
    """Read a log of any form into `query, filters, searches, zero`."""
    if not isinstance(log, DataFrame):
        if isinstance(log, str):
            raise BadInput("a log must be a DataFrame, or a list of queries")
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
        log = log.assign(filters=[read_logged_query(params)[1] for params in log["params"]])
    searches = _counts(log)
    found = log["nbHits"] if "nbHits" in log else Series(1, log.index)
    zero_results = log["zero"] if "zero" in log else searches.where(found.fillna(1) == 0, 0)
    filters = log["filters"] if "filters" in log else Series("", log.index)
    return DataFrame(
        {
            "query": log["query"].fillna("").astype("str"),
            "filters": filters.fillna("").astype("str"),
            "searches": searches.astype("int64"),
            "zero": zero_results.astype("int64"),
        }
    )


def _counts(log: DataFrame) -> Series[Any]:
    if "frequency" not in log:
        return Series(1, log.index)
    counts = pd.to_numeric(log["frequency"], errors="coerce")
    if (bad := counts.isna() | (counts < 0)).any():
        row = int(np.argmax(bad.to_numpy()))
        value = log["frequency"].iloc[row]
        raise BadInput(f"row {row}, `frequency`: expected a count, not {value!r}")
    return counts


def _read_requests(logs: DataFrame) -> DataFrame:
    """Read the result of `read_logs`: single, answered searches.

    Logs of requests with several searches do not contain the number of hits of each.
    """
    answered = logs["answer_code"] == 200 if "answer_code" in logs else Series(True, logs.index)
    has_query = logs["query_params"].fillna("") != ""
    paths = logs["url"].str.partition("?")[0] if "url" in logs else Series("", logs.index)
    own = logs[answered & has_query & ~paths.str.contains(NOT_SEARCHES)]
    pairs = [read_logged_query(params) for params in own["query_params"]]
    return DataFrame(
        {
            "query": Series([query for query, _ in pairs], dtype="str"),
            "filters": Series([filters for _, filters in pairs], dtype="str"),
            "nbHits": own["query_nb_hits"].to_numpy(),
        }
    )

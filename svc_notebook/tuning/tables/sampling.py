"""Query sampling from logs: zero-result queries, queries to judge, and held-out queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from svc_notebook.core.api.values import list_texts
from svc_notebook.data.declarations import described
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.tuning.tables.queries import read_logged_query
from svc_notebook.tuning.tables.tables import QUESTION, Queries, check_queries

How = Literal["stratified", "frequency", "uniform"]
STRATA = ("head", "torso", "tail", "zero")
# Cumulative share of all searches at which each stratum ends.
ENDS = {"head": 1 / 3, "torso": 2 / 3}
COUNT = ["searches", "zero"]
# Endings of URLs of requests for records or facets, which are not searches.
NOT_SEARCHES = r"/browse$|/facets/|/objects$"


def count_queries(log: DataFrame | Iterable[str]) -> DataFrame:
    """Count the queries of a log, most frequent first.

    The most frequent queries that make a third of all searches are the stratum `head`, those of
    the next third `torso`, the others `tail`; queries that never had results are `zero`.
    Searches without words are omitted.

    Parameters
    ----------
    log : DataFrame or list of str
        Result of `read_searches` or `read_logs`, queries, or a table with the column
        `query` and optionally `filters`, `nbHits` and `frequency`.

    Returns
    -------
    DataFrame
        One row per query and filters: `query` and `filters` (str), `frequency` (int64), `zero`
        (int64, searches without results) and `stratum` (str).

    Raises
    ------
    BadInput
        If the log has no column `query`, or a frequency is not a number.

    Examples
    --------
    >>> svc.tuning.count_queries(["mug", "mug", "lamp", "towel"])
       query filters  frequency  zero stratum
    0    mug                  2     0    head
    1   lamp                  1     0   torso
    2  towel                  1     0    tail
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
    """Return the zero-result queries of a log, most frequent first.

    Parameters
    ----------
    log : DataFrame
        Result of `read_searches` or `read_logs`, or a table with the columns `query` and
        `nbHits`.
    least : int, default 1
        Minimum number of searches without results.

    Returns
    -------
    DataFrame
        One row per query and filters: `query` and `filters` (str), `frequency` (int64), `zero`
        (int64, searches without results), `stratum` (str, by frequency alone) and `share`
        (float64, of all searches without results). `attrs["svc"]["shares"]` is the zero-result
        share of each stratum.

    Raises
    ------
    BadInput
        If the log does not contain the number of hits.

    Examples
    --------
    >>> log = pd.DataFrame({"query": ["mug", "toaster", "toaster"], "nbHits": [20, 0, 0]})
    >>> svc.tuning.no_results(log)
         query filters  frequency  zero stratum  share
    0  toaster                  2     2    head    1.0
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


@described(like=no_results.__doc__)
def zero_shares(log: DataFrame) -> DataFrame:
    """Return the zero-result share of the searches of each stratum, and of all searches.

    Returns
    -------
    DataFrame
        One row per stratum (`head`, `torso`, `tail`, by frequency alone) and one for `all`:
        `stratum` (str), `queries`, `searches` and `zero` (int64) and `share` (float64).

    Examples
    --------
    >>> log = pd.DataFrame({"query": ["mug", "toaster", "toaster"], "nbHits": [20, 0, 0]})
    >>> svc.tuning.zero_shares(log).tail(1)
      stratum  queries  searches  zero     share
    3     all        2         3     2  0.666667
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
    """Sample queries of a log.

    The weighted mean over the sample estimates the mean over all searches of the log.

    Parameters
    ----------
    log : DataFrame or list of str
        Result of `read_searches` or `read_logs`, queries, or a table with the column
        `query`.
    n : int
        Number of queries, 1 or more.
    how : {'stratified', 'frequency', 'uniform'}, default 'stratified'
        Probability of a query: equal shares of each stratum, in proportion to its
        frequency, or equal.
    seed : int, default 0
        Seed of the random numbers.

    Returns
    -------
    DataFrame
        One row per query, with the columns of `check_queries`.

    Raises
    ------
    BadInput
        If the log has no queries, or an option is not valid.

    Examples
    --------
    >>> log = ["mug", "mug", "lamp", "towel"]
    >>> svc.tuning.sample_queries(log, 2)[["query", "weight", "frequency", "stratum"]]
    """
    if how not in DRAWS:
        raise BadInput(
            f"`how` must be one of {', '.join(DRAWS)}, not {how!r}{did_you_mean(how, DRAWS)}"
        )
    if n < 1:
        raise BadInput(f"`n` must be 1 or more, not {n}")
    counted = count_queries(log)
    if counted.empty:
        raise BadInput("the log has no queries; make some searches first")
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
    """Assign each query to the part that is used for tuning, or to the held-out part.

    The assignment depends on the words of the query alone, in any table and with any filters.

    Parameters
    ----------
    queries : str, list, DataFrame or path
        Queries: texts, dicts, a table with the column `query`, or a CSV or Parquet file of
        it.
    holdout : float, default 0.3
        Share of distinct queries to hold out, between 0 and 1.
    seed : int, default 0
        Seed of the assignment.

    Returns
    -------
    DataFrame
        One row per query, with the columns of `check_queries`; `split` (str) is `tune` or
        `holdout`.

    Raises
    ------
    BadInput
        If the share or a query is not valid.

    Examples
    --------
    >>> svc.tuning.split(["mug", "lamp", "towel", "desk"])[["query", "split"]]
       query    split
    0    mug     tune
    1   lamp     tune
    2  towel  holdout
    3   desk     tune
    """
    if not 0 < holdout < 1:
        raise BadInput(f"`holdout` must be a share between 0 and 1, such as 0.3, not {holdout}")
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
    searches = _counts(log)
    hits = log["nbHits"] if "nbHits" in log else Series(1, log.index)
    zero_results = log["zero"] if "zero" in log else searches.where(hits.fillna(1) == 0, 0)
    return DataFrame(
        {
            "query": log["query"].fillna("").astype("str"),
            "filters": _filters(log).fillna("").astype("str"),
            "searches": searches.astype("int64"),
            "zero": zero_results.astype("int64"),
        }
    )


def _filters(log: DataFrame) -> Series[Any]:
    """Return the filters of each search: the column, else those in its parameters."""
    if "filters" in log:
        return log["filters"]
    if "params" in log and all(isinstance(text, str) for text in log["params"]):
        filters = [read_logged_query(params)[1] for params in log["params"]]
        return Series(filters, log.index, dtype="object")
    return Series("", log.index)


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
    searches = logs[answered & has_query & ~paths.str.contains(NOT_SEARCHES)]
    pairs = [read_logged_query(params) for params in searches["query_params"]]
    return DataFrame(
        {
            "query": Series([query for query, _ in pairs], dtype="str"),
            "filters": Series([filters for _, filters in pairs], dtype="str"),
            "nbHits": searches["query_nb_hits"].to_numpy(),
        }
    )

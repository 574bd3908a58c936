"""Runs: the hits of many queries on an index, with the value of each ranking criterion.

A hosted service bills each search, so that many need consent by a budget.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pandas import DataFrame, Series

from svc_notebook.core.api.messages import FORMS_PENDING, NEURAL_MESSAGE, VECTORS_PENDING
from svc_notebook.core.api.parameters import SearchParams
from svc_notebook.core.api.validation import check_members
from svc_notebook.core.display import shorten, text_of
from svc_notebook.core.terminal import warn_user
from svc_notebook.data.client import AsyncClient, OnProgress, run_together
from svc_notebook.data.declarations import public
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput, CallFailed, KeyRefused, TooMany, Unreachable
from svc_notebook.tuning.evaluation.criteria import PROMOTED, RANKING, ranking_of, sorts_of
from svc_notebook.tuning.tables.queries import Params, Question, read_questions
from svc_notebook.tuning.tables.schema import RUNS, now, read_column
from svc_notebook.tuning.tables.tables import QUESTION, Queries, check_queries

MAX_QUERIES_PER_REQUEST = 50
MAX_PARALLEL_REQUESTS = 2
# While one request is answered, the previous response is read.
POLL_SECONDS, MAX_POLLS = 0.25, 1200
MAX_HITS_PER_QUERY = 1000
FIXED = ("hitsPerPage", "page", "offset", "length")
# Failures of the connection and of the key affect every query, and are raised.
GENERAL_ERRORS = (KeyRefused, TooMany, Unreachable)

MAX_UNCONFIRMED_SEARCHES = 2000  # of a hosted service, without a budget


@dataclass(frozen=True)
class FailedSearch:
    """A search that the service refused."""

    error: CallFailed


Answer = Mapping[str, Any] | FailedSearch


@public(bar="searches")
async def run(
    index: str,
    queries: Queries,
    params: SearchParams | None = None,
    *,
    k: int = 10,
    name: str | None = None,
    client: AnyClient | None = None,
    on_progress: OnProgress | None = None,
) -> DataFrame:
    """Search an index for many queries and return one row per hit.

    Parameters
    ----------
    queries : str, list, DataFrame or path
        Queries: texts, dicts, a table with the column `query`, or a CSV or Parquet file of
        it. The queries of judgments or of a run are used if one is given.
    params : dict, default None
        Search parameters of every query.
    k : int, default 10
        Number of hits of each query, up to 1,000.
    name : str, default the index and the parameters
        Name of the run.

    Returns
    -------
    DataFrame
        One row per hit: `run`, `query` and `filters` (str), `rank` (Int64, from 1), `objectID`
        (str), `score` (float64, the negative rank), `nbHits`, `nbTypos`, `geoDistance`,
        `words`, `optionalFilters`, `proximityDistance`, `firstMatchedWord`, `nbExactWords` and
        `userScore` (Int64), `textScore` (float64), `semanticScore` (float64), `fusedScore`
        (float64), `promoted` (boolean), `sorted` (object, the attributes of the custom ranking),
        `queryID` and `error` (str). A query without hits has one row without `objectID`; a failed
        query has its message in `error`.
        `attrs["svc"]` contains the parameters and the ranking of the index.

    Raises
    ------
    BadInput
        If a query, a parameter or `k` is not valid.
    NotFound

    Examples
    --------
    >>> hits = svc.tuning.run("products", ["desk lamp", "mug"], k=2)
    >>> hits[["query", "rank", "objectID", "nbHits"]]
           query  rank objectID  nbHits
    0  desk lamp     1  LMP-001      10
    1  desk lamp     2  LMP-003      10
    2        mug     1  MUG-001      20
    3        mug     2  MUG-002      20
    """
    if not 1 <= k <= MAX_HITS_PER_QUERY:
        raise BadInput(f"`k` must be from 1 to {MAX_HITS_PER_QUERY} hits, not {k!r}")
    caller = asynchronous(client)
    shared = _check_params(params)
    questions = read_questions(queries)
    ranking = await ranking_of(caller, index)
    sorts = sorts_of(ranking, shared)
    more = {
        "hitsPerPage": k, "getRankingInfo": True, "attributesToHighlight": [],
        "attributesToRetrieve": ["objectID", *sorts],
    }  # fmt: skip
    requests = [question.request(index, shared, more) for question in questions]
    answers = await search_all(caller, requests, on_progress)
    title = name or _title(index, shared)
    frame = _frame(title, questions, answers)
    frame.attrs["svc"] = {
        "index": index, "params": shared, "k": k, "ranking": ranking, "when": now(),
        "application": caller.connection.app_id, "address": caller.connection.address,
    }  # fmt: skip
    return frame


async def search_all(
    client: AsyncClient,
    requests: Sequence[Mapping[str, Any]],
    on_progress: OnProgress | None = None,
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> list[Answer]:
    """Run searches, many in one request; a refused search does not affect the others.

    Raises the first failure if all have failed, and failures that no single query causes. Waits
    for a local service that computes vectors for the mode `neuralSearch`, or builds tables of word
    forms, and warns about searches that had none: measuring them would measure something else.
    """
    answers = await _search_once(client, requests, on_progress)
    noted = [position for position, answer in enumerate(answers) if _note_of(answer)]
    pending = [position for position in noted if _is_pending(answers[position])]
    if pending:
        repeated = [requests[position] for position in pending]
        await _wait_until_ready(client, repeated[0], sleep)
        again = await _search_once(client, repeated)
        for position, answer in zip(pending, again, strict=True):
            answers[position] = answer
    if note := next(filter(None, (_note_of(answers[position]) for position in noted)), ""):
        warn_user(note)
    return answers


async def _wait_until_ready(
    client: AsyncClient,
    request: Mapping[str, Any],
    sleep: Callable[[float], Awaitable[None]],
) -> None:
    """Wait until the background computations of a service are finished or have stopped."""
    for _ in range(MAX_POLLS):
        [answer] = await _search_once(client, [request])
        if not _is_pending(answer):
            return
        await sleep(POLL_SECONDS)


def _is_pending(answer: Answer) -> bool:
    """Return whether a later search will find more by meaning or by word forms."""
    return any(text in _note_of(answer) for text in (VECTORS_PENDING, FORMS_PENDING))


def _note_of(answer: Answer) -> str:
    """Return why a search by vectors or word forms found less; empty if it had them."""
    message = "" if isinstance(answer, FailedSearch) else str(answer.get("message") or "")
    return message if NEURAL_MESSAGE in message or FORMS_PENDING in message else ""


async def _search_once(
    client: AsyncClient,
    requests: Sequence[Mapping[str, Any]],
    on_progress: OnProgress | None = None,
) -> list[Answer]:
    answers: list[Answer] = [FailedSearch(CallFailed("not sent"))] * len(requests)
    semaphore, done = asyncio.Semaphore(MAX_PARALLEL_REQUESTS), 0

    async def ask(start: int) -> None:
        nonlocal done
        async with semaphore:
            part = await _search_or_bisect(
                client, requests[start : start + MAX_QUERIES_PER_REQUEST]
            )
        answers[start : start + len(part)] = part
        done += len(part)
        if on_progress:
            on_progress(done, len(requests))

    await run_together(ask(start) for start in range(0, len(requests), MAX_QUERIES_PER_REQUEST))
    if answers and all(isinstance(answer, FailedSearch) for answer in answers):
        first = answers[0]
        assert isinstance(first, FailedSearch)
        raise first.error
    return answers


async def _search_or_bisect(
    client: AsyncClient, requests: Sequence[Mapping[str, Any]]
) -> list[Answer]:
    """Send one request; if it is refused, bisect it until the refused search is found."""
    try:
        searches: Any = list(requests)
        results: Any = (await client.search_many(searches))["results"]
        return list(results)
    except GENERAL_ERRORS:
        raise
    except CallFailed as error:
        if len(requests) == 1:
            return [FailedSearch(error)]
    half = len(requests) // 2
    return [
        *await _search_or_bisect(client, requests[:half]),
        *await _search_or_bisect(client, requests[half:]),
    ]


def _check_params(params: Any) -> dict[str, Any]:
    checked = dict(check_members(params or {}, SearchParams, "params"))
    for name in FIXED:
        if name in checked:
            raise BadInput(f"`{name}` is not allowed in params: `k` is the number of hits of a run")
    return checked


def _title(index: str, params: Params) -> str:
    parts = [f"{name}={text_of(value, compact=True)}" for name, value in params.items()]
    return " ".join([index, *parts])


def _frame(name: str, questions: Sequence[Question], answers: Sequence[Answer]) -> DataFrame:
    rows = [
        {"run": name, "query": question.query, "filters": question.filters, **row}
        for question, answer in zip(questions, answers, strict=True)
        for row in _rows(answer)
    ]
    raw = DataFrame({column: [row.get(column) for row in rows] for column in RUNS}, dtype=object)
    return DataFrame({column: read_column(raw, column, kind) for column, kind in RUNS.items()})


def _rows(answer: Answer) -> Iterator[dict[str, Any]]:
    if isinstance(answer, FailedSearch):
        yield {"error": str(answer.error)}
        return
    shared = {"nbHits": answer["nbHits"], "queryID": answer.get("queryID")}
    if not answer["hits"]:
        yield shared
    for rank, hit in enumerate(answer["hits"], 1):
        info = {PROMOTED: False, **hit.get("_rankingInfo", {})}
        criteria = {column: info.get(member) for column, member in RANKING.items()}
        others = {key: value for key, value in hit.items() if key not in NOT_SORTED_BY}
        yield {
            **shared, **criteria, "rank": rank, "objectID": hit["objectID"],
            "score": -float(rank), "sorted": others,
        }  # fmt: skip


NOT_SORTED_BY = ("objectID", "_rankingInfo", "_highlightResult", "_snippetResult", "_distinctSeqID")


def add_missing_rows(
    runs: DataFrame, judgments: DataFrame, queries: Queries | None
) -> tuple[DataFrame, dict[str, int]]:
    """Add to checked runs a row without a hit for each missing query; count these by run.

    The expected queries are `queries`; else those of any of the runs, and, for a run without the
    number of hits, every judged query: `tuning.run` writes a row for each query, other tools only
    for hits.
    """
    if runs.empty:
        return runs, {}
    present = runs[QUESTION].drop_duplicates()
    if queries is not None:
        expected = check_queries(queries)[QUESTION].drop_duplicates()
        all_expected = expected
    else:
        expected = present
        judged = judgments.loc[judgments["rating"].notna(), QUESTION]
        all_expected = pd.concat([present, judged]).drop_duplicates()
    parts, counts = [runs], {}
    for name, hits in runs.groupby("run", sort=False):
        missing = _find_missing(
            expected if hits["nbHits"].notna().any() else all_expected, hits[QUESTION]
        )
        counts[str(name)] = len(missing)
        if len(missing):
            parts.append(_empty_rows(str(name), missing, runs))
    return (pd.concat(parts, ignore_index=True) if len(parts) > 1 else runs), counts


def warn_of_missing(counts: dict[str, int], runs: DataFrame) -> None:
    """Warn how many queries of each run are treated as queries without hits."""
    messages = []
    for name, count in counts.items():
        if count:
            expected = len(runs.loc[runs["run"] == name, QUESTION].drop_duplicates())
            messages.append(describe_missing(name, count, expected))
    if messages:
        warn_user("; ".join(messages))


def describe_missing(run: str, count: int, expected: int) -> str:
    """Describe that a run has no row for some of its queries."""
    return (
        f"{count:,} of {expected:,} queries {'has' if count == 1 else 'have'} no row in `{run}`: "
        "without hits, scored 0"
    )


def _find_missing(expected: DataFrame, present: DataFrame) -> DataFrame:
    """Return the queries that a run does not contain."""
    listed = pd.MultiIndex.from_frame(present.drop_duplicates())
    return expected[~pd.MultiIndex.from_frame(expected).isin(listed)]


def _empty_rows(run: str, questions: DataFrame, template: DataFrame) -> DataFrame:
    """Build the row of each query without hits, with the dtypes of a checked run."""
    count = len(questions)
    columns = {
        name: Series([None] * count, dtype=template[name].dtype)
        for name in RUNS
        if name not in ("run", "error", "queryID", *QUESTION)
    }
    texts = {"run": [run] * count, "error": [""] * count, "queryID": [""] * count}
    texts |= {name: questions[name].tolist() for name in QUESTION}
    rows = DataFrame(
        {**columns, **{n: Series(v, dtype=template[n].dtype) for n, v in texts.items()}}
    )
    rows["nbHits"] = Series([0] * count, dtype=template["nbHits"].dtype)
    rows["sorted"] = Series([{} for _ in range(count)], dtype=object)
    return rows[list(RUNS)]


def check_budget(budget: Any) -> int:
    """Return a number of searches; raise `BadInput` for anything else."""
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
        raise BadInput(f"`budget` is a number of searches from 1, not {shorten(repr(budget), 40)}")
    return budget


def require_budget(client: AsyncClient, budget: int | None, searches: int, work: str) -> None:
    """Raise `BadInput` for many searches of a hosted service to which no budget consents.

    - `work`: what makes the searches, such as `a diagnosis of 105 queries`.
    """
    config = client.connection
    if budget is None and searches > MAX_UNCONFIRMED_SEARCHES and not config.is_local:
        raise BadInput(
            f"{work} takes up to {searches:,} searches, which {config.address} may bill: pass "
            f"`budget={searches}` to allow them, or a smaller number"
        )

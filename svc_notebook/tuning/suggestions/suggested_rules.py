"""Suggested rules: pins and boosts from judgments, each tried on a copy."""

from __future__ import annotations

from typing import Any

from pandas import DataFrame

from svc_notebook.declarations.declaration import public
from svc_notebook.session.connection import AnyClient, asynchronous
from svc_notebook.tuning.changes.state import read_state
from svc_notebook.tuning.diagnosis.record_words import read_records
from svc_notebook.tuning.evaluation.runs import run
from svc_notebook.tuning.suggestions.held_out_gain import measure_gain, other_queries
from svc_notebook.tuning.suggestions.rule_candidates import RuleCandidate, find_boosts, find_pins
from svc_notebook.tuning.suggestions.synonym_evidence import words_of
from svc_notebook.tuning.tables.tables import Queries, Table, check_judgments, check_queries
from svc_notebook.tuning.variants.spaces import AS_IT_IS, Variant
from svc_notebook.tuning.variants.trials import TrialIndex

COLUMNS = [
    "kind", "pattern", "target", "support", "evidence", "queries", "touched", "proposed",
    "measured", "before", "after", "delta", "low", "high", "document",
]  # fmt: skip


@public()
async def suggest_rules(
    index: str,
    judgments: Table,
    queries: Queries | None = None,
    check: Table | None = None,
    *,
    n: int = 20,
    k: int = 10,
    client: AnyClient | None = None,
) -> DataFrame:
    """Suggest rules from judgments, such as those from clicks; nothing is saved.

    A pin puts the best judged record of a query first if the first hit is worse. A boost ranks
    a facet value higher for a word, if the relevant records of most queries with the word have
    the value and the irrelevant ones have not; it needs facets in `attributesForFaceting`. Each
    rule is tried alone on a temporary copy of the index. A boost is measured on other queries
    with the word than those it comes from. A pin concerns one query, so only other judgments of
    that query can measure it: those of `check`, by other raters or from later clicks.

    Parameters
    ----------
    judgments : DataFrame, list of dict or path
        Judgments with the columns `query`, `objectID` and `rating`, or a CSV or Parquet file
        of them; `svc.tuning.clicks.judgments` makes them from clicks.
    queries : str, list, DataFrame or path, default those of the judgments
        Queries to find rules for.
    check : DataFrame, list of dict or path, default None
        Other judgments, which suggest nothing and measure pins and boosts.
    n : int, default 20
        Maximum number of suggestions.

    Returns
    -------
    DataFrame
        One row per rule: `kind` (str, `pin` or `boost`), `pattern` (str, the query or word),
        `target` (str, objectID or facet value), `support` (int64, clicks or judgments of a pin,
        queries of a boost), `evidence` (str), `queries` (object, list of affected queries),
        `touched` (int64, queries whose hits change), `proposed` (bool, whether a gain was
        measured; the other rows come last), `measured` (int64, queries that measure the rule),
        `before`, `after`, `delta`, `low` and `high` (float64, their nDCG@10, the
        difference and its 95 % t interval, NaN without such queries) and `document` (object,
        the rule for `svc.save_rules`).

    Raises
    ------
    BadInput
        If the judgments lack a column.
    NotFound

    Examples
    --------
    >>> judgments = [{"query": "mug", "objectID": "MUG-005", "rating": 3}]
    >>> suggested = svc.tuning.suggest_rules("products", judgments)
    >>> suggested[["kind", "pattern", "target"]]
      kind pattern   target
    0  pin     mug  MUG-005
    """
    caller = asynchronous(client)
    judged = check_judgments(judgments)
    judged = judged[judged["rating"].notna()].reset_index(drop=True)
    checked = None if check is None else check_judgments(check)
    table = check_queries(judged if queries is None else queries)
    judged_here = judged[judged["query"].isin(table["query"])].reset_index(drop=True)
    state = await read_state(caller, index)
    base = await run(index, table, k=k, name=index, client=caller)
    records = await read_records(caller, index, judged_here["objectID"].drop_duplicates().tolist())
    facets = [_facet_name(entry) for entry in state.settings.get("attributesForFaceting") or []]
    pins = [entry for entry in find_pins(base, judged_here) if entry.target in records]
    pins.sort(key=lambda entry: -entry.support)
    boosts = find_boosts(judged_here, records, facets)
    candidates = [*boosts[: max(n // 2, n - len(pins))], *pins][:n]
    rows = []
    async with TrialIndex(caller, index, state, k=k) as tried:
        for entry in candidates:
            concerned = table[[_concerns(entry, text) for text in table["query"]]]
            before = await tried.run(AS_IT_IS, concerned)
            after = await tried.run(Variant({"rules": [entry.document]}), concerned)
            rows.append(_row(entry, before, after, judged_here, checked))
    frame = DataFrame(rows, columns=COLUMNS)
    frame = frame[frame["touched"] > 0].astype({"proposed": "bool", "delta": "float64"})
    ordered = frame.sort_values(
        ["proposed", "delta", "support"], ascending=False, na_position="last", kind="stable"
    )
    return ordered.reset_index(drop=True)


def _facet_name(entry: str) -> str:
    return entry.rpartition("(")[2].removesuffix(")")


def _concerns(candidate: RuleCandidate, query: str) -> bool:
    if candidate.kind == "pin":
        return query == candidate.pattern
    return candidate.pattern in words_of(query)


def _row(
    candidate: RuleCandidate,
    before: DataFrame,
    after: DataFrame,
    judged: DataFrame,
    checked: DataFrame | None,
) -> dict[str, Any]:
    concerned = list(dict.fromkeys(before["query"]))
    if checked is not None:
        measuring, by = set(concerned) & set(checked["query"]), checked
    elif candidate.kind == "boost":
        measuring, by = other_queries(concerned, candidate.queries), judged
    else:
        measuring, by = set(), judged
    gain = measure_gain(before, after, by, measuring)
    hits = [side.groupby("query")["objectID"].agg(list) for side in (before, after)]
    touched = sum(hits[0][query] != hits[1][query] for query in concerned)
    return {
        "kind": candidate.kind, "pattern": candidate.pattern, "target": candidate.target,
        "support": candidate.support, "evidence": candidate.evidence, "queries": concerned,
        "touched": touched, "proposed": gain.is_proposed, **gain._asdict(),
        "document": candidate.document,
    }  # fmt: skip

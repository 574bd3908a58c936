"""Suggested rules: pins and boosts from judgments, each tried on a copy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pandas import DataFrame

from svc_notebook.data.declarations import public
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.tuning.changes.state import read_state
from svc_notebook.tuning.evaluation.record_texts import long_words, read_records, words_of
from svc_notebook.tuning.evaluation.runs import run
from svc_notebook.tuning.tables.schema import relevant_from
from svc_notebook.tuning.tables.tables import (
    QUESTION,
    Queries,
    Table,
    check_judgments,
    check_queries,
)
from svc_notebook.tuning.variants.spaces import Variant
from svc_notebook.tuning.variants.trials import (
    GAIN_COLUMNS,
    TrialIndex,
    measure_gain,
    other_queries,
    sort_by_gain,
    suggested_id,
)

Kind = Literal["pin", "boost"]
MIN_RELEVANT_SHARE = 0.5  # of the relevant records of a query, that have the facet value
MIN_SHARE_GAP = 0.3  # by which irrelevant records have it less often
MAX_BOOSTS_PER_WORD = 2
COLUMNS = ["kind", "pattern", "target", "support", "evidence", "queries", "touched", *GAIN_COLUMNS]


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
            sides = await tried.compare(Variant({"rules": [entry.document]}), concerned)
            rows.append(_row(entry, *sides, judged_here, checked))
    frame = DataFrame(rows, columns=COLUMNS)
    return sort_by_gain(frame[frame["touched"] > 0], {"support": False})


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
        "touched": touched, **gain.cells, "document": candidate.document,
    }  # fmt: skip


@dataclass(frozen=True)
class RuleCandidate:
    """A rule: its pattern, what it ranks higher, and the queries that it comes from."""

    kind: Kind
    pattern: str
    target: str
    support: int
    evidence: str
    queries: frozenset[str]

    @property
    def document(self) -> dict[str, Any]:
        """Return the rule in the API's format."""
        anchoring = "is" if self.kind == "pin" else "contains"
        consequence: dict[str, Any] = (
            {"promote": [{"objectID": self.target, "position": 0}]}
            if self.kind == "pin"
            else {"params": {"optionalFilters": [self.target]}}
        )
        return {
            "objectID": suggested_id(self.kind, self.pattern, self.target),
            "description": f"Suggested: {self.kind} {self.target} for {self.pattern}",
            "conditions": [{"pattern": self.pattern, "anchoring": anchoring}],
            "consequence": consequence,
        }


def find_pins(base: DataFrame, judged: DataFrame) -> Iterator[RuleCandidate]:
    """Yield, for each query, its best judged record if the first hit is worse."""
    best_grade = judged["rating"].max()
    first = base[base["rank"] == 1].set_index(QUESTION)["objectID"].to_dict()
    ranks = {
        (row["query"], row["objectID"]): int(row["rank"])
        for row in base[base["objectID"].notna()].to_dict("records")
    }
    for key, part in judged.groupby(QUESTION, sort=False):
        query, filters = str(key[0]), str(key[1])
        grades = part.groupby("objectID")["rating"].mean()
        if filters or not query.strip() or best_grade <= 0 or grades.max() < best_grade:
            continue
        shown = first.get((query, filters))
        if grades.get(shown, 0.0) >= grades.max():
            continue
        best = min(
            grades[grades == grades.max()].index,
            key=lambda object_id: (ranks.get((query, object_id), len(base)), object_id),
        )
        support = _support(part[part["objectID"] == best])
        rank = ranks.get((query, str(best)))
        where = f"ranks {rank}" if rank else "is not among the first hits"
        yield RuleCandidate(
            "pin", query, str(best), support,
            f"grade {grades.max():g}, {where}; the first hit has {_grade(grades.get(shown))}",
            frozenset([query]),
        )  # fmt: skip


def _grade(grade: float | None) -> str:
    return "no judgment" if grade is None else f"grade {grade:g}"


def _support(rows: DataFrame) -> int:
    """Return the clicks of judgments from clicks, else the number of judgments."""
    return int(rows["clicks"].sum()) if "clicks" in rows else len(rows)


def find_boosts(
    judged: DataFrame, records: Mapping[str, Mapping[str, Any]], facets: Sequence[str]
) -> list[RuleCandidate]:
    """Return facet values that the relevant records of queries with a word have in common."""
    threshold = relevant_from(judged)
    values = {name: facet_values(record, facets) for name, record in records.items()}
    queries: dict[str, set[str]] = {}
    telling: dict[tuple[str, str], set[str]] = {}
    for query, part in judged.groupby("query", sort=False):
        sides: list[list[set[str]]] = [[], []]
        for row in part.to_dict("records"):
            if row["objectID"] in values:
                sides[row["rating"] >= threshold].append(values[row["objectID"]])
        words = long_words(str(query))
        for word in words:
            queries.setdefault(word, set()).add(str(query))
        for value in _telling_values(*sides):
            for word in words:
                telling.setdefault((word, value), set()).add(str(query))
    candidates = [
        RuleCandidate(
            "boost", word, value, len(sources),
            f"in {len(sources)} of {len(queries[word])} queries with {word!r}, relevant records "
            f"have {value} and irrelevant ones have not",
            frozenset(sources),
        )
        for (word, value), sources in telling.items()
        if len(sources) >= 2 and 2 * len(sources) >= len(queries[word])
    ]  # fmt: skip
    return _limit_per_word(candidates)


def _limit_per_word(candidates: Iterable[RuleCandidate]) -> list[RuleCandidate]:
    """Return the best supported candidates of each word."""
    per_word: Counter[str] = Counter()
    kept = []
    for boost in sorted(candidates, key=lambda rule: (-rule.support, rule.pattern, rule.target)):
        per_word[boost.pattern] += 1
        if per_word[boost.pattern] <= MAX_BOOSTS_PER_WORD:
            kept.append(boost)
    return kept


def facet_values(record: Mapping[str, Any], facets: Sequence[str]) -> set[str]:
    """Return the facet values of a record, as `optionalFilters` name them."""
    values: set[str] = set()
    for facet in facets:
        value: Any = record
        for name in facet.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, str) and item and not item.startswith("-"):
                values.add(f"{facet}:{item}")
    return values


def _telling_values(irrelevant: list[set[str]], relevant: list[set[str]]) -> list[str]:
    if not relevant or not irrelevant:
        return []
    shares = {
        value: (
            sum(value in values_of_record for values_of_record in relevant) / len(relevant),
            sum(value in values_of_record for values_of_record in irrelevant) / len(irrelevant),
        )
        for value in set().union(*relevant)
    }
    return [
        value
        for value, (share, other) in shares.items()
        if share >= MIN_RELEVANT_SHARE and share - other >= MIN_SHARE_GAP
    ]

"""The summary of a comparison: as text, and as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from pandas import DataFrame

from svc_notebook.core.display import format_difference, format_number, shorten, write_table
from svc_notebook.tuning.evaluation.runs import describe_missing
from svc_notebook.tuning.statistics import FEW_QUERIES, p_value, span

if TYPE_CHECKING:
    from svc_notebook.tuning.evaluation.comparison import Comparison

# Of the winners, and of the losers.
SHOWN_QUERIES = 5
MAX_TEXT_CHARACTERS = 60
SMALL = "opacity:.75;font-size:90%;margin:.3em 0"


def write_text(comparison: Comparison) -> str:
    """Write a comparison as lines of text."""
    several = len(comparison.variants) > 1
    lines = [headline(comparison)]
    for row in comparison.test().to_dict("records"):
        name = f"{row['run']}: " if several else ""
        line = "  ".join([f"{name}{row['metric']}", *describe_row(row, several)])
        lines.append(line)
    lines += [f"  {name}: {words}" for name, words in definitions(comparison)]
    return "\n".join([*lines, *notes(comparison)])


def write_html(comparison: Comparison) -> str:
    """Write a comparison as HTML: results, definitions, and the largest gains and losses."""
    several = len(comparison.variants) > 1
    head = ["run", "metric", "before → after", "difference", "p", "won / tied / lost", "judged"]
    rows = [
        [row["run"], row["metric"], *describe_row(row, several)]
        for row in comparison.test().to_dict("records")
    ]
    parts = [
        f"<p><b>{escape(headline(comparison))}</b></p>",
        _table(head, rows, words=2),
        *(f'<p style="{SMALL}">{escape(f"{name}: {words}")}</p>'
          for name, words in definitions(comparison)),
        *(f'<p style="{SMALL}">{escape(note)}</p>' for note in notes(comparison)),
        *_extremes(comparison),
    ]  # fmt: skip
    return f"<div>{''.join(parts)}</div>"


def headline(comparison: Comparison) -> str:
    """Return the names of the compared runs."""
    after = " and ".join(_short(name) for name in comparison.variants)
    count = len(comparison.long[["query", "filters"]].drop_duplicates())
    return f"{_short(comparison.base)} → {after}: {count:,} quer{'y' if count == 1 else 'ies'}"


def describe_row(row: Any, corrected: bool = False) -> list[str]:
    """Describe one row of `Comparison.test`: means, difference, interval, p, outcomes, judged."""
    p = row["p_holm"] if corrected else row["p"]
    return [
        f"{format_number(row['before'])} → {format_number(row['after'])}",
        f"{format_difference(row['delta'])} {span(row['low'], row['high'])}".strip(),
        ("p(Holm) " if corrected else "p ") + p_value(p),
        f"W {row['wins']}  T {row['ties']}  L {row['losses']}",
        judged_shares(row),
    ]


def describe_few(rows: Iterable[Any], several: bool = False) -> Iterator[str]:
    """Describe, for each row of `Comparison.test` with few differing queries, how little it is."""
    for row in rows:
        differing = row["wins"] + row["losses"]
        if 0 < differing < FEW_QUERIES:
            name = f"{_short(row['run'])}: " if several else ""
            words = "query differs" if differing == 1 else "queries differ"
            yield (
                f"{name}only {differing} {words} in {row['metric']}, "
                "which is little evidence: the bootstrap interval is too narrow; "
                f"t interval {span(row['t_low'], row['t_high']) or 'unknown'}"
            )


def judged_shares(row: Any) -> str:
    """Format the judged shares before and after, of one row of `Comparison.test`."""
    before, after = row["judged_before"], row["judged_after"]
    return f"judged {format_number(before, 2)} → {format_number(after, 2)}"


def definitions(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Yield the definition of each metric."""
    metrics = comparison.long.drop_duplicates("metric")
    yield from zip(metrics["metric"], metrics["definition"], strict=True)


def notes(comparison: Comparison) -> Iterator[str]:
    """Describe the conditions: left-out queries, moved hits, and the test method."""
    for name in (comparison.base, *comparison.variants):
        if apart := _apart(comparison, name):
            yield f"{_short(name)}: {apart}"
    facts = comparison.long.attrs.get("svc", {})
    for name, count in facts.get("absent", {}).items():
        if count:
            total = len(comparison.run_of(name)[["query", "filters"]].drop_duplicates())
            yield describe_missing(_short(name), count, total)
    if not_run := facts.get("judged_but_not_run", 0):
        yield f"{not_run:,} judged quer{'y was' if not_run == 1 else 'ies were'} not run"
    for name in comparison.variants:
        moves = comparison.moves[comparison.moves["run"] == name]
        rbo = comparison.rbo.loc[comparison.rbo["run"] == name, "rbo"].mean()
        entered = moves[moves["kind"] == "entered"]
        changed, unjudged = int((moves["kind"] != "same").sum()), int(entered["gain"].isna().sum())
        yield (
            f"{_short(name)}: {changed:,} of {len(moves):,} hits moved, {len(entered):,} entered, "
            f"{unjudged:,} of them unjudged; mean overlap (RBO) {format_number(rbo, 2)}"
        )
    yield from describe_few(comparison.test().to_dict("records"), len(comparison.variants) > 1)
    yield (
        f"intervals: 95 % bootstrap; p: paired sign-flip; {comparison.resamples:,} resamples, "
        f"seed {comparison.seed}"
    )


def _apart(comparison: Comparison, run: str) -> str:
    first = comparison.metrics[0]
    scores = comparison.long[(comparison.long["run"] == run) & (comparison.long["metric"] == first)]
    failed = scores["error"] != ""
    counts = {
        "without a relevant judgment (left out)": (scores["n_relevant"] == 0) & ~failed,
        "without hits": (scores["n_hits"] == 0) & ~failed,
        "failed (left out)": failed,
    }
    return ", ".join(f"{int(mask.sum()):,} {words}" for words, mask in counts.items() if mask.any())


def find_extremes(comparison: Comparison, run: str, count: int) -> tuple[DataFrame, DataFrame]:
    """Return the queries that gain most by the first metric, and those that lose most."""
    rows = comparison.scores
    of_run = rows[(rows["run"] == run) & (rows["metric"] == comparison.metrics[0])]
    deltas = of_run.dropna(subset="delta")
    won, lost = deltas[deltas["delta"] > 0], deltas[deltas["delta"] < 0]
    return won.nlargest(count, "delta"), lost.nsmallest(count, "delta")


def _extremes(comparison: Comparison) -> Iterator[str]:
    for name in comparison.variants:
        parts = find_extremes(comparison, name, SHOWN_QUERIES)
        for title, part in zip(("won most", "lost most"), parts, strict=True):
            if len(part):
                yield f'<p style="margin:.6em 0 0"><b>{escape(f"{_short(name)} {title}")}</b></p>'
                yield _table(["query", comparison.metrics[0], ""], _rows(part), words=1)


def _rows(part: DataFrame) -> list[list[str]]:
    return [
        [
            row["query"] + (f"  ({row['filters']})" if row["filters"] else ""),
            f"{format_number(row['before'])} → {format_number(row['after'])}",
            format_difference(row["delta"]),
        ]
        for row in part.to_dict("records")
    ]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, words: int) -> str:
    """Write a table whose first columns are text and whose other columns are numbers."""
    numbers = range(words, len(head))
    return write_table(head, rows, numbers=numbers, max_characters=MAX_TEXT_CHARACTERS)


def _short(text: str) -> str:
    return shorten(text, MAX_TEXT_CHARACTERS)

"""A tuning report as one HTML file: what changed, by how much, for which queries, and its undo.

It needs no network and contains no script. Text is escaped, plots are embedded pictures, and the
file is written whole or not at all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from html import escape
from pathlib import Path
from pprint import pformat
from typing import Any

import pandas as pd
from pandas import DataFrame

from svc_notebook.core.display import format_difference, format_number
from svc_notebook.core.files import write_named_file
from svc_notebook.errors import BadInput
from svc_notebook.tuning.changes.state import write_differences
from svc_notebook.tuning.evaluation.comparison import Comparison
from svc_notebook.tuning.evaluation.comparison_summary import (
    definitions,
    find_extremes,
    judged_shares,
    notes,
)
from svc_notebook.tuning.evaluation.scores import summary
from svc_notebook.tuning.html_report.page import (
    check_path,
    draw,
    write_code,
    write_figures,
    write_page,
    write_section,
    write_wide_table,
)
from svc_notebook.tuning.plots import plot_deltas, plot_density, plot_judged, plot_tops
from svc_notebook.tuning.plots.runs import plot_search
from svc_notebook.tuning.proposed_changes.change_impact import Impact
from svc_notebook.tuning.statistics import p_value, span
from svc_notebook.tuning.tables.schema import now
from svc_notebook.tuning.variants.result import Search

Subject = Comparison | Impact | Search
SHOWN_QUERIES = 8  # of the winners, and of the losers
NO_BETTER_VARIANT = "no variant is better than the current index"
SHOWN_TOP_LISTS = 2


def report(
    subject: Subject,
    path: str | os.PathLike[str],
    *,
    title: str = "",
    change: DataFrame | None = None,
    note: str = "",
    titles: Mapping[str, str] | None = None,
) -> Path:
    """Write a comparison, an impact or a variant search to one self-contained HTML file.

    Parameters
    ----------
    subject : Comparison, Impact or Search
        Result to report.
    path : path
        File to write; its suffix is `.html`.
    title : str, default ""
        Title; "" derives it from the subject.
    change : DataFrame, default None
        Applied change, as `apply`, `diff` or `Scratch.promote` returns it; the report then
        explains how to undo it.
    note : str, default ""
        Paragraph at the start of the report.
    titles : dict or Series, default None
        Titles of records by objectID.

    Returns
    -------
    Path
        The path of the file.

    Raises
    ------
    BadInput
        If the suffix is not supported, or the subject is another object.

    Examples
    --------
    >>> impact = svc.tuning.impact("products", {"ignorePlurals": ["en"]}, ["mugs", "lamps"])
    >>> svc.tuning.report(impact, "impact.html", title="Plurals").name
    'impact.html'
    """
    target = check_path(path)
    compared = _comparison_of(subject)
    made = change if change is not None else subject.change if isinstance(subject, Impact) else None
    parts = [
        *_write_heads(compared),
        *([write_section("Changes", write_differences(made))] if made is not None else []),
        *_write_search(subject),
        *_write_scores(compared, titles),
        *_write_configuration(subject, compared, made),
    ]
    heading = title or _title(subject)
    about = [line for line in (note, _about(subject, compared)) if line]
    write_named_file(target, write_page(heading, about, parts))
    return target


def _comparison_of(subject: Any) -> Comparison | None:
    if isinstance(subject, Comparison):
        return subject
    if isinstance(subject, Impact):
        return subject.comparison
    if isinstance(subject, Search):
        return subject.holdout
    raise BadInput(
        f"a report is of a comparison, an impact or a search, not of {type(subject).__name__}"
    )


def _title(subject: Subject) -> str:
    if isinstance(subject, Search):
        return f"{subject.index}: a search over variants"
    if isinstance(subject, Impact):
        return f"{subject.index}: a change that was tried"
    return f"{subject.base} → {', '.join(subject.variants)}"


def _about(subject: Subject, compared: Comparison | None) -> str:
    facts = compared.runs.attrs.get("svc", {}) if compared else {}
    address = f" at {facts['address']}" if facts.get("address") else ""
    what = "" if isinstance(subject, Comparison) else f" of {subject.index}"
    return f"Written {now()}{what}{address}."


def _write_heads(compared: Comparison | None) -> Iterator[str]:
    """Write the main metric, large, with its interval; a row for each run."""
    if compared is None:
        return
    tested = compared.test()
    first = tested[tested["metric"] == compared.metrics[0]]
    several = len(compared.variants) > 1
    figures = []
    for row in first.to_dict("records"):
        p = p_value(row["p_holm"] if several else row["p"])
        figures.append({
            "name": row["run"] if several else row["metric"],
            "value": format_difference(row["delta"]),
            "span": span(row["low"], row["high"]),
            "words": [
                f"{format_number(row['before'])} → {format_number(row['after'])}",
                f"{row['wins']} won, {row['ties']} tied, {row['losses']} lost",
                f"p {p}" if p.startswith("<") else f"p = {p}",
                judged_shares(row),
            ],
        })  # fmt: skip
    yield write_figures(figures)


def _write_search(subject: Subject) -> Iterator[str]:
    if not isinstance(subject, Search):
        return
    best = subject.chosen or next(iter(subject.finalists), NO_BETTER_VARIANT)
    texts = (
        f"<p>{escape(repr(subject.plan))}.</p><p>Best on the tune queries: {escape(str(best))}.</p>"
    )
    if evidence := str(subject.evidence or ""):
        texts += f"<p>{escape(evidence)}.</p>"
    picture = draw(
        lambda: plot_search(subject), "each trial, and the finalists on the held-out queries"
    )
    rows = subject.trace.sort_values("score", ascending=False).head(SHOWN_QUERIES)
    columns = ["trial", "variant", "queries", "score", "delta", "judged"]
    yield write_section(
        "The search", texts + picture + write_wide_table(_format_numbers(rows[columns]))
    )
    if subject.holdout is not None:
        frame = subject.test()[["run", "tune_delta", "delta", "low", "high", "p_holm"]]
        words = (
            "<p>The variants selected on the tune queries, evaluated on the held-out queries.</p>"
        )
        yield write_section("Held out", words + write_wide_table(_format_numbers(frame)))


def _write_scores(compared: Comparison | None, titles: Mapping[str, str] | None) -> Iterator[str]:
    if compared is None:
        return
    texts = [f"{name}: {words}" for name, words in definitions(compared)]
    small = "".join(f"<p class=small>{escape(line)}</p>" for line in [*texts, *notes(compared)])
    tested = compared.test()[[
        "run", "metric", "before", "after", "delta", "low", "high", "p", "p_holm", "wins", "ties",
        "losses",
    ]]  # fmt: skip
    tested = tested if len(compared.variants) > 1 else tested.drop(columns="p_holm")
    yield write_section("Scores", write_wide_table(_format_numbers(tested)) + small)
    pictures = [
        draw(lambda: plot_deltas(compared), "difference of each query"),
        draw(lambda: plot_density(compared), "bootstrap distribution of the mean difference"),
        draw(lambda: plot_judged(summary(compared.long)), "judged share"),
    ]
    yield write_section("Uncertainty", "".join(pictures))
    yield write_section("Winners and losers", _write_extremes(compared, titles))


def _write_extremes(compared: Comparison, titles: Mapping[str, str] | None) -> str:
    run = compared.variants[0]
    columns = ["query", "filters", "before", "after", "delta", "hits_before", "hits_after"]
    won, lost = (part[columns] for part in find_extremes(compared, run, SHOWN_QUERIES))
    tops = [
        draw(
            lambda row=row: plot_tops(  # type: ignore[misc]
                compared, row["query"], filters=row["filters"], run=run, titles=titles
            ),
            f"the first hits of {row['query']!r} before and after",
        )
        for part in (won, lost)
        for row in part.head(SHOWN_TOP_LISTS).to_dict("records")
    ]
    return (
        f"<h3>Won most</h3>{write_wide_table(_format_numbers(won))}"
        f"<h3>Lost most</h3>{write_wide_table(_format_numbers(lost))}{''.join(tops)}"
    )


def _write_configuration(
    subject: Subject, compared: Comparison | None, made: DataFrame | None
) -> Iterator[str]:
    """Write what is necessary to reproduce the result, and its undo."""
    origin = made.attrs.get("svc", {}) if made is not None else {}
    if origin.get("change_id"):
        call = f'svc.tuning.undo("{origin["index"]}", "{origin["change_id"]}")'
        words = "<p>The change is in the journal; this undoes it:</p>"
        yield write_section("How to undo it", words + write_code(call))
    elif not isinstance(subject, Comparison) and (change := _proposed(subject)):
        words = "<p>Nothing was saved. This saves it, and <code>svc.tuning.undo</code> undoes it:"
        yield write_section("How to save it", f"{words}</p>{write_code(_as_call(subject, change))}")
    facts: dict[str, Any] = {}
    if isinstance(subject, Search):
        facts = {"plan": subject.plan._asdict(), "best": subject.best,
                 "before": subject.before.to_json()}  # fmt: skip
    if compared is not None:
        facts |= {"evaluated": compared.long.attrs.get("svc", {}), "seed": compared.seed,
                  "runs": [compared.base, *compared.variants]}  # fmt: skip
    if made is not None:
        facts["changed"] = _as_change(made)
    yield write_section(
        "Configuration", write_code(json.dumps(facts, indent=1, ensure_ascii=False, default=str))
    )


def _proposed(subject: Impact | Search) -> dict[str, Any]:
    return subject.change if isinstance(subject, Search) else _as_change(subject.change)


def _as_call(subject: Impact | Search, change: Mapping[str, Any]) -> str:
    return f"svc.tuning.apply({subject.index!r}, {pformat(change, sort_dicts=False, width=90)})"


def _as_change(made: DataFrame) -> dict[str, Any]:
    change: dict[str, dict[str, Any]] = {}
    for scope, name, after in zip(made["scope"], made["name"], made["after"], strict=True):
        change.setdefault(scope, {})[name] = after
    request = made.attrs.get("svc", {}).get("request")
    return {**change, **({"request": request} if request else {})}


NUMBER_FORMATS: dict[str, Callable[[float], str]] = {
    **dict.fromkeys(("delta", "tune_delta", "low", "high"), format_difference),
    **dict.fromkeys(("p", "p_holm"), p_value),
}


def _format_numbers(frame: DataFrame) -> DataFrame:
    """Format numbers as on the rest of the page."""
    shown = frame.drop(columns="filters") if (frame.get("filters", pd.Series([""])) == "").all() \
        and "filters" in frame else frame  # fmt: skip
    texts = {name: [_cell(str(name), value) for value in shown[name]] for name in shown.columns}
    return DataFrame(texts, dtype=object)


def _cell(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if name in NUMBER_FORMATS:
        return NUMBER_FORMATS[name](float(value))
    return format_number(value) if isinstance(value, float) else f"{value:,}"

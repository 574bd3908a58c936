"""Plots of scores: labels, and notes on what is not drawn."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from pandas import DataFrame

from svc_notebook.errors import BadInput
from svc_notebook.tuning import plots
from svc_notebook.tuning.evaluation.comparison import Comparison, compare
from svc_notebook.tuning.evaluation.scores import evaluate, summary
from tests.tuning.tables import judgments_of, run_of

ODD = "50% off $x_1$ & <b>"


@pytest.fixture(autouse=True)
def unseen() -> Iterator[None]:
    before = mpl.get_backend()
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")
    pyplot.switch_backend(before)


def many(count: int) -> Comparison:
    """A comparison in which queries win, tie and lose by turns."""
    names = [ODD, "", *(f"query {n}" for n in range(count - 2))]
    judged = judgments_of(**{name: {"a": 3, "b": 1} for name in names})
    orders = [("ab", "ab"), ("ba", "ab"), ("ab", "ba"), ("xb", "ab")]
    before, after = (
        run_of(f"{run} $y$", **{name: list(orders[n % 4][side]) for n, name in enumerate(names)})
        for side, run in enumerate(("before", "after"))
    )
    return compare(before, after, judged, resamples=200)


def texts(axes: Any) -> str:
    """Everything that is written, once it is drawn."""
    one = axes[0] if isinstance(axes, list) else axes
    one.figure.savefig(io.BytesIO(), format="png")
    drawn = [*one.texts, *one.get_yticklabels(), *one.get_xticklabels(), one.title, one._left_title]
    return "\n".join(text.get_text() for text in drawn if text.get_text())


def test_deltas_label_winners_and_losers_and_count_the_others() -> None:
    comparison = many(60)

    words = texts(plots.plot_deltas(comparison, top=3))

    assert "30 won, 15 tied, 15 lost" in words
    assert "39 more that differ less" in words
    assert words.count("→") == 6


def test_all_that_differ_are_drawn_where_there_is_room() -> None:
    words = texts(many(5).plot())

    assert "differ less" not in words
    assert "(empty)" in words
    assert words.count("→") == 3


def test_queries_with_special_characters_are_written_unchanged() -> None:
    comparison = many(4)

    assert ODD in texts(plots.plot_variants(comparison.long))
    assert ODD in texts(plots.plot_tops(comparison, ODD))


def test_where_nothing_differs_that_is_said() -> None:
    run = run_of(lamp=["a"])

    assert "no query's ndcg@10 differs" in texts(
        plots.plot_deltas(compare(run, run, judgments_of(lamp={"a": 1})))
    )


def test_too_few_queries_have_no_interval_and_no_density() -> None:
    comparison = compare(run_of(lamp=["x", "a"]), run_of(lamp=["a"]), judgments_of(lamp={"a": 1}))

    assert "too few queries" in texts(plots.plot_density(comparison))
    assert "nan" not in texts(plots.plot_deltas(comparison))
    assert " ;" not in texts(plots.plot_deltas(comparison))


def test_the_density_shows_mean_interval_and_p_of_each_run() -> None:
    comparison = many(20)

    words = texts(plots.plot_density(comparison))

    row = comparison.test().iloc[0]
    assert f"{row['delta']:+.3f}" in words
    assert "after $y$" in words


def test_two_tops_join_what_stays_and_leave_unjudged_hollow() -> None:
    before, after = run_of("now", lamp=["x", "a", "b"]), run_of("then", lamp=["b", "a", "y"])
    comparison = compare(before, after, judgments_of(lamp={"a": 3, "b": 0}))

    axes = plots.plot_tops(comparison, "lamp", titles={"a": "The red lamp"})

    words = texts(axes)
    assert "The red lamp  2" in words
    assert "3  y" in words
    assert len(axes.lines) == 2
    hollow = [dots for dots in axes.collections if _shade(dots) == (1.0, 1.0, 1.0)]
    assert len(hollow) == 2


def _shade(dots: Any) -> tuple[float, ...]:
    return tuple(float(part) for part in dots.get_facecolor()[0][:3])


def test_the_heatmap_prints_every_value_of_the_most_different_queries() -> None:
    words = texts(plots.plot_variants(many(40).long, top=5))

    assert "the 5 of 40 queries that differ most" in words
    assert words.count("0.") + words.count("1.00") == 10


def test_a_query_that_failed_is_a_blank() -> None:
    run = run_of(lamp=["a"], table=[]).assign(error=["", "refused"])

    words = texts(plots.plot_variants(evaluate(run, judgments_of(lamp={"a": 1}))))

    assert "nan" not in words


def test_scores_are_drawn_beside_the_judged_share() -> None:
    drawn = plots.plot_judged(summary(many(8).long))

    assert "95 % interval" in texts(drawn)
    assert {text.get_text().strip() for text in drawn[1].texts} == {"88%", "100%"}


def test_grades_are_counted_and_clicks_put_into_steps() -> None:
    judged = judgments_of(lamp={"a": 3, "b": 1, "c": 3})
    clicks = judgments_of(lamp={f"{n}": n / 97 for n in range(97)})

    assert "2  67%" in texts(plots.plot_grades(judged))
    assert "to" in texts(plots.plot_grades(clicks))
    assert "no rating" in texts(plots.plot_grades([]))


def test_two_raters_meet_on_the_diagonal() -> None:
    one = judgments_of(lamp={"a": 3, "b": 1, "c": 3})
    judged = pd.concat([one.assign(rater="ada"), one.assign(rater="bob $b$")])

    words = texts(plots.plot_confusion(judged))

    assert "3 hits that ada and bob $b$ rated, kappa 1.00" in words
    with pytest.raises(BadInput, match="no judgments of the rater 'eve'"):
        plots.plot_confusion(judged, ("ada", "eve"))
    with pytest.raises(BadInput, match="two raters"):
        plots.plot_confusion(one)


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_plots_are_drawn_into_axes_that_are_given(style: str) -> None:
    with pyplot.style.context(style):
        _, axes = pyplot.subplots()

        assert plots.plot_deltas(many(6), axes=axes)[0] is axes


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda c: plots.plot_deltas(c, "ndgc@10"), "did you mean `ndcg@10`"),
        (lambda c: plots.plot_deltas(c, run="afterr $y$"), "did you mean `after"),
        (lambda c: plots.plot_deltas(c, top=0), "1 or more"),
        (lambda c: plots.plot_tops(c, "query 99x"), "neither run has hits"),
        (lambda c: plots.plot_tops(c, ODD, filters="a:b"), "give the `filters`"),
        (lambda c: plots.plot_variants(DataFrame({"a": [1]})), "no column `run`"),
        (lambda c: plots.plot_variants(c.long, "p@5"), "no metric `p@5`"),
        (lambda c: plots.plot_judged(DataFrame({"a": np.ones(1)})), "no column `run`"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw: Any, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        draw(many(4))


def test_a_mean_without_spread_is_drawn_without_a_hill() -> None:
    same = run_of("now", **{f"query {n}": ["a", "b"] for n in range(30)})
    comparison = compare(same, same, judgments_of(**{f"query {n}": {"a": 1} for n in range(30)}))

    axes = plots.plot_density(comparison)

    assert not axes.collections
    assert "+0.000" in texts(axes)

"""Names of metrics: valid names, meanings, suggestions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.errors import BadInput
from svc_notebook.tuning.evaluation.metrics import (
    ALIASES,
    FAMILIES,
    SIMILAR,
    describe,
    read_measure,
    read_measures,
)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("ndcg@10", "ndcg@10"),
        (" nDCG @ 5 ", "ndcg@5"),
        ("ndcg", "ndcg"),
        ("ndcg_exp@3", "ndcg_exp@3"),
        ("P@5", "p@5"),
        ("p(2)@5", "p(rel=2)@5"),
        ("p( rel = 2 )@5", "p(rel=2)@5"),
        ("rbp", "rbp(0.8)"),
        ("rbp(0.95)", "rbp(0.95)"),
        ("rbp(rel=2, p=0.5)", "rbp(0.5,rel=2)"),
        ("err(max=3)@20", "err(max=3)@20"),
        ("judged@10", "judged@10"),
    ],
)
def test_a_name_is_one_however_it_is_spelled(written: str, name: str) -> None:
    assert read_measure(written).name == name
    assert read_measure(name).name == name


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("ndgc@10", "unknown metric `ndgc`; did you mean `ndcg`"),
        ("dcg@10", "use `ndcg`"),
        ("hole", "use `judged`"),
        ("precision", "`p` needs a cutoff"),
        ("xyzzy", "known are ndcg"),
        ("p", "needs a cutoff"),
        ("ndcg@0", "1 or more"),
        ("ndcg@-1", "is written as"),
        ("ndcg(2)@10", "it takes no options, not `2`"),
        ("p(max=2)@10", "it takes rel, not `max`"),
        ("p(rel=high)@10", "`rel` is a number"),
        ("p(rel=0)@10", "more than 0"),
        ("rbp(1)", "between 0 and 1"),
        ("rbp(0.8)@10", "omit the cutoff"),
        ("", "is written as"),
        ("ndcg@10; rm", "is written as"),
    ],
)
def test_what_is_no_metric_is_refused_with_advice(written: str, words: str) -> None:
    with pytest.raises(BadInput, match=words.replace("(", r"\(").replace("?", r"\?")):
        read_measure(written)


def test_a_missing_metric_is_refused() -> None:
    with pytest.raises(BadInput, match="at least one"):
        read_measures([])


def test_a_metric_named_twice_is_one() -> None:
    assert [one.name for one in read_measures(["rbp", "rbp(0.8)", "ap"])] == ["rbp(0.8)", "ap"]


def test_every_name_has_a_formula_and_every_alias_a_name() -> None:
    assert all(callable(family.formula) for family in FAMILIES.values())
    assert {*ALIASES.values(), *SIMILAR.values()} <= set(FAMILIES)
    assert not {*ALIASES, *SIMILAR} & set(FAMILIES)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_metric_is_described_with_its_numbers(family: str) -> None:
    measure = read_measure(f"{family}@7" if family != "rbp" else "rbp(0.7)")

    words = describe(measure, relevant=2, best=3)

    assert "{" not in words
    assert ("from r = 2" in words) == (family in ("p", "r", "rr", "ap"))
    assert ("3" in words) == (family in ("err", "rbp"))


@given(st.text(max_size=20))
def test_any_text_is_a_metric_or_refused(text: str) -> None:
    try:
        measure = read_measure(text)
    except BadInput:
        return
    assert read_measure(measure.name) == measure


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("map", "ap"),
        ("MAP@10", "ap@10"),
        ("mrr@5", "rr@5"),
        ("precision(rel=2)@5", "p(rel=2)@5"),
        ("recall@100", "r@100"),
        ("ndcg_cut_10", "ndcg@10"),
        ("P_5", "p@5"),
        ("recall_100", "r@100"),
        ("recip_rank", "rr"),
    ],
)
def test_names_of_other_tools_are_aliases(alias: str, name: str) -> None:
    assert read_measure(alias) == read_measure(name)
    assert [measure.name for measure in read_measures([alias, name])] == [name]

"""Term dictionary: sorted strings in a blob."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.service.engine import term_dictionary
from svc_notebook.service.engine.term_dictionary import TermDictionary, rank_strings, union

TEXT = st.text(st.characters() | st.sampled_from("ab\0é\U0001f600\ud800"), max_size=12)
PREFIX = st.sampled_from(["", "product-", "prod"])
MANY = st.builds(
    lambda prefix, rest: sorted({prefix + text for text in rest}), PREFIX, st.lists(TEXT)
)


@given(MANY)
def test_strings_are_restored_unchanged(ascending: list[str]) -> None:
    assert TermDictionary.of(ascending).all() == ascending


@given(st.lists(st.tuples(TEXT, st.booleans())))
def test_a_mask_selects_strings(marked: list[tuple[str, bool]]) -> None:
    kept = dict(sorted(marked))

    some = TermDictionary.of(list(kept)).select(np.array(list(kept.values()), bool))

    assert some.all() == [name for name, keep in kept.items() if keep]


@given(MANY, st.lists(TEXT))
def test_a_string_is_found_at_its_position(ascending: list[str], others: list[str]) -> None:
    wanted = ascending + others
    expected = [ascending.index(name) if name in ascending else -1 for name in wanted]
    stored = TermDictionary.of(ascending)

    assert [stored.find(name) for name in wanted] == expected
    assert stored.find_many(wanted).tolist() == expected
    assert stored.find_many(wanted * 100).tolist() == expected * 100


@given(MANY, PREFIX, TEXT)
def test_the_prefix_range_contains_exactly_the_strings_with_the_prefix(
    ascending: list[str], start: str, rest: str
) -> None:
    first, end = TermDictionary.of(ascending).prefix_range(start + rest)

    expected = [name for name in ascending if name.startswith(start + rest)]
    assert ascending[first:end] == expected


@pytest.mark.parametrize("block", [2, term_dictionary.BLOCK_STRINGS])
@given(one=MANY, other=MANY)
def test_a_union_returns_the_new_positions(block: int, one: list[str], other: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(term_dictionary, "BLOCK_STRINGS", block)
        together, moved = union([TermDictionary.of(one), TermDictionary.of(other)])

    assert together.all() == sorted({*one, *other})
    assert [together[place] for place in moved[0].tolist()] == one
    assert [together[place] for place in moved[1].tolist()] == other


@given(st.lists(MANY, min_size=1, max_size=4))
def test_dictionaries_in_sequence_are_merged_as_others(many: list[list[str]]) -> None:
    in_sequence = [sorted({f"{n}{text}" for text in names}) for n, names in enumerate(many)]
    stored = [TermDictionary.of(names) for names in reversed(in_sequence)]
    merged, moved = union(stored)

    assert merged.all() == [name for names in in_sequence for name in names]
    places = [to.tolist() for to in reversed(moved)]
    assert [[merged[place] for place in to] for to in places] == in_sequence


@given(st.lists(MANY, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_strings_of_several_dictionaries_are_ranked(many: list[list[str]], draw: Random) -> None:
    places = {name: (n, at) for n, names in enumerate(many) for at, name in enumerate(names)}
    names = [name for name in places if draw.random() < 0.8]
    draw.shuffle(names)
    numbers, rows = (np.array([places[name][one] for name in names], np.int64) for one in (0, 1))

    ranks = rank_strings([TermDictionary.of(one) for one in many], numbers, rows)

    assert ranks.tolist() == [sorted(names).index(name) for name in names]

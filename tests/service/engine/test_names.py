"""Names: sorted strings in a blob."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.service.engine.names import Names, union

TEXT = st.text(st.characters() | st.sampled_from("ab\0é\U0001f600\ud800"), max_size=12)
PREFIX = st.sampled_from(["", "product-", "prod"])
MANY = st.builds(
    lambda prefix, rest: sorted({prefix + text for text in rest}), PREFIX, st.lists(TEXT)
)


@given(MANY)
def test_names_come_back_as_they_were(names: list[str]) -> None:
    assert Names.of(names).all() == names


@given(MANY, st.lists(TEXT))
def test_a_name_is_found_where_it_is_and_no_other_is_found(
    names: list[str], others: list[str]
) -> None:
    wanted = names + others
    expected = [names.index(name) if name in names else -1 for name in wanted]
    stored = Names.of(names)

    assert [stored.find(name) for name in wanted] == expected
    assert stored.find_many(wanted).tolist() == expected
    assert stored.find_many(wanted * 100).tolist() == expected * 100


@given(MANY, PREFIX, TEXT)
def test_all_names_that_begin_so_lie_between_the_bounds(
    names: list[str], start: str, rest: str
) -> None:
    first, end = Names.of(names).beginning(start + rest)

    assert names[first:end] == [name for name in names if name.startswith(start + rest)]


@given(MANY, MANY)
def test_a_union_tells_where_each_name_went(one: list[str], other: list[str]) -> None:
    together, moved = union([Names.of(one), Names.of(other)])

    assert together.all() == sorted({*one, *other})
    assert [together[place] for place in moved[0].tolist()] == one
    assert [together[place] for place in moved[1].tolist()] == other

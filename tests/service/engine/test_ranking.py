"""Sort values of ranking columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from svc_notebook.service.engine.ranking.ranking import RankingColumn, _join_keys
from svc_notebook.service.engine.term_dictionary import TermDictionary


class UnreadTexts:
    """Texts of a segment whose codes suffice to sort its rows: reading one is an error."""

    def __len__(self) -> int:
        return 3

    def take(self, numbers: Any) -> list[str]:
        raise AssertionError(f"the texts {numbers} were read")


@pytest.mark.parametrize("descending", [False, True])
def test_rows_of_one_segment_are_sorted_by_text_without_reading_texts(descending: bool) -> None:
    texts: Any = UnreadTexts()
    codes = np.array([2, 0, 3, 1])

    keys = _join_keys([RankingColumn(codes, texts, descending)], [4])

    assert keys.tolist() == ([-2, 0, -3, -1] if descending else [2, 0, 3, 1])


def test_texts_of_several_segments_compare_by_the_texts_themselves() -> None:
    # The code 0 is of a record without the attribute.
    first = RankingColumn(np.array([2, 1]), TermDictionary.of(["b", "d"]))
    second = RankingColumn(np.array([1, 0]), TermDictionary.of(["c"]))

    keys = _join_keys([first, None, second], [2, 1, 2])

    assert np.argsort(keys, kind="stable").tolist() == [2, 4, 1, 3, 0]

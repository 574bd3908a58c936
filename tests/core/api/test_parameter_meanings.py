"""The meanings of parameters: one sentence or more for each, in one group."""

from __future__ import annotations

import re
from itertools import chain

from svc_notebook.core.api.parameter_meanings import GROUPS, MEANINGS
from svc_notebook.core.api.parameters import PARAMETERS
from tests.looping import loop_over


def test_each_parameter_is_in_one_group() -> None:
    names = list(chain.from_iterable(GROUPS.values()))

    assert sorted(names) == sorted(PARAMETERS)


@loop_over("name", MEANINGS)
def test_a_meaning_is_made_of_sentences_and_code(name: str) -> None:
    meaning = MEANINGS[name]

    assert meaning.endswith(".")
    assert meaning[0].isupper() or meaning[0] == "`"
    assert meaning.count("`") % 2 == 0
    outside = re.sub(r"`[^`]*`", "", meaning)
    assert not [word for word in PARAMETERS if re.search(rf"\b{word}\b", outside) and
                re.search(r"[a-z][A-Z]", word)]  # fmt: skip

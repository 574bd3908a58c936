"""Languages without blanks in a service: settings decide, and a missing dictionary is reported."""

from __future__ import annotations

from typing import Any

import pytest

from svc_notebook.core.api.messages import WORDS_MISSING
from svc_notebook.data.frames.searches import warn_of_languages
from tests.conftest import Inside
from tests.service.engine.test_word_breaks import released


def find(inside: Inside, query: str) -> dict[str, Any]:
    return dict(inside.call("POST", "/1/indexes/places/query", {"query": query}).json())


def ids(answer: dict[str, Any]) -> list[str]:
    return sorted(hit["objectID"] for hit in answer["hits"])


@pytest.fixture
def places(inside: Inside) -> Inside:
    inside.fill("places", {"objectID": "1", "name": "東京都"}, {"objectID": "2", "name": "京都府"})
    return inside


def test_records_are_indexed_again_when_their_language_is_declared(places: Inside) -> None:
    assert ids(find(places, "京都")) == ["1", "2"]

    places.done("PUT", "/1/indexes/places/settings", {"indexLanguages": ["ja"]})
    declared = find(places, "京都")
    places.done("PUT", "/1/indexes/places/settings", {"indexLanguages": []})

    assert ids(declared) == ["2"]
    assert "message" not in declared
    assert ids(find(places, "京都")) == ["1", "2"]


def test_a_missing_dictionary_is_reported(places: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    with released(monkeypatch, ""):
        places.done("PUT", "/1/indexes/places/settings", {"indexLanguages": ["ja", "en"]})
        answer = find(places, "京都")

    assert ids(answer) == ["1", "2"]
    assert answer["message"] == (
        "words of `ja` are not separated: the service needs the extra `languages`"
    )


def test_frames_warn_of_a_missing_dictionary_once() -> None:
    answer = {"message": f"words of `th` {WORDS_MISSING}"}

    with pytest.warns(UserWarning, match="words of `th` are not separated") as issued:
        facts = [warn_of_languages([answer]) for _ in range(2)]

    assert len(issued) == 1
    assert facts == [answer, answer]

"""A loop checks every case, and reports every one that fails."""

from __future__ import annotations

import pytest

from tests.looping import loop_over


@pytest.fixture
def limit() -> int:
    return 3


@loop_over("number, square", [(1, 1), (2, 4)])
def test_a_loop_has_the_fixtures_of_its_test(limit: int, number: int, square: int) -> None:
    assert number < limit
    assert square == number**2


def test_every_case_that_fails_is_reported(request: pytest.FixtureRequest) -> None:
    checked = []

    @loop_over("kind", [KeyError, ValueError, IndexError, TypeError])
    def raise_kind(kind: type[Exception]) -> None:
        checked.append(kind)
        with pytest.raises(LookupError):
            raise kind("text")

    with pytest.raises(pytest.fail.Exception) as failed:
        raise_kind(request=request)

    assert checked == [KeyError, ValueError, IndexError, TypeError]
    assert "2 of 4 cases failed" in str(failed.value)
    assert "<class 'ValueError'>: ValueError: text" in str(failed.value)
    assert "<class 'TypeError'>: TypeError: text" in str(failed.value)


def test_an_expectation_that_is_not_met_is_a_failure(request: pytest.FixtureRequest) -> None:
    @loop_over("number", [1])
    def expect_an_error(number: int) -> None:
        with pytest.raises(LookupError):
            assert number

    with pytest.raises(pytest.fail.Exception, match="1 of 1 cases failed"):
        expect_an_error(request=request)

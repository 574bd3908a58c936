"""The pytest plugin: files `*.judgments.yaml` as tests, and the fixture `svc_relevance`.

It is a module of its own, so that pytest imports nothing of `svc_notebook` before it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

SUFFIX = ".judgments.yaml"


class RelevanceFailure(AssertionError):
    """A requirement has failed; the message is the verdict."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of the profile."""
    parser.getgroup("svc-notebook").addoption(
        "--svc-profile",
        help="profile of the search service for relevance tests; default: SVC_* variables",
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect files of required scores."""
    if file_path.name.endswith(SUFFIX):
        return JudgmentFile.from_parent(parent, path=file_path)
    return None


class JudgmentFile(pytest.File):
    """A file of required scores; its searches run once for all requirements."""

    @cached_property
    def members(self) -> Any:
        """What the file contains."""
        from svc_notebook.tuning.evaluation.requirements import read_relevance_file

        return read_relevance_file(self.path)

    @cached_property
    def verdict(self) -> Any:
        """The verdict on all requirements."""
        from svc_notebook.tuning.evaluation.requirements import check_file

        return check_file(self.path, self.members, self.config.getoption("--svc-profile"))

    def collect(self) -> Iterable[pytest.Item]:
        """Yield a test for each requirement."""
        from svc_notebook.errors import SvcError
        from svc_notebook.tuning.evaluation.requirements import list_requirements

        try:
            listed = list_requirements(self.members)
        except SvcError as error:
            raise self.CollectError(str(error)) from None
        for number, (kind, metric) in enumerate(listed):
            item: pytest.Item = RequirementItem.from_parent(self, name=f"{metric} {kind}")
            item.number = number  # type: ignore[attr-defined]
            yield item


class RequirementItem(pytest.Item):
    """One requirement of a file."""

    number = 0

    def runtest(self) -> None:
        """Fail if the requirement failed; skip, with the reason, if it is undecided."""
        assert isinstance(self.parent, JudgmentFile)
        verdict = self.parent.verdict
        found = verdict.requirements[self.number]
        numbers = {"value": found.value, "low": found.low, "high": found.high, "bound": found.bound}
        self.user_properties += [(name, f"{number:.6g}") for name, number in numbers.items()]
        judge(verdict, [found])

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """Return the verdict without a traceback."""
        from svc_notebook.errors import SvcError
        from svc_notebook.faces.commands.execution import spell_for_tests

        if isinstance(excinfo.value, (RelevanceFailure, SvcError)):
            return spell_for_tests(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the place of the test."""
        return self.path, None, self.name


def judge(verdict: Any, requirements: Iterable[Any]) -> None:
    """Raise for failed requirements; skip for undecided ones unless the test is strict."""
    found = list(requirements)
    bad = {"failed", "undecided"} if verdict.strict else {"failed"}
    if any(each.outcome in bad for each in found):
        raise RelevanceFailure(repr(verdict))
    undecided = [each for each in found if each.outcome == "undecided"]
    if undecided:
        pytest.skip("; ".join(map(str, undecided)))


@pytest.fixture(scope="session")
def svc_relevance(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Return a function that checks relevance, with the arguments of `svc.tuning.check_relevance`.

    It fails the test for a failed requirement, skips it for an undecided one, and else returns the
    verdict.
    """
    profile = request.config.getoption("--svc-profile")

    def check(index: str, judgments: Any, at_least: Any = None, **options: Any) -> Any:
        from svc_notebook.data.session.connection import make_client
        from svc_notebook.tuning.blocking import check_relevance

        if "client" not in options:
            options["client"] = make_client(profile)
        verdict = check_relevance(index, judgments, at_least, progress=False, **options)
        judge(verdict, verdict.requirements)
        return verdict

    return check

"""The changelog names each release, in sections that a user reads on a page or two."""

from __future__ import annotations

import re
import tomllib

from tests.conftest import ROOT

MAX_UNRELEASED_LINES, MAX_RELEASE_LINES = 60, 120


def test_sections_are_short_and_the_version_of_the_project_has_one() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    titles = [section.split()[0] for section in sections]
    lengths = {title: section.count("\n") for title, section in zip(titles, sections, strict=True)}

    assert titles[:2] == ["Unreleased", project["version"]]
    assert lengths["Unreleased"] <= MAX_UNRELEASED_LINES
    assert max(lengths.values()) <= MAX_RELEASE_LINES

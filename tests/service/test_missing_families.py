"""Families of the public API that this service does not have say so by name."""

from __future__ import annotations

import re
from pathlib import Path

import algoliasearch
import pytest

from svc_notebook.core.api import ENDPOINTS
from svc_notebook.service.http.router import MISSING_FAMILIES
from tests.conftest import ROOT, Inside

FAMILIES = {
    "abtesting_v3": "A/B testing",
    "agent_studio": "Agent Studio",
    "analytics": "Analytics patterns",
    "composition": "Composition",
    "ingestion": "Ingestion",
    "monitoring": "Monitoring",
    "personalization": "Personalization",
    "recommend": "Recommend",
}
# Paths that only older clients request.
FORMER_PATHS = {
    "/1/answers/films/prediction": "Answers",
    "/1/isalive": "Monitoring",
    "/1/places/query": "Places",
    "/1/recommendation/personalization/strategy": "Personalization",
    "/1/usage/records": "Usage",
}


def paths_of(package: str) -> list[str]:
    """The paths that a family's official client requests, with values for their parts."""
    text = (Path(algoliasearch.__file__).parent / package / "client.py").read_text()
    paths = {path for path in re.findall(r'path="(/[^"]+)"', text) if not path.endswith("{path}")}
    declared = {re.sub(r"\{\w+\}", "{}", row.path) for row in ENDPOINTS}
    paths = {path for path in paths if re.sub(r"\{\w+\}", "{}", path) not in declared}
    assert paths
    return sorted(re.sub(r"\{\w+\}", "related-products", path) for path in paths)


@pytest.mark.parametrize("package", FAMILIES)
def test_every_path_of_a_familys_client_names_the_family(inside: Inside, package: str) -> None:
    for path in paths_of(package):
        answer = inside.call("POST", path)

        assert answer.status_code == 404, path
        assert answer.json()["message"].startswith(
            f"{FAMILIES[package]} is not part of this service: {path} is not an endpoint; "
        )


@pytest.mark.parametrize("path", FORMER_PATHS)
def test_so_do_paths_of_older_clients(inside: Inside, path: str) -> None:
    message = inside.call("GET", path).json()["message"]

    assert message.startswith(f"{FORMER_PATHS[path]} is not part of this service")


@pytest.mark.parametrize(
    "path", ["/1/nowhere", "/2/nowhere", "/1/statusx", "/3/searches", "/1/indexes/a/b/c/d"]
)
def test_other_unknown_paths_name_no_family(inside: Inside, path: str) -> None:
    assert inside.call("GET", path).json()["message"] == f"{path} is not an endpoint"


def test_the_page_lists_the_families_and_what_there_is_instead() -> None:
    page = (ROOT / "docs" / "differences.md").read_text()
    section = page.partition("## Families of the API")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines()]
    listed = {row[0]: row[2] for row in rows if len(row) == 3 and row[0] not in ("family", "---")}

    assert listed == {family.name: family.instead for family in MISSING_FAMILIES}

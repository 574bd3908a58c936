"""A report is one self-contained, safe file."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import matplotlib
import pytest

from svc_notebook import tuning
from svc_notebook.errors import BadInput
from tests.tuning.shop import client, shop

__all__ = ["client", "shop"]

matplotlib.use("agg")
EVIL = "<script>alert(1)</script>"
JUDGMENTS: list[dict[str, Any]] = [
    {"query": query, "objectID": name, "rating": rating}
    for query, rated in {
        "lamp": {"1": 1, "2": 3, "4": 0},
        "table": {"3": 0, "4": 3},
        "blue": {"2": 0, "5": 3},
        f"acme {EVIL}": {"1": 1, "3": 3},
    }.items()
    for name, rating in rated.items()
]
SALES = {"customRanking": ["desc(sales)"], "removeWordsIfNoResults": "allOptional"}


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.mark.slow
def test_a_comparison_is_reported_with_the_way_back(shop: str, tmp_path: Path) -> None:
    before = tuning.run(shop, JUDGMENTS, name="before")
    made = tuning.apply(shop, SALES, note="what sells")
    compared = tuning.compare(before, tuning.run(shop, JUDGMENTS, name="after"), JUDGMENTS)

    path = tuning.report(compared, tmp_path / "report.html", change=made, note=EVIL)

    page = path.read_text(encoding="utf-8")
    assert f"undo(&quot;{shop}&quot;, &quot;{made.attrs['svc']['change_id']}&quot;)" in page
    assert "customRanking" in page
    assert page.count("data:image/png;base64,") >= 8  # four plots, for light and for dark
    assert EVIL not in page
    assert "&lt;script&gt;" in page
    assert not re.findall(r"(?:src|href)=\"(?!data:)|https?://(?!127)", page)


@pytest.mark.slow
def test_the_report_of_a_search_or_impact_has_the_call_that_saves_it(
    shop: str, tmp_path: Path
) -> None:
    # Prefixes of two words: enough queries for a gain that is hardly chance.
    queries = [word[:size] for word in ("lamp", "blue") for size in range(1, len(word) + 1)]
    whole = ("lamp", "blue")
    judged = [
        {"query": query, "split": "holdout" if query in whole else "tune"} for query in queries
    ]
    best = {"l": "2", "b": "5"}
    judgments = [{"query": query, "objectID": best[query[0]], "rating": 3} for query in queries]
    found = tuning.search(
        shop, {"customRanking": [["desc(sales)"]]}, judged, judgments, budget=12, best=1
    )
    tried = tuning.impact(shop, SALES, judgments=JUDGMENTS)

    pages = [found.report(tmp_path / "a.html"), tuning.report(tried, tmp_path / "b.html")]

    for page in pages:
        told = unescape(page.read_text(encoding="utf-8"))
        assert f"svc.tuning.apply('{shop}', {{'settings'" in told
        assert "Nothing was saved" in told


JUDGED = [
    {"query": query, "split": split}
    for query, split in zip(
        dict.fromkeys(row["query"] for row in JUDGMENTS), ["tune", "holdout"] * 2, strict=True
    )
]


def test_a_search_that_found_nothing_is_reported_all_the_same(shop: str, tmp_path: Path) -> None:
    found = tuning.search(shop, {"customRanking": [None]}, JUDGED, JUDGMENTS)

    page = found.report(tmp_path / "none.html").read_text(encoding="utf-8")

    assert "no variant is better than the current index" in page


def test_a_report_is_made_of_what_it_is_about(shop: str, tmp_path: Path) -> None:
    subject: Any = {"not": "a comparison"}

    with pytest.raises(BadInput, match="a report is of"):
        tuning.report(subject, tmp_path / "x.html")
    with pytest.raises(BadInput, match=r"\.html"):
        tuning.report(subject, tmp_path / "x.pdf")
    assert not list(tmp_path.glob("*.html"))


@pytest.mark.slow
def test_the_configuration_of_a_report_can_be_read_back(shop: str, tmp_path: Path) -> None:
    tried = tuning.impact(shop, SALES, judgments=JUDGMENTS)

    page = unescape(tuning.report(tried, tmp_path / "r.html").read_text(encoding="utf-8"))

    facts = json.loads(re.findall(r"<pre>(\{.*?\n\})</pre>", page, re.DOTALL)[-1])
    assert facts["changed"]["settings"] == SALES
    assert facts["evaluated"]["metrics"] == ["ndcg@10"]

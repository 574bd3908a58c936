"""The preview of a change on the most frequent queries of a log."""

from __future__ import annotations

from pathlib import Path

import pytest
from pandas import DataFrame

from svc_notebook import tuning
from svc_notebook.errors import BadInput
from svc_notebook.tuning.evaluation.ranked_lists import find_overlaps
from tests.tuning.shop import changes_of, client, shop

__all__ = ["client", "shop"]

SYNONYM = {"objectID": "gadget", "type": "synonym", "synonyms": ["gadget", "lamp"]}
LOG = [*["lamp"] * 5, *["table"] * 3, *["gadget"] * 2, "sofa", "sofa & <b>lamp</b>"]


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def test_queries_are_in_the_order_of_traffic_times_change(shop: str) -> None:
    change = {"settings": {"customRanking": ["desc(sales)"]}, "synonyms": [SYNONYM]}

    seen = tuning.preview(shop, change, log=LOG)

    queries = seen.queries.set_index("query")
    rbo = find_overlaps(seen.impact.before, seen.impact.after).set_index("query")["rbo"]
    assert queries["frequency"].to_dict() == {
        "lamp": 5, "table": 3, "gadget": 2, "sofa": 1, "sofa & <b>lamp</b>": 1,
    }  # fmt: skip
    assert queries["change"].to_dict() == pytest.approx((1 - rbo).to_dict())
    assert seen.queries["traffic"].is_monotonic_decreasing
    found = queries[["hits_before", "new", "hits_after"]].astype("int64").T.to_dict()["gadget"]
    assert found["hits_before"] == 0
    assert found["new"] == found["hits_after"] > 0
    assert seen.zero_results[0] == seen.zero_results[1] + 2
    changed = seen.queries.loc[seen.queries["change"] > 0, "frequency"].sum()
    assert seen.affected_share == pytest.approx(changed / len(LOG))
    assert changes_of(shop) == []


def test_the_page_lists_what_is_new_lost_and_moved(shop: str, tmp_path: Path) -> None:
    seen = tuning.preview(shop, SYNONYM, log=LOG, top=4)

    path = seen.report(tmp_path / "page.html", titles={"1": "<i>one</i>"})

    text = path.read_text(encoding="utf-8")
    assert len(seen.queries) == 4
    assert "<h3>gadget: 2 searches</h3>" in text
    assert "searches without results" in text
    assert "<b>lamp" not in text
    assert "<i>one" not in text
    with pytest.raises(BadInput, match=r"unsupported format `\.pdf`"):
        seen.report(tmp_path / "page.pdf")


def test_without_a_log_the_analytics_are_read(shop: str) -> None:
    with pytest.raises(BadInput, match="the log has no queries"):
        tuning.preview(shop, SYNONYM)
    with pytest.raises(BadInput, match="the log has no queries"):
        tuning.preview(shop, SYNONYM, log=DataFrame({"query": []}, dtype="str"))
    with pytest.raises(BadInput, match="`top` must be from 1 to 1,000, not 0"):
        tuning.preview(shop, SYNONYM, log=LOG, top=0)

"""Records pinned and hidden for one query, by line and by function, and undone."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.data.client.curation import RULES
from svc_notebook.tuning.changes.journal import Journal
from tests.conftest import Running
from tests.faces.commands.conftest import Typed

LAMPS = pd.DataFrame(
    {"objectID": list("12345"), "name": ["lamp", "lamp", "lamp", "desk", "oak table"]}
)


@pytest.fixture
def index(admin: svc.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An index of this test's own, and a journal."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    name = f"pins-{tmp_path.name}"
    svc.push(LAMPS, name)
    return name


def ids(index: str, query: str = "lamp") -> list[str]:
    return list(svc.search(index, query)["objectID"])


def rules(index: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = asyncio.run(_read(index))
    return sorted(found, key=lambda rule: rule["objectID"])


async def _read(index: str) -> list[dict[str, Any]]:
    answer = await RULES.find(svc.current().aio, index, 0, 100)
    return [{n: v for n, v in hit.items() if n[0] != "_"} for hit in answer["hits"]]


def test_a_record_is_pinned_whether_the_query_finds_it_or_not(index: str) -> None:
    first = svc.pin(index, "lamp", "3")
    second = svc.pin(index, "Lamp ", 5, 1)

    assert ids(index) == ["3", "5", "1", "2"]
    assert first["rule"] == second["rule"] == "for-lamp"
    assert (second["objectID"], second["position"]) == ("5", 1)
    assert rules(index) == [
        {
            "objectID": "for-lamp",
            "conditions": [{"pattern": "lamp", "anchoring": "is"}],
            "consequence": {
                "promote": [{"objectID": "3", "position": 0}, {"objectID": "5", "position": 1}]
            },
        }
    ]


def test_other_queries_stay_as_they_are(index: str) -> None:
    svc.pin(index, "lamp", "5")
    svc.hide(index, "lamp", "1")

    assert ids(index, "oak") == ["5"]
    assert "1" in ids(index, "lam")


def test_a_pin_makes_room_for_itself(index: str) -> None:
    for name in ("1", "2", "4"):
        svc.pin(index, "lamp", name)

    assert ids(index)[:3] == ["4", "2", "1"]


def test_a_hidden_record_is_left_out_until_it_is_shown_again(typed: Typed, index: str) -> None:
    typed(f"hide {index} lamp 2")
    hidden = ids(index)
    typed(f"unhide {index} lamp 2")

    assert (hidden, ids(index)) == (["1", "3"], ["1", "2", "3"])
    assert rules(index) == []


def test_unpin_keeps_other_consequences_of_the_rule(typed: Typed, index: str) -> None:
    typed(f"pin {index} 'desk lamp' 5 --position 0")
    typed(f"hide {index} 'desk lamp' 5")
    typed(f"pin {index} 'desk lamp' 4")

    done = typed(f"unpin {index} 'desk lamp' 4")

    assert (done["rule"], done["objectID"]) == ("for-desk-lamp", "4")
    assert rules(index)[0]["consequence"] == {"hide": [{"objectID": "5"}]}


def test_a_rule_of_the_query_is_extended_and_others_are_not(index: str) -> None:
    exact = [{"pattern": "lamp", "anchoring": "is"}]
    held: list[dict[str, Any]] = [
        {"objectID": "a", "conditions": exact, "consequence": {"userData": 1}, "enabled": False},
        {"objectID": "b", "conditions": exact, "consequence": {"userData": 2},
         "validity": [{"until": 4_000_000_000}]},
        {"objectID": "c", "conditions": [{**exact[0], "context": "x"}],
         "consequence": {"userData": 3}},
        {"objectID": "d", "conditions": [{"pattern": "LAMP", "anchoring": "is"}],
         "consequence": {"userData": 4}},
        {"objectID": "e", "consequence": {"userData": 5}},
        {"objectID": "for-desk", "conditions": [{"context": "y"}], "consequence": {"userData": 6}},
    ]  # fmt: skip
    svc.save_rules(index, held)

    extended, made = svc.pin(index, "lamp", "3"), svc.pin(index, "desk", "3")

    assert extended["rule"] == "d"
    assert made["rule"].startswith("rule-")
    after = {rule["objectID"]: rule for rule in rules(index)}
    assert after["d"]["consequence"]["userData"] == 4
    assert {**after, "d": held[3], made["rule"]: None} == {
        **{rule["objectID"]: rule for rule in held}, made["rule"]: None
    }  # fmt: skip


def test_it_is_undone_from_the_journal(typed: Typed, index: str) -> None:
    done = svc.pin(index, "lamp", "3")
    again = svc.pin(index, "lamp", "3")
    assert Journal.of(svc.current().aio, index).find(done["change"]).note == "pin 3 for 'lamp'"
    assert again["change"] is None

    typed(f"undo {index} --yes")

    assert ids(index) == ["1", "2", "3"]
    assert rules(index) == []


def test_the_replicas_get_it_too(index: str) -> None:
    replica = f"{index}-cheap"
    svc.settings(index, replicas=[replica])

    svc.pin(index, "lamp", "3", forwardToReplicas=True)

    assert ids(replica)[0] == "3"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda index: svc.pin(index, "lamp", "9"), "has no record `9`; nothing was changed"),
        (lambda index: svc.hide(index, "lamp", "9"), "has no record `9`"),
        (lambda index: svc.unpin(index, "lamp", "1"), "`1` is not pinned for the query `lamp`"),
        (lambda index: svc.unhide(index, "lamp", "1"), "`1` is not hidden for the query `lamp`"),
        (lambda index: svc.pin(index, "lamp", "1", -1), "0 for the first position, not -1"),
        (
            lambda index: svc.pin(index, "lamp", "1", True),
            "`position` must be a whole number, not True",
        ),
        (
            lambda index: svc.pin(index, 7, "1"),  # type: ignore[arg-type]
            "`query` must be text, not a number",
        ),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(index: str, call: Any, words: str) -> None:
    with pytest.raises(svc.errors.SvcError, match=words):
        call(index)

    assert rules(index) == []
    assert len(svc.tuning.history(index)) == 0


def test_pins_of_several_processes_are_all_kept(index: str) -> None:
    async def pin_all() -> None:
        await asyncio.gather(*(svc.aio.pin(index, "lamp", name, 0) for name in "12345"))

    asyncio.run(pin_all())

    [rule] = rules(index)
    pinned = [pin["objectID"] for pin in rule["consequence"]["promote"]]
    assert sorted(pinned) == list("12345")


def test_key_without_the_right_is_an_error(index: str, service: Running) -> None:
    svc.connect(url=service.url, app_id=service.appId, api_key=service.searchKey)

    with pytest.raises(svc.errors.KeyRefused):
        svc.pin(index, "lamp", "1")


def test_the_result_is_plain_json(index: str) -> None:
    assert json.loads(json.dumps(svc.pin(index, "lamp", "1")))["rule"] == "for-lamp"

"""Deployments of a tuned clone to the service that it came from."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import svc_notebook as svc
from svc_notebook.data.client.config import ClientConfig
from svc_notebook.errors import BadInput, KeyRefused, Stopped
from svc_notebook.faces.cli import main
from svc_notebook.tuning.changes.journalled_write import list_steps
from svc_notebook.tuning.changes.state import Delta
from svc_notebook.tuning.deployment.record_transfer import RecordTransfer
from tests.conftest import Running
from tests.kill_points import run_killed
from tests.peers.official import connect, own_warnings
from tests.tuning.deployment.conftest import RULE, fill, make_key, write_profile


def facets_rule(brand: str, facet: str = "brand") -> dict[str, Any]:
    return {**RULE, "consequence": {"params": {"filters": f"{facet}:{brand}"}}}


@pytest.fixture
def tuned(index: str) -> str:
    """A clone with a changed setting, a new and a removed synonym, and a changed rule."""
    svc.clone(index, from_="shop", progress=False)
    svc.set_settings(index, {"hitsPerPage": 7})
    svc.save_synonyms(index, {"objectID": "t", "type": "synonym", "synonyms": ["cup", "mug"]})
    svc.delete_synonyms(index, ["s"])
    svc.save_rules(index, {"objectID": "r0", **facets_rule("Bolt")})
    return index


def differs(index: str, shop: svc.Client) -> bool:
    return not svc.tuning.diff(svc.tuning.snapshot(index), index, client=shop).empty


def test_a_dry_run_shows_the_difference_and_writes_nothing(tuned: str, shop: svc.Client) -> None:
    before = svc.tuning.snapshot(tuned, client=shop)

    result = svc.deploy(tuned, to="shop", dry_run=True, progress=False)

    shown = result.plan.changes[["scope", "name", "kind"]].to_numpy().tolist()
    assert sorted(shown) == [
        ["rules", "r0", "changed"],
        ["settings", "hitsPerPage", "new"],
        ["synonyms", "s", "gone"],
        ["synonyms", "t", "new"],
    ]
    assert "1 rule changed" in repr(result)
    assert "hitsPerPage" in result._repr_html_()
    assert svc.tuning.snapshot(tuned, client=shop).hash == before.hash


def test_settings_of_the_local_service_are_named_and_left_out_for_a_hosted_one(
    index: str, shop: svc.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    svc.clone(index, from_="shop", progress=False)
    svc.set_settings(index, {"attributeWeights": {"name": 3}, "hitsPerPage": 7})
    hosted = shop.connection.app_id
    is_local = property(lambda config: config.app_id != hosted)
    monkeypatch.setattr(ClientConfig, "is_local", is_local)

    planned = svc.deploy(index, to="shop", dry_run=True, progress=False)
    with pytest.warns(UserWarning, match="only the local service has attributeWeights"):
        done = svc.deploy(index, to="shop", progress=False)

    assert "only the local service has attributeWeights: not deployed to shop" in repr(planned)
    assert planned.plan.changes["name"].tolist() == ["hitsPerPage"]
    assert done.verified
    assert "attributeWeights" not in shop.get_settings(index)
    with pytest.raises(BadInput, match=r"only the local service has attributeWeights.*leave it"):
        svc.tuning.apply(index, {"attributeWeights": "flat"}, client=shop)


def test_a_local_service_gets_the_weights_of_attributes(index: str, shop: svc.Client) -> None:
    svc.clone(index, from_="shop", progress=False)
    svc.set_settings(index, {"attributeWeights": {"name": 3}})

    assert svc.deploy(index, to="shop", progress=False).verified
    settings: Any = shop.get_settings(index)
    assert settings["attributeWeights"] == {"name": 3}


def test_a_guarded_query_that_loses_stops_a_deployment_before_it_writes(
    index: str, shop: svc.Client, tmp_path: Path
) -> None:
    svc.clone(index, from_="shop", progress=False)
    svc.set_settings(index, {"customRanking": ["asc(sold)"]})
    before = svc.tuning.snapshot(index, client=shop)
    best = svc.search(index, "lamp", client=shop)["objectID"].iloc[0]
    guard = tmp_path / "head.csv"
    rows = [f"lamp,{number},{int(str(number) == best)}" for number in range(40)]
    guard.write_text("\n".join(["query,objectID,rating", *rows, "lamp 4,4,1"]))

    for dry_run in (True, False):
        with pytest.raises(BadInput, match=r"guard: ndcg@10 of 'lamp' 1\.000 → 0.* on shop"):
            svc.deploy(index, to="shop", guard=guard, dry_run=dry_run, progress=False)
    with pytest.raises(BadInput, match="leave records out of `parts`"):
        svc.deploy(index, to="shop", guard=guard, parts=["records"], progress=False)

    assert svc.tuning.snapshot(index, client=shop).hash == before.hash
    kept = [{"query": "lamp 4", "objectID": "4", "rating": 1}]
    assert svc.deploy(index, to="shop", guard=kept, progress=False).verified


def test_a_deployment_is_verified_and_undone(tuned: str, shop: svc.Client) -> None:
    before = svc.tuning.snapshot(tuned, client=shop)

    result = svc.deploy(tuned, to="shop", note="spring", progress=False)

    assert result.verified
    assert not differs(tuned, shop)
    assert len(svc.read_browse(tuned, client=shop)) == 40
    svc.tuning.undo(tuned, result.change_ids[tuned], client=shop)
    assert svc.tuning.snapshot(tuned, client=shop).hash == before.hash
    again = svc.deploy(tuned, to="shop", progress=False)
    assert again.verified
    assert not differs(tuned, shop)
    assert svc.deploy(tuned, to="shop", progress=False).plan.empty


def test_what_others_changed_since_the_clone_is_kept(tuned: str, shop: svc.Client) -> None:
    svc.set_settings(tuned, {"maxValuesPerFacet": 33}, client=shop)
    theirs = {"objectID": "theirs", "type": "synonym", "synonyms": ["a", "b"]}
    svc.save_synonyms(tuned, theirs, client=shop)

    with pytest.warns(UserWarning, match=r"`maxValuesPerFacet`.* since the clone: kept"):
        result = svc.deploy(tuned, to="shop", progress=False)

    assert result.verified
    settings = shop.get_settings(tuned)
    assert (settings["maxValuesPerFacet"], settings["hitsPerPage"]) == (33, 7)
    found = svc.read_synonyms(tuned, client=shop)["objectID"]
    assert set(found) == {"t", "theirs"}


def test_what_both_sides_changed_needs_a_word(tuned: str, shop: svc.Client) -> None:
    svc.set_settings(tuned, {"hitsPerPage": 9}, client=shop)

    with pytest.raises(BadInput, match="settings `hitsPerPage` changed both here and on shop"):
        svc.deploy(tuned, to="shop", progress=False)
    assert svc.deploy(tuned, to="shop", dry_run=True, progress=False).plan.conflicts
    assert set(svc.read_synonyms(tuned, client=shop)["objectID"]) == {"s"}
    result = svc.deploy(tuned, to="shop", force=True, progress=False)

    assert "and overwritten: settings `hitsPerPage`" in repr(result)
    assert not differs(tuned, shop)


def test_parts_are_chosen_and_records_never_by_default(tuned: str, shop: svc.Client) -> None:
    svc.push([{"objectID": "mine"}], tuned, progress=False)

    svc.deploy(tuned, to="shop", parts=["settings"], progress=False)

    assert shop.get_settings(tuned)["hitsPerPage"] == 7
    assert set(svc.read_synonyms(tuned, client=shop)["objectID"]) == {"s"}
    assert len(svc.read_browse(tuned, client=shop)) == 40


def test_named_records_replace_those_of_the_target_in_one_step(
    tuned: str, shop: svc.Client
) -> None:
    svc.push([{"objectID": "mine", "name": "lamp"}], tuned, progress=False)

    result = svc.deploy(
        tuned, to="shop", parts=["settings", "synonyms", "rules", "records"], progress=False
    )

    assert (result.records, result.verified) == (41, True)
    assert len(svc.read_browse(tuned, client=shop)) == 41
    assert not differs(tuned, shop)
    svc.tuning.undo(tuned, result.change_ids[tuned], client=shop)
    assert shop.get_settings(tuned)["hitsPerPage"] == 20


def test_records_of_a_sample_are_refused(index: str, shop: svc.Client) -> None:
    svc.clone(index, from_="shop", sample=5, progress=False)

    with pytest.raises(BadInput, match="only some records"):
        svc.deploy(index, to="shop", parts=["records"], progress=False)

    assert len(svc.read_browse(index, client=shop)) == 40


def test_replicas_are_deployed_by_name(index: str, shop: svc.Client) -> None:
    svc.set_settings(index, {"replicas": [f"{index}_cheap"]}, client=shop)
    copy = f"try-{index}"
    svc.clone(index, from_="shop", name=copy, replicas=True, progress=False)
    svc.set_settings(f"{copy}_cheap", {"ranking": ["asc(price)"]})
    svc.set_settings(copy, {"replicas": [f"{copy}_cheap", f"virtual({copy}_new)"]})
    svc.set_settings(f"{copy}_new", {"customRanking": ["asc(sold)"]})

    result = svc.deploy(copy, to="shop", name=index, replicas=True, progress=False)

    assert result.verified
    entries = shop.get_settings(index)["replicas"]
    assert entries == [f"{index}_cheap", f"virtual({index}_new)"]
    assert shop.get_settings(f"{index}_cheap")["ranking"] == ["asc(price)"]
    assert shop.get_settings(f"{index}_new")["customRanking"] == ["asc(sold)"]
    assert shop.search(f"{index}_cheap", "")["hits"][0]["objectID"] == "0"


def test_changes_are_forwarded_to_replicas_and_undone_there(tuned: str, shop: svc.Client) -> None:
    replica = f"{tuned}_cheap"
    svc.set_settings(tuned, {"replicas": [replica]}, client=shop)

    result = svc.deploy(tuned, to="shop", forward_to_replicas=True, progress=False)

    assert shop.get_settings(replica)["hitsPerPage"] == 7
    assert shop.get_settings(tuned)["replicas"] == [replica]
    for name, change in result.change_ids.items():
        svc.tuning.undo(name, change, client=shop)
    assert shop.get_settings(replica)["hitsPerPage"] == 20
    assert shop.get_settings(tuned)["hitsPerPage"] == 20


@pytest.mark.parametrize("lacking", ["settings", "editSettings"])
def test_a_key_of_the_target_that_lacks_a_right(
    tuned: str, shop: svc.Client, production: Running, profiles: Path, lacking: str
) -> None:
    before = svc.tuning.snapshot(tuned, client=shop)
    key = make_key(shop, *({"settings", "editSettings"} - {lacking}))
    write_profile(profiles, "weak", production, key)

    with pytest.raises(KeyRefused, match=f"`{lacking}` on the profile `weak`"):
        svc.deploy(tuned, to="weak", progress=False)

    assert svc.tuning.snapshot(tuned, client=shop).hash == before.hash


def test_a_key_that_may_only_change_settings_deploys(
    tuned: str, shop: svc.Client, production: Running, profiles: Path
) -> None:
    write_profile(profiles, "editor", production, make_key(shop, "settings", "editSettings"))

    assert svc.deploy(tuned, to="editor", progress=False).verified
    assert not differs(tuned, shop)


def test_a_second_service_gets_an_index_that_it_does_not_have(shop: svc.Client) -> None:
    name = fill(svc.current(), 3)

    result = svc.deploy(name, to="shop", progress=False)

    assert result.verified
    assert not differs(name, shop)


def test_facets_that_rules_need_are_there_at_every_moment() -> None:
    deltas: Any = {
        "settings": Delta(
            {"attributesForFaceting": ["brand"], "hitsPerPage": 20},
            {"attributesForFaceting": ["searchable(color)"], "hitsPerPage": 5},
        ),
        "rules": Delta({"r": facets_rule("A")}, {"r": facets_rule("red", "color")}),
    }

    assert list_steps(deltas) == [
        ("settings", {"hitsPerPage": 5, "attributesForFaceting": ["searchable(color)", "brand"]}),
        ("rules", {"r": facets_rule("red", "color")}),
        ("settings", {"attributesForFaceting": ["searchable(color)"]}),
    ]


def test_facets_come_to_an_index_that_has_none() -> None:
    deltas: Any = {
        "settings": Delta({"attributesForFaceting": None}, {"attributesForFaceting": ["brand"]}),
        "rules": Delta({"r": None}, {"r": RULE}),
    }

    assert list_steps(deltas) == [
        ("settings", {"attributesForFaceting": ["brand"]}),
        ("rules", {"r": RULE}),
    ]


@pytest.mark.slow
@own_warnings
def test_the_official_client_finds_a_hit_at_every_moment(
    shop: svc.Client, production: Running
) -> None:
    """A rule filters by a facet; the deployment replaces both, with 1,000 rules."""
    index = fill(shop, 60, rules=1000)
    svc.clone(index, from_="shop", progress=False)
    svc.replace_rules(index, [{"objectID": f"n{n}", **facets_rule("10", "sold")}
                              for n in range(1000)])  # fmt: skip
    svc.set_settings(index, {"attributesForFaceting": ["sold"]})
    seen: list[int] = []
    stop = threading.Event()

    def watch() -> None:
        with connect(production, production.searchKey) as client:
            while not stop.is_set():
                seen.append(client.search_single_index(index, {"query": "lamp"}).nb_hits or 0)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        result = svc.deploy(index, to="shop", progress=False)
    finally:
        stop.set()
        watcher.join()

    assert result.verified
    assert len(svc.read_rules(index, client=shop)) == 1000
    assert {30} <= {*seen} <= {30, 1}
    assert len(seen) > 3


def test_a_step_that_fails_reverts_those_before_it(
    tuned: str, shop: svc.Client, while_writing: Callable[..., None]
) -> None:
    before = svc.tuning.snapshot(tuned, client=shop)

    async def fail_at_rules(client: Any, index: str, scope: str, objects: Any) -> None:
        if scope == "rules":
            while_writing()
            raise BadInput("the rules are refused")

    while_writing(before=fail_at_rules)
    with pytest.raises(BadInput, match="rules are refused") as raised:
        svc.deploy(tuned, to="shop", progress=False)

    assert "is as it was" in "".join(raised.value.__notes__)
    assert svc.tuning.snapshot(tuned, client=shop).hash == before.hash


def test_the_command_shows_the_plan_as_json(
    tuned: str,
    service: Running,
    shop: svc.Client,
    profiles: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_profile(profiles, "work", service, service.adminKey)
    words = ["deploy", tuned, "--to", "shop", "--profile", "work"]

    assert main([*words, "--dry-run", "--format", "json"]) == 0
    assert {row["name"] for row in json.loads(capsys.readouterr().out)} == {
        "hitsPerPage", "s", "t", "r0",
    }  # fmt: skip
    assert main(words) == 2
    question = capsys.readouterr().err
    assert f"pass `--yes` to deploy {tuned} to {tuned} (1 setting" in question
    where = shop.connection
    assert f"), profile shop, application {where.app_id} at {where.address}" in question
    assert main([*words, "--yes"]) == 0
    assert "--profile shop` reverts it" in capsys.readouterr().out


def test_a_stopped_deployment_says_its_state(
    tuned: str, shop: svc.Client, while_writing: Callable[..., None]
) -> None:
    async def stop_at_synonyms(client: Any, index: str, scope: str, objects: Any) -> None:
        if scope == "synonyms":
            raise asyncio.CancelledError

    while_writing(before=stop_at_synonyms)
    with pytest.raises(Stopped, match="1 of 3 steps"):
        svc.deploy(tuned, to="shop", progress=False)
    while_writing()

    assert svc.deploy(tuned, to="shop", progress=False).verified
    assert not differs(tuned, shop)


@pytest.mark.slow
def test_a_finished_deployment_is_not_called_interrupted(
    tuned: str, shop: svc.Client, service: Running
) -> None:
    assert not run_killed(service, f"svc.deploy({tuned!r}, to='shop', progress=False)", 1, "after")

    svc.deploy(tuned, to="shop", progress=False)

    plan = svc.deploy(tuned, to="shop", dry_run=True, progress=False).plan
    assert not [note for note in plan.notes if "interrupted" in note]
    assert "open" not in set(svc.tuning.history(tuned, client=shop)["state"])


def test_what_others_change_while_records_are_copied_is_not_lost(
    tuned: str, shop: svc.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    from svc_notebook.tuning.deployment.record_transfer import RecordTransfer

    fill_index, changes = RecordTransfer.fill, [{"maxValuesPerFacet": 33}, {"hitsPerPage": 9}]

    async def fill_slowly(self: RecordTransfer, *given: Any) -> None:
        await fill_index(self, *given)
        if changes:
            await svc.aio.set_settings(tuned, changes.pop(0), client=shop)  # type: ignore[arg-type]

    monkeypatch.setattr(RecordTransfer, "fill", fill_slowly)
    parts = ["settings", "records"]
    with pytest.warns(UserWarning, match="`maxValuesPerFacet` changed on shop"):
        svc.deploy(tuned, to="shop", parts=parts, progress=False)
    assert shop.get_settings(tuned)["maxValuesPerFacet"] == 33
    svc.set_settings(tuned, {"hitsPerPage": 8})

    with pytest.raises(BadInput, match="changed both here and on shop"):
        svc.deploy(tuned, to="shop", parts=parts, progress=False)

    assert shop.get_settings(tuned)["hitsPerPage"] == 9
    again = svc.deploy(tuned, to="shop", parts=parts, force=True, resume=True, progress=False)
    assert (again.records, shop.get_settings(tuned)["hitsPerPage"]) == (40, 8)
    assert not [one for one in svc.read_indices(client=shop)["name"] if f"{tuned}_tmp" in one]


def test_a_key_for_the_primary_alone_writes_nothing(
    index: str, shop: svc.Client, production: Running, profiles: Path
) -> None:
    svc.set_settings(index, {"replicas": [f"{index}_cheap"]}, client=shop)
    svc.clone(index, from_="shop", replicas=True, progress=False)
    svc.set_settings(index, {"hitsPerPage": 7})
    key = make_key(shop, "settings", "editSettings", indexes=[index])
    write_profile(profiles, "narrow", production, key)

    with pytest.raises(KeyRefused, match=r"needs the index .*_cheap"):
        svc.deploy(index, to="narrow", replicas=True, progress=False)

    assert shop.get_settings(index)["hitsPerPage"] == 20


def test_a_reviewed_plan_is_applied_as_it_is(tuned: str, shop: svc.Client, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    planned = svc.deploy(tuned, to="shop", dry_run=True, out=file, progress=False)
    listed = json.loads(file.read_text())["changes"][tuned]
    before = svc.tuning.snapshot(tuned, client=shop)

    svc.set_settings(tuned, {"hitsPerPage": 11}, client=shop)
    with pytest.raises(BadInput, match=r"settings `hitsPerPage` of .* changed since"):
        svc.deploy(plan=file, progress=False)
    svc.set_settings(tuned, {"hitsPerPage": 20}, client=shop)
    svc.set_settings(tuned, {"minProximity": 3})
    with pytest.raises(BadInput, match="settings `minProximity`"):
        svc.deploy(plan=file, progress=False)
    assert svc.tuning.snapshot(tuned, client=shop).hash == before.hash
    svc.set_settings(tuned, {"minProximity": 1})
    with pytest.raises(BadInput, match="`force` is part of the plan"):
        svc.deploy(plan=file, force=True, progress=False)
    result = svc.deploy(plan=file, progress=False)

    assert result.verified
    assert not differs(tuned, shop)
    assert {scope: len(names) for scope, names in listed.items()} == dict(
        planned.plan.changes.groupby("scope")["name"].count()
    )
    assert listed["settings"]["hitsPerPage"] == {"before": 20, "after": 7}
    assert svc.deploy(plan=file, progress=False).plan.empty


def test_an_interrupted_plan_is_finished_by_the_same_call(
    tuned: str, shop: svc.Client, tmp_path: Path
) -> None:
    file = tmp_path / "plan.json"
    svc.deploy(tuned, to="shop", dry_run=True, out=file, progress=False)
    svc.set_settings(tuned, {"hitsPerPage": 7}, client=shop)  # as an interrupted one left it

    assert svc.deploy(plan=file, progress=False).verified
    assert not differs(tuned, shop)


def test_a_plan_file_that_cannot_be_applied_is_refused(tuned: str, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    svc.deploy(tuned, to="shop", dry_run=True, out=file, progress=False)
    moved = {**json.loads(file.read_text()), "address": "https://elsewhere.test"}
    other = tmp_path / "other.json"
    cases: list[tuple[str, dict[str, Any], str]] = [
        (json.dumps(moved), {"plan": other}, "is a plan for the application"),
        ("{}", {"plan": other}, "is not a plan"),
        ("no", {"plan": other}, "is not a plan"),
        ("", {"plan": tmp_path / "none.json"}, "cannot be read"),
        ("", {"index": tuned, "to": "shop", "out": other}, "pass dry_run=True"),
        ("", {"to": "shop"}, "`index` is missing"),
        ("", {"index": tuned, "to": "shop", "out": other, "dry_run": True,
              "parts": ["records"]}, "contains no records"),
    ]  # fmt: skip
    for text, given, message in cases:
        other.write_text(text)
        with pytest.raises(BadInput, match=message):
            svc.deploy(**given, progress=False)


def test_the_command_writes_a_plan_and_asks_before_it_is_applied(
    tuned: str,
    service: Running,
    shop: svc.Client,
    profiles: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_profile(profiles, "work", service, service.adminKey)
    file, last = str(tmp_path / "plan.json"), ["--profile", "work"]

    assert main(["deploy", tuned, "--to", "shop", "--dry-run", "--out", file, *last]) == 0
    assert main(["deploy", "--plan", file, *last]) == 2
    assert f"profile shop, application {shop.connection.app_id}" in capsys.readouterr().err
    assert main(["deploy", "--plan", file, "--yes", *last]) == 0
    assert not differs(tuned, shop)

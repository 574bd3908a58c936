"""Every command that changes an index, killed before and after each of its requests.

The same command then leads to the state that it is for, or one undo back to the state before, and
at every kill point a search finds hits: no facet is removed before the rules that filter by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import svc_notebook as svc
from svc_notebook import tuning
from tests.conftest import Running
from tests.kill_points import FIRST, SECOND, Moment, run_killed
from tests.tuning.deployment.conftest import write_profile
from tests.tuning.shop import PRODUCTS, hits


@dataclass(frozen=True)
class Command:
    """A call, and the number of its requests that write; `deploys` if the workshop is current.

    It leads from the first configuration to the second, or with `back` from the second to the
    first; with `records`, it replaces the records, too. `undone` if one undo reverts it.
    """

    call: str
    writes: int
    deploys: bool = False
    back: bool = False
    records: bool = False
    undone: bool = True


DEPLOY = "svc.deploy({index!r}, to='shop', progress=False"
PROMOTE = """
with svc.tuning.scratch({index!r}) as copy:
    svc.tuning.apply(copy.name, {second!r})
    copy.promote()
"""
APPLY_FILES = """
from svc_notebook.faces.cli import main
sys.exit(main(['apply-config', {folder!r}, '--profile', 'shop', '--yes']))
"""
# Of a configuration, four requests write: settings, synonyms, rules, and the facets that go.
COMMANDS = {
    "undo": Command("svc.tuning.undo({index!r})", 4, back=True),
    "undo by id": Command("svc.tuning.undo({index!r}, {change!r})", 4, back=True),
    "apply": Command("svc.tuning.apply({index!r}, {second!r})", 4),
    "restore": Command("svc.tuning.restore({index!r}, {snapshot!r})", 4),
    "promote": Command(PROMOTE, 10),
    "deploy": Command(f"{DEPLOY})", 4, deploys=True),
    "deploy --plan": Command("svc.deploy(plan={plan!r}, progress=False)", 4, deploys=True),
    # The copy, its configuration, and the move.
    "deploy --atomic": Command(f"{DEPLOY}, atomic=True)", 6, deploys=True),
    "deploy records": Command(
        f"{DEPLOY}, resume=True, parts=['settings', 'synonyms', 'rules', 'records'])",
        10, deploys=True, records=True,
    ),
    "apply-config": Command(APPLY_FILES, 4),
    "clone": Command(
        "svc.clone({index!r}, from_='work', progress=False, resume=True, if_exists='replace')",
        5, records=True, undone=False,
    ),
}  # fmt: skip
POINTS = [
    pytest.param(name, write, moment, id=f"{name}-{moment}-{write + 1}")
    for name, command in COMMANDS.items()
    for write in range(command.writes)
    for moment in ("before", "after")
]
INTERRUPTED = "ignore:the (change|`apply-config`) .*was interrupted"


@dataclass(frozen=True)
class Scene:
    """An index of the production in the first configuration, and in the workshop in the second."""

    index: str
    shop: svc.Client
    workshop: Running
    production: Running
    folder: Path

    def prepare(self, name: str) -> tuple[Any, Any]:
        """Lead the production to where a command begins; return the states before and after."""
        first = self.state()
        records = first[0] + COMMANDS[name].records
        tuning.apply(self.index, SECOND, note="yesterday", client=self.shop)
        tuning.snapshot(self.index, client=self.shop).save(self.folder / "second.json")
        second = self.state()
        if COMMANDS[name].back:
            return second, first
        tuning.undo(self.index, client=self.shop)
        assert self.state() == first
        if name == "deploy --plan":
            svc.deploy(self.index, to="shop", dry_run=True, out=self.folder / "plan.json")
        return first, (records, second[1])

    def run(self, name: str, write: int, moment: Moment) -> bool:
        """Run a command that is killed; return whether it finished before."""
        change = next(
            (row.change_id for row in self.history().itertuples() if row.note == "yesterday"), ""
        )
        call = COMMANDS[name].call.format(
            index=self.index, change=change, second=SECOND, folder=str(self.folder / "files"),
            snapshot=str(self.folder / "second.json"), plan=str(self.folder / "plan.json"),
        )  # fmt: skip
        running = self.workshop if COMMANDS[name].deploys else self.production
        return run_killed(running, call, write, moment)

    def history(self) -> Any:
        """The journal of the production's index."""
        return tuning.history(self.index, client=self.shop)

    def state(self) -> tuple[int, str]:
        """The number of records of the production's index, and the digest of its configuration."""
        digest = tuning.snapshot(self.index, client=self.shop).hash
        return len(svc.read_browse(self.index, client=self.shop)), digest

    def check_searches(self) -> None:
        """Check that the filter of the rule in use has its facet."""
        assert hits(self.index, "lamp", self.shop)

    def check_finished(self) -> None:
        """Check that nothing is left open or in temporary indices."""
        history = self.history()
        assert history.attrs["svc"]["interrupted"] == []
        assert "open" not in set(history["state"])
        names = svc.read_indices(client=self.shop)["name"]
        assert not [name for name in names if f"{self.index}_tmp" in name]


@pytest.fixture
def scene(
    profiles: Path, shop: svc.Client, service: Running, production: Running, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Scene:  # fmt: skip
    for name in ("XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    write_profile(profiles, "work", service, service.adminKey)
    index = f"killed-{uuid4().hex[:8]}"
    svc.push(PRODUCTS, index, client=shop, progress=False)
    tuning.apply(index, FIRST, note="a week ago", client=shop)
    svc.clone(index, from_="shop", progress=False)
    tuning.apply(index, SECOND)
    svc.pull_config(tmp_path / "files", index)
    svc.push([{"objectID": "6", "name": "oak lamp", "brand": "Acme"}], index, progress=False)
    return Scene(index, shop, service, production, tmp_path)


@pytest.mark.filterwarnings(INTERRUPTED)
@pytest.mark.parametrize(("name", "write", "moment"), POINTS)
@pytest.mark.sampled(23, quick=6)
@pytest.mark.timeout(300)
def test_a_killed_command_is_finished_by_the_same_command(
    scene: Scene, name: str, write: int, moment: Moment
) -> None:
    before, after = scene.prepare(name)

    assert not scene.run(name, write, moment)

    left = scene.state()
    scene.check_searches()
    assert left[0] in (before[0], after[0])
    if left[1] not in (before[1], after[1]):
        assert scene.history().attrs["svc"]["interrupted"]
        if name == "deploy":
            plan = svc.deploy(scene.index, to="shop", dry_run=True, progress=False).plan
            assert "was interrupted (change " in "".join(plan.notes)
    assert scene.run(name, 2 * COMMANDS[name].writes, "before")
    assert scene.state() == after
    scene.check_finished()
    if COMMANDS[name].undone:
        tuning.undo(scene.index, scene.history()["change_id"].iloc[0], client=scene.shop)
        assert scene.state() == (after[0], before[1])


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.sampled(3)
@pytest.mark.timeout(300)
def test_the_table_has_every_request_of_a_command(scene: Scene, name: str) -> None:
    _, after = scene.prepare(name)

    assert scene.run(name, COMMANDS[name].writes, "before")

    assert scene.state() == after
    scene.check_finished()


REVERTED = [
    pytest.param(name, write, id=f"{name}-after-{write + 1}")
    for name, command in COMMANDS.items()
    if command.undone and not command.back
    for write in range(command.writes)
]


@pytest.mark.filterwarnings(INTERRUPTED)
@pytest.mark.parametrize(("name", "write"), REVERTED)
@pytest.mark.sampled(8, quick=3)
@pytest.mark.timeout(300)
def test_a_killed_command_is_reverted_by_one_undo(scene: Scene, name: str, write: int) -> None:
    before, _ = scene.prepare(name)
    scene.run(name, write, "after")
    if scene.state()[1] == before[1] and not scene.history().attrs["svc"]["interrupted"]:
        return  # nothing was changed yet

    tuning.undo(scene.index, client=scene.shop)

    assert scene.state()[1] == before[1]
    scene.check_searches()
    assert scene.history().attrs["svc"]["interrupted"] == []

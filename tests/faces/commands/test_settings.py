"""Settings: changed, compared, reset, on a real service."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.errors import BadInput, UnknownAttributeWarning
from tests.faces.commands.conftest import Typed


@pytest.fixture
def index(admin: svc.Client, tmp_path: Path) -> str:
    """An index of this test's own, with two settings."""
    name = f"settings-{tmp_path.name}"
    svc.push(pd.DataFrame({"objectID": ["1"], "name": ["lamp"]}), name)
    svc.settings(name, hitsPerPage=7, searchableAttributes=["name"])
    return name


def differing(frame: pd.DataFrame) -> dict[str, list[Any]]:
    return {row[0]: list(row[1:]) for row in frame.itertuples(index=False)}


def test_settings_come_from_file_body_and_line(typed: Typed, index: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"hitsPerPage": 8, "attributesToIndex": ["brand"], "primary": "x"}')

    with pytest.warns(UnknownAttributeWarning, match="`brand`"):
        done = typed(f"settings set {index} --file {path} --minProximity 2", "maxValuesPerFacet: 5")

    assert differing(done) == {
        "hitsPerPage": [7, 8],
        "searchableAttributes": [["name"], ["brand"]],
        "maxValuesPerFacet": [100, 5],
        "minProximity": [None, 2],
    }


@pytest.mark.parametrize("former", [None, ["brand"]])
def test_a_current_name_takes_precedence_over_a_former_one(
    typed: Typed, index: str, tmp_path: Path, former: Any
) -> None:
    """As in the files of the service's command-line client."""
    searched = ["name", "brand"]
    exported = {"searchableAttributes": searched, "attributesToIndex": former, "version": 2}
    path = tmp_path / "settings.json"
    path.write_text(json.dumps(exported))

    with pytest.warns(UnknownAttributeWarning, match="`brand`"):
        done = typed(f"settings set {index} --file {path}")

    assert differing(done) == {"searchableAttributes": [["name"], searched]}


def test_settings_come_as_a_dict_too(index: str) -> None:
    done = svc.set_settings(index, {"hitsPerPage": 5, "minProximity": 3}, minProximity=2)

    assert differing(done) == {"hitsPerPage": [7, 5], "minProximity": [None, 2]}
    with pytest.raises(BadInput, match="settings must be a dict"):
        svc.set_settings(index, ["hitsPerPage"])  # type: ignore[arg-type]


def test_settings_come_from_a_variable(typed: Typed, index: str) -> None:
    typed(f"settings set {index} --params held", held={"hitsPerPage": 9})

    assert differing(typed(f"settings diff {index}"))["hitsPerPage"] == [9, 20]


def test_change_is_forwarded_to_replicas_on_request(typed: Typed, admin: svc.Client) -> None:
    sent: list[Any] = []
    perform = admin.aio.sender.send

    async def send(endpoint: Any, spec: Any) -> Any:
        sent.append((endpoint.name, spec.query))
        return await perform(endpoint, spec)

    admin.aio.sender.send = send  # type: ignore[method-assign]
    typed("settings set settings-replicas --hitsPerPage 3 --forwardToReplicas")
    typed("settings settings-replicas --hitsPerPage 4")

    written = [query for name, query in sent if name == "set_settings"]
    assert [query["forwardToReplicas"] for query in written] == ["true", "false"]


def test_settings_are_compared_with_the_defaults(typed: Typed, index: str) -> None:
    found = differing(typed(f"settings diff {index}"))

    assert found == {"hitsPerPage": [7, 20], "searchableAttributes": [["name"], []]}


def test_settings_are_compared_with_another_index(typed: Typed, index: str) -> None:
    other = f"{index}-other"
    svc.copy_index(index, other)
    svc.settings(other, hitsPerPage=3, ranking=["typo", "custom"])

    frame = typed(f"settings diff {index} {other}")

    assert list(frame.columns) == ["setting", index, other]
    assert set(frame["setting"]) == {"hitsPerPage", "ranking"}


@pytest.mark.parametrize("way", ["--file {}", "--from held"])
def test_settings_are_compared_with_a_file_or_a_variable(
    typed: Typed, index: str, tmp_path: Path, way: str
) -> None:
    held = {"hitsPerPage": 7, "searchableAttributes": ["name", "brand"]}
    (tmp_path / "held.json").write_text(json.dumps(held))

    frame = typed(f"settings diff {index} {way.format(tmp_path / 'held.json')}", held=held)

    assert differing(frame) == {"searchableAttributes": [["name"], ["name", "brand"]]}


def test_one_setting_is_put_back(typed: Typed, index: str) -> None:
    done = typed(f"settings reset {index} hitsPerPage --yes")

    assert differing(done)["hitsPerPage"][0] == 7
    assert set(typed(f"settings diff {index}")["setting"]) == {"searchableAttributes"}


def test_all_settings_are_put_back(typed: Typed, index: str) -> None:
    typed(f"settings reset {index} --yes")

    assert len(typed(f"settings diff {index}")) == 0
    assert len(typed(f"settings reset {index} --yes")) == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("settings reset {} hitPerPage --yes", "`hitPerPage` is not a setting; did you mean"),
        ("settings diff {} other --file a.json", "are both given"),
        ("settings diff {} --file nowhere.json", "cannot be read"),
        ("settings set {}", "no settings to change"),
        ("settings set {} --file {}", "cannot be read"),
        ("settings sett {}", "`sett`|unexpected argument"),
    ],
)
def test_mistake_is_an_error(typed: Typed, index: str, line: str, message: str) -> None:
    with pytest.raises(svc.errors.BadInput, match=message):
        typed(line.replace("{}", index))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "must contain a JSON object"),
        ("{", "not valid JSON"),
        ('{"hitPerPage": 1}', "did you mean `hitsPerPage`"),
    ],
)
def test_file_without_settings_is_refused(
    typed: Typed, index: str, tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "a.json").write_text(text)

    with pytest.raises(svc.errors.BadInput, match=message):
        typed(f"settings set {index} --file {tmp_path / 'a.json'}")

"""Each supported parameter changes a response, as a parameter and as a setting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from svc_notebook.core.api.parameters import PARAMETERS
from svc_notebook.service.app import App
from svc_notebook.service.service import Service
from tests.conftest import Inside
from tests.service.parameter_examples import SCENES, Scene

# What a scene of one answer cannot show, and the test that does.
ELSEWHERE = {
    "enableABTest": "test_ab_tests.py",
    "userToken": "test_keys.py",
    "mode": "test_neural_search.py",
    "semanticSearch": "test_neural_search.py",
    "analytics": "test_search_counts.py",
    "analyticsTags": "test_search_counts.py",
}
WORKING = [name for name, one in PARAMETERS.items() if one.effect == "works"]
WAYS = [
    (name, way)
    for name in WORKING
    for way in ("parameter", "setting")
    if PARAMETERS[name].scope in (way, "both") and name not in ELSEWHERE
]


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inside]:
    service = Service(tmp_path_factory.mktemp("parameters"))
    service.start()
    app = App(service)
    yield Inside(app)
    app.close()
    service.stop()


def test_every_supported_parameter_has_a_scene() -> None:
    assert sorted(WORKING) == sorted(name for name in (*SCENES, *ELSEWHERE) if name in WORKING)
    assert SCENES.keys() | ELSEWHERE.keys() <= PARAMETERS.keys()


@pytest.mark.parametrize(("name", "way"), WAYS)
def test_a_parameter_has_its_documented_effect(inside: Inside, name: str, way: str) -> None:
    scene, index = SCENES[name], f"{name}-{way}"
    stage(inside, scene, index)
    value = [f"{index}-replica"] if name == "replicas" else scene.value

    before = show(inside, scene, index, {})
    if way == "setting":
        inside.done("PUT", f"/1/indexes/{index}/settings", {name: value})
    after = show(inside, scene, index, {name: value} if way == "parameter" else {})

    assert scene.see(before) == scene.before
    assert scene.see(after) == scene.after


def stage(inside: Inside, scene: Scene, index: str) -> None:
    """Put a scene's records, synonyms and rules into an index of its own."""
    primary = f"{index}-primary" if scene.index == "virtual" else index
    path = f"/1/indexes/{primary}"
    inside.fill(primary, *scene.records, **scene.settings)
    if scene.synonyms:
        inside.done("POST", f"{path}/synonyms/batch", list(scene.synonyms))
    if scene.rules:
        inside.done("POST", f"{path}/rules/batch", list(scene.rules))
    if scene.index == "virtual":
        inside.fill(primary, replicas=[f"virtual({index})"])


def show(inside: Inside, scene: Scene, index: str, more: dict[str, Any]) -> dict[str, Any]:
    shown = f"{index}-replica" if scene.index == "replica" else index
    verb = f"facets/{scene.facet}/query" if scene.facet else "query"
    key = inside.facts["searchKey"]
    answer = inside.call("POST", f"/1/indexes/{shown}/{verb}", {**scene.params, **more}, key=key)
    return dict(answer.json())

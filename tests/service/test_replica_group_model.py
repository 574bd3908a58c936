"""Indices and replicas agree with a simple model after any operations."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from svc_notebook.service.app import App
from svc_notebook.service.indices.published_index import PublishedIndex
from svc_notebook.service.service import Service
from tests.conftest import Inside, wait_published

NAMES = ["a", "b", "c", "d", "e"]
FACETS = [["n"], ["objectID"], []]
STEPS = 50


class Model:
    """Indices as the rules have them: records by name, and who follows whom."""

    def __init__(self) -> None:
        self.records: dict[str, dict[str, int]] = {}
        self.primary_id: dict[str, str] = {}
        self.virtual: set[str] = set()

    def replicas(self, name: str) -> list[str]:
        return [one for one, leader in self.primary_id.items() if leader == name]

    def held(self, name: str) -> dict[str, int]:
        return self.records[self.primary_id.get(name, name)]

    def exists(self, name: str) -> bool:
        return name in self.records or name in self.primary_id

    def free(self, name: str) -> None:
        self.records[name] = dict(self.held(name))
        del self.primary_id[name]
        self.virtual.discard(name)

    def put(self, name: str, key: str, n: int) -> int:
        if name in self.primary_id:
            return 403
        self.records.setdefault(name, {})[key] = n
        return 200

    def delete(self, name: str) -> int:
        if name in self.primary_id:
            return 403
        for replica in self.replicas(name):
            self.free(replica)
        self.records.pop(name, None)
        return 200

    def link(self, name: str, links: list[str]) -> int:
        named = [text.removeprefix("virtual(").removesuffix(")") for text in links]
        if len(set(named)) < len(named) or name in named or (links and name in self.primary_id):
            return 400
        for other in named:
            if self.primary_id.get(other, name) != name or self.replicas(other):
                return 400
        if name in self.primary_id:
            return 200
        self.records.setdefault(name, {})
        for replica in self.replicas(name):
            if replica not in named:
                self.free(replica)
        for other, text in zip(named, links, strict=True):
            self.records.pop(other, None)
            self.primary_id[other] = name
            self.virtual.discard(other)
            self.virtual |= {other} if text != other else set()
        return 200

    def copy(self, source: str, target: str) -> int:
        if target in self.primary_id:
            return 403
        if self.replicas(target):
            return 400
        self.records[target] = dict(self.held(source)) if self.exists(source) else {}
        return 200

    def move(self, source: str, target: str) -> int:
        if source in self.primary_id or target in self.primary_id:
            return 403
        if source in self.records:
            self.records[target] = self.records.pop(source)
            for replica in self.replicas(source):
                self.primary_id[replica] = target
        return 200


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_replica_groups_agree_with_a_model(tmp_path: Path, seed: int) -> None:
    random, model = Random(seed), Model()
    service, inside = start(tmp_path)

    for number in range(STEPS):
        take_step(random, model, inside, number)
        if number % 10 == 9:
            check(model, inside, f"seed {seed}, step {number}")
        if number == STEPS // 2:
            save_all(service)
            stop(service, inside)
            service, inside = start(tmp_path)

    stop(service, inside)
    service, inside = start(tmp_path)
    check(model, inside, f"seed {seed}, at the end")
    stop(service, inside)


def take_step(random: Random, model: Model, inside: Inside, number: int) -> None:
    """Do one thing to both, and compare how it went."""
    name, other = random.sample(NAMES, 2)
    kind = random.choice(["put", "put", "put", "facets", "link", "link", "copy", "move", "delete"])
    path = f"/1/indexes/{name}"
    body: dict[str, Any] = {}
    if kind == "put":
        key = str(random.randint(1, 6))
        expected = model.put(name, key, number)
        verb, path, body = "PUT", f"{path}/{key}", {"n": number}
    elif kind == "delete":
        expected, verb = model.delete(name), "DELETE"
    elif kind == "link":
        some = random.sample(NAMES, random.randint(0, 2))
        links = [random.choice([one, f"virtual({one})"]) for one in some]
        expected = model.link(name, links)
        verb, path, body = "PUT", f"{path}/settings", {"replicas": links}
    elif kind == "facets":
        if name in model.virtual:
            return
        model.records.setdefault(name, {}) if name not in model.primary_id else None
        expected = 200
        body = {"attributesForFaceting": random.choice(FACETS), "customRanking": ["desc(n)"]}
        verb, path = "PUT", f"{path}/settings"
    else:
        expected = model.copy(name, other) if kind == "copy" else model.move(name, other)
        verb, path, body = "POST", f"{path}/operation", {"operation": kind, "destination": other}
    answer = inside.call(verb, path, body or None)
    told = f"step {number}: {kind} {name} {other} {body}: {answer.text}"
    assert (answer.status_code if answer.is_error else 200) == expected, told
    if answer.is_success:
        wait_published(inside.app.service, answer.json()["taskID"])


def check(model: Model, inside: Inside, when: str) -> None:
    entries = {item["name"]: item for item in inside.call("GET", "/1/indexes").json()["items"]}
    assert entries.keys() == {name for name in NAMES if model.exists(name)}, when
    for name, entry in entries.items():
        held, told = model.held(name), f"{when}, index {name}"
        stored = inside.call("POST", f"/1/indexes/{name}/browse", {"query": ""}).json()["hits"]
        assert {hit["objectID"]: hit["n"] for hit in stored} == held, told
        assert set(inside.ids(name)) == held.keys(), told
        assert {n: inside.ids(name, filters=f"n = {n}") for n in held.values()} == {
            n: [key] for key, n in held.items()
        }, told
        assert entry["entries"] == len(held), told
        assert entry.get("primary") == model.primary_id.get(name), told
        assert entry.get("replicas", []) == sorted(model.replicas(name)), told
        assert entry.get("virtual", False) == (name in model.virtual), told


def start(folder: Path) -> tuple[Service, Inside]:
    service = Service(folder)
    service.start()
    return service, Inside(App(service))


def stop(service: Service, inside: Inside) -> None:
    inside.app.close()
    service.stop()


def save_all(service: Service) -> None:
    for index in service.catalog.unsaved():
        service.catalog.save(index)


def test_a_withdrawn_index_is_its_own_replica_group(tmp_path: Path) -> None:
    service = Service(tmp_path)
    lost = PublishedIndex(99, "gone")

    assert service.catalog.replica_group(lost) == [lost]
    service.store.close()

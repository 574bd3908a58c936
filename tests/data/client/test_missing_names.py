"""Errors about what does not exist name it, although services leave the name out."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

import pytest

import svc_notebook as svc
from svc_notebook.data.client import Client, ClientConfig, Secret
from svc_notebook.errors import NotFound
from tests.conftest import Running


@pytest.fixture(scope="module")
def client(service: Running) -> Client:
    return Client(ClientConfig(service.appId, Secret(service.adminKey), url=service.url))


@pytest.fixture(scope="module")
def index(client: Client) -> str:
    name = f"missing/names {secrets.token_hex(4)}"
    client.wait(client.add_object(name, {"objectID": "1"}))
    return name


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda c, i: c.get_object(i, "a/b"), "ObjectID does not exist: `a/b` in `{}`"),
        (lambda c, i: c.get_rule(i, "r"), "ObjectID does not exist: `r` in `{}`"),
        (lambda c, i: c.get_synonym(i, "s"), "Synonym set does not exist: `s` in `{}`"),
        (lambda c, i: c.get_settings("nowhere"), "Index does not exist: `nowhere`"),
        (lambda c, i: svc.read_synonyms("nowhere", client=c), "Index does not exist: `nowhere`"),
        (lambda c, i: svc.read_rules("nowhere", client=c), "Index does not exist: `nowhere`"),
        (lambda c, i: list(c.iterate_rules("nowhere")), "Index does not exist: `nowhere`"),
        (lambda c, i: list(c.iterate_synonyms("nowhere")), "Index does not exist: `nowhere`"),
    ],
)
def test_an_error_names_what_does_not_exist(
    client: Client, index: str, call: Callable[[Client, str], Any], words: str
) -> None:
    with pytest.raises(NotFound) as caught:
        call(client, index)

    assert str(caught.value) == words.format(index)


def test_an_index_without_synonyms_and_rules_is_no_error(client: Client, index: str) -> None:
    assert svc.read_synonyms(index, client=client).empty
    assert svc.read_rules(index, client=client).empty

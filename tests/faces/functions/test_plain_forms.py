"""Values in the short form that people type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import svc_notebook as svc
from svc_notebook.core.api.values import read_seconds
from svc_notebook.data.client import ClientConfig, Secret
from svc_notebook.data.client.hosts import read_address
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.errors import BadInput
from svc_notebook.faces.commands.binding import bind_words
from svc_notebook.faces.commands.registry import pick_verb
from svc_notebook.faces.functions.crawler_configuration import config_of_address
from svc_notebook.faces.functions.documents import synonyms_of_words

ANY_CLIENT = svc.Client(ClientConfig(url="http://127.0.0.1:9", app_id="A", api_key=Secret("k")))
SOFA = {"type": "synonym", "synonyms": ["sofa", "couch"]}
TV = {"type": "oneWaySynonym", "input": "tv", "synonyms": ["television", "screen"]}


@pytest.mark.parametrize(
    ("words", "synonyms"),
    [
        (["sofa", "couch"], [SOFA]),
        ("sofa, couch", [SOFA]),
        ("tv => television, screen", [TV]),
        ("sofa, couch\ntv => television, screen\n", [SOFA, TV]),
        (["sofa,couch", "tv=>television,screen"], [SOFA, TV]),
    ],
)
def test_words_are_synonyms(words: Any, synonyms: list[Any]) -> None:
    assert synonyms_of_words(words) == synonyms


@pytest.mark.parametrize("given", ["a.csv", "sofa", [], [SOFA], SOFA, Path("a,b")])
def test_other_values_are_no_words(given: Any) -> None:
    assert synonyms_of_words(given) == given


def test_a_file_with_commas_in_its_name_is_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a,b").write_text("")

    assert synonyms_of_words("a,b") == "a,b"


def test_words_that_are_no_file_are_answered_with_the_forms_to_pass() -> None:
    with pytest.raises(BadInput, match=r"no file 'sofa,couch'; pass rules as objects, a DataFrame"):
        svc.save_rules("products", "sofa,couch", client=ANY_CLIENT)
    with pytest.raises(BadInput, match="or words such as 'sofa, couch'"):
        svc.save_synonyms("products", "sofa", client=ANY_CLIENT)
    with pytest.raises(BadInput, match=r"no file 'products'; .*measure\(index, judgments\)"):
        svc.tuning.evaluate("products", "judgments.csv")


def test_durations_are_seconds() -> None:
    written = {"24h": 86_400, "7d": 604_800, "30min": 1800, "90": 90, "1w": 604_800, 5: 5}

    assert {text: read_seconds(text, "validity") for text in written} == written
    with pytest.raises(BadInput, match="`validity` must be seconds, or a duration such as 30min"):
        read_seconds("soon", "validity")
    verb, words = pick_verb(["keys", "add", "--validity", "24h"], "command")
    assert bind_words(verb, words, "command").arguments["validity"] == 86_400


def test_pairs_are_options_by_column() -> None:
    given = {"dtype": "price=number,sku=string", "operations": "stock=increment"}

    settings = LoadSettings.of({**given, "action": "update"})

    assert settings.dtype == {"price": "number", "sku": "string"}
    assert settings.operations == {"stock": "Increment"}
    with pytest.raises(BadInput, match="`dtype` must be a dict by column"):
        LoadSettings.of({"dtype": "price"})


def test_a_host_and_port_is_an_address() -> None:
    written = {
        "127.0.0.1:8080": "http://127.0.0.1:8080",
        "localhost:8080/": "http://localhost:8080",
        "localhost": "http://localhost",
        "search.example:8443": "https://search.example:8443",
        "127.0.0.1.example": "https://127.0.0.1.example",
    }

    assert {text: read_address(text) for text in written} == written


def test_a_start_address_is_a_configuration_of_all_pages_below() -> None:
    pages = {
        address: config_of_address("docs", address)["actions"][0]["pathsToMatch"]
        for address in (
            "https://a.example", "https://a.example/", "https://a.example/docs/start.html?x=1",
        )
    }  # fmt: skip

    assert [*pages.values()] == [
        ["https://a.example/**"], ["https://a.example/**"], ["https://a.example/docs/**"],
    ]  # fmt: skip

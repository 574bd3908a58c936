"""Completion inside a call."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import svc_notebook as svc
from svc_notebook import tuning
from svc_notebook.faces.commands.call_completion import complete_call, scan
from svc_notebook.faces.functions.blocking import search
from tests.faces.commands.test_completion import Known

VARIABLES: dict[str, Any] = {
    "svc": svc, "tuning": tuning, "find": search, "sys": sys, "shop": "products", "n": 3,
    "open": open,
}  # fmt: skip


def told(code: str) -> tuple[str, list[str], bool] | None:
    found = complete_call(code, VARIABLES, Known())
    return found and (found.suggestions.fragment, found.suggestions.texts, found.alone)


@pytest.mark.parametrize(
    ("code", "fragment", "texts"),
    [
        ('svc.search("fi', "fi", ["films"]),
        ("svc.search('fi", "fi", ["films"]),
        ("x = await svc.aio.search('fi", "fi", ["films"]),
        ('find("tw', "tw", ["two words"]),
        ('svc.search(\n    "fi', "fi", ["films"]),
        ('svc.read_browse(index="pro', "pro", ["products"]),
        ('svc.search("products", facets=["br', "br", ["brand"]),
        ('svc.search("products", facets=["brand", "co', "co", ["colour"]),
        ('svc.search("products", attributesToRetrieve=["na', "na", ["name"]),
        ("svc.search(shop, attributesToRetrieve=['na", "na", ["name"]),
        ('svc.search("products", filters="br', "br", ["brand"]),
        ('svc.search("films", filters="year > 3 AND genre:Ho', "Ho", ["Horror"]),
        ('svc.search("films", queryType="prefixL', "prefixL", ["prefixLast"]),
        ('svc.set_settings("films", customRanking=["desc(ye', "ye", ["year"]),
        ('svc.set_settings("films", ranking=["ty', "ty", ["typo"]),
        ('svc.copy_index("films", "pro', "pro", ["products"]),
        ('svc.delete_synonyms("films", ["pa', "pa", ["pair-of-films"]),
        ('svc.load("da', "da", ["data/"]),
        ('svc.plan("data.csv", "fi', "fi", ["films"]),
        ('svc.tuning.history("fi', "fi", ["films"]),
        ('tuning.undo("fi', "fi", ["films"]),
        ('svc.edit.rules("fi', "fi", ["films"]),
        ('svc.edit("fi', "fi", ["films"]),
        ('svc.pin("fi', "fi", ["films"]),
        ('svc.search("films", "some wor', "wor", []),  # a query is anything, and no file
    ],
)
def test_string_is_completed_with_names(code: str, fragment: str, texts: list[str]) -> None:
    found = told(code)

    assert found is not None
    assert found[2]
    assert found[1] == texts
    assert not texts or found[0] == fragment


@pytest.mark.parametrize(
    ("code", "fragment", "some"),
    [
        ('svc.search("films", hitsP', "hitsP", ["hitsPerPage="]),
        ('svc.search("films", "x", queryLang', "queryLang", ["queryLanguages="]),
        ("svc.search(", "", ['"films"', '"products"', '"two words"', "index=", "query="]),
        ('svc.search("films", typoTolerance=', "", ['"min"', '"strict"', "True", "False"]),
        ('svc.search("films", enableRules=T', "T", ["True"]),
        ('svc.set_settings("films", searchableA', "searchableA", ["searchableAttributes="]),
        ('svc.save_rules("films", rules, forw', "forw", ["forwardToReplicas="]),
        ("svc.search_many(index=", "", ['"films"']),
    ],
)
def test_argument_names_are_completed_with_those_of_python(
    code: str, fragment: str, some: list[str]
) -> None:
    found = told(code)

    assert found is not None
    assert found[0] == fragment
    assert not found[2]
    assert set(some) <= set(found[1])


def test_what_is_given_is_not_offered_again() -> None:
    found = told('svc.search("films", hitsPerPage=3, hitsP')

    assert found is None


@pytest.mark.parametrize(
    "code",
    [
        "", "svc.search", 'open("fi', 'sys.exit("fi', 'svc.nothing("fi', 'other.search("fi',
        'svc.search("films") + open("fi', 'svc.search("films", len("fi', "svc.search('films'); x",
        '# svc.search("fi', 'text = "svc.search(', 'svc.search(f"fi', 'svc.search("films", n + ',
        'n.search("fi', 'svc.search("films", unknown="fi', "def f(svc):\n  'it",
        'svc . search("films")',
    ],
)  # fmt: skip
def test_nothing_is_printed_elsewhere(code: str) -> None:
    assert told(code) is None


def test_names_are_read_without_importing() -> None:
    class Trap:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(name)

    trap = {"svc": svc, "df": type("Frame", (), {"svc": property(lambda self: 1 / 0)})()}

    assert complete_call('df.svc.search("fi', trap, Known()) is None


@given(st.text(st.sampled_from("svc.earh()[]{}\"'\\\n,=# fi"), max_size=60))
def test_no_code_breaks_it(code: str) -> None:
    typed = scan(f"svc.search({code}")
    complete_call(f"svc.search({code}", VARIABLES, Known())

    assert all(code[place - 11 : place - 10] in "([{" for place in typed.brackets if place > 10)

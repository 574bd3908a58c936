"""A setting that names an unknown attribute is set with a warning, by every function."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest

import svc_notebook as svc
from svc_notebook.core.api.attributes import NAMING, has_attribute, name_attributes
from svc_notebook.core.api.parameters import SearchParams, Settings
from svc_notebook.core.api.validation import hints
from svc_notebook.data.client import Client
from svc_notebook.errors import UnknownAttributeWarning
from svc_notebook.faces.magics.extension import run as run_magic
from tests.conftest import Running, set_current
from tests.faces.editors.conftest import connect

RECORD: dict[str, Any] = {
    "objectID": "1", "Title": "Jaws", "Description": "a shark", "Year": 1975, "_tags": ["sea"],
    "crew": [{"name": "Steven", "job": {"title": "director"}}],
}  # fmt: skip
# Each with an attribute that is not there, written in each way that the setting allows.
WRONG: dict[str, list[Any]] = {
    "searchableAttributes": [
        ["Descripton"], ["Title,Descripton"], ["unordered(Descripton)"], ["crew.nme"],
    ],
    "attributesForFaceting": [
        ["Descripton"], ["searchable(Descripton)"], ["filterOnly(Descripton)"],
        ["afterDistinct(searchable(Descripton))"],
    ],
    "customRanking": [["desc(Descripton)"], ["asc(Descripton)"]],
    "ranking": [["typo", "desc(Descripton)", "custom"]],
    "attributesToRetrieve": [["Descripton"], ["*", "-Descripton"]],
    "attributesToHighlight": [["Descripton"]],
    "attributesToSnippet": [["Descripton"], ["Descripton:10"]],
    "unretrievableAttributes": [["Descripton"]],
    "numericAttributesForFiltering": [["Descripton"], ["equalOnly(Descripton)"]],
    "attributeForDistinct": ["Descripton"],
    "disableTypoToleranceOnAttributes": [["Descripton"]],
    "disableExactOnAttributes": [["Descripton"]],
    "disablePrefixOnAttributes": [["Descripton"]],
    "attributesToTransliterate": [["Descripton"]],
    "camelCaseAttributes": [["Descripton"]],
    "decompoundedAttributes": [{"de": ["Title", "Descripton"]}],
}  # fmt: skip
PARAMETERS_ONLY = {"restrictSearchableAttributes", "facets"}
CASES = [(name, value) for name, values in WRONG.items() for value in values]


@pytest.fixture
def client(service: Running) -> Iterator[Client]:
    with connect(service) as client:
        set_current(client)
        yield client


@pytest.fixture
def index(client: Client) -> str:
    name = f"unknown-{uuid4().hex[:8]}"
    client.replace_all(name, [RECORD])
    return name


def right(value: Any) -> Any:
    """The same with attributes that are there."""
    if isinstance(value, dict):
        return {key: right(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [right(inner) for inner in value]
    return value.replace("Descripton", "Description").replace("nme", "name")


@pytest.mark.parametrize(("name", "value"), CASES, ids=lambda case: str(case))
def test_a_setting_that_names_no_attribute_is_warned_of_and_set(
    index: str, name: str, value: Any
) -> None:
    wanted: Any = {name: value}

    with pytest.warns(UnknownAttributeWarning) as told:
        done = svc.set_settings(index, wanted)

    lost = "crew.nme" if "crew.nme" in value else "Descripton"
    near = right(lost)
    assert [str(one.message) for one in told] == [
        f"the record of {index} lacks `{lost}` ({name}); did you mean `{near}`?"
    ]
    assert done.attrs["svc"]["unknown_attributes"] == [lost]
    assert svc.current().get_settings(index)[name] == value  # type: ignore[literal-required]


@pytest.mark.parametrize(("name", "value"), CASES, ids=lambda case: str(case))
def test_a_setting_that_names_attributes_that_are_there_is_set_silently(
    index: str, name: str, value: Any
) -> None:
    wanted: Any = {name: right(value)}

    assert svc.set_settings(index, wanted).attrs["svc"]["unknown_attributes"] == []


def test_every_setting_and_parameter_of_attributes_is_known() -> None:
    """By its type, a list or a text, and its name; so a new one is held to it."""
    members = {**hints(Settings), **hints(SearchParams)}
    listed = re.compile(r"list\[str\]|(^|[ \[])str\b|<class 'str'>")
    by_name = {
        name
        for name, kind in members.items()
        if re.search(r"ttribute", name) and listed.search(str(kind))
    }

    # The service itself refuses weights of attributes that are not searched.
    assert by_name - {"attributeCriteriaComputedBy", "attributeWeights"} <= {*NAMING}
    assert {*NAMING} == {*WRONG} | PARAMETERS_ONLY
    assert {*NAMING} <= members.keys()


def set_by_verb(index: str) -> None:
    run_magic(f"settings set {index} --searchableAttributes Descripton", None, {})


def set_by_editor(index: str) -> None:
    editor = svc.edit.settings(index, value={"searchableAttributes": ["Descripton"]})
    assert [problem["text"] for problem in editor.problems] == [
        "no record of the sample has `Descripton`; did you mean `Description`?"
    ]
    editor.apply()


def set_on_scratch(index: str) -> None:
    with svc.tuning.scratch(index) as copy:
        svc.tuning.apply(copy.name, {"searchableAttributes": ["Descripton"]})
        copy.promote()


WAYS: dict[str, Callable[[str], Any]] = {
    "settings": lambda index: svc.settings(index, searchableAttributes=["Descripton"]),
    "verb": set_by_verb,
    "editor": set_by_editor,
    "apply": lambda index: svc.tuning.apply(index, {"searchableAttributes": ["Descripton"]}),
    "alias": lambda index: svc.tuning.apply(index, {"attributesToIndex": ["Descripton"]}),
    "scratch": set_on_scratch,
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_set_it_warns_once(index: str, way: str) -> None:
    with pytest.warns(UnknownAttributeWarning) as told:
        WAYS[way](index)

    assert len(told) == 1
    assert "did you mean `Description`" in str(told[0].message)
    assert svc.current().get_settings(index)["searchableAttributes"] == ["Descripton"]


def test_what_a_change_would_do_is_not_told_without_the_warning(index: str) -> None:
    with pytest.warns(UnknownAttributeWarning, match="Descripton"):
        svc.tuning.impact(index, {"customRanking": ["desc(Descripton)"]}, ["jaws"])


@pytest.mark.parametrize("name", ["none", "empty"])
def test_an_index_without_records_says_nothing(client: Client, name: str) -> None:
    index = f"{name}-{uuid4().hex[:8]}"
    if name == "empty":
        client.wait(client.set_settings(index, {"hitsPerPage": 3}), index=index)

    done = svc.set_settings(index, searchableAttributes=["Descripton"])

    assert done.attrs["svc"] == {"index": index, "unknown_attributes": []}


def test_a_key_that_may_not_search_sets_and_says_that_nothing_was_checked(
    service: Running, client: Client, index: str
) -> None:
    key = client.add_key(acl=["settings", "editSettings", "addObject"])["key"]

    with connect(service, key) as narrow, warnings.catch_warnings():
        warnings.simplefilter("error")
        done = svc.set_settings(index, searchableAttributes=["Descripton"], client=narrow)

    assert done.attrs["svc"]["unchecked"].startswith("attributes were not checked: ")
    assert client.get_settings(index)["searchableAttributes"] == ["Descripton"]


def test_what_a_key_may_not_see_is_not_called_unknown(
    service: Running, client: Client, index: str
) -> None:
    client.wait(client.set_settings(index, {"unretrievableAttributes": ["Year"]}), index=index)
    key = client.add_key(acl=["search", "settings", "editSettings", "addObject"])["key"]

    with connect(service, key) as narrow:
        done = svc.set_settings(index, customRanking=["desc(Year)"], client=narrow)

    assert done.attrs["svc"]["unknown_attributes"] == []


def test_of_a_large_index_a_sample_and_the_facets_are_looked_at(client: Client) -> None:
    index = f"large-{uuid4().hex[:8]}"
    rest = [{"objectID": f"{n:04}", "Title": f"film {n}"} for n in range(1200)]
    client.replace_all(index, [*rest, {"objectID": "9999", "rare": "x", "rarer": "y"}])

    with pytest.warns(UnknownAttributeWarning) as first:
        svc.set_settings(index, attributesForFaceting=["rare"])
    done = svc.set_settings(index, unretrievableAttributes=["rare"])

    assert str(first[0].message) == (
        f"no record in a sample of 1,000 of {index} has `rare` (attributesForFaceting)"
    )
    assert done.attrs["svc"]["unknown_attributes"] == []


READS: dict[str, Callable[..., Any]] = {
    "search": lambda index, **more: svc.search(index, **more),
    "search_many": lambda index, **more: svc.search_many(index, ["jaws", "zzz"], **more),
    "read_browse": lambda index, **more: svc.read_browse(index, **more),
    "read_records": lambda index, **more: svc.read_records(index, ["1"], **more),
}


@pytest.mark.parametrize("read", READS)
def test_a_column_that_no_record_has_is_warned_of(index: str, read: str) -> None:
    with pytest.warns(UnknownAttributeWarning, match="did you mean `Description`"):
        READS[read](index, columns=["Title", "Descripton"])

    READS[read](index, columns=["Title", "Description", "crew.name", "objectID"])


def test_many_unknown_attributes_are_one_warning(index: str) -> None:
    with pytest.warns(UnknownAttributeWarning, match=r"`a3`.*; and 2 more$") as told:
        svc.set_settings(index, searchableAttributes=[f"a{n}" for n in range(7)])

    assert len(told) == 1


@pytest.mark.parametrize(
    ("path", "there"),
    [("Title", True), ("crew", True), ("crew.name", True), ("crew.job.title", True),
     ("crew.nme", False), ("Title.name", False), ("", False)],
)  # fmt: skip
def test_an_attribute_is_looked_up_by_its_path(path: str, there: bool) -> None:
    assert has_attribute(RECORD, path) is there


def test_a_key_with_a_point_in_it_is_an_attribute() -> None:
    assert has_attribute({"size.width": 3}, "size.width")


def test_what_names_no_attribute_is_passed_over() -> None:
    assert name_attributes({"ranking": ["typo", "custom"], "hitsPerPage": 3, "facets": "*"}) == {}
    assert name_attributes({"searchableAttributes": None, "attributeForDistinct": None}) == {}

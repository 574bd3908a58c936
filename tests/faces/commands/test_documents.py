"""Objects in files and tables: reading a written file returns the same objects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc_notebook.core.api.shapes import DictionaryEntry, Rule, Synonym
from svc_notebook.errors import BadInput, BadRecord
from svc_notebook.faces.functions.documents import READERS, read_file, take_documents, write_file
from tests.conftest import examples

TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
NAME = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
WORDS = st.lists(TEXT, max_size=3)
WHOLE = st.integers(-(2**53) + 1, 2**53 - 1)
JSON = st.recursive(
    st.none() | st.booleans() | WHOLE | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


def of(**members: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"objectID": NAME, **members})


SYNONYMS = st.one_of(
    of(type=st.just("synonym"), synonyms=WORDS),
    of(type=st.just("onewaysynonym"), input=TEXT, synonyms=WORDS),
    of(type=st.sampled_from(["altcorrection1", "altcorrection2"]), word=TEXT, corrections=WORDS),
    of(type=st.just("placeholder"), placeholder=TEXT, replacements=WORDS),
)
CONDITION = st.fixed_dictionaries(
    {"pattern": TEXT, "anchoring": st.sampled_from(["is", "startsWith", "endsWith", "contains"])},
    optional={"alternatives": st.booleans(), "context": TEXT, "filters": TEXT},
)
CONSEQUENCE = st.fixed_dictionaries(
    {},
    optional={
        "params": st.fixed_dictionaries({}, optional={"filters": TEXT, "hitsPerPage": st.just(3)}),
        "hide": st.lists(st.fixed_dictionaries({"objectID": NAME}), max_size=2),
        "promote": st.lists(
            st.fixed_dictionaries({"objectID": NAME, "position": st.integers(0, 300)}), max_size=2
        ),
        "userData": JSON,
    },
)
RULES = st.fixed_dictionaries(
    {"objectID": NAME, "consequence": CONSEQUENCE},
    optional={
        "conditions": st.lists(CONDITION, max_size=2),
        "description": TEXT,
        "enabled": st.booleans(),
        "validity": st.lists(
            st.fixed_dictionaries({}, optional={"from": WHOLE, "until": WHOLE}), max_size=2
        ),
        "tags": WORDS,
        "scope": TEXT,
    },
)
ENTRIES = st.one_of(
    of(language=NAME, word=TEXT, state=st.sampled_from(["enabled", "disabled"])),
    of(language=NAME, words=WORDS),
    of(language=NAME, word=TEXT, decomposition=WORDS),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("documents")


@pytest.mark.parametrize("suffix", READERS)
@pytest.mark.parametrize(
    ("shape", "documents"),
    [(Synonym, SYNONYMS), (Rule, RULES), (DictionaryEntry, ENTRIES)],
    ids=["synonyms", "rules", "entries"],
)
@settings(max_examples=examples(25), deadline=None)
@given(data=st.data())
def test_what_is_written_is_what_is_read(
    data: st.DataObject, shape: Any, documents: Any, suffix: str, folder: Path
) -> None:
    held = data.draw(st.lists(documents, max_size=4))
    path = folder / f"held{suffix}"

    write_file(path, held, shape)

    assert take_documents(path, shape, "documents") == held


@settings(max_examples=examples(30), deadline=None)
@given(held=st.lists(SYNONYMS, max_size=4))
def test_table_is_read_back_as_its_objects(held: list[dict[str, Any]]) -> None:
    full = [{name: value for name, value in one.items() if value != ""} for one in held]

    assert take_documents(pd.DataFrame(full), Synonym, "synonyms") == full


@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
def test_table_of_any_backend_is_read_as_objects(backend: Any) -> None:
    frame = pd.DataFrame(
        {"objectID": ["a", "b"], "type": "synonym", "input": [None, "x"], "synonyms": [["q"], None]}
    )

    found = take_documents(frame.convert_dtypes(dtype_backend=backend), Synonym, "synonyms")

    assert found == [
        {"objectID": "a", "type": "synonym", "synonyms": ["q"]},
        {"objectID": "b", "type": "synonym", "input": "x"},
    ]


def test_arrays_of_numpy_are_lists() -> None:
    frame = pd.DataFrame(
        {"objectID": ["a"], "type": ["synonym"], "synonyms": [np.array(["x", "y"], object)]}
    )

    assert take_documents(frame, Synonym, "synonyms")[0]["synonyms"] == ["x", "y"]


def test_a_table_made_by_hand_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rules.csv"
    path.write_text(
        "\ufeffobjectID,enabled,tags,consequence\r\n"
        'sale,TRUE,"a, b","{""filterPromotes"": true}"\r\n',
        encoding="utf-8",
    )

    assert take_documents(path, Rule, "rules") == [
        {
            "objectID": "sale",
            "enabled": True,
            "tags": ["a", "b"],
            "consequence": {"filterPromotes": True},
        }
    ]


def test_a_long_cell_is_read(tmp_path: Path) -> None:
    long = [{"objectID": "a", "consequence": {"userData": "x" * 200_000}}]

    write_file(tmp_path / "a.csv", long, Rule)

    assert read_file(tmp_path / "a.csv", Rule) == long


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "objectID;type\na;synonym", "separate columns by commas"),
        ("a.csv", "objectID,tpye\na,synonym\n", "`tpye`; did you mean `type`?"),
        ("a.csv", "objectID,objectID\na,b\n", "duplicate column names"),
        ("a.csv", "objectID,type\na\n", "row 1 has 1 cells, expected 2"),
        ("a.csv", 'objectID,type\n"a,b\n', "not a CSV file"),
        ("a.csv", "objectID,type\na,synonim\n", "`synonim` is not one of synonym"),
        ("a.csv", 'objectID,type,synonyms\na,synonym,"[1"\n', "row 1: `synonyms`: not valid JSON"),
        ("a.json", '[{"objectID": "a"}]', r"`synonyms\[0\].type` is missing"),
        ("a.json", "[1]", r"synonyms\[0\] must be an object, not int"),
        ("a.json", '{"objectID": NaN}', "not valid JSON"),
        ("a.ndjson", '{"objectID": "a", "type": "synonym"}\n{', "line 2: not valid JSON"),
        ("a.jsn", "[]", "unsupported format .* use .csv, .json.*did you mean `.json`"),
    ],
)
def test_error_of_an_unreadable_file_names_the_place(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text)

    with pytest.raises(BadInput, match=message):
        take_documents(tmp_path / name, Synonym, "synonyms")


def test_error_of_a_bad_cell_has_row_column_and_value(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("objectID,enabled,consequence\na,perhaps,{}\n")

    with pytest.raises(BadRecord) as caught:
        read_file(tmp_path / "a.csv", Rule)

    assert (caught.value.row, caught.value.column, caught.value.value) == (1, "enabled", "perhaps")


@pytest.mark.parametrize("given", [7, [7], [None], pd.DataFrame({"x": [1]})])
def test_value_that_is_not_an_object_is_refused(given: Any) -> None:
    with pytest.raises(BadInput):
        take_documents(given, Synonym, "synonyms")


def test_a_file_that_cannot_be_written_leaves_the_one_that_is_there(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("as it was")

    with pytest.raises(BadInput, match="cannot contain `colour`"):
        write_file(path, [{"objectID": "a", "colour": 1}], Synonym)

    assert path.read_text() == "as it was"
    assert [each.name for each in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.parametrize(("deed", "word"), [(read_file, "read"), (write_file, "written")])
def test_missing_folder_is_an_error(tmp_path: Path, deed: Any, word: str) -> None:
    path = tmp_path / "no" / "a.csv"

    with pytest.raises(BadInput, match=f"cannot be {word}: No such file"):
        deed(path, Synonym) if word == "read" else deed(path, [], Synonym)

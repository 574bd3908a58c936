"""Arguments of a line are bound to the parameters of a verb."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from svc_notebook.errors import BadInput, BadOption
from svc_notebook.faces.commands.binding import BoundCall, bind_words
from svc_notebook.faces.commands.registry import find_verb
from svc_notebook.faces.commands.tokenizer import split_line
from svc_notebook.faces.commands.verb import Face


def bind(
    line: str, face: Face = "magic", body: str | None = None, **variables: object
) -> BoundCall:
    name, *words = [word.text for word in split_line(line)]
    return bind_words(find_verb(name, face), words, face, variables, body)


@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        ("search products", {"index": "products"}),
        ("search products blue lamp", {"index": "products", "query": "blue lamp"}),
        (
            "search products blue --page 2 lamp",
            {"index": "products", "query": "blue lamp", "page": 2},
        ),
        ("search products -- --dry", {"index": "products", "query": "--dry"}),
        ("search products -blue", {"index": "products", "query": "-blue"}),
        ("search products --filters 'year > 1'", {"index": "products", "filters": "year > 1"}),
        ("search products --filters=--x", {"index": "products", "filters": "--x"}),
        ("search products --facets name,brand", {"index": "products", "facets": ["name", "brand"]}),
        (
            "search products --attributesToRetrieve 'name, brand'",
            {"index": "products", "attributesToRetrieve": ["name", "brand"]},
        ),
        ("get products 17 a,b", {"index": "products", "ids": ["17", "a,b"]}),
        (
            "get products 17 --columns a,b",
            {"index": "products", "ids": ["17"], "columns": ["a", "b"]},
        ),
        ("wait 7 8 --timeout 1.5", {"tasks": [7, 8], "timeout": 1.5}),
        ("load a.csv films --dry-run", {"source": "a.csv", "index": "films", "dry_run": True}),
        ("load a.csv films --batch 7", {"source": "a.csv", "index": "films", "batch": 7}),
        (
            'load a.csv films --dtype {"zip": "string"}',
            {"source": "a.csv", "index": "films", "dtype": {"zip": "string"}},
        ),
        (
            "load a.csv films --dtype Preis=number --dtype 'a=b=string,n=integer' --decimal ,",
            {
                "source": "a.csv",
                "index": "films",
                "dtype": {"Preis": "number", "a=b": "string", "n": "integer"},
                "decimal": ",",
            },
        ),
        ("connect staging", {"profile": "staging"}),
        ("settings films --distinct 2", {"index": "films", "distinct": 2}),
        ("settings films --ranking null", {"index": "films", "ranking": None}),
    ],
)
def test_a_line_becomes_arguments(line: str, arguments: dict[str, Any]) -> None:
    assert bind(line).arguments == arguments


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("search x --getRankingInfo", True),
        ("search x --getRankingInfo lamp", True),
        ("search x --getRankingInfo false lamp", False),
        ("search x --getRankingInfo --page 1", True),
        ("search x --typoTolerance", True),
        ("search x --typoTolerance strict", "strict"),
        ("search x --ignorePlurals en,fr", ["en", "fr"]),
        ("search x --ignorePlurals=false", False),
        ("search x --distinct 3", 3),
    ],
)
def test_what_may_be_true_may_stand_alone(line: str, value: object) -> None:
    found = bind(line).arguments

    assert [v for name, v in found.items() if name not in ("index", "query", "page")] == [value]


def test_options_of_lists_can_be_repeated() -> None:
    found = bind("load a.csv b --id brand --id sku,size --split body=30").arguments

    assert (found["id"], found["split"]) == (["brand", "sku", "size"], {"body": "30"})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("serch x", "`serch` is not a verb; did you mean `search`?"),
        ("xyzzy", "`%svc help` lists the verbs"),
        ("search x --hitPerPage 3", "`--hitPerPage`; did you mean `--hitsPerPage`?"),
        ("search x --page 2.5", "`--page` must be a whole number, not `2.5`"),
        ("search x --page many", "`--page` must be a whole number, not `many`"),
        ("search x --page 1 --page 2", "`--page` is given twice"),
        ("search x --typoTolerance maybe", "`maybe` is not one of min, strict"),
        ("search x --filters", "`--filters` requires a value"),
        ("search x --filters --page 2", "`--filters` requires a value"),
        ("search", "INDEX is missing; usage: %svc search INDEX [QUERY...]"),
        ("load a.csv", "INDEX is missing; usage: %svc load SOURCE INDEX"),
        ("load a.csv b c", "unexpected argument `c`"),
        ("load a.csv b --if-exists drop", "`drop` is not one of append"),
        ("push films", "--from VARIABLE is missing"),
        ("push films --from fram", "`fram` is not one; did you mean `frame`?"),
        ("search films --params frame", "`--params` must be a dict, not int"),
        ("search films -o 1x", "`-o` requires the name of a variable, not `1x`"),
        ("search films -o class", "`-o` requires the name of a variable, not `class`"),
        ("search films -o", "`-o` requires the name of a variable"),
        ("wait seven", "`TASKS` must be a whole number"),
    ],
)
def test_a_wrong_line_is_refused_with_advice(line: str, message: str) -> None:
    with pytest.raises(BadOption) as caught:
        bind(line, frame=1)

    assert message in str(caught.value)


def test_variables_are_passed_by_name() -> None:
    rows = object()

    assert bind("push films --from rows", rows=rows).arguments["df"] is rows


def test_the_line_wins_over_the_body_and_the_body_over_params() -> None:
    call = bind(
        "search films --params base --page 3",
        body="page: 2\nhitsPerPage: 2",
        base={"page": 1, "hitsPerPage": 1, "filters": "a:b"},
    )

    assert call.arguments == {"index": "films", "page": 3, "hitsPerPage": 2, "filters": "a:b"}


def test_a_wrong_name_in_params_is_refused() -> None:
    with pytest.raises(BadInput, match="did you mean `hitsPerPage`"):
        bind("search films --params base", base={"hitPerPage": 1})


def test_a_body_is_refused_where_none_belongs() -> None:
    with pytest.raises(BadOption, match="has no body"):
        bind("indices", body="page: 1")


def test_option_of_the_other_interface_is_unknown() -> None:
    with pytest.raises(BadOption, match="has no option `--format`"):
        bind("indices --format json")
    with pytest.raises(BadOption, match="has no option `--params`"):
        bind("search films --params x", face="command")


def test_common_options_do_not_reach_the_function() -> None:
    call = bind("search films --profile staging -o found")

    assert (call.arguments, call.profile, call.output) == ({"index": "films"}, "staging", "found")
    assert bind("indices --format csv", face="command").format == "csv"


def test_help_option_is_accepted_anywhere() -> None:
    assert bind("search --help").wants_help
    assert bind("load a.csv -h").wants_help


def test_a_verb_of_another_surface_is_answered_with_that_surface() -> None:
    surfaces: list[tuple[str, Face, str]] = [
        ("interleave", "magic", "only in a terminal; `%svc help`"),
        ("connect", "command", "only in notebooks; `svc help`"),
    ]
    for name, face, message in surfaces:
        with pytest.raises(BadOption, match=message):
            find_verb(name, face)


@pytest.mark.parametrize("line", ["load jan.csv feb.csv films", "load jan.csv feb.csv",
                                  "replace films jan.csv feb.csv"])  # fmt: skip
def test_a_pattern_that_the_shell_expanded_is_named(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("jan.csv", "feb.csv", "films"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)

    with pytest.raises(BadOption, match=r"2 files are given, .*: '\*\.csv'; usage: svc "):
        bind(line, "command")
    # An index can have the name of a file.
    assert bind("load jan.csv films", "command").arguments["index"] == "films"

"""Errors of a verb are in the words of its surface."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import svc_notebook as svc
from svc_notebook.core.foreign_names import same_name
from svc_notebook.errors import BadInput, BadOption, SvcError
from svc_notebook.faces.commands.binding import bind_words
from svc_notebook.faces.commands.execution import files_of, spell, spell_error
from svc_notebook.faces.commands.registry import VERBS, pick_verb
from tests.faces.commands.conftest import Typed
from tests.parsed_modules import MODULES, parse

# The names that replace those of the official client, which are shown with `svc.` before them.
REPLACEMENTS = {'endpoint_calls.py: call("', "loads.py: push(action='update')"}

# Verbs whose names are also rights of keys, parameters, or members of requests and options.
OTHER_MEANINGS = {
    *("browse", "events", "facets", "languages", "search", "settings", "sources", "status"),
    "users",
}
# Verbs that texts of other verbs name.
NAMED_BY_VERBS = {"keys.py: `keys restore`"}


@pytest.mark.parametrize(
    ("message", "spelled"),
    [
        ("To allow fewer records, pass min_share=0", "To allow fewer records, pass --min-share 0"),
        ("pass id='…'; then resume=True", "pass --id …; then --resume"),
        ("id='two words'", "--id 'two words'"),
        ("columns=['a', 'b'], dtype={'a': 'number'}", "--columns a,b, --dtype a=number"),
        ("filters=3, verify=False, client=x", "filters=3, verify=False, client=x"),
        ("svc.read_indices() or load(...)", "`%svc indices` or `%svc load`"),
        (
            "svc.set_settings('p', {'attributesForFaceting': ['a', 'b']})",
            "`%svc settings set p --attributesForFaceting a,b`",
        ),
        ("svc.load(source, 'p', dtype={'a': 'number'})", "`%svc load SOURCE p --dtype a=number`"),
        (
            "svc.tuning.undo('p', 'c1') or `svc.tuning.history`",
            "`%svc undo p c1` or `%svc history`",
        ),
        ("svc.tuning.search('p') is no verb", "svc.tuning.search('p') is no verb"),
        ("the query is search(foo), not desc(price)", "the query is search(foo), not desc(price)"),
    ],
)
def test_arguments_and_functions_in_a_message_are_options_and_verbs(
    message: str, spelled: str
) -> None:
    error = SvcError(message)
    error.add_note(message)

    spell_error(error, pick_verb(["load"], "magic")[0], "magic")

    assert str(error) == spelled
    assert error.__notes__ == [spelled]


def test_a_command_says_how_a_shell_connects() -> None:
    text = spell('not connected; svc.connect("local") uses the local service', None, "command")

    assert text.startswith("not connected; pass --profile NAME, set SVC_URL")


def test_a_command_starts_the_local_service_by_a_command() -> None:
    text = spell('set SVC_URL, or start it by svc.connect("local")', None, "command")

    assert text == "set SVC_URL, or start it by `svc serve`"


@pytest.mark.slow
def test_messages_name_functions_as_users_type_them() -> None:
    """Magics and commands spell `svc.load(...)`; a call without `svc.` stays as it is."""
    names = [name for name in dir(svc) if not name.startswith("_")]
    bare = re.compile(rf"(?<![\w.])({'|'.join(names)})\([^)]*\)?")
    calls = {
        f"{path.name}: {match[0]}"
        for path in MODULES
        for text in read_messages(path)
        for match in bare.finditer(text)
    }

    assert calls == REPLACEMENTS


@pytest.mark.slow
def test_messages_name_verbs_by_their_functions() -> None:
    """A user of functions has no verb `clear`; `svc.clear_index` is spelled for each surface."""
    verbs = {verb.name for verb in VERBS} - OTHER_MEANINGS
    named = re.compile(rf"`({'|'.join(verbs)})`")
    calls = {
        f"{path.name}: {match[0]}"
        for path in MODULES
        if not {"agents", "commands"} & {*path.parts}
        for text in read_messages(path)
        for match in named.finditer(text)
    }

    assert calls == NAMED_BY_VERBS


def read_messages(path: Path) -> Iterator[str]:
    """Yield the texts of a module, without its docstrings."""
    tree = parse(path)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from [node.value] if id(node) not in docstrings else []


def test_a_command_names_no_variables_of_notebooks() -> None:
    text = spell("pass a file after the index, or --from VARIABLE", None, "command")

    assert text == "pass a file after the index"


def test_help_can_follow_options() -> None:
    assert pick_verb(["--profile", "x", "--help"], "command")[0].name == "help"


def test_a_refused_replacement_names_the_option(typed: Typed, tmp_path: Path) -> None:
    path, index = tmp_path / "new.csv", f"spelled-{tmp_path.name}"
    path.write_text("objectID\n" + "".join(f"{n}\n" for n in range(1200)))
    typed(f"load {path} {index}")
    path.write_text("objectID\n1\n")

    with pytest.raises(BadInput, match="pass --min-share 0"):
        typed(f"load {path} {index} --if-exists replace")


def test_no_two_options_of_a_verb_differ_in_spelling_only() -> None:
    offenders = [
        f"{verb.name} --{name}"
        for verb in VERBS
        for face in verb.faces
        for options in [verb.named(face)]
        for name in options
        if same_name(name, options) != name
    ]

    assert offenders == []


@pytest.mark.parametrize(
    "line",
    [
        "search products lamp --hits-per-page 2 --profile x",
        "--profile x search products lamp --HitsPerPage 2",
        "--profile=x search products lamp --hits_per_page 2",
    ],
)
def test_options_are_taken_in_every_spelling_and_before_the_verb(line: str) -> None:
    verb, words = pick_verb(line.split(), "command")
    call = bind_words(verb, words, "command")

    assert call.arguments == {"index": "products", "query": "lamp", "hitsPerPage": 2}
    assert call.profile == "x"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("read_logs", "`read_logs` is not a verb; use `logs`"),
        ("start-crawler shop", "use `crawlers reindex` or `crawlers run`"),
        ("search products lamp --limit 3", "no option `--limit`; use `--hitsPerPage`"),
        ("load a.csv products --primary-key sku", "no option `--primary-key`; use `--id`"),
        ("browse products --limit 3", "`browse` has no option `--limit`"),
        ("--profile x", "the verb is missing after `--profile`"),
    ],
)
def test_a_name_of_another_tool_is_answered_with_the_right_one(line: str, message: str) -> None:
    with pytest.raises(BadOption, match=re.escape(message)):
        bind_words(*pick_verb(line.split(), "command"), "command")


@pytest.mark.parametrize(
    ("content", "suffix"),
    [
        (b"sku,name\n1,lamp\n", ".csv"),
        (b'{"objectID": "1"}\n{"objectID": "2"}\n', ".ndjson"),
        (b' [{"objectID": "1"}]', ".json"),
    ],
)
def test_standard_input_is_a_file_of_its_format(
    content: bytes, suffix: str, standard_input: Callable[..., None]
) -> None:
    standard_input(content)
    call = bind_words(*pick_verb(["load", "-", "products"], "command"), "command")

    with files_of(call) as arguments:
        path = Path(arguments["source"])

        assert (path.suffix, path.read_bytes()) == (suffix, content)
    assert not path.exists()

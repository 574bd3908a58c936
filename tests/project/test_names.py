"""Rules of the glossary for the names of modules, classes and constants."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from tests.conftest import ROOT
from tests.looping import loop_over
from tests.parsed_modules import MODULES, parse

# A module is a noun; these are nouns that end as gerunds do, or terms of the field.
NOUNS_IN_ING = {
    "binding": "of arguments to parameters",
    "blocking": "the adjective: functions that block",
    "encoding": "of text, and of records as JSON",
    "error_mapping": "a mapping of statuses to errors",
    "interleaving": "the term of information retrieval",
    "keyring": "a noun",
    "loading": "bulk loading",
    "ranking": "the usual word for the order of hits",
    "rendering": "the usual word for what a browser does with a page",
    "replica_setting": "the setting `replicas`",
    "sampling": "the statistical term",
    "sending": "the part of a load that sends",
    "top_k_pruning": "the term of information retrieval",
    "tuning": "relevance tuning",
}
# A private helper may share its name with one elsewhere: nobody imports it.
SHARED_CLASSES: dict[str, str] = {}
# Single words that are complete: mathematical or physical quantities and formats.
SINGLE_WORDS: dict[str, str] = {
    "RESAMPLES": "a number of resamples",
}
# Names that do not say what a value is.
VAGUE_NAMES = {"each", "found", "known", "one", "own", "place", "told", "wanted"}
# Members that are stored under their names, that views send, and a parameter that users write.
STORED_NAMES = {
    "svc_notebook/faces/editors/hit_cards.py: place",
    "svc_notebook/faces/editors/judgment_editor/editor.py: place",
    "svc_notebook/faces/editors/query_editor/editor.py: place",
    "svc_notebook/faces/editors/settings_editor.py: place",
    "svc_notebook/service/crawl/visits.py: found",
    "svc_notebook/service/crawlers/crawler.py: known",
    "svc_notebook/service/indices/cursors.py: place",
    "svc_notebook/tuning/changes/snapshots.py: one",
}


def module_names() -> set[str]:
    return {part for path in MODULES for part in path.relative_to(ROOT).with_suffix("").parts}


def test_modules_are_nouns() -> None:
    gerunds = {name for name in module_names() if name.endswith("ing")}

    assert gerunds - set(NOUNS_IN_ING) == set()


@loop_over("name", NOUNS_IN_ING)
def test_an_exception_is_still_needed(name: str) -> None:
    assert name in module_names()


def test_no_two_classes_share_a_name() -> None:
    names = Counter(node.name for path in MODULES for node in classes_of(path))

    assert {name for name, count in names.items() if count > 1} - set(SHARED_CLASSES) == set()


def test_numbers_are_named_with_their_quantity() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in MODULES
        for name in numeric_constants(path)
        if "_" not in name.strip("_") and name not in SINGLE_WORDS
    }

    assert found == set()


def test_values_are_named_by_what_they_are() -> None:
    vague = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in MODULES
        for name in assigned_names(path) & VAGUE_NAMES
    }

    assert vague == STORED_NAMES


def test_the_meaning_of_a_constant_is_a_comment_above_it() -> None:
    below = {
        f"{path.relative_to(ROOT)}:{text.lineno}"
        for path in MODULES
        for scope in ast.walk(parse(path))
        if isinstance(scope, ast.Module | ast.ClassDef)
        for assigned, text in pairwise(scope.body)
        if isinstance(assigned, ast.Assign | ast.AnnAssign) and is_text(text)
    }

    assert below == set()


def is_text(node: ast.stmt) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def assigned_names(path: Path) -> set[str]:
    nodes = list(ast.walk(parse(path)))
    assigned = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return assigned | {n.arg for n in nodes if isinstance(n, ast.arg)}


def classes_of(path: Path) -> Iterator[ast.ClassDef]:
    return (node for node in parse(path).body if isinstance(node, ast.ClassDef))


def numeric_constants(path: Path) -> Iterator[str]:
    for node in parse(path).body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                for name, value in pairs(target, node.value):
                    if isinstance(name, ast.Name) and name.id.isupper() and is_number(value):
                        yield name.id


def pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Pair the names of one assignment with their values, in `A, B = 1, 2` too."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        yield from zip(target.elts, value.elts, strict=True)
    else:
        yield target, value


def is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return is_number(node.left) and is_number(node.right)
    if isinstance(node, ast.UnaryOp):
        return is_number(node.operand)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)

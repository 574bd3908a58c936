"""Function, magic and command have the same operands and options."""

from __future__ import annotations

import inspect

from generators.discovery import discover

from svc_notebook.core.api.validation import hints
from svc_notebook.core.foreign_names import same_name
from svc_notebook.data.declarations.signatures import shape_of
from svc_notebook.faces.commands.registry import VERBS
from svc_notebook.faces.commands.verb import FORMAT, PROFILE, YES, Option, Verb

# Options of one surface: a notebook has variables, a terminal has output formats and confirmations.
OF_A_SURFACE = {PROFILE.name, FORMAT.name, YES.name, "from", "params"}
# Names that a line has for an argument.
RENAMED = {
    ("record", "object_id"), ("load", "load_id"), ("change", "change_id"), ("in", "facet"),
    ("forwardToReplicas", "forward"), ("index", "indexName"),
}  # fmt: skip
# Verbs that do another thing in a terminal: a service in the foreground, keys of its environment.
APART = ("serve", "keys delete", "keys restore", "keys secure", "keys explain")
DECLARED = {
    f"{d.function.__module__}.{d.function.__name__}": d for d in discover() if d.verbs
}  # fmt: skip


def arguments_of(verb: Verb) -> set[str]:
    """Return all names that the function of a verb takes."""
    declared = DECLARED[verb.does]
    names = set()
    for parameter in declared.signature.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            shape = shape_of(declared.function, parameter)
            names |= {*hints(shape)} if shape is not None else {parameter.name}
        else:
            names.add(parameter.name)
    return names


def rows_of(verb: Verb, face: str) -> list[Option]:
    return [
        option
        for option in (*verb.operands, *verb.named(face).values())  # type: ignore[arg-type]
        if face in option.faces and option.name not in OF_A_SURFACE
    ]


def test_every_operand_and_option_of_every_verb_is_an_argument_of_its_function() -> None:
    offenders = [
        f"{verb.name}: {option.name}"
        for verb in VERBS
        for face in verb.faces
        for option in rows_of(verb, face)
        if option.parameter not in arguments_of(verb) and not DECLARED[verb.does].described_by
    ]

    assert offenders == []


def test_an_option_has_the_name_of_its_argument() -> None:
    """A line names a file for objects; the other exceptions are names of the API."""
    renamed = {
        (option.name, option.parameter)
        for verb in VERBS
        for face in verb.faces
        for option in rows_of(verb, face)
        if same_name(option.name, [option.parameter]) is None
        if option.name != "file"
    }

    assert renamed == RENAMED


def test_magic_and_command_have_the_same_options() -> None:
    rows = {(verb.name, face): rows_of(verb, face) for verb in VERBS for face in verb.faces}
    offenders = [
        f"{name}: {sorted(difference)}"
        for (name, face), options in rows.items()
        if face == "magic" and (name, "command") in rows and name not in APART
        if (difference := {o.name for o in options} ^ {o.name for o in rows[name, "command"]})
    ]

    assert offenders == []


def test_a_word_means_the_same_in_every_verb() -> None:
    """`length` and `limit`, `file` and `path`: one name for one thing."""
    banned = {
        "length": "limit",
        "size": "limit",
        "num": "limit",
        "idx": "index",
        "dest": "destination",
    }
    offenders = [
        f"{name}: {parameter} is called {banned[parameter]}"
        for name, declared in DECLARED.items()
        for parameter in inspect.signature(declared.function).parameters
        if parameter in banned
    ]

    assert offenders == []

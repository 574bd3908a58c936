"""Verbs for synonyms, rules and dictionaries, as rows of the verb table."""

from __future__ import annotations

from typing import Any

from svc_notebook.api.parameters import Settings
from svc_notebook.api.shapes import DictionaryEntry, DictionaryName, Rule, Synonym
from svc_notebook.commands.options import FORWARD, INDEX, PARAMS
from svc_notebook.commands.verb import BodyDocument, Option, Source, Verb, operand

_HOME = "svc_notebook.functions.blocking"
_SAVED = "a CSV, JSON or NDJSON file; or say --from, or give them as the cell's body"
WRITTEN = operand("file", "where to: a .csv, .json or .ndjson file", completes="path",
                  argument="path")  # fmt: skip


def _file(argument: str) -> Option:
    return operand("file", _SAVED, completes="path", argument=argument)


def _from(argument: str) -> Option:
    return Option(
        "from", "a variable holding them: an object, a list of objects, a DataFrame",
        completes="variable", argument=argument, faces=("magic",),
    )  # fmt: skip


def _around_index(name: str, one: Source, shape: Any, sample: str) -> tuple[Verb, ...]:
    """Return the verbs for such objects of an index."""
    document = BodyDocument(name, shape)
    ids = operand("ids", "their objectIDs", list[str], completes=one, rest=True)
    each = operand("id", "its objectID", completes=one)
    return (
        Verb(
            f"{name} get", f"Read one {one} as it was saved",
            f"{_HOME}.get_{one}",
            operands=(INDEX, each),
            examples=(f"{name} get products {sample}",),
        ),
        Verb(
            f"{name} save", f"Save {name}, each in place of the one with its objectID",
            f"{_HOME}.save_{name}",
            operands=(INDEX, _file(name)), options=(_from(name), FORWARD),
            body=name, document=document,
            examples=(f"{name} save products {name}.csv",),
        ),
        Verb(
            f"{name} import", f"Save the {name} of a file",
            f"{_HOME}.save_{name}",
            operands=(INDEX, _file(name)), options=(FORWARD,),
            examples=(f"{name} import products {name}.csv",),
        ),
        Verb(
            f"{name} replace", f"Put {name} in place of all an index has, at one moment",
            f"{_HOME}.replace_{name}",
            operands=(INDEX, _file(name)), options=(_from(name), FORWARD),
            body=name, document=document,
            destructive=f"replace all {name} of {{index}}",
            examples=(f"{name} replace products {name}.csv --yes",),
        ),
        Verb(
            f"{name} export", f"Write an index's {name} to a file",
            f"{_HOME}.export_{name}",
            operands=(INDEX, WRITTEN),
            examples=(f"{name} export products {name}.csv",),
        ),
        Verb(
            f"{name} delete", f"Delete {name} by their objectIDs",
            f"{_HOME}.delete_{name}",
            operands=(INDEX, ids), options=(FORWARD,),
            destructive=f"delete {name} of {{index}}",
            examples=(f"{name} delete products {sample}",),
        ),
        Verb(
            f"{name} clear", f"Delete all {name} of an index",
            f"{_HOME}.clear_{name}",
            operands=(INDEX,), options=(FORWARD,),
            destructive=f"delete all {name} of {{index}}",
            examples=(f"{name} clear products --yes",),
        ),
    )  # fmt: skip


DICTIONARY = operand("dictionary", "stopwords, plurals or compounds", DictionaryName)
_ENTRIES = BodyDocument("entries", DictionaryEntry)

_NAMED = Option("file", "a JSON file holding them", completes="path")

SETTING: tuple[Verb, ...] = (
    Verb(
        "settings", "Show an index's settings, or change those that are named",
        f"{_HOME}.settings",
        operands=(INDEX,), options=(PARAMS, FORWARD),
        spread=Settings, body="settings; null resets one",
        examples=(
            "settings products",
            "settings products --searchableAttributes name,brand --hitsPerPage 10",
        ),
    ),
    Verb(
        "settings show", "Show an index's settings",
        f"{_HOME}.read_settings",
        operands=(INDEX,),
        examples=("settings show products",),
    ),
    Verb(
        "settings set", "Change the settings that are named, and those of a file",
        f"{_HOME}.set_settings",
        operands=(INDEX,), options=(_NAMED, PARAMS, FORWARD),
        spread=Settings, body="settings; null resets one",
        examples=(
            "settings set products --file settings.json",
            "settings set products --customRanking 'desc(sales)' --forwardToReplicas",
        ),
    ),
    Verb(
        "settings diff",
        "Compare an index's settings with another's, a file's, a variable's or the defaults",
        f"{_HOME}.diff_settings",
        operands=(
            INDEX,
            operand("other", "the other index; the defaults without one", completes="index",
                    required=False),
        ),
        options=(
            _NAMED,
            Option("from", "a variable holding settings, as a dict", completes="variable",
                   argument="other", faces=("magic",)),
        ),
        examples=(
            "settings diff products", "settings diff products products-new",
            "settings diff products --file settings.json",
        ),
    ),
    Verb(
        "settings reset", "Put settings back to their defaults: those named, or all",
        f"{_HOME}.reset_settings",
        operands=(
            INDEX, operand("names", "their names", list[str], completes="setting",
                           required=False, rest=True),
        ),
        options=(FORWARD,),
        destructive="reset settings of {index}",
        examples=("settings reset products hitsPerPage", "settings reset products --yes"),
    ),
)  # fmt: skip
_QUERY = operand("query", "the whole query; quoted where it has blanks")
_RECORD = operand("record", "the objectID of the record", argument="object_id")

PINNING: tuple[Verb, ...] = (
    Verb(
        "pin",
        "Put a record at a place among the hits of a query, by a rule for this query",
        f"{_HOME}.pin",
        operands=(INDEX, _QUERY, _RECORD),
        options=(
            Option("position", "the place, counted from 0; 0, the first, if not given", int),
            FORWARD,
        ),
        examples=("pin products lamp 17", "pin products 'desk lamp' 17 --position 2"),
    ),
    Verb(
        "unpin",
        "Let a record that is pinned for a query take the place that it has by itself",
        f"{_HOME}.unpin",
        operands=(INDEX, _QUERY, _RECORD),
        options=(FORWARD,),
        examples=("unpin products lamp 17",),
    ),
    Verb(
        "hide",
        "Leave a record out of the hits of a query, by a rule for this query",
        f"{_HOME}.hide",
        operands=(INDEX, _QUERY, _RECORD),
        options=(FORWARD,),
        examples=("hide products lamp 18",),
    ),
    Verb(
        "unhide",
        "Show a record again that is hidden for a query",
        f"{_HOME}.unhide",
        operands=(INDEX, _QUERY, _RECORD),
        options=(FORWARD,),
        examples=("unhide products lamp 18",),
    ),
)
CURATING: tuple[Verb, ...] = (
    *PINNING,
    *_around_index("synonyms", "synonym", Synonym, "pair"),
    *_around_index("rules", "rule", Rule, "sale"),
    Verb(
        "dictionaries save", "Save entries of your own, each in place of the one with its objectID",
        f"{_HOME}.save_entries",
        operands=(DICTIONARY, _file("entries")), options=(_from("entries"),),
        body="entries", document=_ENTRIES,
        examples=("dictionaries save stopwords words.csv",),
    ),
    Verb(
        "dictionaries import", "Save the entries of a file",
        f"{_HOME}.save_entries",
        operands=(DICTIONARY, _file("entries")),
        examples=("dictionaries import plurals plurals.csv",),
    ),
    Verb(
        "dictionaries replace", "Put entries in place of all of your own, at one moment",
        f"{_HOME}.replace_entries",
        operands=(DICTIONARY, _file("entries")), options=(_from("entries"),),
        body="entries", document=_ENTRIES,
        destructive="replace all entries of your own in the dictionary {dictionary}",
        examples=("dictionaries replace stopwords words.csv --yes",),
    ),
    Verb(
        "dictionaries export", "Write the entries of your own to a file",
        f"{_HOME}.export_entries",
        operands=(DICTIONARY, WRITTEN),
        examples=("dictionaries export stopwords words.csv",),
    ),
    Verb(
        "dictionaries delete", "Delete entries of your own by their objectIDs",
        f"{_HOME}.delete_entries",
        operands=(DICTIONARY, operand("ids", "their objectIDs", list[str], rest=True)),
        destructive="delete entries of the dictionary {dictionary}",
        examples=("dictionaries delete stopwords down-en",),
    ),
    Verb(
        "dictionaries clear", "Delete all entries of your own",
        f"{_HOME}.clear_entries",
        operands=(DICTIONARY,),
        destructive="delete all entries of your own in the dictionary {dictionary}",
        examples=("dictionaries clear compounds --yes",),
    ),
    Verb(
        "dictionaries settings", "Show which standard entries are off, or switch some off or on",
        f"{_HOME}.dictionary_settings",
        operands=(
            operand(
                "dictionary", "stopwords, plurals or compounds", DictionaryName, required=False
            ),
        ),
        options=(
            Option("off", "languages whose standard entries are left out", list[str], "language"),
            Option("on", "languages whose standard entries count", list[str], "language"),
            Option("reset", "back to the default in every language", bool),
        ),
        examples=(
            "dictionaries settings",
            "dictionaries settings stopwords --off fr,de --on en",
            "dictionaries settings stopwords --reset",
        ),
    ),
)  # fmt: skip

"""What each type of synonym needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from svc_notebook.api.checking import place
from svc_notebook.errors import BadInput
from svc_notebook.service.entries import Entry
from svc_notebook.service.steps import read_object_id

KIND = "synonyms"
# api.md, Synonym; two spellings of a type are known, this one is kept.
FIELDS = {
    "synonym": ("synonyms",),
    "onewaysynonym": ("input", "synonyms"),
    "altcorrection1": ("word", "corrections"),
    "altcorrection2": ("word", "corrections"),
    "placeholder": ("placeholder", "replacements"),
}


def check_synonym(synonym: Mapping[str, Any], at: str) -> Entry:
    """Return a synonym with the members of its type alone; raises `BadInput`."""
    kind = str(synonym["type"]).lower()
    name = read_object_id(synonym["objectID"], place(at, "objectID"))
    for field in FIELDS[kind]:
        if not synonym.get(field):
            raise BadInput(f"`{place(at, field)}` is missing; a {kind} needs it")
    for word in synonym["corrections"] if "corrections" in FIELDS[kind] else ():
        if len(word.split()) != 1:
            raise BadInput(f"`{place(at, 'corrections')}`: {word!r} is not a single word")
    return {"objectID": name, "type": kind, **{field: synonym[field] for field in FIELDS[kind]}}

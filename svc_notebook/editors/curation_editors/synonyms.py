"""The synonym editor: all synonyms of an index in one table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from svc_notebook.client.curation import SYNONYMS, ResourceKind
from svc_notebook.display import format_count, write_table
from svc_notebook.editors.bundle import read_module, read_styles
from svc_notebook.editors.curation_editors.changes import Document, ObjectChange
from svc_notebook.editors.curation_editors.editor import CurationEditor, Faults
from svc_notebook.editors.curation_editors.synonym_checks import (
    MEMBERS,
    find_faults,
    head_of,
    words_of,
)
from svc_notebook.editors.snapshot import SNAPSHOT_ROWS, write_line

MAX_SAMPLE_QUERIES = 8  # proposed to try a draft on


class SynonymEditor(CurationEditor):
    """Edit the synonyms of an index, and see what that does to searches before it is applied."""

    title: ClassVar[str] = "Synonym editor"
    kind: ClassVar[ResourceKind] = SYNONYMS
    _esm = read_module("synonyms.js")
    _css = read_styles("kit/kit.css", "query.css", "curation.css")

    def normalize(self, document: Document) -> Document:
        """Keep only the members of the type, and write the type in lower case."""
        kind = document["type"].lower()
        names = [name for name in MEMBERS[kind] if name]
        members = {name: document[name] for name in names if name in document}
        return {"objectID": document["objectID"], "type": kind, **members}

    def find_faults(self, value: Sequence[Document]) -> Faults:
        """Find empty words, duplicates, cycles, and corrections of several words."""
        return find_faults(value)

    def typical_queries(self, changes: Iterable[ObjectChange]) -> list[str]:
        """Return the words of changed synonyms that users type."""
        changed = [
            document
            for change in changes
            for document in (change["after"], change["before"])
            if document
        ]
        words = [
            word for document in changed for word in _list_typed_words(document) if word.strip()
        ]
        return list(dict.fromkeys(words))[:MAX_SAMPLE_QUERIES]

    def write_html(self) -> str:
        """Write the synonyms as a table."""
        rows = [(s["type"], head_of(s), ", ".join(words_of(s)), s["objectID"]) for s in self.value]
        summary = format_count(len(rows), "synonym") + (", unsaved changes" if self.dirty else "")
        more = f", the first {SNAPSHOT_ROWS}:" if len(rows) > SNAPSHOT_ROWS else ""
        head = ("type", "for", "words", "objectID")
        return write_line(summary + more) + write_table(head, rows[:SNAPSHOT_ROWS])


def _list_typed_words(synonym: Document) -> list[str]:
    """Return the words of a synonym that users type in queries."""
    head = head_of(synonym)
    if synonym["type"] == "placeholder":
        return words_of(synonym)
    return words_of(synonym) if head is None else [head]

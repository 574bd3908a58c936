"""The synonym editor: all synonyms of an index in one table."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar, NamedTuple

from svc_notebook.core.display import format_count, write_table
from svc_notebook.data.client import SYNONYMS, ResourceKind
from svc_notebook.faces.editors.bundle import read_module, read_styles
from svc_notebook.faces.editors.changes import Document, ObjectChange
from svc_notebook.faces.editors.curation_editors.editor import CurationEditor, Faults, ObjectProblem
from svc_notebook.faces.editors.fallback import SNAPSHOT_ROWS, write_line

Graph = Mapping[str, Sequence[str]]
MAX_LISTED_WORDS = 6  # of one cycle
MAX_VISITED_WORDS = 64  # in the search for a path back, which would otherwise visit all words

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
        sides = (side for change in changes for side in (change["after"], change["before"]) if side)
        words = (word for synonym in sides for word in _list_typed_words(synonym) if word.strip())
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


def find_cycles(edges: Iterable[tuple[str, str, str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each edge `(name, from, to)` in a cycle, and the words of the cycle.

    A long cycle is shortened to its first words and `…`. Each name is yielded once.
    """
    edges = list(edges)
    edges_of: dict[str, list[str]] = {}
    for _, word, other in edges:
        edges_of.setdefault(word, []).append(other)
    components = find_components(edges_of)
    inside = {
        word: [other for other in after if components[other] == components[word]]
        for word, after in edges_of.items()
    }
    reported: set[str] = set()
    for name, word, other in edges:
        if name not in reported and components[word] == components[other]:
            reported.add(name)
            yield name, _shorten([word, *(_find_path(inside, other, word) or [other, "…"])])


def find_components(edges_of: Graph) -> dict[str, str]:
    """Return for each word its strongly connected component."""
    order: dict[str, int] = {}
    components: dict[str, str] = {}
    for start in edges_of:
        if start not in order:
            _walk(edges_of, start, order, components)
    return components


def _walk(edges_of: Graph, start: str, order: dict[str, int], components: dict[str, str]) -> None:
    """Find the strongly connected components reachable from a word by Gabow's algorithm."""
    order[start] = len(order)
    # `firsts` are the possible roots of components, `members` the words of all of them.
    stack, firsts, members = [(start, iter(edges_of[start]))], [start], [start]
    while stack:
        word, after = stack[-1]
        for other in after:
            if other not in order:
                order[other] = len(order)
                firsts.append(other)
                members.append(other)
                stack.append((other, iter(edges_of.get(other, ()))))
                break
            if other not in components:
                while order[firsts[-1]] > order[other]:
                    firsts.pop()
        else:
            stack.pop()
            if firsts[-1] == word:
                firsts.pop()
                while word not in components:
                    components[members.pop()] = word


def _find_path(edges_of: Graph, start: str, goal: str) -> list[str]:
    """Return the shortest path between two words without the last; empty if it is long."""
    previous: dict[str, str] = {}
    queue = [start]
    for word in queue:
        for after in edges_of[word]:
            if after == goal:
                return _walk_back(previous, start, word)
            if after != start and after not in previous:
                previous[after] = word
                queue.append(after)
        if len(queue) > MAX_VISITED_WORDS:
            return []
    return []


def _walk_back(previous: Mapping[str, str], start: str, at: str) -> list[str]:
    path = [at]
    while at != start:
        at = previous[at]
        path.append(at)
    return path[::-1]


def _shorten(words: list[str]) -> list[str]:
    return words if len(words) <= MAX_LISTED_WORDS else [*words[:MAX_LISTED_WORDS], "…"]


# For each type: the member with the replaced word, and the member with the replacements.
MEMBERS: dict[str, tuple[str | None, str]] = {
    "synonym": (None, "synonyms"),
    "onewaysynonym": ("input", "synonyms"),
    "altcorrection1": ("word", "corrections"),
    "altcorrection2": ("word", "corrections"),
    "placeholder": ("placeholder", "replacements"),
}
Synonym = Mapping[str, Any]


def find_faults(synonyms: Sequence[Synonym]) -> Faults:
    """Return the errors and warnings, by objectID."""
    faults: Faults = defaultdict(list)
    for synonym in synonyms:
        listed = faults[synonym["objectID"]]
        listed += [ObjectProblem(level="error", text=text) for text in _list_errors(synonym)]
        listed += [ObjectProblem(level="warning", text=text) for text in _list_warnings(synonym)]
    for name, other in _find_duplicates(synonyms):
        faults[name].append({"level": "warning", "text": f"duplicate of `{other}`", "other": other})
    for name, other in _find_contained(synonyms):
        text = f"already contained in `{other}`"
        faults[name].append({"level": "warning", "text": text, "other": other})
    for name, words in find_cycles(_find_edges(synonyms)):
        path = " → ".join((*words, words[0]))
        text = f"one-way synonyms form a cycle: {path}; use a two-way synonym"
        faults[name].append({"level": "warning", "text": text})
    return {name: listed for name, listed in faults.items() if listed}


def head_of(synonym: Synonym) -> str | None:
    """Return the replaced word; two-way synonyms have none."""
    member = MEMBERS[synonym["type"]][0]
    return synonym.get(member, "") if member else None


def words_of(synonym: Synonym) -> list[str]:
    """Return the replacements; of a two-way synonym, all its words."""
    return list(synonym.get(MEMBERS[synonym["type"]][1]) or ())


def _list_errors(synonym: Synonym) -> Iterator[str]:
    head, words = head_of(synonym), words_of(synonym)
    head_member, words_member = MEMBERS[synonym["type"]]
    if not synonym["objectID"].strip():
        yield "the objectID is empty"
    if head is not None and not head.strip():
        yield f"`{head_member}` is empty"
    if not words:
        yield f"`{words_member}` has no words"
    if not all(map(str.strip, words)):
        yield f"`{words_member}` contains an empty word"
    if synonym["type"].startswith("altcorrection"):
        for phrase in (head or "", *words):
            if len(phrase.split()) > 1:
                yield f"`{phrase}` has several words; corrections are single words"


def _list_warnings(synonym: Synonym) -> Iterator[str]:
    kind, head = synonym["type"], head_of(synonym)
    counts = Counter(map(_fold, words_of(synonym)))
    yield from (f"duplicate word `{word}`" for word in counts if word and counts[word] > 1)
    if kind == "synonym" and len(counts) == 1 and "" not in counts:
        yield "a synonym of a single word has no effect"
    if head:
        yield from _list_head_warnings(kind, head, counts)


def _list_head_warnings(kind: str, head: str, words: Container[str]) -> Iterator[str]:
    if _fold(head) in words:
        yield f"`{head}` is a synonym of itself"
    if kind == "placeholder" and not (head.startswith("<") and head.endswith(">")):
        yield f"records contain placeholders in angle brackets: `<{head.strip('<> ')}>`"


def _find_duplicates(synonyms: Iterable[Synonym]) -> Iterator[tuple[str, str]]:
    """Yield synonyms that equal an earlier one, with the earlier one."""
    seen: dict[Any, str] = {}
    for synonym in synonyms:
        words = frozenset(map(_fold, words_of(synonym)))
        if not words:
            continue
        head = head_of(synonym)
        key = (synonym["type"], None if head is None else _fold(head), words)
        first = seen.setdefault(key, synonym["objectID"])
        if first != synonym["objectID"]:
            yield synonym["objectID"], first


def _find_contained(synonyms: Iterable[Synonym]) -> Iterator[tuple[str, str]]:
    """Yield synonyms that are part of another synonym, with the first that contains them."""
    entries = list(_fold_entries(synonyms))
    mutual: dict[str, list[FoldedEntry]] = defaultdict(list)  # by word
    one_way: dict[str, list[FoldedEntry]] = defaultdict(list)  # by head
    for entry in entries:
        if entry.head is None:
            for word in entry.words:
                mutual[word].append(entry)
        else:
            one_way[entry.head].append(entry)
    for entry in entries:
        # A synonym with all words is among those that have the rarest word.
        rarest = min((mutual.get(word, []) for word in entry.all_words), key=len)
        heads = [] if entry.head is None else one_way[entry.head]
        if container := next(filter(entry.is_within, chain(rarest, heads)), None):
            yield entry.name, container.name


class FoldedEntry(NamedTuple):
    """The objectID, head and words of a synonym that replaces words by equals."""

    name: str
    head: str | None
    words: frozenset[str]
    # The words with the head.
    all_words: frozenset[str]

    def is_within(self, other: FoldedEntry) -> bool:
        """Return whether another entry, mutual or of the same head, replaces more words."""
        if other.head is not None:
            return self.words < other.words
        return self.all_words < other.words or (bool(self.head) and self.all_words == other.words)


def _fold_entries(synonyms: Iterable[Synonym]) -> Iterator[FoldedEntry]:
    for synonym in synonyms:
        given = head_of(synonym)
        head = None if given is None else _fold(given)
        words = frozenset(filter(None, map(_fold, words_of(synonym))))
        if synonym["type"] in ("synonym", "onewaysynonym") and words:
            all_words = words if head is None else words | {head}
            yield FoldedEntry(synonym["objectID"], head, words, all_words)


def _find_edges(synonyms: Iterable[Synonym]) -> Iterator[tuple[str, str, str]]:
    """Yield the edges of one-way synonyms: objectID, replaced word, replacement."""
    for synonym in synonyms:
        if synonym["type"] == "onewaysynonym":
            head = _fold(head_of(synonym) or "")
            for word in map(_fold, words_of(synonym)):
                if word and word != head:
                    yield synonym["objectID"], head, word


def _fold(word: str) -> str:
    return " ".join(word.casefold().split())

"""What is wrong, or odd, about synonyms."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from svc_notebook.editors.curating.editor import Fault, Faults

# Where each type keeps the word that is replaced, and the words that stand for it.
MEMBERS: dict[str, tuple[str | None, str]] = {
    "synonym": (None, "synonyms"),
    "onewaysynonym": ("input", "synonyms"),
    "altcorrection1": ("word", "corrections"),
    "altcorrection2": ("word", "corrections"),
    "placeholder": ("placeholder", "replacements"),
}
Synonym = Mapping[str, Any]
LONGEST = 6  # words of a circle that are named


def find_faults(synonyms: Sequence[Synonym]) -> Faults:
    """Say what is wrong or odd, by objectID."""
    faults: Faults = defaultdict(list)
    for synonym in synonyms:
        faults[synonym["objectID"]] += _own_faults(synonym)
    for name, other in _find_doubles(synonyms):
        faults[name].append({"level": "odd", "text": f"says what `{other}` says", "other": other})
    for name, other in _find_parts(synonyms):
        text = f"says a part of what `{other}` says"
        faults[name].append({"level": "odd", "text": text, "other": other})
    for name, words in _find_cycles(synonyms):
        some = words if len(words) <= LONGEST else [*words[:LONGEST], "…"]
        path = " → ".join((*some, words[0]))
        text = f"leads in a circle: {path}; a two-way synonym says it plainly"
        faults[name].append({"level": "odd", "text": text})
    return {name: found for name, found in faults.items() if found}


def head_of(synonym: Synonym) -> str | None:
    """The word that is replaced; two-way synonyms have none."""
    member = MEMBERS[synonym["type"]][0]
    return synonym.get(member, "") if member else None


def words_of(synonym: Synonym) -> list[str]:
    """The words that stand for it, or for each other."""
    return list(synonym.get(MEMBERS[synonym["type"]][1]) or ())


def _own_faults(synonym: Synonym) -> Iterator[Fault]:
    kind, head, words = synonym["type"], head_of(synonym), words_of(synonym)
    member, others = MEMBERS[kind]
    if not synonym["objectID"].strip():
        yield _wrong("the objectID is empty")
    if head is not None and not head.strip():
        yield _wrong(f"`{member}` is empty")
    if not words:
        yield _wrong(f"`{others}` has no words")
    elif not all(word.strip() for word in words):
        yield _wrong(f"`{others}` holds an empty word")
    if kind.startswith("altcorrection"):
        yield from (
            _wrong(f"`{word}` is several words; corrections are single words")
            for word in (head or "", *words)
            if len(word.split()) > 1
        )
    plain = [_fold(word) for word in words]
    for word in dict.fromkeys(word for word in plain if word and plain.count(word) > 1):
        yield _odd(f"`{word}` is there twice")
    if kind == "synonym" and len(set(plain)) == 1 and plain[0]:
        yield _odd("one word alone stands for nothing else")
    if head and _fold(head) in plain:
        yield _odd(f"`{head}` stands for itself")
    if kind == "placeholder" and head and not (head.startswith("<") and head.endswith(">")):
        yield _odd(f"records hold placeholders in angle brackets: `<{head.strip('<> ')}>`")


def _find_doubles(synonyms: Iterable[Synonym]) -> Iterator[tuple[str, str]]:
    """Yield those that say what one before them says."""
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


def _find_parts(synonyms: Iterable[Synonym]) -> Iterator[tuple[str, str]]:
    """Yield those that say a part of what another says, and the first that says it all."""
    groups: dict[tuple[str, str], list[tuple[str, frozenset[str]]]] = defaultdict(list)
    own: list[tuple[str, str | None, frozenset[str]]] = []
    for synonym in synonyms:
        kind, head = synonym["type"], head_of(synonym)
        words = frozenset(filter(None, map(_fold, words_of(synonym))))
        if kind in ("synonym", "onewaysynonym") and words:
            own.append((synonym["objectID"], None if head is None else _fold(head), words))
            for key in [("", word) for word in words] if head is None else [("to", _fold(head))]:
                groups[key].append((synonym["objectID"], words))
    for name, head, words in own:
        all_of = words if head is None else words | {head}
        # Who has all words is among those that have the word which the fewest have.
        near = [*min((groups.get(("", word), []) for word in all_of), key=len)]
        whole = [other for other, more in near if all_of < more or (head and all_of == more)]
        if head is not None:
            whole += [other for other, more in groups["to", head] if words < more]
        if whole:
            yield name, whole[0]


def _find_cycles(synonyms: Iterable[Synonym]) -> Iterator[tuple[str, list[str]]]:
    """Yield one-way synonyms whose words lead back to where they began."""
    steps: dict[str, list[str]] = defaultdict(list)
    edges: list[tuple[str, str, str]] = []
    for synonym in synonyms:
        if synonym["type"] == "onewaysynonym":
            head = _fold(head_of(synonym) or "")
            own = [word for word in map(_fold, words_of(synonym)) if word and word != head]
            steps[head] += own
            edges += [(synonym["objectID"], head, word) for word in own]
    told: set[str] = set()
    steps = _without_ends(steps)
    for name, head, word in edges:
        if (
            name not in told
            and head in steps
            and word in steps
            and (way := _find_way(steps, word, head))
        ):
            told.add(name)
            yield name, [head, *way[:-1]]


def _without_ends(steps: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Leave out words from which no circle is reached: most of them, and searching is slow."""
    came: dict[str, list[str]] = defaultdict(list)
    left: Counter[str] = Counter()
    for word, after in steps.items():
        for other in dict.fromkeys(after):
            came[other].append(word)
            left[word] += 1
    ends = [word for word in {*steps, *came} if not left[word]]
    gone = set(ends)
    for end in ends:
        for word in came[end]:
            left[word] -= 1
            if not left[word] and word not in gone:
                gone.add(word)
                ends.append(word)
    return {word: [o for o in after if o not in gone] for word, after in steps.items()
            if word not in gone}  # fmt: skip


def _find_way(steps: Mapping[str, Sequence[str]], start: str, goal: str) -> list[str]:
    """Return the shortest way from one word to another, both included, or nothing."""
    came: dict[str, str | None] = {start: None}
    queue = [start]
    for word in queue:
        for after in steps.get(word, ()):
            if after not in came:
                came[after] = word
                queue.append(after)
    if goal not in came:
        return []
    way: list[str] = []
    at: str | None = goal
    while at is not None:
        way.append(at)
        at = came[at]
    return way[::-1]


def _fold(word: str) -> str:
    return " ".join(word.casefold().split())


def _wrong(text: str) -> Fault:
    return {"level": "wrong", "text": text}


def _odd(text: str) -> Fault:
    return {"level": "odd", "text": text}

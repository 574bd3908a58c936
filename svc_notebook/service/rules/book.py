"""The rules of an index, indexed by what a search must contain for them to apply."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from svc_notebook.service.engine.deadline import check_time, stop_clock
from svc_notebook.service.engine.term_dictionary import TermDictionary
from svc_notebook.service.engine.text.tokenization import TokenizerSettings
from svc_notebook.service.engine.text.typos import Vocabulary
from svc_notebook.service.resources.entries import Entry
from svc_notebook.service.rules.rule import AppliedRule, CompiledCondition, CompiledRule, apply_rule
from svc_notebook.service.rules.search_context import Reading

Key = tuple[Any, ...]
_Cards = list[tuple[Key, CompiledRule, CompiledCondition]]
MAX_TYPOS = 2


class Rulebook:
    """The compiled rules of one index; `read` loads them for the first search.

    They are compiled for each tokenizer configuration that searches use.
    """

    def __init__(self, read: Callable[[], Iterable[Entry]] = tuple) -> None:
        self._read = read
        self._files: dict[TokenizerSettings, _File] = {}
        self._compiling = threading.Lock()

    def find(self, reading: Reading, now: float) -> list[AppliedRule]:
        """Return the rules that apply to a search, in order of precedence."""
        found: dict[str, AppliedRule] = {}
        for rule, condition in self._file(reading.options.rules).look_up(reading):
            check_time()
            if rule.is_valid(now) and (applied := apply_rule(rule, condition, reading)):
                best = found.setdefault(rule.id, applied)
                if applied.precedence < best.precedence:
                    found[rule.id] = applied
        return sorted(found.values(), key=lambda applied: applied.precedence)

    def warm(self, rules: TokenizerSettings) -> None:
        """Compile ahead for the tokenizer configuration of an index."""
        self._file(rules).warm()

    def revised(
        self, gone: Collection[str], new: Iterable[Entry], *, emptied: bool = False
    ) -> Rulebook:
        """Return a copy with new rules and without some or all of the old ones."""
        revised = Rulebook(self._read)
        new = list(new)
        for rules, file in self._files.items():
            cards = {**({} if emptied else file.by_id), **_make_cards(new, rules)}
            kept = {name: own for name, own in cards.items() if name not in gone}
            revised._files[rules] = _File(kept)
        return revised

    def _file(self, rules: TokenizerSettings) -> _File:
        if (file := self._files.get(rules)) is not None:
            return file
        with stop_clock(), self._compiling:
            if rules not in self._files:
                self._files = {**self._files, rules: _File(_make_cards(self._read(), rules))}
            return self._files[rules]


def _make_cards(entries: Iterable[Entry], rules: TokenizerSettings) -> dict[str, _Cards]:
    """Compile the enabled rules; disabled ones get no conditions."""
    cards: dict[str, _Cards] = {}
    for entry in entries:
        rule = CompiledRule.of(entry)
        conditions = entry.get("conditions") or [{}] if entry.get("enabled", True) else ()
        made = [CompiledCondition.of(given, rules) for given in conditions]
        cards[rule.id] = [(_key_of(condition), rule, condition) for condition in made]
    return cards


@dataclass(frozen=True, eq=False)
class _File:
    """Rules by id, and their conditions by the keys under which searches look them up."""

    by_id: Mapping[str, _Cards]

    @cached_property
    def cards(self) -> Mapping[Key, list[tuple[CompiledRule, CompiledCondition]]]:
        """Rules and conditions by key."""
        cards: dict[Key, list[tuple[CompiledRule, CompiledCondition]]] = {}
        for own in self.by_id.values():
            for key, rule, condition in own:
                cards.setdefault(key, []).append((rule, condition))
        return cards

    @cached_property
    def longest(self) -> Mapping[str, int]:
        """The length in words of the longest key that starts with each word."""
        longest: dict[str, int] = {}
        for run in self._kinds("words"):
            longest[run[0]] = max(longest.get(run[0], 0), len(run))
        return longest

    @cached_property
    def facets(self) -> frozenset[str]:
        """The facets of placeholder keys."""
        return frozenset(self._kinds("facet"))

    @cached_property
    def contexts(self) -> frozenset[str]:
        """The contexts of all keys."""
        return frozenset(key[-1] for key in self.cards if key[-1] is not None)

    @cached_property
    def loose(self) -> frozenset[str]:
        """The words of keys that also match in other forms."""
        return frozenset(self._kinds("loose"))

    @cached_property
    def filters(self) -> bool:
        """Whether there are keys for filters."""
        return any(self._kinds("filter"))

    def warm(self) -> None:
        """Compute the cached properties."""
        _ = self.longest, self.facets, self.contexts, self.loose, self.filters
        if self.loose:
            _ = self._vocabulary

    def _kinds(self, kind: str) -> Iterator[Any]:
        return (key[1] for key in self.cards if key[0] == kind)

    def look_up(self, reading: Reading) -> Iterator[tuple[CompiledRule, CompiledCondition]]:
        """Yield the conditions that may hold for a search."""
        if not self.cards:
            return
        contexts = (None, *(self.contexts & reading.contexts))
        for key in dict.fromkeys(self._keys(reading)):
            for context in contexts:
                yield from self.cards.get((*key, context), ())

    def _keys(self, reading: Reading) -> Iterator[Key]:
        yield ("any",)
        if self.filters:
            yield from (("filter", chosen) for chosen in reading.chosen)
        words = reading.words
        if not words:
            yield ("empty",)
        for start, word in enumerate(words):
            for length in range(1, min(self.longest.get(word, 0), len(words) - start) + 1):
                yield "words", tuple(words[start : start + length])
        yield from (("facet", facet) for facet in self.facets if reading.named(facet))
        if self.loose:
            yield from (("loose", word) for word in self._loose_words(reading))

    def _loose_words(self, reading: Reading) -> Iterator[str]:
        """Yield the words under which patterns with alternatives may be found."""
        for at, word in enumerate(reading.words):
            yield word
            yield from (form.words[0] for form in reading.forms(at))
            near = self._vocabulary.misspelled(word, MAX_TYPOS, prefix=False)
            yield from self._vocabulary.names.take(near.words)

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary.of(TermDictionary.of(sorted(self.loose)))


def _key_of(condition: CompiledCondition) -> Key:
    """Return the most selective key of a condition."""
    pattern, context = condition.pattern, condition.context
    if pattern is None:
        return ("filter", condition.chosen[0], context) if condition.chosen else ("any", context)
    if not pattern.tokens:
        return "empty", context
    run = pattern.longest_run
    if not run:
        return "facet", pattern.placeholders[0], context
    return ("loose", run[0], context) if pattern.loose else ("words", run, context)

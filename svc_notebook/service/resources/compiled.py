"""Compiled language resources: synonyms, rules and dictionaries, compiled on demand and cached."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from svc_notebook.core.tokenization.tokenizer import TokenizerSettings
from svc_notebook.service.engine.execution import check_time, stop_clock
from svc_notebook.service.engine.query.options import EffectiveParameters
from svc_notebook.service.engine.query.term_variants import warm_languages
from svc_notebook.service.engine.term_dictionary import TermDictionary
from svc_notebook.service.engine.text.lexicon import LanguageResources, Lexicon
from svc_notebook.service.engine.text.synonyms import Thesaurus
from svc_notebook.service.engine.text.typos import Vocabulary
from svc_notebook.service.resources.dictionaries import read_dictionaries
from svc_notebook.service.resources.entries import APPLICATION_ID, EntriesChange, read_entries
from svc_notebook.service.rules.rule import (
    AppliedRule,
    CompiledCondition,
    CompiledRule,
    SearchContext,
    apply_rule,
)
from svc_notebook.service.store import Store

SYNONYMS = "synonyms"
RULES = "rules"


class CompiledResources:
    """The compiled resources of the application and all indices, by owner."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._version = 0
        # By owner, how often its entries changed; under None, how often all were read again.
        self._changes: Counter[int | None] = Counter()
        self._compiled: dict[tuple[int, str], Any] = {}

    def language_resources(self, owner: int) -> LanguageResources:
        """Return the synonyms and dictionaries for searches in one index."""
        synonyms = self._get_or_compile(
            owner, SYNONYMS, lambda: Thesaurus(lambda: read_entries(self._store, owner, SYNONYMS))
        )
        return LanguageResources(
            synonyms, self._get_or_compile(APPLICATION_ID, "lexicon", self._lexicon)
        )

    def versions(self, owner: int) -> tuple[int, int]:
        """Return numbers that change with the entries of an owner and of the application."""
        changes = self._changes
        return changes[None] + changes[owner], changes[None] + changes[APPLICATION_ID]

    def warm(self, owner: int, settings: Mapping[str, Any]) -> None:
        """Compile what a search in one index needs, unless it is cached."""
        options = EffectiveParameters(settings, {}, self.language_resources(owner))
        list(options.resources.synonyms.find((), options.rules))
        self.rules(owner).warm(options.rules)
        warm_languages(options, ())

    def retain(self, owners: Collection[int]) -> None:
        """Drop the resources of all other owners, which are deleted."""
        with self._lock:
            kept = (APPLICATION_ID, *owners)
            self._compiled = {key: value for key, value in self._compiled.items() if key[0] in kept}

    def _lexicon(self) -> Lexicon:
        return Lexicon(partial(read_dictionaries, self._store))

    def rules(self, owner: int) -> Rulebook:
        """Return the compiled rules of an index."""
        read = partial(read_entries, self._store, owner, RULES)
        rules: Rulebook = self._get_or_compile(owner, RULES, lambda: Rulebook(read))
        return rules

    def forget(self, owner: int | None = None) -> None:
        """Drop the resources of one owner, or of all; they are compiled again on demand."""
        self._replace(owner, {})

    def apply_changes(self, owner: int, changes: Iterable[EntriesChange]) -> None:
        """Apply changes of an owner's entries; only the changed entries are compiled."""
        compiled: dict[str, Thesaurus | Rulebook] = {
            kind: value
            for kind in (SYNONYMS, RULES)
            if (value := self._compiled.get((owner, kind)))
        }
        for change in changes:
            if before := compiled.get(change.kind):
                after = before.revised(change.delete, change.save, emptied=change.clear)
                compiled[change.kind] = after
        self._replace(owner, {(owner, kind): value for kind, value in compiled.items()})

    def _replace(self, owner: int | None, now: dict[tuple[int, str], Any]) -> None:
        with self._lock:
            self._version += 1
            self._changes[owner] += 1
            kept = {
                key: value for key, value in self._compiled.items() if owner not in (None, key[0])
            }
            self._compiled = kept | now

    def _get_or_compile(self, owner: int, kind: str, compile: Callable[[], Any]) -> Any:
        compiled = self._compiled.get((owner, kind))
        if compiled is None:
            version = self._version
            compiled = compile()
            with self._lock:
                if version == self._version:  # otherwise it may have been read before a change
                    self._compiled[owner, kind] = compiled
        return compiled


Key = tuple[Any, ...]
_KeyedConditions = list[tuple[Key, CompiledRule, CompiledCondition]]
MAX_TYPOS = 2


class Rulebook:
    """The compiled rules of one index; `read` loads them for the first search.

    They are compiled for each tokenizer configuration that searches use.
    """

    def __init__(self, read: Callable[[], Iterable[Mapping[str, Any]]] = tuple) -> None:
        self._read = read
        self._indexes: dict[TokenizerSettings, _ConditionIndex] = {}
        self._compiling = threading.Lock()

    def find(self, search: SearchContext, now: float) -> list[AppliedRule]:
        """Return the rules that apply to a search, in order of precedence."""
        rules = search.options.rules
        index = self._indexes.get(rules) or self._compile(rules)
        if not index.by_key:
            return []
        best_by_id: dict[str, AppliedRule] = {}
        for rule, condition in index.look_up(search):
            check_time()
            if rule.is_valid(now) and (applied := apply_rule(rule, condition, search)):
                best = best_by_id.setdefault(rule.id, applied)
                if applied.precedence < best.precedence:
                    best_by_id[rule.id] = applied
        return sorted(best_by_id.values(), key=lambda applied: applied.precedence)

    def warm(self, rules: TokenizerSettings) -> None:
        """Compile ahead for the tokenizer configuration of an index."""
        self._compile(rules).warm()

    def revised(
        self, gone: Collection[str], new: Iterable[Mapping[str, Any]], *, emptied: bool = False
    ) -> Rulebook:
        """Return a copy with new rules and without some or all of the old ones."""
        revised = Rulebook(self._read)
        new = list(new)
        for rules, index in self._indexes.items():
            compiled = {**({} if emptied else index.by_id), **_compile_rules(new, rules)}
            kept = {name: conditions for name, conditions in compiled.items() if name not in gone}
            revised._indexes[rules] = _ConditionIndex(kept)
        return revised

    def _compile(self, rules: TokenizerSettings) -> _ConditionIndex:
        with stop_clock(), self._compiling:
            if rules not in self._indexes:
                self._indexes = {
                    **self._indexes,
                    rules: _ConditionIndex(_compile_rules(self._read(), rules)),
                }
            return self._indexes[rules]


def _compile_rules(
    entries: Iterable[Mapping[str, Any]], rules: TokenizerSettings
) -> dict[str, _KeyedConditions]:
    """Compile the enabled rules; disabled ones get no conditions."""
    compiled: dict[str, _KeyedConditions] = {}
    for entry in entries:
        rule = CompiledRule.of(entry)
        conditions = entry.get("conditions") or [{}] if entry.get("enabled", True) else ()
        made = [CompiledCondition.of(given, rules) for given in conditions]
        compiled[rule.id] = [(_key_of(condition), rule, condition) for condition in made]
    return compiled


@dataclass(frozen=True, eq=False)
class _ConditionIndex:
    """Rules by id, and their conditions by the keys under which searches look them up."""

    by_id: Mapping[str, _KeyedConditions]

    @cached_property
    def by_key(self) -> Mapping[Key, list[tuple[CompiledRule, CompiledCondition]]]:
        """Rules and conditions by key."""
        by_key: dict[Key, list[tuple[CompiledRule, CompiledCondition]]] = {}
        for conditions in self.by_id.values():
            for key, rule, condition in conditions:
                by_key.setdefault(key, []).append((rule, condition))
        return by_key

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
        return frozenset(key[-1] for key in self.by_key if key[-1] is not None)

    @cached_property
    def alternatives(self) -> frozenset[str]:
        """The words of keys that also match in other forms."""
        return frozenset(self._kinds("alternatives"))

    @cached_property
    def filters(self) -> bool:
        """Whether there are keys for filters."""
        return any(self._kinds("filter"))

    def warm(self) -> None:
        """Compute the cached properties."""
        _ = self.longest, self.facets, self.contexts, self.alternatives, self.filters
        if self.alternatives:
            _ = self._vocabulary

    def _kinds(self, kind: str) -> Iterator[Any]:
        return (key[1] for key in self.by_key if key[0] == kind)

    def look_up(self, search: SearchContext) -> Iterator[tuple[CompiledRule, CompiledCondition]]:
        """Yield the conditions that a search may meet."""
        contexts = (None, *(self.contexts & search.contexts))
        for key in dict.fromkeys(self._keys(search)):
            for context in contexts:
                yield from self.by_key.get((*key, context), ())

    def _keys(self, search: SearchContext) -> Iterator[Key]:
        yield ("any",)
        if self.filters:
            yield from (("filter", selected) for selected in search.selected)
        words = search.words
        if not words:
            yield ("empty",)
        for start, word in enumerate(words):
            for length in range(1, min(self.longest.get(word, 0), len(words) - start) + 1):
                yield "words", tuple(words[start : start + length])
        yield from (("facet", facet) for facet in self.facets if search.named(facet))
        if self.alternatives:
            yield from (("alternatives", word) for word in self._alternative_words(search))

    def _alternative_words(self, search: SearchContext) -> Iterator[str]:
        """Yield the words under which patterns with alternatives may be found."""
        for at, word in enumerate(search.words):
            yield word
            yield from (form.words[0] for form in search.forms(at))
            near = self._vocabulary.misspelled(word, MAX_TYPOS, prefix=False)
            yield from self._vocabulary.names.take(near.words)

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary.of(TermDictionary.of(sorted(self.alternatives)))


def _key_of(condition: CompiledCondition) -> Key:
    """Return the most selective key of a condition."""
    pattern, context = condition.pattern, condition.context
    if pattern is None:
        return (
            ("filter", condition.selected[0], context) if condition.selected else ("any", context)
        )
    if not pattern.tokens:
        return "empty", context
    run = pattern.longest_run
    if not run:
        return "facet", pattern.placeholders[0], context
    return ("alternatives", run[0], context) if pattern.alternatives else ("words", run, context)

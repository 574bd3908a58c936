"""Compiled language resources: synonyms, rules and dictionaries, compiled on demand and cached."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any

from svc_notebook.service.engine.query.options import EffectiveParameters
from svc_notebook.service.engine.query.term_variants import warm_languages
from svc_notebook.service.engine.text.lexicon import LanguageResources, Lexicon
from svc_notebook.service.engine.text.synonyms import Thesaurus
from svc_notebook.service.resources.dictionaries import read_dictionaries
from svc_notebook.service.resources.entries import APPLICATION_ID, EntriesChange, read_entries
from svc_notebook.service.rules.book import Rulebook
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

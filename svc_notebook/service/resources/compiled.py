"""Compiled language resources: synonyms, rules and dictionaries, compiled on demand and cached."""

from __future__ import annotations

import threading
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
        self._edition = 0
        self._known: dict[tuple[int, str], Any] = {}

    def knowledge(self, owner: int) -> LanguageResources:
        """Return the synonyms and dictionaries for searches in one index."""
        synonyms = self._learn(
            owner, SYNONYMS, lambda: Thesaurus(lambda: read_entries(self._store, owner, SYNONYMS))
        )
        return LanguageResources(synonyms, self._learn(APPLICATION_ID, "lexicon", self._lexicon))

    def warm(self, owner: int, settings: Mapping[str, Any]) -> None:
        """Compile what a search in one index needs, unless it is cached."""
        options = EffectiveParameters(settings, {}, self.knowledge(owner))
        list(options.resources.synonyms.find((), options.rules))
        self.rules(owner).warm(options.rules)
        warm_languages(options, ())

    def keep(self, owners: Collection[int]) -> None:
        """Drop the resources of all other owners, which are deleted."""
        with self._lock:
            kept = (APPLICATION_ID, *owners)
            self._known = {key: one for key, one in self._known.items() if key[0] in kept}

    def _lexicon(self) -> Lexicon:
        return Lexicon(partial(read_dictionaries, self._store))

    def rules(self, owner: int) -> Rulebook:
        """Return the compiled rules of an index."""
        read = partial(read_entries, self._store, owner, RULES)
        rules: Rulebook = self._learn(owner, RULES, lambda: Rulebook(read))
        return rules

    def forget(self, owner: int | None = None) -> None:
        """Drop the resources of one owner, or of all; they are compiled again on demand."""
        self._replace(owner, {})

    def revise(self, owner: int, changes: Iterable[EntriesChange]) -> None:
        """Apply changes of an owner's entries; only the changed entries are compiled."""
        known: dict[str, Thesaurus | Rulebook] = {
            kind: one for kind in (SYNONYMS, RULES) if (one := self._known.get((owner, kind)))
        }
        for change in changes:
            if before := known.get(change.kind):
                after = before.revised(change.delete, change.save, emptied=change.clear)
                known[change.kind] = after
        self._replace(owner, {(owner, kind): one for kind, one in known.items()})

    def _replace(self, owner: int | None, now: dict[tuple[int, str], Any]) -> None:
        with self._lock:
            self._edition += 1
            kept = {key: one for key, one in self._known.items() if owner not in (None, key[0])}
            self._known = kept | now

    def _learn(self, owner: int, kind: str, compile: Callable[[], Any]) -> Any:
        known = self._known.get((owner, kind))
        if known is None:
            edition = self._edition
            known = compile()
            with self._lock:
                if edition == self._edition:  # otherwise it may have been read before a change
                    self._known[owner, kind] = known
        return known

"""The effective parameters of a search: its own, then the index settings, then the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from svc_notebook.api.parameters import default_of
from svc_notebook.service.engine.index.schema import (
    Faceted,
    Searched,
    covers,
    names_path,
    read_faceted,
    read_filterable,
    read_searched,
)
from svc_notebook.service.engine.text.lexicon import NO_LANGUAGE_RESOURCES, LanguageResources
from svc_notebook.service.engine.text.tokenization import TokenizerSettings, split

VIRTUAL = "_virtual"
"""Internal setting that marks a virtual replica, whose customRanking sorts the relevant hits."""
EMBEDDED_LISTS = "_embeddedLists"
"""Internal parameter: lists of attributes in the form of `attributesToRetrieve`.

Attributes outside these lists are never returned.
"""
YES_AND_NO = {"true": True, "false": False}


@dataclass(frozen=True, eq=False)
class EffectiveParameters:
    """Parameters and settings by name; `None` counts as not given."""

    settings: Mapping[str, Any]
    params: Mapping[str, Any]
    knowledge: LanguageResources = NO_LANGUAGE_RESOURCES

    def __getitem__(self, name: str) -> Any:
        value = self.params.get(name)
        if value is None:
            value = self.settings.get(name)
        return default_of(name) if value is None else value

    @property
    def typo_tolerance(self) -> bool | str:
        """Return true, false, `min` or `strict`."""
        given = self["typoTolerance"]
        return YES_AND_NO.get(given, given) if isinstance(given, str) else bool(given)

    @property
    def sorts_relevant(self) -> bool:
        """Whether relevant hits are sorted by customRanking first (virtual replicas)."""
        return bool(self.settings.get(VIRTUAL))

    @property
    def distinct(self) -> int:
        """The number of hits per group, 0 for all."""
        return int(self["distinct"]) if self["attributeForDistinct"] else 0

    @cached_property
    def rules(self) -> TokenizerSettings:
        """The tokenizer settings."""
        return TokenizerSettings.of(self.settings)

    @cached_property
    def unforgiven(self) -> frozenset[str]:
        """The words without typo tolerance."""
        given = self["disableTypoToleranceOnWords"]
        return frozenset(word for text in given for word in split(text, self.rules))

    @cached_property
    def searched(self) -> list[Searched]:
        """The entries of searchableAttributes."""
        return read_searched(self.settings)

    @cached_property
    def faceted(self) -> dict[str, Faceted]:
        """The entries of attributesForFaceting."""
        return read_faceted(self.settings)

    @cached_property
    def filterable(self) -> dict[str, bool]:
        """The entries of numericAttributesForFiltering; empty means all numeric attributes."""
        return read_filterable(self.settings)

    def sees(self, path: str) -> bool:
        """Return whether the caller may see an attribute."""
        if not all(names_path(names, path) for names in self.params.get(EMBEDDED_LISTS, ())):
            return False
        hidden = self.settings.get("unretrievableAttributes")
        if not hidden or self.params.get("_seeUnretrievable"):
            return True
        return not any(covers(entry, path) for entry in hidden)

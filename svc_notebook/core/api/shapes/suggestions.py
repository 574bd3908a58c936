"""Shapes of query suggestions: their sources, and the state of their last build."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, Required, TypedDict

from msgspec import Meta

from svc_notebook.core.api.values import Natural, Positive

Names = list[str]


class SuggestionFacet(TypedDict):
    """A facet whose most frequent values each suggestion has."""

    attribute: str
    amount: NotRequired[Positive]


class SuggestionSource(TypedDict, total=False):
    """An index whose searches become suggestions."""

    indexName: Required[str]
    replicas: bool
    analyticsTags: Names | None
    facets: list[SuggestionFacet] | None
    minHits: Natural
    minLetters: Natural
    generate: list[Names] | None
    external: Names | None


class SuggestionFields(TypedDict, total=False):
    """What a configuration of suggestions contains besides the name of their index."""

    sourceIndices: Required[Annotated[list[SuggestionSource], Meta(min_length=1)]]
    languages: bool | Names
    exclude: Names | None
    enablePersonalization: bool
    allowSpecialCharacters: bool


class SuggestionConfig(TypedDict):
    """A configuration of suggestions with its defaults."""

    appID: str
    indexName: str
    sourceIndices: list[SuggestionSource]
    languages: bool | list[str]
    exclude: list[str]
    enablePersonalization: bool
    allowSpecialCharacters: bool


class SuggestionStatus(TypedDict):
    """The state of the builds of an index of suggestions; times are missing before the first."""

    indexName: str
    isRunning: bool
    lastBuiltAt: NotRequired[str]
    lastSuccessfulBuiltAt: NotRequired[str]
    lastSuccessfulBuildDuration: NotRequired[str]


class SuggestionLog(TypedDict):
    """The outcome of the last build."""

    timestamp: str
    level: Literal["SKIP", "INFO", "ERROR"]
    message: str
    contextLevel: int

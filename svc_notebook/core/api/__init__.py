"""All endpoints of the API, declared once and shared by the client and the local service."""

from __future__ import annotations

from svc_notebook.core.api.declaration import Sender
from svc_notebook.core.api.endpoint import Endpoint, RequestSpec
from svc_notebook.core.api.families.administration import (
    ClusterEndpoints,
    KeyEndpoints,
    LogEndpoints,
    SourceEndpoints,
)
from svc_notebook.core.api.families.analytics import AnalyticsApi
from svc_notebook.core.api.families.crawler import CrawlerApi
from svc_notebook.core.api.families.curation import (
    DictionaryEndpoints,
    RuleEndpoints,
    SynonymEndpoints,
)
from svc_notebook.core.api.families.events import EventsApi
from svc_notebook.core.api.families.indices import IndexEndpoints, SettingsEndpoints
from svc_notebook.core.api.families.records import ObjectEndpoints, SearchEndpoints
from svc_notebook.core.api.families.suggestions import SuggestionsApi

__all__ = [
    "ENDPOINTS",
    "AnalyticsApi",
    "CrawlerApi",
    "Endpoint",
    "EventsApi",
    "RequestSpec",
    "SearchApi",
    "Sender",
    "SuggestionsApi",
]

FAMILIES = (
    SearchEndpoints, ObjectEndpoints, SettingsEndpoints, IndexEndpoints, SynonymEndpoints,
    KeyEndpoints, RuleEndpoints, DictionaryEndpoints, ClusterEndpoints, SourceEndpoints,
    LogEndpoints, CrawlerApi, EventsApi, AnalyticsApi, SuggestionsApi,
)  # fmt: skip


class SearchApi(
    SearchEndpoints, ObjectEndpoints, SettingsEndpoints, IndexEndpoints, SynonymEndpoints,
    KeyEndpoints, RuleEndpoints, DictionaryEndpoints, ClusterEndpoints, SourceEndpoints,
    LogEndpoints,
):  # fmt: skip
    """The search interface: all endpoints on `{base_url}` and `{read_base_url}`."""


ENDPOINTS: tuple[Endpoint, ...] = tuple(
    row for family in FAMILIES for row in family.endpoints.values()
)

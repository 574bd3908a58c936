"""All endpoints of the API, declared once and shared by the client and the local service."""

from __future__ import annotations

from svc_notebook.core.api.declaration import Sender
from svc_notebook.core.api.endpoint import Endpoint, RequestSpec
from svc_notebook.core.api.families.analytics import AnalyticsApi
from svc_notebook.core.api.families.clusters import ClusterEndpoints
from svc_notebook.core.api.families.crawler import CrawlerApi
from svc_notebook.core.api.families.dictionaries import DictionaryEndpoints
from svc_notebook.core.api.families.events import EventsApi
from svc_notebook.core.api.families.indices import IndexEndpoints
from svc_notebook.core.api.families.keys import KeyEndpoints
from svc_notebook.core.api.families.logs import LogEndpoints
from svc_notebook.core.api.families.objects import ObjectEndpoints
from svc_notebook.core.api.families.rules import RuleEndpoints
from svc_notebook.core.api.families.search import SearchEndpoints
from svc_notebook.core.api.families.settings import SettingsEndpoints
from svc_notebook.core.api.families.sources import SourceEndpoints
from svc_notebook.core.api.families.suggestions import SuggestionsApi
from svc_notebook.core.api.families.synonyms import SynonymEndpoints

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

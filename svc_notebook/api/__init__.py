"""All endpoints of the API, declared once and shared by the client and the local service."""

from __future__ import annotations

from svc_notebook.api.clusters import ClusterEndpoints
from svc_notebook.api.crawler import CrawlerApi
from svc_notebook.api.declaration import Sender
from svc_notebook.api.dictionaries import DictionaryEndpoints
from svc_notebook.api.endpoint import Endpoint, RequestSpec
from svc_notebook.api.events import EventsApi
from svc_notebook.api.indices import IndexEndpoints
from svc_notebook.api.keys import KeyEndpoints
from svc_notebook.api.logs import LogEndpoints
from svc_notebook.api.objects import ObjectEndpoints
from svc_notebook.api.rules import RuleEndpoints
from svc_notebook.api.search import SearchEndpoints
from svc_notebook.api.settings import SettingsEndpoints
from svc_notebook.api.sources import SourceEndpoints
from svc_notebook.api.synonyms import SynonymEndpoints

__all__ = ["ENDPOINTS", "CrawlerApi", "Endpoint", "EventsApi", "RequestSpec", "SearchApi", "Sender"]

FAMILIES = (
    SearchEndpoints, ObjectEndpoints, SettingsEndpoints, IndexEndpoints, SynonymEndpoints, KeyEndpoints, RuleEndpoints,
    DictionaryEndpoints, ClusterEndpoints, SourceEndpoints, LogEndpoints, CrawlerApi, EventsApi,
)  # fmt: skip


class SearchApi(
    SearchEndpoints, ObjectEndpoints, SettingsEndpoints, IndexEndpoints, SynonymEndpoints, KeyEndpoints, RuleEndpoints,
    DictionaryEndpoints, ClusterEndpoints, SourceEndpoints, LogEndpoints,
):  # fmt: skip
    """The search interface: all endpoints on `{base_url}` and `{read_base_url}`."""


ENDPOINTS: tuple[Endpoint, ...] = tuple(
    row for family in FAMILIES for row in family.endpoints.values()
)

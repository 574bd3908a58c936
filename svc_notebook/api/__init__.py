"""All endpoints of the API, declared once and shared by the client and the local service."""

from __future__ import annotations

from svc_notebook.api.clusters import ClusterRows
from svc_notebook.api.crawler import CrawlerApi
from svc_notebook.api.dictionaries import DictionaryRows
from svc_notebook.api.endpoint import Endpoint, RequestSpec, Sender
from svc_notebook.api.events import EventsApi
from svc_notebook.api.indices import IndexRows
from svc_notebook.api.keys import KeyRows
from svc_notebook.api.logs import LogRows
from svc_notebook.api.objects import ObjectRows
from svc_notebook.api.rules import RuleRows
from svc_notebook.api.search import SearchRows
from svc_notebook.api.settings import SettingsRows
from svc_notebook.api.sources import SourceRows
from svc_notebook.api.synonyms import SynonymRows

__all__ = ["ENDPOINTS", "CrawlerApi", "Endpoint", "EventsApi", "RequestSpec", "SearchApi", "Sender"]

FAMILIES = (
    SearchRows, ObjectRows, SettingsRows, IndexRows, SynonymRows, KeyRows, RuleRows,
    DictionaryRows, ClusterRows, SourceRows, LogRows, CrawlerApi, EventsApi,
)  # fmt: skip


class SearchApi(
    SearchRows, ObjectRows, SettingsRows, IndexRows, SynonymRows, KeyRows, RuleRows,
    DictionaryRows, ClusterRows, SourceRows, LogRows,
):  # fmt: skip
    """The search interface: all endpoints on `{base_url}` and `{read_base_url}`."""


ENDPOINTS: tuple[Endpoint, ...] = tuple(
    row for family in FAMILIES for row in family.endpoints.values()
)

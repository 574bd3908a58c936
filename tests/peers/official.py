"""The vendor's Python client as anybody installs it, pointed at a service on the loopback.

Only the host and the names of two headers differ from what its users write.
"""

from __future__ import annotations

import time
from typing import Any, Protocol
from urllib.parse import urlsplit

import pytest
from algoliasearch.http.api_response import ApiResponse
from algoliasearch.http.helpers import RetryTimeout
from algoliasearch.http.hosts import Host, HostsCollection
from algoliasearch.http.request_options import RequestOptions
from algoliasearch.http.transporter import Transporter
from algoliasearch.http.transporter_sync import TransporterSync
from algoliasearch.http.verb import Verb
from algoliasearch.search.client import SearchClient, SearchClientSync
from algoliasearch.search.config import SearchConfig
from algoliasearch.search.models.browse_response import BrowseResponse

from tests.conftest import Running

# Its models keep enums as strings, and pydantic warns of that whenever one is written out.
own_warnings = pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning")


def connect(service: Running, key: str | None = None) -> SearchClientSync:
    """Make a client with a key, the admin's by default."""
    config = point_at(service, key)
    return SearchClientSync.create_with_config(config, Translating(config))


def connect_async(service: Running, key: str | None = None) -> SearchClient:
    """Make a client whose methods are coroutine functions."""
    config = point_at(service, key)
    return SearchClient.create_with_config(config, TranslatingAsync(config))


def point_at(service: Running, key: str | None = None) -> SearchConfig:
    """Configure a client for one host, the service's."""
    config = SearchConfig(service.appId, key or service.adminKey)
    address = urlsplit(service.url)
    config.hosts = HostsCollection([Host(f"{address.hostname}", address.scheme, address.port)])
    return config


class Translating(TransporterSync):
    """Sends everything as it is, under neutral header names."""

    def request(
        self, verb: Verb, path: str, request_options: RequestOptions, use_read_transporter: bool
    ) -> ApiResponse[Any]:
        request_options.headers = translate(request_options.headers)
        return super().request(verb, path, request_options, use_read_transporter)


class TranslatingAsync(Transporter):
    """The same for coroutines."""

    async def request(
        self, verb: Verb, path: str, request_options: RequestOptions, use_read_transporter: bool
    ) -> ApiResponse[Any]:
        request_options.headers = translate(request_options.headers)
        return await super().request(verb, path, request_options, use_read_transporter)


def translate(headers: dict[str, str]) -> dict[str, str]:
    """Give headers their neutral names."""
    return {name.lower().replace("x-algolia-", "x-service-"): v for name, v in headers.items()}


class Accepted(Protocol):
    """Any answer to a write."""

    @property
    def task_id(self) -> int | None: ...


class Often(RetryTimeout):
    """Waits a moment between polls; the client's own steps are whole seconds."""

    def __call__(self, retry_count: int = 0) -> int:
        time.sleep(0.01)
        return 0


def finish(client: SearchClientSync, index: str, accepted: Accepted) -> None:
    """Wait for a write with the client's own helper."""
    assert accepted.task_id
    client.wait_for_task(index, accepted.task_id, Often(), max_retries=1000)


def fill(client: SearchClientSync, index: str, *records: dict[str, Any]) -> None:
    """Save records and wait until they can be searched."""
    for accepted in client.save_objects(index, records):
        finish(client, index, accepted)


def stored(client: SearchClientSync, index: str) -> dict[str, dict[str, Any]]:
    """All records of an index by objectID, read with the client's own helper."""
    pages: list[BrowseResponse] = []
    client.browse_objects(index, pages.append)
    return {hit.object_id: hit.to_dict() for page in pages for hit in page.hits}


def ids(answer: Any) -> list[str]:
    """The objectIDs of an answer's hits."""
    return [hit.object_id for hit in answer.hits]

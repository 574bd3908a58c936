"""Settings of the project; its search client has another host than its users' clients."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlsplit

from algoliasearch.http.hosts import Host, HostsCollection
from algoliasearch.search.config import SearchConfig

ADDRESS = urlsplit(os.environ["SERVICE_URL"])
configure = SearchConfig.__init__


def configure_host(config: SearchConfig, *args: Any, **kwargs: Any) -> None:
    """Configure a client for one host; the integration has no setting for it."""
    configure(config, *args, **kwargs)
    config.hosts = HostsCollection([Host(f"{ADDRESS.hostname}", ADDRESS.scheme, ADDRESS.port)])


SearchConfig.__init__ = configure_host  # type: ignore[assignment, method-assign]

ALGOLIA = {
    "APPLICATION_ID": os.environ["SERVICE_APP_ID"],
    "API_KEY": os.environ["SERVICE_KEY"],
    "INDEX_PREFIX": "test",
    "INDEX_SUFFIX": "django",
    "RAISE_EXCEPTIONS": True,
}
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
INSTALLED_APPS = ["algoliasearch_django", "tests"]
SECRET_KEY = "a test"
USE_TZ = True

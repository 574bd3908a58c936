"""Plots of what the service tells, read first unless a frame is given.

They draw in the thread that calls, where matplotlib belongs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from pandas import DataFrame

from svc_notebook import plots
from svc_notebook.api.parameters import SearchOptions
from svc_notebook.functions import blocking
from svc_notebook.session.connection import AnyClient

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DEFAULT_LOG_ENTRIES = 1000
"""Requests to draw; the service keeps no more."""


def plot_logs(
    logs: DataFrame | None = None,
    *,
    index: str | None = None,
    axes: Any = None,
    client: AnyClient | None = None,
) -> Sequence[Axes]:
    """Draw requests, latency and answer codes over time, of `read_logs` or the last 1,000.

    Returns three axes; `index` draws the requests of that index only.
    """
    if logs is None:
        logs = blocking.read_logs(length=DEFAULT_LOG_ENTRIES, indexName=index, client=client)
    return plots.plot_logs(logs, axes=axes)


def plot_facets(
    counts: DataFrame | str,
    query: str = "",
    *,
    top: int = 10,
    axes: Any = None,
    client: AnyClient | None = None,
    **params: Unpack[SearchOptions],
) -> Sequence[Axes]:
    """Draw the `top` values of each facet, of `read_facets` or of an index named; axes for each."""
    if isinstance(counts, str):
        counts = blocking.read_facets(counts, query, client=client, **params)
    return plots.plot_facets(counts, top=top, axes=axes)


def plot_clusters(
    clusters: DataFrame | None = None, *, axes: Any = None, client: AnyClient | None = None
) -> Sequence[Axes]:
    """Draw what each cluster holds: records, users, bytes; three axes."""
    if clusters is None:
        clusters = blocking.read_clusters(client=client)
    return plots.plot_clusters(clusters, axes=axes)


def plot_crawl(urls: DataFrame | str, *, axes: Any = None, client: AnyClient | None = None) -> Axes:
    """Draw how the URLs of a crawler's last crawl ended, of `read_crawler_urls` or by its name."""
    if isinstance(urls, str):
        urls = blocking.read_crawler_urls(urls, client=client)
    return plots.plot_crawl(urls, axes=axes)

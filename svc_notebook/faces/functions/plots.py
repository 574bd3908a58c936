"""Plots of what readers return, read from the service unless a DataFrame is given.

They draw in the thread of the caller, as matplotlib requires.
"""

from __future__ import annotations

from typing import Any, Unpack

from pandas import DataFrame

from svc_notebook.core.api.parameters import SearchOptions
from svc_notebook.data import plots
from svc_notebook.data.declarations import public
from svc_notebook.data.plots import ONE_AXES
from svc_notebook.data.session import AnyClient
from svc_notebook.faces.functions import blocking
from svc_notebook.faces.functions.overview import Overview, count_events
from svc_notebook.tuning.deployment import ConfigurationDrift, Deployment, DeploymentPlan

# Requests to draw; the service keeps no more.
DEFAULT_LOG_ENTRIES = 1000
# Days of analytics that are drawn of an index given by name.
DEFAULT_PERIOD = "29d"
# The age of the oldest events that are drawn unless they are given.
EVENTS_PERIOD = "7d"


@public()
def plot_logs(
    logs: DataFrame | None = None,
    *,
    index: str | None = None,
    axes: Any = None,
    client: AnyClient | None = None,
) -> plots.Plot:
    """Plot the number, latency and status of requests over time.

    Parameters
    ----------
    logs : DataFrame, default None
        Result of `read_logs`; None reads the newest 1,000 requests.
    index : str, default None
        Name of the index whose requests are read if `logs` is None; None reads those of
        all.
    axes : sequence of three Axes, default None
        Axes to draw into; None creates a figure.

    Returns
    -------
    Plot
        The axes of number, latency in milliseconds and status.

    Raises
    ------
    BadInput
        If a column is missing, or there are fewer than three axes.

    Examples
    --------
    >>> number, latency, status = svc.plot_logs(index="products")
    """
    if logs is None:
        logs = blocking.read_logs(limit=DEFAULT_LOG_ENTRIES, indexName=index, client=client)
    return plots.plot_logs(logs, axes=axes)


@public()
def plot_facets(
    counts: DataFrame | str,
    query: str = "",
    *,
    top: int = 10,
    axes: Any = None,
    client: AnyClient | None = None,
    **params: Unpack[SearchOptions],
) -> plots.Plot:
    """Plot the most frequent values of each facet.

    Parameters
    ----------
    counts : DataFrame or str
        Result of `read_facets`, or name of an index whose facets are read.
    query : str, default ""
        Query whose hits are counted if an index is named; "" matches every record.
    top : int, default 10
        Maximum number of values of each facet, 1 or more.
    axes : sequence of Axes, default None
        Axes to draw into, one for each facet; None creates a figure.

    Returns
    -------
    Plot
        One axes for each facet.

    Raises
    ------
    BadInput
        If a column is missing, `top` is less than 1, or there are too few axes.

    Examples
    --------
    >>> axes = svc.plot_facets("products", "lamp", top=5)
    >>> counts = svc.read_facets("products", facets=["category"])
    >>> axes = svc.plot_facets(counts)
    """
    if isinstance(counts, str):
        counts = blocking.read_facets(counts, query, client=client, **params)
    return plots.plot_facets(counts, top=top, axes=axes)


@public()
def plot_clusters(
    clusters: DataFrame | None = None, *, axes: Any = None, client: AnyClient | None = None
) -> plots.Plot:
    """Plot the records, users and bytes of each cluster.

    Parameters
    ----------
    clusters : DataFrame, default None
        Result of `read_clusters`; None reads the clusters.
    axes : sequence of three Axes, default None
        Axes to draw into; None creates a figure.

    Returns
    -------
    Plot
        The axes of records, users and bytes.

    Raises
    ------
    BadInput
        If a column is missing, or there are fewer than three axes.

    Examples
    --------
    >>> records, users, size = svc.plot_clusters()
    """
    if clusters is None:
        clusters = blocking.read_clusters(client=client)
    return plots.plot_clusters(clusters, axes=axes)


@public(like=ONE_AXES)
def plot_crawl(
    urls: DataFrame | str, *, axes: Any = None, client: AnyClient | None = None
) -> plots.Plot:
    """Plot the outcomes of the URLs of the last crawl by category and reason.

    Parameters
    ----------
    urls : DataFrame or str
        Result of `read_crawler_urls` or `read_crawled_urls`, or name or id of a crawler.

    Raises
    ------
    BadInput
        If a column is missing, or the crawler does not exist.

    Examples
    --------
    >>> axes = svc.plot_crawl("shop")
    """
    if isinstance(urls, str):
        urls = blocking.read_crawler_urls(urls, client=client)
    return plots.plot_crawl(urls, axes=axes)


@public()
def plot_search_counts(
    counts: DataFrame | str, *, axes: Any = None, client: AnyClient | None = None
) -> plots.Plot:
    """Plot the searches of each day, with weekends shaded, and the share of them without hits.

    Parameters
    ----------
    counts : DataFrame or str
        Result of `read_search_counts`, or name of an index whose last 30 days are read.
    axes : sequence of two Axes, default None
        Axes to draw into; None creates a figure.

    Returns
    -------
    Plot
        The axes of the searches and of the share without hits.

    Raises
    ------
    BadInput
        If a column is missing, or there are fewer than two axes.

    Examples
    --------
    >>> searches, unanswered = svc.plot_search_counts("products")
    """
    if isinstance(counts, str):
        counts = blocking.read_search_counts(counts, since=DEFAULT_PERIOD, client=client)
    return plots.plot_search_counts(counts, axes=axes)


@public(like=ONE_AXES)
def plot_click_positions(
    clicks: DataFrame | str, *, axes: Any = None, client: AnyClient | None = None
) -> plots.Plot:
    """Plot the number of clicks by position.

    Parameters
    ----------
    clicks : DataFrame or str
        Result of `read_click_positions`, or name of an index whose last 30 days are read.

    Examples
    --------
    >>> axes = svc.plot_click_positions("products")
    """
    if isinstance(clicks, str):
        clicks = blocking.read_click_positions(clicks, since=DEFAULT_PERIOD, client=client)
    return plots.plot_click_positions(clicks, axes=axes)


@public()
def plot_index_sizes(
    sizes: DataFrame | Overview | None = None,
    *,
    top: int = 5,
    axes: Any = None,
    client: AnyClient | None = None,
) -> plots.Plot:
    """Plot the records, bytes and pending tasks of the largest indices over time.

    Each `overview` on this machine adds one measurement.

    Parameters
    ----------
    sizes : Overview or DataFrame, default None
        Result of `overview`, or its `sizes`; None reads an overview.
    top : int, default 5
        Maximum number of indices, 1 or more; the others are drawn as their sum.
    axes : sequence of three Axes, default None
        Axes to draw into; None creates a figure.

    Returns
    -------
    Plot
        The axes of records, size in bytes and pending tasks.

    Raises
    ------
    BadInput
        If a column is missing, `top` is less than 1, or there are fewer than three axes.

    Examples
    --------
    >>> records, size, pending = svc.plot_index_sizes()
    """
    if sizes is None:
        sizes = blocking.overview(client=client)
    if isinstance(sizes, Overview):
        sizes = sizes.sizes
    return plots.plot_index_sizes(sizes, top=top, axes=axes)


@public(like=ONE_AXES)
def plot_key_use(
    keys: DataFrame | Overview | None = None,
    *,
    top: int = 20,
    axes: Any = None,
    client: AnyClient | None = None,
) -> plots.Plot:
    """Plot the newest 1,000 logged requests by key, and how many of them failed.

    Parameters
    ----------
    keys : Overview or DataFrame, default None
        Result of `overview`, or its `key_use`; None reads an overview.
    top : int, default 20
        Maximum number of keys, 1 or more.

    Raises
    ------
    BadInput
        If a column is missing, or `top` is less than 1.

    Examples
    --------
    >>> axes = svc.plot_key_use()
    """
    if keys is None:
        keys = blocking.overview(client=client)
    if isinstance(keys, Overview):
        keys = keys.key_use
    return plots.plot_key_use(keys, top=top, axes=axes)


@public(like=ONE_AXES)
def plot_events(
    events: DataFrame | Overview | None = None,
    *,
    axes: Any = None,
    client: AnyClient | None = None,
) -> plots.Plot:
    """Plot the events of each day by type.

    Parameters
    ----------
    events : DataFrame or Overview, default None
        Result of `read_events` or `overview`; None reads the events of the last 7 days from a
        local service.

    Raises
    ------
    BadInput
        If a column is missing.
    NotFound
        If the service is not a local service.

    Examples
    --------
    >>> axes = svc.plot_events()
    """
    if isinstance(events, Overview):
        events = events.events
    elif events is None:
        events = blocking.read_events(since=EVENTS_PERIOD, client=client)
    if "eventType" in getattr(events, "columns", ()):
        events = count_events(events)
    return plots.plot_events(events, axes=axes)


@public(like=ONE_AXES)
def plot_changes(
    changes: DeploymentPlan | Deployment | ConfigurationDrift | DataFrame,
    *,
    top: int = 30,
    axes: Any = None,
) -> plots.Plot:
    """Plot the changes of a plan as a table of values before and after, with colours.

    Parameters
    ----------
    changes : DeploymentPlan, Deployment, ConfigurationDrift or DataFrame
        Result of `deploy`, `apply_config`, `pull_config` or `svc.tuning.diff`.
    top : int, default 30
        Maximum number of changes, 1 or more.

    Raises
    ------
    BadInput
        If a column is missing, or `top` is less than 1.

    Examples
    --------
    >>> before = svc.tuning.snapshot("products")
    >>> change = svc.set_settings("products", {"hitsPerPage": 10})
    >>> axes = svc.plot_changes(svc.tuning.diff(before, "products"))
    """
    if isinstance(changes, (DeploymentPlan, Deployment, ConfigurationDrift)):
        changes = changes.to_frame()
    return plots.plot_changes(changes, top=top, axes=axes)

"""The current client, and advice on its refused calls.

`connect` creates it; it is the default of every function with a client. The advice names the index,
the filter or the facet that a call probably meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakKeyDictionary, WeakSet

from svc_notebook.core.api.filter_advice import suggest_filter
from svc_notebook.data.client import AsyncClient, Client
from svc_notebook.data.client.attribute_checks import check_filters
from svc_notebook.data.client.hosts import HostChoice
from svc_notebook.data.declarations.arguments import register_adviser
from svc_notebook.data.declarations.declaration import public
from svc_notebook.data.session.config import (
    check_application,
    check_choice,
    make_connection,
    means_local,
    profile_meant,
    resolve,
    resolve_profile,
    take_address,
)
from svc_notebook.data.session.local_service import LocalService, default_folder, local
from svc_notebook.data.session.profile_files import LOCAL
from svc_notebook.errors import BadInput, CallFailed, NotConnected, NotFound, SvcError, did_you_mean

AnyClient = AsyncClient | Client

# Parameters of functions that name an index.
INDEX_PARAMETERS = ("index", "indexName", "source", "other", "destination")


def asynchronous(client: AnyClient | None) -> AsyncClient:
    """Return the client to use, as one whose methods are coroutine functions."""
    chosen = current() if client is None else client
    if not isinstance(chosen, (Client, AsyncClient)):
        raise BadInput(f"`client` must be what `svc.connect` returns, not {type(chosen).__name__}")
    return chosen.aio if isinstance(chosen, Client) else chosen


# A plain variable: a context variable set in one cell can be lost in the next.
_current: Client | None = None
_profiles: WeakKeyDictionary[Client, str] = WeakKeyDictionary()
_folders: WeakKeyDictionary[Client, Path] = WeakKeyDictionary()


class ConnectionFollower(Protocol):
    """An object that uses the current client, and takes each new one."""

    def take_connection(self, client: AsyncClient) -> None:
        """Take the new current client."""


_followers: WeakSet[ConnectionFollower] = WeakSet()


def follow_connection(follower: ConnectionFollower) -> None:
    """Give each new current client to an object, while the object exists."""
    _followers.add(follower)


def _make_current(client: Client) -> Client:
    global _current
    _current = client
    for follower in [*_followers]:
        follower.take_connection(client.aio)
    return client


def connect(
    profile: str | None = None,
    *,
    url: str | None = None,
    app_id: str | None = None,
    api_key: str | None = None,
    vendor: str | None = None,
    domain: str | None = None,
    fallback_domain: str | None = None,
    hosts: HostChoice | None = None,
    region: str | None = None,
    crawler_user_id: str | None = None,
    crawler_api_key: str | None = None,
    allow_http: bool | None = None,
    connect_timeout: float | None = None,
    read_timeout: float | None = None,
    write_timeout: float | None = None,
) -> Client:
    """Create the current client; nothing is sent.

    Each value comes from the argument, else from the environment, the project's profiles, the
    user's profiles, the keyring. A key is sent only to the address of its source, and to an address
    of a project's file only if the user trusts its folder. The profile `local` is the local
    service, which is started if necessary. `region` determines the hosts that receive events;
    timeouts are in seconds (defaults: 2 to connect, 5 to read, 30 to write). Raises `NotConnected`
    if a value is missing.
    """
    client = make_client(
        profile,
        url=url,
        app_id=app_id,
        api_key=api_key,
        vendor=vendor,
        domain=domain,
        fallback_domain=fallback_domain,
        hosts=hosts,
        region=region,
        crawler_user_id=crawler_user_id,
        crawler_api_key=crawler_api_key,
        allow_http=allow_http,
        connect_timeout=connect_timeout,
        read_timeout=read_timeout,
        write_timeout=write_timeout,
    )
    return _make_current(client)


def connect_local(service: LocalService, **given: Any) -> Client:
    """Make a client of this local service the current client."""
    client = _client_of_local(service, given)
    _profiles[client] = LOCAL
    return _make_current(client)


@public()
def use(profile: str) -> Client:
    """Connect to another profile.

    Parameters
    ----------
    profile : str
        Name of the profile.

    Returns
    -------
    Client
        The client that all functions use from then on.

    Raises
    ------
    NotConnected
        If the profile does not exist, or lacks a value.

    Examples
    --------
    >>> client = svc.use("shop")
    """
    return connect(profile)


def client_of(profile: str) -> Client:
    """Create a client of a profile; the current client is unchanged.

    The profile comes before the environment, so that two profiles stay two services.
    """
    check_choice(profile, {})
    if profile == LOCAL:
        return make_client(LOCAL)
    connection = resolve_profile(profile)
    check_application(connection, profile)
    client = Client(connection)
    _profiles[client] = profile
    return client


def make_client(profile: str | None, **given: Any) -> Client:
    """Create a client; the current client is unchanged."""
    profile, given = take_address(profile, given)
    check_choice(profile, given)
    client = _make(profile, given)
    if name := profile_meant(profile, given):
        _profiles[client] = name
    return client


def _make(profile: str | None, given: dict[str, Any]) -> Client:
    if not means_local(profile, given):
        connection = resolve(profile, given)
        check_application(connection, profile)
        return Client(connection)
    return _client_of_local(local(), given)


def _client_of_local(service: LocalService, given: dict[str, Any]) -> Client:
    overrides = {name: value for name, value in given.items() if value is not None}
    client = Client(make_connection({**service.values(), **overrides}))
    _folders[client] = service.data
    return client


def profile_of(client: Client) -> str | None:
    """Return the profile of a client; None if it was created from an address."""
    return _profiles.get(client)


def folder_in_use() -> Path:
    """Return the data folder of the connected local service, else the default folder."""
    folder = _folders.get(_current) if _current else None
    return folder or default_folder()


@public()
def current() -> Client:
    """Return the client that functions use by default.

    Returns
    -------
    Client
        The client that `connect` or `use` created last.

    Raises
    ------
    NotConnected
        If no client was created.

    Examples
    --------
    >>> client = svc.current()
    >>> client.search("products", "desk lamp")["nbHits"]
    10
    """
    if _current is None:
        raise NotConnected(
            'not connected; svc.connect("local") uses the local service, svc.connect("PROFILE") a '
            "profile, svc.connect(url=..., app_id=..., api_key=...) any other"
        )
    return _current


@register_adviser
async def advise(error: SvcError, arguments: Mapping[str, Any]) -> None:
    """Add a note with the index, filter or facet that was probably meant to the error of a call."""
    try:
        client = asynchronous(arguments.get("client"))
        if isinstance(error, NotFound):
            advice = await _index_meant(arguments, client)
        else:
            advice = await _filter_meant(error, arguments, client)
            if not advice and isinstance(error, CallFailed):
                advice = await _facet_meant(arguments, client)
    except SvcError:  # the advice is optional
        return
    if advice:
        error.add_note(advice)


async def _index_meant(arguments: Mapping[str, Any], client: AsyncClient) -> str:
    named = [arguments.get(name) for name in INDEX_PARAMETERS]
    answer = await client.list_indices()
    existing = [entry["name"] for entry in answer["items"]]
    unknown = [name for name in named if isinstance(name, str) and name not in existing]
    if not unknown:
        return ""
    listed = (
        "svc.read_indices() lists the existing ones"
        if existing
        else "no index exists yet; svc.load(...) creates one"
    )
    return did_you_mean(unknown[0], existing).removeprefix("; ") or listed


async def _filter_meant(error: SvcError, arguments: Mapping[str, Any], client: AsyncClient) -> str:
    """Return the filter that was probably meant, and why it may find nothing."""
    params = arguments.get("params")
    members = {**params, **arguments} if isinstance(params, Mapping) else arguments
    filters, index = members.get("filters"), members.get("index")
    if filters is None or "filters" not in str(error):
        return ""
    meant = suggest_filter(filters)
    if not meant:
        return ""
    faults = []
    if isinstance(index, str):
        faults = await check_filters(client, index, {"filters": meant})
    return "; ".join([f"did you mean filters={meant!r}?", *(fault.advice for fault in faults)])


async def _facet_meant(arguments: Mapping[str, Any], client: AsyncClient) -> str:
    facet, index = arguments.get("facet"), arguments.get("index")
    if not isinstance(facet, str) or not isinstance(index, str):
        return ""
    faults = await check_filters(client, index, {"facets": [facet]})
    return faults[0].advice if faults else ""

"""The current client: created by `connect`, and the default of every function with a client."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from svc_notebook.client import AsyncClient, Client
from svc_notebook.client.transport.hosts import HostChoice
from svc_notebook.errors import BadInput, NotConnected
from svc_notebook.session.config import (
    LOCAL,
    check_application,
    check_choice,
    make_connection,
    means_local,
    profile_meant,
    resolve,
)
from svc_notebook.session.local_service import LocalService, default_folder, local

AnyClient = AsyncClient | Client


def asynchronous(client: AnyClient | None) -> AsyncClient:
    """Return the client to use, as one whose methods are coroutine functions."""
    found = current() if client is None else client
    if not isinstance(found, (Client, AsyncClient)):
        raise BadInput(f"`client` is what `svc.connect` returns, not {type(found).__name__}")
    return found.aio if isinstance(found, Client) else found


# A plain variable, for a context variable set in one cell may be gone in the next.
_current: Client | None = None
_profiles: WeakKeyDictionary[Client, str] = WeakKeyDictionary()
_folders: WeakKeyDictionary[Client, Path] = WeakKeyDictionary()


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
    connect_timeout: float | None = None,
    read_timeout: float | None = None,
    write_timeout: float | None = None,
) -> Client:
    """Make the client that is used from now on; nothing is sent by it.

    Each value comes from the argument, else the environment, the project's profiles, the
    user's, the keyring. The profile `local` is the local service, which is started if need be.
    `region` says which hosts take events; time-outs are in seconds (2 to connect, 5 for a read,
    30 for a write).
    """
    global _current
    _current = make_client(
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
        connect_timeout=connect_timeout,
        read_timeout=read_timeout,
        write_timeout=write_timeout,
    )
    return _current


def connect_local(service: LocalService, **given: Any) -> Client:
    """Make a client of this local service the current one."""
    global _current
    _current = _client_of_local(service, given)
    _profiles[_current] = LOCAL
    return _current


def use(profile: str) -> Client:
    """Connect to another profile."""
    return connect(profile)


def client_of(profile: str) -> Client:
    """Make a client of a profile and leave the current one as it is."""
    return make_client(profile)


def make_client(profile: str | None, **given: Any) -> Client:
    """Make a client without making it the current one."""
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
    told = {name: value for name, value in given.items() if value is not None}
    client = Client(make_connection({**service.values(), **told}))
    _folders[client] = service.data
    return client


def profile_of(client: Client) -> str | None:
    """Name the profile a client was made of; None for one that was given an address by itself."""
    return _profiles.get(client)


def folder_in_use() -> Path:
    """Return the data folder of the local service that is connected to, else the usual one."""
    known = _folders.get(_current) if _current else None
    return known or default_folder()


def current() -> Client:
    """Return the current client, or say how to get one."""
    if _current is None:
        raise NotConnected(
            'not connected; connect("local") uses the local service, connect("PROFILE") a '
            "profile, connect(url=..., app_id=..., api_key=...) any other"
        )
    return _current

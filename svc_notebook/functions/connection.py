"""Which service everything else speaks to."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict, Unpack

from svc_notebook import session
from svc_notebook.api.warning import warn_user
from svc_notebook.client import Client
from svc_notebook.client.hosts import HostChoice
from svc_notebook.errors import BadOption, LocalServiceFailed, NotConnected
from svc_notebook.functions.prompt import ask_key
from svc_notebook.session import current, local, use
from svc_notebook.session.config import check_choice
from svc_notebook.session.local_service import LocalService, all_running, find_running

__all__ = ["connect", "connect_asking", "current", "local", "profiles", "stop", "use"]

LOCAL = "local"


class Values(TypedDict, total=False):
    """What a connection is made of; what is left out comes from environment, files, keyring."""

    url: str | None
    app_id: str | None
    api_key: str | None
    vendor: str | None
    domain: str | None
    fallback_domain: str | None
    hosts: HostChoice | None
    region: str | None
    crawler_user_id: str | None
    crawler_api_key: str | None
    connect_timeout: float | None
    read_timeout: float | None
    write_timeout: float | None


def connect(
    profile: str | None = None,
    *,
    data: str | Path | None = None,
    stay: bool = False,
    allow_private_crawl: bool = False,
    search_timeout: float | None = None,
    **values: Unpack[Values],
) -> Client:
    """Make the client that is used from now on; nothing is sent by it.

    - `url`, or `domain`, or `hosts`: where the service is; `app_id`, `api_key`: who calls.
    - `region`: whose hosts take events, such as `us` or `de`; default: the one
      for all regions. Of no effect with `url`.
    - `connect_timeout`, `read_timeout`, `write_timeout`: seconds; default 2, 5 and 30. A lone
      host that stays silent is tried once, several are tried in turn.

    What is not given comes from the environment, the project's profiles, the user's, the
    keyring. The profile `local` is the local service of the folder `data`: it is started if it
    does not run yet, and ends with this process unless told to `stay`; its crawlers visit this
    machine and its network only with `allow_private_crawl`. It refuses a search that is not done
    after `search_timeout` seconds, 4 by default.
    """
    if data is None and not (stay or allow_private_crawl or search_timeout is not None):
        return session.connect(profile, **values)
    if profile not in (None, LOCAL):
        raise BadOption(
            "`data`, `stay`, `allow_private_crawl` and `search_timeout` belong to the local "
            f"service, not to `{profile}`"
        )
    check_choice(LOCAL, values)
    running = local(
        data, stay=stay, allow_private_crawl=allow_private_crawl, search_timeout=search_timeout
    )
    return session.connect_local(running, **values)


def connect_asking(
    profile: str | None = None,
    *,
    data: str | Path | None = None,
    stay: bool = False,
    allow_private_crawl: bool = False,
    search_timeout: float | None = None,
    **values: Unpack[Values],
) -> Client:
    """Connect; a key that is nowhere to be found is asked for."""
    if values.get("api_key"):
        warn_user(
            "a key in a cell stays in the notebook and its history; leave it out, and it is "
            "asked for"
        )
    try:
        return connect(
            profile,
            data=data,
            stay=stay,
            allow_private_crawl=allow_private_crawl,
            search_timeout=search_timeout,
            **values,
        )
    except NotConnected:
        if not (values.get("app_id") or profile in session.profiles()):
            raise
        values["api_key"] = ask_key(f"API key of {profile or values.get('app_id')}")
        if not values["api_key"]:
            raise
        return connect(profile, **values)


def profiles() -> dict[str, str]:
    """Name the profiles there are, and the file each comes from."""
    return {LOCAL: "built in", **{name: str(path) for name, path in session.profiles().items()}}


def stop(data: str | Path | None = None) -> None:
    """Stop the local service of a data folder: of the one connected to, unless it is named."""
    folder = Path(data or session.folder_in_use()).expanduser().absolute()
    running = find_running(folder)
    if running is None and data is None:
        running = _connected_to()
    if running is None:
        raise LocalServiceFailed(f"no local service runs on {folder}{'' if data else _others()}")
    running.stop()


def _connected_to() -> LocalService | None:
    """Find the local service that is connected to by its address."""
    try:
        address = session.current().connection.address
    except NotConnected:
        return None
    return next((each for each in all_running() if each.url == address), None)


def _others() -> str:
    """Say which other local services run."""
    found = [str(each.data) for each in all_running()]
    return f"; one runs on {', '.join(found)}: name its folder, --data {found[0]}" if found else ""

"""The current client: connect to a service, and start and stop the local one."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, TypedDict, Unpack

from svc_notebook.core.files import expand_path
from svc_notebook.core.terminal import prompt_for_key, warn_user
from svc_notebook.data import session
from svc_notebook.data.client import JOURNALS, Client, HostChoice, application_folder
from svc_notebook.data.declarations import public, verb, verb_only
from svc_notebook.data.session import (
    LocalService,
    all_running,
    check_choice,
    current,
    default_folder,
    find_running,
    local,
    remember,
    trust_folder,
    use,
)
from svc_notebook.errors import BadOption, LocalServiceFailed, NotConnected, NotTrusted

__all__ = [
    "connect",
    "connect_with_prompt",
    "current",
    "local",
    "profiles",
    "stop",
    "trust",
    "use",
]

LOCAL = "local"
# Later changes are those of this process, or of one that it knows of.
STARTED = time.time()


class Values(TypedDict, total=False):
    """Values of a connection; missing ones come from the environment, files and the keyring."""

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
    allow_http: bool | None
    connect_timeout: float | None
    read_timeout: float | None
    write_timeout: float | None


@public()
def connect(
    profile: str | None = None,
    *,
    data: str | Path | None = None,
    stay: bool = False,
    allow_private_crawl: bool = False,
    search_timeout: float | None = None,
    embedder: str | None = None,
    reranker: str | None = None,
    **values: Unpack[Values],
) -> Client:
    """Create the client that all functions use from then on; nothing is sent.

    A value that is not given comes from the environment, else from the profiles of the project,
    else from those of the user; keys can also come from the keyring. A key is sent only to the
    address of its source. Where a file of the project gives the address, a question is asked
    before your key is sent there for the first time (see `svc.trust`). The profile `local` is the
    local service of a data folder, which is started if necessary.

    A warning names the changes of this application in which an earlier process was interrupted, and
    what finishes or reverts them.

    Parameters
    ----------
    profile : str, default the environment's or the configured one
        Name of a profile, or `local`. An address such as `http://127.0.0.1:8108` is taken as `url`.
    data : path, default the user's data folder
        Folder of the local service's data.
    stay : bool, default False
        Keep the local service running until it is stopped, also when no process uses it.
    allow_private_crawl : bool, default False
        Allow crawlers of the local service to visit this machine and its network.
    search_timeout : float, default 4
        Maximum duration of a search of the local service in seconds.
    embedder : str, default None
        Model of the vectors of the mode `neuralSearch` in the local service: `static+latent`, for
        example.
    reranker : str, default None
        Model of the local service that orders the first hits of searches with `localRerankedHits`
        in `semanticSearch`: `fastembed:NAME`, for example.

    Returns
    -------
    Client
        The client, which has one method for each endpoint.

    Raises
    ------
    NotConnected
        If the address, the application or a key is missing.
    NotTrusted
        If a file of the project gives the address, and you do not trust its folder with your key.
    BadInput
        If a value is wrong, or two services are named.
    LocalServiceFailed
        If the local service does not start, or already runs with other options.

    Examples
    --------
    >>> client = svc.connect(url="http://127.0.0.1:8108", app_id="SHOP", api_key="key")
    """
    given = (data, search_timeout, embedder, reranker)
    if not (stay or allow_private_crawl or any(value is not None for value in given)):
        client = session.connect(profile, **values)
    elif profile not in (None, LOCAL):
        raise BadOption(
            "`data`, `stay`, `allow_private_crawl`, `search_timeout`, `embedder` and `reranker` "
            f"apply to the local service, not to `{profile}`"
        )
    else:
        check_choice(LOCAL, values)
        running = local(
            data, stay=stay, allow_private_crawl=allow_private_crawl,
            search_timeout=search_timeout, embedder=embedder, reranker=reranker,
        )  # fmt: skip
        client = session.connect_local(running, **values)
    _warn_of_interruptions(client)
    return client


def _warn_of_interruptions(client: Client) -> None:
    if not any(application_folder(client.connection).glob(JOURNALS)):
        return  # most applications have no journal of changes, and connect faster without tuning
    from svc_notebook.tuning.deployment import describe_interruptions

    for text in describe_interruptions(client, STARTED):
        warn_user(text)


@verb_only(
    verb(
        "connect",
        "connect local",
        "connect staging",
        "connect local --data ./shop --stay",
        without=("fallback_domain", "hosts", "crawler_user_id", "crawler_api_key"),
        faces=("magic",),
        profile=False,
        format=False,
    ),
    verb(
        "use",
        "use staging",
        summary="Make another profile the current one",
        options=(),
        required=("profile",),
        faces=("magic",),
        profile=False,
        format=False,
    ),
    like=connect.__doc__,
)
def connect_with_prompt(
    profile: str | None = None,
    *,
    data: str | Path | None = None,
    stay: bool = False,
    allow_private_crawl: bool = False,
    search_timeout: float | None = None,
    embedder: str | None = None,
    reranker: str | None = None,
    **values: Unpack[Values],
) -> Client:
    """Create the client that all functions use from then on; prompt for a missing key.

    Raises
    ------
    NotConnected
        If the address, the application or the key is missing.
    NotTrusted
        If a file of the project gives the address, and you do not trust its folder with your key.
    BadInput
        If a value is wrong, or two services are named.
    LocalServiceFailed
        If the local service does not start, or already runs with other options.
    """
    if values.get("api_key"):
        warn_user(
            "a key in a cell is stored in the notebook and its history; omit it to enter it at "
            "a prompt"
        )
    try:
        return connect(
            profile, data=data, stay=stay, allow_private_crawl=allow_private_crawl,
            search_timeout=search_timeout, embedder=embedder, reranker=reranker, **values,
        )  # fmt: skip
    except NotTrusted:
        raise
    except NotConnected:
        if not (values.get("app_id") or profile in session.profiles()):
            raise
        values["api_key"] = prompt_for_key(f"API key of {profile or values.get('app_id')}")
        if not values["api_key"]:
            raise
        return connect(profile, **values)


@public(verb("profiles", "profiles", profile=False, lists=True))
def profiles() -> dict[str, str]:
    """Return the names of the configured profiles, each with the file that defines it.

    Returns
    -------
    dict
        File by profile; that of `local` is `built in`.

    Examples
    --------
    >>> svc.profiles()["local"]
    'built in'
    """
    return {LOCAL: "built in", **{name: str(path) for name, path in session.profiles().items()}}


@public(verb("trust", "trust", "trust ./shop", "trust ./shop --revoke", profile=False))
def trust(folder: str | Path | None = None, *, revoke: bool = False) -> dict[str, str]:
    """Trust the addresses in a project's profiles with your API keys.

    The answer is remembered for these addresses: if the file gives another one, the question is
    asked again.

    Parameters
    ----------
    folder : path, default the working folder
        Folder of the project's `svc.toml` or `pyproject.toml`, or a folder inside the project.
    revoke : bool, default False
        Forget the answers of this folder, so that its next use asks again.

    Returns
    -------
    dict
        Address and application by profile.

    Raises
    ------
    BadInput
        If the project has no profile with an address.

    Examples
    --------
    >>> from pathlib import Path
    >>> folder = Path("catalogue")
    >>> folder.mkdir()
    >>> profile = '[profiles.shop]\\nurl = "https://search.example"\\napp_id = "SHOP"'
    >>> _ = (folder / "svc.toml").write_text(profile)
    >>> svc.trust(folder)
    {'shop': 'https://search.example (application SHOP)'}
    """
    return trust_folder(expand_path(folder or ".").absolute(), revoke=revoke)


@public(verb("stop", "stop", operands=(), options=("data",), profile=False, format=False))
def stop(data: str | Path | None = None) -> None:
    """Stop the local service of a data folder.

    Parameters
    ----------
    data : path, default that of the connected local service
        Folder of the local service's data.

    Raises
    ------
    LocalServiceFailed
        If no local service runs on the folder, or it does not stop.

    Examples
    --------
    >>> service = svc.local("shop-data")
    >>> svc.stop("shop-data")
    """
    folder = expand_path(data or session.folder_in_use()).absolute()
    running = find_running(folder)
    if running is None and data is None:
        running = _connected_service()
    if running is None:
        raise LocalServiceFailed(
            f"no local service runs on {folder}{'' if data else _describe_others()}"
        )
    running.stop()


def _connected_service() -> LocalService | None:
    """Return the local service that has the address of the current client, if any."""
    try:
        address = session.current().connection.address
    except NotConnected:
        return None
    return next((service for service in all_running() if service.url == address), None)


def _describe_others() -> str:
    """Describe the other local services that run."""
    folders = [str(service.data) for service in all_running()]
    return f"; one runs on {', '.join(folders)}: pass --data {folders[0]}" if folders else ""


@verb_only(
    verb(
        "serve",
        "serve",
        "serve --port 8108 --data ./shop",
        completes={"admin_key_file": "path"},
        faces=("command",),
        profile=False,
        format=False,
    ),
    described_by="svc_notebook.service.server.serve",
)
def serve(*, data: str | None = None, **options: Any) -> int:
    """Run the local service of a folder in the foreground; return the exit status."""
    try:
        from svc_notebook.service import server
    except ImportError as error:
        raise LocalServiceFailed(
            f"the local service needs {error.name}: pip install 'svc-notebook[local]'"
        ) from error
    remember(Path(data) if data else default_folder())
    return server.serve(data=Path(data) if data else None, **options)

"""Run the local service in the foreground."""

from __future__ import annotations

from pathlib import Path

from svc_notebook.declarations.declaration import verb, verb_only
from svc_notebook.errors import LocalServiceFailed
from svc_notebook.session.local_service import default_folder, remember


@verb_only(
    verb(
        "serve",
        "serve",
        "serve --port 8108 --data ./shop",
        completes={"admin_key_file": "path"},
        faces=("command",),
        profile=False,
        format=False,
    )
)
def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    data: str | None = None,
    json: bool = False,
    clusters: int = 1,
    allow_private_crawl: bool = False,
    app_id: str | None = None,
    admin_key: str | None = None,
    admin_key_file: str | None = None,
    parent: int | None = None,
    reset_allowlist: bool = False,
    search_timeout: float | None = None,
) -> int:
    """Run the local service in the foreground until it is stopped.

    Parameters
    ----------
    host : str, default '127.0.0.1'
        Address to listen on.
    port : int, default 0
        Port to listen on; 0 selects a free one.
    data : path, default the user's data folder
        Folder of the service's data.
    json : bool, default False
        Print the address and the keys as one line of JSON.
    clusters : int, default 1
        Number of clusters of user mapping.
    allow_private_crawl : bool, default False
        Allow crawlers to visit this machine and its network.
    app_id : str, default a stored or new one
        Id of the application.
    admin_key : str, default a stored or new one
        Admin key. The list of processes shows it; the environment variable SVC_ADMIN_KEY
        sets it without that.
    admin_key_file : path, default None
        File that contains the admin key, or `-` for standard input.
    parent : int, default None
        Id of a process whose end stops the service.
    reset_allowlist : bool, default False
        Remove all networks from the allowlist.
    search_timeout : float, default 4
        Maximum duration of a search in seconds.

    Returns
    -------
    int
        The exit status.

    Raises
    ------
    LocalServiceFailed
        If a package that the service needs is missing.
    """
    try:
        from svc_notebook.service import server as service
    except ImportError as error:
        raise LocalServiceFailed(
            f"the local service needs {error.name}: pip install 'svc-notebook[local]'"
        ) from error
    remember(Path(data) if data else default_folder())
    return service.serve(
        host=host,
        port=port,
        data=Path(data) if data else None,
        json=json,
        clusters=clusters,
        allow_private_crawl=allow_private_crawl,
        app_id=app_id,
        admin_key=admin_key,
        admin_key_file=admin_key_file,
        parent=parent,
        reset_allowlist=reset_allowlist,
        search_timeout=search_timeout,
    )

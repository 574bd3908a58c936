"""Run the local service in the foreground."""

from __future__ import annotations

from pathlib import Path

from svc_notebook.errors import LocalServiceFailed
from svc_notebook.session.local_service import default_folder, remember


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
    """Serve until stopped; return the exit status."""
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

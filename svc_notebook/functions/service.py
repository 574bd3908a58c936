"""Run the local service in the foreground."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
